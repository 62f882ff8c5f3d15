//! Moments of four neighbours over a block of residuals, vectorised.

use super::wide_sum::{WideSum, signed_product};
use crate::backend::NeighbourSums;

/// The sums of [`crate::backend::terms::RowSums::add_window`] over all windows of four of a block.
pub fn window_sums(residuals: &[i32]) -> NeighbourSums {
    crate::simd::dispatch!(window_sums_body(residuals: &[i32]) -> NeighbourSums)
}

/// The same rounding as [`crate::fixed_point::product_q29`].
#[inline(always)]
fn product(x: i32, y: i32) -> i32 {
    (i64::from(x)
        .wrapping_mul(i64::from(y))
        .wrapping_add(1 << 30)
        >> 31) as i32
}

/// The same rounding as [`crate::fixed_point::half_square_q29`]; |x - y| fits a u32, so that one
/// 32-bit multiplication does.
#[inline(always)]
fn half_square(x: i32, y: i32) -> i32 {
    let difference = u64::from(x.abs_diff(y));
    (difference.wrapping_mul(difference).wrapping_add(1 << 31) >> 32) as i32
}

#[inline(always)]
fn window_sums_body(residuals: &[i32]) -> NeighbourSums {
    let mut r4 = WideSum::default();
    let mut r2s2 = WideSum::default();
    let mut s4 = WideSum::default();
    let count = residuals.len().saturating_sub(3);
    let (a, b) = (
        &residuals[..count],
        &residuals[residuals.len().min(1)..][..count],
    );
    let (c, d) = (
        &residuals[residuals.len().min(2)..][..count],
        &residuals[residuals.len().min(3)..][..count],
    );
    for i in 0..count {
        let (a, b, c, d) = (a[i], b[i], c[i], d[i]);
        let (ab, ac, ad) = (product(a, b), product(a, c), product(a, d));
        let (bc, bd, cd) = (product(b, c), product(b, d), product(c, d));
        let (h_ab, h_ac, h_ad) = (half_square(a, b), half_square(a, c), half_square(a, d));
        let (h_bc, h_bd, h_cd) = (half_square(b, c), half_square(b, d), half_square(c, d));
        r4.add(signed_product(ab, cd));
        r2s2.add(
            signed_product(h_ab, cd)
                .wrapping_add(signed_product(h_ac, bd))
                .wrapping_add(signed_product(h_ad, bc))
                .wrapping_add(signed_product(h_bc, ad))
                .wrapping_add(signed_product(h_bd, ac))
                .wrapping_add(signed_product(h_cd, ab)),
        );
        s4.add(
            signed_product(h_ab, h_cd)
                .wrapping_add(signed_product(h_ac, h_bd))
                .wrapping_add(signed_product(h_ad, h_bc)),
        );
    }
    NeighbourSums {
        r4: r4.total(),
        r2s2: r2s2.total(),
        s4: s4.total(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::terms::RowSums;
    use crate::random::{Key, ThreefryRng};
    use rand::Rng;

    #[test]
    fn agrees_with_the_terms_written_out() {
        let one = 1i64 << 30;
        let mut rng = ThreefryRng::new(Key([3, 4]));
        for size in [0, 1, 3, 4, 5, 16, 17, 1000] {
            let residuals: Vec<i32> = (0..size)
                .map(|_| match rng.next_u32() % 8 {
                    0 => one as i32,
                    1 => -one as i32,
                    _ => (i64::from(rng.next_u32()) % (2 * one + 1) - one) as i32,
                })
                .collect();
            let mut expected = RowSums::default();
            for window in residuals.windows(4) {
                expected.add_window([window[0], window[1], window[2], window[3]]);
            }
            assert_eq!(window_sums(&residuals), expected.neighbours);
        }
    }
}
