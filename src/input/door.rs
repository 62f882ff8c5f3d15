//! The door: the one place where confidences and labels are validated and become words.

mod parts;

use super::cell::{Cell, Element, Reading, is_missing};
use super::columns::Columns;
use super::group::Groups;
use super::label::{Binary, BinaryLabels, Class, ClassLabels};
use super::{InputError, Loaded, Options, Reduce, SegmentInfo};
use crate::predictions::{Batch, BatchError, Confidence, Reduction, Word};

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

/// What is known of a whole column of confidences.
struct Range {
    smallest: f64,
    largest: f64,
    all_binary: bool,
    /// Values seen, and how many of them are not in [0, 1].
    seen: u64,
    outside: u64,
    labels_are_probabilities: bool,
}

struct Failure {
    row: u64,
    kind: FailureKind,
}

/// What is wrong with a row. Values are as they were written.
enum FailureKind {
    MissingConfidence(Option<usize>),
    MissingLabel,
    MissingGroup(String),
    NotANumber(String),
    NotAProbability(String, Option<usize>),
    Label(String),
    MixedLabels,
    Class(String),
    Width(usize),
    Shape,
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

    fn fail(&mut self, kind: FailureKind) {
        if self.failure.is_none() {
            if self.classes.is_none() {
                // What was admitted is looked at only now: good files need not pay for it.
                for word in &self.words[0] {
                    self.range.see(C::DTYPE.value(word.confidence_bits()));
                }
            }
            self.failure = Some(Failure {
                row: self.row,
                kind,
            });
        }
    }

    /// The batch of all rows admitted, or the first thing that was wrong.
    pub(super) fn finish(mut self, mut notes: Vec<String>) -> Result<Loaded, InputError> {
        let rows = self.row - 1;
        if let Some(failure) = self.failure.take() {
            return Err(self.explain(failure));
        }
        if rows == 0 {
            return Err(InputError::new(self.file, "there are no rows").remedy(
                if self.options.confidences_only {
                    "At least one confidence is needed."
                } else {
                    "At least one confidence with its label is needed."
                },
            ));
        }
        let skipped = self.groups.skipped();
        if skipped == rows {
            return Err(InputError::new(
                self.file,
                format!("every one of the {rows} rows lacks its confidence or its label"),
            ));
        }
        self.check_positive(&mut notes)?;
        if let Some((rows, first)) = self.odd_sums {
            notes.push(format!(
                "the probabilities of {rows} rows do not sum to 1 within {SUM_TOLERANCE} \
                 (first in row {first}); they are used as they are"
            ));
        }

        let (reduction, class_wise) = match (self.classes, self.options.reduce) {
            (None, _) => (Reduction::Binary, false),
            (Some(_), Reduce::TopLabel) => (Reduction::TopLabel, false),
            (Some(_), Reduce::ClassWise) => (Reduction::ClassWise, true),
        };
        let groups = self.groups.order(self.words[0].len());
        let lists = self.words.len();
        let words: Vec<Vec<C::Word>> = self
            .words
            .into_iter()
            .map(|words| groups.scatter(words))
            .collect();
        let mut sizes = Vec::with_capacity(groups.sizes.len() * lists);
        let mut segments = Vec::with_capacity(groups.sizes.len() * lists);
        for (group, values) in groups.values.iter().enumerate() {
            for class in 0..lists {
                sizes.push(groups.sizes[group]);
                segments.push(SegmentInfo {
                    source: self.file.to_owned(),
                    group: values.clone(),
                    reduction,
                    class: class_wise.then_some(class),
                    skipped: groups.skipped[group],
                });
            }
        }
        let batch = Batch::new(C::rows(interleave(words, &groups.sizes)), &sizes)
            .map_err(|error| refused(self.file, &error))?;
        Ok(Loaded {
            batch,
            segments,
            notes,
        })
    }

    fn check_positive(&self, notes: &mut Vec<String>) -> Result<(), InputError> {
        if self.classes.is_some() {
            if self.options.positive.is_some() {
                return Err(InputError::new(
                    self.file,
                    "--positive is for binary labels; those of a matrix are the numbers of classes",
                )
                .remedy("Leave out --positive."));
            }
            return Ok(());
        }
        if let Some((positive, values)) = self.binary.positive_not_found() {
            return Err(InputError::new(
                self.file,
                format!("no label equals `{positive}` (--positive)"),
            )
            .column(self.label_column.as_str())
            .remedy(format!("Labels found: {values}.")));
        }
        if let Some(remark) = self.binary.one_against_several() {
            notes.push(remark);
        }
        Ok(())
    }

