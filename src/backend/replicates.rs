//! Simulated replicates: what a backend is asked for, and what it gives back (spec, sections 5, 6).

use crate::model::{Quantile, Response};
use crate::random::{Key, threefry};

use super::DeviceError;
use super::kernels::PairSummer;
use super::resamples::{Resampler, TiedGroups};

/// Replicates of one point of a grid.
///
/// Row i of replicate r takes its uniform word and its label word from one call of Threefry with
/// counter (i, r's low word) under [`replicate_key`]. The uniform words are sorted; the label word of
/// row i belongs to the i-th smallest.
#[derive(Clone, Copy, Debug)]
pub struct Replicates<'a> {
    /// From a uniform word to a confidence.
    pub quantile: &'a Quantile,
    /// From a confidence to the probability of label 1.
    pub response: &'a Response,
    /// Rows of a replicate.
    pub rows: u32,
    /// The key of the point, stream 1.
    pub key: Key,
    /// For each binning, the uniform words at which its second and later bins begin.
    pub thresholds: &'a [Vec<u32>],
}

/// The key of the rows of a replicate.
pub fn replicate_key(point: Key, replicate: u64) -> Key {
    point.child((replicate >> 32) as u32, 1)
}

/// The integer sums of one replicate; units as in [`super::SegmentSums`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReplicateSums {
    /// n · rankECE, tie-averaged, Q60.
    pub rank_ece: i128,
    /// Σ v², Q66.
    pub null_squares: u128,
    /// Σ v_(i) v_(i+1) over odd i, Q66.
    pub null_odd: u128,
    /// The same over even i, Q66.
    pub null_even: u128,
    /// Null variance of n · rankECE given the confidences, Q66.
    pub null_conditional: u128,
    /// The bins of every binning, one binning after the other.
    pub bins: Vec<ReplicateBin>,
}

/// One bin of a replicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplicateBin {
    /// Rows in it.
    pub rows: u32,
    /// Their residuals' sum, Q30.
    pub residual: i64,
}

/// The tied groups of a replicate, and how many rows of each are positive: what null resampling starts
/// from. The rows are those of [`Simulator::replicates`], drawn one by one; beside the resamples of
/// each this takes no time.
pub fn replicate_groups(replicates: &Replicates<'_>, replicate: u64) -> (TiedGroups, Vec<u32>) {
    let key = replicate_key(replicates.key, replicate);
    let words = |row| threefry(key, [row, replicate as u32]);
    let mut uniform: Vec<u32> = (0..replicates.rows).map(|row| words(row)[0]).collect();
    uniform.sort_unstable();
    // Only scores can be tied: other laws are continuous.
    let run = |u: u32| match replicates.quantile {
        Quantile::Empirical(scores) => Some(scores.run[scores.index(u)]),
        _ => None,
    };
    let (mut groups, mut positives) = (TiedGroups::default(), Vec::new());
    let mut row = 0;
    let tied = |a: &u32, b: &u32| run(*a).is_some_and(|of_a| run(*b) == Some(of_a));
    for tied in uniform.chunk_by(tied) {
        let confidence = replicates.quantile.q30(tied[0]);
        let chance = replicates.response.q30(confidence);
        // A group is no larger than the replicate.
        let size = tied.len() as u32;
        let labels = (row..row + size).filter(|&row| words(row)[1] >> 2 < chance);
        positives.push(labels.count() as u32);
        groups.push(confidence, size);
        row += size;
    }
    (groups, positives)
}

/// Rows of a call that keeps a few cores busy; a slow software adapter does them in half a second.
pub const ROWS_PER_CALL: usize = 1 << 19;

/// Something that simulates.
pub trait Simulator: Resampler + PairSummer {
    /// How many replicates of `rows` rows a call should have, at least 1, for whatever simulates to
    /// be busy. This is advice about speed: results do not depend on how replicates are cut into
    /// calls.
    fn replicates_per_call(&self, rows: u32) -> usize {
        (ROWS_PER_CALL / rows.max(1) as usize).max(1)
    }

    /// The sums of replicates `first..first + count`, in order.
    ///
    /// # Errors
    /// If the device fails.
    fn replicates(
        &self,
        replicates: &Replicates<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError>;
}
