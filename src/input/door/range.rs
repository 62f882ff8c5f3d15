//! What a whole column of confidences holds, and what that tells of a value that is no probability.

use crate::input::cell::Cell;

/// What is known of a whole column of confidences.
pub(super) struct Range {
    smallest: f64,
    largest: f64,
    pub(super) all_binary: bool,
    /// Values seen, and how many of them are not in [0, 1].
    seen: u64,
    outside: u64,
    pub(super) labels_are_probabilities: bool,
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
    pub(super) fn take_over(&mut self, other: &Self) {
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
        self.all_binary &= other.all_binary;
        self.seen += other.seen;
        self.outside += other.outside;
        self.labels_are_probabilities &= other.labels_are_probabilities;
    }

    pub(super) fn see(&mut self, value: f64) {
        self.smallest = self.smallest.min(value);
        self.largest = self.largest.max(value);
        self.all_binary &= value == 0.0 || value == 1.0;
        self.seen += 1;
        self.outside += u64::from(!(0.0..=1.0).contains(&value));
    }

    pub(super) fn see_label(&mut self, label: Cell<'_>) {
        if label != Cell::Missing {
            self.labels_are_probabilities &= label
                .number()
                .is_some_and(|value| (0.0..=1.0).contains(&value));
        }
    }

    /// What may have happened to a column that holds more than probabilities.
    pub(super) fn hint(&self, matrix: bool) -> String {
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
