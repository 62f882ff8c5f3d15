//! Validated predictions: confidences in \[0, 1\] with binary labels, one word a row.
//!
//! A row's word holds the bits of its confidence shifted up by one, and its label in the lowest
//! bit. The bits of a non-negative float sort as the float does, so words sort by confidence, and
//! a 32-bit confidence with its label takes four bytes.

use half::{bf16, f16};

use crate::fixed_point::{confidence_q30, value_q30};

/// The type of the confidences as they were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dtype {
    /// IEEE 754 half precision.
    F16,
    /// The upper half of an IEEE 754 single.
    Bf16,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
}

impl Dtype {
    /// Bits of the fraction field.
    #[inline]
    pub fn fraction_bits(self) -> u32 {
        match self {
            Dtype::F16 => 10,
            Dtype::Bf16 => 7,
            Dtype::F32 => 23,
            Dtype::F64 => 52,
        }
    }

    /// Exponent of the value of significand 1 in the smallest normal binade, so that
    /// value = significand · 2^(max(exponent field, 1) - 1 + this).
    #[inline]
    pub fn smallest_exponent(self) -> i32 {
        match self {
            Dtype::F16 => -24,
            Dtype::Bf16 => -133,
            Dtype::F32 => -149,
            Dtype::F64 => -1074,
        }
    }

    /// The bits of 1.0, the largest confidence.
    pub fn one_bits(self) -> u64 {
        match self {
            Dtype::F16 => u64::from(f16::ONE.to_bits()),
            Dtype::Bf16 => u64::from(bf16::ONE.to_bits()),
            Dtype::F32 => u64::from(1f32.to_bits()),
            Dtype::F64 => 1f64.to_bits(),
        }
    }

    /// The significand and exponent of a confidence: value = significand · 2^exponent.
    #[inline]
    pub fn decompose(self, bits: u64) -> (u64, i32) {
        let field = bits >> self.fraction_bits();
        let fraction = bits & ((1 << self.fraction_bits()) - 1);
        let implicit = u64::from(field > 0) << self.fraction_bits();
        let exponent = self.smallest_exponent() + field.max(1) as i32 - 1;
        (fraction | implicit, exponent)
    }

    /// The confidence of these bits, in Q30.
    #[inline(always)]
    pub fn q30(self, bits: u64) -> u32 {
        match self {
            // In arithmetic that processors have vectors for.
            Dtype::F32 | Dtype::F64 => value_q30(self.value(bits)),
            Dtype::F16 | Dtype::Bf16 => {
                let (significand, exponent) = self.decompose(bits);
                confidence_q30(significand, exponent)
            }
        }
    }

    /// The value of these bits, exact.
    #[inline(always)]
    pub fn value(self, bits: u64) -> f64 {
        match self {
            Dtype::F16 => f16::from_bits(bits as u16).to_f64(),
            Dtype::Bf16 => bf16::from_bits(bits as u16).to_f64(),
            Dtype::F32 => f64::from(f32::from_bits(bits as u32)),
            Dtype::F64 => f64::from_bits(bits),
        }
    }
}

impl std::fmt::Display for Dtype {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Dtype::F16 => "f16",
            Dtype::Bf16 => "bf16",
            Dtype::F32 => "f32",
            Dtype::F64 => "f64",
        })
    }
}

/// How predictions became confidences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reduction {
    /// They were confidences.
    Binary,
    /// The largest probability, and whether its class is right.
    TopLabel,
    /// One class against the rest.
    ClassWise,
}

/// The word of a row: the confidence's bits above, the label in the lowest bit.
pub trait Word: Copy + Ord + Send + Sync + 'static {
    /// Bits of the word.
    const BITS: u32;
    /// The word as 64 bits.
    fn to_u64(self) -> u64;
    /// The lowest bits of a 64-bit word.
    fn from_u64(word: u64) -> Self;
    /// The bits of the confidence.
    #[inline]
    fn confidence_bits(self) -> u64 {
        self.to_u64() >> 1
    }
    /// The label.
    #[inline]
    fn label(self) -> bool {
        self.to_u64() & 1 == 1
    }
}

macro_rules! word {
    ($($type:ty),*) => {$(
        impl Word for $type {
            const BITS: u32 = <$type>::BITS;
            #[inline]
            fn to_u64(self) -> u64 {
                u64::from(self)
            }
            #[inline]
            fn from_u64(word: u64) -> Self {
                word as $type
            }
        }
    )*};
}
word!(u16, u32, u64);

