//! What leaves the door: the rows of a file as a batch of segments.

use super::{Door, SUM_TOLERANCE};
use crate::input::cell::Element;
use crate::input::{InputError, Loaded, Reduce, SegmentInfo};
use crate::predictions::{Batch, BatchError, Reduction};

impl<C: Element> Door<'_, C> {
    /// The batch of all rows admitted, or the first thing that was wrong.
    pub(in crate::input) fn finish(mut self, mut notes: Vec<String>) -> Result<Loaded, InputError> {
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
            )
            .remedy("Are these the right columns? Name others with --confidence and --label."));
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
}

/// Rows that cannot be a batch: a segment of 2³² rows.
fn refused(file: &str, error: &BatchError) -> InputError {
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
