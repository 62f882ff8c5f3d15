//! Bins of sorted rows. Twin of `shaders/bin_edges.wgsl`: in sorted order bins are ranges, found by
//! binary search for their edges.

use rayon::prelude::*;

use super::reduce_rows::run_end;
use super::totals::totals;
use crate::backend::edges::{edge_bits, mass_rank, mass_threshold};
use crate::backend::piece::{Place, Totals};
use crate::backend::{BinSums, Binning, Closed, Scheme};
use crate::predictions::{Dtype, Word};

/// The rows of each bin of a segment that lie in `piece`, sorted.
pub fn bin_sums<W: Word>(
    dtype: Dtype,
    piece: &[W],
    place: Place,
    binning: &Binning,
    bins: u32,
) -> Vec<BinSums> {
    let begin = |j: u32| match j {
        0 => 0,
        j if j == bins => piece.len(),
        j => match binning.scheme {
            Scheme::EqualWidth => width_boundary(dtype, piece, binning.closed, j, bins),
            Scheme::EqualMass => mass_boundary_in(piece, place, j, bins),
        },
    };
    (0..bins)
        .into_par_iter()
        .with_min_len(16)
        .map(|j| sum_bin(dtype, &piece[begin(j)..begin(j + 1)]))
        .collect()
}

/// The rows before equal-width bin `j`: those up to its lower edge, or below it if bins are closed
/// on the left.
fn width_boundary<W: Word>(dtype: Dtype, piece: &[W], closed: Closed, j: u32, bins: u32) -> usize {
    let edge = edge_bits(dtype, j, bins);
    piece.partition_point(|word| match closed {
        Closed::Right => word.confidence_bits() <= edge,
        Closed::Left => word.confidence_bits() < edge,
    })
}

/// The rows before equal-mass bin `j`.
fn mass_boundary_in<W: Word>(piece: &[W], place: Place, j: u32, bins: u32) -> usize {
    let rank = mass_rank(place.segment_rows, bins, j);
    if rank < place.first_rank {
        return 0;
    }
    let row = (rank - place.first_rank) as usize;
    let Some(word) = piece.get(row) else {
        return piece.len();
    };
    let bits = word.confidence_bits();
    let first = piece[..row].partition_point(|word| word.confidence_bits() < bits);
    let end = run_end(piece, row);
    let sum = 2 * u64::from(place.first_rank) + (first + end) as u64;
    if sum >= mass_threshold(place.segment_rows, bins, j) {
        first
    } else {
        end
    }
}

/// Rows of a bin that are summed as one task.
const ROWS_PER_TASK: usize = 1 << 16;

fn sum_bin<W: Word>(dtype: Dtype, bin: &[W]) -> BinSums {
    let (Some(smallest), Some(largest)) = (bin.first(), bin.last()) else {
        return BinSums::default();
    };
    let sums = bin
        .par_chunks(ROWS_PER_TASK)
        .map(|chunk| totals(dtype, chunk))
        .reduce(Totals::default, |mut a, b| {
            a += b;
            a
        });
    BinSums {
        rows: bin.len() as u64,
        positives: sums.positives,
        confidence: sums.confidence,
        smallest: smallest.confidence_bits(),
        largest: largest.confidence_bits(),
    }
}
