//! What can be wrong with a row, and what is said of it.

use super::Door;
use crate::input::InputError;
use crate::input::cell::Element;
use crate::input::error::{FILL_IN_OR_REMOVE, FILL_IN_OR_SKIP};
use crate::predictions::Word;

/// The first thing that is wrong with a file.
pub(super) struct Failure {
    pub(super) row: u64,
    pub(super) kind: FailureKind,
}

/// What is wrong with a row. Values are as they were written.
pub(super) enum FailureKind {
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

impl<C: Element> Door<'_, C> {
    /// The row at hand is refused. Only the first failure counts.
    pub(super) fn fail(&mut self, kind: FailureKind) {
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

    /// The error for a failure, from what all rows tell.
    pub(super) fn explain(&self, failure: Failure) -> InputError {
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
                        FILL_IN_OR_REMOVE
                    } else {
                        FILL_IN_OR_SKIP
                    },
                )
            }
            FailureKind::MissingLabel => {
                label("the label is missing".to_owned()).remedy(FILL_IN_OR_SKIP)
            }
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
            FailureKind::Width(width) => {
                let probabilities = if width == 1 {
                    "probability"
                } else {
                    "probabilities"
                };
                match self.classes {
                    Some(classes) => confidence(format!(
                        "{width} {probabilities} where the rows before have {classes}"
                    ))
                    .remedy("Give every row one probability for each class, 0 where it has none."),
                    None => confidence(format!(
                        "{width} {probabilities}; a row of a matrix has at least 2"
                    ))
                    .remedy(
                        "Give one probability for each class; or a single confidence as a number, not \
                         as an array.",
                    ),
                }
            }
            FailureKind::Shape => {
                let (here, before) = match self.classes {
                    Some(_) => ("a single confidence", "an array of probabilities"),
                    None => ("an array of probabilities", "a single confidence"),
                };
                confidence(format!("{here} where a row before has {before}")).remedy(
                    "Give every row a number, or every row an array of one probability for each class.",
                )
            }
        }
    }
}
