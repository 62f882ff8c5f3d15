//! The exponential function, written so that the compiler turns loops over it into vector
//! instructions.

/// Below this exp is smaller than the smallest normal number; it is computed as there.
const LEAST: f64 = -708.0;
/// 1.5·2⁵²: added to a small number it rounds that to a whole number, which then stands in the lowest
/// bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the upper one has so few bits that its product with a whole number is exact.
const LN_2: [f64; 2] = [6.931_471_803_691_238e-1, 1.908_214_929_270_587_7e-10];
/// 1/k! from k = 12 down to 0.
const TAYLOR: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// exp(x) for x <= 0, with a relative error below 5e-16; below x = -708, where exp is below 4e-308,
/// the value at -708.
///
/// x = k·ln 2 + r with k whole and |r| <= ln(2)/2; exp(x) = 2ᵏ exp(r), and the Taylor polynomial of
/// degree 12 meets exp(r) to 2e-16. Nothing but fused multiplications and additions, which are
/// correctly rounded everywhere: the same bits on every processor.
#[inline(always)]
pub fn exp_of_negative(x: f64) -> f64 {
    let x = if x < LEAST { LEAST } else { x };
    let shifted = x.mul_add(std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = k.mul_add(-LN_2[1], k.mul_add(-LN_2[0], x));
    let mut sum = TAYLOR[0];
    for term in &TAYLOR[1..] {
        sum = sum.mul_add(r, *term);
    }
    // k >= -1022, so this is the exponent field of a normal number.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    sum * power
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meets_libm_to_its_stated_accuracy() {
        for step in 0..=2_000_000u32 {
            // Dense near 0, where kernels have their weight, and down to the end of the range.
            let part = f64::from(step) / 2e6;
            for x in [-700.0 * part, -part * part, -1e-9 * part] {
                let (own, exact) = (exp_of_negative(x), libm::exp(x));
                // libm's own error is below one unit in the last place.
                assert!(
                    (own - exact).abs() <= (5e-16 + 2.3e-16) * exact,
                    "exp({x:e}) = {own:e}"
                );
            }
        }
    }

    #[test]
    fn the_ends_are_right() {
        assert_eq!(exp_of_negative(0.0), 1.0);
        assert_eq!(exp_of_negative(-0.0), 1.0);
        for x in [-708.0, -745.0, -1e300, f64::NEG_INFINITY] {
            let value = exp_of_negative(x);
            assert!(value > 0.0 && value < 4e-308, "exp({x:e}) = {value:e}");
        }
    }
}
