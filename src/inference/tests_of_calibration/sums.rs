//! What tests are decided on, and the level they are decided at.

use crate::backend::SegmentSums;
use crate::backend::replicates::ReplicateSums;
use crate::inference::normal;

/// The integer sums that the tests need; units as in [`SegmentSums`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestSums {
    /// n, the number of rows.
    pub rows: u64,
    /// n · rankECE, Q60.
    pub rank_ece: i128,
    /// Σ v², Q66.
    pub null_squares: u128,
    /// Σ v_(i) v_(i+1) over odd i, Q66.
    pub null_odd: u128,
    /// The same over even i, Q66.
    pub null_even: u128,
    /// Null variance of n · rankECE given the confidences, tie-averaged, Q66.
    pub null_conditional: u128,
}

impl TestSums {
    /// The sums of a simulated replicate of `rows` rows.
    pub fn of_replicate(rows: u32, sums: &ReplicateSums) -> Self {
        TestSums {
            rows: rows.into(),
            rank_ece: sums.rank_ece,
            null_squares: sums.null_squares,
            null_odd: sums.null_odd,
            null_even: sums.null_even,
            null_conditional: sums.null_conditional,
        }
    }
}

impl From<&SegmentSums> for TestSums {
    fn from(sums: &SegmentSums) -> Self {
        TestSums {
            rows: sums.rows,
            rank_ece: sums.rank_ece,
            null_squares: sums.null_squares,
            null_odd: sums.null_odd,
            null_even: sums.null_even,
            null_conditional: sums.null_conditional,
        }
    }
}

/// A level of tests, with what depends on nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The level, strictly between 0 and 1.
    alpha: f64,
    /// z_{1-α}.
    normal_quantile: f64,
    /// log(2/α).
    log_two_over_alpha: f64,
}

impl Level {
    /// The level `alpha`; none if it does not lie strictly between 0 and 1.
    pub fn new(alpha: f64) -> Option<Self> {
        (alpha > 0.0 && alpha < 1.0).then(|| Level {
            alpha,
            normal_quantile: normal::upper_quantile(alpha),
            log_two_over_alpha: libm::log(2.0 / alpha),
        })
    }

    /// The level itself.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// What a standard normal variable exceeds with probability alpha.
    pub(super) fn normal_quantile(&self) -> f64 {
        self.normal_quantile
    }

    /// L = log(2/α) of the Bernstein bounds.
    pub(super) fn log_two_over_alpha(&self) -> f64 {
        self.log_two_over_alpha
    }
}
