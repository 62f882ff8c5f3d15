//! Percentile intervals of estimates from rows drawn with replacement.

use super::interval;
use crate::inference::wrong_level;
use crate::results::Interval;

/// The name of the method in `--interval` and in results.
pub const BOOTSTRAP: &str = "bootstrap";

/// Estimates that are less apart, as a part of the largest, are the same but for the rounding of their
/// sums.
const SAME: f64 = 1e-12;

/// The interval between the k-th smallest and the k-th largest of the estimates from B resamples, with
/// k = ⌊(B+1) α/2⌋.
///
/// Undefined if k is 0, as then there are too few resamples to have such a percentile, or if all
/// estimates are equal but for rounding, where `rounding` is how far that of confidences can move one from
/// another. Estimates are numbers. Source: Davison & Hinkley, "Bootstrap Methods and their
/// Application" (1997), section 5.3.1.
pub fn percentile(mut estimates: Vec<f64>, rounding: f64, alpha: f64) -> Interval {
    let resamples = estimates.len();
    estimates.sort_unstable_by(f64::total_cmp);
    Interval {
        resamples: Some(resamples as u64),
        ..interval(BOOTSTRAP, alpha, ends(&estimates, rounding, alpha))
    }
}

/// The interval of an estimate that there is none of, as there are no rows.
pub fn no_rows(alpha: f64) -> Interval {
    undefined("there are no rows".into(), alpha)
}

/// The interval that there is none of, and why.
pub fn undefined(why: String, alpha: f64) -> Interval {
    interval(BOOTSTRAP, alpha, Err(why))
}

fn ends(ascending: &[f64], rounding: f64, alpha: f64) -> Result<(f64, f64), String> {
    if let Some(reason) = wrong_level(alpha) {
        return Err(reason);
    }
    let resamples = ascending.len();
    // The rounding of (B+1) α/2 must not lose a whole number.
    let rank = ((resamples as f64 + 1.0) * alpha / 2.0 + 1e-9).floor() as usize;
    let (Some(below), Some(above)) = (rank.checked_sub(1), resamples.checked_sub(rank)) else {
        let needed = (2.0 / alpha - 1e-9).ceil() - 1.0;
        return Err(format!(
            "level {} needs at least {needed} resamples, but there are {resamples}; give more \
             --resamples",
            1.0 - alpha
        ));
    };
    match (ascending.get(below), ascending.get(above)) {
        (Some(lower), Some(upper)) if differ(ascending, rounding) => Ok((*lower, *upper)),
        _ => Err(
            "all resamples have the same estimate but for rounding, so that it has no spread"
                .into(),
        ),
    }
}

/// Whether some values differ by more than rounding: of what they are made of, or of their sums.
fn differ(ascending: &[f64], rounding: f64) -> bool {
    let (Some(least), Some(largest)) = (ascending.first(), ascending.last()) else {
        return false;
    };
    largest - least > rounding.max(SAME * least.abs().max(largest.abs()))
}
