//! rankECE with its exact null variance.

use super::{Outcome, TestName, impossible, normal_outcome, result};
use crate::backend::{SegmentSums, Ties};
use crate::evaluation::TestResult;
use crate::inference::Q66;

/// T = n·rankECE / √Var(n·rankECE | Z) under H0, which rejects above z_{1-α}.
///
/// The variance is Σ v_(i) v_(i+1) for tied rows in one order, random or stable, and
/// Σ_g 2(m_g-1)/m_g · v_g² + Σ_g v_g v_{g+1}/(m_g m_{g+1}) for rankECE averaged over ties.
/// Undefined if n < 2 or the variance is 0.
pub fn conditional(sums: &SegmentSums, ties: Ties, alpha: f64) -> TestResult {
    result(TestName::Conditional, alpha, outcome(sums, ties, alpha))
}

fn outcome(sums: &SegmentSums, ties: Ties, alpha: f64) -> Result<Outcome, String> {
    if let Some(reason) = impossible(sums, alpha) {
        return Err(reason);
    }
    let variance = match ties {
        Ties::Average => sums.null_conditional,
        Ties::Random | Ties::Stable => sums.null_odd + sums.null_even,
    };
    if variance == 0 {
        // Both variances vanish together: exactly when no two rows beside each other have v > 0.
        return Err(
            "no two neighbouring rows have confidences strictly between 0 and 1 (to 9 digits), so \
             under calibration no product of residuals could vary and rankECE has no null variance"
                .into(),
        );
    }
    Ok(normal_outcome(sums, variance as f64 * Q66, alpha))
}
