//! Quotes in CSV, with the meaning that the `csv` crate gives them: they open at the beginning of a
//! field only, and two of them inside of quotes stand for one.

use super::low_bytes::LowBytes;

/// A quote that cannot be what was meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OddQuote {
    /// One that closes before the field ends.
    TextBehind,
    /// One that opens and never closes.
    Unclosed,
}

/// Whether a byte ends a record of CSV, outside of quotes.
pub(super) fn ends_record(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

/// The stretches of a text outside of quotes, in their order. Two quotes that stand for one inside
/// of quotes have an empty stretch between them.
struct Unquoted<'a> {
    text: &'a [u8],
    delimiter: u8,
    quotes: LowBytes<'a>,
    /// Where the next stretch begins; none if the text ends in quotes.
    start: Option<usize>,
}

impl<'a> Unquoted<'a> {
    fn new(text: &'a [u8], delimiter: u8) -> Self {
        Unquoted {
            text,
            delimiter,
            quotes: LowBytes::equal(text, b'"'),
            start: Some(0),
        }
    }
}

impl Iterator for Unquoted<'_> {
    type Item = std::ops::Range<usize>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.start?;
        loop {
            let Some(place) = self.quotes.next() else {
                self.start = None;
                return Some(start..self.text.len());
            };
            // Right behind a quote that closed it opens again; elsewhere in a field it is a character
            // like others.
            let opens = place == start
                || (self.text[place - 1] == self.delimiter || ends_record(self.text[place - 1]));
            if opens {
                self.start = self.quotes.next().map(|closes| closes + 1);
                return Some(start..place);
            }
        }
    }
}

/// Ends of records outside of quotes that are `size` bytes or a little more apart, and the last one if
/// there are none.
pub(super) fn cut_quoted(text: &[u8], delimiter: u8, size: usize) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut start = 0;
    for stretch in Unquoted::new(text, delimiter) {
        while stretch.end > start + size {
            let from = stretch.start.max(start + size);
            let Some(end) = text[from..stretch.end].iter().position(|&b| ends_record(b)) else {
                break;
            };
            start = from + end + 1;
            cuts.push(start);
        }
    }
    if cuts.is_empty() {
        let ends = Unquoted::new(text, delimiter).filter_map(|stretch| {
            let end = text[stretch.clone()]
                .iter()
                .rposition(|&b| ends_record(b))?;
            Some(stretch.start + end + 1)
        });
        cuts.extend(ends.last());
    }
    cuts
}

/// A field, without the quotes around it.
enum Field {
    /// Its place in the text.
    Text(usize, usize),
    /// Its place in the room for fields that are not in the text as they are meant.
    Room(usize, usize),
}

/// The records of a text of whole records, one after the other. An empty line is no record.
pub(super) struct Records<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// Where something may begin or end.
    places: LowBytes<'a>,
    /// Where the field at hand begins.
    start: usize,
    fields: Vec<Field>,
    room: Vec<u8>,
}

impl<'a> Records<'a> {
    pub(super) fn new(text: &'a [u8], delimiter: u8) -> Self {
        Records {
            text,
            delimiter,
            places: LowBytes::new(text, delimiter.max(b'"')),
            start: 0,
            fields: Vec::new(),
            room: Vec::new(),
        }
    }

    /// Goes to the next record; false after the last.
    pub(super) fn next(&mut self) -> Result<bool, OddQuote> {
        self.fields.clear();
        self.room.clear();
        // Whether the place at hand is inside of quotes; where in this field quotes closed last, and
        // whether they ever opened again.
        let (mut quoted, mut closed, mut doubled) = (false, None, false);
        loop {
            let place = self.places.next();
            let byte = place.map(|place| self.text[place]);
            let place = place.unwrap_or(self.text.len());
            match byte {
                Some(b'"') if quoted => {
                    quoted = false;
                    closed = Some(place);
                    if !self.field_may_end(place + 1) {
                        return Err(OddQuote::TextBehind);
                    }
                }
                Some(b'"') => {
                    let again = closed.is_some_and(|closed| closed + 1 == place);
                    quoted = place == self.start || again;
                    doubled |= again;
                }
                None if quoted => return Err(OddQuote::Unclosed),
                Some(byte) if byte == self.delimiter && !quoted => {
                    self.end_field(place, closed, doubled);
                    (closed, doubled) = (None, false);
                }
                None | Some(b'\n' | b'\r') if !quoted => {
                    let empty = self.fields.is_empty() && place == self.start;
                    if !empty {
                        self.end_field(place, closed, doubled);
                    }
                    if byte.is_none() {
                        self.start = place;
                    }
                    if !empty || byte.is_none() {
                        return Ok(!empty);
                    }
                    self.start = place + 1;
                }
                _ => {}
            }
        }
    }

