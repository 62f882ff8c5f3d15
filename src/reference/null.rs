//! Null variances. Under H0, given the confidences, labels are independent and Y_i ~ Ber(Z_i), so
//! that a residual has mean 0 and variance v_i = Z_i (1 - Z_i).

use super::Sample;
use super::sample::sum;

/// v = z(1-z), the variance of a label of confidence z.
pub fn variance(confidence: f64) -> f64 {
    confidence * (1.0 - confidence)
}

/// Σ v_i².
pub fn squares(sample: &Sample) -> f64 {
    sum(sample
        .rows()
        .iter()
        .map(|row| variance(row.confidence).powi(2)))
}

/// Σ v_(i) v_(i+1) over odd i; the first row is number 1.
pub fn odd(sample: &Sample) -> f64 {
    adjacent(sample, 0)
}

/// Σ v_(i) v_(i+1) over even i.
pub fn even(sample: &Sample) -> f64 {
    adjacent(sample, 1)
}

fn adjacent(sample: &Sample, start: usize) -> f64 {
    sum(sample
        .rows()
        .windows(2)
        .skip(start)
        .step_by(2)
        .map(|pair| variance(pair[0].confidence) * variance(pair[1].confidence)))
}

/// Var(n·rankECE | Z) with tied rows in one fixed or random order: Σ v_(i) v_(i+1).
pub fn conditional_ordered(sample: &Sample) -> f64 {
    odd(sample) + even(sample)
}

/// Var(n·rankECE | Z) averaged over ties:
/// Σ_g 2(m_g-1)/m_g · v_g² + Σ_g v_g v_{g+1}/(m_g m_{g+1}).
pub fn conditional_average(sample: &Sample) -> f64 {
    let within = sample.groups().iter().map(|group| {
        let m = group.rows as f64;
        2.0 * (m - 1.0) / m * variance(group.confidence).powi(2)
    });
    let between = sample.groups().windows(2).map(|pair| {
        let sizes = pair[0].rows as f64 * pair[1].rows as f64;
        variance(pair[0].confidence) * variance(pair[1].confidence) / sizes
    });
    sum(within.chain(between))
}
