//! What a calibration error means for decisions.

/// Pieces of the piecewise monotone transformations that the plug-in decision is held against.
const PIECES: u32 = 1;

/// Bound on the excess risk of the plug-in decision over its best monotone transformation:
/// √(max(rankECE, 0) + 8(M+1)/n) with M = 1 piece. \[CB26 Thm B.1\]
///
/// `rank_ece` is the estimate or the upper end of its interval, `n` the number of rows; none
/// without rows. Losses lie in \[0, 1\].
pub fn decision_risk(rank_ece: f64, n: u64) -> Option<f64> {
    let slack = 8.0 * f64::from(PIECES + 1) / n as f64;
    (n > 0).then(|| (rank_ece.max(0.0) + slack).sqrt())
}
