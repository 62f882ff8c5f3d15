//! Simulation models: a law of the confidence Z and a curve g(z) = E\[Y | Z = z\] (spec, section 5).
//!
//! A simulation draws a word u, uniform below 2³², and looks up the confidence [`Quantile::q30`] and
//! the probability of a positive label [`Response::q30`]. Both are tables of integers, interpolated
//! in integers, so that every backend finds the same bits. Whatever a simulation should reproduce
//! ([`Model::l2_ece`], [`Model::rank_ece`], [`Model::ece_l2`]) is computed from these tables, not
//! from the formulas that they approximate.

mod beta;
mod complex;
mod curve;
mod expression;
mod fineness;
mod law;
mod nearby;
mod pieces;
mod poisson;
pub(crate) mod quantile;
mod response;
mod scores;
mod thresholds;

pub use curve::{Curve, CurveError};
pub use law::{Law, LawError};
pub use nearby::NearbyPolynomial;
pub use quantile::Quantile;
pub use response::Response;
pub use scores::Scores;

use crate::input::InputError;
use pieces::Piece;

/// A law and a curve with their tables.
#[derive(Clone, Debug)]
pub struct Model {
    /// The law of the confidence.
    pub law: Law,
    /// The probability of a positive label, given the confidence.
    pub curve: Curve,
    /// The law's quantile function.
    pub quantile: Quantile,
    /// The curve, clipped to \[0, 1\].
    pub response: Response,
    /// CRC-32 of both tables. Results that were computed from unlike tables must not be merged.
    ///
    /// The tables are computed with functions that have the same bits on every platform, so equal
    /// names and seeds should give equal checksums; this is what makes sure.
    pub checksum: u32,
    /// What the user should know, one line each: the column of scores that was guessed.
    pub notes: Vec<String>,
}

/// Why a law and a curve are no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The law's parameters are out of range.
    #[error(transparent)]
    Law(#[from] LawError),
    /// The scores of an empirical law cannot be read.
    #[error(transparent)]
    Scores(Box<InputError>),
    /// The curve has no finite value somewhere on \[0, 1\].
    #[error(
        "the curve `{curve}` is {value} at z = {confidence}\n\
         It must be finite for every z from 0 to 1; max and min can keep arguments in range."
    )]
    NotFinite {
        /// The curve.
        curve: String,
        /// Where.
        confidence: f64,
        /// What it is there: infinite or not a number.
        value: f64,
    },
}

impl From<InputError> for ModelError {
    fn from(error: InputError) -> Self {
        ModelError::Scores(Box::new(error))
    }
}

impl Model {
    /// Makes the tables. `seed` decides the coefficients of `random-fourier` and nothing else.
    ///
    /// # Errors
    /// If the law's parameters are out of range, the file of an empirical law cannot be read, or the
    /// curve is not finite on \[0, 1\].
    pub fn new(law: Law, curve: Curve, seed: u64) -> Result<Model, ModelError> {
        law.check()?;
        let (quantile, mut notes) = Quantile::new(&law)?;
        let response = Response::new(&curve, seed)?;
        notes.extend(fineness::remark(&law, &curve, &quantile, &response, seed));
        let checksum = checksum(&quantile, &response);
        Ok(Model {
            law,
            curve,
            quantile,
            response,
            checksum,
            notes,
        })
    }

    /// ℓ2-ECE = E\[(g(Z) - Z)²\].
    pub fn l2_ece(&self) -> f64 {
        let squares = self
            .pieces(&[])
            .map(|piece| piece.residual().mean_square() * piece.length);
        squares.sum()
    }

