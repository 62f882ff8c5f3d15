//! Sums over tied runs of sorted rows. Twin of `shaders/reduce_runs.wgsl`.

use std::ops::Range;

use super::wide_sum::{WideSum, product, signed_product};
use crate::backend::piece::Place;
use crate::backend::terms::{Run, RunSums};
use crate::predictions::{Dtype, Word};

/// Rows that are looked at together, and so the most runs that are summed together; what is known of
/// them stays in the first-level cache.
const BLOCK: usize = 512;

/// The sums of all runs of `piece`, sorted, that begin in `range`, each with its boundary to the run
/// after it.
pub fn reduce_runs<W: Word>(
    dtype: Dtype,
    piece: &[W],
    place: Place,
    range: Range<usize>,
) -> RunSums {
    let mut sums = RunSums::default();
    let Some(first) = first_run_start(piece, &range) else {
        return sums;
    };
    let (first, before) = if range.end - first > BLOCK / 4 {
        closed_runs(dtype, piece, place, first..range.end, &mut sums)
    } else {
        (first, None)
    };
    let mut run = run_at(dtype, piece, place, first);
    if let Some(before) = before {
        sums.add_boundary(&before, &run);
    }
    let mut end = first;
    loop {
        sums.add_run(&run);
        end += run.size as usize;
        if end == piece.len() {
            return sums;
        }
        let next = run_at(dtype, piece, place, end);
        sums.add_boundary(&run, &next);
        if end >= range.end {
            return sums;
        }
        run = next;
    }
}

/// Adds the runs that begin in `range`, but for the last that does, and the boundaries between them.
/// Returns where that last run begins, and the run before it.
fn closed_runs<W: Word>(
    dtype: Dtype,
    piece: &[W],
    place: Place,
    range: Range<usize>,
    sums: &mut RunSums,
) -> (usize, Option<Run>) {
    let mut starts = Starts::new(piece, range.start);
    let mut runs = Runs::new();
    let mut before = None;
    let mut row = range.start + 1;
    while row < range.end {
        let end = range.end.min(row + BLOCK);
        starts.find(piece, row..end);
        let count = starts.count;
        if count > 0 {
            runs.load(dtype, place, &starts);
            for number in 1..=count {
                if runs.size[number] > 1 {
                    let run = runs.run(number);
                    sums.add_run(&run);
                    runs.mean_residual[number] = run.mean_residual() as i32;
                    runs.mean_variance[number] = run.mean_variance;
                }
            }
            add_products(&runs, count, sums);
            before = Some(runs.run(count));
            runs.keep(count);
            starts.keep(count);
        }
        row = end;
    }
    (starts.row[0] as usize, before)
}

/// Where the runs of a block begin. Number 0 was open when the block began, number `count` is when it
/// ends.
struct Starts<W> {
    count: usize,
    word: [W; BLOCK + 1],
    row: [u32; BLOCK + 1],
    /// Positives among the rows before.
    positives: [u32; BLOCK + 1],
    /// Positives among all rows seen.
    positives_seen: u32,
}

impl<W: Word> Starts<W> {
    fn new(piece: &[W], first: usize) -> Self {
        Starts {
            count: 0,
            word: [piece[first]; BLOCK + 1],
            row: [first as u32; BLOCK + 1],
            positives: [0; BLOCK + 1],
            positives_seen: u32::from(piece[first].label()),
        }
    }

    /// Finds the runs that begin in the next rows, at most a block of them. Nothing branches on them.
    fn find(&mut self, piece: &[W], rows: Range<usize>) {
        let mut open = self.word[0].confidence_bits();
        for row in rows {
            let word = piece[row];
            let bits = word.confidence_bits();
            // What is written stays if a run begins here, and is written over otherwise.
            let next = self.count + 1;
            self.word[next] = word;
            self.row[next] = row as u32;
            self.positives[next] = self.positives_seen;
            self.count += usize::from(bits != open);
            self.positives_seen += u32::from(word.label());
            open = bits;
        }
    }

    /// The open run becomes number 0.
    fn keep(&mut self, count: usize) {
        self.word[0] = self.word[count];
        self.row[0] = self.row[count];
        self.positives[0] = self.positives[count];
        self.count = 0;
    }
}

/// What is known of the closed runs of a block, from number 1 on, and of the run before them, number
/// 0. The fields are those of [`Run`].
struct Runs {
    first_rank: [u32; BLOCK + 1],
    confidence: [u32; BLOCK + 1],
    size: [u32; BLOCK + 1],
    positives: [u32; BLOCK + 1],
    mean_residual: [i32; BLOCK + 1],
    variance: [u32; BLOCK + 1],
    mean_variance: [u32; BLOCK + 1],
}

impl Runs {
    /// Before the first run there is nothing, and its products are 0.
    fn new() -> Self {
        Runs {
            first_rank: [0; BLOCK + 1],
            confidence: [0; BLOCK + 1],
            size: [0; BLOCK + 1],
            positives: [0; BLOCK + 1],
            mean_residual: [0; BLOCK + 1],
            variance: [0; BLOCK + 1],
            mean_variance: [0; BLOCK + 1],
        }
    }

