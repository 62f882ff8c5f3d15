//! From exact integer sums to tests, intervals and verdicts, in f64.
//!
//! The one piece of code that all backends share. Transcendental functions come from `libm`, whose
//! results are the same on every platform.

pub mod decision_risk;
pub mod gate;
pub mod intervals;
pub mod normal;
pub mod tests_of_calibration;

/// One unit of a sum in Q58, Q60 and Q66.
const Q58: f64 = 1.0 / (1u64 << 58) as f64;
const Q60: f64 = 1.0 / (1u64 << 60) as f64;
const Q66: f64 = 1.0 / (1u128 << 66) as f64;

/// n·rankECE from its sum in Q60. The conversion rounds once, the scaling by a power of two not at all.
fn n_rank_ece(rank_ece: i128) -> f64 {
    rank_ece as f64 * Q60
}

/// Why nothing can be said at a level `alpha`, if it is no level.
fn wrong_level(alpha: f64) -> Option<String> {
    (!(alpha > 0.0 && alpha < 1.0))
        .then(|| format!("alpha must lie strictly between 0 and 1, but is {alpha}"))
}
