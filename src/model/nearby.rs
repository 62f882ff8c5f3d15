//! A polynomial near a curve.

/// The degree of the polynomial.
const DEGREE: usize = 7;

/// How far it may be from the curve at most: with more, labels would too often be undecided.
const MOST_DISTANCE: f64 = 1.0 / 4096.0;

/// A polynomial in single precision that stays within a known distance of a table of
/// [`super::Response::Cells`].
///
/// A label is 1 when its word is below the curve's value. Almost every word is farther from the
/// polynomial than the table can be, which decides the label without reading the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearbyPolynomial {
    /// Coefficients of 1, x, x², …, with x = 2z - 1.
    coefficients: [f32; DEGREE + 1],
    /// What its value, computed in single precision in any order of rounding, and a label word, rounded
    /// to single precision, may together be off by.
    distance: f32,
}

// No number in it is NaN.
impl Eq for NearbyPolynomial {}

impl NearbyPolynomial {
    /// The polynomial that interpolates the table at Chebyshev's points, if it is near everywhere.
    pub(super) fn new(limits: &[[u32; 2]]) -> Option<Self> {
        let cells = limits.len() as f64;
        let unit = f64::from(1u32 << 30);
        let value = |z: f64| {
            let cell = ((z * cells) as usize).min(limits.len() - 1);
            let [left, right] = limits[cell].map(|limit| f64::from(limit) / unit);
            left + (right - left) * (z * cells - cell as f64)
        };
        let coefficients = interpolate(value).map(|coefficient| coefficient as f32);
        let polynomial = |x: f64| {
            let horner = |value: f64, &coefficient: &f32| value * x + f64::from(coefficient);
            coefficients.iter().rev().fold(0.0, horner)
        };
        let mut distance = 0f64;
        for (cell, limits) in limits.iter().enumerate() {
            for (edge, limit) in limits.iter().enumerate() {
                let z = (cell + edge) as f64 / cells;
                let off = polynomial(2.0 * z - 1.0) - f64::from(*limit) / unit;
                distance = distance.max(off.abs());
            }
        }
        // Inside a cell the table is a line and the polynomial is off its own chord by at most the
        // greatest second derivative times the cell's width squared, over 8.
        let size = |k: usize| f64::from(coefficients[k].abs());
        let bend: f64 = (2..=DEGREE).map(|k| (k * (k - 1)) as f64 * size(k)).sum();
        let width = 2.0 / cells;
        // Rounding: of x, 2^-23 times the derivative; of Horner's scheme, 2^-23 for each degree times
        // the coefficients (Higham, section 5.1); of the word and the table, 2^-24 and 2^-30. Twice as
        // much for good measure.
        let sizes: f64 = (0..=DEGREE).map(|k| (DEGREE + k) as f64 * size(k)).sum();
        let rounding = 2.0 * (sizes + 1.0) / f64::from(1u32 << 23);
        let distance = distance + bend * width * width / 8.0 + rounding;
        (distance <= MOST_DISTANCE).then_some(NearbyPolynomial {
            coefficients,
            distance: distance as f32 * (1.0 + f32::EPSILON),
        })
    }

    /// By how much the curve at a confidence in Q30 exceeds a label word's upper 30 bits, as a
    /// probability: within [`NearbyPolynomial::distance`].
    #[inline(always)]
    pub fn excess(&self, confidence: u32, word: u32) -> f32 {
        const TO_PROBABILITY: f32 = 1.0 / (1u32 << 30) as f32;
        // Both are below 2³¹; a processor converts signed words faster.
        let x = (confidence as i32) as f32 * (2.0 * TO_PROBABILITY) - 1.0;
        let mut value = self.coefficients[DEGREE];
        for k in (0..DEGREE).rev() {
            value = value * x + self.coefficients[k];
        }
        value - (word >> 2) as i32 as f32 * TO_PROBABILITY
    }

    /// How far [`NearbyPolynomial::excess`] may be off.
    #[inline(always)]
    pub fn distance(&self) -> f32 {
        self.distance
    }
}

/// The coefficients of 1, x, x², … of the polynomial that takes a function's values at Chebyshev's points
/// x, where z = (1 + x)/2.
fn interpolate(value: impl Fn(f64) -> f64) -> [f64; DEGREE + 1] {
    const POINTS: usize = DEGREE + 1;
    let angle = |point: usize| (point as f64 + 0.5) * std::f64::consts::PI / POINTS as f64;
    let values: [f64; POINTS] =
        std::array::from_fn(|point| value((1.0 + libm::cos(angle(point))) / 2.0));
    // Σ over Chebyshev's polynomials T_k, from T_0 = 1, T_1 = x and T_{k+1} = 2x T_k - T_{k-1}.
    let mut before = [0.0; POINTS];
    let mut chebyshev = [0.0; POINTS];
    chebyshev[0] = 1.0;
    let mut coefficients = [0.0; POINTS];
    for k in 0..POINTS {
        let products = values.iter().enumerate();
        let sum: f64 = products
            .map(|(point, value)| value * libm::cos(k as f64 * angle(point)))
            .sum();
        let weight = sum * if k == 0 { 1.0 } else { 2.0 } / POINTS as f64;
        let mut next = [0.0; POINTS];
        for power in 0..POINTS {
            coefficients[power] += weight * chebyshev[power];
            if power > 0 {
                next[power] = chebyshev[power - 1] * if k == 0 { 1.0 } else { 2.0 };
            }
            next[power] -= before[power];
        }
        before = chebyshev;
        chebyshev = next;
    }
    coefficients
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Curve, Law, Model, Response};

    fn response(curve: &str) -> Response {
        let curve: Curve = curve.parse().expect("a curve");
        let law: Law = "uniform".parse().expect("a law");
        Model::new(law, curve, 1).expect("a model").response
    }

    fn nearby(response: &Response) -> Option<NearbyPolynomial> {
        match response {
            Response::Cells { nearby, .. } => *nearby,
            Response::Calibrated => None,
        }
    }

    /// Polynomials of low degree are met to single precision; others by the error of interpolation.
    #[test]
    fn smooth_curves_have_a_polynomial_and_curves_with_jumps_have_none() {
        for (curve, most) in [("quadratic", 2e-5), ("quartic", 5e-5), ("linear", 2e-5)] {
            let distance = nearby(&response(curve)).expect("a polynomial").distance();
            assert!(distance < most, "{curve}: {distance}");
        }
        for curve in [
            "staircase",
            "sawtooth",
            "spikes",
            "weierstrass",
            "abs(z - 0.5)",
        ] {
            assert_eq!(nearby(&response(curve)), None, "{curve}");
        }
    }

    /// The excess is within the distance of the table's value, at and beside every edge and inside.
    #[test]
    fn no_confidence_is_farther_from_the_polynomial_than_it_says() {
        for curve in [
            "quadratic",
            "quartic",
            "gaussian",
            "linear",
            "max(z - 0.00001, 0)",
        ] {
            let response = response(curve);
            let near = nearby(&response).expect(curve);
            for place in 0..1u32 << 16 {
                for shift in [0, 1, 8191, 16383] {
                    let confidence = (place << 14) + shift;
                    let exact = f64::from(response.q30(confidence)) / f64::from(1u32 << 30);
                    for word in [0, 1 << 31, u32::MAX] {
                        let word_is = f64::from(word >> 2) / f64::from(1u32 << 30);
                        let off = f64::from(near.excess(confidence, word)) - (exact - word_is);
                        assert!(
                            off.abs() <= f64::from(near.distance()),
                            "{curve} {confidence}"
                        );
                    }
                }
            }
        }
    }
}
