//! Subsamples of a population of rows: what is asked for.

use std::ops::Range;

use super::DeviceError;
use super::replicates::ReplicateSums;
use crate::predictions::{Dtype, Rows, Word};
use crate::random::Key;
use crate::with_words;

/// The rows of a population in ascending order of confidence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PopulationRows {
    /// Confidences, Q30.
    pub confidence: Vec<u32>,
    /// Labels.
    pub label: Vec<bool>,
    /// For each row the number of its tied run, from 0; decided on confidences as given.
    pub run: Vec<u32>,
}

impl PopulationRows {
    /// Some rows of a batch, in any order. Rows of one confidence come in the order of their labels, so
    /// that the order of the input does not matter.
    ///
    /// # Panics
    /// If `range` is not one of rows, or has 2³² rows or more.
    pub fn new(rows: &Rows, range: Range<usize>) -> Self {
        let dtype = rows.dtype();
        with_words!(rows, words => {
            let mut sorted = words[range].to_vec();
            sorted.sort_unstable();
            Self::of_sorted(dtype, &sorted)
        })
    }

    fn of_sorted<W: Word>(dtype: Dtype, sorted: &[W]) -> Self {
        let mut population = PopulationRows::default();
        let tied = sorted.chunk_by(|a, b| a.confidence_bits() == b.confidence_bits());
        for (number, run) in (0u32..).zip(tied) {
            let confidence = dtype.q30(run[0].confidence_bits());
            population.confidence.extend(run.iter().map(|_| confidence));
            population.label.extend(run.iter().map(|row| row.label()));
            population.run.extend(run.iter().map(|_| number));
        }
        population
    }
}

/// Subsamples without replacement.
///
/// Subsample r holds the rows π(0), …, π(rows - 1), where π is the
/// [`crate::placement::Permutation`] of all rows under [`subsample_key`].
#[derive(Clone, Copy, Debug)]
pub struct Subsamples<'a> {
    /// Where rows come from: at least `rows` of them.
    pub population: &'a PopulationRows,
    /// Rows of a subsample.
    pub rows: u32,
    /// The key of the point, stream 5.
    pub key: Key,
    /// For each binning, the ranks in the population at which its second and later bins begin.
    pub thresholds: &'a [Vec<u32>],
}

/// The key of a subsample.
pub fn subsample_key(point: Key, subsample: u64) -> Key {
    point.child(subsample as u32, (subsample >> 32) as u32)
}

/// Something that draws subsamples.
pub trait Subsampler {
    /// The sums of subsamples `first..first + count`, in order.
    ///
    /// # Errors
    /// If the device fails.
    fn subsamples(
        &self,
        subsamples: &Subsamples<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError>;
}
