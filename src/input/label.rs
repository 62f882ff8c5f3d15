//! Labels: what counts as 0 and 1, and as the number of a class.

use super::cell::Cell;

/// The most label values that are remembered for messages.
const REMEMBERED: usize = 10;

/// What a cell says in a column of binary labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    /// A label.
    Label(bool),
    /// Nothing.
    Missing,
    /// Neither 0 nor 1.
    Unknown,
    /// -1 where another row has 0, or the other way round.
    Mixed,
}

/// A column of binary labels, seen row by row.
#[derive(Clone, Debug, Default)]
pub(super) struct BinaryLabels {
    positive: Option<String>,
    positive_number: Option<f64>,
    positive_found: bool,
    zero_found: bool,
    minus_one_found: bool,
    values: Vec<String>,
    more_values: bool,
}

impl BinaryLabels {
    /// Labels of 0/1, true/false or -1/1; or, with a positive value, that value against all others.
    pub(super) fn new(positive: Option<&str>) -> Self {
        BinaryLabels {
            positive: positive.map(str::to_owned),
            positive_number: positive.and_then(|positive| positive.trim().parse().ok()),
            ..BinaryLabels::default()
        }
    }

    /// The same column without any rows.
    pub(super) fn part(&self) -> Self {
        BinaryLabels::new(self.positive.as_deref())
    }

    /// Adds what was seen in the part of the column that comes next. If one has 0 and the other -1
    /// nothing happens, and false.
    pub(super) fn take_over(&mut self, part: Self) -> bool {
        let zero_found = self.zero_found | part.zero_found;
        let minus_one_found = self.minus_one_found | part.minus_one_found;
        if zero_found && minus_one_found {
            return false;
        }
        self.zero_found = zero_found;
        self.minus_one_found = minus_one_found;
        self.positive_found |= part.positive_found;
        for value in &part.values {
            self.remember(Cell::Text(value));
        }
        self.more_values |= part.more_values;
        true
    }

    /// The label, if the next cell is the number 0 or 1 and nothing stands against it: what
    /// [`BinaryLabels::read`] says as well, but at once.
    #[inline]
    pub(super) fn read_number(&mut self, cell: Cell<'_>) -> Option<bool> {
        let label = match cell {
            Cell::Boolean(label) => label,
            Cell::Integer(0) | Cell::Float(0.0) => false,
            Cell::Integer(1) | Cell::Float(1.0) => true,
            _ => return None,
        };
        if self.minus_one_found || self.positive.is_some() {
            return None;
        }
        self.zero_found |= !label;
        Some(label)
    }

    /// Whether [`BinaryLabels::read_number`] takes all of the next cells, which are the numbers 0
    /// and 1.
    pub(super) fn read_numbers(&mut self, labels: &[u8]) -> bool {
        if self.minus_one_found || self.positive.is_some() {
            return false;
        }
        self.zero_found |= labels.contains(&0);
        true
    }

    /// What the next cell says.
    pub(super) fn read(&mut self, cell: Cell<'_>) -> Binary {
        if self.positive.is_some() {
            return self.compare(cell);
        }
        let value = match cell {
            Cell::Missing => return Binary::Missing,
            Cell::Boolean(label) => f64::from(u8::from(label)),
            Cell::Integer(value) => value as f64,
            Cell::Float(value) => value,
            Cell::Text("0") => 0.0,
            Cell::Text("1") => 1.0,
            Cell::Text(text) if text.eq_ignore_ascii_case("true") => 1.0,
            Cell::Text(text) if text.eq_ignore_ascii_case("false") => 0.0,
            Cell::Text(text) => match text.parse::<f64>() {
                Ok(value) if value.is_nan() => return Binary::Missing,
                Ok(value) => value,
                Err(_) => return Binary::Unknown,
            },
        };
        if value == 1.0 {
            return Binary::Label(true);
        } else if value == 0.0 {
            self.zero_found = true;
        } else if value == -1.0 {
            self.minus_one_found = true;
        } else {
            return Binary::Unknown;
        }
        if self.zero_found && self.minus_one_found {
            Binary::Mixed
        } else {
            Binary::Label(false)
        }
    }

    fn compare(&mut self, cell: Cell<'_>) -> Binary {
        if cell == Cell::Missing {
            return Binary::Missing;
        }
        self.remember(cell);
        let positive = self.positive.as_deref().unwrap_or_default();
        let equal = match cell {
            Cell::Text(text) if text == positive => true,
            Cell::Boolean(value) => positive.eq_ignore_ascii_case(&value.to_string()),
            _ => self.positive_number.is_some() && cell.number() == self.positive_number,
        };
        self.positive_found |= equal;
        Binary::Label(equal)
    }

    fn remember(&mut self, cell: Cell<'_>) {
        if self.more_values {
            return;
        }
        let known = match cell {
            Cell::Text(text) => self.values.iter().any(|value| value == text),
            _ => self.values.contains(&cell.to_string()),
        };
        if !known {
            if self.values.len() == REMEMBERED {
                self.more_values = true;
            } else {
                self.values.push(cell.to_string());
            }
        }
    }

