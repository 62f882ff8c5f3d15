//! Confidence intervals for ℓ2-ECE, and what an estimate means for decisions.

use statrs::distribution::{ContinuousCDF, Normal};

use super::Sample;
use super::sample::sum;
use crate::random::Key;

/// Estimates from runs of four neighbours of the moments that rankECE's variance is made of, with
/// r = E[Y|Z] - Z and s² = Var(Y|Z).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NeighbourMoments {
    /// E r⁴.
    pub r4: f64,
    /// E r²s².
    pub r2s2: f64,
    /// E s⁴.
    pub s4: f64,
}

/// The moments, tied labels placed under `stream`
/// ([`Stream::Neighbour`](crate::random::Stream::Neighbour)). None if n < 4.
pub fn neighbour_moments(sample: &Sample, stream: Key) -> Option<NeighbourMoments> {
    let residuals: Vec<f64> = sample
        .placed(stream)
        .iter()
        .map(|row| row.residual())
        .collect();
    let h = |x: f64, y: f64| (x - y).powi(2) / 2.0;
    let mean = |f: &dyn Fn(f64, f64, f64, f64) -> f64| {
        let terms = residuals.windows(4).map(|d| f(d[0], d[1], d[2], d[3]));
        sum(terms) / (residuals.len() - 3) as f64
    };
    (residuals.len() >= 4).then(|| NeighbourMoments {
        r4: mean(&|a, b, c, d| a * b * c * d),
        r2s2: mean(&|a, b, c, d| {
            (h(a, b) * c * d
                + h(a, c) * b * d
                + h(a, d) * b * c
                + h(b, c) * a * d
                + h(b, d) * a * c
                + h(c, d) * a * b)
                / 6.0
        }),
        s4: mean(&|a, b, c, d| (h(a, b) * h(c, d) + h(a, c) * h(b, d) + h(a, d) * h(b, c)) / 3.0),
    })
}

/// rankECE ± z σ/√n, σ² = max(E r⁴ - rankECE², 0) + 4 max(E r²s², 0) + E s⁴, of level 1 - `alpha`.
///
/// None if n < 4 or σ = 0.
pub fn neighbour(sample: &Sample, rank_ece: f64, stream: Key, alpha: f64) -> Option<(f64, f64)> {
    let moments = neighbour_moments(sample, stream)?;
    let variance =
        (moments.r4 - rank_ece.powi(2)).max(0.0) + 4.0 * moments.r2s2.max(0.0) + moments.s4;
    let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
    let half_width = z * (variance / sample.rows().len() as f64).sqrt();
    (variance > 0.0).then_some((rank_ece - half_width, rank_ece + half_width))
}

/// rankECE ± √(81 log(2/δ) / (32 n)), which holds for any law with probability 1 - `delta`:
/// \[CB26 Prop. 2.1\]. None without rows.
pub fn concentration(n: usize, rank_ece: f64, delta: f64) -> Option<(f64, f64)> {
    let half_width = (81.0 * (2.0 / delta).ln() / (32.0 * n as f64)).sqrt();
    (n > 0).then_some((rank_ece - half_width, rank_ece + half_width))
}

/// √(max(rankECE, 0) + 8(M+1)/n): bound on the excess risk of the plug-in decision over its best
/// piecewise monotone transformation of M pieces. \[CB26 Thm B.1\]. None without rows.
pub fn decision_risk(rank_ece: f64, n: usize, pieces: u32) -> Option<f64> {
    let slack = 8.0 * (f64::from(pieces) + 1.0) / n as f64;
    (n > 0).then(|| (rank_ece.max(0.0) + slack).sqrt())
}
