//! Confidence intervals for ℓ2-ECE, and what an estimate means for decisions.

use statrs::distribution::{ContinuousCDF, Normal};

use super::bins::Bin;
use super::sample::sum;
use super::{Sample, rank_ece};
use crate::placement::Permutation;
use crate::random::{Key, threefry};

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

/// The interval of level 1 - `alpha` from rankECE - z σ/√n, σ² = max(E r⁴ - rankECE², 0) +
/// 4 max(E r²s², 0) + E s⁴, to the larger of rankECE + z σ/√n and of the larger
/// solution x of (x - rankECE)² = (z²/n) (E s⁴ + c x - x²). There c estimates E\[r²(r² + 4s²)\] / E r², drawn with the
/// weight w = √(E s⁴/n) + 1/n to 4/3, which it cannot exceed:
/// c = min(4/3, (max(E r⁴, 0) + 4 max(E r²s², 0) + 4/3 w) / (max(rankECE, 0) + w)).
///
/// None if n < 4 or σ = 0.
pub fn neighbour(sample: &Sample, rank_ece: f64, stream: Key, alpha: f64) -> Option<(f64, f64)> {
    let NeighbourMoments { r4, r2s2, s4 } = neighbour_moments(sample, stream)?;
    let n = sample.rows().len() as f64;
    let variance = (r4 - rank_ece.powi(2)).max(0.0) + 4.0 * r2s2.max(0.0) + s4;
    let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
    let half_width = z * (variance / n).sqrt();
    let weight = (s4 / n).sqrt() + 1.0 / n;
    let growing = r4.max(0.0) + 4.0 * r2s2.max(0.0);
    let c = (growing + 4.0 / 3.0 * weight) / (rank_ece.max(0.0) + weight);
    let c = c.min(4.0 / 3.0);
    let excess = |x: f64| (x - rank_ece).powi(2) - z * z / n * (s4 + c * x - x * x);
    let upper = largest_root(excess).unwrap_or(rank_ece);
    (variance > 0.0).then_some((rank_ece - half_width, upper.max(rank_ece + half_width)))
}

