//! Log loss, the mean negative log likelihood, as exact sums of integers.

use rayon::prelude::*;

use crate::predictions::{Batch, Dtype, Word};
use crate::with_words;

/// The least probability that enters a logarithm.
pub const LEAST_PROBABILITY: f64 = 1e-15;

/// Rows that one task adds up. A term is below 2⁴⁶, so this many fit a u64.
const CHUNK: usize = 1 << 14;

/// The log loss of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogLossSums {
    /// Σ round(-ln p · 2⁴⁰), p the probability given to the observed label, at least 1e-15.
    pub sum: u128,
    /// How many rows gave the observed label a probability below 1e-15.
    pub clamped: u64,
}

impl LogLossSums {
    /// The mean negative log likelihood of `rows` rows, natural; none without rows.
    pub fn mean(&self, rows: u64) -> Option<f64> {
        const UNIT: f64 = 1.0 / (1u64 << 40) as f64;
        (rows > 0).then(|| self.sum as f64 * UNIT / rows as f64)
    }

    fn plus(self, other: Self) -> Self {
        LogLossSums {
            sum: self.sum + other.sum,
            clamped: self.clamped + other.clamped,
        }
    }
}

/// The log loss of each segment, in order.
pub fn log_loss(batch: &Batch) -> Vec<LogLossSums> {
    let dtype = batch.dtype();
    with_words!(batch.rows(), words => of_words(words, batch.offsets(), dtype))
}

fn of_words<W: Word>(words: &[W], offsets: &[usize], dtype: Dtype) -> Vec<LogLossSums> {
    let distinct = dtype.one_bits() << 1 | 1;
    // Half precision has few distinct words: many rows are quicker looked up than computed.
    if W::BITS == 16 && words.len() as u64 > distinct {
        let table: Vec<Term> = (0..=distinct).map(|word| Term::new(word, dtype)).collect();
        sums(words, offsets, |word| table[word.to_u64() as usize])
    } else {
        sums(words, offsets, |word| Term::new(word.to_u64(), dtype))
    }
}

fn sums<W: Word>(
    words: &[W],
    offsets: &[usize],
    term: impl Fn(W) -> Term + Sync,
) -> Vec<LogLossSums> {
    let segment = |ends: &[usize]| {
        words[ends[0]..ends[1]]
            .par_chunks(CHUNK)
            .map(|chunk| {
                let (mut sum, mut clamped) = (0, 0);
                for &word in chunk {
                    let Term { loss, is_clamped } = term(word);
                    sum += loss;
                    clamped += u64::from(is_clamped);
                }
                LogLossSums {
                    sum: u128::from(sum),
                    clamped,
                }
            })
            .reduce(LogLossSums::default, LogLossSums::plus)
    };
    offsets.par_windows(2).map(segment).collect()
}

/// What one row adds.
#[derive(Clone, Copy)]
struct Term {
    /// -ln p in Q40.
    loss: u64,
    is_clamped: bool,
}

impl Term {
    fn new(word: u64, dtype: Dtype) -> Self {
        let confidence = dtype.value(word.confidence_bits());
        // The subtraction is exact wherever the clamp can matter, that is near 1.
        let (probability, log) = if word.label() {
            (confidence, libm::log(confidence))
        } else {
            (1.0 - confidence, libm::log1p(-confidence))
        };
        let is_clamped = probability < LEAST_PROBABILITY;
        let log = if is_clamped {
            libm::log(LEAST_PROBABILITY)
        } else {
            log
        };
        // Multiplying by a power of two is exact. The largest, 34.54 · 2⁴⁰, is far below 2⁵³.
        let loss = (-log * (1u64 << 40) as f64).round() as u64;
        Term { loss, is_clamped }
    }
}
