//! Tests of perfect calibration, H0: E[Y|Z] = Z.
//!
//! Under H0, given the confidences, labels are independent and Y_i ~ Ber(Z_i). All tests are
//! one-sided: they reject when the statistic is large.

mod asymptotic;
mod conditional;
mod finite_sample;

use std::fmt;

use crate::backend::{SegmentSums, Ties};
use crate::evaluation::TestResult;

pub use asymptotic::asymptotic;
pub use conditional::conditional;
pub use finite_sample::finite_sample;

use super::{n_rank_ece, normal, wrong_level};

/// A test by its name in `--tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum TestName {
    /// rankECE (A): normal for large n, with a variance that assumes few ties.
    Asymptotic,
    /// rankECE with its exact null variance given the confidences; normal for large n.
    Conditional,
    /// rankECE (F): valid at any n, by Bernstein's inequality.
    FiniteSample,
}

impl TestName {
    /// All of them.
    pub const ALL: [TestName; 3] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
    ];

    /// The name, in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            TestName::Asymptotic => "asymptotic",
            TestName::Conditional => "conditional",
            TestName::FiniteSample => "finite-sample",
        }
    }
}

impl fmt::Display for TestName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The named tests of one segment at level `alpha`, in the order of the names. `ties` is how the
/// sums were asked for.
pub fn run(names: &[TestName], sums: &SegmentSums, ties: Ties, alpha: f64) -> Vec<TestResult> {
    names
        .iter()
        .map(|name| match name {
            TestName::Asymptotic => asymptotic(sums, ties, alpha),
            TestName::Conditional => conditional(sums, ties, alpha),
            TestName::FiniteSample => finite_sample(sums, alpha),
        })
        .collect()
}

/// A statistic with what it is held against.
struct Outcome {
    statistic: f64,
    threshold: f64,
    p_value: f64,
}

/// n·rankECE over its standard deviation, held against the standard normal distribution.
fn normal_outcome(sums: &SegmentSums, variance: f64, alpha: f64) -> Outcome {
    let statistic = n_rank_ece(sums) / variance.sqrt();
    Outcome {
        statistic,
        threshold: normal::upper_quantile(alpha),
        p_value: normal::upper_tail(statistic),
    }
}

/// The result of a test, or why it is undefined.
fn result(name: TestName, alpha: f64, outcome: Result<Outcome, String>) -> TestResult {
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
    match outcome {
        Err(reason) => TestResult {
            undefined: Some(reason),
            ..undefined
        },
        Ok(Outcome {
            statistic,
            threshold,
            p_value,
        }) => {
            let reject = statistic > threshold;
            // The p-value is the smallest level of rejection, so it is below alpha exactly when the
            // test rejects. Where the statistic meets the threshold to the last digits, rounding
            // must not tell the two differently.
            let p_value = if reject {
                p_value.min(alpha.next_down())
            } else {
                p_value.max(alpha)
            };
            TestResult {
                statistic: Some(statistic),
                threshold: Some(threshold),
                p_value: Some(p_value),
                reject: Some(reject),
                ..undefined
            }
        }
    }
}

/// Why no test is possible, if so: no level, or nothing beside each other.
fn impossible(sums: &SegmentSums, alpha: f64) -> Option<String> {
    wrong_level(alpha).or_else(|| {
        (sums.rows < 2).then(|| format!("needs at least 2 rows, but there are {}", sums.rows))
    })
}
