//! Statistics whose null law is found by drawing labels anew, and Spiegelhalter's.

use super::Sample;
use super::null::variance;
use super::sample::sum;

/// S_L = Σ_{1<=j-i<=L} W_(i) W_(j) for L = `width`, where every row carries the mean residual W of its
/// tied group.
pub fn window_sum(sample: &Sample, width: usize) -> f64 {
    let residuals = carried_residuals(sample);
    let pairs = (0..residuals.len()).flat_map(|i| {
        let partners = (i + 1..residuals.len()).take(width);
        let residuals = &residuals;
        partners.map(move |j| residuals[i] * residuals[j])
    });
    sum(pairs)
}

/// The null variance Σ_{1<=j-i<=L} v_(i) v_(j) of S_L without ties; its null mean is 0.
pub fn window_variance(sample: &Sample, width: usize) -> f64 {
    let v: Vec<f64> = sample
        .rows()
        .iter()
        .map(|r| variance(r.confidence))
        .collect();
    sum((0..v.len()).flat_map(|i| {
        let partners = (i + 1..v.len()).take(width);
        let v = &v;
        partners.map(move |j| v[i] * v[j])
    }))
}

fn carried_residuals(sample: &Sample) -> Vec<f64> {
    let groups = sample.groups().iter();
    groups
        .flat_map(|group| std::iter::repeat_n(group.mean_residual(), group.rows))
        .collect()
}

/// The smallest and the largest C_k = Σ_{i<=k} D_(i), over the ends of tied groups and the start, 0.
pub fn walk(sample: &Sample) -> (f64, f64) {
    let groups = sample.groups();
    let ends = (0..=groups.len()).map(|end| {
        sum(groups[..end]
            .iter()
            .map(|group| group.positives as f64 - group.rows as f64 * group.confidence))
    });
    ends.fold((0.0, 0.0), |(low, high): (f64, f64), c| {
        (low.min(c), high.max(c))
    })
}

/// σ = √(Σ v_i), the null standard deviation of the walk's end.
fn walk_sd(sample: &Sample) -> f64 {
    sum(sample.rows().iter().map(|row| variance(row.confidence))).sqrt()
}

/// KS = max |C| / σ; none if σ = 0.
pub fn ks(sample: &Sample) -> Option<f64> {
    let (low, high) = walk(sample);
    let sd = walk_sd(sample);
    (sd > 0.0).then(|| high.max(-low) / sd)
}

/// Kuiper = (max C - min C) / σ; none if σ = 0.
pub fn kuiper(sample: &Sample) -> Option<f64> {
    let (low, high) = walk(sample);
    let sd = walk_sd(sample);
    (sd > 0.0).then(|| (high - low) / sd)
}

/// Σ (Y-Z)(1-2Z) / √(Σ (1-2Z)² v); none if the denominator is 0.
pub fn spiegelhalter(sample: &Sample) -> Option<f64> {
    let rows = sample.rows().iter();
    let weight = |z: f64| 1.0 - 2.0 * z;
    let top = sum(rows
        .clone()
        .map(|row| row.residual() * weight(row.confidence)));
    let square = sum(rows.map(|row| weight(row.confidence).powi(2) * variance(row.confidence)));
    (square > 0.0).then(|| top / square.sqrt())
}

/// The probability under H0 that a statistic of these confidences reaches `observed` (within 1e-9), by
/// enumeration of all 2ⁿ label vectors. For small samples alone.
pub fn exact_p_value(
    confidences: &[f64],
    observed: f64,
    statistic: impl Fn(&Sample) -> f64,
) -> Option<f64> {
    let vectors = 0u32..1 << confidences.len();
    let mut probabilities = Vec::new();
    for vector in vectors {
        let labels: Vec<bool> = (0..confidences.len())
            .map(|i| vector >> i & 1 == 1)
            .collect();
        let sample = Sample::new(confidences, &labels)?;
        if statistic(&sample) >= observed - 1e-9 {
            let of_row = |(&z, &y): (&f64, &bool)| if y { z } else { 1.0 - z };
            probabilities.push(confidences.iter().zip(&labels).map(of_row).product());
        }
    }
    Some(sum(probabilities))
}

/// The p-value of `adaptive` from profiles, one value for each width: `profiles[0]` is the sample's,
/// the others are of its null resamples. None if no width varies.
pub fn adaptive_p_value(profiles: &[Vec<f64>]) -> Option<f64> {
    let count = profiles.len() as f64;
    let mut largest = vec![f64::NEG_INFINITY; profiles.len()];
    for width in 0..profiles.first()?.len() {
        let values: Vec<f64> = profiles.iter().map(|profile| profile[width]).collect();
        if values.iter().all(|value| *value == values[0]) {
            continue;
        }
        let mean = sum(values.iter().copied()) / count;
        let sd = (sum(values.iter().map(|value| (value - mean).powi(2))) / (count - 1.0)).sqrt();
        for (largest, value) in largest.iter_mut().zip(&values) {
            *largest = largest.max((value - mean) / sd);
        }
    }
    // The sample reaches itself.
    let reach = largest.iter().filter(|other| **other >= largest[0] - 1e-6);
    (largest[0] > f64::NEG_INFINITY).then(|| reach.count() as f64 / count)
}