    /// rankECE_n, the expectation of rankECE over samples of `n` rows; 0 if `n` is below 2.
    ///
    /// With r(u) the residual g(Z) - Z at quantile level u, adjacent order statistics give
    /// (n-1) ∫ (1-s)^{n-2} ∫ r(u) r(u+s) du ds. For an empirical law this is the expectation over
    /// random tie-breaking, hence also that of the tie-averaged statistic.
    pub fn rank_ece(&self, n: u64) -> f64 {
        if n < 2 || matches!(self.response, Response::Calibrated) {
            return 0.0;
        }
        let lines: Vec<_> = self
            .pieces(&[])
            .map(|piece| (piece.length, piece.residual()))
            .collect();
        // The kernel is convex and falls to 0, so the truth is not negative; rounding may be.
        ((n - 1) as f64 * poisson::adjacent_products(&lines, n - 2)).max(0.0)
    }

    /// The expectation of the binned `ece_l2` over samples of `n` rows, with `bins` right-closed bins
    /// of equal width: Σ p_j μ_j² + (σ_j²/n)(1 - (1-p_j)ⁿ), where p_j is the probability of a bin
    /// and μ_j, σ_j² are mean and variance of Y - Z inside it.
    ///
    /// 0 if `n` or `bins` is 0: there are no rows in bins then.
    pub fn ece_l2(&self, n: u64, bins: u32) -> f64 {
        if n == 0 || bins == 0 {
            return 0.0;
        }
        let thresholds = self.bin_thresholds(bins);
        let mut sum = 0.0;
        let (mut probability, mut residual, mut square) = (0.0, 0.0, 0.0);
        let mut next = thresholds.iter().map(|&word| f64::from(word)).peekable();
        let mut close = |probability: f64, residual: f64, square: f64| {
            if probability > 0.0 {
                let mean = residual / probability;
                let variance = (square / probability - mean * mean).max(0.0);
                let n = n as f64;
                let occupied = -libm::expm1(n * libm::log1p(-probability.min(1.0)));
                sum += probability * mean * mean + variance / n * occupied;
            }
        };
        for piece in self.pieces(&thresholds) {
            while next.next_if(|&word| word <= piece.start).is_some() {
                close(probability, residual, square);
                (probability, residual, square) = (0.0, 0.0, 0.0);
            }
            probability += piece.length;
            residual += piece.length * piece.residual().mean();
            square += piece.length * piece.mean_brier();
        }
        close(probability, residual, square);
        sum
    }

    /// Where right-closed bins of equal width begin: a row of word u lies in bin j or above (from 0)
    /// exactly when u is at least the threshold of number j - 1. So the bin of a row is the number
    /// of thresholds at or below its word.
    ///
    /// There are at most `bins` - 1 thresholds, in ascending order. There are fewer where the law
    /// does not reach the last bins: a bin that no word reaches has no threshold.
    pub fn bin_thresholds(&self, bins: u32) -> Vec<u32> {
        thresholds::thresholds(&self.quantile, bins)
    }

    /// The model as pieces on which confidence and response are linear in u, in order, cut at
    /// `cuts` as well.
    fn pieces(&self, cuts: &[u32]) -> impl Iterator<Item = Piece> {
        pieces::pieces(&self.quantile, &self.response, cuts)
    }
}

/// CRC-32 (IEEE) of both tables, as little-endian words behind a word that tells their kinds apart.
fn checksum(quantile: &Quantile, response: &Response) -> u32 {
    let mut crc = flate2::Crc::new();
    let mut update = |words: &[u32]| {
        for word in words {
            crc.update(&word.to_le_bytes());
        }
    };
    match quantile {
        Quantile::Affine { start, width } => update(&[0, *start, *width]),
        Quantile::Nodes(nodes) => {
            update(&[1]);
            update(nodes);
        }
        Quantile::Empirical(scores) => {
            update(&[2]);
            update(&scores.q30);
            update(&scores.run);
            for bits in &scores.bits {
                update(&[*bits as u32, (bits >> 32) as u32]);
            }
        }
    }
    match response {
        Response::Calibrated => update(&[0]),
        Response::Cells { cells, limits, .. } => {
            update(&[1, *cells]);
            update(limits.as_flattened());
        }
    }
    crc.sum()
}
