//! Tests with the squared kernel calibration error (\[W19\]).

use super::{Level, TestName, Undefined};
use crate::backend::kernels::SkceNull;
use crate::inference::normal;
use crate::results::TestResult;
use crate::statistic::skce::{NoBandwidth, Skce};

/// A test before it is held against a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkceTest {
    /// `skce-u`: n·skce_u; `skce-l`: z.
    pub statistic: f64,
    /// The smallest level at which it rejects.
    pub p_value: f64,
}

impl SkceTest {
    /// Whether calibration is rejected at a level.
    pub fn rejects(&self, level: &Level) -> bool {
        self.p_value <= level.alpha()
    }
}

/// Why a test with SKCE is undefined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoSkceTest {
    /// There is no bandwidth.
    Bandwidth(NoBandwidth),
    /// Too few rows for a pair of them, or for two pairs.
    Rows {
        /// How many there are.
        rows: u64,
        /// How many are needed.
        needed: u64,
    },
    /// All pairs have one value, so that there is no spread to measure in.
    NoSpread,
    /// Resamples of this law cannot differ from each other.
    NoNullVariance(SkceNull),
    /// No resamples were drawn.
    NoResamples,
}

impl std::fmt::Display for NoSkceTest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NoSkceTest::Bandwidth(why) => write!(f, "{why}"),
            NoSkceTest::Rows { rows, needed } => {
                write!(f, "needs at least {needed} rows, but there are {rows}")
            }
            NoSkceTest::NoSpread => f.write_str(
                "all disjoint pairs of rows have the same product of residuals and kernel (to 12 \
                 digits), so that there is no standard deviation to divide by",
            ),
            NoSkceTest::NoNullVariance(SkceNull::Multinomial) => f.write_str(
                "all residuals are 0 or all rows are the same, so that drawing rows with replacement \
                 changes nothing and the statistic has no null variance",
            ),
            NoSkceTest::NoNullVariance(SkceNull::Wild) => f.write_str(
                "fewer than two residuals differ from 0, so that random signs change nothing and the \
                 statistic has no null variance",
            ),
            NoSkceTest::NoNullVariance(SkceNull::MonteCarlo) => Undefined::NoPairVaries.fmt(f),
            NoSkceTest::NoResamples => f.write_str("no resamples were drawn; give --resamples"),
        }
    }
}

/// n·skce_u against B null resamples: p = (1 + #{T* >= n·skce_u})/(B+1).
///
/// # Errors
/// If there are fewer than 2 rows, no bandwidth, or if resamples cannot differ from each other.
pub fn unbiased(skce: &Skce) -> Result<SkceTest, NoSkceTest> {
    skce.bandwidth.map_err(NoSkceTest::Bandwidth)?;
    let few = NoSkceTest::Rows {
        rows: skce.rows,
        needed: 2,
    };
    let estimate = skce.unbiased().ok_or(few)?;
    if !skce.null_varies {
        return Err(NoSkceTest::NoNullVariance(skce.null));
    }
    let at_least = skce.sums.and_then(|sums| sums.at_least);
    let at_least = at_least.ok_or(NoSkceTest::NoResamples)?;
    Ok(SkceTest {
        statistic: skce.rows as f64 * estimate,
        p_value: (1.0 + f64::from(at_least)) / (f64::from(skce.resamples) + 1.0),
    })
}

/// Values of h that are less apart, as a part of their mean, are the same but for rounding.
const SAME: f64 = 1e-12;

/// z = √⌊n/2⌋ · skce_l / sd(h) against the standard normal distribution, one-sided.
///
/// # Errors
/// If there are fewer than 4 rows, no bandwidth, or no spread.
pub fn linear(skce: &Skce) -> Result<SkceTest, NoSkceTest> {
    skce.bandwidth.map_err(NoSkceTest::Bandwidth)?;
    let few = NoSkceTest::Rows {
        rows: skce.rows,
        needed: 4,
    };
    let pairs = skce.pairs.ok_or(few)?;
    let sd = pairs.sd.ok_or(few)?;
    if sd <= SAME * pairs.mean.abs() {
        return Err(NoSkceTest::NoSpread);
    }
    let statistic = (pairs.count as f64).sqrt() * pairs.mean / sd;
    if !statistic.is_finite() {
        return Err(NoSkceTest::NoSpread);
    }
    Ok(SkceTest {
        statistic,
        p_value: normal::upper_tail(statistic),
    })
}

/// The result of a test with SKCE at level `alpha`. Without what the test is made of, its reason says so.
pub fn result(name: TestName, skce: Option<&Skce>, alpha: f64) -> TestResult {
    let test = match (name, skce) {
        (_, None) => Err(NoSkceTest::NoResamples),
        (TestName::SkceL, Some(skce)) => linear(skce),
        (_, Some(skce)) => unbiased(skce),
    };
    let mut result = super::undefined(name);
    let level = Level::new(alpha);
    match (test, &level) {
        (_, None) => result.undefined = crate::inference::wrong_level(alpha),
        (Err(why), _) => result.undefined = Some(why.to_string()),
        (Ok(test), Some(level)) => {
            result.statistic = Some(test.statistic);
            result.p_value = Some(test.p_value);
            result.reject = Some(test.rejects(level));
            if name == TestName::SkceL {
                result.threshold = Some(level.normal_quantile());
            } else {
                result.resamples = skce.map(|skce| skce.resamples.into());
                result.note = coarse(skce, alpha);
            }
        }
    }
    result
}

/// A word on resamples that are too few to reject at all.
fn coarse(skce: Option<&Skce>, alpha: f64) -> Option<String> {
    let resamples = skce?.resamples;
    let least = 1.0 / (f64::from(resamples) + 1.0);
    (least > alpha).then(|| {
        format!(
            "with {resamples} resamples the p-value is at least {least:.3} and can never reach \
             alpha; give --resamples a larger number"
        )
    })
}
