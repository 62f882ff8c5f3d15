//! Confidences as places in fixed point, whose distances are exponents of the kernel.

use crate::backend::kernels::{Kernel, Scaled};

/// The distance, in the lowest bits of a place, from which on the kernel is 0 in f32.
const FAR: u128 = 1 << 32;
/// Bits by which sums of distances are finer than places: no error of rounding adds up.
const FINER: u32 = 32;

/// The place of each confidence, low word first. In units of the lowest bit, with d the distance of two
/// confidences, the distance of their places is
/// - Laplace: 2²⁴ e, where the kernel is 2⁻ᵉ: e = d log₂(e) / γ;
/// - Gaussian: 2²⁸ √e, e = d² log₂(e) / (2γ²).
///
/// At 2³² the kernel is 2⁻²⁵⁶, 0 in f32. A gap between neighbours that is wider than that is made as
/// wide: the kernel of pairs on both sides of it is 0 all the same, and whatever the bandwidth, places
/// fit 64 bits.
pub fn places(scaled: Scaled, confidence: &[f64]) -> Vec<[u32; 2]> {
    use std::f64::consts::LOG2_E;
    let scale = match scaled.kernel {
        Kernel::Laplace => 2f64.powi(24) * LOG2_E / scaled.bandwidth,
        Kernel::Gaussian => 2f64.powi(28) * (0.5 * LOG2_E).sqrt() / scaled.bandwidth,
    };
    let unit = 2f64.powi(FINER as i32);
    let mut sum = 0u128;
    let mut before = None;
    let place = |&z: &f64| {
        let gap = before.replace(z).map_or(0.0, |before| (z - before) * scale);
        // At most 2³² gaps of 2⁶⁴ each; a conversion from a float saturates.
        sum += ((gap * unit) as u128).min(FAR << FINER);
        let place = ((sum + (1 << (FINER - 1))) >> FINER) as u64;
        [place as u32, (place >> 32) as u32]
    };
    confidence.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(place: [u32; 2]) -> u64 {
        u64::from(place[1]) << 32 | u64::from(place[0])
    }

    #[test]
    fn distances_are_exponents_of_the_kernel() {
        let confidence = [0.0, 0.125, 0.25, 0.9];
        for (kernel, bandwidth) in [(Kernel::Laplace, 0.1), (Kernel::Gaussian, 0.3)] {
            let own = places(Scaled { kernel, bandwidth }, &confidence);
            for (a, z) in std::iter::zip(&own, confidence) {
                for (b, other) in std::iter::zip(&own, confidence) {
                    let apart = whole(*a).abs_diff(whole(*b)) as f64;
                    let (exponent, direct) = match kernel {
                        Kernel::Laplace => (apart / 2f64.powi(24), (z - other).abs() / bandwidth),
                        Kernel::Gaussian => (
                            (apart / 2f64.powi(28)).powi(2),
                            ((z - other) / bandwidth).powi(2) / 2.0,
                        ),
                    };
                    let value = (-exponent * std::f64::consts::LN_2).exp();
                    assert!((value - (-direct).exp()).abs() < 3e-8, "{z} {other}");
                }
            }
        }
    }

    #[test]
    fn wide_gaps_are_cut_to_what_makes_the_kernel_vanish() {
        for kernel in [Kernel::Laplace, Kernel::Gaussian] {
            for bandwidth in [1e-100, 1e-20, 1e-9] {
                let own = places(Scaled { kernel, bandwidth }, &[0.0, 1e-3, 0.5, 1.0]);
                let expected: Vec<[u32; 2]> = (0..4).map(|place| [0, place]).collect();
                assert_eq!(own, expected);
            }
        }
    }
}
