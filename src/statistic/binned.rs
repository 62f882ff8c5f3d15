//! Binned calibration errors from integer sums (specification, section 2; [CB26 (4.1)], [G17 (3)]).

use super::BinsRule;
use crate::backend::edges::edge_bits;
use crate::backend::{BinSums, Binning, Scheme};
use crate::fixed_point::ONE_Q30;
use crate::predictions::Dtype;
use crate::results::{Bin, Binned};

/// One unit of Q30.
const UNIT: f64 = 1.0 / ONE_Q30 as f64;

/// The binned estimates of rows in bins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BinnedEstimates {
    /// Σ (n_j/n) |gap_j|.
    pub ece_l1: f64,
    /// Σ (n_j/n) gap_j².
    pub ece_l2: f64,
    /// √ece_l2.
    pub ece_rms: f64,
    /// ece_l2 less the variance of the bins' mean labels; 0 where they differ by no more than rounding can
    /// make.
    pub ece_l2_debiased: f64,
    /// The largest |gap_j|.
    pub mce: f64,
}

impl BinnedEstimates {
    /// Their names, in the order of [`BinnedEstimates::values`].
    pub const NAMES: [&str; 5] = ["ece_l1", "ece_l2", "ece_rms", "ece_l2_debiased", "mce"];

    /// The estimates; none without rows. Empty bins carry no weight.
    pub fn of(bins: &[BinSums]) -> Option<Self> {
        let filled = || bins.iter().filter(|bin| bin.rows > 0);
        let rows: u64 = filled().map(|bin| bin.rows).sum();
        let n = rows as f64;
        // Σ n_j |gap_j| is a whole number in Q30, so that ece_l1 is rounded once.
        let absolute: i128 = filled().map(|bin| gap_sum(bin).abs()).sum();
        let squares = ece_l2_of_bins(filled().map(|bin| (bin.rows, gap_sum(bin))));
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
        let ece_l1 = absolute as f64 * UNIT / n;
        let ece_l2 = squares / n;
        let debiased = ece_l2 - bias / n;
        let rounding = rounding_of_debiased(ece_l1, ece_l2 + bias / n, filled().count());
        (rows > 0).then(|| BinnedEstimates {
            ece_l1,
            ece_l2,
            ece_rms: ece_l2.sqrt(),
            ece_l2_debiased: if debiased.abs() <= rounding {
                0.0
            } else {
                debiased
            },
            mce: largest,
        })
    }

    /// How far apart the rounding of confidences can move two equal estimates of the same rows, in the order
    /// of [`BinnedEstimates::NAMES`]: a gap is off by half a unit of Q30 at most, and a squared gap by a
    /// unit times the gap, hence their mean by a unit times `ece_l1`.
    pub fn rounding_apart(ece_l1: f64) -> [f64; 5] {
        [UNIT, 2.0 * UNIT * ece_l1, UNIT, 2.0 * UNIT * ece_l1, UNIT]
    }

    /// The estimates, in the order of [`BinnedEstimates::NAMES`].
    pub fn values(&self) -> [f64; 5] {
        [
            self.ece_l1,
            self.ece_l2,
            self.ece_rms,
            self.ece_l2_debiased,
            self.mce,
        ]
    }
}

/// The binned estimates of one segment, without intervals. `index` tells its number of bins.
pub fn binned(
    dtype: Dtype,
    sums: &[BinSums],
    binning: &Binning,
    index: usize,
    rule: BinsRule,
) -> Binned {
    let bins = binning.bins[index];
    let estimates = BinnedEstimates::of(sums);
    Binned {
        scheme: binning.scheme,
        closed: (binning.scheme == Scheme::EqualWidth).then_some(binning.closed),
        rule: rule.to_string(),
        bins,
        effective_bins: sums.iter().filter(|bin| bin.rows > 0).count() as u64,
        ece_l1: estimates.map(|estimates| estimates.ece_l1),
        ece_l2: estimates.map(|estimates| estimates.ece_l2),
        ece_rms: estimates.map(|estimates| estimates.ece_rms),
        ece_l2_debiased: estimates.map(|estimates| estimates.ece_l2_debiased),
        mce: estimates.map(|estimates| estimates.mce),
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

/// How far rounding can move a difference of two sums over bins whose magnitudes add up to `size`: a
/// confidence is off by half a unit of Q30 at most, hence Σ (n_j/n) gap_j² by a unit times `ece_l1`, and
/// each term of the sums by some units in the last place.
fn rounding_of_debiased(ece_l1: f64, size: f64, bins: usize) -> f64 {
    UNIT * ece_l1 + f64::EPSILON * (bins as f64 + 4.0) * size
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
