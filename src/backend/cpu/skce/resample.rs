//! Resamples of SKCE-U as vectors: quadratic forms of the kernel in them are the null statistics.
//!
//! With w a resample's weights, a_g = Σ w_i D_i over the rows of group g, and Q(a) = aᵀKa,
//! n times the statistics T* of the specification (section 3) are:
//! - multinomial: [Cᵀh̃C - Σ C_i h̃_ii], h̃ centred. Cᵀh̃C = wᵀhw with w = C - 1, and with r_i the row
//!   means and m the mean of h, Σ C_i h̃_ii = Σ C_i h_ii - 2 Σ C_i r_i + n m. Here n Σ C_i r_i =
//!   wᵀh1 + 1ᵀh1 and n² m = 1ᵀh1 = Q₀. As (w + 1/n)ᵀh(w + 1/n) = wᵀhw + (2/n) wᵀh1 + Q₀/n², the whole is
//!   Q(a) - Σ C_i D_i² + Q₀(n-1)/n² for the weights C - 1 + 1/n, to be held against n²·skce_u =
//!   n (Q₀ - Σ D²)/(n-1). No row means are needed;
//! - wild: w = ±1, Q(a) - Σ D_i², against n(n-1)·skce_u = Q₀ - Σ D²;
//! - Monte Carlo: residuals of new labels, Q(a) - Σ D*_i², against the same.

use super::Lanes;
use super::drawn::Drawn;
use super::resampling::{Law, Resampling};
use crate::backend::kernels::{SkceNull, SkceResamples, SortedRows};

/// Turns resamples into vectors, and forms into statistics.
pub struct Resampler<'a> {
    rows: &'a SortedRows,
    null: SkceNull,
    resampling: Resampling<'a>,
    /// Σ_{i,j} h_ij and Σ_i h_ii of the sample.
    all: f64,
    diagonal: f64,
}

impl<'a> Resampler<'a> {
    pub fn new(rows: &'a SortedRows, resamples: &SkceResamples, all: f64, diagonal: f64) -> Self {
        Resampler {
            rows,
            null: resamples.null,
            resampling: Resampling::new(rows, Law::from(resamples.null), resamples.words_key()),
            all,
            diagonal,
        }
    }

    /// What the resamples are made of.
    pub fn resampling(&self) -> &Resampling<'a> {
        &self.resampling
    }

    /// What statistics of resamples are held against.
    pub fn observed(&self) -> f64 {
        let n = self.rows.rows() as f64;
        match self.null {
            SkceNull::Multinomial => (self.all - self.diagonal) * (n / (n - 1.0)),
            SkceNull::Wild | SkceNull::MonteCarlo => self.all - self.diagonal,
        }
    }

    /// The statistic of a resample from the form of its vector and what [`Resampler::fill`] gave.
    pub fn statistic(&self, form: f64, diagonal: f64) -> f64 {
        let n = self.rows.rows() as f64;
        match self.null {
            SkceNull::Multinomial => form - diagonal + self.all * ((n - 1.0) / (n * n)),
            SkceNull::Wild | SkceNull::MonteCarlo => form - diagonal,
        }
    }

    /// The least statistic that counts as at least as large as the sample's: equal ones may differ by
    /// the rounding of f64.
    pub fn threshold(&self) -> f64 {
        self.observed() - 1e-12 * self.rows.magnitudes().powi(2)
    }

    /// Draws resamples, at most [`super::LANES`] of them, one in each lane, and gives their diagonals.
    pub fn draw(&self, resamples: &[u32], drawn: &mut Drawn) -> Lanes {
        self.resampling.draw(resamples, drawn);
        match self.null {
            SkceNull::Multinomial => self.resampling.squares(drawn),
            SkceNull::Wild => [self.diagonal; super::LANES],
            SkceNull::MonteCarlo => self.resampling.new_squares(drawn),
        }
    }

    /// The same, and writes the vectors of the resamples.
    pub fn fill(&self, resamples: &[u32], vectors: &mut [Lanes], drawn: &mut Drawn) -> Lanes {
        let diagonals = self.draw(resamples, drawn);
        self.resampling.vectors(drawn, 0..vectors.len(), vectors);
        diagonals
    }
}
