//! The door: the one place where confidences and labels are validated and become words.

mod failure;
mod finish;
mod parts;
mod range;

use super::cell::{Cell, Element, Reading, is_missing};
use super::columns::Columns;
use super::group::Groups;
use super::label::{Binary, BinaryLabels, Class, ClassLabels};
use super::{Options, Reduce};
use crate::predictions::Confidence;
use failure::{Failure, FailureKind};
use range::Range;

/// The most rows that room is made for before they are read.
const MOST_RESERVED: u64 = 1 << 24;

/// How far the probabilities of a row may sum from 1 before it is remarked on.
const SUM_TOLERANCE: f64 = 0.01;

/// A label of a block that is not the number 0 or 1.
pub(super) const OTHER_LABEL: u8 = 2;

/// A label as [`Door::admit_block`] takes it.
pub(super) fn number<T: PartialEq>(value: T, zero: T, one: T) -> u8 {
    if value == one {
        1
    } else if value == zero {
        0
    } else {
        OTHER_LABEL
    }
}

/// Where the rows of one file enter, in their order.
pub(super) struct Door<'a, C: Confidence> {
    file: &'a str,
    options: &'a Options,
    confidence_column: String,
    label_column: String,
    groups: Groups,
    /// One list, or with class-wise reduction one for each class.
    words: Vec<Vec<C::Word>>,
    /// How many classes the rows have, if they are rows of a matrix.
    classes: Option<usize>,
    /// Whether a single confidence or a word for one came before any row of a matrix.
    single: bool,
    binary: BinaryLabels,
    class_labels: ClassLabels,
    /// The number of the row at hand, from 1.
    row: u64,
    /// The first thing that is wrong. After it rows are only looked at, for a better hint.
    failure: Option<Failure>,
    range: Range,
    /// Rows whose probabilities do not sum to 1: how many, and the first.
    odd_sums: Option<(u64, u64)>,
}

impl<'a, C: Element> Door<'a, C> {
    /// A door for a file whose columns have these names. `rows` is how many will come, 0 if that
    /// is unknown; it only saves memory.
    pub(super) fn new(
        file: &'a str,
        options: &'a Options,
        columns: &Columns,
        names: &[String],
        rows: u64,
    ) -> Self {
        let group_columns: Vec<String> = columns
            .groups
            .iter()
            .map(|&place| names[place].clone())
            .collect();
        Door {
            file,
            options,
            confidence_column: names[columns.confidence].clone(),
            label_column: match columns.label {
                Some(place) => names[place].clone(),
                None => "--labels".to_owned(),
            },
            groups: Groups::new(group_columns),
            words: vec![Vec::with_capacity(rows.min(MOST_RESERVED) as usize)],
            classes: None,
            single: false,
            binary: BinaryLabels::new(options.positive.as_deref()),
            class_labels: ClassLabels::default(),
            row: 1,
            failure: None,
            range: Range::default(),
            odd_sums: None,
        }
    }

    /// The number of the row at hand, from 1: the one that is admitted next.
    pub(super) fn row(&self) -> u64 {
        self.row
    }

    /// One more group value of the row at hand, in the order of the group columns.
    pub(super) fn group(&mut self, value: Option<&str>) {
        match value {
            Some(value) if !value.is_empty() => self.groups.push(value),
            _ => {
                let column = self.groups.next_column().to_owned();
                self.fail(FailureKind::MissingGroup(column));
                self.groups.push("");
            }
        }
    }

    /// The row at hand: a confidence with its label.
    #[inline]
    pub(super) fn admit(&mut self, confidence: Reading<'_, C>, label: Cell<'_>) {
        // Almost every row of a binary file.
        if let Reading::Number(value) = confidence
            && self.failure.is_none()
            && self.classes.is_none()
            && self.groups.is_single()
            && !value.to_f64().is_nan()
            && let Some(label) = self.binary.read_number(label)
            && let Some(word) = value.word(label)
        {
            self.words[0].push(word);
            self.row += 1;
            return;
        }
        self.admit_carefully(confidence, label);
    }

    /// Many rows at once, if all of them are what [`Door::admit`] takes without looking twice, which
    /// is what almost every block of a binary file is. Otherwise none, and false. A label is 0 or 1,
    /// and [`OTHER_LABEL`] if it is neither or has to be looked at.
    pub(super) fn admit_block(&mut self, values: &[C], labels: &[u8]) -> bool {
        if self.failure.is_some() || self.classes.is_some() || !self.groups.is_single() {
            return false;
        }
        // Without early ends, so that both are vectorised.
        let valid = values.iter().fold(true, |valid, v| valid & v.is_valid());
        let largest = labels.iter().fold(0, |largest, &label| label.max(largest));
        if !valid || largest >= OTHER_LABEL || !self.binary.read_numbers(labels) {
            return false;
        }
        let rows = std::iter::zip(values, labels);
        self.words[0].extend(rows.map(|(value, &label)| value.pack(label == 1)));
        self.row += values.len() as u64;
        true
    }

