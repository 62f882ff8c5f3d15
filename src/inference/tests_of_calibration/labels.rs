//! Tests that take a sample's labels apart by tied groups: those decided by null resampling, and
//! Spiegelhalter's.

use super::adaptive::Adaptive;
use super::spiegelhalter::spiegelhalter;
use super::walk::{ks_tail, kuiper_tail};
use super::{TestName, Undefined};
use crate::backend::resamples::{
    ResampleSums, Statistics, TiedGroups, residual_size, sums_of_labels, windows,
};
use crate::inference::{Q60, n_rank_ece, normal};
use crate::results::WindowSum;

/// What such a test says of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelTest {
    /// The statistic.
    pub statistic: f64,
    /// The p-value; the test rejects at every level from it on.
    pub p_value: f64,
    /// The p-value of the limit law, beside that of resampling.
    pub p_value_asymptotic: Option<f64>,
    /// The number of null resamples; none if there is no need of them.
    pub resamples: Option<u32>,
    /// The standardised window sums of `adaptive`.
    pub profile: Option<Vec<WindowSum>>,
}

/// What such a test says, or why it is undefined.
pub type LabelOutcome = Result<LabelTest, Undefined>;

/// The tests of one sample, to which null resamples are added one after the other. Nothing is kept of
/// a resample but whether it reaches the sample's statistics, and its window sums for `adaptive`.
#[derive(Clone, Debug)]
pub struct LabelTests<'a> {
    names: Vec<TestName>,
    groups: &'a TiedGroups,
    positives: &'a [u32],
    observed: Observed,
    resamples: u32,
    monte_carlo: u32,
    ks: u32,
    kuiper: u32,
    adaptive: Option<Adaptive>,
}

/// The statistics of the sample, as integers.
#[derive(Clone, Debug, Default)]
struct Observed {
    /// n·rankECE, Q60.
    rank_ece: i128,
    /// What n·rankECE of a resample must reach, Q60.
    reach: i128,
    /// Extremes of the walk, Q30.
    walk: [i64; 2],
}

impl<'a> LabelTests<'a> {
    /// The tests among `names` that are of this kind, of a sample of which `positives` rows of each
    /// tied group are positive.
    ///
    /// # Panics
    /// If there are not as many numbers of positives as groups.
    pub fn new(names: &[TestName], groups: &'a TiedGroups, positives: &'a [u32]) -> Self {
        let names: Vec<TestName> = names
            .iter()
            .copied()
            .filter(|name| name.is_of_labels())
            .collect();
        let statistics = statistics(&names, groups.rows);
        let sums = sums_of_labels(groups, positives, statistics);
        let rank_ece = sums.rank_ece.first().copied().unwrap_or_default();
        // Statistics that are equal in real arithmetic may differ by what mean residuals are
        // rounded: 2⁻²⁸ Σ|W|, in Q60.
        let rounding = 4 * i128::from(residual_size(groups, positives));
        LabelTests {
            observed: Observed {
                rank_ece,
                reach: rank_ece - rounding,
                walk: sums.walk.first().copied().unwrap_or_default(),
            },
            adaptive: statistics
                .windows
                .then(|| Adaptive::new(windows(groups.rows), &sums.windows)),
            names,
            groups,
            positives,
            resamples: 0,
            monte_carlo: 0,
            ks: 0,
            kuiper: 0,
        }
    }

    /// The sums that are needed of resamples; none if no test needs any.
    pub fn statistics(&self) -> Statistics {
        statistics(&self.names, self.groups.rows)
    }

