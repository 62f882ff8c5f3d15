//! Sums of a kernel over all pairs of rows: what SKCE is made of (specification, sections 2 and 3).

use super::DeviceError;
use crate::predictions::{Dtype, Word};
use crate::random::Key;

/// A kernel of two confidences at a bandwidth γ > 0.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// exp(-(z-z')²/(2γ²)).
    #[default]
    Gaussian,
    /// exp(-|z-z'|/γ).
    Laplace,
}

impl Kernel {
    /// The name in `--kernel`.
    pub fn as_str(self) -> &'static str {
        match self {
            Kernel::Gaussian => "gaussian",
            Kernel::Laplace => "laplace",
        }
    }
}

/// The law that the resamples of the test `skce-u` stand for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    clap::ValueEnum,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum SkceNull {
    /// Rows drawn with replacement, the kernel centred (Arcones and Giné).
    #[default]
    Multinomial,
    /// Every row with a random sign.
    Wild,
    /// Labels drawn anew from Ber(Z), which is valid at any n.
    MonteCarlo,
}

impl SkceNull {
    /// The name in `--skce-null`.
    pub fn as_str(self) -> &'static str {
        match self {
            SkceNull::Multinomial => "multinomial",
            SkceNull::Wild => "wild",
            SkceNull::MonteCarlo => "monte-carlo",
        }
    }
}

/// How sums over pairs are computed. The results are equal but for rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The fastest there is: O(n) for the Laplace kernel, all pairs for the Gaussian.
    #[default]
    Fastest,
    /// All pairs.
    Pairs,
}

/// A kernel with its bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// The kernel.
    pub kernel: Kernel,
    /// γ, at least [`Scaled::LEAST_BANDWIDTH`].
    pub bandwidth: f64,
}

impl Scaled {
    /// The least bandwidth: squares of distances over it stay finite.
    pub const LEAST_BANDWIDTH: f64 = 1e-100;
}

/// Rows sorted by confidence, and by label within a tie, as groups of equal confidence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortedRows {
    /// The distinct confidences, ascending.
    pub confidence: Vec<f64>,
    /// The number of rows of each; fewer than 2³² in all.
    pub size: Vec<u32>,
    /// The labels of all rows, one group after the other, within a group 0 before 1.
    pub label: Vec<bool>,
}

impl SortedRows {
    /// Of rows in any order.
    pub fn of_words<W: Word>(dtype: Dtype, words: &[W]) -> Self {
        let mut sorted = words.to_vec();
        super::cpu::sort(&mut sorted, false);
        let mut rows = SortedRows::default();
        // The sort may leave the labels of a tie in any order.
        for tied in sorted.chunk_by(|a, b| a.confidence_bits() == b.confidence_bits()) {
            let positives = tied.iter().filter(|word| word.label()).count();
            rows.confidence.push(dtype.value(tied[0].confidence_bits()));
            rows.size.push(tied.len() as u32);
            let labels = (0..tied.len()).map(|place| place >= tied.len() - positives);
            rows.label.extend(labels);
        }
        rows
    }

    /// Of confidences in Q30 with their labels, in any order.
    pub fn of_q30(rows: &[(u32, bool)]) -> Self {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        let mut rows = SortedRows::default();
        for (confidence, label) in sorted {
            rows.push(f64::from(confidence) / f64::from(1u32 << 30), label);
        }
        rows
    }

    /// Adds a row that sorts behind all others.
    fn push(&mut self, confidence: f64, label: bool) {
        match self.size.last_mut() {
            Some(size) if self.confidence.last() == Some(&confidence) => *size += 1,
            _ => {
                self.confidence.push(confidence);
                self.size.push(1);
            }
        }
        self.label.push(label);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.label.len()
    }

    /// The sum of residuals of each group.
    pub fn residuals(&self) -> Vec<f64> {
        let mut sums = Vec::with_capacity(self.confidence.len());
        self.for_each_group(|confidence, rows| {
            let positives = self.label[rows.clone()].iter().filter(|&&label| label);
            sums.push(positives.count() as f64 - rows.len() as f64 * confidence);
        });
        sums
    }

    /// Σ D_i² over all rows.
    pub fn squares(&self) -> f64 {
        let mut sum = 0.0;
        self.for_each_group(|confidence, rows| {
            let positives = self.label[rows.clone()].iter().filter(|&&label| label);
            let positives = positives.count() as f64;
            let negatives = rows.len() as f64 - positives;
            sum += positives * (1.0 - confidence).powi(2) + negatives * confidence * confidence;
        });
        sum
    }

