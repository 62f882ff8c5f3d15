//! A specification with everything that it needs to run.

use std::collections::BTreeMap;
use std::ops::Range;

use super::job::{Job, KernelJob};
use super::measure::{Measure, Tally};
use super::point::{Point, Units};
use super::runner::{Halt, Runner, Work};
use super::sampler::{Sampler, SourceError};
use super::shard::Shard;
use super::spec::{Command, Spec, SpecError};
use crate::inference::tests_of_calibration::{Level, TestName};
use crate::random::Stream;
use crate::statistic::TooManyBins;

/// Why a specification cannot run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// It does not make sense.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A model or file cannot be used.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A rule gave too many bins.
    #[error(transparent)]
    Bins(#[from] TooManyBins),
}

/// Units that a set of parts lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// How many.
    pub count: u64,
    /// The first one, numbered over the whole grid from 0.
    pub first: u64,
}

/// The fewest replicates that [`Spec::most_rows`] leaves.
const FEWEST_REPLICATES: u64 = 100;

/// A grid with its models and files.
#[derive(Debug)]
pub struct Plan {
    spec: Spec,
    samplers: Vec<Sampler>,
    sources: Vec<String>,
    points: Vec<Planned>,
}

/// A point of the grid.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) point: Point,
    /// The place of its sampler.
    pub(super) sampler: usize,
    /// The number of bins of each rule.
    pub(super) bins: Vec<u32>,
    pub(super) units: Units,
    /// The number of its first unit over the whole grid.
    first_unit: u64,
}

impl Plan {
    /// Computes the tables of all models and reads all files.
    ///
    /// # Errors
    /// If a model or file cannot be used, or a rule asks for too many bins.
    pub fn new(spec: Spec) -> Result<Self, PlanError> {
        let mut plan = Plan {
            samplers: Vec::new(),
            sources: Vec::new(),
            points: Vec::new(),
            spec,
        };
        // A search for n has one source and no points yet.
        let mut grid = plan.spec.clone();
        if grid.solve_n.is_some() {
            grid.n = vec![super::spec::FEWEST_ROWS];
        }
        let mut first_unit = 0;
        for point in grid.points()? {
            let source = point.source.to_string();
            if plan.sources.last() != Some(&source) {
                plan.samplers
                    .push(Sampler::new(&point.source, plan.spec.seed)?);
                plan.sources.push(source);
            }
            let mut planned = plan.planned(point, plan.samplers.len() - 1)?;
            planned.first_unit = first_unit;
            first_unit += planned.units.count();
            plan.points.push(planned);
        }
        Ok(plan)
    }

    /// What was asked for.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Models and files, each once.
    pub fn samplers(&self) -> &[Sampler] {
        &self.samplers
    }

    /// Checksums of tables and files.
    pub fn checksums(&self) -> BTreeMap<String, String> {
        std::iter::zip(&self.sources, &self.samplers)
            .map(|(source, sampler)| (source.clone(), format!("{:08x}", sampler.checksum())))
            .collect()
    }

    /// The rows that a part of the plan, or all of it, simulates.
    pub fn rows(&self, shard: Option<Shard>) -> u64 {
        let points = self.points.iter().flat_map(|planned| {
            let units = 0..planned.units.count();
            let own = units.filter(move |unit| takes(shard, planned.first_unit + unit));
            own.map(|unit| {
                let replicates = planned.units.replicates(unit);
                (replicates.end - replicates.start).saturating_mul(planned.point.rows.into())
            })
        });
        points.fold(0, u64::saturating_add)
    }

    /// Works through the grid, or through a part of it. Gives the sums of each point.
    ///
    /// # Errors
    /// If it is stopped, or the device or the journal fails.
    pub fn run(&self, runner: &mut Runner, shard: Option<Shard>) -> Result<Vec<Tally>, Halt> {
        let tallies = self.points.iter().enumerate().map(|(number, planned)| {
            let takes = |unit| takes(shard, planned.first_unit + unit);
            self.run_point(runner, number as u64, planned, takes)
        });
        tallies.collect()
    }

    /// Works through the units of one point, known to the journal by `number`, that `takes` takes.
    pub(super) fn run_point(
        &self,
        runner: &mut Runner,
        number: u64,
        planned: &Planned,
        takes: impl Fn(u64) -> bool,
    ) -> Result<Tally, Halt> {
        let own = (0..planned.units.count()).filter(|&unit| takes(unit));
        self.run_units(runner, number, planned, own)
    }

    /// Works through some units, in ascending order, of one point.
    pub(super) fn run_units(
        &self,
        runner: &mut Runner,
        number: u64,
        planned: &Planned,
        units: impl Iterator<Item = u64>,
    ) -> Result<Tally, Halt> {
        let sampler = &self.samplers[planned.sampler];
        let units: Vec<(u64, Range<u64>)> = units
            .map(|unit| (unit, planned.units.replicates(unit)))
            .collect();
        // Where bins begin is looked up only if something is left to simulate.
        let thresholds: Vec<Vec<u32>> = if runner.has_all(number, &units) {
            Vec::new()
        } else {
            let bins = planned.bins.iter();
            bins.map(|&bins| sampler.thresholds(bins)).collect()
        };
        let work = Work {
            sampler,
            job: &Job {
                rows: planned.point.rows,
                key: planned.point.key(self.spec.seed),
                null_key: planned.point.stream_key(self.spec.seed, Stream::Null),
                resamples: self.label_resamples(),
                thresholds: &thresholds,
                kernel: self.kernel_job(&planned.point),
            },
            measure: &self.measure(&thresholds),
        };
        let mut tally = Tally(vec![0; 2 * self.slots()]);
        runner.units(number, &units, &work, &mut tally)?;
        Ok(tally)
    }

