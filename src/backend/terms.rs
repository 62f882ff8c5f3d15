//! The integer terms of sorted rows (specification, section 6). Twin of `shaders/shared/terms.wgsl`.
//!
//! In sorted order equal confidences form runs. Everything that does not depend on the order of
//! tied rows is a sum over runs and over pairs of runs that touch; the rest is a sum over rows.

use std::ops::AddAssign;

use super::NeighbourSums;
use crate::fixed_point::{
    ONE_Q30, fraction_q30, half_square_q29, mean_variance_q33, null_variance_q33, product_q29,
};

/// All rows of one confidence, with what is computed of them more than once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The rank of its first row in its segment, from 0.
    pub first_rank: u32,
    /// The confidence, Q30.
    pub confidence: u32,
    /// The number of rows, at least 1.
    pub size: u32,
    /// The number of them of label 1.
    pub positives: u32,
    /// Mean label, Q30.
    fraction: u32,
    /// Null variance of a residual, Q33.
    variance: u32,
    /// Null variance of the mean residual, Q33.
    pub mean_variance: u32,
}

impl Run {
    /// `size` rows of a confidence in Q30, `positives` of them of label 1.
    pub fn new(first_rank: u32, confidence: u32, size: u32, positives: u32) -> Self {
        let variance = null_variance_q33(confidence);
        // Most runs are one row, and need no division.
        let (fraction, mean_variance) = match (size, positives) {
            (1, 0) => (0, variance),
            (1, _) => (ONE_Q30, variance),
            _ => (
                fraction_q30(positives, size),
                mean_variance_q33(variance, size),
            ),
        };
        Run {
            first_rank,
            confidence,
            size,
            positives,
            fraction,
            variance,
            mean_variance,
        }
    }

    /// Mean residual, Q30.
    pub fn mean_residual(&self) -> i64 {
        i64::from(self.fraction) - i64::from(self.confidence)
    }
}

/// Sums over runs; the fields are those of [`super::SegmentSums`], with rank_ece tie-averaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSums {
    pub distinct: u64,
    pub tied_rows: u64,
    pub rank_ece: i128,
    pub null_squares: u128,
    pub null_odd: u128,
    pub null_even: u128,
    pub null_conditional: u128,
    pub brier: u128,
}

impl RunSums {
    /// Adds what a run contributes by itself.
    pub fn add_run(&mut self, run: &Run) {
        let (size, positives) = (u64::from(run.size), u64::from(run.positives));
        let negatives = size - positives;
        let confidence = u64::from(run.confidence);
        let variance = run.variance;
        let square = u128::from(u64::from(variance) * u64::from(variance));

        self.distinct += 1;
        self.null_squares += square * u128::from(size);
        let complement = u64::from(ONE_Q30) - confidence;
        self.brier += u128::from(positives) * u128::from(complement * complement)
            + u128::from(negatives) * u128::from(confidence * confidence);
        if run.size == 1 {
            return;
        }

        self.tied_rows += size;
        let fraction = u64::from(run.fraction);
        let residual = run.mean_residual();
        self.rank_ece += i128::from(residual * residual) * i128::from(size - 1)
            - i128::from(fraction * (u64::from(ONE_Q30) - fraction));
        // The pairs inside the run are numbered from first_rank + 1 on.
        let pairs = size - 1;
        let first_is_odd = u64::from(run.first_rank.is_multiple_of(2));
        let odd = (pairs + first_is_odd) / 2;
        self.null_odd += square * u128::from(odd);
        self.null_even += square * u128::from(pairs - odd);
        self.null_conditional +=
            u128::from(2 * u64::from(variance) * u64::from(variance - run.mean_variance));
    }

    /// Adds what a run and the next one contribute together.
    pub fn add_boundary(&mut self, run: &Run, next: &Run) {
        self.rank_ece += i128::from(run.mean_residual() * next.mean_residual());
        let product = u128::from(u64::from(run.variance) * u64::from(next.variance));
        // The pair's number is the rank, from 1, of the run's last row.
        if next.first_rank % 2 == 1 {
            self.null_odd += product;
        } else {
            self.null_even += product;
        }
        self.null_conditional +=
            u128::from(u64::from(run.mean_variance) * u64::from(next.mean_variance));
    }
}

impl AddAssign for RunSums {
    fn add_assign(&mut self, other: Self) {
        self.distinct += other.distinct;
        self.tied_rows += other.tied_rows;
        self.rank_ece += other.rank_ece;
        self.null_squares += other.null_squares;
        self.null_odd += other.null_odd;
        self.null_even += other.null_even;
        self.null_conditional += other.null_conditional;
        self.brier += other.brier;
    }
}

/// Sums over rows in a definite order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowSums {
    /// Σ D_(i) D_(i+1), Q60.
    pub adjacent: i128,
    /// Moments of four neighbours.
    pub neighbours: NeighbourSums,
}

impl RowSums {
    /// Adds the product of two neighbours.
    pub fn add_pair(&mut self, a: i32, b: i32) {
        self.adjacent += i128::from(i64::from(a) * i64::from(b));
    }

    /// Adds the moments of four neighbours.
    pub fn add_window(&mut self, [a, b, c, d]: [i32; 4]) {
        let p = |x, y| i64::from(product_q29(x, y));
        let h = |x, y| i64::from(half_square_q29(x, y));
        let (ab, ac, ad, bc, bd, cd) = (p(a, b), p(a, c), p(a, d), p(b, c), p(b, d), p(c, d));
        let (h_ab, h_ac, h_ad) = (h(a, b), h(a, c), h(a, d));
        let (h_bc, h_bd, h_cd) = (h(b, c), h(b, d), h(c, d));
        // Each product is at most 2⁵⁹ or 2⁶⁰, so six and three of them fit 64 bits.
        self.neighbours.r4 += i128::from(ab * cd);
        self.neighbours.r2s2 +=
            i128::from(h_ab * cd + h_ac * bd + h_ad * bc + h_bc * ad + h_bd * ac + h_cd * ab);
        self.neighbours.s4 += i128::from(h_ab * h_cd + h_ac * h_bd + h_ad * h_bc);
    }
}

impl AddAssign for NeighbourSums {
    fn add_assign(&mut self, other: Self) {
        self.r4 += other.r4;
        self.r2s2 += other.r2s2;
        self.s4 += other.s4;
    }
}

impl AddAssign for RowSums {
    fn add_assign(&mut self, other: Self) {
        self.adjacent += other.adjacent;
        self.neighbours += other.neighbours;
    }
}
