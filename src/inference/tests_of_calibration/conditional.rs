//! rankECE with its exact null variance.

use super::{Decision, Level, TestName, TestSums, Undefined, enough_rows, normal_decision, result};
use crate::backend::{SegmentSums, Ties};
use crate::inference::{Q66, normal};
use crate::results::TestResult;

/// T = n·rankECE / √Var(n·rankECE | Z) under H0, which rejects above z_{1-α}.
///
/// The variance is Σ v_(i) v_(i+1) for tied rows in one order, random or stable, and
/// Σ_g 2(m_g-1)/m_g · v_g² + Σ_g v_g v_{g+1}/(m_g m_{g+1}) for rankECE averaged over ties.
/// Undefined if n < 2 or the variance is 0.
pub fn conditional(sums: &SegmentSums, ties: Ties, alpha: f64) -> TestResult {
    result(
        TestName::Conditional,
        alpha,
        |level| decide(&sums.into(), ties, level),
        normal::upper_tail,
    )
}

pub(super) fn decide(sums: &TestSums, ties: Ties, level: &Level) -> Result<Decision, Undefined> {
    enough_rows(sums)?;
    let variance = match ties {
        Ties::Average => sums.null_conditional,
        Ties::Random | Ties::Stable => sums.null_odd + sums.null_even,
    };
    if variance == 0 {
        // Both variances vanish together: exactly when no two rows beside each other have v > 0, and
        // rows with v > 0 are all beside each other, as those with v = 0 are the lowest and highest.
        return Err(Undefined::NoPairVaries);
    }
    Ok(normal_decision(sums, variance as f64 * Q66, level))
}
