//! The CPU backend. Each file is the twin of a shader.

mod bin_edges;
mod bootstrap;
mod draw;
#[cfg(test)]
mod kernel_times;
mod radix_sort;
mod reduce_rows;
mod reduce_runs;
mod replicate;
mod resample;
mod residuals;
mod runs_of_block;
mod side_by_side;
pub mod skce;
mod sort_lanes;
mod sort_uniform;
mod subsample;
mod totals;
mod wide_sum;
mod window_sums;

use std::ops::Range;

pub(super) use radix_sort::radix_sort as sort;
use rayon::prelude::*;

use super::piece::{PieceSums, Place};
use super::stages::StageTimes;
use super::{Backend, Binning, DeviceError, Request, SegmentSums, Ties};
use crate::predictions::{Batch, Dtype, Word};
use crate::with_words;

/// Rows of a segment that are reduced as one task.
const ROWS_PER_TASK: usize = 1 << 16;

/// All cores of this machine, or as many as the thread pool that calls it has.
#[derive(Debug, Default)]
pub struct Cpu {
    /// What each stage took.
    pub stages: StageTimes,
}

impl Backend for Cpu {
    fn sums(&self, batch: &mut Batch, request: &Request) -> Result<Vec<SegmentSums>, DeviceError> {
        let dtype = batch.dtype();
        let (rows, offsets) = batch.rows_mut();
        let all = 0..offsets.len() - 1;
        Ok(with_words!(rows, words => {
            segments(dtype, words, offsets, all, request, &self.stages)
        }))
    }
}

/// The sums of some segments of a batch, one task each.
pub(super) fn segments<W: Word>(
    dtype: Dtype,
    words: &mut [W],
    offsets: &[usize],
    segments: Range<usize>,
    request: &Request,
    stages: &StageTimes,
) -> Vec<SegmentSums> {
    let mut parts = Vec::with_capacity(segments.len());
    let mut rest = &mut words[offsets[segments.start]..offsets[segments.end]];
    for index in segments.clone() {
        let (segment, after) = rest.split_at_mut(offsets[index + 1] - offsets[index]);
        parts.push(segment);
        rest = after;
    }
    parts
        .into_par_iter()
        .zip(segments)
        .map(|(segment, index)| segment_sums(dtype, segment, index, request, stages))
        .collect()
}

/// Sorts a segment and sums it up. `index` tells its number of bins.
fn segment_sums<W: Word>(
    dtype: Dtype,
    segment: &mut [W],
    index: usize,
    request: &Request,
    stages: &StageTimes,
) -> SegmentSums {
    stages.time("sort", || {
        radix_sort::radix_sort(segment, request.ties == Ties::Stable)
    });
    let place = Place {
        first_rank: 0,
        segment_rows: segment.len() as u32,
    };
    piece_sums(dtype, segment, place, index, request, stages).into_segment()
}

/// The sums of a sorted piece of a segment. `index` tells the segment's number of bins.
pub(super) fn piece_sums<W: Word>(
    dtype: Dtype,
    piece: &[W],
    place: Place,
    index: usize,
    request: &Request,
    stages: &StageTimes,
) -> PieceSums {
    let rows = |placement| {
        sum_ranges(piece.len(), |range| {
            reduce_rows::reduce_rows(dtype, piece, place, range, placement)
        })
    };
    let runs = || {
        sum_ranges(piece.len(), |range| {
            reduce_runs::reduce_runs(dtype, piece, place, range)
        })
    };
    let bins =
        |binning: &Binning| bin_edges::bin_sums(dtype, piece, place, binning, binning.bins[index]);
    PieceSums {
        rows: piece.len() as u64,
        totals: stages.time("totals", || {
            sum_ranges(piece.len(), |range| totals::totals(dtype, &piece[range]))
        }),
        runs: stages.time("runs", runs),
        ordered: match request.ties {
            Ties::Average => None,
            Ties::Random => Some(stages.time("ordered rows", || rows(Some(request.ties_key)))),
            Ties::Stable => Some(stages.time("ordered rows", || rows(None))),
        },
        neighbours: request
            .neighbour_key
            .map(|key| stages.time("neighbours", || rows(Some(key)))),
        binned: stages.time("bins", || request.binnings.iter().map(bins).collect()),
    }
}

/// Adds up what `sums` finds in consecutive ranges of `0..rows`, in parallel.
fn sum_ranges<S: Default + std::ops::AddAssign + Send>(
    rows: usize,
    sums: impl Fn(Range<usize>) -> S + Sync,
) -> S {
    (0..rows.div_ceil(ROWS_PER_TASK))
        .into_par_iter()
        .map(|task| sums(task * ROWS_PER_TASK..rows.min((task + 1) * ROWS_PER_TASK)))
        .reduce(S::default, |mut total, part| {
            total += part;
            total
        })
}