    /// Σ |D_i| over all rows.
    pub fn magnitudes(&self) -> f64 {
        let mut sum = 0.0;
        self.for_each_group(|confidence, rows| {
            let positives = self.label[rows.clone()].iter().filter(|&&label| label);
            let positives = positives.count() as f64;
            sum += positives * (1.0 - confidence) + (rows.len() as f64 - positives) * confidence;
        });
        sum
    }

    /// Calls with the confidence of each group, and the places of its rows.
    fn for_each_group(&self, mut call: impl FnMut(f64, std::ops::Range<usize>)) {
        let mut first = 0;
        for (&confidence, &size) in std::iter::zip(&self.confidence, &self.size) {
            let end = first + size as usize;
            call(confidence, first..end);
            first = end;
        }
    }
}

/// Null resamples of SKCE-U.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkceResamples {
    /// The law.
    pub null: SkceNull,
    /// B, how many.
    pub count: u32,
    /// The key of the sample: child (replicate's low word, high word) of its point's key of stream 7,
    /// 8 or 2; of replicate 0 in `evaluate`. Resample b reads the calls of Threefry with counter
    /// (row, b) under its child (0, 2), rows numbered in the order of [`SortedRows`]:
    /// - multinomial: draw number `row` takes the row ⌊u·n/2⁶⁴⌋, u with the first word below the second;
    /// - wild: the sign of `row` is that of the highest bit of the first word, 1 for plus;
    /// - Monte Carlo: the label of `row` is 1 when second word >> 2 < the confidence in Q30.
    pub key: Key,
}

impl SkceResamples {
    /// The key that all resamples' words are drawn under.
    pub fn words_key(&self) -> Key {
        self.key.child(0, 2)
    }
}

/// One sample whose pairs are summed.
#[derive(Clone, Copy, Debug)]
pub struct SkceSample<'a> {
    /// Its rows.
    pub rows: &'a SortedRows,
    /// The kernel.
    pub scaled: Scaled,
    /// How sums are computed.
    pub method: Method,
    /// The null resamples, if any are asked for; these need two rows at least.
    pub resamples: Option<SkceResamples>,
}

impl SkceSample<'_> {
    /// Whether the sums take time in proportion to the number of rows, not of pairs.
    pub fn is_linear(&self) -> bool {
        self.scaled.kernel == Kernel::Laplace && self.method == Method::Fastest
    }
}

/// Something that sums a kernel over pairs of rows.
///
/// A kernel has an exponential function in it, so these are the only sums that are not the same bits on
/// every backend. The CPU adds in f64. A device multiplies in f32; its sums over pairs are within 10⁻⁵
/// Σ|h| of the exact ones (in tests within 10⁻⁶), and the same bits whenever the same device computes
/// them. Each number of resamples `at_least` is that of the CPU: a resample that the device's rounding could put
/// on either side of the sample is computed once more in f64.
pub trait PairSummer {
    /// The sums of each sample, in order.
    ///
    /// # Errors
    /// If the device fails.
    fn pair_sums(&self, samples: &[SkceSample<'_>]) -> Result<Vec<SkceSums>, DeviceError>;
}

/// Sums over all pairs of rows of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkceSums {
    /// Σ_{i,j} h_ij, the diagonal with it.
    pub all: f64,
    /// Σ_i h_ii = Σ D_i².
    pub diagonal: f64,
    /// How many resamples have a statistic at least as large as the sample's, to within
    /// 10⁻¹² (Σ|D|)²; none if no resamples were asked for.
    pub at_least: Option<u32>,
}

/// Bootstrap resamples of SKCE: rows drawn with replacement.
///
/// Row i of resample b, i from 0, is the row of rank ⌊U·n/2³²⌋ in the order of [`SortedRows`], where U is
/// the first word of the call of Threefry with counter (i, b) under
/// [`super::resamples::resample_key`]: the draws of [`super::bootstrap::Bootstrap`].
#[derive(Clone, Copy, Debug)]
pub struct SkceBootstrap<'a> {
    /// The sample.
    pub rows: &'a SortedRows,
    /// The kernel; resamples keep the bandwidth of the sample.
    pub scaled: Scaled,
    /// How sums are computed.
    pub method: Method,
    /// B, how many resamples.
    pub count: u32,
    /// The key of the sample: that of its replicate under the point's key of stream 6.
    pub key: Key,
}

/// Sums over all pairs of draws of a resample, C_i how often row i is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SkceBootstrapSums {
    /// Σ_{i,j} C_i C_j h_ij.
    pub all: f64,
    /// Of them Σ_i C_i² h_ii, the pairs of a row with itself.
    pub same_row: f64,
    /// Σ_i C_i², the number of these; of all pairs there are n². Exact below 2⁵³.
    pub same_row_pairs: f64,
}
