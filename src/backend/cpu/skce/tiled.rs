//! Sums over all pairs, in tiles of the kernel matrix that are computed, used and forgotten.
//!
//! A task is a block of rows of the matrix, with the columns from its diagonal on: the matrix is
//! symmetric, and what lies beyond the diagonal counts twice. Tasks are added up in the order of
//! their rows, so the number of threads changes nothing.

use std::ops::Range;

use rayon::prelude::*;

use super::resampling::Vectors;
use super::{LANES, Lanes, exponent_scale, gaussian, laplace};
use crate::backend::kernels::{Kernel, Scaled};
use crate::simd::dispatch;

/// Rows of a task.
const ROWS: usize = 32;
/// Columns of a tile: its kernel values, 16 KB, stay in the first-level cache.
const COLUMNS: usize = 64;
/// Rows whose products are computed together, so that each load of a vector serves several.
const TOGETHER: usize = 4;

/// A tile of the kernel matrix.
type Tile = [[f64; COLUMNS]; ROWS];

/// The tasks of some rows: consecutive blocks of them.
fn tasks(rows: Range<usize>) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..rows.len().div_ceil(ROWS))
        .into_par_iter()
        .map(move |task| rows.start + task * ROWS..rows.end.min(rows.start + (task + 1) * ROWS))
}

/// aᵀKa.
pub fn form(scaled: Scaled, confidence: &[f64], vector: &[f64]) -> f64 {
    let parts: Vec<f64> = tasks(0..confidence.len())
        .map(|rows| form_of_rows(scaled, confidence, vector, rows))
        .collect();
    parts.iter().sum()
}

fn form_of_rows(scaled: Scaled, confidence: &[f64], vector: &[f64], rows: Range<usize>) -> f64 {
    dispatch!(form_of_rows_body(
        scaled: Scaled,
        confidence: &[f64],
        vector: &[f64],
        rows: Range<usize>
    ) -> f64)
}

#[inline(always)]
fn form_of_rows_body(
    scaled: Scaled,
    confidence: &[f64],
    vector: &[f64],
    rows: Range<usize>,
) -> f64 {
    let scale = exponent_scale(scaled);
    let mut sum = 0.0;
    for row in rows {
        let (z, a) = (confidence[row], vector[row]);
        let (others, weights) = (&confidence[row..][1..], &vector[row..][1..]);
        let beyond = match scaled.kernel {
            Kernel::Gaussian => row_sum(others, weights, |other| gaussian(other - z, scale)),
            Kernel::Laplace => row_sum(others, weights, |other| laplace(other - z, scale)),
        };
        sum += a * (a + 2.0 * beyond);
    }
    sum
}

/// Σ kernel · weight, in as many partial sums as a vector has lanes and two vectors deep.
#[inline(always)]
fn row_sum(others: &[f64], weights: &[f64], kernel: impl Fn(f64) -> f64) -> f64 {
    const DEEP: usize = 2 * LANES;
    let mut sums = [0.0; DEEP];
    let (blocks, rest) = others.as_chunks::<DEEP>();
    let (weight_blocks, weight_rest) = weights.as_chunks::<DEEP>();
    for (others, weights) in std::iter::zip(blocks, weight_blocks) {
        for lane in 0..DEEP {
            sums[lane] = kernel(others[lane]).mul_add(weights[lane], sums[lane]);
        }
    }
    let mut last = 0.0;
    for (&other, &weight) in std::iter::zip(rest, weight_rest) {
        last = kernel(other).mul_add(weight, last);
    }
    sums.iter().sum::<f64>() + last
}

/// Tasks whose parts are held until they are added up, for each thread.
const TASKS_HELD: usize = 64;

/// aᵀKa of many vectors together.
pub fn forms(scaled: Scaled, confidence: &[f64], vectors: Vectors<'_>) -> Vec<Lanes> {
    let vectors = &vectors.made_if_few();
    let mut sums = vec![[0.0; LANES]; vectors.blocks()];
    // Parts of all tasks together would take more memory than the sample.
    let held = ROWS * TASKS_HELD * rayon::current_num_threads();
    for first in (0..confidence.len()).step_by(held) {
        let parts: Vec<Vec<Lanes>> = tasks(first..confidence.len().min(first + held))
            .map(|rows| {
                let mut sums = vec![[0.0; LANES]; vectors.blocks()];
                forms_of_rows(scaled, confidence, vectors, rows, &mut sums);
                sums
            })
            .collect();
        for part in parts {
            for (sums, part) in std::iter::zip(&mut sums, part) {
                for lane in 0..LANES {
                    sums[lane] += part[lane];
                }
            }
        }
    }
    sums
}