/// The largest x in \[-1, 4\] at which a convex function is 0; none if it is positive everywhere.
fn largest_root(convex: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut low, mut high) = (-1.0, 4.0);
    for _ in 0..200 {
        let (left, right) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
        if convex(left) < convex(right) {
            high = right;
        } else {
            low = left;
        }
    }
    let (mut inside, mut outside) = ((low + high) / 2.0, 4.0);
    if convex(inside) > 0.0 {
        return None;
    }
    for _ in 0..60 {
        let middle = (inside + outside) / 2.0;
        if convex(middle) <= 0.0 {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    Some(inside)
}

/// m = ⌊n^{2/3}⌋, the rows of a subsample: the largest m with m³ <= n².
pub fn subsample_rows(n: usize) -> usize {
    let square = (n as u128).pow(2);
    (0..=n)
        .take_while(|&m| (m as u128).pow(3) <= square)
        .last()
        .unwrap_or(0)
}

/// rankECE, tie-averaged, of `count` subsamples of ⌊n^{2/3}⌋ rows each, drawn under the key of the
/// sample ([`Stream::Subsample`](crate::random::Stream::Subsample)). Rows are numbered in ascending
/// order of confidence and label; those of subsample b are the first places of the permutation that the
/// key child(sample, b, 0) names.
pub fn subsampled_rank_ece(sample: &Sample, key: Key, count: u32) -> Vec<f64> {
    let mut rows = sample.rows().to_vec();
    rows.sort_by(|a, b| {
        a.confidence
            .total_cmp(&b.confidence)
            .then(a.label.cmp(&b.label))
    });
    let m = subsample_rows(rows.len());
    let of = |b: u32| {
        let permutation = Permutation::new(key.child(b, 0), rows.len() as u32);
        let drawn = (0..m as u32).map(|place| rows[permutation.at(place) as usize]);
        let (confidences, labels): (Vec<f64>, Vec<bool>) =
            drawn.map(|row| (row.confidence, row.label)).unzip();
        let subsample = Sample::new(&confidences, &labels)?;
        rank_ece::average(&subsample)
    };
    (0..count).filter_map(of).collect()
}

/// rankECE ± z s √(m/n) / √(1 - m/n), s the standard deviation of `estimates` from subsamples of
/// m = ⌊n^{2/3}⌋ of the n rows. None if n < 4, with fewer than two estimates, or if all are equal.
pub fn subsample(n: usize, rank_ece: f64, estimates: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let count = estimates.len() as f64;
    if n < 4 || count < 2.0 || estimates.iter().all(|&estimate| estimate == estimates[0]) {
        return None;
    }
    let mean = sum(estimates.iter().copied()) / count;
    let squares = sum(estimates.iter().map(|estimate| (estimate - mean).powi(2)));
    let share = subsample_rows(n) as f64 / n as f64;
    let z = Normal::standard().inverse_cdf(1.0 - alpha / 2.0);
    let spread = (squares / (count - 1.0)).sqrt();
    let half_width = z * spread * share.sqrt() / (1.0 - share).sqrt();
    Some((rank_ece - half_width, rank_ece + half_width))
}

/// The ranks, from 0, of the rows of bootstrap resample b of a sample of n rows, in ascending order of
/// confidence and label, drawn under the key of the sample
/// ([`Stream::Bootstrap`](crate::random::Stream::Bootstrap)).
pub fn bootstrap_ranks(n: usize, key: Key, resample: u32) -> Vec<usize> {
    let word = |row: u32| threefry(key.child(0, 2), [row, resample])[0];
    let rank = |row: u32| (u128::from(word(row)) * n as u128 / (1 << 32)) as usize;
    (0..n as u32).map(rank).collect()
}

/// The bins of a bootstrap resample: rows `ranks` of `sample`, sorted by confidence and label, in the
/// bins that they have in the sample.
pub fn bootstrap_bins(sample: &Sample, bins: &[Bin], ranks: &[usize]) -> Vec<Bin> {
    let mut rows = sample.rows().to_vec();
    rows.sort_by(|a, b| {
        a.confidence
            .total_cmp(&b.confidence)
            .then(a.label.cmp(&b.label))
    });
    let mut start = 0;
    let resampled = bins.iter().map(|bin| {
        let inside = start..start + bin.rows;
        start = inside.end;
        let drawn: Vec<_> = ranks
            .iter()
            .filter(|rank| inside.contains(rank))
            .map(|&rank| rows[rank])
            .collect();
        let count = drawn.len() as f64;
        let positives = drawn.iter().filter(|row| row.label).count();
        let mean = |total: f64| (!drawn.is_empty()).then_some(total / count);
        Bin {
            rows: drawn.len(),
            positives,
            mean_confidence: mean(sum(drawn.iter().map(|row| row.confidence))),
            mean_label: mean(positives as f64),
            ..*bin
        }
    });
    resampled.collect()
}

/// The k-th smallest and the k-th largest of the estimates of B resamples, k = ⌊(B+1) α/2⌋. None if k is
/// 0 or if all are equal.
pub fn percentile(estimates: &[f64], alpha: f64) -> Option<(f64, f64)> {
    let count = estimates.len();
    let all_equal = estimates.iter().all(|&estimate| estimate == estimates[0]);
    let rank = (1..=count)
        .rev()
        .find(|&k| k as f64 <= (count as f64 + 1.0) * alpha / 2.0 + 1e-9)?;
    // The k-th smallest has at most k - 1 below it and at least k at or below it.
    let kth = |sign: f64| {
        estimates.iter().copied().find(|&x| {
            let below = estimates.iter().filter(|&&y| sign * y < sign * x).count();
            let up_to = estimates.iter().filter(|&&y| sign * y <= sign * x).count();
            below < rank && rank <= up_to
        })
    };
    (!all_equal).then_some((kth(1.0)?, kth(-1.0)?))
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
