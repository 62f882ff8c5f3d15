//! A decision, or why there is none.

use std::fmt;

/// A statistic with what it must exceed to reject.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decision {
    /// The statistic.
    pub statistic: f64,
    /// The threshold.
    pub threshold: f64,
}

impl Decision {
    /// Whether calibration is rejected.
    pub fn rejects(&self) -> bool {
        self.statistic > self.threshold
    }
}

/// Why a test of a sample is undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// Nothing lies beside anything.
    Rows(u64),
    /// `asymptotic`: Σ v² = 0.
    NoVariance,
    /// `conditional`, `finite-sample`, `monte-carlo`, `adaptive`: no product of residuals varies, so
    /// that their variance is 0.
    NoPairVaries,
    /// A test of labels is not decided on sums of rankECE.
    NoLabels,
    /// `adaptive`: no window sum is different in any of the resamples that were drawn.
    NoWindowVaries,
    /// `ks`, `kuiper`: Σ v = 0.
    NoWalkVariance,
    /// `spiegelhalter`: its variance is 0.
    NoBrierVariance,
    /// The test is not made of sums of neighbours.
    NeedsKernel,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undefined::Rows(rows) => write!(f, "needs at least 2 rows, but there are {rows}"),
            Undefined::NoVariance => f.write_str(
                "every confidence is 0 or 1 (to 9 digits), so calibrated labels could not vary and \
                 rankECE has no null variance",
            ),
            Undefined::NoPairVaries => f.write_str(
                "fewer than two rows have confidences strictly between 0 and 1 (to 9 digits), so \
                 under calibration no product of two residuals could vary and the statistic has no \
                 null variance",
            ),
            Undefined::NoLabels => f.write_str("is decided on labels, which were not given"),
            Undefined::NoWindowVaries => f.write_str(
                "calibrated labels vary so little that no sum over windows of ranks differs between \
                 the null resamples",
            ),
            Undefined::NoWalkVariance => f.write_str(
                "every confidence is 0 or 1 (to 9 digits), so calibrated labels could not vary and \
                 the sums of residuals have no null variance",
            ),
            Undefined::NoBrierVariance => f.write_str(
                "every confidence is 0, 1/2 or 1 (to 9 digits), so under calibration the Brier \
                 score could not vary and has no null variance",
            ),
            Undefined::NeedsKernel => {
                f.write_str("is made of a kernel, not of sums of neighbouring rows")
            }
        }
    }
}
