//! Tests of perfect calibration, H0: E[Y|Z] = Z, from a rankECE under any order of ties.

use super::{Sample, null};

/// T = √n rankECE / √((1/n) Σ Z_i² (1-Z_i)²), standard normal for large n: \[CB26 Cor. 3.1\].
///
/// None if n < 2 or the denominator is 0.
pub fn asymptotic(sample: &Sample, rank_ece: f64) -> Option<f64> {
    let n = sample.rows().len() as f64;
    let scale = (null::squares(sample) / n).sqrt();
    (n >= 2.0 && scale > 0.0).then(|| n.sqrt() * rank_ece / scale)
}

/// T = n·rankECE / √variance, where `variance` is the exact null variance of n·rankECE given the
/// confidences ([`null::conditional_average`] or [`null::conditional_ordered`]).
///
/// None if n < 2 or the variance is 0.
pub fn conditional(sample: &Sample, rank_ece: f64, variance: f64) -> Option<f64> {
    let n = sample.rows().len() as f64;
    (n >= 2.0 && variance > 0.0).then(|| n * rank_ece / variance.sqrt())
}

/// The probability that a standard normal variable exceeds `t`.
pub fn normal_p_value(t: f64) -> f64 {
    0.5 * statrs::function::erf::erfc(t / std::f64::consts::SQRT_2)
}

/// What n·rankECE must exceed for the finite-sample test to reject at level `alpha`:
/// t(s_1) + t(s_2) with L = log(2/α), t(s) = L/3 + √(L²/9 + 2sL) and s_1, s_2 the sums of
/// v_(i) v_(i+1) over odd and even i. \[CB26 Prop. 3.4\], *reconstructed*.
///
/// The bound itself holds for s_1 = s_2 = 0 too, where the test is undefined for want of a null variance.
pub fn finite_sample_threshold(sample: &Sample, alpha: f64) -> f64 {
    threshold(null::odd(sample), null::even(sample), (2.0 / alpha).ln())
}

/// The smallest level at which the finite-sample test rejects; 1 if there is none.
pub fn finite_sample_p_value(sample: &Sample, rank_ece: f64) -> f64 {
    let statistic = sample.rows().len() as f64 * rank_ece;
    let (odd, even) = (null::odd(sample), null::even(sample));
    // The threshold grows with L, at least as 4L/3.
    let (mut low, mut high) = (2f64.ln(), statistic.max(1.0));
    if statistic <= threshold(odd, even, low) {
        return 1.0;
    }
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return 2.0 * (-low).exp();
        }
        if statistic > threshold(odd, even, middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
}

fn threshold(odd: f64, even: f64, l: f64) -> f64 {
    let t = |s: f64| l / 3.0 + (l * l / 9.0 + 2.0 * s * l).sqrt();
    t(odd) + t(even)
}
