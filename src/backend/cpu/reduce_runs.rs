//! Sums over tied runs of sorted rows. Twin of `shaders/reduce_runs.wgsl`.

use std::ops::Range;

use crate::backend::terms::{Run, RunSums};
use crate::predictions::{Dtype, Word};

/// The sums of all runs of `segment`, sorted, that begin in `range`, each with its boundary to the
/// run after it.
pub fn reduce_runs<W: Word>(dtype: Dtype, segment: &[W], range: Range<usize>) -> RunSums {
    let mut sums = RunSums::default();
    let Some(start) = first_run_start(segment, &range) else {
        return sums;
    };
    let mut run = run_at(dtype, segment, start);
    loop {
        sums.add_run(&run);
        let end = run.first_rank as usize + run.size as usize;
        if end == segment.len() {
            return sums;
        }
        let next = run_at(dtype, segment, end);
        sums.add_boundary(&run, &next);
        if end >= range.end {
            return sums;
        }
        run = next;
    }
}

/// Where the first run that begins in `range` begins.
fn first_run_start<W: Word>(segment: &[W], range: &Range<usize>) -> Option<usize> {
    let begins = |&row: &usize| {
        row == 0 || segment[row].confidence_bits() != segment[row - 1].confidence_bits()
    };
    range.clone().find(begins)
}

/// The run that begins at `start`.
fn run_at<W: Word>(dtype: Dtype, segment: &[W], start: usize) -> Run {
    let bits = segment[start].confidence_bits();
    let mut end = start + 1;
    let mut positives = u32::from(segment[start].label());
    while let Some(word) = segment.get(end)
        && word.confidence_bits() == bits
    {
        positives += u32::from(word.label());
        end += 1;
    }
    Run {
        first_rank: start as u32,
        confidence: dtype.q30(bits),
        size: (end - start) as u32,
        positives,
    }
}