    /// Whether what stands behind a quote that closes is another quote, or the end of the field but
    /// for spaces.
    fn field_may_end(&self, behind: usize) -> bool {
        let after = &self.text[behind..];
        // Two quotes inside of quotes are one, so that a quote right behind opens them again.
        after.first() == Some(&b'"')
            || after
                .iter()
                .find(|byte| !matches!(byte, b' ' | b'\t') || **byte == self.delimiter)
                .is_none_or(|&after| after == self.delimiter || ends_record(after))
    }

    /// The field at hand ends before `end`. Its quotes closed there, if it had any, and `doubled` is
    /// whether two stand for one inside.
    #[inline]
    fn end_field(&mut self, end: usize, closed: Option<usize>, doubled: bool) {
        let start = self.start;
        self.start = end + 1;
        self.fields.push(match closed {
            None => Field::Text(start, end),
            Some(closed) if closed + 1 == end && !doubled => Field::Text(start + 1, closed),
            Some(_) => {
                let begin = self.room.len();
                unquote(&self.text[start + 1..end], &mut self.room);
                Field::Room(begin, self.room.len())
            }
        });
    }

    /// How many fields the record at hand has.
    #[inline]
    pub(super) fn fields(&self) -> usize {
        self.fields.len()
    }

    /// A field of the record at hand.
    #[inline]
    pub(super) fn field(&self, place: usize) -> &[u8] {
        match self.fields[place] {
            Field::Text(start, end) => &self.text[start..end],
            Field::Room(start, end) => &self.room[start..end],
        }
    }
}

/// Puts what a field means behind the bytes of `room`: the field behind its first quote.
fn unquote(mut field: &[u8], room: &mut Vec<u8>) {
    while let Some(quote) = field.iter().position(|&byte| byte == b'"') {
        let (inside, behind) = field.split_at(quote);
        room.extend_from_slice(inside);
        field = &behind[1..];
        if field.first() != Some(&b'"') {
            break;
        }
        room.push(b'"');
        field = &field[1..];
    }
    room.extend_from_slice(field);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of each record, in brackets.
    fn records(text: &str) -> Result<Vec<String>, OddQuote> {
        let mut records = Records::new(text.as_bytes(), b',');
        let mut found = Vec::new();
        while records.next()? {
            let fields = (0..records.fields()).map(|place| records.field(place));
            let shown = fields.map(|field| format!("[{}]", String::from_utf8_lossy(field)));
            found.push(shown.collect());
        }
        Ok(found)
    }

    #[test]
    fn quotes_that_cannot_be_meant() {
        for (text, expected) in [
            ("a,\"5 inch\nb,c\n", OddQuote::Unclosed),
            ("a,\"b\"\"", OddQuote::Unclosed),
            ("a,\"b\"c\nd,\"e", OddQuote::TextBehind),
            ("a,\"b\" c\n", OddQuote::TextBehind),
            ("\"b\" \"c\",a\n", OddQuote::TextBehind),
            ("a,\"5 inch\nb,\"7 inch\n", OddQuote::TextBehind),
        ] {
            assert_eq!(records(text), Err(expected), "{text:?}");
        }
    }

    #[test]
    fn fields_are_what_their_quotes_mean() {
        for (text, expected) in [
            ("a,b\n\"c\",d\n", &["[a][b]", "[c][d]"][..]),
            ("a,\"b\"\"c\"\n", &["[a][b\"c]"]),
            ("a,\"b\" ,c\r\n", &["[a][b ][c]"]),
            ("\n\n\"\"\n\r\n", &["[]"]),
            ("\"\"\"\",\"\r\n,\"", &["[\"][\r\n,]"]),
            ("a,", &["[a][]"]),
            ("\n", &[]),
            ("", &[]),
            // A quote inside of a field that has none at its beginning is a character like others.
            ("a,5\" disk\n", &["[a][5\" disk]"]),
        ] {
            assert_eq!(records(text).unwrap(), expected, "{text:?}");
        }
    }
}
