//! Sums over adjacent order statistics, exact for piecewise linear residuals.
//!
//! rankECE_n needs ∫∫ r(u) r(v) (1-(v-u))^N over u < v. If the kernel were exponential in v - u, one
//! pass over the pieces would do: what lies behind decays by a factor. Cauchy's integral makes it
//! so: (1-s)^N is N!/(2πi) ∮ e^{(1-s)w} w^{-N-1} dw, which is how a fixed sample size is got out of
//! a Poisson one. On the circle |w| = N the trapezoidal rule converges faster than geometrically,
//! and only some dozen points near w = N count, whatever N is.

use rayon::prelude::*;

use super::complex::Complex;

/// A linear function on a piece, by its values at both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Line {
    /// The mean over the piece.
    pub(super) fn mean(self) -> f64 {
        (self.left + self.right) / 2.0
    }

    /// The mean of the square over the piece.
    pub(super) fn mean_square(self) -> f64 {
        (self.left * self.left + self.left * self.right + self.right * self.right) / 3.0
    }
}

/// Terms smaller than e to the minus this are left out: 45 is 3e-20.
const NEGLIGIBLE: f64 = 45.0;

/// ∫∫ r(u) r(v) (1-(v-u))^`power` du dv over 0 < u < v < 1.
///
/// r is made of lines over pieces of the given lengths, one after the other, of total length 1.
/// The error is around 1e-13 of the largest r², relative to the size 1/(power + 1) of the kernel.
pub(super) fn adjacent_products(lines: &[(f64, Line)], power: u64) -> f64 {
    // Collected before they are added, so that the order of additions is always the same.
    let terms: Vec<f64> = kernel(power)
        .into_par_iter()
        .map(|(weight, rate)| (weight * exponential_products(lines, rate)).re)
        .collect();
    terms.iter().sum()
}

/// Weights c and rates w such that (1-s)^`power` is the sum of the real parts of c e^{-ws}, to
/// within 1e-14, for s in \[0, 1\].
fn kernel(power: u64) -> Vec<(Complex, Complex)> {
    if power == 0 {
        return vec![(Complex::ONE, Complex::ZERO)];
    }
    let radius = power as f64;
    // With M points the rule is off by powers N ± M instead of N, at most N! N^M / (N+M)!, which is
    // near exp(-M²/2N); this M makes that 1e-16. M is odd, so that only w = N is its own conjugate.
    let half = ((8.6 * radius.sqrt() + 20.0) / 2.0).ceil();
    let points = 2.0 * half + 1.0;
    let scale = factorial_ratio(power) / points;
    let mut terms = Vec::new();
    for k in 0..=half as u64 {
        let angle = std::f64::consts::TAU * k as f64 / points;
        // The size of a term is exp(N (cos angle - 1)) at s = 0. For N above this limit all that
        // are kept have a positive cosine, so none grows with s.
        let half_sine = libm::sin(angle / 2.0);
        let decay = 2.0 * radius * half_sine * half_sine;
        if radius > NEGLIGIBLE && decay > NEGLIGIBLE {
            break;
        }
        let phase = Complex::new(-decay, radius * (libm::sin(angle) - angle));
        let twice = if k == 0 { 1.0 } else { 2.0 };
        let rate = Complex::new(radius - decay, radius * libm::sin(angle));
        terms.push((phase.exp().scale(twice * scale), rate));
    }
    terms
}

/// N! eᴺ / Nᴺ.
fn factorial_ratio(power: u64) -> f64 {
    let n = power as f64;
    if power <= 100 {
        let factors = (1..=power).map(|k| k as f64 / n * std::f64::consts::E);
        return factors.product();
    }
    // Stirling's series; what is left out is below 1e-16.
    let correction = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * n * n)) / (n * n)) / n;
    (std::f64::consts::TAU * n).sqrt() * libm::exp(correction)
}

/// ∫∫ r(u) r(v) e^{-`rate` (v-u)} du dv over u < v.
fn exponential_products(lines: &[(f64, Line)], rate: Complex) -> Complex {
    let mut sum = Complex::ZERO;
    // ∫ r(u) e^{-rate (v-u)} du over u < v, at the left end v of the piece at hand.
    let mut behind = Complex::ZERO;
    for &(length, line) in lines {
        let moments = Moments::new(rate.scale(length));
        let (start, rise) = (line.left, line.right - line.left);
        // ∫ r(v) e^{-rate (v - left end)} dv, and the same to the right end.
        let from_left = moments.j0.scale(start) + moments.j1.scale(rise);
        let to_right = moments.j0.scale(start + rise) - moments.j1.scale(rise);
        // Both u and v in the piece: ∫ e^{-zy} C(y) dy with
        // C(y) = start (start + rise) (1-y) + rise² (2 - 3y + y³)/6.
        let within = (moments.j0 - moments.j1).scale(start * (start + rise))
            + (moments.j0.scale(2.0) - moments.j1.scale(3.0) + moments.j3).scale(rise * rise / 6.0);
        sum = sum + (behind * from_left).scale(length) + within.scale(length * length);
        behind = behind * moments.decay + to_right.scale(length);
    }
    sum
}

/// Jₖ(z) = ∫ yᵏ e^{-zy} dy over \[0, 1\], and e^{-z}.
struct Moments {
    decay: Complex,
    j0: Complex,
    j1: Complex,
    j3: Complex,
}

impl Moments {
    fn new(z: Complex) -> Self {
        let decay = z.scale(-1.0).exp();
        // Jₖ = (k Jₖ₋₁ - e^{-z})/z: upwards for large z, downwards for small z, so that no step
        // magnifies rounding.
        if z.norm() > 1.0 {
            let inverse = z.inverse();
            let j0 = (Complex::ONE - decay) * inverse;
            let j1 = (j0 - decay) * inverse;
            let j2 = (j1.scale(2.0) - decay) * inverse;
            let j3 = (j2.scale(3.0) - decay) * inverse;
            return Moments { decay, j0, j1, j3 };
        }
        // J₃ = Σ (-z)ᵐ / (m! (m+4)), by Horner's rule; for |z| <= 1 what is left out is below 1e-18.
        let mut j3 = Complex::ZERO;
        let minus = z.scale(-1.0);
        for m in (0..18).rev() {
            let m = f64::from(m);
            j3 = Complex::new(1.0 / (m + 4.0), 0.0) + (minus * j3).scale(1.0 / (m + 1.0));
        }
        let j2 = (z * j3 + decay).scale(1.0 / 3.0);
        let j1 = (z * j2 + decay).scale(1.0 / 2.0);
        let j0 = z * j1 + decay;
        Moments { decay, j0, j1, j3 }
    }
}
