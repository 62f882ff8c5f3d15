//! Samples through resampling of their rows: from rows to what the resampled intervals are made of.

use std::ops::Range;

use rayon::prelude::*;

use crate::backend::bootstrap::{Bootstrap, CellSums, SortedRows};
use crate::backend::cpu::skce::bootstrap_sums;
use crate::backend::kernels::{self, Method, SkceBootstrap};
use crate::backend::resamples::sample_key;
use crate::backend::subsamples::{PopulationRows, Subsamples};
use crate::backend::{Backend, BinSums, DeviceError, SegmentSums};
use crate::inference::intervals::{
    SubsampleEstimates, no_rows, percentile, subsample_rows, undefined,
};
use crate::predictions::Rows;
use crate::random::{Key, Stream};
use crate::resampling::default_resamples;
use crate::results::EstimatorInterval;
use crate::statistic::BinnedEstimates;
use crate::statistic::skce::{Skce, resampled_unbiased};
use crate::with_words;

/// The default number of subsamples. They have few rows, so that large samples need no fewer.
pub const DEFAULT_SUBSAMPLES: u32 = 999;

/// Subsamples of one call to a backend, and cells of one call: each some tens of MB.
const MOST_SUBSAMPLES: u32 = 1 << 17;
const MOST_CELLS: usize = 1 << 20;

/// rankECE of `count` subsamples of some rows of a batch; none of fewer than 4 rows.
///
/// # Errors
/// If the device fails.
pub fn subsample_estimates(
    rows: &Rows,
    range: Range<usize>,
    seed: u64,
    count: u32,
    backend: &dyn Backend,
) -> Result<Option<SubsampleEstimates>, DeviceError> {
    // A segment has fewer than 2³² rows.
    let size = range.len() as u32;
    if size < 4 {
        return Ok(None);
    }
    let population = PopulationRows::new(rows, range);
    let subsamples = Subsamples {
        population: &population,
        rows: subsample_rows(size),
        key: sample_key(Key::for_stream(seed, Stream::Subsample, 0), 0),
        thresholds: &[],
    };
    let mut n_rank_ece = Vec::new();
    let mut first = 0;
    while first < count {
        let now = (count - first).min(MOST_SUBSAMPLES);
        let sums = backend.subsamples(&subsamples, u64::from(first), now as usize)?;
        n_rank_ece.extend(sums.iter().map(|sums| sums.rank_ece));
        first += now;
    }
    Ok(Some(SubsampleEstimates {
        rows: subsamples.rows,
        n_rank_ece,
    }))
}

/// The bootstrap intervals of the estimates of each binning, from `count` resamples of some rows of a
/// batch whose sums are `sums`. Undefined without rows.
///
/// # Errors
/// If the device fails.
pub fn bootstrap_intervals(
    rows: &Rows,
    range: Range<usize>,
    sums: &SegmentSums,
    level: &Resampled,
    backend: &dyn Backend,
) -> Result<Vec<Vec<EstimatorInterval>>, DeviceError> {
    if sums.binned.is_empty() {
        return Ok(Vec::new());
    }
    let mut estimates: Vec<Vec<[f64; 5]>> = vec![Vec::new(); sums.binned.len()];
    if range.is_empty() {
        return Ok(vec![intervals(&[], level.alpha); sums.binned.len()]);
    }
    let rows = SortedRows::new(rows, range);
    let cells = Cells::new(sums);
    let bootstrap = Bootstrap {
        rows: &rows,
        ends: &cells.ends,
        key: sample_key(Key::for_stream(level.seed, Stream::Bootstrap, 0), 0),
    };
    let step = (MOST_CELLS / cells.ends.len().max(1)).clamp(1, MOST_SUBSAMPLES as usize) as u32;
    let mut first = 0;
    while first < level.resamples {
        let now = (level.resamples - first).min(step);
        let drawn = backend.bootstrap(&bootstrap, first, now)?;
        let reduced: Vec<Vec<[f64; 5]>> = drawn
            .par_chunks(cells.ends.len())
            .map(|resample| cells.estimates(resample))
            .collect();
        for resample in reduced {
            for (binning, values) in estimates.iter_mut().zip(resample) {
                binning.push(values);
            }
        }
        first += now;
    }
    Ok(estimates
        .iter()
        .map(|binning| intervals(binning, level.alpha))
        .collect())
}

