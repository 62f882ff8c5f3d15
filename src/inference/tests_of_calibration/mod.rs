//! Tests of perfect calibration, H0: E[Y|Z] = Z.
//!
//! Under H0, given the confidences, labels are independent and Y_i ~ Ber(Z_i). All tests are
//! one-sided: they reject when the statistic is large.

mod asymptotic;
mod conditional;
mod decision;
mod finite_sample;
pub mod skce;
mod sums;

use std::fmt;

use crate::backend::{SegmentSums, Ties};
use crate::evaluation::TestResult;

pub use asymptotic::asymptotic;
pub use conditional::conditional;
pub use decision::{Decision, Undefined};
pub use finite_sample::finite_sample;
pub use sums::{Level, TestSums};

use super::{n_rank_ece, wrong_level};
use crate::statistic::skce::Skce;

/// A test by its name in `--tests`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum TestName {
    /// rankECE (A): normal for large n, with a variance that assumes few ties.
    Asymptotic,
    /// rankECE with its exact null variance given the confidences; normal for large n.
    Conditional,
    /// rankECE (F): valid at any n, by Bernstein's inequality.
    FiniteSample,
    /// SKCE over all pairs of rows, against null resamples.
    SkceU,
    /// SKCE over disjoint pairs of rows; normal for large n.
    SkceL,
}

impl TestName {
    /// All of them.
    pub const ALL: [TestName; 5] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
        TestName::SkceU,
        TestName::SkceL,
    ];

    /// Those that are run if none are named.
    pub const DEFAULT: [TestName; 3] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
    ];

    /// Whether the test is made of a kernel ([`Skce`]), not of sums of neighbours.
    pub fn uses_kernel(self) -> bool {
        matches!(self, TestName::SkceU | TestName::SkceL)
    }

    /// The name, in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            TestName::Asymptotic => "asymptotic",
            TestName::Conditional => "conditional",
            TestName::FiniteSample => "finite-sample",
            TestName::SkceU => "skce-u",
            TestName::SkceL => "skce-l",
        }
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The named tests of one segment at level `alpha`, in the order of the names. `ties` is how the
/// sums were asked for; `skce` is what tests with a kernel are made of.
pub fn run(
    names: &[TestName],
    sums: &SegmentSums,
    skce: Option<&Skce>,
    ties: Ties,
    alpha: f64,
) -> Vec<TestResult> {
    names
        .iter()
        .map(|name| match name {
            TestName::Asymptotic => asymptotic(sums, ties, alpha),
            TestName::Conditional => conditional(sums, ties, alpha),
            TestName::FiniteSample => finite_sample(sums, alpha),
            TestName::SkceU | TestName::SkceL => skce::result(*name, skce, alpha),
        })
        .collect()
}

/// The decision of a test at a level, for sums under `ties`, or why there is none.
///
/// What a simulation asks of every replicate: no text, no p-value, and nothing computed that depends
/// on the level alone.
///
/// # Errors
/// If the test is undefined for such a sample, or is made of a kernel ([`skce`]).
#[inline]
pub fn decide(
    name: TestName,
    sums: &TestSums,
    ties: Ties,
    level: &Level,
) -> Result<Decision, Undefined> {
    match name {
        TestName::Asymptotic => asymptotic::decide(sums, level),
        TestName::Conditional => conditional::decide(sums, ties, level),
        TestName::FiniteSample => finite_sample::decide(sums, level),
        TestName::SkceU | TestName::SkceL => Err(Undefined::NeedsKernel),
    }
}

/// n·rankECE over its standard deviation, held against the standard normal distribution.
fn normal_decision(sums: &TestSums, variance: f64, level: &Level) -> Decision {
    Decision {
        statistic: n_rank_ece(sums.rank_ece) / variance.sqrt(),
        threshold: level.normal_quantile(),
    }
}

/// The result of a test, or why it is undefined; `p_value` gives that of a statistic.
fn result(
    name: TestName,
    alpha: f64,
    decide: impl FnOnce(&Level) -> Result<Decision, Undefined>,
    p_value: impl FnOnce(f64) -> f64,
) -> TestResult {
    let undefined = TestResult {
        name: name.as_str(),
        statistic: None,
        threshold: None,
        p_value: None,
        p_value_asymptotic: None,
        reject: None,
        undefined: None,
        note: None,
        resamples: None,
        profile: None,
    };
    let decision = match Level::new(alpha) {
        Some(level) => decide(&level).map_err(|why| why.to_string()),
        None => Err(wrong_level(alpha).unwrap_or_default()),
    };
    match decision {
        Err(reason) => TestResult {
            undefined: Some(reason),
            ..undefined
        },
        Ok(decision) => {
            let reject = decision.rejects();
            let p_value = p_value(decision.statistic);
            // The p-value is the smallest level of rejection, so it is below alpha exactly when the
            // test rejects. Where the statistic meets the threshold to the last digits, rounding
            // must not tell the two differently.
            let p_value = if reject {
                p_value.min(alpha.next_down())
            } else {
                p_value.max(alpha)
            };
            TestResult {
                statistic: Some(decision.statistic),
                threshold: Some(decision.threshold),
                p_value: Some(p_value),
                reject: Some(reject),
                ..undefined
            }
        }
    }
}

/// Nothing lies beside anything with fewer than 2 rows.
fn enough_rows(sums: &TestSums) -> Result<(), Undefined> {
    if sums.rows < 2 {
        return Err(Undefined::Rows(sums.rows));
    }
    Ok(())
}
