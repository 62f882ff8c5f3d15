//! Numbers as integers. Twin of `shaders/shared/fixed_point.wgsl`.
//!
//! Q30 means value · 2³⁰ in an integer, and so on. Sums over rows are sums of such integers, which
//! no order of summation can change; this is what makes every backend give the same bits.

/// 1 in Q30.
pub const ONE_Q30: u32 = 1 << 30;

/// A confidence given as significand · 2^exponent, in Q30, rounded half up.
///
/// The value must lie in \[0, 1\].
#[inline]
pub fn confidence_q30(significand: u64, exponent: i32) -> u32 {
    let shift = exponent + 30;
    if shift >= 0 {
        // significand · 2^shift is at most 2³⁰, so nothing is lost.
        (significand << shift) as u32
    } else if shift < -63 {
        // Below 2⁵³ · 2⁻⁶⁴: rounds to 0.
        0
    } else {
        let half = 1u64 << (-shift - 1);
        ((significand + half) >> -shift) as u32
    }
}

/// A confidence in \[0, 1\], in Q30, rounded half up.
#[inline(always)]
pub fn value_q30(confidence: f64) -> u32 {
    // 2⁵² more leaves no place for a fraction: the sum is rounded to the nearest whole number, of two
    // the even one, and ends in it. What it lost is exact; where that is a half, up is the other one.
    // No conversion to an integer, which would have to ask for values that do not fit.
    const WHOLE: f64 = (1u64 << 52) as f64;
    let scaled = confidence * f64::from(ONE_Q30);
    let shifted = scaled + WHOLE;
    let lost = scaled - (shifted - WHOLE);
    (shifted.to_bits() as u32).wrapping_add(u32::from(lost == 0.5))
}

/// The fraction of positives of a tied group, positives/size in Q30, rounded half up.
#[inline]
pub fn fraction_q30(positives: u32, size: u32) -> u32 {
    let (positives, size) = (u64::from(positives), u64::from(size));
    (((positives << 31) + size) / (2 * size)) as u32
}

/// The null variance z(1-z) of a confidence in Q30, as Q33, at most 2³¹.
#[inline]
pub fn null_variance_q33(confidence: u32) -> u32 {
    let product = u64::from(confidence) * u64::from(ONE_Q30 - confidence);
    ((product + (1 << 26)) >> 27) as u32
}

/// The null variance of a tied group's mean residual: `variance`/`size`, rounded half up, Q33.
#[inline]
pub fn mean_variance_q33(variance: u32, size: u32) -> u32 {
    ((u64::from(variance) + u64::from(size / 2)) / u64::from(size)) as u32
}

/// The residual label - confidence in Q30.
#[inline]
pub fn residual_q30(label: bool, confidence: u32) -> i32 {
    let label = if label { ONE_Q30 } else { 0 };
    // Both are at most 2³⁰; a check would keep loops from being vectorised.
    (label as i32).wrapping_sub(confidence as i32)
}

/// xy of two residuals in Q30, as Q29, rounded half up.
#[inline]
pub fn product_q29(x: i32, y: i32) -> i32 {
    ((i64::from(x) * i64::from(y) + (1 << 30)) >> 31) as i32
}

/// (x-y)²/2 of two residuals in Q30, as Q29, rounded half up.
#[inline]
pub fn half_square_q29(x: i32, y: i32) -> i32 {
    let difference = i64::from(x) - i64::from(y);
    ((difference * difference + (1 << 31)) >> 32) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidences_round_half_up() {
        // 2^-31 is half a unit; the f64 just below it is not.
        assert_eq!(confidence_q30(1, -31), 1);
        assert_eq!(confidence_q30((1 << 53) - 1, -31 - 53), 0);
        assert_eq!(confidence_q30(3, -31), 2);
        assert_eq!(confidence_q30(1, 0), ONE_Q30);
        assert_eq!(confidence_q30(1 << 52, -52), ONE_Q30);
        assert_eq!(confidence_q30((1 << 53) - 1, -53), ONE_Q30);
        assert_eq!(confidence_q30(0, -1074), 0);
        assert_eq!(confidence_q30(1, -1074), 0);
        assert_eq!(confidence_q30(u64::MAX >> 11, -94), 0);
        assert_eq!(confidence_q30(u64::MAX >> 11, -93), 0);
    }

    #[test]
    fn values_round_as_significands_do() {
        use crate::predictions::Dtype;
        let ends = [
            0.0,
            1.0,
            0.5,
            2f64.powi(-31),
            3.0 * 2f64.powi(-31),
            f64::MIN_POSITIVE,
        ];
        let below = ends.map(|value| value.next_down().max(0.0));
        let above = ends.map(|value| value.next_up().min(1.0));
        let steps = (0..100_000u64).map(|step| {
            let bits = step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 2;
            f64::from_bits(bits % (1f64.to_bits() + 1))
        });
        let spread = (0..100_000).map(|step| f64::from(step) / 99_999.0);
        for value in ends
            .into_iter()
            .chain(below)
            .chain(above)
            .chain(steps)
            .chain(spread)
        {
            let (significand, exponent) = Dtype::F64.decompose(value.to_bits());
            assert_eq!(
                value_q30(value),
                confidence_q30(significand, exponent),
                "{value:?}"
            );
        }
    }

    #[test]
    fn fractions_are_exact_at_the_ends() {
        assert_eq!(fraction_q30(0, u32::MAX), 0);
        assert_eq!(fraction_q30(u32::MAX, u32::MAX), ONE_Q30);
        assert_eq!(fraction_q30(1, 2), ONE_Q30 / 2);
        // 2³⁰/3 = 357913941.33…, 2·2³⁰/3 = 715827882.67…
        assert_eq!(fraction_q30(1, 3), 357_913_941);
        assert_eq!(fraction_q30(2, 3), 715_827_883);
    }

    #[test]
    fn null_variance_fits_a_word() {
        assert_eq!(null_variance_q33(ONE_Q30 / 2), 1 << 31);
        assert_eq!(null_variance_q33(0), 0);
        assert_eq!(null_variance_q33(ONE_Q30), 0);
        assert_eq!(mean_variance_q33(7, 2), 4);
        assert_eq!(mean_variance_q33(1 << 31, u32::MAX), 1);
    }

    #[test]
    fn residual_products_reach_their_ends() {
        let one = ONE_Q30 as i32;
        assert_eq!(product_q29(one, -one), -(1 << 29));
        assert_eq!(product_q29(1, 1), 0);
        assert_eq!(product_q29(1 << 15, 1 << 15), 1);
        assert_eq!(product_q29(1 << 15, -(1 << 15)), 0);
        assert_eq!(half_square_q29(one, -one), 1 << 30);
        assert_eq!(half_square_q29(5, 5), 0);
    }
}
