//! Where right-closed bins of equal width begin, in words.

use super::Quantile;
use crate::backend::edges::edge_bits;
use crate::fixed_point::ONE_Q30;

/// For each bin but the first, the least word whose confidence is above the bin's lower edge j/K; only
/// of bins that some word reaches, or whose successors one does.
///
/// Scores are compared as given, with an edge in their own type; other confidences are the integers
/// of Q30, and are compared with j/K exactly.
pub(super) fn thresholds(quantile: &Quantile, bins: u32) -> Vec<u32> {
    let above = |j: u32| match quantile {
        Quantile::Empirical(scores) => {
            let edge = edge_bits(scores.dtype, j, bins);
            let index = scores.bits.partition_point(|&bits| bits <= edge);
            scores.first_word(index)
        }
        _ => least_word(|u| {
            let confidence = u64::from(quantile.q30(u));
            confidence * u64::from(bins) > u64::from(j) * u64::from(ONE_Q30)
        }),
    };
    // Thresholds ascend: behind the first that no word reaches no other is reached.
    (1..bins)
        .map_while(|j| u32::try_from(above(j)).ok())
        .collect()
}

/// The least word of which `holds` is true, 2³² if there is none. It must hold for all greater words.
fn least_word(holds: impl Fn(u32) -> bool) -> u64 {
    let (mut low, mut high) = (0u64, 1u64 << 32);
    while low < high {
        let middle = (low + high) / 2;
        // Below 2³², as `high` is at most that.
        if holds(middle as u32) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}
