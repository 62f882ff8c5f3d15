//! Curves as tables of integers.

use super::quantile::q30;
use super::{Curve, ModelError, NearbyPolynomial};
use crate::fixed_point::ONE_Q30;

/// The cells of a table, unless the curve's jumps ask for another number. A multiple of 10, so that
/// jumps at tenths fall on edges.
pub(super) const CELLS: u32 = 10_240;

/// How far inside a cell its limits are taken, in widths of the cell: far enough that rounding does
/// not carry an expression over a jump on the edge, near enough to change nothing in Q30.
const INSIDE: f64 = 1.0 / (1u64 << 30) as f64;

/// The probability of a positive label, given the confidence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Response {
    /// The confidence itself.
    Calibrated,
    /// Linear on each of a number of cells of equal width.
    ///
    /// With q the confidence in Q30, below 2³⁰: the cell is (q · cells) >> 30, and the fraction f of
    /// the way through it is (q · cells) mod 2³⁰ in units of 2⁻³⁰. In words of 32 bits these are the
    /// high word of (q << 2) · cells, and its low word, which is 4f. The probability is that of
    /// the left limit, moved towards the right limit by (|difference| · 4f + 2³¹) >> 32: the high word
    /// of the product plus the highest bit of its low word. q = 2³⁰ is the right limit of the last cell.
    ///
    /// The line through a cell is the chord between the curve's one-sided limits, shifted to
    /// the mean of the curve over the cell, so that ℓ2-ECE keeps six digits. A curve that is linear between
    /// edges is met exactly, jumps on edges included.
    Cells {
        /// The number of cells, below 2¹⁵.
        cells: u32,
        /// The values at the left and right edge of each cell, Q30.
        limits: Vec<[u32; 2]>,
        /// A polynomial near these limits, if there is one; it only saves time.
        nearby: Option<NearbyPolynomial>,
    },
}

impl Response {
    /// The table of a curve.
    pub(super) fn new(curve: &Curve, seed: u64) -> Result<Self, ModelError> {
        if curve.is_calibrated() {
            return Ok(Response::Calibrated);
        }
        let curve_at = curve.function(seed);
        let value = |confidence: f64| {
            let value = curve_at(confidence);
            if value.is_finite() {
                Ok(value)
            } else {
                Err(ModelError::NotFinite {
                    curve: curve.to_string(),
                    confidence,
                    value,
                })
            }
        };
        let clipped = |confidence: f64| value(confidence).map(|value| value.clamp(0.0, 1.0));
        let cells = curve.cells();
        let count = f64::from(cells);
        let mut limits = Vec::with_capacity(cells as usize);
        for cell in 0..cells {
            let edge = |parts: f64| (f64::from(cell) + parts) / count;
            // The values on the edges themselves only have to be there.
            value(edge(0.0))?;
            value(edge(1.0))?;
            let [left, middle, right] =
                [INSIDE, 0.5, 1.0 - INSIDE].map(|parts| clipped(edge(parts)));
            let (left, middle, right) = (left?, middle?, right?);
            // Simpson's mean of the curve, less the mean of the chord.
            let bulge = (middle - (left + right) / 2.0) * (2.0 / 3.0);
            limits.push([left + bulge, right + bulge].map(probability_q30));
        }
        let nearby = NearbyPolynomial::new(&limits);
        Ok(Response::Cells {
            cells,
            limits,
            nearby,
        })
    }

    /// The probability of a positive label at a confidence, both in Q30. `confidence` is at most 2³⁰.
    #[inline]
    pub fn q30(&self, confidence: u32) -> u32 {
        match self {
            Response::Calibrated => confidence,
            Response::Cells { cells, limits, .. } => {
                if confidence == ONE_Q30 {
                    return limits[limits.len() - 1][1];
                }
                let place = u64::from(confidence << 2) * u64::from(*cells);
                let [left, right] = limits[(place >> 32) as usize];
                let fraction = place as u32;
                let part =
                    (u64::from(left.abs_diff(right)) * u64::from(fraction) + (1 << 31)) >> 32;
                if right >= left {
                    left + part as u32
                } else {
                    left - part as u32
                }
            }
        }
    }
}

/// A finite value clipped to \[0, 1\], in Q30, rounded half up.
fn probability_q30(value: f64) -> u32 {
    // Adding 0 turns -0 into 0.
    q30(value.clamp(0.0, 1.0) + 0.0)
}
