//! The smallest n at which a test has a power.

use std::collections::BTreeMap;

use super::forecast::Forecast;
use super::journal::ComputedBy;
use super::measure::Tally;
use super::plan::{Plan, PlanError};
use super::point::Point;
use super::results::{PowerCurve, PowerReport, Solved, TestPower};
use super::runner::{Halt, Runner};
use super::sampler::Sampler;
use super::spec::{FEWEST_ROWS, SpecError};
use super::wilson;
use crate::inference::tests_of_calibration::Level;

/// The largest n that is tried.
pub const LARGEST: u32 = 10_000_000;
/// Where the search begins if nothing is known.
const UNKNOWN: u32 = 50;
/// The replicates after which an n that is far from the power is given up; then twice as many, and so
/// on.
const FIRST_LOOK: u64 = 25;
/// Beyond so many standard errors a rate is far from the power: by chance in 1 of 16,000 looks.
const FAR: f64 = 4.0;
/// The curve of a table differs from the confidence by rounding to 2⁻³⁰ if it is calibrated.
const CALIBRATED: f64 = 1e-15;

/// Refuses a model of which no n gives a power.
///
/// # Errors
/// If the curve is calibrated.
pub fn check_solvable(plan: &Plan) -> Result<(), SpecError> {
    let spec = plan.spec();
    if let (Some(target), Some(Sampler::Model(model))) = (spec.solve_n, plan.samplers().first())
        && model.l2_ece() < CALIBRATED
        && let (Some(test), Some(alpha)) = (spec.tests.first(), spec.alpha.first())
    {
        return Err(SpecError::new(format!(
            "--solve-n {target}: the curve `{}` is calibrated (l2_ece 0), so that at every n {test} \
             rejects with probability alpha = {alpha}, or less, and no n gives it a power; name a \
             curve other than z",
            model.curve
        )));
    }
    Ok(())
}

/// Looks for the smallest n at which the plan's test has the power that its specification names.
///
/// The search begins where the normal approximation of the test sees that n, moves away from there in
/// growing steps until the power lies between two n, and halves what is between them. Replicates of
/// an n are given up as soon as its rate is so far from the power that all of them would not
/// change the answer. n is found to the last digit below 10,000, and to three above: beyond them
/// lies the error of any affordable number of replicates. All n that were tried are in the report.
///
/// # Errors
/// If it is stopped, or the device or the journal fails.
pub fn solve(plan: &Plan, target: f64, runner: &mut Runner) -> Result<PowerReport, Halt> {
    let mut search = Search {
        plan,
        target,
        runner,
        tried: BTreeMap::new(),
    };
    let start = search.forecast().unwrap_or(UNKNOWN);
    let n = search.smallest(start, |test| test.rate >= target)?;
    let near = n.unwrap_or(LARGEST);
    let n_lower = search.smallest(near, |test| test.upper >= target)?;
    let n_upper = match n {
        // Even if all replicates reject, the power may be less than the target.
        Some(_) if !search.can_be_surpassed() => None,
        Some(n) => search.smallest(n, |test| test.lower >= target)?,
        None => None,
    };
    let tried = search.tried;
    let found = tried
        .get(&near)
        .map(|curve| (curve.replicates, &curve.tests));
    let test = found.and_then(|(replicates, tests)| Some((replicates, tests.first()?)));
    let mut report = plan.power_report(&[], &[]);
    report.solve = test.map(|(replicates, test)| Solved {
        target,
        test: test.name,
        alpha: test.alpha,
        n,
        replicates,
        rate: test.rate,
        lower: test.lower,
        upper: test.upper,
        n_lower,
        n_upper,
        resolution: n.map_or(1, resolution),
        undefined: n.is_none().then(|| {
            format!(
                "not reached up to n = {LARGEST}, the largest that is tried; there the power is {} \
                 (between {:.3} and {:.3}, of {replicates} replicates)",
                test.rate, test.lower, test.upper
            )
        }),
    });
    report.curves = tried.into_values().collect();
    Ok(report)
}

/// Names what computed a report that [`solve`] made.
pub fn name_computed(plan: &Plan, report: &mut PowerReport, by: &[ComputedBy]) {
    report.computed = plan.power_report(&[], by).computed;
}

struct Search<'a, 'b, 'c> {
    plan: &'a Plan,
    target: f64,
    runner: &'b mut Runner<'c>,
    tried: BTreeMap<u32, PowerCurve>,
}

