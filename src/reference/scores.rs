//! Scores that stand beside every calibration estimate. All are means over rows: none without rows.

use super::Sample;
use super::sample::{Row, sum};

/// The mean label.
pub fn base_rate(sample: &Sample) -> Option<f64> {
    mean(sample, |row| f64::from(u8::from(row.label)))
}

/// The mean confidence.
pub fn mean_confidence(sample: &Sample) -> Option<f64> {
    mean(sample, |row| row.confidence)
}

/// The Brier score, the mean of (Y - Z)².
pub fn brier(sample: &Sample) -> Option<f64> {
    mean(sample, |row| row.residual().powi(2))
}

/// The mean of -ln p, where p is the probability given to the observed label, at least 1e-15.
pub fn log_loss(sample: &Sample) -> Option<f64> {
    mean(sample, |row| -observed(row).max(1e-15).ln())
}

/// How many rows gave the observed label a probability below 1e-15.
pub fn log_loss_clamped(sample: &Sample) -> usize {
    let rows = sample.rows().iter();
    rows.filter(|&&row| observed(row) < 1e-15).count()
}

/// How many rows gave the observed label the probability 0.
pub fn impossible_labels(sample: &Sample) -> usize {
    let rows = sample.rows().iter();
    rows.filter(|&&row| observed(row) == 0.0).count()
}

fn observed(row: Row) -> f64 {
    if row.label {
        row.confidence
    } else {
        1.0 - row.confidence
    }
}

fn mean(sample: &Sample, score: impl Fn(Row) -> f64) -> Option<f64> {
    let rows = sample.rows();
    (!rows.is_empty()).then(|| sum(rows.iter().map(|&row| score(row))) / rows.len() as f64)
}
