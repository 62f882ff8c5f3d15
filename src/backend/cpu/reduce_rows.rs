//! Sums over sorted rows in a definite order. Twin of `shaders/reduce_rows.wgsl`.

use std::ops::Range;

use super::window_sums::window_sums;
use crate::backend::piece::Place;
use crate::backend::terms::RowSums;
use crate::fixed_point::residual_q30;
use crate::placement::TiedLabels;
use crate::predictions::{Dtype, Word};
use crate::random::Key;

/// Windows that are summed at a time; their residuals stay in the first-level cache.
const BLOCK: usize = 2048;

/// The sums of pairs and windows that begin in `range` of `piece`, sorted.
///
/// With a key, the labels of tied rows are placed by it; without, they stand as they are.
pub fn reduce_rows<W: Word>(
    dtype: Dtype,
    piece: &[W],
    place: Place,
    range: Range<usize>,
    placement: Option<Key>,
) -> RowSums {
    let mut sums = RowSums::default();
    // A window reaches three rows beyond its own.
    let end = (range.end + 3).min(piece.len());
    let mut residuals =
        Residuals::new(dtype, piece, place, range.start, placement).take(end - range.start);
    let mut block = Vec::with_capacity(BLOCK + 3);
    for block_start in range.clone().step_by(BLOCK) {
        // The last three residuals of a block are the first three of the next.
        block.drain(..block.len().min(BLOCK));
        block.extend(residuals.by_ref().take(BLOCK + 3 - block.len()));
        let begun = (range.end - block_start).min(BLOCK);
        for pair in block.windows(2).take(begun) {
            sums.add_pair(pair[0], pair[1]);
        }
        let windows = block.len().saturating_sub(3).min(begun);
        sums.neighbours += window_sums(&block[..if windows == 0 { 0 } else { windows + 3 }]);
    }
    sums
}

/// The residuals of a piece's rows, in order.
struct Residuals<'a, W> {
    dtype: Dtype,
    piece: &'a [W],
    place: Place,
    first_row: usize,
    row: usize,
    placement: Option<Key>,
    /// The run that `row` lies in, once known.
    run_start: usize,
    run_end: usize,
    confidence: u32,
    labels: Option<TiedLabels>,
}

impl<'a, W: Word> Residuals<'a, W> {
    fn new(dtype: Dtype, piece: &'a [W], place: Place, row: usize, placement: Option<Key>) -> Self {
        Residuals {
            dtype,
            piece,
            place,
            first_row: row,
            row,
            placement,
            run_start: row,
            run_end: row,
            confidence: 0,
            labels: None,
        }
    }

    /// Finds the run that the current row lies in.
    fn enter_run(&mut self, bits: u64) {
        self.confidence = self.dtype.q30(bits);
        self.labels = None;
        let Some(key) = self.placement else {
            self.run_end = self.row + 1;
            return;
        };
        let same = |word: &W| word.confidence_bits() == bits;
        // Only the first row asked for can lie inside a run; the others begin one.
        self.run_start = self.row;
        if self.row == self.first_row {
            self.run_start = self.piece[..self.row].partition_point(|word| !same(word));
        }
        if self.piece.get(self.row + 1).is_some_and(same) || self.run_start < self.row {
            self.run_end = run_end(self.piece, self.row);
            let size = self.run_end - self.run_start;
            let run = &self.piece[self.run_start..self.run_end];
            let positives = run.iter().filter(|word| word.label()).count();
            self.labels = Some(TiedLabels::new(
                key,
                self.place.first_rank + self.run_start as u32,
                size as u32,
                positives as u32,
            ));
        } else {
            self.run_end = self.row + 1;
        }
    }
}

impl<W: Word> Iterator for Residuals<'_, W> {
    type Item = i32;

    fn next(&mut self) -> Option<i32> {
        let word = *self.piece.get(self.row)?;
        if self.row >= self.run_end {
            self.enter_run(word.confidence_bits());
        }
        let label = match &self.labels {
            Some(labels) => labels.is_positive((self.row - self.run_start) as u32),
            None => word.label(),
        };
        self.row += 1;
        Some(residual_q30(label, self.confidence))
    }
}

/// The end of the run of equal confidences that `row` lies in, by steps that double, so that a run
/// costs the logarithm of its own size.
pub(super) fn run_end<W: Word>(piece: &[W], row: usize) -> usize {
    let bits = piece[row].confidence_bits();
    let same = |word: &W| word.confidence_bits() == bits;
    let mut known = row + 1;
    let mut step = 1;
    while let Some(word) = piece.get(known + step - 1)
        && same(word)
    {
        known += step;
        step *= 2;
    }
    let limit = (known + step - 1).min(piece.len());
    known + piece[known..limit].partition_point(same)
}
