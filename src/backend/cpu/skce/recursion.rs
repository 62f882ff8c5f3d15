//! The Laplace kernel in O(n): on sorted confidences K_gh is the product of the kernels of all steps
//! between, so that Σ_{g<h} K_gh a_g is known at h from what it was one step before.

use rayon::prelude::*;

use super::resampling::Vectors;
use super::{LANES, Lanes};

/// For each confidence the kernel from it to the one before; 0 for the first.
pub fn decay(bandwidth: f64, confidence: &[f64]) -> Vec<f64> {
    let steps = confidence.windows(2);
    let steps = steps.map(|pair| super::laplace(pair[1] - pair[0], 1.0 / bandwidth));
    let first = confidence.first().map(|_| 0.0);
    first.into_iter().chain(steps).collect()
}

/// aᵀKa = Σ_h a_h (a_h + 2 L_h), L_h = Σ_{g<h} K_gh a_g = decay_h (L_{h-1} + a_{h-1}).
pub fn form(decay: &[f64], vector: &[f64]) -> f64 {
    let (mut sum, mut before) = (0.0, 0.0);
    for (&decay, &a) in std::iter::zip(decay, vector) {
        before *= decay;
        sum += a * (2.0 * before + a);
        before += a;
    }
    sum
}

/// The same of many vectors, a block of lanes in each task.
pub fn forms(decay: &[f64], vectors: &Vectors<'_>) -> Vec<Lanes> {
    (0..vectors.blocks())
        .into_par_iter()
        .map(|block| block_forms(decay, vectors, block))
        .collect()
}

fn block_forms(decay: &[f64], vectors: &Vectors<'_>, block: usize) -> Lanes {
    crate::simd::dispatch!(block_forms_body(
        decay: &[f64],
        vectors: &Vectors<'_>,
        block: usize
    ) -> Lanes)
}

/// Groups whose vectors are made at a time: 8 KB.
const GROUPS: usize = 128;

#[inline(always)]
fn block_forms_body(decay: &[f64], vectors: &Vectors<'_>, block: usize) -> Lanes {
    let (mut sums, mut before) = ([0.0; LANES], [0.0; LANES]);
    let mut memory = [[0.0; LANES]; GROUPS];
    let mut first = 0;
    for decay in decay.chunks(GROUPS) {
        let groups = first..first + decay.len();
        let made = vectors.at(block, groups, &mut memory[..decay.len()]);
        first += decay.len();
        for (&decay, a) in std::iter::zip(decay, made) {
            for lane in 0..LANES {
                before[lane] *= decay;
                sums[lane] = a[lane].mul_add(2f64.mul_add(before[lane], a[lane]), sums[lane]);
                before[lane] += a[lane];
            }
        }
    }
    sums
}