    fn explain(&self, failure: Failure) -> InputError {
        let at = |problem: String| InputError::new(self.file, problem).row(failure.row);
        let confidence = |problem| at(problem).column(self.confidence_column.as_str());
        let label = |problem| at(problem).column(self.label_column.as_str());
        let of_class = |class: Option<usize>| match class {
            Some(class) => format!(" of class {class}"),
            None => String::new(),
        };
        match failure.kind {
            FailureKind::MissingConfidence(class) => {
                confidence(format!("the confidence{} is missing", of_class(class))).remedy(
                    if self.options.confidences_only {
                        "Fill it in, or remove the row from the file."
                    } else {
                        "Fill it in, or leave such rows out with --skip-missing."
                    },
                )
            }
            FailureKind::MissingLabel => label("the label is missing".to_owned())
                .remedy("Fill it in, or leave such rows out with --skip-missing."),
            FailureKind::MissingGroup(column) => at("the group value is missing".to_owned())
                .column(column)
                .remedy("Fill it in, or remove the row: no result could count it."),
            FailureKind::NotANumber(text) => {
                let remedy = if f64::parse(&text.replace(',', ".")).is_some() {
                    "Write decimals with a point, not a comma."
                } else if text.ends_with('%') {
                    "Write percentages as fractions: divide by 100."
                } else {
                    "Confidences are numbers from 0 to 1; is this the right column?"
                };
                confidence(format!("confidence `{text}` is not a number"))
                    .value(text)
                    .remedy(remedy)
            }
            FailureKind::NotAProbability(text, class) => confidence(format!(
                "confidence {text}{} is not in [0, 1]",
                of_class(class)
            ))
            .value(text)
            .remedy(self.range.hint(class.is_some())),
            FailureKind::Label(text) => {
                let looks_swapped = self.range.all_binary && self.range.labels_are_probabilities;
                let remedy = if looks_swapped && self.options.labels_file.is_none() {
                    format!(
                        "Column `{}` holds only 0 and 1: the two columns look swapped; exchange \
                         --confidence and --label.",
                        self.confidence_column
                    )
                } else {
                    "Labels are 0/1, true/false or -1/1; for others say with --positive VALUE \
                     which one counts as 1."
                        .to_owned()
                };
                label(format!("label `{text}` is not binary"))
                    .value(text)
                    .remedy(remedy)
            }
            FailureKind::MixedLabels => label("the labels hold both -1 and 0".to_owned())
                .remedy("Use 0/1 or -1/1, or say with --positive VALUE which one counts as 1."),
            FailureKind::Class(text) => {
                let classes = self.classes.unwrap_or_default();
                let remedy = if self.class_labels.look_one_based(classes) {
                    "They look numbered from 1: subtract 1.".to_owned()
                } else {
                    format!("Labels of a matrix of {classes} columns are those from 0.")
                };
                label(format!(
                    "label `{text}` is not the number of a class, 0 to {}",
                    classes.saturating_sub(1)
                ))
                .value(text)
                .remedy(remedy)
            }
            FailureKind::Width(width) => confidence(match self.classes {
                Some(classes) => format!("{width} probabilities where other rows have {classes}"),
                None => format!("{width} probabilities; a row of a matrix has at least 2"),
            }),
            FailureKind::Shape => {
                confidence("a single confidence in some rows, several in others".to_owned())
            }
        }
    }
}

/// Rows that cannot be a batch: a segment of 2³² rows.
pub(super) fn refused(file: &str, error: &BatchError) -> InputError {
    InputError::new(file, error.to_string()).remedy("Split the file.")
}

/// Lists of words cut into groups of the given sizes, all lists of a group beside each other.
fn interleave<W: Copy>(mut lists: Vec<Vec<W>>, sizes: &[usize]) -> Vec<W> {
    if lists.len() == 1 {
        return lists.swap_remove(0);
    }
    let mut words = Vec::with_capacity(lists.iter().map(Vec::len).sum());
    let mut start = 0;
    for size in sizes {
        for list in &lists {
            words.extend_from_slice(&list[start..start + size]);
        }
        start += size;
    }
    words
}

impl Default for Range {
    fn default() -> Self {
        Range {
            smallest: f64::INFINITY,
            largest: f64::NEG_INFINITY,
            all_binary: true,
            seen: 0,
            outside: 0,
            labels_are_probabilities: true,
        }
    }
}

impl Range {
    /// What is known together with what another range tells.
    fn take_over(&mut self, other: &Self) {
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
        self.all_binary &= other.all_binary;
        self.seen += other.seen;
        self.outside += other.outside;
        self.labels_are_probabilities &= other.labels_are_probabilities;
    }

    fn see(&mut self, value: f64) {
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
        self.all_binary &= value == 0.0 || value == 1.0;
        self.seen += 1;
        self.outside += u64::from(!(0.0..=1.0).contains(&value));
    }

    fn see_label(&mut self, label: Cell<'_>) {
        if label != Cell::Missing {
            self.labels_are_probabilities &= label
                .number()
                .is_some_and(|value| (0.0..=1.0).contains(&value));
        }
    }

    /// What may have happened to a column that holds more than probabilities.
    fn hint(&self, matrix: bool) -> String {
        let (smallest, largest) = (self.smallest, self.largest);
        let span = format!("Values go from {smallest:?} to {largest:?}");
        if smallest >= -0.001 && largest <= 1.001 {
            "It is off by rounding only, but values are never clipped here: clip them yourself, or \
             compute them in higher precision."
                .to_owned()
        } else if self.outside * 10 < self.seen {
            // Another scale would show in more of them.
            format!(
                "{span}, but only {} of {} are outside of [0, 1]: look at where these come from.",
                self.outside, self.seen
            )
        } else if smallest < -0.001 && largest <= 0.0 {
            format!("{span} and look like log-probabilities: apply exp first.")
        } else if smallest < -0.001 || largest > 100.0 {
            let function = if matrix {
                "softmax"
            } else {
                "sigmoid (or softmax)"
            };
            format!("{span} and look like logits: apply {function} first.")
        } else {
            format!("{span} and look like percentages: divide by 100.")
        }
    }
}
