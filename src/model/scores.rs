//! Scores of a real model, resampled as they are.

use super::ModelError;
use crate::input;
use crate::predictions::{Dtype, Rows, Word};
use crate::with_words;

/// Scores in ascending order. Each is as likely as the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scores {
    /// The scores in Q30, ascending.
    pub q30: Vec<u32>,
    /// For each score the number of its tied run, from 0. Ties are decided on the score as given,
    /// so scores of different runs may be equal in Q30.
    pub run: Vec<u32>,
    /// The type of the scores as given.
    pub dtype: Dtype,
    /// The bits of the scores as given, which ascend as the scores do; bins are decided on them.
    pub bits: Vec<u64>,
}

impl Scores {
    /// The confidences of a file, and what the user should know of how they were read.
    pub(super) fn read(
        file: &str,
        column: Option<&str>,
    ) -> Result<(Self, Vec<String>), ModelError> {
        let loaded = input::read_confidences(file, column)?;
        Ok((Scores::new(loaded.batch.rows()), loaded.notes))
    }

    /// The confidences of some rows, at least one and fewer than 2³².
    fn new(rows: &Rows) -> Self {
        let dtype = rows.dtype();
        let mut bits: Vec<u64> =
            with_words!(rows, words => words.iter().map(|word| word.confidence_bits()).collect());
        bits.sort_unstable();
        let mut number = 0;
        let mut run = Vec::with_capacity(bits.len());
        for (place, own) in bits.iter().enumerate() {
            number += u32::from(place > 0 && bits[place - 1] != *own);
            run.push(number);
        }
        Scores {
            q30: bits.iter().map(|&bits| dtype.q30(bits)).collect(),
            run,
            dtype,
            bits,
        }
    }

    /// The number of the score that word `u` stands for: ⌊u · N/2³²⌋.
    #[inline]
    pub fn index(&self, u: u32) -> usize {
        ((u64::from(u) * self.q30.len() as u64) >> 32) as usize
    }

    /// The first word that stands for score `index` or a later one, at most 2³².
    pub(super) fn first_word(&self, index: usize) -> u64 {
        ((index as u64) << 32).div_ceil(self.q30.len() as u64)
    }
}
