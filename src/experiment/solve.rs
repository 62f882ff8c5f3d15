//! The smallest n at which a test has a power.

use std::collections::BTreeMap;

use super::journal::ComputedBy;
use super::plan::{Plan, PlanError};
use super::point::Point;
use super::results::{PowerCurve, PowerReport, Solved, TestPower};
use super::runner::{Halt, Runner};
use super::spec::FEWEST_ROWS;

/// The first n that is tried.
const FIRST: u32 = 50;
/// The largest.
pub const LARGEST: u32 = 10_000_000;

/// Looks for the smallest n at which the plan's test has the power that its specification names: by
/// doubling, then by bisection, with as many replicates at every n.
///
/// n is found to three or four digits (to the last below 10,000): beyond them lies the error of
/// any affordable number of replicates. All n that were tried are in the report.
///
/// # Errors
/// If it is stopped, or the device or the journal fails.
pub fn solve(plan: &Plan, target: f64, runner: &mut Runner) -> Result<PowerReport, Halt> {
    let mut search = Search {
        plan,
        runner,
        tried: BTreeMap::new(),
    };
    let n = search.smallest(|test| test.rate >= target)?;
    let n_lower = search.smallest(|test| test.upper >= target)?;
    let n_upper = search.smallest(|test| test.lower >= target)?;
    let tried = search.tried;
    let found = match n {
        Some(n) => tried.get(&n),
        None => tried.values().next_back(),
    };
    let test = found.and_then(|curve| curve.tests.first());
    let mut report = plan.power_report(&[], &[]);
    report.solve = test.map(|test| Solved {
        target,
        test: test.name,
        alpha: test.alpha,
        n,
        rate: test.rate,
        lower: test.lower,
        upper: test.upper,
        n_lower,
        n_upper,
        resolution: n.map_or(1, resolution),
        undefined: n.is_none().then(|| {
            format!(
                "no n up to {LARGEST} reaches it; at that n the power is {}",
                test.rate
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
    runner: &'b mut Runner<'c>,
    tried: BTreeMap<u32, PowerCurve>,
}

impl Search<'_, '_, '_> {
    /// The smallest n, to its resolution, at which the test does; none up to [`LARGEST`].
    fn smallest(&mut self, does: impl Fn(&TestPower) -> bool) -> Result<Option<u32>, Halt> {
        let (mut low, mut high) = (FEWEST_ROWS - 1, FIRST);
        while !does(&self.at(high)?) {
            if high == LARGEST {
                return Ok(None);
            }
            low = high;
            high = high.saturating_mul(2).min(LARGEST);
        }
        loop {
            let step = resolution(high);
            let middle = low.midpoint(high) / step * step;
            if high - low <= step || middle <= low {
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
        let tally = self
            .plan
            .run_point(self.runner, n.into(), &planned, |_| true)?;
        self.plan.power_curve(&planned, &tally).ok_or(Halt::Stopped)
    }
}

/// 1 below 10,000, 10 below 100,000, and so on.
fn resolution(n: u32) -> u32 {
    let mut step = 1;
    while n / step >= 10_000 {
        step *= 10;
    }
    step
}
