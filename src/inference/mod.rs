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

/// How far the rounding of confidences can move rankECE of rows whose mean squared residual is `brier`:
/// 2⁻²⁸ √Brier + 2⁻⁶⁰.
///
/// A residual is off by 2⁻³¹ at most, and a tied group's mean residual W by 2⁻³⁰. So the mean product of
/// neighbours is off by 2⁻²⁹ mean|W| + 2⁻⁶⁰ at most, where mean|W| <= √Brier, and a group's p (1 - p) by
/// 2⁻³¹: at most 2⁻³⁰ √Brier over all groups, each of which with both labels adds half a row's worth or more
/// to n · Brier.
pub fn rounding_of_rank_ece(brier: f64) -> f64 {
    brier.sqrt() / (1u64 << 28) as f64 + Q60
}

/// Why nothing can be said at a level `alpha`, if it is no level.
fn wrong_level(alpha: f64) -> Option<String> {
    (!(alpha > 0.0 && alpha < 1.0))
        .then(|| format!("alpha must lie strictly between 0 and 1, but is {alpha}"))
}
