//! rankECE (A).

use super::{Decision, Level, TestName, TestSums, Undefined, enough_rows, normal_decision, result};
use crate::backend::{SegmentSums, Ties};
use crate::inference::{Q66, normal};
use crate::results::TestResult;

/// T = √n rankECE / √((1/n) Σ Z_i² (1-Z_i)²), which rejects above z_{1-α}. \[CB26 Cor. 3.1\]
///
/// Undefined if n < 2 or no confidence lies strictly between 0 and 1. With many ties it is very
/// conservative for the tie-averaged rankECE; a note then says so.
pub fn asymptotic(sums: &SegmentSums, ties: Ties, alpha: f64) -> TestResult {
    let mut result = result(
        TestName::Asymptotic,
        alpha,
        |level| decide(&sums.into(), level),
        normal::upper_tail,
    );
    if result.statistic.is_some() && ties == Ties::Average {
        result.note = conservative(sums);
    }
    result
}

pub(super) fn decide(sums: &TestSums, level: &Level) -> Result<Decision, Undefined> {
    enough_rows(sums)?;
    if sums.null_squares == 0 {
        return Err(Undefined::NoVariance);
    }
    // T = n·rankECE / √(Σ v²): the factors of n cancel.
    Ok(normal_decision(sums, sums.null_squares as f64 * Q66, level))
}

/// A warning if averaging over ties has cut the variance to less than half.
///
/// What this test takes for the variance of n·rankECE, Σ v², is at least that of a single order of
/// the tied rows, Σ v_(i) v_(i+1); if the latter is far from the averaged one, ties are the reason.
fn conservative(sums: &SegmentSums) -> Option<String> {
    let single_order = sums.null_odd + sums.null_even;
    (single_order / 2 > sums.null_conditional).then(|| {
        format!(
            "very conservative here: with {} of {} rows tied, the null variance of n·rankECE is \
             {:.3e}, where this test assumes {:.3e}; `conditional` uses the former",
            sums.tied_rows,
            sums.rows,
            sums.null_conditional as f64 * Q66,
            sums.null_squares as f64 * Q66,
        )
    })
}