/// The bootstrap interval of unbiased SKCE of some rows of a batch, from resamples that keep the
/// bandwidth of the sample. Undefined without an estimate, or if a resample drew a single row.
///
/// Of `skce_b` there is none: under calibration the percentiles of its resamples are all above 0, the
/// truth, and hold it in 0 % of samples.
pub fn skce_interval(
    rows: &Rows,
    range: Range<usize>,
    skce: &Skce,
    method: Method,
    level: &Resampled,
) -> EstimatorInterval {
    let named = |interval| EstimatorInterval {
        estimator: UNBIASED,
        interval,
    };
    let scaled = match (skce.bandwidth, skce.scaled()) {
        (Err(why), _) => return named(undefined(why.to_string(), level.alpha)),
        (Ok(_), Some(scaled)) if range.len() > 1 => scaled,
        _ => {
            let why = format!("needs at least 2 rows, but there are {}", range.len());
            return named(undefined(why.replace("are 1", "is 1"), level.alpha));
        }
    };
    let size = range.len() as u64;
    let sorted = with_words!(rows, words => {
        kernels::SortedRows::of_words(rows.dtype(), &words[range])
    });
    let sums = bootstrap_sums(&SkceBootstrap {
        rows: &sorted,
        scaled,
        method,
        count: level.resamples,
        key: sample_key(Key::for_stream(level.seed, Stream::Bootstrap, 0), 0),
    });
    let estimates: Option<Vec<f64>> = sums
        .iter()
        .map(|sums| resampled_unbiased(size, sums))
        .collect();
    named(match estimates {
        // The rounding of confidences is that of h as well, which is far below its sums' own.
        Some(estimates) => percentile(estimates, 0.0, level.alpha),
        None => undefined(
            format!(
                "a resample drew one of the {size} rows alone, which has no pairs: too few rows"
            ),
            level.alpha,
        ),
    })
}

/// The default number of bootstrap resamples of SKCE: that of [`default_resamples`]; over all pairs of
/// rows fewer beyond 14,000 rows, for the work of 10¹¹ pairs, and at least 99.
pub fn default_skce_resamples(n: u64, all_pairs: bool) -> u32 {
    let pairs = n.saturating_mul(n).max(2) / 2;
    let affordable = (100_000_000_000 / pairs).clamp(99, 999) as u32;
    default_resamples(n).min(if all_pairs { affordable } else { u32::MAX })
}

/// The estimate that has the interval, by its key in JSON.
const UNBIASED: &str = "unbiased";

/// How resampled intervals are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resampled {
    /// The seed of everything random.
    pub seed: u64,
    /// The number of resamples.
    pub resamples: u32,
    /// Intervals have level 1 - alpha.
    pub alpha: f64,
}

fn intervals(resamples: &[[f64; 5]], alpha: f64) -> Vec<EstimatorInterval> {
    let ece_l1 = resamples.iter().map(|values| values[0]).fold(0.0, f64::max);
    let rounding = BinnedEstimates::rounding_apart(ece_l1);
    let estimators = BinnedEstimates::NAMES.iter().enumerate();
    estimators
        .map(|(index, estimator)| EstimatorInterval {
            estimator,
            interval: match resamples {
                [] => no_rows(alpha),
                _ => percentile(
                    resamples.iter().map(|values| values[index]).collect(),
                    rounding[index],
                    alpha,
                ),
            },
        })
        .collect()
}

/// The parts into which the edges of all binnings cut the sorted rows.
struct Cells {
    /// The rank at which each ends; the last is the number of rows.
    ends: Vec<u32>,
    /// For each binning the number of cells up to the end of each bin that has rows.
    bins: Vec<Vec<usize>>,
}

impl Cells {
    fn new(sums: &SegmentSums) -> Self {
        let ends_of = |bins: &Vec<BinSums>| -> Vec<u32> {
            let filled = bins.iter().filter(|bin| bin.rows > 0);
            let end = |end: &mut u64, bin: &BinSums| {
                *end += bin.rows;
                // A segment has fewer than 2³² rows.
                Some(*end as u32)
            };
            filled.scan(0, end).collect()
        };
        let of_binnings: Vec<Vec<u32>> = sums.binned.iter().map(ends_of).collect();
        let mut ends = of_binnings.concat();
        ends.sort_unstable();
        ends.dedup();
        let cells = |end: &u32| ends.partition_point(|cell| cell <= end);
        let bins = of_binnings
            .iter()
            .map(|binning| binning.iter().map(cells).collect())
            .collect();
        Cells { ends, bins }
    }

    /// The estimates of each binning in one resample.
    fn estimates(&self, resample: &[CellSums]) -> Vec<[f64; 5]> {
        let of_binning = |ends: &Vec<usize>| {
            let mut start = 0;
            let bin = |&end: &usize| {
                let cells = &resample[start..end];
                start = end;
                CellSums::bin(cells)
            };
            let bins: Vec<_> = ends.iter().map(bin).collect();
            // A resample has as many rows as the sample, which is at least one.
            BinnedEstimates::of(&bins).map(|estimates| estimates.values())
        };
        self.bins.iter().filter_map(of_binning).collect()
    }
}
