//! Null resamples of any sample, from tied group to tied group.

use super::group_windows::GroupWindows;
use super::tile::{TileSums, fraction};
use crate::backend::cpu::draw::LabelWords;
use crate::backend::resamples::{Resamples, TiedGroups, resample_key};
use crate::fixed_point::fraction_q30;

/// Tied groups that are worked on together: what is kept of them stays in the nearest cache.
const GROUPS: usize = 32;

macro_rules! tiles {
    ($($name:ident, $body:ident, $lanes:literal;)*) => {$(
        /// As many resamples as lanes, from `first` on.
        pub fn $name(
            sample: &Resamples<'_>,
            widths: &[u32],
            first: u32,
            scratch: &mut Scratch<$lanes>,
        ) -> TileSums<$lanes> {
            #[inline(always)]
            fn $body(
                sample: &Resamples<'_>,
                widths: &[u32],
                first: u32,
                scratch: &mut Scratch<$lanes>,
            ) -> TileSums<$lanes> {
                tile(sample, widths, first, scratch)
            }
            crate::simd::dispatch!($body(
                sample: &Resamples<'_>,
                widths: &[u32],
                first: u32,
                scratch: &mut Scratch<$lanes>
            ) -> TileSums<$lanes>)
        }
    )*};
}
tiles! {
    tile_64, body_64, 64;
    tile_32, body_32, 32;
    tile_16, body_16, 16;
    tile_4, body_4, 4;
    tile_1, body_1, 1;
}

/// What a thread keeps from tile to tile.
pub struct Scratch<const LANES: usize> {
    /// The positives of each of some groups.
    positives: Vec<[u32; LANES]>,
    /// Their mean residuals, Q30.
    residual: Vec<[i32; LANES]>,
    /// What windows need of all groups.
    windows: GroupWindows<LANES>,
}

impl<const LANES: usize> Scratch<LANES> {
    pub fn new() -> Self {
        Scratch {
            positives: Vec::new(),
            residual: Vec::new(),
            windows: GroupWindows::new(),
        }
    }
}

#[inline(always)]
fn tile<const LANES: usize>(
    sample: &Resamples<'_>,
    widths: &[u32],
    first: u32,
    scratch: &mut Scratch<LANES>,
) -> TileSums<LANES> {
    let mut words = LabelWords::new(resample_key(sample.key), first);
    let statistics = sample.statistics;
    let mut sums = TileSums::new(widths.len());
    let TiedGroups {
        confidence, size, ..
    } = sample.groups;
    let mut last_residual = [0i32; LANES];
    let mut at = [0i64; LANES];
    scratch.windows.clear();
    for (confidence, size) in std::iter::zip(confidence.chunks(GROUPS), size.chunks(GROUPS)) {
        scratch.positives.clear();
        scratch.positives.resize(confidence.len(), [0; LANES]);
        let positives = &mut scratch.positives[..];
        draw(&mut words, confidence, size, positives);
        if statistics.walk {
            walk(confidence, size, positives, &mut at, &mut sums);
        }
        if !statistics.rank_ece && !statistics.windows {
            continue;
        }
        scratch.residual.clear();
        scratch.residual.resize(confidence.len(), [0; LANES]);
        let residual = &mut scratch.residual[..];
        mean_residuals(confidence, size, positives, residual);
        if statistics.rank_ece {
            adjacent(residual, &mut last_residual, &mut sums.rank_ece);
            within_ties(confidence, size, residual, &mut sums.rank_ece);
        }
        if statistics.windows {
            scratch.windows.push(size, residual);
        }
    }
    if statistics.windows {
        for (&width, sum) in widths.iter().zip(&mut sums.windows) {
            *sum = scratch.windows.sum(width);
        }
    }
    sums
}

/// Draws the labels of the next groups, and counts the positives.
#[inline(always)]
fn draw<const LANES: usize>(
    words: &mut LabelWords<LANES>,
    confidence: &[u32],
    size: &[u32],
    positives: &mut [[u32; LANES]],
) {
    for ((&confidence, &size), positives) in confidence.iter().zip(size).zip(positives) {
        let mut count = [0u32; LANES];
        for _ in 0..size {
            let words = words.next();
            for lane in 0..LANES {
                let label = u32::from((words[lane] >> 2) < confidence);
                count[lane] = count[lane].wrapping_add(label);
            }
        }
        *positives = count;
    }
}

