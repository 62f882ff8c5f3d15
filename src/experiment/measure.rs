//! What is kept of replicates: sums of integers, which no order and no cutting into parts changes.

use rayon::prelude::*;

use super::kernel::KernelTests;
use crate::backend::Ties;
use crate::backend::replicates::ReplicateSums;
use crate::inference::tests_of_calibration::{LabelOutcome, Level, TestName, TestSums, decide};
use crate::statistic::ece_l2_of_bins;

/// What is measured of a replicate.
#[derive(Clone, Debug)]
pub enum Measure {
    /// For each test, and within it each level: rejections, and how often it is undefined.
    Power {
        /// The tests.
        tests: Vec<TestName>,
        /// The levels.
        levels: Vec<Level>,
    },
    /// For rank_ece and for `ece_l2` of each binning: Σ and Σ of squares of the estimates, each
    /// estimate rounded to Q40.
    Approx {
        /// The number of bins that rows can fall in, of each binning.
        bins: Vec<usize>,
    },
}

/// Sums of what was measured, in the order of [`Measure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally(pub Vec<i128>);

impl Tally {
    /// Adds another of the same measure.
    pub fn add(&mut self, other: &Tally) {
        for (sum, part) in self.0.iter_mut().zip(&other.0) {
            *sum += part;
        }
    }
}

impl Measure {
    /// The sums of no replicates.
    pub fn zero(&self) -> Tally {
        let sums = match self {
            Measure::Power { tests, levels } => tests.len() * levels.len(),
            Measure::Approx { bins } => 1 + bins.len(),
        };
        Tally(vec![0; 2 * sums])
    }

    /// The tests whose power is measured.
    pub fn tests(&self) -> &[TestName] {
        match self {
            Measure::Power { tests, .. } => tests,
            Measure::Approx { .. } => &[],
        }
    }

    /// The sums of some replicates of `rows` rows. `labels` are the outcomes of tests of labels, of
    /// each replicate; it may be empty if none is measured.
    pub fn tally(
        &self,
        rows: u32,
        replicates: &[ReplicateSums],
        labels: &[Vec<(TestName, LabelOutcome)>],
    ) -> Tally {
        let part = |(part, chunk): (usize, &[ReplicateSums])| {
            let mut tally = self.zero();
            for (offset, sums) in chunk.iter().enumerate() {
                let labels = labels
                    .get(part * COUNTED + offset)
                    .map_or(&[][..], Vec::as_slice);
                self.count(rows, sums, labels, &mut tally.0);
            }
            tally
        };
        replicates.par_chunks(COUNTED).enumerate().map(part).reduce(
            || self.zero(),
            |mut all, part| {
                all.add(&part);
                all
            },
        )
    }

    /// The rejections of tests with a kernel, of replicates that the other tests are counted for by
    /// [`Measure::tally`].
    pub fn tally_kernel(&self, replicates: &[KernelTests]) -> Tally {
        let mut tally = self.zero();
        let Measure::Power { tests, levels } = self else {
            return tally;
        };
        for (place, &test) in tests.iter().enumerate() {
            for (number, level) in levels.iter().enumerate() {
                let slot = 2 * (place * levels.len() + number);
                for replicate in replicates.iter().filter(|_| test.uses_kernel()) {
                    match replicate.of(test) {
                        Some(test) => tally.0[slot] += i128::from(test.rejects(level)),
                        None => tally.0[slot + 1] += 1,
                    }
                }
            }
        }
        tally
    }

    fn count(
        &self,
        rows: u32,
        sums: &ReplicateSums,
        labels: &[(TestName, LabelOutcome)],
        tally: &mut [i128],
    ) {
        match self {
            Measure::Power { tests, levels } => {
                let sums = TestSums::of_replicate(rows, sums);
                let pairs = tests
                    .iter()
                    .flat_map(|test| levels.iter().map(move |l| (test, l)));
                for ((&test, level), slot) in pairs.zip(tally.chunks_exact_mut(2)) {
                    if test.uses_kernel() {
                        continue;
                    }
                    let rejects = match labels.iter().find(|(of, _)| *of == test) {
                        Some((_, Ok(test))) => Ok(test.p_value <= level.alpha()),
                        Some((_, Err(why))) => Err(*why),
                        None => decide(test, &sums, Ties::Average, level).map(|d| d.rejects()),
                    };
                    match rejects {
                        Ok(rejects) => slot[0] += i128::from(rejects),
                        Err(_) => slot[1] += 1,
                    }
                }
            }
            Measure::Approx { bins } => {
                let n = f64::from(rows);
                let mut add = |place: usize, estimate: f64| {
                    let value = q40(estimate);
                    tally[2 * place] += value;
                    tally[2 * place + 1] += value * value;
                };
                add(0, sums.rank_ece as f64 / (1u64 << 60) as f64 / n);
                let mut rest = sums.bins.as_slice();
                for (place, &count) in bins.iter().enumerate() {
                    let (own, after) = rest.split_at(count.min(rest.len()));
                    let own = own.iter().map(|bin| (bin.rows.into(), bin.residual.into()));
                    add(place + 1, ece_l2_of_bins(own) / n);
                    rest = after;
                }
            }
        }
    }
}

/// Replicates that a thread counts at a time: some tens of microseconds, so that a unit of some thousands
/// keeps many threads busy.
const COUNTED: usize = 1 << 9;

/// An estimate, at most 1 in magnitude, in Q40.
fn q40(estimate: f64) -> i128 {
    (estimate * ONE_Q40).round() as i128
}

/// 1 in Q40.
const ONE_Q40: f64 = (1u64 << 40) as f64;

/// Mean and standard deviation from Σ x and Σ x² of `count` numbers in Q40; no standard deviation of
/// fewer than two. The divisor is `count` - 1.
pub fn mean_and_sd(sum: i128, squares: i128, count: u64) -> Option<(f64, Option<f64>)> {
    if count == 0 {
        return None;
    }
    let number = i128::from(count);
    let mean = sum as f64 / count as f64 / ONE_Q40;
    // Σ (x-c)² with c the mean rounded to a whole number: exact in integers, where Σ x² less the
    // square of the mean would cancel.
    let centre = sum.div_euclid(number);
    let rest = sum - centre * number;
    let about_centre = squares - 2 * centre * sum + centre * centre * number;
    let variance =
        (about_centre as f64 - rest as f64 * rest as f64 / count as f64) / (count as f64 - 1.0);
    let sd = (count > 1).then(|| variance.max(0.0).sqrt() / ONE_Q40);
    Some((mean, sd))
}
