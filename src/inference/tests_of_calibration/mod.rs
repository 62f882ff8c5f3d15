//! Tests of perfect calibration, H0: E[Y|Z] = Z.
//!
//! Under H0, given the confidences, labels are independent and Y_i ~ Ber(Z_i). All tests but
//! `spiegelhalter` are one-sided: they reject when the statistic is large.

mod adaptive;
mod asymptotic;
mod conditional;
mod decision;
mod finite_sample;
mod impossible;
mod labels;
mod scale;
pub mod skce;
mod spiegelhalter;
mod sums;
mod walk;

use std::fmt;

use crate::backend::{SegmentSums, Ties};
use crate::results::TestResult;

pub use adaptive::{Adaptive, AdaptiveResult};
pub use asymptotic::asymptotic;
pub use conditional::conditional;
pub use decision::{Decision, Undefined};
pub use finite_sample::finite_sample;
pub use impossible::tell_impossible_labels;
pub use labels::{LabelOutcome, LabelTest, LabelTests};
pub use scale::ErrorScale;
pub use spiegelhalter::spiegelhalter;
pub use sums::{Level, TestSums};
pub use walk::{ks_tail, kuiper_tail};

use super::{n_rank_ece, normal, wrong_level};
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
    /// rankECE by null resampling: valid at any n and with any ties.
    MonteCarlo,
    /// Sums over windows of ranks of every width, by null resampling: valid at any n, and sees errors
    /// of every scale.
    Adaptive,
    /// Kolmogorov-Smirnov: the largest sum of residuals up to a confidence, by null resampling.
    Ks,
    /// Kuiper: the largest sum of residuals between two confidences, by null resampling.
    Kuiper,
    /// Spiegelhalter's test of the Brier score: two-sided, normal for large n.
    Spiegelhalter,
    /// SKCE over all pairs of rows, against null resamples.
    SkceU,
    /// SKCE over disjoint pairs of rows; normal for large n.
    SkceL,
}

impl TestName {
    /// All of them.
    pub const ALL: [TestName; 10] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
        TestName::MonteCarlo,
        TestName::Adaptive,
        TestName::Ks,
        TestName::Kuiper,
        TestName::Spiegelhalter,
        TestName::SkceU,
        TestName::SkceL,
    ];

    /// Those of an evaluation that asks for none.
    pub const DEFAULT: [TestName; 4] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
        TestName::Adaptive,
    ];

    /// Those that are decided on the sums of rankECE.
    pub const OF_SUMS: [TestName; 3] = [
        TestName::Asymptotic,
        TestName::Conditional,
        TestName::FiniteSample,
    ];

    /// Whether the test is made of a kernel ([`Skce`]), not of sums of neighbours.
    pub fn uses_kernel(self) -> bool {
        matches!(self, TestName::SkceU | TestName::SkceL)
    }

    /// Whether it is decided on labels by tied groups ([`LabelTests`]), not on sums of rankECE
    /// ([`decide`]).
    pub fn is_of_labels(self) -> bool {
        !TestName::OF_SUMS.contains(&self) && !self.uses_kernel()
    }

    /// Whether it is decided by null resamples of labels by tied groups.
    pub fn resamples_labels(self) -> bool {
        self.is_of_labels() && self != TestName::Spiegelhalter
    }

    /// Whether it draws null resamples, of labels or of what its kernel compares.
    pub fn draws_null_resamples(self) -> bool {
        self.resamples_labels() || self == TestName::SkceU
    }

    /// The name, in kebab-case.
    pub fn as_str(self) -> &'static str {
        match self {
            TestName::Asymptotic => "asymptotic",
            TestName::Conditional => "conditional",
            TestName::FiniteSample => "finite-sample",
            TestName::MonteCarlo => "monte-carlo",
            TestName::Adaptive => "adaptive",
            TestName::Ks => "ks",
            TestName::Kuiper => "kuiper",
            TestName::Spiegelhalter => "spiegelhalter",
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
/// sums were asked for; `labels` are the outcomes of those that are decided on labels, and `skce` is
/// what those with a kernel are made of.
///
/// A test of labels without an outcome is undefined.
pub fn run(
    names: &[TestName],
    sums: &SegmentSums,
    labels: &[(TestName, LabelOutcome)],
    skce: Option<&Skce>,
    ties: Ties,
    alpha: f64,
) -> Vec<TestResult> {
    let of_name = |&name: &TestName| match name {
        TestName::Asymptotic => asymptotic(sums, ties, alpha),
        TestName::Conditional => conditional(sums, ties, alpha),
        TestName::FiniteSample => finite_sample(sums, alpha),
        TestName::SkceU | TestName::SkceL => skce::result(name, skce, alpha),
        _ => {
            let found = labels.iter().find(|(of, _)| *of == name);
            let outcome = found.map_or(&Err(Undefined::NoLabels), |(_, outcome)| outcome);
            label_result(name, outcome, ties, sums, alpha)
        }
    };
    names.iter().map(of_name).collect()
}

/// The decision of a test of rankECE at a level, for sums under `ties`, or why there is none.
///
/// What a simulation asks of every replicate: no text, no p-value, and nothing computed that depends
/// on the level alone.
///
/// # Errors
/// If the test is undefined for such a sample, or not decided on these sums.
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
        _ => Err(Undefined::NoLabels),
    }
}

/// The result of a test of labels at level `alpha`.
fn label_result(
    name: TestName,
    outcome: &LabelOutcome,
    ties: Ties,
    sums: &SegmentSums,
    alpha: f64,
) -> TestResult {
    let undefined = undefined(name);
    let outcome = match (wrong_level(alpha), outcome) {
        (Some(reason), _) => Err(reason),
        (None, Err(why)) => Err(why.to_string()),
        (None, Ok(test)) => Ok(test),
    };
    match outcome {
        Err(reason) => TestResult {
            undefined: Some(reason),
            ..undefined
        },
        Ok(test) => TestResult {
            statistic: Some(test.statistic),
            threshold: (name == TestName::Spiegelhalter)
                .then(|| normal::upper_quantile(alpha / 2.0)),
            p_value: Some(test.p_value),
            p_value_asymptotic: test.p_value_asymptotic,
            reject: Some(test.p_value <= alpha),
            note: (name == TestName::MonteCarlo && ties != Ties::Average && sums.tied_rows > 0)
                .then(|| "of rankECE averaged over ties, whatever their order".to_owned()),
            resamples: test.resamples.map(u64::from),
            profile: test.profile.clone(),
            ..undefined
        },
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
    let undefined = undefined(name);
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

/// A result without numbers and, as yet, without a reason.
fn undefined(name: TestName) -> TestResult {
    TestResult {
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
    }
}

/// Nothing lies beside anything with fewer than 2 rows.
fn enough_rows(sums: &TestSums) -> Result<(), Undefined> {
    if sums.rows < 2 {
        return Err(Undefined::Rows(sums.rows));
    }
    Ok(())
}
