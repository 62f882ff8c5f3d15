//! rankECE, the tuning-free estimate of ℓ2-ECE = E[(E[Y|Z]-Z)²]: \[CB26 (2.1)\]. Signed.

use super::Sample;
use super::sample::{Row, sum};
use crate::random::Key;

/// (1/n) Σ_{i=1}^{n-1} D_(i) D_(i+1), averaged over all orders of tied rows.
///
/// With m rows of which a fraction p is positive in each group g of one confidence z, W = p - z:
/// n·rankECE = Σ_g \[(m_g - 1) W_g² - p_g (1 - p_g)\] + Σ_g W_g W_{g+1}. None without rows.
pub fn average(sample: &Sample) -> Option<f64> {
    let within = sample.groups().iter().map(|group| {
        let (p, w) = (group.mean_label(), group.mean_residual());
        (group.rows as f64 - 1.0) * w * w - p * (1.0 - p)
    });
    let between = sample
        .groups()
        .windows(2)
        .map(|pair| pair[0].mean_residual() * pair[1].mean_residual());
    mean(sum(within.chain(between)), sample.rows().len())
}

/// The same with tied rows in one random order, drawn under `stream`
/// ([`Stream::Ties`](crate::random::Stream::Ties)).
pub fn random(sample: &Sample, stream: Key) -> Option<f64> {
    of_ordered(&sample.placed(stream))
}

/// The same with tied rows in input order.
pub fn stable(sample: &Sample) -> Option<f64> {
    of_ordered(sample.rows())
}

/// (1/n) Σ_{i=1}^{n-1} D_(i) D_(i+1) of rows in this very order. None without rows.
pub fn of_ordered(rows: &[Row]) -> Option<f64> {
    let products = rows
        .windows(2)
        .map(|pair| pair[0].residual() * pair[1].residual());
    mean(sum(products), rows.len())
}

fn mean(total: f64, n: usize) -> Option<f64> {
    (n > 0).then(|| total / n as f64)
}
