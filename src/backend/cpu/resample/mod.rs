//! Null resamples of a sample, several side by side, one in each lane of a vector. Twin of
//! `shaders/resample.wgsl`.
//!
//! All resamples of a tile go through the sorted rows together, so that a row's confidence is read
//! once for all of them, and the products of neighbouring rows need no shifts between lanes.
//!
//! Samples without ties have the fastest way (`untied.rs`), for windows those with few ties too
//! (`few_ties`); all others go from tied group to tied group (`tied.rs`, `group_windows.rs`).

mod few_ties;
mod group_windows;
mod tied;
mod tile;
mod untied;

use few_ties::Ties;
use rayon::prelude::*;
use tied::{Scratch, tile_1, tile_4, tile_16, tile_32, tile_64};
use tile::{MOST_ROWS, TileSums};
use untied::{Constants, untied_16, untied_32, untied_64};

use super::Cpu;
use crate::backend::DeviceError;
use crate::backend::resamples::{ResampleSums, Resampler, Resamples, Statistics, windows};

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
    if groups.untied() && groups.rows < MOST_ROWS {
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
            in_tiles(sample, count, untied::Scratch::new, |scratch, tile| {
                $tile(sample, constants, first.wrapping_add(tile), scratch)
            })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::resamples::{TiedGroups, sums_of_labels};
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
                let constants = Constants::new(&sample, Ties::of(&groups));
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
}
