//! The interval whose variance comes from runs of four neighbours.

use super::{IntervalName, interval};
use crate::backend::SegmentSums;
use crate::evaluation::Interval;
use crate::inference::{Q58, n_rank_ece, normal, wrong_level};

/// rankECE ± z_{1-α/2} σ/√n, σ² = max(E r⁴ - rankECE², 0) + 4 max(E r²s², 0) + E s⁴.
///
/// √n (rankECE - ℓ2-ECE) is asymptotically normal with variance Var(r²) + E[4 r² s² + s⁴], where
/// r = E[Y|Z] - Z and s² = Var(Y|Z), whether the predictions are calibrated or not. Undefined if
/// n < 4 or σ = 0.
pub fn neighbour(sums: &SegmentSums, alpha: f64) -> Interval {
    interval(IntervalName::Neighbour, alpha, ends(sums, alpha))
}

fn ends(sums: &SegmentSums, alpha: f64) -> Result<(f64, f64), String> {
    if let Some(reason) = wrong_level(alpha) {
        return Err(reason);
    }
    if sums.rows < 4 {
        return Err(format!(
            "needs at least 4 rows, but there are {}",
            sums.rows
        ));
    }
    let Some(moments) = sums.neighbours else {
        return Err("the sums over runs of four neighbours were not computed".into());
    };
    let n = sums.rows as f64;
    let estimate = n_rank_ece(sums.rank_ece) / n;
    let quadruples = n - 3.0;
    let r4 = moments.r4 as f64 * Q58 / quadruples;
    let r2s2 = moments.r2s2 as f64 * Q58 / (6.0 * quadruples);
    let s4 = moments.s4 as f64 * Q58 / (3.0 * quadruples);
    let variance = (r4 - estimate * estimate).max(0.0) + 4.0 * r2s2.max(0.0) + s4;
    if variance <= 0.0 {
        return Err("the estimated variance of rankECE is 0".into());
    }
    let z = normal::upper_quantile(alpha / 2.0);
    Ok((estimate, z * (variance / n).sqrt()))
}
