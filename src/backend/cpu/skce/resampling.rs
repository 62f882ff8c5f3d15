//! Resamples of rows as vectors of groups, which are made where and when they are needed.

use std::ops::Range;

use super::drawn::Drawn;
use super::{LANES, Lanes};
use crate::backend::cpu::draw::draw_from;
use crate::backend::kernels::{SkceNull, SortedRows};
use crate::predictions::Dtype;
use crate::random::Key;
use crate::simd::dispatch;

/// Rows whose words are drawn at a time.
const CHUNK: usize = 1024;

/// How rows are resampled, and what a resample's weights w are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Rows drawn with replacement; w = C - 1 + 1/n for the counts C ([`super::resample`] says why).
    Multinomial,
    /// w is a random sign.
    Wild,
    /// New labels, w = 1.
    MonteCarlo,
    /// Rows drawn with replacement, by the words of the other bootstrap intervals; w = C.
    Bootstrap,
}

impl From<SkceNull> for Law {
    fn from(null: SkceNull) -> Self {
        match null {
            SkceNull::Multinomial => Law::Multinomial,
            SkceNull::Wild => Law::Wild,
            SkceNull::MonteCarlo => Law::MonteCarlo,
        }
    }
}

/// Resamples of some rows: the vector of a resample has for each group the sum of w·D over its rows.
pub struct Resampling<'a> {
    rows: &'a SortedRows,
    law: Law,
    /// The key that words are drawn under.
    key: Key,
    /// The first row of each group, and the number of rows; empty without ties, when a group is a row.
    starts: Vec<u32>,
    /// The residual of each row.
    residual: Vec<f64>,
    /// The confidence of each row in Q30, to draw labels.
    chance: Vec<u32>,
}

impl<'a> Resampling<'a> {
    pub fn new(rows: &'a SortedRows, law: Law, key: Key) -> Self {
        let of_rows = || {
            std::iter::zip(&rows.confidence, &rows.size)
                .flat_map(|(&confidence, &size)| std::iter::repeat_n(confidence, size as usize))
        };
        let mut starts = Vec::new();
        if rows.confidence.len() < rows.rows() {
            starts.reserve_exact(rows.confidence.len() + 1);
            starts.push(0);
            // There are fewer than 2³² rows.
            starts.extend(rows.size.iter().scan(0, |end: &mut u32, size| {
                *end += size;
                Some(*end)
            }));
        }
        Resampling {
            rows,
            law,
            key,
            starts,
            residual: std::iter::zip(&rows.label, of_rows())
                .map(|(&label, confidence)| f64::from(u8::from(label)) - confidence)
                .collect(),
            chance: match law {
                Law::MonteCarlo => of_rows().map(|z| Dtype::F64.q30(z.to_bits())).collect(),
                _ => Vec::new(),
            },
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.residual.len()
    }

    /// Draws resamples, at most [`LANES`] of them, one in each lane. Lanes without a resample have 0 of
    /// each row.
    pub fn draw(&self, resamples: &[u32], drawn: &mut Drawn) {
        let rows = self.rows();
        drawn.clear(rows);
        let (mut first, mut second) = ([0; CHUNK], [0; CHUNK]);
        for (lane, &resample) in resamples.iter().enumerate() {
            for start in (0..rows).step_by(CHUNK) {
                let length = CHUNK.min(rows - start);
                let (first, second) = (&mut first[..length], &mut second[..length]);
                draw_from(self.key, start as u32, resample, first, second);
                match self.law {
                    Law::Multinomial => {
                        for (&low, &high) in std::iter::zip(&*first, &*second) {
                            let word = u64::from(high) << 32 | u64::from(low);
                            let row = (u128::from(word) * rows as u128) >> 64;
                            drawn.count(row as usize, lane);
                        }
                    }
                    Law::Bootstrap => {
                        for &word in &*first {
                            let row = (u64::from(word) * rows as u64) >> 32;
                            drawn.count(row as usize, lane);
                        }
                    }
                    Law::Wild => drawn.set(start, lane, first.iter().map(|word| word >> 31 == 1)),
                    Law::MonteCarlo => {
                        let chances = &self.chance[start..];
                        let labels = std::iter::zip(&*second, chances);
                        drawn.set(
                            start,
                            lane,
                            labels.map(|(word, &chance)| word >> 2 < chance),
                        );
                    }
                }
            }
        }
    }

    /// Writes what the vectors of resamples have at some groups.
    #[inline(always)]
    pub fn vectors(&self, drawn: &Drawn, groups: Range<usize>, vectors: &mut [Lanes]) {
        let shift = 1.0 / self.rows() as f64 - 1.0;
        match self.law {
            Law::Multinomial => self.weighted(drawn, groups, vectors, |count| count + shift),
            Law::Bootstrap => self.weighted(drawn, groups, vectors, |count| count),
            Law::Wild => self.weighted(drawn, groups, vectors, |plus| 2.0 * plus - 1.0),
            Law::MonteCarlo => self.relabelled(drawn, groups, vectors),
        }
    }

    /// Sums of weighted residuals.
    #[inline(always)]
    fn weighted(
        &self,
        drawn: &Drawn,
        groups: Range<usize>,
        vectors: &mut [Lanes],
        weight: impl Fn(f64) -> f64,
    ) {
        if !self.starts.is_empty() || !drawn.further().is_empty() {
            for (vector, group) in std::iter::zip(vectors, groups) {
                *vector = [0.0; LANES];
                for row in self.rows_of(group) {
                    let numbers = drawn.of_row(row);
                    for lane in 0..LANES {
                        vector[lane] += weight(numbers[lane]) * self.residual[row];
                    }
                }
            }
            return;
        }
        let residuals = &self.residual[groups.clone()];
        let rows = std::iter::zip(&drawn.words()[groups], residuals);
        for (vector, (&word, &residual)) in std::iter::zip(vectors, rows) {
            let numbers = Drawn::numbers(word);
            for lane in 0..LANES {
                vector[lane] = weight(numbers[lane]) * residual;
            }
        }
    }

    /// Sums of the residuals of new labels.
    #[inline(always)]
    fn relabelled(&self, drawn: &Drawn, groups: Range<usize>, vectors: &mut [Lanes]) {
        for (vector, group) in std::iter::zip(vectors, groups) {
            let z = self.rows.confidence[group];
            let size = f64::from(self.rows.size[group]);
            let positives = self.positives(drawn, group);
            for lane in 0..LANES {
                vector[lane] = positives[lane] - size * z;
            }
        }
    }

    /// The new labels of a group that are 1.
    #[inline(always)]
    fn positives(&self, drawn: &Drawn, group: usize) -> Lanes {
        let mut positives = [0.0; LANES];
        for row in self.rows_of(group) {
            let labels = Drawn::numbers(drawn.words()[row]);
            for lane in 0..LANES {
                positives[lane] += labels[lane];
            }
        }
        positives
    }

    /// Σ C_i D_i² over rows, of resamples that draw rows.
    pub fn squares(&self, drawn: &Drawn) -> Lanes {
        let mut sums = [0.0; LANES];
        for (row, residual) in self.residual.iter().enumerate() {
            let counts = drawn.of_row(row);
            for lane in 0..LANES {
                sums[lane] += counts[lane] * (residual * residual);
            }
        }
        sums
    }

    /// Σ D*_i² over rows, D* the residuals of new labels.
    pub fn new_squares(&self, drawn: &Drawn) -> Lanes {
        let mut sums = [0.0; LANES];
        for (group, &z) in self.rows.confidence.iter().enumerate() {
            let size = f64::from(self.rows.size[group]);
            let positives = self.positives(drawn, group);
            for lane in 0..LANES {
                let negatives = size - positives[lane];
                sums[lane] += positives[lane] * (1.0 - z).powi(2) + negatives * z * z;
            }
        }
        sums
    }

    /// Σ C_i² D_i² and Σ C_i² over rows, of resamples that draw rows.
    pub fn pairs_of_a_row(&self, drawn: &Drawn) -> (Lanes, Lanes) {
        let (mut sums, mut pairs) = ([0.0; LANES], [0.0; LANES]);
        for (row, residual) in self.residual.iter().enumerate() {
            let counts = drawn.of_row(row);
            for lane in 0..LANES {
                let own = counts[lane] * counts[lane];
                sums[lane] += own * (residual * residual);
                pairs[lane] += own;
            }
        }
        (sums, pairs)
    }

    /// The rows of a group.
    #[inline(always)]
    fn rows_of(&self, group: usize) -> Range<usize> {
        if self.starts.is_empty() {
            return group..group + 1;
        }
        self.starts[group] as usize..self.starts[group + 1] as usize
    }
}

/// What all vectors together may have to be made once and kept: 1 MB. Else they are made a few groups at
/// a time, over and over, which takes less time than fetching them from far.
const MOST_MADE: usize = 1 << 14;

/// Blocks of resamples, whose vectors are made when they are needed.
pub struct Vectors<'a> {
    resampling: &'a Resampling<'a>,
    drawn: &'a [Drawn],
    /// All vectors, block after block, or nothing.
    made: Vec<Lanes>,
    /// The number of groups.
    groups: usize,
}