    fn admit_carefully(&mut self, confidence: Reading<'_, C>, label: Cell<'_>) {
        let group = self.groups.number();
        let value = match confidence {
            Reading::Missing => None,
            Reading::Number(value) => Some(value),
            Reading::Text(text) => {
                let text = text.trim();
                match C::parse(text) {
                    _ if is_missing(text) => None,
                    Some(value) => Some(value),
                    None => {
                        self.fail(FailureKind::NotANumber(text.to_owned()));
                        None
                    }
                }
            }
        };
        let value = value.filter(|value| !value.to_f64().is_nan());
        if self.classes.is_some() {
            self.fail(FailureKind::Shape);
        }
        self.single |= !matches!(confidence, Reading::Missing);
        if self.failure.is_none() {
            self.admit_pair(group, value, confidence, label);
        }
        if self.failure.is_some() {
            self.range.see_label(label);
            if let Some(value) = value {
                self.range.see(value.to_f64());
            }
        }
        self.row += 1;
    }

    fn admit_pair(&mut self, group: u32, value: Option<C>, read: Reading<'_, C>, cell: Cell<'_>) {
        let Some(value) = value else {
            return self.missing(group, FailureKind::MissingConfidence(None));
        };
        let label = match self.binary.read(cell) {
            _ if self.options.confidences_only => false,
            Binary::Label(label) => label,
            Binary::Missing => return self.missing(group, FailureKind::MissingLabel),
            Binary::Unknown => return self.fail(FailureKind::Label(cell.to_string())),
            Binary::Mixed => return self.fail(FailureKind::MixedLabels),
        };
        match value.word(label) {
            Some(word) => {
                self.words[0].push(word);
                self.groups.keep(group);
            }
            None => {
                let written = match read {
                    Reading::Text(text) => text.trim().to_owned(),
                    _ => value.show(),
                };
                self.fail(FailureKind::NotAProbability(written, None));
            }
        }
    }

    /// The row at hand: a probability for each class, with the number of the true class; none is
    /// a missing row.
    pub(super) fn admit_vector(&mut self, probabilities: Option<&[C]>, label: Cell<'_>) {
        let group = self.groups.number();
        for value in probabilities.unwrap_or_default() {
            if !value.to_f64().is_nan() {
                self.range.see(value.to_f64());
            }
        }
        if self.classes.is_none() && !self.words[0].is_empty() {
            self.fail(FailureKind::Shape);
        }
        if self.failure.is_none() {
            match probabilities {
                None => self.missing(group, FailureKind::MissingConfidence(None)),
                Some(probabilities) => self.admit_row(group, probabilities, label),
            }
        } else if let Some(classes) = self.classes {
            self.class_labels.read(label, classes);
        }
        self.row += 1;
    }

    /// The row at hand: no confidence, or no probabilities.
    pub(super) fn admit_missing(&mut self, label: Cell<'_>) {
        if self.classes.is_some() {
            self.admit_vector(None, label);
        } else {
            self.admit(Reading::Missing, label);
        }
    }

    fn admit_row(&mut self, group: u32, probabilities: &[C], cell: Cell<'_>) {
        let classes = probabilities.len();
        if classes < 2 || self.classes.is_some_and(|expected| expected != classes) {
            return self.fail(FailureKind::Width(classes));
        }
        if self.classes.is_none() {
            self.classes = Some(classes);
            if self.options.reduce == Reduce::ClassWise {
                self.words.resize_with(classes, Vec::new);
            }
        }
        // Every probability is looked at before the row may be left out.
        let mut sum = 0.0;
        let mut missing = None;
        let mut top = 0;
        for (class, &value) in probabilities.iter().enumerate() {
            let number = value.to_f64();
            if number.is_nan() {
                missing = missing.or(Some(class));
            } else if !(0.0..=1.0).contains(&number) {
                return self.fail(FailureKind::NotAProbability(value.show(), Some(class)));
            }
            sum += number;
            if value > probabilities[top] {
                top = class;
            }
        }
        if missing.is_some() {
            return self.missing(group, FailureKind::MissingConfidence(missing));
        }
        let truth = match self.class_labels.read(cell, classes) {
            // No class: every label is 0.
            _ if self.options.confidences_only => classes,
            Class::Number(class) => class,
            Class::Missing => return self.missing(group, FailureKind::MissingLabel),
            Class::Unknown => return self.fail(FailureKind::Class(cell.to_string())),
        };
        if (sum - 1.0).abs() > SUM_TOLERANCE {
            let (rows, first) = self.odd_sums.unwrap_or((0, self.row));
            self.odd_sums = Some((rows + 1, first));
        }
        // Every probability was found in [0, 1] above, so each has a word.
        let word = |class: usize| probabilities[class].word(class == truth);
        match self.options.reduce {
            Reduce::TopLabel => self.words[0].extend(word(top)),
            Reduce::ClassWise => {
                for (class, words) in self.words.iter_mut().enumerate() {
                    words.extend(word(class));
                }
            }
        }
        self.groups.keep(group);
    }

    fn missing(&mut self, group: u32, kind: FailureKind) {
        if self.options.skip_missing {
            self.groups.skip(group);
        } else {
            self.fail(kind);
        }
    }
}
