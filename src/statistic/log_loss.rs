//! Log loss, the mean negative log likelihood, as exact sums of integers.

use rayon::prelude::*;

use crate::predictions::{Batch, Dtype, Rows, Word};

/// The least probability that enters a logarithm.
pub const LEAST_PROBABILITY: f64 = 1e-15;

/// Rows that one task adds up. A row adds less than 2⁴⁶, so that their sum fits a u64.
const CHUNK: usize = 1 << 14;

/// The log loss of one segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogLossSums {
    /// Σ round(-ln p · 2⁴⁰), p the probability given to the observed label, at least 1e-15.
    pub sum: u128,
    /// How many rows gave the observed label a probability below 1e-15.
    pub clamped: u64,
    /// How many rows gave the observed label the probability 0 exactly: their confidence is 0 and their
    /// label 1, or 1 and 0. Perfect calibration rules such rows out.
    pub impossible: u64,
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
            impossible: self.impossible + other.impossible,
        }
    }
}

/// The log loss of each segment, in order.
pub fn log_loss(batch: &Batch) -> Vec<LogLossSums> {
    let offsets = batch.offsets();
    match batch.rows() {
        Rows::F16(words) => sums_of_few_values(words, offsets, Dtype::F16),
        Rows::Bf16(words) => sums_of_few_values(words, offsets, Dtype::Bf16),
        Rows::F32(words) => sums(words, offsets, |words| chunk(Dtype::F32, words)),
        Rows::F64(words) => sums(words, offsets, |words| chunk(Dtype::F64, words)),
    }
}

/// Half precision has some 32,000 distinct words: more rows are quicker looked up than computed.
fn sums_of_few_values(words: &[u16], offsets: &[usize], dtype: Dtype) -> Vec<LogLossSums> {
    let largest = u16::from_u64(dtype.one_bits() << 1 | 1);
    if words.len() <= usize::from(largest) {
        return sums(words, offsets, |words| chunk(dtype, words));
    }
    let table: Vec<Term> = (0..=largest).map(|word| term_of(dtype, word)).collect();
    sums(words, offsets, |words| {
        chunk_of(words, |word| table[usize::from(word)])
    })
}

/// The sums of each segment, `chunk` being those of up to [`CHUNK`] rows.
fn sums<W: Word>(
    words: &[W],
    offsets: &[usize],
    chunk: impl Fn(&[W]) -> LogLossSums + Sync,
) -> Vec<LogLossSums> {
    offsets
        .par_windows(2)
        .map(|ends| {
            words[ends[0]..ends[1]]
                .par_chunks(CHUNK)
                .map(&chunk)
                .reduce(LogLossSums::default, LogLossSums::plus)
        })
        .collect()
}

/// The sums of up to [`CHUNK`] rows.
fn chunk<W: Word>(dtype: Dtype, words: &[W]) -> LogLossSums {
    crate::simd::dispatch!(chunk_body<W: Word>(dtype: Dtype, words: &[W]) -> LogLossSums)
}

#[inline(always)]
fn chunk_body<W: Word>(dtype: Dtype, words: &[W]) -> LogLossSums {
    // Closures that capture nothing, unlike `with_known_dtype`'s: others are not vectorised (ten times
    // slower).
    match dtype {
        Dtype::F32 => chunk_of(words, |word| term_of(Dtype::F32, word)),
        Dtype::F64 => chunk_of(words, |word| term_of(Dtype::F64, word)),
        dtype => chunk_of(words, |word| term_of(dtype, word)),
    }
}

#[inline(always)]
fn term_of<W: Word>(dtype: Dtype, word: W) -> Term {
    term(dtype.value(word.confidence_bits()), word.label())
}

#[inline(always)]
fn chunk_of<W: Word>(words: &[W], term: impl Fn(W) -> Term) -> LogLossSums {
    let (mut sum, mut clamped, mut impossible) = (0u64, 0u64, 0u64);
    for &word in words {
        let term = term(word);
        // None can overflow in CHUNK rows; checks would keep the loop from being vectorised.
        sum = sum.wrapping_add(term.loss);
        clamped = clamped.wrapping_add(u64::from(term.is_clamped));
        impossible = impossible.wrapping_add(u64::from(term.is_impossible));
    }
    LogLossSums {
        sum: u128::from(sum),
        clamped,
        impossible,
    }
}

