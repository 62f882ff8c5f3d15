//! The CPU backend. Each file is the twin of a shader.

mod bin_edges;
mod radix_sort;
mod reduce_rows;
mod reduce_runs;
mod simd;
mod window_sums;

use std::ops::Range;

use rayon::prelude::*;

use super::{Backend, DeviceError, Request, SegmentSums, Ties, Totals};
use crate::predictions::{Batch, Dtype, Rows, Word};

/// Rows of a segment that are reduced as one task.
const ROWS_PER_TASK: usize = 1 << 16;

/// All cores of this machine, or as many as the thread pool that calls it has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cpu;

impl Backend for Cpu {
    fn sums(&self, batch: &mut Batch, request: &Request) -> Result<Vec<SegmentSums>, DeviceError> {
        let dtype = batch.dtype();
        let (rows, offsets) = batch.rows_mut();
        Ok(match rows {
            Rows::F16(words) | Rows::Bf16(words) => segments(dtype, words, offsets, request),
            Rows::F32(words) => segments(dtype, words, offsets, request),
            Rows::F64(words) => segments(dtype, words, offsets, request),
        })
    }
}

/// The sums of all segments, one task each.
fn segments<W: Word>(
    dtype: Dtype,
    words: &mut [W],
    offsets: &[usize],
    request: &Request,
) -> Vec<SegmentSums> {
    let mut parts = Vec::with_capacity(offsets.len() - 1);
    let mut rest = words;
    for pair in offsets.windows(2) {
        let (segment, after) = rest.split_at_mut(pair[1] - pair[0]);
        parts.push(segment);
        rest = after;
    }
    parts
        .into_par_iter()
        .enumerate()
        .map(|(index, segment)| segment_sums(dtype, segment, index, request))
        .collect()
}

/// Sorts a segment and sums it up. `index` tells its number of bins.
fn segment_sums<W: Word>(
    dtype: Dtype,
    segment: &mut [W],
    index: usize,
    request: &Request,
) -> SegmentSums {
    radix_sort::radix_sort(segment, request.ties == Ties::Stable);
    let segment = &*segment;
    let totals = sum_ranges(segment.len(), |range| totals(dtype, &segment[range]));
    let runs = sum_ranges(segment.len(), |range| {
        reduce_runs::reduce_runs(dtype, segment, range)
    });
    let rows = |placement| {
        sum_ranges(segment.len(), |range| {
            reduce_rows::reduce_rows(dtype, segment, range, placement)
        })
    };
    let ordered = match request.ties {
        Ties::Average => None,
        Ties::Random => Some(rows(Some(request.ties_key))),
        Ties::Stable => Some(rows(None)),
    };
    let neighbours = request.neighbour_key.map(|key| rows(Some(key)).neighbours);
    let binned = request
        .binnings
        .iter()
        .map(|binning| {
            bin_edges::bin_sums(
                dtype,
                segment,
                binning.scheme,
                binning.closed,
                binning.bins[index],
            )
        })
        .collect();
    SegmentSums::assemble(
        segment.len() as u64,
        totals,
        runs,
        ordered,
        neighbours,
        binned,
    )
}

/// Sums that do not depend on the order of rows: the number of positives, and Σ z in Q30.
fn totals<W: Word>(dtype: Dtype, rows: &[W]) -> Totals {
    let mut totals = Totals::default();
    for word in rows {
        totals.positives += u64::from(word.label());
        totals.confidence += u64::from(dtype.q30(word.confidence_bits()));
    }
    totals
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
