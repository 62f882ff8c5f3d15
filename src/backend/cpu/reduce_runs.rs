//! Sums over tied runs of sorted rows. Twin of `shaders/reduce_runs.wgsl`.

use std::ops::Range;

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
    let Some(mut end) = first_run_start(piece, &range) else {
        return sums;
    };
    let mut run = run_at(dtype, piece, place, end);
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