    /// The sums of each point, from finished units.
    ///
    /// # Errors
    /// If some are missing.
    pub fn complete(&self, units: &BTreeMap<(u64, u64), Tally>) -> Result<Vec<Tally>, Missing> {
        let mut missing = Missing { count: 0, first: 0 };
        let mut tallies = Vec::with_capacity(self.points.len());
        for (number, planned) in self.points.iter().enumerate() {
            let mut tally = Tally(vec![0; 2 * self.slots()]);
            for unit in 0..planned.units.count() {
                match units.get(&(number as u64, unit)) {
                    Some(part) if part.0.len() == tally.0.len() => tally.add(part),
                    _ => {
                        if missing.count == 0 {
                            missing.first = planned.first_unit + unit;
                        }
                        missing.count += 1;
                    }
                }
            }
            tallies.push(tally);
        }
        if missing.count > 0 {
            return Err(missing);
        }
        Ok(tallies)
    }

    /// Whether a part of the plan is finished.
    pub fn has_part(&self, units: &BTreeMap<(u64, u64), Tally>, shard: Option<Shard>) -> bool {
        self.points.iter().enumerate().all(|(number, planned)| {
            (0..planned.units.count())
                .filter(|unit| takes(shard, planned.first_unit + unit))
                .all(|unit| units.contains_key(&(number as u64, unit)))
        })
    }

    /// A point with its units.
    pub(super) fn planned(&self, point: Point, sampler: usize) -> Result<Planned, PlanError> {
        if let (Sampler::Population(population), super::Source::Population { file, .. }) =
            (&self.samplers[sampler], &point.source)
        {
            let size = population.rows.confidence.len();
            if point.rows as usize > size {
                return Err(PlanError::Source(SourceError::TooFewRows {
                    file: file.clone(),
                    size,
                    rows: point.rows,
                }));
            }
        }
        let rules = self.spec.bins.iter();
        let bins: Vec<u32> = rules
            .map(|rule| rule.bins(point.rows.into()))
            .collect::<Result<_, _>>()?;
        let all = bins.iter().map(|&bins| bins as usize).sum();
        Ok(Planned {
            units: point.units(
                self.replicates_at(point.rows),
                all,
                self.label_resamples(),
                self.pairs(point.rows),
            ),
            point,
            sampler,
            bins,
            first_unit: 0,
        })
    }

    /// How many replicates a point of `rows` rows has.
    fn replicates_at(&self, rows: u32) -> u64 {
        let most = self.spec.most_rows.map_or(u64::MAX, |most_rows| {
            (most_rows / u64::from(rows.max(1))).max(FEWEST_REPLICATES)
        });
        self.spec.replicates.min(most)
    }

    pub(super) fn points(&self) -> &[Planned] {
        &self.points
    }

    /// The number of tests at their levels, or of estimators.
    fn slots(&self) -> usize {
        match self.spec.command {
            Command::Power => self.spec.tests.len() * self.spec.alpha.len(),
            Command::Approx => 1 + self.spec.bins.len(),
        }
    }

    /// What tests with a kernel need at a point.
    fn kernel_job(&self, point: &Point) -> Option<KernelJob> {
        let tests = &self.spec.tests;
        let options = self.spec.skce_options();
        tests
            .iter()
            .any(|test| test.uses_kernel())
            .then(|| KernelJob {
                options,
                unbiased: tests.contains(&TestName::SkceU),
                linear: tests.contains(&TestName::SkceL),
                key: point.stream_key(self.spec.seed, options.stream()),
            })
    }

    /// Null resamples of labels in a replicate.
    fn label_resamples(&self) -> u32 {
        let any = self.spec.tests.iter().any(|test| test.resamples_labels());
        self.spec.resamples.filter(|_| any).unwrap_or(0)
    }

    /// The pairs of rows of a replicate whose kernels are computed.
    fn pairs(&self, rows: u32) -> u64 {
        let rows = u64::from(rows);
        if self.spec.tests.contains(&TestName::SkceU) {
            rows * rows / 2
        } else {
            0
        }
    }

    fn measure(&self, thresholds: &[Vec<u32>]) -> Measure {
        match self.spec.command {
            Command::Power => Measure::Power {
                tests: self.spec.tests.clone(),
                // Levels of a finished specification are levels.
                levels: self
                    .spec
                    .alpha
                    .iter()
                    .filter_map(|&alpha| Level::new(alpha))
                    .collect(),
            },
            Command::Approx => Measure::Approx {
                bins: thresholds.iter().map(|edges| edges.len() + 1).collect(),
            },
        }
    }
}

fn takes(shard: Option<Shard>, unit: u64) -> bool {
    shard.is_none_or(|shard| shard.takes(unit))
}