    /// Adds `count` null resamples.
    pub fn add(&mut self, count: u32, sums: &ResampleSums) {
        self.resamples += count;
        let reached = |&&sum: &&i128| sum >= self.observed.reach;
        self.monte_carlo += sums.rank_ece.iter().filter(reached).count() as u32;
        // Sums of residuals are exact but for the rounding of each confidence to a unit.
        let slack = i64::from(self.groups.rows);
        let (largest, range) = (largest(self.observed.walk), range(self.observed.walk));
        let walks = || sums.walk.iter().copied();
        self.ks += walks()
            .filter(|&w| self::largest(w) >= largest - slack)
            .count() as u32;
        self.kuiper += walks().filter(|&w| self::range(w) >= range - slack).count() as u32;
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.add(&sums.windows);
        }
    }

    /// What the tests say, in the order of their names.
    pub fn finish(mut self) -> Vec<(TestName, LabelOutcome)> {
        let names = std::mem::take(&mut self.names);
        names
            .into_iter()
            .map(|name| (name, self.outcome(name)))
            .collect()
    }

    fn outcome(&mut self, name: TestName) -> LabelOutcome {
        if self.groups.rows < 2 {
            return Err(Undefined::Rows(self.groups.rows.into()));
        }
        if matches!(name, TestName::MonteCarlo | TestName::Adaptive)
            && self.groups.varying_rows() < 2
        {
            return Err(Undefined::NoPairVaries);
        }
        match name {
            TestName::MonteCarlo => {
                Ok(self.resampled(n_rank_ece(self.observed.rank_ece), self.monte_carlo))
            }
            TestName::Adaptive => {
                // Present, as the test was asked for and there are two rows or more.
                let adaptive = self.adaptive.take().ok_or(Undefined::NoWindowVaries)?;
                let result = adaptive.finish()?;
                Ok(LabelTest {
                    profile: Some(result.profile),
                    ..self.resampled(result.largest, result.at_least)
                })
            }
            TestName::Ks => self.walked(largest(self.observed.walk), self.ks, ks_tail),
            TestName::Kuiper => self.walked(range(self.observed.walk), self.kuiper, kuiper_tail),
            _ => {
                let statistic = spiegelhalter(self.groups, self.positives)?;
                Ok(LabelTest {
                    statistic,
                    p_value: 2.0 * normal::upper_tail(statistic.abs()),
                    p_value_asymptotic: None,
                    resamples: None,
                    profile: None,
                })
            }
        }
    }

    /// A test of which `at_least` resamples reach the statistic.
    fn resampled(&self, statistic: f64, at_least: u32) -> LabelTest {
        LabelTest {
            statistic,
            p_value: (1.0 + f64::from(at_least)) / (1.0 + f64::from(self.resamples)),
            p_value_asymptotic: None,
            resamples: Some(self.resamples),
            profile: None,
        }
    }

    /// The same of an extent of the walk, Q30, over σ = √(Σ z(1-z)).
    fn walked(&self, extent: i64, at_least: u32, tail: fn(f64) -> f64) -> LabelOutcome {
        let sized = self.groups.confidence.iter().zip(&self.groups.size);
        let variance: u128 = sized
            .map(|(&confidence, &size)| {
                let confidence = u64::from(confidence);
                u128::from(confidence * ((1 << 30) - confidence)) * u128::from(size)
            })
            .sum();
        if variance == 0 {
            return Err(Undefined::NoWalkVariance);
        }
        let sd = (variance as f64 * Q60).sqrt();
        let statistic = extent as f64 / (1u64 << 30) as f64 / sd;
        Ok(LabelTest {
            p_value_asymptotic: Some(tail(statistic)),
            ..self.resampled(statistic, at_least)
        })
    }
}

/// What tests of this many rows need of resamples.
fn statistics(names: &[TestName], rows: u32) -> Statistics {
    let has = |name| rows >= 2 && names.contains(&name);
    Statistics {
        rank_ece: has(TestName::MonteCarlo),
        windows: has(TestName::Adaptive),
        walk: has(TestName::Ks) || has(TestName::Kuiper),
    }
}

/// max |C|.
fn largest([lowest, highest]: [i64; 2]) -> i64 {
    highest.max(-lowest)
}

/// max C - min C.
fn range([lowest, highest]: [i64; 2]) -> i64 {
    highest - lowest
}
