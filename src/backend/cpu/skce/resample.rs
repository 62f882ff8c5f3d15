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

use super::{LANES, Lanes};
use crate::backend::cpu::draw::draw;
use crate::backend::kernels::{SkceNull, SkceResamples, SortedRows};
use crate::predictions::Dtype;
use crate::random::Key;

/// Turns resamples into vectors, and forms into statistics.
pub struct Resampler<'a> {
    rows: &'a SortedRows,
    null: SkceNull,
    key: Key,
    /// Σ_{i,j} h_ij and Σ_i h_ii of the sample.
    all: f64,
    diagonal: f64,
    /// The confidence of each group in Q30.
    chance: Vec<u32>,
    /// The residual of each row.
    residual: Vec<f64>,
}

/// Memory that resamples share: the two words of each row, and counts.
#[derive(Default)]
pub struct Words {
    first: Vec<u32>,
    second: Vec<u32>,
    counts: Vec<u32>,
}

impl<'a> Resampler<'a> {
    pub fn new(rows: &'a SortedRows, resamples: &SkceResamples, all: f64, diagonal: f64) -> Self {
        let confidences = rows.confidence.iter();
        let of_rows = std::iter::zip(&rows.confidence, &rows.size)
            .flat_map(|(&confidence, &size)| std::iter::repeat_n(confidence, size as usize));
        Resampler {
            rows,
            null: resamples.null,
            key: resamples.words_key(),
            all,
            diagonal,
            residual: std::iter::zip(&rows.label, of_rows)
                .map(|(&label, confidence)| f64::from(u8::from(label)) - confidence)
                .collect(),
            chance: confidences.map(|z| Dtype::F64.q30(z.to_bits())).collect(),
        }
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

    /// Writes the vectors of a block of resamples, and gives their diagonals.
    pub fn fill(&self, block: u32, vectors: &mut [Lanes], words: &mut Words) -> Lanes {
        let rows = self.rows.rows();
        words.first.resize(rows, 0);
        words.second.resize(rows, 0);
        let mut diagonals = [0.0; LANES];
        for (lane, diagonal) in diagonals.iter_mut().enumerate() {
            let resample = block.wrapping_mul(LANES as u32).wrapping_add(lane as u32);
            draw(self.key, resample, &mut words.first, &mut words.second);
            *diagonal = match self.null {
                SkceNull::Multinomial => self.multinomial(words, lane, vectors),
                SkceNull::Wild => self.wild(words, lane, vectors),
                SkceNull::MonteCarlo => self.monte_carlo(words, lane, vectors),
            };
        }
        diagonals
    }

    fn multinomial(&self, words: &mut Words, lane: usize, vectors: &mut [Lanes]) -> f64 {
        let rows = self.rows.rows();
        words.counts.clear();
        words.counts.resize(rows, 0);
        for (&low, &high) in std::iter::zip(&words.first, &words.second) {
            let word = u64::from(high) << 32 | u64::from(low);
            let row = (u128::from(word) * rows as u128) >> 64;
            // A row is drawn at most n < 2³² times.
            words.counts[row as usize] += 1;
        }
        let shift = 1.0 / rows as f64 - 1.0;
        let mut diagonal = 0.0;
        for (&count, residual) in std::iter::zip(&words.counts, &self.residual) {
            diagonal += f64::from(count) * (residual * residual);
        }
        let weight = |row: usize| f64::from(words.counts[row]) + shift;
        self.weighted(weight, lane, vectors);
        diagonal
    }

    fn wild(&self, words: &Words, lane: usize, vectors: &mut [Lanes]) -> f64 {
        let sign = |row: usize| {
            if words.first[row] >> 31 == 1 {
                1.0
            } else {
                -1.0
            }
        };
        self.weighted(sign, lane, vectors);
        self.diagonal
    }

    /// Writes the sum of weighted residuals of each group.
    #[inline(always)]
    fn weighted(&self, weight: impl Fn(usize) -> f64, lane: usize, vectors: &mut [Lanes]) {
        if vectors.len() == self.residual.len() {
            // No ties: a group is a row.
            for (row, (vector, residual)) in std::iter::zip(vectors, &self.residual).enumerate() {
                vector[lane] = weight(row) * residual;
            }
            return;
        }
        let mut first = 0;
        for (vector, &size) in std::iter::zip(vectors, &self.rows.size) {
            let rows = first..first + size as usize;
            first = rows.end;
            vector[lane] = rows.map(|row| weight(row) * self.residual[row]).sum();
        }
    }

    fn monte_carlo(&self, words: &Words, lane: usize, vectors: &mut [Lanes]) -> f64 {
        let mut diagonal = 0.0;
        let mut first = 0;
        for (group, vector) in vectors.iter_mut().enumerate() {
            let (z, size) = (self.rows.confidence[group], self.rows.size[group] as usize);
            let chance = self.chance[group];
            let drawn = words.second[first..first + size].iter();
            let positives = drawn.filter(|&&word| word >> 2 < chance).count() as f64;
            let negatives = size as f64 - positives;
            vector[lane] = positives - size as f64 * z;
            diagonal += positives * (1.0 - z).powi(2) + negatives * z * z;
            first += size;
        }
        diagonal
    }
}
