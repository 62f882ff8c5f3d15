//! SKCE and its tests, over all pairs and with every matrix written out: \[W19\] Widmann, Lindsten &
//! Zachariah, "Calibration tests in multi-class classification", 2019.

use super::sample::{Row, sum};
use crate::backend::kernels::Kernel;
use crate::random::{Key, threefry};

/// The kernel of two confidences: exp(-(z-z')²/(2γ²)) or exp(-|z-z'|/γ).
pub fn kernel_value(kernel: Kernel, bandwidth: f64, a: f64, b: f64) -> f64 {
    match kernel {
        Kernel::Gaussian => (-(a - b).powi(2) / (2.0 * bandwidth.powi(2))).exp(),
        Kernel::Laplace => (-(a - b).abs() / bandwidth).exp(),
    }
}

/// h_ij = D_i k(Z_i, Z_j) D_j for all i and j.
pub fn matrix(rows: &[Row], kernel: Kernel, bandwidth: f64) -> Vec<Vec<f64>> {
    let h = |a: &Row, b: &Row| {
        a.residual() * kernel_value(kernel, bandwidth, a.confidence, b.confidence) * b.residual()
    };
    let row = |a: &Row| rows.iter().map(|b| h(a, b)).collect();
    rows.iter().map(row).collect()
}

/// 2/(n(n-1)) Σ_{i<j} h_ij.
pub fn unbiased(h: &[Vec<f64>]) -> f64 {
    let n = h.len() as f64;
    let above = h.iter().enumerate().flat_map(|(i, row)| &row[i + 1..]);
    2.0 / (n * (n - 1.0)) * sum(above.copied())
}

/// (1/n²) Σ_{i,j} h_ij.
pub fn biased(h: &[Vec<f64>]) -> f64 {
    let n = h.len() as f64;
    sum(h.iter().flatten().copied()) / (n * n)
}

/// The terms of the linear estimate: h of rows 1 and 2, of 3 and 4, and so on.
pub fn linear_terms(h: &[Vec<f64>]) -> Vec<f64> {
    (0..h.len() / 2)
        .map(|pair| h[2 * pair][2 * pair + 1])
        .collect()
}

/// z = √m · mean / sd of the linear terms, m their number and m - 1 the divisor of the variance.
pub fn linear_statistic(terms: &[f64]) -> f64 {
    let m = terms.len() as f64;
    let mean = sum(terms.iter().copied()) / m;
    let variance = sum(terms.iter().map(|h| (h - mean).powi(2))) / (m - 1.0);
    m.sqrt() * mean / variance.sqrt()
}

/// The median of |Z_i - Z_j| over i < j, an even count averaging the two middle ones.
pub fn median_distance(confidences: &[f64]) -> Option<f64> {
    let mut distances = Vec::new();
    for (i, a) in confidences.iter().enumerate() {
        distances.extend(confidences[i + 1..].iter().map(|b| (a - b).abs()));
    }
    distances.sort_by(f64::total_cmp);
    let middle = distances.len() / 2;
    match distances.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(distances[middle]),
        _ => Some(0.5 * (distances[middle - 1] + distances[middle])),
    }
}

/// T* = (1/n)[Cᵀh̃C - Σ C_i h̃_ii] with h̃ the matrix h centred by its row, column and grand means.
pub fn multinomial_statistic(h: &[Vec<f64>], counts: &[f64]) -> f64 {
    let n = h.len() as f64;
    let means: Vec<f64> = h.iter().map(|row| sum(row.iter().copied()) / n).collect();
    let grand = sum(means.iter().copied()) / n;
    let centred = |i: usize, j: usize| h[i][j] - means[i] - means[j] + grand;
    let indices = 0..h.len();
    let form = indices.clone().flat_map(|i| {
        let centred = &centred;
        indices
            .clone()
            .map(move |j| counts[i] * centred(i, j) * counts[j])
    });
    let diagonal = indices.clone().map(|i| counts[i] * centred(i, i));
    (sum(form) - sum(diagonal)) / n
}

/// T* = (1/n) Σ_{i≠j} w_i w_j h_ij.
pub fn wild_statistic(h: &[Vec<f64>], signs: &[f64]) -> f64 {
    let n = h.len() as f64;
    let indices = 0..h.len();
    let terms = indices.clone().flat_map(|i| {
        let others = indices.clone().filter(move |&j| j != i);
        others.map(move |j| signs[i] * signs[j] * h[i][j])
    });
    sum(terms) / n
}

/// The counts of the rows that multinomial resample `resample` takes: draw t takes the row
/// ⌊u·n/2⁶⁴⌋, u the two words of counter (t, resample), the first below the second.
pub fn drawn_counts(key: Key, resample: u32, rows: usize) -> Vec<f64> {
    let mut counts = vec![0.0; rows];
    for draw in 0..rows {
        let [low, high] = threefry(key, [draw as u32, resample]);
        let word = u128::from(high) << 32 | u128::from(low);
        counts[(word * rows as u128 / (1 << 64)) as usize] += 1.0;
    }
    counts
}

/// The mean of h over the pairs of draws that are different rows, `ranks` the row of each draw; none if
/// there are no such pairs.
pub fn bootstrap_unbiased(h: &[Vec<f64>], ranks: &[usize]) -> Option<f64> {
    let others = |&i: &usize| {
        ranks
            .iter()
            .filter(move |&&j| j != i)
            .map(move |&j| h[i][j])
    };
    let terms: Vec<f64> = ranks.iter().flat_map(others).collect();
    (!terms.is_empty()).then(|| sum(terms.iter().copied()) / terms.len() as f64)
}

/// The signs of wild resample `resample`: plus where the first word of counter (row, resample) is at
/// least 2³¹.
pub fn drawn_signs(key: Key, resample: u32, rows: usize) -> Vec<f64> {
    let word = |row| threefry(key, [row as u32, resample])[0];
    let sign = |row| if word(row) >= 1 << 31 { 1.0 } else { -1.0 };
    (0..rows).map(sign).collect()
}

/// The rows with labels drawn as if they were calibrated: 1 where a quarter of the second word of
/// counter (row, resample), rounded down, is below the confidence times 2³⁰, rounded half up.
pub fn drawn_labels(key: Key, resample: u32, rows: &[Row]) -> Vec<Row> {
    let draw = |(place, row): (usize, &Row)| {
        let word = threefry(key, [place as u32, resample])[1];
        let chance = (row.confidence * f64::from(1u32 << 30) + 0.5).floor();
        Row {
            confidence: row.confidence,
            label: f64::from(word / 4) < chance,
        }
    };
    rows.iter().enumerate().map(draw).collect()
}
