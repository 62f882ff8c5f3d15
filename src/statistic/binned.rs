//! Binned calibration errors from integer sums (specification, section 2; [CB26 (4.1)], [G17 (3)]).

use super::BinsRule;
use crate::backend::edges::edge_bits;
use crate::backend::{BinSums, Binning, Scheme};
use crate::evaluation::{Bin, Binned};
use crate::fixed_point::ONE_Q30;
use crate::predictions::Dtype;

/// One unit of Q30.
const UNIT: f64 = 1.0 / ONE_Q30 as f64;

/// The binned estimates of one segment. `index` tells its number of bins.
pub fn binned(
    dtype: Dtype,
    sums: &[BinSums],
    binning: &Binning,
    index: usize,
    rule: BinsRule,
) -> Binned {
    let bins = binning.bins[index];
    let rows: u64 = sums.iter().map(|bin| bin.rows).sum();
    let filled = || sums.iter().filter(|bin| bin.rows > 0);
    let n = rows as f64;

    // Σ n_j |gap_j| is a whole number in Q30, so that ece_l1 is rounded once.
    let absolute: i128 = filled().map(|bin| gap_sum(bin).abs()).sum();
    let squares = ece_l2_of_bins(sums.iter().map(|bin| (bin.rows, gap_sum(bin))));
    let mut bias = 0.0;
    let mut largest: f64 = 0.0;
    for bin in filled() {
        let gap = gap(bin);
        let size = bin.rows as f64;
        largest = largest.max(gap.abs());
        if bin.rows > 1 {
            let mean_label = bin.positives as f64 / size;
            bias += size * mean_label * (1.0 - mean_label) / (size - 1.0);
        }
    }
    let defined = |value: f64| (rows > 0).then_some(value);
    let ece_l2 = squares / n;
    Binned {
        scheme: binning.scheme,
        closed: (binning.scheme == Scheme::EqualWidth).then_some(binning.closed),
        rule: rule.to_string(),
        bins,
        effective_bins: filled().count() as u64,
        ece_l1: defined(absolute as f64 * UNIT / n),
        ece_l2: defined(ece_l2),
        ece_rms: defined(ece_l2.sqrt()),
        ece_l2_debiased: defined(ece_l2 - bias / n),
        mce: defined(largest),
        intervals: Vec::new(),
        table: table(dtype, sums, binning.scheme, bins),
    }
}

/// n · `ece_l2` = Σ n_j gap_j², from the rows and the sum of residuals (Q30) of each bin; empty bins
/// carry no weight.
pub fn ece_l2_of_bins(bins: impl Iterator<Item = (u64, i128)>) -> f64 {
    bins.filter(|(rows, _)| *rows > 0)
        .map(|(rows, residuals)| {
            let size = rows as f64;
            let gap = residuals as f64 * UNIT / size;
            size * gap * gap
        })
        .fold(0.0, |sum, term| sum + term)
}

/// The number of positives less the sum of confidences, Q30.
fn gap_sum(bin: &BinSums) -> i128 {
    i128::from(bin.positives) * i128::from(ONE_Q30) - i128::from(bin.confidence)
}

/// Mean label less mean confidence of a bin with rows in it.
fn gap(bin: &BinSums) -> f64 {
    gap_sum(bin) as f64 * UNIT / bin.rows as f64
}

/// The bins as they are shown: equal-width bins all, equal-mass bins where there are rows.
fn table(dtype: Dtype, sums: &[BinSums], scheme: Scheme, bins: u32) -> Vec<Bin> {
    let edge = |j: usize| dtype.value(edge_bits(dtype, j as u32, bins));
    sums.iter()
        .enumerate()
        .filter(|(_, bin)| scheme == Scheme::EqualWidth || bin.rows > 0)
        .map(|(j, bin)| {
            let (lower, upper) = match scheme {
                Scheme::EqualWidth => (edge(j), edge(j + 1)),
                Scheme::EqualMass => (dtype.value(bin.smallest), dtype.value(bin.largest)),
            };
            let filled = |value: f64| (bin.rows > 0).then_some(value);
            let size = bin.rows as f64;
            Bin {
                lower,
                upper,
                n: bin.rows,
                mean_confidence: filled(bin.confidence as f64 * UNIT / size),
                mean_label: filled(bin.positives as f64 / size),
                gap: filled(gap(bin)),
            }
        })
        .collect()
}
