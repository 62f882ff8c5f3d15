//! About what power a test has: good enough to know where to look for an n.

use crate::backend::Ties;
use crate::inference::normal;
use crate::inference::tests_of_calibration::{Level, TestName, TestSums, decide};
use crate::model::Model;

/// Words at which moments of a model are taken.
const WORDS: u32 = 1 << 16;

/// What the power of a test of rankECE depends on for large n.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast<'a> {
    model: &'a Model,
    /// E v², v = Z(1-Z).
    null_square: f64,
    /// σ² = Var(r²) + E\[4 r² s² + s⁴\], the variance of √n rankECE (specification, section 4).
    variance: f64,
}

impl<'a> Forecast<'a> {
    /// Takes the moments of a model.
    pub(super) fn new(model: &'a Model) -> Self {
        let (mut r2, mut r4, mut r2s2, mut s4, mut v2) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for step in 0..WORDS {
            // The middle of one of as many intervals of words.
            let word = step * (u32::MAX / WORDS + 1) + (u32::MAX / WORDS / 2);
            let q30 = model.quantile.q30(word);
            let [z, g] = [q30, model.response.q30(q30)].map(|q| f64::from(q) / 2f64.powi(30));
            let (r, s) = ((g - z) * (g - z), g * (1.0 - g));
            r2 += r;
            r4 += r * r;
            r2s2 += r * s;
            s4 += s * s;
            v2 += (z * (1.0 - z)) * (z * (1.0 - z));
        }
        let mean = |sum: f64| sum / f64::from(WORDS);
        Forecast {
            model,
            null_square: mean(v2),
            variance: (mean(r4) - mean(r2) * mean(r2)).max(0.0) + 4.0 * mean(r2s2) + mean(s4),
        }
    }

    /// The power of a test at a level with `n` rows, as if n·rankECE were normal with its expectation
    /// and its variance for large n, and the null variance were its expectation. None if the test is
    /// undefined or rankECE has no expectation to speak of.
    pub(super) fn power(&self, test: TestName, level: &Level, n: u32) -> Option<f64> {
        let rows = f64::from(n);
        let expected = rows * self.model.rank_ece(n.into());
        let null = rows * self.null_square * 2f64.powi(66);
        let sums = TestSums {
            rows: n.into(),
            rank_ece: (expected * 2f64.powi(60)) as i128,
            null_squares: null as u128,
            null_odd: (null / 2.0) as u128,
            null_even: (null / 2.0) as u128,
            null_conditional: null as u128,
        };
        let decision = decide(test, &sums, Ties::Average, level).ok()?;
        // Every statistic is n·rankECE times something.
        let scale = decision.statistic / expected;
        let deviations =
            (decision.threshold - decision.statistic) / (scale * (rows * self.variance).sqrt());
        deviations
            .is_finite()
            .then(|| normal::upper_tail(deviations))
    }
}
