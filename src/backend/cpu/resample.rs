//! Null resamples of a sample, several side by side, one in each lane of a vector. Twin of
//! `shaders/resample.wgsl`.
//!
//! All resamples of a tile go through the sorted rows together, so that a row's confidence is read
//! once for all of them, and the products of neighbouring rows need no shifts between lanes.
//!
//! Sums over windows go from tied group to tied group: `group_windows.rs`.

use rayon::prelude::*;

use super::Cpu;
use super::draw::LabelWords;
use super::group_windows::{self, GroupWindows};
use super::resample_ties::Ties;
use super::resample_untied::{self, Constants, untied_16, untied_32, untied_64};
use crate::backend::DeviceError;
use crate::backend::resamples::{
    ResampleSums, Resampler, Resamples, Statistics, TiedGroups, resample_key, windows,
};
use crate::fixed_point::fraction_q30;

/// Tied groups that are worked on together: what is kept of them stays in the nearest cache.
const GROUPS: usize = 32;
/// The most memory of all threads for what windows need of earlier groups, and how much of it a tile may
/// have to be wider than need be: what stays in a nearer cache.
const HISTORY_BYTES: usize = 1 << 29;
const NEAR_BYTES: usize = 1 << 19;

impl Resampler for Cpu {
    fn resamples(
        &self,
        samples: &[Resamples<'_>],
        first: u32,
        count: u32,
    ) -> Result<Vec<ResampleSums>, DeviceError> {
        let threads = rayon::current_num_threads().div_ceil(samples.len().max(1)) as u32;
        let one = |sample: &Resamples<'_>| sums(sample, first, count, threads);
        Ok(samples.par_iter().map(one).collect())
    }
}

/// Resamples of a sample by the fastest way for its ties, on `threads`.
fn sums(sample: &Resamples<'_>, first: u32, count: u32, threads: u32) -> ResampleSums {
    let Resamples {
        groups, statistics, ..
    } = *sample;
    let lanes = lanes(count, threads);
    if groups.untied() && groups.rows < resample_untied::MOST_ROWS {
        let constants = Constants::new(sample, None);
        return untied(sample, &constants, first, count, lanes);
    }
    let of = |statistics| Resamples {
        statistics,
        ..*sample
    };
    let without_windows = of(Statistics {
        windows: false,
        ..statistics
    });
    let mut sums = ResampleSums::default();
    if !without_windows.statistics.is_empty() {
        sums = tied_in_lanes(&without_windows, first, count, lanes as usize);
    }
    if statistics.windows {
        let windows = of(Statistics {
            windows: true,
            ..Statistics::default()
        });
        let threads = rayon::current_num_threads();
        sums.windows = match Ties::few(groups) {
            Some(ties) => {
                let most = HISTORY_BYTES / threads / ties.bytes_of_resample().max(1);
                let constants = Constants::new(&windows, Some(ties));
                untied(&windows, &constants, first, count, lanes.min(most as u32)).windows
            }
            None => {
                let kept = group_windows::bytes_of_resample(groups.size.len());
                let most = (HISTORY_BYTES / threads / kept).min(16.max(NEAR_BYTES / kept));
                tied_in_lanes(&windows, first, count, most.min(lanes as usize)).windows
            }
        };
    }
    sums
}

/// Resamples of any sample, at most so many side by side.
fn tied_in_lanes(sample: &Resamples<'_>, first: u32, count: u32, lanes: usize) -> ResampleSums {
    match lanes {
        64.. => tied(sample, first, count, tile_64),
        32.. => tied(sample, first, count, tile_32),
        16.. => tied(sample, first, count, tile_16),
        4.. => tied(sample, first, count, tile_4),
        _ => tied(sample, first, count, tile_1),
    }
}

/// How many resamples of a sample go side by side, so that `threads` have work. The rounds of Threefry
/// wait for each other: the more resamples, the less idle a core; and what a window sum needs of a row
/// takes as long as the labels of some tens of resamples.
fn lanes(count: u32, threads: u32) -> u32 {
    let busy = |lanes: &u32| count > lanes / 2 && count.div_ceil(*lanes) >= threads;
    [64, 32].into_iter().find(busy).unwrap_or(16)
}

/// Resamples of a sample without ties, or with the few of `constants`, in tiles of at most `lanes`, or
/// of 16.
fn untied(
    sample: &Resamples<'_>,
    constants: &Constants<'_>,
    first: u32,
    count: u32,
    lanes: u32,
) -> ResampleSums {
    macro_rules! in_tiles_of {
        ($tile:ident) => {
            in_tiles(
                sample,
                count,
                resample_untied::Scratch::new,
                |scratch, tile| $tile(sample, constants, first.wrapping_add(tile), scratch),
            )
        };
    }
    match lanes {
        64.. => in_tiles_of!(untied_64),
        32.. => in_tiles_of!(untied_32),
        _ => in_tiles_of!(untied_16),
    }
}

type TileOf<const LANES: usize> =
    fn(&Resamples<'_>, &[u32], u32, &mut Scratch<LANES>) -> TileSums<LANES>;

/// Resamples of any sample, in tiles of `LANES`.
fn tied<const LANES: usize>(
    sample: &Resamples<'_>,
    first: u32,
    count: u32,
    tile_of: TileOf<LANES>,
) -> ResampleSums {
    let widths = if sample.statistics.windows {
        windows(sample.groups.rows)
    } else {
        Vec::new()
    };
    in_tiles(sample, count, Scratch::new, |scratch, tile| {
        tile_of(sample, &widths, first.wrapping_add(tile), scratch)
    })
}

/// `count` resamples in tiles of `LANES`, side by side on all threads; `sums` gives those of a tile
/// that begins with a resample, counted from the first.
fn in_tiles<const LANES: usize, Kept>(
    sample: &Resamples<'_>,
    count: u32,
    kept: impl Fn() -> Kept + Sync + Send,
    sums: impl Fn(&mut Kept, u32) -> TileSums<LANES> + Sync + Send,
) -> ResampleSums {
    let starts = count.div_ceil(LANES as u32);
    // A task of some tenths of a millisecond.
    let shortest = (1 << 13) / sample.groups.rows.max(1) as usize + 1;
    let tiles: Vec<TileSums<LANES>> = (0..starts)
        .into_par_iter()
        .with_min_len(shortest)
        .map_init(kept, |kept, tile| sums(kept, tile * LANES as u32))
        .collect();
    let mut sums = ResampleSums::default();
    for resample in 0..count as usize {
        let (tile, lane) = (&tiles[resample / LANES], resample % LANES);
        if sample.statistics.rank_ece {
            sums.rank_ece.push(tile.rank_ece[lane]);
        }
        sums.windows
            .extend(tile.windows.iter().map(|sum| sum[lane]));
        if sample.statistics.walk {
            sums.walk.push([tile.lowest[lane], tile.highest[lane]]);
        }
    }
    sums
}

macro_rules! tiles {
    ($($name:ident, $body:ident, $lanes:literal;)*) => {$(
        fn $name(
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
            super::simd::dispatch!($body(
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

/// The sums of the resamples of a tile.
pub(super) struct TileSums<const LANES: usize> {
    pub rank_ece: [i128; LANES],
    /// One for each width.
    pub windows: Vec<[i128; LANES]>,
    pub lowest: [i64; LANES],
    pub highest: [i64; LANES],
}

impl<const LANES: usize> TileSums<LANES> {
    /// Of no rows, with sums for some widths.
    pub fn new(widths: usize) -> Self {
        TileSums {
            rank_ece: [0; LANES],
            windows: vec![[0; LANES]; widths],
            lowest: [0; LANES],
            highest: [0; LANES],
        }
    }
}

/// What a thread keeps from tile to tile.
struct Scratch<const LANES: usize> {
    /// The positives of each of some groups.
    positives: Vec<[u32; LANES]>,
    /// Their mean residuals, Q30.
    residual: Vec<[i32; LANES]>,
    /// What windows need of all groups.
    windows: GroupWindows<LANES>,
}

impl<const LANES: usize> Scratch<LANES> {
    fn new() -> Self {
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
            // The f64 nearest to 2³⁰k/m lies on the same side of every half as 2³⁰k/m itself, which
            // is at least 1/(2m) away if it is none, while three roundings move it by less than
            // 2⁻²¹: this is `fraction_q30`.
            let step = f64::from(1u32 << 30) / f64::from(size);
            for lane in 0..LANES {
                let fraction = f64::from(positives[lane] as i32) * step;
                // SAFETY: from 0 to 2³⁰ + 1, as there are at most `size` positives.
                let fraction = unsafe { (fraction + 0.5).to_int_unchecked::<i32>() };
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
    use crate::backend::resamples::sums_of_labels;
    use crate::random::{Key, ThreefryRng, threefry};
    use rand::Rng;

    /// The positives of each group in one resample, drawn as the specification says.
    fn positives(groups: &TiedGroups, key: Key, resample: u32) -> Vec<u32> {
        let mut row = 0;
        let count = |(&confidence, &size): (&u32, &u32)| {
            let rows = row..row + size;
            row += size;
            let label = |row| threefry(key.child(0, 2), [row, resample])[1] >> 2 < confidence;
            rows.filter(|&row| label(row)).count() as u32
        };
        groups
            .confidence
            .iter()
            .zip(&groups.size)
            .map(count)
            .collect()
    }

    #[test]
    fn tiles_agree_with_labels_drawn_one_by_one() {
        let statistics = Statistics {
            rank_ece: true,
            windows: true,
            walk: true,
        };
        let mut rng = ThreefryRng::new(Key([5, 6]));
        // Groups, the size of the largest, and which share of groups may be tied.
        for (count, largest, tied_share) in [
            (1, 1, 1),
            (2, 1, 1),
            (3, 3, 1),
            (40, 5, 1),
            (254, 1, 1),
            (300, 1, 1),
            (1500, 1, 1),
            (700, 2, 1),
            (5, 400, 1),
            (8, 2, 4),
            (40, 3, 6),
            (600, 2, 4),
            (900, 7, 8),
            (900, 40, 50),
            (5000, 900, 1000),
            (9000, 3000, 4000),
        ] {
            let mut groups = TiedGroups::default();
            let mut confidences: Vec<u32> = (0..count).map(|_| rng.next_u32() >> 2).collect();
            confidences.extend([0, 1 << 30]);
            confidences.sort_unstable();
            for confidence in confidences {
                let tied = rng.next_u32().is_multiple_of(tied_share);
                groups.push(
                    confidence,
                    if tied {
                        1 + rng.next_u32() % largest
                    } else {
                        1
                    },
                );
            }
            assert!(tied_share == 1 || !groups.untied());
            let sample = Resamples {
                groups: &groups,
                key: Key([count, largest]),
                statistics,
            };
            let mut expected = ResampleSums::default();
            for resample in 3..24 {
                let positives = positives(&groups, sample.key, resample);
                expected.extend(sums_of_labels(&groups, &positives, statistics));
            }
            let mut all = vec![
                sums(&sample, 3, 21, 1),
                tied(&sample, 3, 21, tile_64),
                tied(&sample, 3, 21, tile_32),
                tied(&sample, 3, 21, tile_16),
                tied(&sample, 3, 21, tile_4),
                tied(&sample, 3, 21, tile_1),
            ];
            if tied_share > 1 {
                let windows = Statistics {
                    windows: true,
                    ..Statistics::default()
                };
                let sample = Resamples {
                    statistics: windows,
                    ..sample
                };
                let constants = Constants::new(&sample, Ties::few(&groups));
                assert!(constants.ties.is_some());
                for lanes in [64, 32, 16] {
                    let found = untied(&sample, &constants, 3, 21, lanes);
                    assert_eq!(found.windows, expected.windows, "{count} groups, few tied");
                }
            }
            if groups.untied() {
                let constants = Constants::new(&sample, None);
                all.extend([64, 32, 16].map(|lanes| untied(&sample, &constants, 3, 21, lanes)));
            }
            for found in all {
                assert_eq!(found, expected, "{count} groups of at most {largest}");
            }
        }
    }

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
