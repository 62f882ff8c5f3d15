//! How a sample is cut into bins: edges, membership, and rules for the number of bins.

use super::Sample;
use super::sample::sum;
use crate::backend::Closed;
use crate::predictions::Dtype;

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower edge (equal-mass: smallest confidence inside).
    pub lower: f64,
    /// Upper edge (equal-mass: largest confidence inside).
    pub upper: f64,
    /// The number of rows.
    pub rows: usize,
    /// The number of them of label 1.
    pub positives: usize,
    /// Mean confidence; none in an empty bin.
    pub mean_confidence: Option<f64>,
    /// Mean label; none in an empty bin.
    pub mean_label: Option<f64>,
}

impl Bin {
    /// Mean label less mean confidence; none in an empty bin.
    pub fn gap(&self) -> Option<f64> {
        Some(self.mean_label? - self.mean_confidence?)
    }

    /// The bin of the rows `inside` of `sample`, in sorted order.
    fn new(sample: &Sample, lower: f64, upper: f64, inside: std::ops::Range<usize>) -> Self {
        let rows = &sample.rows()[inside];
        let positives = rows.iter().filter(|row| row.label).count();
        let mean = |total: f64| (!rows.is_empty()).then(|| total / rows.len() as f64);
        Bin {
            lower,
            upper,
            rows: rows.len(),
            positives,
            mean_confidence: mean(sum(rows.iter().map(|row| row.confidence))),
            mean_label: mean(positives as f64),
        }
    }
}

/// j/K correctly rounded to `dtype`, ties to even: the value nearest to it, found by comparing
/// fractions exactly. K is at least 1 and j at most K.
pub fn edge(dtype: Dtype, j: u32, bins: u32) -> f64 {
    if j == 0 {
        return 0.0;
    }
    // Numbers are compared as whole multiples of 2⁻⁹⁰. j/K is at least 2⁻³², so every value of at
    // most 53 significant bits beside it is such a multiple; what is cut off of the smaller ones
    // does not matter, since they lie below j/K anyway. K and the factor 2 take 33 bits more.
    let units = |value: f64| (value * 2f64.powi(90)) as u128;
    let target = u128::from(j) << 90;
    let k = u128::from(bins);
    // The largest value that is at most j/K; bits of non-negative floats sort as they do.
    let (mut below, mut above) = (0, dtype.one_bits() + 1);
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if units(dtype.value(middle)) * k <= target {
            below = middle;
        } else {
            above = middle;
        }
    }
    if below == dtype.one_bits() {
        return 1.0;
    }
    let twice_midpoint = (units(dtype.value(below)) + units(dtype.value(above))) * k;
    let nearest = match (2 * target).cmp(&twice_midpoint) {
        std::cmp::Ordering::Less => below,
        std::cmp::Ordering::Greater => above,
        std::cmp::Ordering::Equal if below % 2 == 0 => below,
        std::cmp::Ordering::Equal => above,
    };
    dtype.value(nearest)
}

/// Bins between the edges j/K: right-closed ((j-1)/K, j/K] with 0 in the first (as \[G17\]), or
/// left-closed \[(j-1)/K, j/K) with 1 in the last. All K of them; none if K is 0.
pub fn equal_width(sample: &Sample, dtype: Dtype, bins: u32, closed: Closed) -> Vec<Bin> {
    let edges: Vec<f64> = (0..=bins).map(|j| edge(dtype, j, bins.max(1))).collect();
    edges
        .windows(2)
        .enumerate()
        .map(|(bin, ends)| {
            let (lower, upper) = (ends[0], ends[1]);
            let (first, last) = (bin == 0, bin + 1 == bins as usize);
            let inside = |z: f64| match closed {
                Closed::Right => (lower < z && z <= upper) || (first && z == 0.0),
                Closed::Left => (lower <= z && z < upper) || (last && z == 1.0),
            };
            let rows = sample.rows();
            // In sorted order the rows of a bin stand together.
            let start = rows.iter().position(|row| inside(row.confidence));
            let start = start.unwrap_or(0);
            let count = rows.iter().filter(|row| inside(row.confidence)).count();
            Bin::new(sample, lower, upper, start..start + count)
        })
        .collect()
}

/// Bins of as many rows each as ties allow: rows of one confidence, of ranks a..=b counted from 1,
/// go together to bin ⌊K(a+b-1)/(2n)⌋, counted from 0. Only bins with rows in them.
pub fn equal_mass(sample: &Sample, bins: u32) -> Vec<Bin> {
    let n = sample.rows().len() as u128;
    let mut cuts: Vec<(u128, std::ops::Range<usize>)> = Vec::new();
    for group in sample.groups() {
        let end = group.first_rank + group.rows;
        let (a, b) = (group.first_rank as u128 + 1, end as u128);
        let bin = u128::from(bins) * (a + b - 1) / (2 * n);
        match cuts.last_mut() {
            Some((last, inside)) if *last == bin => inside.end = end,
            _ => cuts.push((bin, group.first_rank..end)),
        }
    }
    cuts.into_iter()
        .map(|(_, inside)| {
            let lower = sample.rows()[inside.start].confidence;
            let upper = sample.rows()[inside.end - 1].confidence;
            Bin::new(sample, lower, upper, inside)
        })
        .collect()
}

/// The number of bins of the rule `sqrt`: the largest k with k² <= n, at least 1.
pub fn square_root(n: u32) -> u32 {
    largest(|k| k.pow(2) <= u128::from(n))
}

/// The number of bins of the rule `cbrt`: the largest k with k³ <= n, at least 1.
pub fn cube_root(n: u32) -> u32 {
    largest(|k| k.pow(3) <= u128::from(n))
}

/// The number of bins of the rule `n/C`: the largest k with k·C <= n, at least 1. C is at least 1.
pub fn quotient(n: u32, divisor: u32) -> u32 {
    largest(|k| k * u128::from(divisor.max(1)) <= u128::from(n))
}

/// The largest k of at least 1 for which `fits` holds, where it holds up to some k.
fn largest(fits: impl Fn(u128) -> bool) -> u32 {
    let (mut low, mut high) = (1u32, u32::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(u128::from(middle)) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}
