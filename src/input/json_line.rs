//! One line of JSON: words for numbers that only some writers have, and what is wrong with a line.

use std::borrow::Cow;

use super::InputError;

/// What stands for NaN: a text without anything in it, which is a missing value wherever one may be.
const MISSING: &[u8; 3] = b"\"\" ";

/// What stands for Infinity: a number out of range, so that it is an error only where it is read.
const OUT_OF_RANGE: &[u8; 8] = b"1e999999";

/// The longest word of a line that a message shows, in bytes.
const LONGEST_WORD: usize = 40;

/// Where reading a line failed.
pub(super) struct Malformed {
    /// Its number, from 1.
    pub(super) row: u64,
    error: serde_json::Error,
}

/// Reads a line as JSON, or as what Python's `json` makes of it: there `NaN`, `Infinity` and
/// `-Infinity` are numbers. A NaN is read as an empty text, an Infinity is a number out of range.
pub(super) fn parse<T>(
    line: &[u8],
    row: u64,
    mut parse: impl FnMut(&[u8]) -> serde_json::Result<T>,
) -> Result<T, Malformed> {
    let failed = |error| Malformed { row, error };
    parse(line).or_else(|error| match standard(line) {
        // Places in the line stay the same.
        Cow::Owned(standard) => parse(&standard).map_err(failed),
        Cow::Borrowed(_) => Err(failed(error)),
    })
}

/// The line with [`MISSING`] for each bare `NaN` and [`OUT_OF_RANGE`] for each bare `Infinity`.
fn standard(line: &[u8]) -> Cow<'_, [u8]> {
    let mut standard = Cow::Borrowed(line);
    let mut quoted = false;
    let mut place = 0;
    while let Some(&byte) = line.get(place) {
        match byte {
            b'\\' if quoted => place += 1,
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'N' | b'I' => {
                let end = place + word(&line[place..]);
                let mut after = line[end..].iter();
                match &line[place..end] {
                    // A key has to stand in quotes.
                    _ if after.find(|byte| !byte.is_ascii_whitespace()) == Some(&b':') => {}
                    b"NaN" => standard.to_mut()[place..end].copy_from_slice(MISSING),
                    b"Infinity" => standard.to_mut()[place..end].copy_from_slice(OUT_OF_RANGE),
                    _ => {}
                }
                place = end;
                continue;
            }
            _ => {}
        }
        place += 1;
    }
    standard
}

/// The length of the word or number that a text begins with.
fn word(text: &[u8]) -> usize {
    let of_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"_+-.".contains(byte);
    text.iter().take_while(|byte| of_word(byte)).count()
}

impl Malformed {
    /// The error for the user; `line` is what was read.
    pub(super) fn explain(&self, file: &str, line: &[u8]) -> InputError {
        let error = &self.error;
        let refused = |problem: String| InputError::new(file, problem).row(self.row);
        if error.is_eof() {
            return refused("the object does not end on its line".to_owned()).remedy(
                "Write each object whole on a line of its own; or the file is cut off here.",
            );
        }
        // The decoder tells the line as well: that of the one line it was given.
        let text = error.to_string();
        let what = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(what, _)| what);
        let place = error.column().min(line.len());
        let (start, word) = word_at(line, place).unwrap_or((place.saturating_sub(1), ""));
        let at = String::from_utf8_lossy(&line[..start]).chars().count() + 1;
        if what.starts_with("number out of range") {
            return refused(format!(
                "`{word}`, character {at} of the line, is no finite number"
            ))
            .value(word)
            .remedy("Write a finite number, or null for what is missing.");
        }
        if error.is_data() {
            // Its place is the end of what was read.
            let remedy = match what.starts_with("key ") {
                true => "Leave one of them out.",
                false => ONE_OBJECT,
            };
            return refused(what.to_owned()).remedy(remedy);
        }
        if word.contains(|c: char| c.is_ascii_alphabetic()) {
            return refused(format!(
                "`{word}`, character {at} of the line, is not JSON: {what}"
            ))
            .value(word)
            .remedy(
                "JSON has numbers, texts in double quotes, true, false, and null for what is \
                     missing.",
            );
        }
        refused(format!(
            "not a JSON object: {what}, character {at} of the line"
        ))
        .remedy(ONE_OBJECT)
    }
}

/// What a line is.
const ONE_OBJECT: &str = "Each line holds one whole object, with null for what is missing.";

/// Where the word or number begins that a place of a line is in, or right behind, and what it is.
fn word_at(line: &[u8], place: usize) -> Option<(usize, &str)> {
    let before = line[..place].iter().rev();
    let before = before.take_while(|byte| word(&[**byte]) == 1).count();
    let start = place - before;
    // What only begins behind the place is another word.
    let length = if before == 0 { 0 } else { word(&line[start..]) };
    let word = std::str::from_utf8(&line[start..start + length]).ok()?;
    (1..=LONGEST_WORD)
        .contains(&length)
        .then_some((start, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_numbers_are_replaced_outside_of_texts_only() {
        for (line, expected) in [
            (r#"{"a": NaN, "b": 1}"#, r#"{"a": "" , "b": 1}"#),
            (r#"[NaN,-Infinity,Infinity]"#, r#"["" ,-1e999999,1e999999]"#),
            (r#"{"NaN": "NaN \" NaN"}"#, r#"{"NaN": "NaN \" NaN"}"#),
            (r#"{"a": "\\", "b":NaN}"#, r#"{"a": "\\", "b":"" }"#),
            ("{\"a\": NaNs}", "{\"a\": NaNs}"),
            ("{NaN: 1, NaN : NaN}", "{NaN: 1, NaN : \"\" }"),
            ("{\"a\": \"NaN", "{\"a\": \"NaN"),
            ("\\", "\\"),
            ("\"\\", "\"\\"),
        ] {
            assert_eq!(standard(line.as_bytes()), expected.as_bytes(), "{line}");
        }
    }

    #[test]
    fn a_word_is_found_from_each_of_its_places() {
        for place in 7..=14 {
            assert_eq!(
                word_at(b"{\"a\": Infinity}", place),
                Some((6, "Infinity")),
                "{place}"
            );
        }
        assert_eq!(word_at(b"{\"a\": Infinity}", 6), None);
        assert_eq!(word_at(b"{}", 1), None);
        assert_eq!(word_at(b"", 0), None);
    }
}
