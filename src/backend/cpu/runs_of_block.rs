//! The tied runs of a block of sorted rows, in vectors: as if each were one row, which most are.

use std::ops::Range;

use super::wide_sum::{WideSums, product, signed_product};
use crate::backend::piece::Place;
use crate::backend::terms::{Run, RunSums};
use crate::predictions::{Dtype, Word, with_known_dtype};

/// Rows that are looked at together, and so the most runs that are summed together; what is known of
/// them stays in the first-level cache.
pub const BLOCK: usize = 512;

/// Lanes of sums.
const LANES: usize = 8;

/// Runs whose products are added at a time: two in each lane, whose products fit 64 bits together.
const TOGETHER: usize = 2 * LANES;

/// Room for a block, for the run that is open when it begins, and for what is written behind the end.
const ROOM: usize = 2 * BLOCK;

/// Where the runs of a block begin. Number 0 was open when the block began; the last is when it ends.
pub struct Starts<W> {
    /// Runs that have ended.
    count: usize,
    /// The first row of each.
    row: [u32; ROOM],
    /// Its word.
    word: [W; ROOM],
}

impl<W: Word> Starts<W> {
    /// With the run that begins at row `first` open.
    pub fn new(piece: &[W], first: usize) -> Self {
        Starts {
            count: 0,
            row: [first as u32; ROOM],
            word: [piece[first]; ROOM],
        }
    }

    /// Finds the runs that begin in the next rows, at most a block of them, and not the first of the
    /// piece. Nothing branches on them.
    pub fn find(&mut self, piece: &[W], rows: Range<usize>) {
        let mut count = self.count;
        let mut row = rows.start as u32;
        for pair in piece[rows.start - 1..rows.end].windows(2) {
            // What is written stays if a run begins here, and is written over otherwise.
            let next = (count + 1) % ROOM;
            self.row[next] = row;
            self.word[next] = pair[1];
            count += usize::from(pair[0].confidence_bits() != pair[1].confidence_bits());
            row = row.wrapping_add(1);
        }
        self.count = count;
    }

    /// How many runs have ended. They have numbers below this.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rows of a run that has ended; of the open run only where it begins is known.
    pub fn rows(&self, number: usize) -> Range<usize> {
        self.row[number] as usize..self.row[number + 1] as usize
    }

    /// The open run becomes number 0.
    pub fn keep(&mut self) {
        self.word[0] = self.word[self.count];
        self.row[0] = self.row[self.count];
        self.count = 0;
    }
}

/// What products are made of, of the ended runs of a block from place 1 on, and of the run before them
/// in place 0. The fields are those of [`Run`]. Behind the last run there are zeros, which add nothing.
pub struct Runs {
    /// How many runs there are.
    count: usize,
    first_rank: [u32; PLACES],
    size: [u32; PLACES],
    mean_residual: [i32; PLACES],
    variance: [u32; PLACES],
    mean_variance: [u32; PLACES],
}

/// The run before, a block, and zeros up to a whole number of vectors.
const PLACES: usize = 1 + BLOCK + TOGETHER;

impl Runs {
    /// Before the first run there is nothing, and its products are 0.
    pub fn new() -> Self {
        Runs {
            count: 0,
            first_rank: [0; PLACES],
            size: [0; PLACES],
            mean_residual: [0; PLACES],
            variance: [0; PLACES],
            mean_variance: [0; PLACES],
        }
    }

    /// The runs that have ended, as if each were one row.
    pub fn load<W: Word>(&mut self, dtype: Dtype, place: Place, starts: &Starts<W>) {
        load(self, dtype, place.first_rank, starts);
    }

    /// Means, of a run of several rows.
    pub fn average(&mut self, number: usize, run: &Run) {
        self.mean_residual[number + 1] = run.mean_residual() as i32;
        self.mean_variance[number + 1] = run.mean_variance;
    }

    /// Adds what runs of one row contribute, and what all runs do with the run before.
    pub fn add_products(&self, sums: &mut RunSums) {
        add_products(self, sums);
    }

    /// The last run becomes the one before.
    pub fn keep(&mut self) {
        self.mean_residual[0] = self.mean_residual[self.count];
        self.variance[0] = self.variance[self.count];
        self.mean_variance[0] = self.mean_variance[self.count];
    }
}

fn load<W: Word>(runs: &mut Runs, dtype: Dtype, first_rank: u32, starts: &Starts<W>) {
    crate::simd::dispatch!(load_body<W: Word>(
        runs: &mut Runs,
        dtype: Dtype,
        first_rank: u32,
        starts: &Starts<W>
    ) -> ())
}

