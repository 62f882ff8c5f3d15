//! Binned calibration errors: \[CB26 (4.1)\], \[G17 (3)\]. gap_j is the mean label of bin j less its
//! mean confidence, n_j its number of rows; empty bins carry no weight. All are none without rows.

use super::bins::Bin;
use super::sample::sum;

/// Σ (n_j/n) |gap_j|.
pub fn ece_l1(bins: &[Bin]) -> Option<f64> {
    weighted(bins, |_, gap| gap.abs())
}

/// Σ (n_j/n) gap_j², a square: \[CB26\]'s binECE.
pub fn ece_l2(bins: &[Bin]) -> Option<f64> {
    weighted(bins, |_, gap| gap * gap)
}

/// √ece_l2.
pub fn ece_rms(bins: &[Bin]) -> Option<f64> {
    ece_l2(bins).map(f64::sqrt)
}

/// ece_l2 - Σ_{n_j>1} (n_j/n) Ȳ_j(1-Ȳ_j)/(n_j-1), Ȳ_j the mean label of bin j.
pub fn ece_l2_debiased(bins: &[Bin]) -> Option<f64> {
    weighted(bins, |bin, gap| {
        let y = bin.positives as f64 / bin.rows as f64;
        let bias = match bin.rows {
            1 => 0.0,
            rows => y * (1.0 - y) / (rows as f64 - 1.0),
        };
        gap * gap - bias
    })
}

/// max_j |gap_j|.
pub fn mce(bins: &[Bin]) -> Option<f64> {
    let gaps = bins.iter().filter_map(Bin::gap);
    gaps.map(f64::abs).reduce(f64::max)
}

/// The number of bins with rows in them.
pub fn effective_bins(bins: &[Bin]) -> usize {
    bins.iter().filter(|bin| bin.rows > 0).count()
}

fn weighted(bins: &[Bin], loss: impl Fn(&Bin, f64) -> f64) -> Option<f64> {
    let n: usize = bins.iter().map(|bin| bin.rows).sum();
    let terms = bins
        .iter()
        .filter_map(|bin| Some(bin.rows as f64 / n as f64 * loss(bin, bin.gap()?)));
    (n > 0).then(|| sum(terms))
}
