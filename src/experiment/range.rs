//! Ranges `start..end/step` inside texts, in exact decimal arithmetic.

/// The most texts that one text may stand for.
pub const MOST_VALUES: usize = 100_000;

/// All texts that `text` stands for: each range `start..end/step` in it takes each of its values, the
/// last range fastest. Steps are added in decimal, so that `0.05..0.95/0.05` holds 0.15 and not
/// 0.15000000000000002.
///
/// # Errors
/// If a range has no step, a step that is not positive or does not lead to its end, or there are
/// more than 100,000 texts.
pub fn expand(text: &str) -> Result<Vec<String>, String> {
    let mut texts = vec![String::new()];
    let mut rest = text;
    while let Some(found) = find(rest)? {
        let values = found.range.values()?;
        if texts.len().saturating_mul(values.len()) > MOST_VALUES {
            return Err(format!(
                "`{text}` stands for more than {MOST_VALUES} values; give its ranges longer steps"
            ));
        }
        texts = texts
            .iter()
            .flat_map(|head| {
                let before = &rest[..found.start];
                values
                    .iter()
                    .map(move |value| format!("{head}{before}{value}"))
            })
            .collect();
        rest = &rest[found.end..];
    }
    Ok(texts.into_iter().map(|head| head + rest).collect())
}

/// A range and the bytes of the text that it takes.
struct Found {
    start: usize,
    end: usize,
    range: Range,
}

/// The first range of a text: two dots with a number before them.
fn find(text: &str) -> Result<Option<Found>, String> {
    for (dots, _) in text.match_indices("..") {
        let Some(start) = number_before(&text[..dots]) else {
            continue;
        };
        let tail = &text[dots + 2..];
        let last = number_after(tail);
        let shown = &text[start..dots + 2 + last];
        let step = match tail[last..].strip_prefix('/') {
            Some(step) if last > 0 => number_after(step),
            _ => 0,
        };
        if step == 0 {
            return Err(format!(
                "`{shown}` is no range: write start..end/step, as in 0.1..0.5/0.1"
            ));
        }
        let end = dots + 2 + last + 1 + step;
        let decimal = |digits: &str| {
            Decimal::parse(digits).ok_or_else(|| format!(
                    "`{digits}` is no decimal number of at most 15 digits before and 15 behind the point"
                ))
        };
        let range = Range {
            text: text[start..end].to_owned(),
            start: decimal(&text[start..dots])?,
            end: decimal(&tail[..last])?,
            step: decimal(&text[end - step..end])?,
        };
        return Ok(Some(Found { start, end, range }));
    }
    Ok(None)
}

/// Where the decimal number begins that a text ends with.
fn number_before(text: &str) -> Option<usize> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    // A letter before digits makes a name of them, as in `file2..`.
    let begins_a_name = digits.ends_with(|c: char| c.is_alphanumeric() || c == '_');
    (digits.len() < text.len() && !begins_a_name).then_some(digits.len())
}

/// The length of the decimal number that a text begins with.
fn number_after(text: &str) -> usize {
    let mut dots = 0;
    text.find(|c: char| {
        dots += usize::from(c == '.');
        !c.is_ascii_digit() && (c != '.' || dots > 1)
    })
    .unwrap_or(text.len())
}

struct Range {
    text: String,
    start: Decimal,
    end: Decimal,
    step: Decimal,
}

impl Range {
    fn values(&self) -> Result<Vec<String>, String> {
        let places = [&self.start, &self.end, &self.step].map(|d| d.places);
        let places = places.into_iter().max().unwrap_or(0);
        let [start, end, step] = [&self.start, &self.end, &self.step].map(|d| d.units(places));
        let text = &self.text;
        if step == 0 {
            return Err(format!("`{text}`: the step of a range must be positive"));
        }
        if end < start {
            return Err(format!("`{text}`: a range must ascend"));
        }
        let steps = (end - start) / step;
        let show = |units: u128| Decimal { units, places }.to_string();
        if (end - start) % step != 0 {
            return Err(format!(
                "`{text}` does not reach its end: the last value is {}; end there, or take another step",
                show(start + steps * step)
            ));
        }
        if steps >= MOST_VALUES as u128 {
            return Err(format!(
                "`{text}` has more than {MOST_VALUES} values; give it a longer step"
            ));
        }
        Ok((0..=steps).map(|i| show(start + i * step)).collect())
    }
}

/// units / 10^places.
struct Decimal {
    units: u128,
    places: u32,
}

impl Decimal {
    /// A number of at most 15 digits before the point and as many behind it.
    fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = format!("{whole}{decimals}");
        if digits.is_empty() || whole.len() > 15 || decimals.len() > 15 {
            return None;
        }
        Some(Decimal {
            units: digits.parse().ok()?,
            places: decimals.len() as u32,
        })
    }

    fn units(&self, places: u32) -> u128 {
        // At most 30 digits, which fit.
        self.units * 10u128.pow(places - self.places)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scale = 10u128.pow(self.places);
        let (whole, rest) = (self.units / scale, self.units % scale);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let decimals = format!("{rest:0places$}", places = self.places as usize);
        write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_decimal() {
        let values = expand("beta:0.05..0.95/0.05").expect("a range");
        assert_eq!(values.len(), 19);
        assert_eq!(values[2], "beta:0.15");
        assert_eq!(values[18], "beta:0.95");
        assert_eq!(
            expand("100..300/100").expect("a range"),
            ["100", "200", "300"]
        );
        assert_eq!(
            expand("beta:1..2/1,0.5..1/0.5").expect("ranges"),
            ["beta:1,0.5", "beta:1,1", "beta:2,0.5", "beta:2,1"]
        );
        assert_eq!(
            expand("z + 0.1..0.2/0.1*z/2").expect("a range"),
            ["z + 0.1*z/2", "z + 0.2*z/2"]
        );
        assert_eq!(expand("../a/b").expect("no range"), ["../a/b"]);
        assert_eq!(expand("z - z^4").expect("no range"), ["z - z^4"]);
    }

    #[test]
    fn what_is_no_range_is_refused() {
        for text in [
            "1..2",
            "1../1",
            "1..2/0",
            "2..1/1",
            "1..2/0.3",
            "0..1/0.000001",
            "1.5.2..3/1",
        ] {
            assert!(expand(text).is_err(), "{text}");
        }
    }
}