/// A floating-point type that confidences come in.
pub trait Confidence: Copy + PartialOrd + Send + Sync + 'static {
    /// Its word.
    type Word: Word;
    /// Its name.
    const DTYPE: Dtype;
    /// Its value, exact.
    fn to_f64(self) -> f64;
    /// Its bits.
    fn bits(self) -> u64;
    /// The rows of a list of words.
    fn rows(words: Vec<Self::Word>) -> Rows;

    /// The word of a row, or nothing if the confidence is not in \[0, 1\]. -0.0 becomes 0.0.
    fn word(self, label: bool) -> Option<Self::Word> {
        self.is_valid().then(|| self.pack(label))
    }

    /// Whether it is in \[0, 1\].
    fn is_valid(self) -> bool {
        (0.0..=1.0).contains(&self.to_f64())
    }

    /// The word of a row whose confidence is valid. -0.0 becomes 0.0.
    fn pack(self, label: bool) -> Self::Word {
        let bits = if self.to_f64() == 0.0 { 0 } else { self.bits() };
        Self::Word::from_u64(bits << 1 | u64::from(label))
    }
}

macro_rules! confidence {
    ($($type:ty, $word:ty, $variant:ident, $to_f64:expr;)*) => {$(
        impl Confidence for $type {
            type Word = $word;
            const DTYPE: Dtype = Dtype::$variant;
            fn to_f64(self) -> f64 {
                $to_f64(self)
            }
            fn bits(self) -> u64 {
                u64::from(self.to_bits())
            }
            fn rows(words: Vec<$word>) -> Rows {
                Rows::$variant(words)
            }
        }
    )*};
}
confidence! {
    f16, u16, F16, f16::to_f64;
    bf16, u16, Bf16, bf16::to_f64;
    f32, u32, F32, f64::from;
    f64, u64, F64, std::convert::identity;
}

/// Rows of one confidence type, one word each (see [`Word`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Half precision.
    F16(Vec<u16>),
    /// bfloat16.
    Bf16(Vec<u16>),
    /// Single precision.
    F32(Vec<u32>),
    /// Double precision.
    F64(Vec<u64>),
}

/// Runs `$body` with `$words` bound to the list of words, whatever their type.
#[macro_export]
macro_rules! with_words {
    ($rows:expr, $words:ident => $body:expr) => {
        match $rows {
            $crate::predictions::Rows::F16($words) => $body,
            $crate::predictions::Rows::Bf16($words) => $body,
            $crate::predictions::Rows::F32($words) => $body,
            $crate::predictions::Rows::F64($words) => $body,
        }
    };
}

/// Runs `$body` with `$known` bound to a type that the compiler knows, if it is one that vectors convert: a
/// loop over words of an unknown type is not vectorised.
macro_rules! with_known_dtype {
    ($dtype:expr, $known:ident => $body:expr) => {
        match $dtype {
            $crate::predictions::Dtype::F32 => {
                let $known = $crate::predictions::Dtype::F32;
                $body
            }
            $crate::predictions::Dtype::F64 => {
                let $known = $crate::predictions::Dtype::F64;
                $body
            }
            $known => $body,
        }
    };
}
pub(crate) use with_known_dtype;

impl Rows {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        with_words!(self, words => words.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of the confidences.
    pub fn dtype(&self) -> Dtype {
        match self {
            Rows::F16(_) => Dtype::F16,
            Rows::Bf16(_) => Dtype::Bf16,
            Rows::F32(_) => Dtype::F32,
            Rows::F64(_) => Dtype::F64,
        }
    }

    /// The word of one row, as 64 bits.
    ///
    /// # Panics
    /// If `row` is not below [`Rows::len`].
    pub fn word(&self, row: usize) -> u64 {
        with_words!(self, words => words[row].to_u64())
    }
}

/// A batch of samples that are evaluated together: rows of one type, cut into segments.
///
/// A segment is what one result is computed from: a file, a group of a file, or one class of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    rows: Rows,
    offsets: Vec<usize>,
}

