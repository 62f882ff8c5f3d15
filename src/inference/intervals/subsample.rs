//! The interval from subsamples that are drawn without replacement.

use super::{IntervalName, interval};
use crate::backend::{SegmentSums, Ties};
use crate::inference::{Q60, n_rank_ece, normal, rounding_of_rank_ece, wrong_level};
use crate::results::Interval;
use crate::statistic::integer_cube_root;

/// Subsamples of one sample, reduced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubsampleEstimates {
    /// m, the rows of each.
    pub rows: u32,
    /// m · rankECE of each, tie-averaged, Q60, in the order of their numbers.
    pub n_rank_ece: Vec<i128>,
}

/// m = ⌊n^{2/3}⌋, the rows of a subsample of `n` rows. It grows, while m/n shrinks.
pub fn subsample_rows(n: u32) -> u32 {
    // The square of a u32 fits a u64, and its cube root is at most n.
    integer_cube_root(u64::from(n) * u64::from(n)) as u32
}

/// rankECE ± z_{1-α/2} s √(m/n) / √(1 - m/n), s the standard deviation of rankECE over subsamples of m
/// of the n rows.
///
/// √(m/n) brings the spread from m to n rows; 1 - m/n is the correction for a finite population, as a
/// subsample of many of the rows varies little about the whole. Sources: Politis & Romano, "Large Sample
/// Confidence Regions Based on Subsamples under Minimal Assumptions", Annals of Statistics 22 (1994);
/// Dette & Kroll, "A Simple Bootstrap for Chatterjee's Rank Correlation", Biometrika 112 (2025), for
/// why fewer rows than n must be drawn.
///
/// Undefined if n < 4, if there are fewer than two subsamples or their estimates differ by no more than
/// rounding can make ([`rounding_of_rank_ece`]), or if ties were not averaged though there are any.
pub fn subsample(
    sums: &SegmentSums,
    subsamples: Option<&SubsampleEstimates>,
    ties: Ties,
    alpha: f64,
) -> Interval {
    let ends = ends(sums, subsamples, ties, alpha);
    Interval {
        resamples: subsamples.map(|subsamples| subsamples.n_rank_ece.len() as u64),
        subsample_rows: subsamples.map(|subsamples| subsamples.rows),
        ..interval(IntervalName::Subsample.as_str(), alpha, ends)
    }
}

fn ends(
    sums: &SegmentSums,
    subsamples: Option<&SubsampleEstimates>,
    ties: Ties,
    alpha: f64,
) -> Result<(f64, f64), String> {
    if let Some(reason) = wrong_level(alpha) {
        return Err(reason);
    }
    if sums.rows < 4 {
        return Err(format!(
            "needs at least 4 rows, but there are {}",
            sums.rows
        ));
    }
    if ties != Ties::Average && sums.tied_rows > 0 {
        return Err(
            "subsamples average over ties, but here they are ordered, which adds variance; use \
             --ties average, or neighbour"
                .into(),
        );
    }
    let Some(subsamples) = subsamples else {
        return Err("no subsamples were drawn".into());
    };
    let count = subsamples.n_rank_ece.len() as f64;
    if count < 2.0 {
        return Err(format!(
            "a spread needs at least 2 subsamples, but there is {count}; give more --resamples"
        ));
    }
    let (n, m) = (sums.rows as f64, f64::from(subsamples.rows));
    let estimates = || {
        subsamples
            .n_rank_ece
            .iter()
            .map(|&sum| sum as f64 * Q60 / m)
    };
    let mean = estimates().sum::<f64>() / count;
    let squares: f64 = estimates().map(|e| (e - mean) * (e - mean)).sum();
    let range = estimates().fold(f64::MIN, f64::max) - estimates().fold(f64::MAX, f64::min);
    if range <= rounding_of_rank_ece(sums.brier as f64 * Q60 / n) {
        return Err(
            "all subsamples have the same rankECE but for rounding, so that it has no spread"
                .into(),
        );
    }
    let spread = (squares / (count - 1.0)).sqrt();
    let z = normal::upper_quantile(alpha / 2.0);
    let half_width = z * spread * (m / n).sqrt() / (1.0 - m / n).sqrt();
    let estimate = n_rank_ece(sums.rank_ece) / n;
    Ok((estimate - half_width, estimate + half_width))
}