    /// The positive value, if it was asked for but never met, and the values that were.
    pub(super) fn positive_not_found(&self) -> Option<(&str, String)> {
        let positive = self.positive.as_deref().filter(|_| !self.positive_found)?;
        Some((positive, self.values_met()))
    }

    /// A remark, if the positive value stands against several others.
    pub(super) fn one_against_several(&self) -> Option<String> {
        let positive = self.positive.as_deref()?;
        (self.values.len() > 2).then(|| {
            format!(
                "label `{positive}` is read as 1, every other as 0; the labels are {}",
                self.values_met()
            )
        })
    }

    fn values_met(&self) -> String {
        let mut values = self.values.clone();
        values.sort();
        let more = if self.more_values { ", …" } else { "" };
        super::columns::list(&values) + more
    }
}

/// What a cell says in a column of class numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A class, from 0.
    Number(usize),
    /// Nothing.
    Missing,
    /// Not one of the classes.
    Unknown,
}

/// A column of class numbers, seen row by row.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassLabels {
    smallest: f64,
    largest: f64,
}

impl Default for ClassLabels {
    fn default() -> Self {
        ClassLabels {
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }
}

impl ClassLabels {
    /// What the next cell says, among so many classes.
    pub(super) fn read(&mut self, cell: Cell<'_>, classes: usize) -> Class {
        let value = match cell {
            Cell::Missing => return Class::Missing,
            Cell::Boolean(value) if classes == 2 => f64::from(u8::from(value)),
            _ => match cell.number() {
                Some(value) if value.is_nan() => return Class::Missing,
                Some(value) => value,
                None => return Class::Unknown,
            },
        };
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
        if value.fract() == 0.0 && value >= 0.0 && value < classes as f64 {
            Class::Number(value as usize)
        } else {
            Class::Unknown
        }
    }

    /// Adds what was seen in the part of the column that comes next.
    pub(super) fn take_over(&mut self, part: Self) {
        self.smallest = self.smallest.min(part.smallest);
        self.largest = self.largest.max(part.largest);
    }

    /// Whether the labels look numbered from 1.
    pub(super) fn look_one_based(&self, classes: usize) -> bool {
        self.smallest >= 1.0 && self.largest == classes as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(cells: &[Cell<'_>], positive: Option<&str>) -> Vec<Binary> {
        let mut labels = BinaryLabels::new(positive);
        cells.iter().map(|&cell| labels.read(cell)).collect()
    }

    #[test]
    fn every_spelling_of_zero_and_one() {
        use Binary::{Label, Missing, Mixed, Unknown};
        let cells = ["0", "1", "0.0", "1.0", "+1", "1e0", "true", "FALSE", "True"];
        let labels = [0, 1, 0, 1, 1, 1, 1, 0, 1].map(|label| Label(label == 1));
        assert_eq!(read(&cells.map(Cell::text), None), labels);
        let cells = ["-1", "1", "-1.0", "NA", "yes", "2", "0"];
        assert_eq!(
            read(&cells.map(Cell::text), None),
            [
                Label(false),
                Label(true),
                Label(false),
                Missing,
                Unknown,
                Unknown,
                Mixed
            ]
        );
        let cells = [
            Cell::Boolean(true),
            Cell::Integer(0),
            Cell::Float(-0.0),
            Cell::Float(0.5),
        ];
        assert_eq!(
            read(&cells, None),
            [Label(true), Label(false), Label(false), Unknown]
        );
    }

    #[test]
    fn the_positive_value_is_compared_as_text_or_as_a_number() {
        let yes = |cell, positive| read(&[cell], Some(positive)) == [Binary::Label(true)];
        assert!(yes(Cell::Text("spam"), "spam"));
        assert!(!yes(Cell::Text("Spam"), "spam"));
        assert!(yes(Cell::Text("2.0"), "2"));
        assert!(yes(Cell::Integer(2), "2.0"));
        assert!(yes(Cell::Boolean(false), "False"));
        assert!(!yes(Cell::Boolean(true), "1"));
    }

    #[test]
    fn classes_are_whole_numbers_from_zero() {
        let mut labels = ClassLabels::default();
        assert_eq!(labels.read(Cell::Integer(2), 3), Class::Number(2));
        assert_eq!(labels.read(Cell::Float(1.0), 3), Class::Number(1));
        assert_eq!(labels.read(Cell::Text("1.5"), 3), Class::Unknown);
        assert!(!labels.look_one_based(3));
        assert_eq!(labels.read(Cell::Integer(3), 3), Class::Unknown);
        assert!(labels.look_one_based(3));
        assert_eq!(labels.read(Cell::Integer(-1), 3), Class::Unknown);
        assert!(!labels.look_one_based(3));
    }
}