/// What one row adds.
#[derive(Clone, Copy)]
struct Term {
    /// -ln p in Q40.
    loss: u64,
    is_clamped: bool,
    is_impossible: bool,
}

#[inline(always)]
fn term(confidence: f64, label: bool) -> Term {
    // What the subtraction loses is below 2⁻⁵³ and where confidences are below a half, so that the
    // logarithm loses no more. It gives 0 for a confidence of 1 alone.
    let probability = if label { confidence } else { 1.0 - confidence };
    let is_clamped = probability < LEAST_PROBABILITY;
    let log = natural_log(if is_clamped {
        LEAST_PROBABILITY
    } else {
        probability
    });
    // Scaling by a power of two is exact. Adding 2⁵² rounds to a whole number, ties to even, which
    // then stands in the fraction field: a product is at most 34.54 · 2⁴⁰.
    const SHIFT: f64 = (1u64 << 52) as f64;
    let rounded = SHIFT - log * (1u64 << 40) as f64;
    Term {
        loss: rounded.to_bits() & ((1 << 52) - 1),
        is_clamped,
        is_impossible: probability == 0.0,
    }
}

/// The natural logarithm of a normal `x` > 0, bit for bit that of [`libm::log`] (FreeBSD's
/// `e_log.c`), whose branches for other arguments keep loops from being vectorised.
#[inline(always)]
fn natural_log(x: f64) -> f64 {
    // The coefficients as they were published.
    #![allow(clippy::excessive_precision)]
    const LN2_HIGH: f64 = 6.93147180369123816490e-01;
    const LN2_LOW: f64 = 1.90821492927058770002e-10;
    const LG1: f64 = 6.666666666666735130e-01;
    const LG2: f64 = 3.999999999940941908e-01;
    const LG3: f64 = 2.857142874366239149e-01;
    const LG4: f64 = 2.222219843214978396e-01;
    const LG5: f64 = 1.818357216161805012e-01;
    const LG6: f64 = 1.531383769920937332e-01;
    const LG7: f64 = 1.479819860511658591e-01;
    // x = 2^k · (1 + f) with 1 + f from √2/2 (its upper word 0x3fe6a09e) to √2.
    const HALF_ROOT: u64 = 0x3fe6_a09e << 32;
    const ONE: u64 = 0x3ff0_0000 << 32;
    let shifted = x.to_bits().wrapping_add(ONE - HALF_ROOT);
    let f = f64::from_bits((shifted & ((1 << 52) - 1)).wrapping_add(HALF_ROOT)) - 1.0;
    // k + 1023 as a float, by way of the fraction field of 2⁵².
    const SHIFT: f64 = (1u64 << 52) as f64;
    let k = f64::from_bits(SHIFT.to_bits() | shifted >> 52) - (SHIFT + 1023.0);
    let half_square = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let t1 = w * (LG2 + w * (LG4 + w * LG6));
    let t2 = z * (LG1 + w * (LG3 + w * (LG5 + w * LG7)));
    s * (half_square + (t2 + t1)) + k * LN2_LOW - half_square + f + k * LN2_HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn natural_log_has_the_bits_of_libm() {
        let values = (0..1_000_000u64).map(|step| {
            // From the least probability to 1, evenly in bits, that is in the logarithm.
            let (low, high) = (LEAST_PROBABILITY.to_bits(), 1f64.to_bits());
            f64::from_bits(low + (high - low) / 999_999 * step)
        });
        let root = std::f64::consts::FRAC_1_SQRT_2;
        let near_root = (0..1u64 << 34)
            .step_by((1 << 24) + 1)
            .map(|step| f64::from_bits(root.to_bits() - (1 << 33) + step));
        for x in values.chain(near_root).chain([LEAST_PROBABILITY, 0.5, 1.0]) {
            assert_eq!(natural_log(x), libm::log(x), "{x:e}");
        }
    }
}
