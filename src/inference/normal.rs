//! The standard normal distribution, with the same bits on every platform.

use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// What 1/√2 is larger than [`FRAC_1_SQRT_2`].
const FRAC_1_SQRT_2_REST: f64 = -4.833_646_656_726_457e-17;

/// The probability that a standard normal variable exceeds `x`: erfc(x/√2)/2.
///
/// The relative error is below 1e-14 down to the smallest normal number; beyond x = 38.5 the
/// probability is less than the smallest f64 and 0 is returned.
pub fn upper_tail(x: f64) -> f64 {
    if x.is_infinite() {
        return if x > 0.0 { 0.0 } else { 1.0 };
    }
    let scaled = x * FRAC_1_SQRT_2;
    // In the far tail erfc magnifies what the rounding of x/√2 loses, so that part is found with
    // an exact multiply-add and put back to first order.
    let lost = libm::fma(x, FRAC_1_SQRT_2, -scaled) + x * FRAC_1_SQRT_2_REST;
    let slope = FRAC_2_SQRT_PI * libm::exp(-scaled * scaled);
    0.5 * (libm::erfc(scaled) - slope * lost)
}

/// What a standard normal variable exceeds with probability `tail`, for 0 < `tail` < 1; infinite
/// at 0 and 1, NaN outside.
///
/// The relative error is below 1e-14. Source: Wichura, "Algorithm AS 241: The Percentage Points of
/// the Normal Distribution", Applied Statistics 37 (1988), PPND16.
pub fn upper_quantile(tail: f64) -> f64 {
    let from_half = 0.5 - tail;
    if from_half.abs() <= 0.425 {
        let r = 0.180625 - from_half * from_half;
        return from_half * ratio(r, &CENTRE);
    }
    // 1 - tail is exact here, where tail is above 1/2.
    let smaller = if tail < 0.5 { tail } else { 1.0 - tail };
    if smaller == 0.0 {
        return f64::INFINITY.copysign(from_half);
    }
    let r = (-libm::log(smaller)).sqrt();
    let magnitude = if r <= 5.0 {
        ratio(r - 1.6, &TAIL)
    } else {
        ratio(r - 5.0, &FAR_TAIL)
    };
    magnitude.copysign(from_half)
}

/// Numerator and denominator, highest power first.
type Rational = [[f64; 8]; 2];

fn ratio(r: f64, [numerator, denominator]: &Rational) -> f64 {
    let at = |polynomial: &[f64; 8]| polynomial.iter().fold(0.0, |sum, c| sum * r + c);
    at(numerator) / at(denominator)
}

// The coefficients as they were published.
#[allow(clippy::excessive_precision)]
const CENTRE: Rational = [
    [
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ],
    [
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ],
];

#[allow(clippy::excessive_precision)]
const TAIL: Rational = [
    [
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ],
    [
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ],
];

#[allow(clippy::excessive_precision)]
const FAR_TAIL: Rational = [
    [
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ],
    [
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ],
];
