//! Doors of parts of a file, and how what entered there comes together.

use super::Door;
use super::range::Range;
use crate::input::cell::Element;

/// The most rows that room is made for in a part before they are read: a file may claim more than it
/// holds, and there are several parts for each thread.
const MOST_RESERVED_OF_PART: usize = 1 << 18;

impl<'a, C: Element> Door<'a, C> {
    /// A door for a part of the same file, as if nothing stood before it. `rows` is about how many will
    /// come; it only saves memory.
    pub(in crate::input) fn part(&self, rows: usize) -> Self {
        let rows = rows.min(MOST_RESERVED_OF_PART);
        Door {
            file: self.file,
            options: self.options,
            confidence_column: self.confidence_column.clone(),
            label_column: self.label_column.clone(),
            groups: self.groups.part(rows),
            words: vec![Vec::with_capacity(rows)],
            classes: None,
            single: false,
            binary: self.binary.part(),
            class_labels: Default::default(),
            row: 1,
            failure: None,
            range: Range::default(),
            odd_sums: None,
        }
    }

    /// Whether nothing was wrong so far.
    pub(in crate::input) fn is_sound(&self) -> bool {
        self.failure.is_none()
    }

    /// Admits the rows of the part that comes next, if that makes no difference to admitting them one
    /// after the other. Otherwise nothing happens, and false: something may be wrong, and it takes the
    /// rows one after the other to say what and where.
    pub(in crate::input) fn take_over(&mut self, part: Self) -> bool {
        let agree = match (self.classes, part.classes) {
            (None, None) => true,
            (None, Some(_)) => self.words[0].is_empty(),
            (classes, of_part) => classes == of_part && !part.single,
        };
        if !(agree && self.is_sound() && part.is_sound() && self.binary.take_over(part.binary)) {
            return false;
        }
        self.classes = part.classes;
        self.words.resize_with(part.words.len(), Vec::new);
        for (words, more) in std::iter::zip(&mut self.words, part.words) {
            words.extend_from_slice(&more);
        }
        self.groups.take_over(part.groups);
        self.class_labels.take_over(part.class_labels);
        self.range.take_over(&part.range);
        let before = self.row - 1;
        self.odd_sums = match (self.odd_sums, part.odd_sums) {
            (Some((rows, first)), Some((more, _))) => Some((rows + more, first)),
            (None, Some((rows, first))) => Some((rows, before + first)),
            (known, None) => known,
        };
        self.row = before + part.row;
        true
    }
}
