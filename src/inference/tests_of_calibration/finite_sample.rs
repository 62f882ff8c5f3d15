//! rankECE (F).

use super::{Decision, Level, TestName, TestSums, Undefined, enough_rows, n_rank_ece, result};
use crate::backend::SegmentSums;
use crate::inference::Q66;
use crate::results::TestResult;

/// Rejects when n·rankECE > t(s_1) + t(s_2), t(s) = L/3 + √(L²/9 + 2sL), L = log(2/α), with s_1 and
/// s_2 the sums of v_(i) v_(i+1) over odd and even i. \[CB26 Prop. 3.4\], *reconstructed*.
///
/// The odd-numbered terms of n·rankECE are martingale differences under H0, and so are the even-
/// numbered ones; Bernstein's inequality bounds each at level α/2. The bound holds at any n, and for
/// rankECE averaged over ties as it stands: within a tie all v are equal, so s_1 and s_2 are the
/// same in every order, and averaging can only lower a moment generating function (Jensen). The
/// p-value is the smallest level that rejects, 1 if none does. Undefined if n < 2 or s_1 + s_2 = 0: the
/// bound would hold, but of a statistic that calibrated labels cannot change.
pub fn finite_sample(sums: &SegmentSums, alpha: f64) -> TestResult {
    let sums = TestSums::from(sums);
    result(
        TestName::FiniteSample,
        alpha,
        |level| decide(&sums, level),
        |statistic| (2.0 * libm::exp(-Bound::new(&sums).inverse(statistic))).min(1.0),
    )
}

pub(super) fn decide(sums: &TestSums, level: &Level) -> Result<Decision, Undefined> {
    enough_rows(sums)?;
    if sums.null_odd == 0 && sums.null_even == 0 {
        return Err(Undefined::NoPairVaries);
    }
    Ok(Decision {
        statistic: n_rank_ece(sums.rank_ece),
        threshold: Bound::new(sums).at(level.log_two_over_alpha()),
    })
}

/// t(s_1) + t(s_2) as a function of L.
struct Bound {
    odd: f64,
    even: f64,
}

impl Bound {
    fn new(sums: &TestSums) -> Self {
        Bound {
            odd: sums.null_odd as f64 * Q66,
            even: sums.null_even as f64 * Q66,
        }
    }

    fn at(&self, l: f64) -> f64 {
        let t = |s: f64| l / 3.0 + root(s, l);
        t(self.odd) + t(self.even)
    }

    fn slope(&self, l: f64) -> f64 {
        let dt = |s: f64| 1.0 / 3.0 + (l / 9.0 + s) / root(s, l);
        dt(self.odd) + dt(self.even)
    }

    /// The L at which the bound is `value`, at least log 2, which is the level 1.
    fn inverse(&self, value: f64) -> f64 {
        // The bound is increasing and concave in L, so Newton's steps from below never pass the
        // root and grow towards it; they end when rounding leaves nothing to gain.
        let mut l = std::f64::consts::LN_2;
        loop {
            let next = l + (value - self.at(l)) / self.slope(l);
            if next <= l {
                return l;
            }
            l = next;
        }
    }
}

fn root(s: f64, l: f64) -> f64 {
    (l * l / 9.0 + 2.0 * s * l).sqrt()
}