impl<'a> Vectors<'a> {
    pub fn new(resampling: &'a Resampling<'a>, drawn: &'a [Drawn]) -> Self {
        Vectors {
            resampling,
            drawn,
            made: Vec::new(),
            groups: resampling.rows.confidence.len(),
        }
    }

    /// The same vectors, made at once if they are few.
    pub fn made_if_few(mut self) -> Self {
        if self.groups * self.drawn.len() <= MOST_MADE {
            self.made = vec![[0.0; LANES]; self.groups * self.drawn.len()];
            let blocks = self.made.chunks_exact_mut(self.groups.max(1));
            for (drawn, vectors) in std::iter::zip(self.drawn, blocks) {
                make(self.resampling, drawn, vectors);
            }
        }
        self
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.drawn.len()
    }

    /// What the vectors of a block have at some groups; `memory` is for as many.
    #[inline(always)]
    pub fn at<'b>(
        &'b self,
        block: usize,
        groups: Range<usize>,
        memory: &'b mut [Lanes],
    ) -> &'b [Lanes] {
        if self.made.is_empty() {
            self.resampling.vectors(&self.drawn[block], groups, memory);
            return memory;
        }
        &self.made[block * self.groups..][groups]
    }
}

/// Makes whole vectors.
fn make(resampling: &Resampling<'_>, drawn: &Drawn, vectors: &mut [Lanes]) {
    #[inline(always)]
    fn body(resampling: &Resampling<'_>, drawn: &Drawn, vectors: &mut [Lanes]) {
        resampling.vectors(drawn, 0..vectors.len(), vectors);
    }
    dispatch!(body(
        resampling: &Resampling<'_>,
        drawn: &Drawn,
        vectors: &mut [Lanes]
    ) -> ())
}