impl Search<'_, '_, '_> {
    /// Whether there are enough replicates for a whole interval to lie above the target.
    fn can_be_surpassed(&self) -> bool {
        let all = self.plan.spec().replicates;
        wilson::interval(all, all).is_some_and(|(lower, _)| lower >= self.target)
    }

    /// Where the power is about the target, at most [`LARGEST`].
    fn forecast(&self) -> Option<u32> {
        let spec = self.plan.spec();
        let Sampler::Model(model) = self.plan.samplers().first()? else {
            return None;
        };
        let level = Level::new(*spec.alpha.first()?)?;
        let test = *spec.tests.first()?;
        let forecast = Forecast::new(model);
        let reaches = |n| Some(forecast.power(test, &level, n)? >= self.target);
        let (mut low, mut high) = (FEWEST_ROWS - 1, LARGEST);
        if !reaches(high)? {
            return Some(LARGEST);
        }
        // The approximation is good for an n to some percent.
        while high - low > (high / 100).max(1) {
            let middle = f64::from(low).max(1.0) * f64::from(high);
            let middle = (middle.sqrt() as u32).clamp(low + 1, high - 1);
            if reaches(middle)? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Some(high)
    }

    /// The smallest n, to its resolution, at which the test does; none up to [`LARGEST`]. The search
    /// begins at `start`.
    fn smallest(
        &mut self,
        start: u32,
        does: impl Fn(&TestPower) -> bool,
    ) -> Result<Option<u32>, Halt> {
        let start = whole(start);
        let mut step = resolution(start).max(start / 20);
        let (mut low, mut high);
        if does(&self.at(start)?) {
            (low, high) = (start, start);
            loop {
                low = whole(low.saturating_sub(step).max(FEWEST_ROWS - 1));
                if low < FEWEST_ROWS || !does(&self.at(low)?) {
                    break;
                }
                high = low;
                step = step.saturating_mul(2);
            }
        } else {
            (low, high) = (start, start);
            loop {
                if high == LARGEST {
                    return Ok(None);
                }
                high = whole(high.saturating_add(step).min(LARGEST));
                if does(&self.at(high)?) {
                    break;
                }
                low = high;
                step = step.saturating_mul(2);
            }
        }
        loop {
            let middle = whole(low.midpoint(high));
            if middle <= low || middle >= high {
                return Ok(Some(high));
            }
            if does(&self.at(middle)?) {
                high = middle;
            } else {
                low = middle;
            }
        }
    }

    fn at(&mut self, n: u32) -> Result<TestPower, Halt> {
        if !self.tried.contains_key(&n) {
            let curve = self.simulate(n)?;
            self.tried.insert(n, curve);
        }
        let test = self.tried.get(&n).and_then(|curve| curve.tests.first());
        // A finished specification that solves has one test at one level, of a model.
        test.cloned().ok_or(Halt::Stopped)
    }

    fn simulate(&mut self, n: u32) -> Result<PowerCurve, Halt> {
        let first = self.plan.points().first().ok_or(Halt::Stopped)?;
        let point = Point {
            source: first.point.source.clone(),
            rows: n,
        };
        // Nothing but bins and files can refuse an n, and a power needs neither.
        let unexpected = |_: PlanError| Halt::Stopped;
        let planned = self
            .plan
            .planned(point, first.sampler)
            .map_err(unexpected)?;
        let units = planned.units;
        let all = units.replicates(units.count().saturating_sub(1)).end;
        let (mut done, mut look) = (0, FIRST_LOOK);
        let mut tally: Option<Tally> = None;
        loop {
            // Whole units: a resumed run knows no other.
            let mut end = done;
            while end < units.count() && units.replicates(end).start < look {
                end += 1;
            }
            let part = self
                .plan
                .run_units(self.runner, n.into(), &planned, done..end)?;
            let tally = match &mut tally {
                Some(tally) => {
                    tally.add(&part);
                    tally
                }
                none => none.insert(part),
            };
            done = end;
            let replicates = units.replicates(done.saturating_sub(1)).end;
            // The first number of a test is how often it rejects.
            let rejections = tally.0.first().map_or(0, |&count| count as u64);
            if done == units.count() || self.is_far(rejections, replicates, all) {
                let curve = self.plan.power_curve(&planned, tally, replicates);
                return curve.ok_or(Halt::Stopped);
            }
            look = replicates.saturating_mul(2);
        }
    }

    /// Whether a rate of some of `all` replicates tells on which side of the target, and of the
    /// interval around it, that of all would be.
    fn is_far(&self, rejections: u64, replicates: u64, all: u64) -> bool {
        let at_target = (self.target * all as f64).round() as u64;
        let around = wilson::interval(at_target, all);
        let own = wilson::interval_at(FAR, rejections, replicates);
        match (own, around) {
            (Some(own), Some(around)) => own.1 < around.0 || own.0 > around.1,
            _ => false,
        }
    }
}

/// The step between n that are tried: 1 below 10,000, above it so that three digits are left.
fn resolution(n: u32) -> u32 {
    if n < 10_000 {
        return 1;
    }
    let mut step = 1;
    while n / step >= 1000 {
        step *= 10;
    }
    step
}

/// An n that is tried, at or below `n`.
fn whole(n: u32) -> u32 {
    n / resolution(n) * resolution(n)
}
