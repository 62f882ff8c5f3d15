//! `ks` and `kuiper`: the walk of summed residuals, in the order of the confidences.

use crate::inference::normal;

/// The probability that the largest |B| of a Brownian motion on \[0, 1\] exceeds `x`: the asymptotic
/// p-value of `ks`.
///
/// 1 - (4/π) Σ_{k>=0} (-1)^k/(2k+1) exp(-(2k+1)²π²/(8x²)), and from 1 on, where that would cancel, the
/// same by reflections, 4 Σ_{k>=0} (-1)^k (1 - Φ((2k+1)x)).
pub fn ks_tail(x: f64) -> f64 {
    use std::f64::consts::PI;
    if x <= 0.0 {
        return 1.0;
    }
    // Terms fall so fast that fewer than ten matter.
    let terms = (0..20).map(|k| {
        let odd = f64::from(2 * k + 1);
        let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
        if x < 1.0 {
            -4.0 / PI * sign / odd * libm::exp(-(odd * PI / x).powi(2) / 8.0)
        } else {
            4.0 * sign * normal::upper_tail(odd * x)
        }
    });
    let sum: f64 = terms.sum();
    let tail = if x < 1.0 { 1.0 + sum } else { sum };
    // Rounding alone can leave [0, 1].
    tail.clamp(0.0, 1.0)
}

/// The probability that the range of a Brownian motion on \[0, 1\], its highest value less its
/// lowest, exceeds `x`: the asymptotic p-value of `kuiper`, 8 Σ_{k>=1} (-1)^{k-1} k (1 - Φ(kx)).
pub fn kuiper_tail(x: f64) -> f64 {
    // Below, 1 less the probability is 1 to the last bit, and the sum would take ever more terms.
    if x < 0.3 {
        return 1.0;
    }
    let terms = (1..=150).map(|k| {
        let sign = if k % 2 == 1 { 1.0 } else { -1.0 };
        8.0 * sign * f64::from(k) * normal::upper_tail(f64::from(k) * x)
    });
    // Rounding alone can leave [0, 1].
    terms.sum::<f64>().clamp(0.0, 1.0)
}
