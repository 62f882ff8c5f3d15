//! Single values as the formats give them.

use std::fmt;

use half::f16;

use crate::predictions::Confidence;

/// A type of confidences that files hold.
pub(super) trait Element: Confidence {
    /// Not a number, which means missing.
    const NAN: Self;
    /// The number that a text is, in decimal.
    fn parse(text: &str) -> Option<Self>;
    /// The shortest decimal that is read as this number.
    fn show(self) -> String;
}

macro_rules! element {
    ($($type:ty),*) => {$(
        impl Element for $type {
            const NAN: Self = <$type>::NAN;
            fn parse(text: &str) -> Option<Self> {
                text.parse().ok()
            }
            fn show(self) -> String {
                format!("{self:?}")
            }
        }
    )*};
}
element!(f16, f32, f64);

/// A confidence as a file gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading<'a, C> {
    /// Nothing.
    Missing,
    /// A number.
    Number(C),
    /// A text, with a number in it or a word for missing.
    Text(&'a str),
}

/// A label as a file gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// Nothing.
    Missing,
    /// True or false.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// Any number but NaN.
    Float(f64),
    /// A text.
    Text(&'a str),
}

impl<'a> Cell<'a> {
    /// A text or a word for missing, without the spaces around it.
    pub(super) fn text(text: &'a str) -> Self {
        let text = text.trim();
        if is_missing(text) {
            Cell::Missing
        } else {
            Cell::Text(text)
        }
    }

    /// A number, missing if it is NaN.
    pub(super) fn float(value: f64) -> Self {
        if value.is_nan() {
            Cell::Missing
        } else {
            Cell::Float(value)
        }
    }

    /// A number in any type, so that it shows as it was written: 0.1 in single precision is 0.1.
    #[inline]
    pub(super) fn element<C: Element>(value: C) -> Self {
        let exact = value.to_f64();
        if exact == 0.0 || exact == 1.0 {
            // Almost every label; the way through text is slow.
            Cell::Float(exact)
        } else {
            Cell::float(f64::parse(&value.show()).unwrap_or(exact))
        }
    }

    /// The number that it is or spells.
    pub(super) fn number(self) -> Option<f64> {
        match self {
            Cell::Missing | Cell::Boolean(_) => None,
            Cell::Integer(value) => Some(value as f64),
            Cell::Float(value) => Some(value),
            Cell::Text(text) => text.parse().ok(),
        }
    }
}

impl fmt::Display for Cell<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Missing => f.write_str("missing"),
            Cell::Boolean(value) => write!(f, "{value}"),
            Cell::Integer(value) => write!(f, "{value}"),
            Cell::Float(value) => write!(f, "{value}"),
            Cell::Text(text) => f.write_str(text),
        }
    }
}

/// Whether a text, without spaces around it, stands for a missing value.
pub(super) fn is_missing(text: &str) -> bool {
    // Lengths first: almost every text is a number of more than four characters or of one.
    match text.len() {
        0 => true,
        2 => text.eq_ignore_ascii_case("na"),
        3 => text.eq_ignore_ascii_case("nan") || text.eq_ignore_ascii_case("n/a"),
        4 => text.eq_ignore_ascii_case("null") || text.eq_ignore_ascii_case("none"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_missing() {
        for text in ["", "NA", "na", "NaN", "N/A", "null", "NULL", "None", " NA "] {
            assert_eq!(Cell::text(text), Cell::Missing, "{text:?}");
        }
        for text in ["0", "no", "nano", "missing", "-"] {
            assert_eq!(Cell::text(text), Cell::Text(text));
        }
    }

    #[test]
    fn numbers_show_as_they_were_written() {
        assert_eq!(Cell::element(0.1f32), Cell::Float(0.1));
        assert_eq!(Cell::element(1f32), Cell::Float(1.0));
        assert_eq!(Cell::element(f16::NAN), Cell::Missing);
        assert_eq!(Cell::Float(2.0).to_string(), "2");
        assert_eq!(1.7f32.show(), "1.7");
    }
}