#[inline(always)]
fn load_body<W: Word>(runs: &mut Runs, dtype: Dtype, first_rank: u32, starts: &Starts<W>) {
    let count = starts.count.min(BLOCK);
    runs.count = count;
    let words = &starts.word[..count];
    // Confidences stay in `variance` until the last loop.
    let confidence = &mut runs.variance[1..][..count];
    with_known_dtype!(dtype, dtype => for (confidence, word) in std::iter::zip(confidence, words) {
        *confidence = dtype.q30(word.confidence_bits());
    });
    let (first, next) = (&starts.row[..count], &starts.row[1..][..count]);
    let ranks = &mut runs.first_rank[1..][..count];
    let sizes = &mut runs.size[1..][..count];
    for run in 0..count {
        ranks[run] = first_rank.wrapping_add(first[run]);
        sizes[run] = next[run].wrapping_sub(first[run]);
    }
    let residuals = &mut runs.mean_residual[1..][..count];
    let variances = &mut runs.variance[1..][..count];
    let mean_variances = &mut runs.mean_variance[1..][..count];
    for run in 0..count {
        let confidence = variances[run];
        // The lowest bit of a word is its label.
        let label = (words[run].to_u64() as u32 & 1) << 30;
        let complement = (1u32 << 30).wrapping_sub(confidence);
        let variance = (product(confidence, complement).wrapping_add(1 << 26) >> 27) as u32;
        residuals[run] = label.wrapping_sub(confidence) as i32;
        variances[run] = variance;
        mean_variances[run] = variance;
    }
    let behind = 1 + count..1 + count + TOGETHER;
    runs.size[behind.clone()].fill(0);
    runs.mean_residual[behind.clone()].fill(0);
    runs.variance[behind.clone()].fill(0);
    runs.mean_variance[behind].fill(0);
}

fn add_products(runs: &Runs, sums: &mut RunSums) {
    crate::simd::dispatch!(add_products_body(runs: &Runs, sums: &mut RunSums) -> ())
}

#[inline(always)]
fn add_products_body(runs: &Runs, sums: &mut RunSums) {
    let [mut rank_ece, mut odd, mut even] = [WideSums::<LANES>::default(); 3];
    let [mut conditional, mut squares, mut brier] = [WideSums::<LANES>::default(); 3];
    let mut rows = [0u32; LANES];
    for first in (0..runs.count.min(BLOCK)).step_by(TOGETHER) {
        // Each run from `first` on is at its place less 1, and the run before it at the same place here.
        let residual = &runs.mean_residual[first..][..=TOGETHER];
        let variance = &runs.variance[first..][..=TOGETHER];
        let mean_variance = &runs.mean_variance[first..][..=TOGETHER];
        let rank = &runs.first_rank[first..][..=TOGETHER];
        let size = &runs.size[first..][..=TOGETHER];
        for (lane, rows) in rows.iter_mut().enumerate() {
            let of_run = |run: usize| {
                let residuals = signed_product(residual[run], residual[run + 1]);
                let variances = product(variance[run], variance[run + 1]);
                let means = product(mean_variance[run], mean_variance[run + 1]);
                // The pair's number is the rank, from 1, of the last row of the run before.
                let is_odd = i64::from((rank[run + 1] & 1).wrapping_neg() as i32);
                let is_row = if size[run + 1] == 1 { u32::MAX } else { 0 };
                let row_variance = variance[run + 1] & is_row;
                let row_residual = residual[run + 1] & is_row as i32;
                [
                    residuals,
                    means,
                    variances & is_odd,
                    variances & !is_odd,
                    product(row_variance, row_variance),
                    signed_product(row_residual, row_residual),
                    i64::from(is_row & 1),
                ]
            };
            // Products of residuals are at most 2⁶⁰ in size, those of variances at most 2⁶².
            let (a, b) = (of_run(lane), of_run(lane + LANES));
            rank_ece.add(lane, a[0].wrapping_add(b[0]));
            conditional.add_unsigned(lane, a[1].wrapping_add(b[1]) as u64);
            odd.add_unsigned(lane, a[2].wrapping_add(b[2]) as u64);
            even.add_unsigned(lane, a[3].wrapping_add(b[3]) as u64);
            squares.add_unsigned(lane, a[4].wrapping_add(b[4]) as u64);
            brier.add_unsigned(lane, a[5].wrapping_add(b[5]) as u64);
            *rows = rows.wrapping_add(a[6] as u32).wrapping_add(b[6] as u32);
        }
    }
    let total = |sums: &WideSums<LANES>| (0..LANES).map(|lane| sums.total(lane)).sum::<i128>();
    sums.distinct += rows.iter().map(|&rows| u64::from(rows)).sum::<u64>();
    sums.rank_ece += total(&rank_ece);
    // None of these terms is negative.
    sums.null_odd += total(&odd) as u128;
    sums.null_even += total(&even) as u128;
    sums.null_conditional += total(&conditional) as u128;
    sums.null_squares += total(&squares) as u128;
    sums.brier += total(&brier) as u128;
}
