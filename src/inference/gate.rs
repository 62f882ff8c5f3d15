//! The gate: is the calibration error small enough?

use crate::results::{Interval, Verdict};

/// Where `interval` lies beside `limit`, the largest rankECE that is accepted.
///
/// An interval that is undefined leaves the question undecided, and so does a limit that is no
/// number.
pub fn verdict(interval: &Interval, limit: f64) -> Verdict {
    match (interval.lower, interval.upper) {
        (_, Some(upper)) if upper <= limit => Verdict::Within,
        (Some(lower), _) if lower > limit => Verdict::Exceeds,
        _ => Verdict::Undecided,
    }
}