/// The part of all forms that a block of rows has, added to `sums`.
fn forms_of_rows(
    scaled: Scaled,
    confidence: &[f64],
    vectors: &Vectors<'_>,
    rows: Range<usize>,
    sums: &mut [Lanes],
) {
    dispatch!(forms_of_rows_body(
        scaled: Scaled,
        confidence: &[f64],
        vectors: &Vectors<'_>,
        rows: Range<usize>,
        sums: &mut [Lanes]
    ) -> ())
}

#[inline(always)]
fn forms_of_rows_body(
    scaled: Scaled,
    confidence: &[f64],
    vectors: &Vectors<'_>,
    rows: Range<usize>,
    sums: &mut [Lanes],
) {
    let groups = confidence.len();
    let scale = exponent_scale(scaled);
    let mut tile: Tile = [[0.0; COLUMNS]; ROWS];
    // What vectors have at the rows, block after block, and what one block has at the columns.
    let mut left = vec![[0.0; LANES]; rows.len() * sums.len()];
    let mut right = [[0.0; LANES]; COLUMNS];
    for (block, left) in left.chunks_exact_mut(rows.len()).enumerate() {
        left.copy_from_slice(vectors.at(block, rows.clone(), &mut right[..rows.len()]));
    }
    // The square on the diagonal holds every pair twice already.
    let mut columns = rows.clone();
    let mut times = 1.0;
    while !columns.is_empty() {
        let width = columns.len();
        for (kernels, &z) in std::iter::zip(&mut tile, &confidence[rows.clone()]) {
            let kernels = std::iter::zip(&mut kernels[..width], &confidence[columns.clone()]);
            match scaled.kernel {
                Kernel::Gaussian => {
                    for (kernel, &other) in kernels {
                        *kernel = gaussian(other - z, scale);
                    }
                }
                Kernel::Laplace => {
                    for (kernel, &other) in kernels {
                        *kernel = laplace(other - z, scale);
                    }
                }
            }
        }
        let blocks = std::iter::zip(left.chunks_exact(rows.len()), &mut *sums);
        for (block, (left, sums)) in blocks.enumerate() {
            let right = vectors.at(block, columns.clone(), &mut right[..width]);
            let sum = tile_form(&tile[..rows.len()], left, right);
            for lane in 0..LANES {
                sums[lane] = sum[lane].mul_add(times, sums[lane]);
            }
        }
        columns = columns.end..groups.min(columns.end + COLUMNS);
        times = 2.0;
    }
}

/// aᵀKb for a tile, its rows' vectors a and its columns' vectors b.
#[inline(always)]
fn tile_form(tile: &[[f64; COLUMNS]], rows: &[Lanes], columns: &[Lanes]) -> Lanes {
    let mut sums = [0.0; LANES];
    let (kernels, kernel_rest) = tile.as_chunks::<TOGETHER>();
    let (left, left_rest) = rows.as_chunks::<TOGETHER>();
    for (kernels, left) in std::iter::zip(kernels, left) {
        rows_form(kernels, left, columns, &mut sums);
    }
    for (kernel, left) in std::iter::zip(kernel_rest, left_rest) {
        rows_form(&[*kernel], &[*left], columns, &mut sums);
    }
    sums
}

#[inline(always)]
fn rows_form<const R: usize>(
    kernels: &[[f64; COLUMNS]; R],
    left: &[Lanes; R],
    columns: &[Lanes],
    sums: &mut Lanes,
) {
    let mut products = [[0.0; LANES]; R];
    for (column, right) in columns[..columns.len().min(COLUMNS)].iter().enumerate() {
        for row in 0..R {
            let kernel = kernels[row][column];
            for lane in 0..LANES {
                products[row][lane] = kernel.mul_add(right[lane], products[row][lane]);
            }
        }
    }
    for (products, left) in std::iter::zip(&products, left) {
        for lane in 0..LANES {
            sums[lane] = left[lane].mul_add(products[lane], sums[lane]);
        }
    }
}