/// Follows the walk over the ends of some groups.
#[inline(always)]
fn walk<const LANES: usize>(
    confidence: &[u32],
    size: &[u32],
    positives: &[[u32; LANES]],
    at: &mut [i64; LANES],
    sums: &mut TileSums<LANES>,
) {
    let (mut here, mut lowest, mut highest) = (*at, sums.lowest, sums.highest);
    for ((&confidence, &size), positives) in confidence.iter().zip(size).zip(positives) {
        let expected = i64::from(size).wrapping_mul(i64::from(confidence));
        for lane in 0..LANES {
            let step = (i64::from(positives[lane]) << 30).wrapping_sub(expected);
            here[lane] = here[lane].wrapping_add(step);
            lowest[lane] = lowest[lane].min(here[lane]);
            highest[lane] = highest[lane].max(here[lane]);
        }
    }
    (*at, sums.lowest, sums.highest) = (here, lowest, highest);
}

/// The mean residual of each group, Q30.
#[inline(always)]
fn mean_residuals<const LANES: usize>(
    confidence: &[u32],
    size: &[u32],
    positives: &[[u32; LANES]],
    residual: &mut [[i32; LANES]],
) {
    for (((&confidence, &size), positives), residual) in
        confidence.iter().zip(size).zip(positives).zip(residual)
    {
        if size == 1 {
            for lane in 0..LANES {
                residual[lane] = ((positives[lane] << 30) as i32).wrapping_sub(confidence as i32);
            }
        } else if size < 1 << 20 {
            let step = f64::from(1u32 << 30) / f64::from(size);
            for lane in 0..LANES {
                // SAFETY: positives are counted among the rows of the group.
                let fraction = unsafe { fraction(positives[lane] as i32, step) };
                residual[lane] = fraction.wrapping_sub(confidence as i32);
            }
        } else {
            for lane in 0..LANES {
                let fraction = fraction_q30(positives[lane], size);
                residual[lane] = (fraction as i32).wrapping_sub(confidence as i32);
            }
        }
    }
}

/// Adds the products of groups beside each other; `last` is the residual of the group before.
#[inline(always)]
fn adjacent<const LANES: usize>(
    residual: &[[i32; LANES]],
    last: &mut [i32; LANES],
    sum: &mut [i128; LANES],
) {
    // Products of 64 bits, as sums of their low and of their high words.
    let (mut low, mut high) = ([0u64; LANES], [0i64; LANES]);
    let mut before = *last;
    for residual in residual {
        for lane in 0..LANES {
            let product = i64::from(before[lane]).wrapping_mul(i64::from(residual[lane]));
            low[lane] = low[lane].wrapping_add(product as u64 & 0xFFFF_FFFF);
            high[lane] = high[lane].wrapping_add(product >> 32);
        }
        before = *residual;
    }
    *last = before;
    for lane in 0..LANES {
        sum[lane] += (i128::from(high[lane]) << 32) + i128::from(low[lane]);
    }
}

/// Adds (m - 1) W² - p (1 - p) of every group of m > 1 rows.
#[inline(always)]
fn within_ties<const LANES: usize>(
    confidence: &[u32],
    size: &[u32],
    residual: &[[i32; LANES]],
    sum: &mut [i128; LANES],
) {
    // As sums of low and of high words. Rows of ties are below 2³², so that the sums stay below 2⁶⁴ and
    // 2⁶⁰ for the squares; variances are below 2⁵⁸, and groups are few.
    let (mut low, mut high) = ([0u64; LANES], [0i64; LANES]);
    let (mut variance_low, mut variance_high) = ([0u64; LANES], [0i64; LANES]);
    for ((&confidence, &size), residual) in confidence.iter().zip(size).zip(residual) {
        if size == 1 {
            continue;
        }
        let pairs = u64::from(size - 1);
        for lane in 0..LANES {
            let residual = i64::from(residual[lane]);
            let fraction = residual.wrapping_add(i64::from(confidence));
            let square = residual.wrapping_mul(residual) as u64;
            let variance = fraction.wrapping_mul((1i64 << 30).wrapping_sub(fraction)) as u64;
            low[lane] = low[lane].wrapping_add((square & 0xFFFF_FFFF).wrapping_mul(pairs));
            high[lane] = high[lane].wrapping_add((square >> 32).wrapping_mul(pairs) as i64);
            variance_low[lane] = variance_low[lane].wrapping_add(variance & 0xFFFF_FFFF);
            variance_high[lane] = variance_high[lane].wrapping_add((variance >> 32) as i64);
        }
    }
    for lane in 0..LANES {
        let squares = (i128::from(high[lane]) << 32) + i128::from(low[lane]);
        let variance = (i128::from(variance_high[lane]) << 32) + i128::from(variance_low[lane]);
        sum[lane] += squares - variance;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_of_large_ties_round_as_those_of_small_ones() {
        for size in [2u32, 3, 7, 1000, 99_991, (1 << 20) - 1] {
            for positives in [0, 1, 2, size / 3, size / 2, size - 1, size] {
                let mut residual = [[0]];
                mean_residuals(&[0], &[size], &[[positives.min(size)]], &mut residual);
                assert_eq!(
                    residual[0][0] as u32,
                    fraction_q30(positives.min(size), size)
                );
            }
        }
    }
}
