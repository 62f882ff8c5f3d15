//! The interval whose variance comes from runs of four neighbours.

use super::{IntervalName, interval};
use crate::backend::SegmentSums;
use crate::inference::{Q58, n_rank_ece, normal, wrong_level};
use crate::results::Interval;

/// The largest value of r² + 4s² for r = g - z and s² = g(1-g) with z and g in \[0, 1\]: it is reached
/// for z = 0, g = 2/3 and for z = 1, g = 1/3.
const STEEPEST: f64 = 4.0 / 3.0;

/// Around rankECE, from estimates of E r⁴, E r²s² and E s⁴, where r = E\[Y|Z\] - Z and s² = Var(Y|Z).
///
/// √n (rankECE - ℓ2-ECE) is asymptotically normal with variance Var(r²) + E\[4 r² s² + s⁴\], whether
/// the predictions are calibrated or not. The lower end is rankECE - z_{1-α/2} σ/√n with
/// σ² = max(E r⁴ - rankECE², 0) + 4 max(E r²s², 0) + E s⁴. The upper end is the larger of
/// rankECE + z_{1-α/2} σ/√n and of the solution x of (x - rankECE)² = (z²/n) (E s⁴ + slope · x - x²),
/// which takes account of how the variance grows with ℓ2-ECE: E\[r²(r² + 4s²)\] is slope · ℓ2-ECE with a
/// slope of at most 4/3. Undefined if n < 4 or σ = 0.
pub fn neighbour(sums: &SegmentSums, alpha: f64) -> Interval {
    interval(IntervalName::Neighbour.as_str(), alpha, ends(sums, alpha))
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
    let half_width = z * (variance / n).sqrt();
    let slope = slope(estimate, r4.max(0.0) + 4.0 * r2s2.max(0.0), s4, n);
    let upper = largest_compatible(estimate, slope, s4, z * z / n);
    Ok((
        estimate - half_width,
        (estimate + half_width).max(upper.unwrap_or(estimate)),
    ))
}

/// How E\[r²(r² + 4s²)\] grows with ℓ2-ECE = E r²: the mean of r² + 4s², weighted by r².
///
/// `growing` estimates the former and the estimate the latter. When the estimate comes out small by
/// chance then so does `growing`, and an interval with that variance is too short just where it lies too
/// low. So their ratio is drawn to its largest value, with the weight √(E s⁴/n), which is the standard
/// deviation of rankECE under calibration, and of one row.
fn slope(estimate: f64, growing: f64, s4: f64, n: f64) -> f64 {
    let weight = (s4 / n).sqrt() + 1.0 / n;
    ((growing + STEEPEST * weight) / (estimate.max(0.0) + weight)).min(STEEPEST)
}

/// The larger solution x of (x - estimate)² = q (s4 + slope · x - x²), if there is one.
fn largest_compatible(estimate: f64, slope: f64, s4: f64, q: f64) -> Option<f64> {
    let half = estimate + q * slope / 2.0;
    let discriminant = half * half - (1.0 + q) * (estimate * estimate - q * s4);
    (discriminant >= 0.0).then(|| (half + discriminant.sqrt()) / (1.0 + q))
}
