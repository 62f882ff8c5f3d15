//! Sums over tied runs of sorted rows. Twin of `shaders/reduce_runs.wgsl`.

use std::ops::Range;

use super::runs_of_block::{BLOCK, Runs, Starts};
use crate::backend::piece::Place;
use crate::backend::terms::{Run, RunSums};
use crate::predictions::{Dtype, Word};

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
    let mut last_closed = None;
    let mut row = range.start + 1;
    while row < range.end {
        let end = range.end.min(row + BLOCK);
        starts.find(piece, row..end);
        let count = starts.count();
        if count > 0 {
            runs.load(dtype, place, &starts);
            for number in 0..count {
                if starts.rows(number).len() > 1 {
                    let run = run_of(dtype, piece, place, starts.rows(number));
                    sums.add_run(&run);
                    runs.average(number, &run);
                }
            }
            runs.add_products(sums);
            last_closed = Some(starts.rows(count - 1));
            runs.keep();
            starts.keep();
        }
        row = end;
    }
    let before = last_closed.map(|rows| run_of(dtype, piece, place, rows));
    (starts.rows(0).start, before)
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
    let rest = piece[start..].iter();
    let size = rest
        .take_while(|word| word.confidence_bits() == bits)
        .count();
    run_of(dtype, piece, place, start..start + size)
}

/// The run of these rows, at least one.
fn run_of<W: Word>(dtype: Dtype, piece: &[W], place: Place, rows: Range<usize>) -> Run {
    let first = rows.start;
    let size = rows.len() as u32;
    let words = piece[rows].iter();
    Run::new(
        place.first_rank + first as u32,
        dtype.q30(piece[first].confidence_bits()),
        size,
        words.map(|word| u32::from(word.label())).sum(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predictions::Confidence;
    use crate::random::{Key, ThreefryRng};
    use rand::Rng;

    /// The sums of ranges, however they are cut, are those of the runs one by one.
    #[test]
    fn ranges_add_up_to_the_terms_written_out() {
        let mut rng = ThreefryRng::new(Key([5, 6]));
        for size in [1usize, 2, 130, 512, 513, 514, 1024, 1100, 3000] {
            // Hardly any ties, many small ones, large ones, and one run alone.
            for distinct in [1 << 31, 700, 5, 1] {
                let mut words: Vec<u64> = (0..size)
                    .map(|_| {
                        let value = f64::from(rng.next_u32() % distinct) / f64::from(distinct);
                        value.word(rng.next_u32() & 1 == 1).expect("a confidence")
                    })
                    .collect();
                words.sort_unstable();
                let place = Place {
                    first_rank: rng.next_u32() % 100,
                    segment_rows: 10_000,
                };
                let mut expected = RunSums::default();
                let mut before: Option<Run> = None;
                let mut row = 0;
                for tied in words.chunk_by(|a, b| a.confidence_bits() == b.confidence_bits()) {
                    let run = run_of(Dtype::F64, &words, place, row..row + tied.len());
                    expected.add_run(&run);
                    if let Some(before) = before {
                        expected.add_boundary(&before, &run);
                    }
                    before = Some(run);
                    row += tied.len();
                }
                for tasks in [1, 2, 7] {
                    let mut sums = RunSums::default();
                    let step = size.div_ceil(tasks);
                    for start in (0..size).step_by(step) {
                        let range = start..size.min(start + step);
                        sums += reduce_runs(Dtype::F64, &words, place, range);
                    }
                    assert_eq!(
                        sums, expected,
                        "{size} rows of {distinct} values, {tasks} ranges"
                    );
                }
            }
        }
    }
}