/// Why rows cannot form a [`Batch`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BatchError {
    /// A confidence that is not a probability.
    #[error("confidence {value} in row {row} is not in [0, 1]")]
    Confidence {
        /// The row, from 1.
        row: usize,
        /// The confidence.
        value: f64,
    },
    /// Confidences and labels differ in number.
    #[error("{confidences} confidences but {labels} labels")]
    Length {
        /// The number of confidences.
        confidences: usize,
        /// The number of labels.
        labels: usize,
    },
    /// Segments that do not cover the rows.
    #[error("segments of {segments} rows in all, but there are {rows} rows")]
    Segments {
        /// The sum of the segments' sizes.
        segments: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A segment past what the sums can hold.
    #[error("a segment of {rows} rows; the most is 2^32 - 1")]
    TooLarge {
        /// The number of rows.
        rows: usize,
    },
}

impl Batch {
    /// One segment from confidences and labels of equal length.
    ///
    /// # Errors
    /// If the lengths differ, or a confidence is NaN or outside \[0, 1\].
    pub fn from_slices<C: Confidence>(
        confidences: &[C],
        labels: &[bool],
    ) -> Result<Self, BatchError> {
        if confidences.len() != labels.len() {
            return Err(BatchError::Length {
                confidences: confidences.len(),
                labels: labels.len(),
            });
        }
        let words = std::iter::zip(confidences, labels)
            .enumerate()
            .map(|(row, (confidence, &label))| {
                confidence.word(label).ok_or(BatchError::Confidence {
                    row: row + 1,
                    value: confidence.to_f64(),
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let size = words.len();
        Batch::new(C::rows(words), &[size])
    }

    /// Consecutive segments of the given sizes.
    ///
    /// Every word must be one that [`Confidence::word`] gives; this is not looked at again.
    ///
    /// # Errors
    /// If the sizes do not add up to the number of rows, or one is 2³² or more.
    pub fn new(rows: Rows, sizes: &[usize]) -> Result<Self, BatchError> {
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        offsets.push(0);
        let mut end = 0;
        for &size in sizes {
            if size > u32::MAX as usize {
                return Err(BatchError::TooLarge { rows: size });
            }
            end += size;
            offsets.push(end);
        }
        if end != rows.len() {
            return Err(BatchError::Segments {
                segments: end,
                rows: rows.len(),
            });
        }
        Ok(Batch { rows, offsets })
    }

    /// The rows of all segments, one segment after the other.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The rows, for a backend that sorts them in place within their segments.
    pub(crate) fn rows_mut(&mut self) -> (&mut Rows, &[usize]) {
        (&mut self.rows, &self.offsets)
    }

    /// The type of the confidences.
    pub fn dtype(&self) -> Dtype {
        self.rows.dtype()
    }

    /// The number of segments.
    pub fn segments(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where segments begin, and, last, where the rows end: segment `s` holds the rows from
    /// `offsets()[s]` to `offsets()[s + 1]`.
    pub fn offsets(&self) -> &[usize] {
        &self.offsets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q30_agrees_with_exact_f64_arithmetic() {
        // f16, bf16: every value in [0, 1]. z·2³⁰ and the addition of a half are exact in f64
        // unless z is tiny, and then floor gives 0 as it must.
        for dtype in [Dtype::F16, Dtype::Bf16] {
            for bits in 0..=dtype.one_bits() {
                let exact = dtype.value(bits) * f64::from(1u32 << 30) + 0.5;
                assert_eq!(
                    f64::from(dtype.q30(bits)),
                    exact.floor(),
                    "{dtype} {bits:x}"
                );
            }
        }
        for step in 0..100_000u64 {
            let bits = step * (Dtype::F32.one_bits() / 100_000);
            let exact = Dtype::F32.value(bits) * f64::from(1u32 << 30) + 0.5;
            assert_eq!(f64::from(Dtype::F32.q30(bits)), exact.floor());
        }
    }

    #[test]
    fn negative_zero_becomes_zero() {
        assert_eq!((-0.0f64).word(true), Some(1));
        assert_eq!(f16::NEG_ZERO.word(false), Some(0));
    }

    #[test]
    fn what_is_not_a_probability_has_no_word() {
        for value in [f64::NAN, -1e-300, 1.0 + f64::EPSILON, f64::INFINITY] {
            assert_eq!(value.word(true), None);
        }
        assert_eq!(bf16::from_f32(1.01).word(true), None);
    }

    #[test]
    fn a_batch_names_what_does_not_fit() {
        assert_eq!(
            Batch::from_slices(&[0.5f64], &[]),
            Err(BatchError::Length {
                confidences: 1,
                labels: 0
            })
        );
        assert_eq!(
            Batch::new(Rows::F32(vec![0, 1]), &[1]),
            Err(BatchError::Segments {
                segments: 1,
                rows: 2
            })
        );
    }
}
