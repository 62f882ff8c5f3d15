//! Sums over sorted rows in a definite order. Twin of `shaders/reduce_rows.wgsl`.

use std::ops::Range;

use super::wide_sum::{WideSum, signed_product};
use super::window_sums::window_sums;
use crate::backend::piece::Place;
use crate::backend::terms::RowSums;
use crate::fixed_point::residual_q30;
use crate::placement::TiedLabels;
use crate::predictions::{Dtype, Word, with_known_dtype};
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
    let mut residuals = Residuals::new(dtype, piece, place, range.start, placement);
    let mut block = Vec::with_capacity(BLOCK + 3);
    for block_start in range.clone().step_by(BLOCK) {
        // The last three residuals of a block are the first three of the next.
        block.drain(..block.len().min(BLOCK));
        let wanted = (BLOCK + 3 - block.len()).min(end - residuals.row);
        residuals.take(wanted, &mut block);
        let begun = (range.end - block_start).min(BLOCK);
        sums.adjacent += pair_sum(&block[..block.len().min(begun + 1)]);
        let windows = block.len().saturating_sub(3).min(begun);
        sums.neighbours += window_sums(&block[..if windows == 0 { 0 } else { windows + 3 }]);
    }
    sums
}

/// Σ of the products of neighbours.
fn pair_sum(residuals: &[i32]) -> i128 {
    crate::simd::dispatch!(pair_sum_body(residuals: &[i32]) -> i128)
}

#[inline(always)]
fn pair_sum_body(residuals: &[i32]) -> i128 {
    let mut sum = WideSum::default();
    for pair in residuals.windows(2) {
        sum.add(signed_product(pair[0], pair[1]));
    }
    sum.total()
}

/// The residuals of a piece's rows, in order.
struct Residuals<'a, W> {
    dtype: Dtype,
    piece: &'a [W],
    place: Place,
    row: usize,
    placement: Option<Key>,
    /// The last tied run met, and its placed labels.
    run: Range<usize>,
    labels: Option<TiedLabels>,
    scratch: [bool; BLOCK + 3],
}

impl<'a, W: Word> Residuals<'a, W> {
    fn new(dtype: Dtype, piece: &'a [W], place: Place, row: usize, placement: Option<Key>) -> Self {
        let mut residuals = Residuals {
            dtype,
            piece,
            place,
            row,
            placement,
            run: 0..0,
            labels: None,
            scratch: [false; BLOCK + 3],
        };
        // Only the first row can lie inside a run that begins before it.
        if let Some(key) = placement
            && row > 0
            && row < piece.len()
            && residuals.is_tied(row - 1)
        {
            let bits = piece[row].confidence_bits();
            let start = piece[..row].partition_point(|word| word.confidence_bits() != bits);
            residuals.enter_run(key, start);
        }
        residuals
    }

    /// Appends the residuals of the next `rows` rows, as far as there are.
    fn take(&mut self, rows: usize, block: &mut Vec<i32>) {
        let end = self.piece.len().min(self.row + rows);
        let words = &self.piece[self.row..end];
        let first = block.len();
        block.resize(first + words.len(), 0);
        residuals_of(self.dtype, words, &mut block[first..]);
        if let Some(key) = self.placement {
            self.place_tied(key, end, &mut block[first..]);
        }
        self.row = end;
    }

    /// Corrects the residuals of tied rows before `end`, which begin with that of the current row.
    fn place_tied(&mut self, key: Key, end: usize, residuals: &mut [i32]) {
        let mut row = self.row;
        loop {
            let end_in_run = end.min(self.run.end);
            if let Some(placed) = &self.labels
                && row < end_in_run
            {
                let confidence = self.dtype.q30(self.piece[row].confidence_bits());
                let places = &mut residuals[row - self.row..end_in_run - self.row];
                let first = (row - self.run.start) as u32;
                let labels = &mut self.scratch[..places.len()];
                placed.fill(first, labels);
                for (place, &label) in std::iter::zip(places, &*labels) {
                    *place = residual_q30(label, confidence);
                }
            }
            row = row.max(end_in_run);
            while row < end && !self.is_tied(row) {
                row += 1;
            }
            if row == end {
                return;
            }
            self.enter_run(key, row);
        }
    }

    /// Whether a row is tied with the one after it.
    #[inline(always)]
    fn is_tied(&self, row: usize) -> bool {
        let bits = |word: &W| word.confidence_bits();
        self.piece.get(row + 1).map(bits) == self.piece.get(row).map(bits)
    }

    /// Places the labels of the run that begins at `start`; none if all of them are equal, which
    /// leaves nothing to place.
    fn enter_run(&mut self, key: Key, start: usize) {
        self.run = start..run_end(self.piece, start);
        let size = self.run.len() as u32;
        let labels = self.piece[self.run.clone()].iter();
        let positives = labels.filter(|word| word.label()).count() as u32;
        let first_rank = self.place.first_rank + start as u32;
        self.labels = (positives > 0 && positives < size)
            .then(|| TiedLabels::new(key, first_rank, size, positives));
    }
}

/// The residuals of rows with their own labels.
fn residuals_of<W: Word>(dtype: Dtype, words: &[W], residuals: &mut [i32]) {
    crate::simd::dispatch!(residuals_of_body<W: Word>(
        dtype: Dtype,
        words: &[W],
        residuals: &mut [i32]
    ) -> ())
}

#[inline(always)]
fn residuals_of_body<W: Word>(dtype: Dtype, words: &[W], residuals: &mut [i32]) {
    with_known_dtype!(dtype, dtype => for (residual, word) in std::iter::zip(residuals, words) {
        *residual = residual_q30(word.label(), dtype.q30(word.confidence_bits()));
    });
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
