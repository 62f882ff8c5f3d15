//! Edges of bins, exactly: where a bin begins is a comparison, never an arithmetic of floats.

use crate::predictions::Dtype;

/// The bits of j/bins, correctly rounded (half to even) to the type of the confidences.
///
/// `j` is at most `bins`. Doing this in f64 and rounding again would round twice.
pub fn edge_bits(dtype: Dtype, j: u32, bins: u32) -> u64 {
    debug_assert!(j <= bins && bins > 0);
    if j == 0 {
        return 0;
    }
    let (j, bins) = (u128::from(j), u128::from(bins));
    let fraction_bits = dtype.fraction_bits() as i32;
    // j/bins lies in [2^-32, 1], so the quotient of j·2^shift has fraction_bits + 1 bits for a
    // shift of at most 85, and j·2^shift fits 128 bits.
    let mut shift = fraction_bits;
    while (j << shift) / bins < 1 << fraction_bits {
        shift += 1;
    }
    // An f16 below 2^-14 is subnormal: its last bit is worth 2^-24 whatever its size.
    shift = shift.min(-dtype.smallest_exponent());
    let (quotient, rest) = ((j << shift) / bins, (j << shift) % bins);
    let round_up = 2 * rest > bins || (2 * rest == bins && quotient % 2 == 1);
    let significand = (quotient + u128::from(round_up)) as u64;
    // The exponent field counts from 1 for normal numbers; the implicit bit of the significand
    // adds that 1, and a significand that rounded up to the next power of two carries into it.
    let field_less_one = (-shift - dtype.smallest_exponent()) as u64;
    (field_less_one << fraction_bits) + significand
}

/// The rank, from 0, whose run of equal confidences decides where equal-mass bin `j` of a segment of
/// `rows` rows begins, for 0 < j < bins.
///
/// The block of ranks a..b (from 1) goes whole to bin ⌊K(a+b-1)/(2n)⌋ (specification, section 2).
/// Blocks before this run have a+b-1 < 2nj/K, blocks after it more, so it alone decides.
pub fn mass_rank(rows: u32, bins: u32, j: u32) -> u32 {
    (u64::from(rows) * u64::from(j) / u64::from(bins)) as u32
}

/// Bin `j` begins with the run of [`mass_rank`], ranks first..end from 0, if first + end is at least
/// this, and after it otherwise: 2nj/K, rounded up.
pub fn mass_threshold(rows: u32, bins: u32, j: u32) -> u64 {
    (2 * u128::from(rows) * u128::from(j)).div_ceil(u128::from(bins)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    #[test]
    fn edges_are_the_nearest_floats() {
        for bins in (1..200).chain([1000, 4097, 65_535, 1_000_003]) {
            let step = (bins / 100).max(1);
            for j in (0..=bins).step_by(step as usize).chain([bins]) {
                // Division of f64 is correctly rounded.
                let quotient = f64::from(j) / f64::from(bins);
                assert_eq!(edge_bits(Dtype::F64, j, bins), quotient.to_bits());
                // So is division of f32, and both numbers are exact in f32 here.
                let quotient = j as f32 / bins as f32;
                assert_eq!(
                    edge_bits(Dtype::F32, j, bins),
                    u64::from(quotient.to_bits())
                );
                // Integers divided in f32 are never within rounding of a midpoint of the short
                // types unless they are one, for so few bins (24 bits against 11 + 11 and 8 + 11).
                if bins < 200 {
                    let half = f16::from_f32(quotient).to_bits();
                    assert_eq!(edge_bits(Dtype::F16, j, bins), u64::from(half));
                    let brain = bf16::from_f32(quotient).to_bits();
                    assert_eq!(edge_bits(Dtype::Bf16, j, bins), u64::from(brain));
                }
            }
        }
    }

    #[test]
    fn small_half_precision_edges_are_subnormal() {
        // 1/65536 = 2^-16 is the subnormal 256 · 2^-24.
        assert_eq!(edge_bits(Dtype::F16, 1, 1 << 16), 256);
        // 1/2^26 is a quarter of the smallest subnormal: 0.
        assert_eq!(edge_bits(Dtype::F16, 1, 1 << 26), 0);
        // 3/2^25 is 1.5 of it: to even, 2.
        assert_eq!(edge_bits(Dtype::F16, 3, 1 << 25), 2);
        assert_eq!(
            edge_bits(Dtype::F16, u32::MAX - 1, u32::MAX),
            Dtype::F16.one_bits()
        );
    }
}