    /// The closed runs, as if each were one row.
    fn load<W: Word>(&mut self, dtype: Dtype, place: Place, starts: &Starts<W>) {
        let count = starts.count;
        let words = &starts.word[..count];
        let confidence = &mut self.confidence[1..=count];
        // One loop for each type, so that it is vectorised.
        match dtype {
            Dtype::F32 => convert(words, confidence, |bits| Dtype::F32.q30(bits)),
            Dtype::F64 => convert(words, confidence, |bits| Dtype::F64.q30(bits)),
            dtype => convert(words, confidence, |bits| dtype.q30(bits)),
        }
        for run in 0..count {
            self.first_rank[run + 1] = place.first_rank + starts.row[run];
            self.size[run + 1] = starts.row[run + 1] - starts.row[run];
            self.positives[run + 1] = starts.positives[run + 1] - starts.positives[run];
        }
        load_rows(self, count);
    }

    fn run(&self, number: usize) -> Run {
        Run::new(
            self.first_rank[number],
            self.confidence[number],
            self.size[number],
            self.positives[number],
        )
    }

    /// The last run becomes number 0.
    fn keep(&mut self, count: usize) {
        self.mean_residual[0] = self.mean_residual[count];
        self.variance[0] = self.variance[count];
        self.mean_variance[0] = self.mean_variance[count];
    }
}

#[inline(always)]
fn convert<W: Word>(words: &[W], confidence: &mut [u32], q30: impl Fn(u64) -> u32) {
    for (confidence, word) in std::iter::zip(confidence, words) {
        *confidence = q30(word.confidence_bits());
    }
}

/// Residuals and null variances of runs of one row.
fn load_rows(runs: &mut Runs, count: usize) {
    super::simd::dispatch!(load_rows_body(runs: &mut Runs, count: usize) -> ())
}

#[inline(always)]
fn load_rows_body(runs: &mut Runs, count: usize) {
    for run in 1..=count.min(BLOCK) {
        let confidence = runs.confidence[run];
        let label = if runs.positives[run] > 0 {
            1i32 << 30
        } else {
            0
        };
        let complement = (1u32 << 30).wrapping_sub(confidence);
        let variance = product(confidence, complement).wrapping_add(1 << 26) >> 27;
        runs.mean_residual[run] = label.wrapping_sub(confidence as i32);
        runs.variance[run] = variance as u32;
        runs.mean_variance[run] = variance as u32;
    }
}

/// Adds what runs of one row contribute, and what all runs do with the run before.
fn add_products(runs: &Runs, count: usize, sums: &mut RunSums) {
    super::simd::dispatch!(add_products_body(runs: &Runs, count: usize, sums: &mut RunSums) -> ())
}

#[inline(always)]
fn add_products_body(runs: &Runs, count: usize, sums: &mut RunSums) {
    let [mut rank_ece, mut odd, mut even] = [WideSum::default(); 3];
    let [mut conditional, mut squares, mut brier] = [WideSum::default(); 3];
    let mut rows = 0u64;
    for run in 1..=count.min(BLOCK) {
        let (residual, variance) = (runs.mean_residual[run], runs.variance[run]);
        rank_ece.add(signed_product(runs.mean_residual[run - 1], residual));
        let mean_variances = (runs.mean_variance[run - 1], runs.mean_variance[run]);
        conditional.add(product(mean_variances.0, mean_variances.1));
        // The pair's number is the rank, from 1, of the last row of the run before.
        let is_odd = (runs.first_rank[run] & 1).wrapping_neg();
        let variances = product(runs.variance[run - 1], variance);
        odd.add(variances & i64::from(is_odd as i32));
        even.add(variances & i64::from(!is_odd as i32));
        let is_row = if runs.size[run] == 1 { u32::MAX } else { 0 };
        let row_variance = variance & is_row;
        squares.add(product(row_variance, row_variance));
        let row_residual = residual & is_row as i32;
        brier.add(signed_product(row_residual, row_residual));
        rows = rows.wrapping_add(u64::from(is_row & 1));
    }
    sums.distinct += rows;
    sums.rank_ece += rank_ece.total();
    // None of these terms is negative.
    sums.null_odd += odd.total() as u128;
    sums.null_even += even.total() as u128;
    sums.null_conditional += conditional.total() as u128;
    sums.null_squares += squares.total() as u128;
    sums.brier += brier.total() as u128;
}

/// Where the first run that begins in `range` begins.
fn first_run_start<W: Word>(piece: &[W], range: &Range<usize>) -> Option<usize> {
    let begins =
        |&row: &usize| row == 0 || piece[row].confidence_bits() != piece[row - 1].confidence_bits();
    range.clone().find(begins)
}

/// The run that begins at `start`.
fn run_at<W: Word>(dtype: Dtype, piece: &[W], place: Place, start: usize) -> Run {
    let bits = piece[start].confidence_bits();
    let mut end = start + 1;
    let mut positives = u32::from(piece[start].label());
    while let Some(word) = piece.get(end)
        && word.confidence_bits() == bits
    {
        positives += u32::from(word.label());
        end += 1;
    }
    Run::new(
        place.first_rank + start as u32,
        dtype.q30(bits),
        (end - start) as u32,
        positives,
    )
}
