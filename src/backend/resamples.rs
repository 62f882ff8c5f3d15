//! Null resamples: labels drawn anew as if the confidences were calibrated (specification, section 6).
//!
//! Given the confidences, calibrated labels are independent and Y_i ~ Ber(Z_i), so the null law of any
//! statistic is known: draw labels for the sorted confidences, reduce, many times.

use super::DeviceError;
use crate::fixed_point::{ONE_Q30, fraction_q30};
use crate::predictions::{Dtype, Rows, Word};
use crate::random::Key;
use crate::with_words;

/// Confidences in ascending order, as tied groups: all that a null resample depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TiedGroups {
    /// The confidence of each group, Q30. Ties are decided on the confidence as given, so groups
    /// beside each other may be equal here.
    pub confidence: Vec<u32>,
    /// The number of rows of each group, at least 1.
    pub size: Vec<u32>,
    /// The number of rows of all groups.
    pub rows: u32,
}

impl TiedGroups {
    /// Adds a group above all others. Rows in all must stay below 2³².
    pub fn push(&mut self, confidence: u32, size: u32) {
        self.confidence.push(confidence);
        self.size.push(size);
        self.rows += size;
    }

    /// The number of rows whose labels can vary in a resample: those of confidences strictly between 0
    /// and 1, in Q30.
    pub fn varying_rows(&self) -> u32 {
        let sized = self.confidence.iter().zip(&self.size);
        let varying = sized.filter(|&(&confidence, _)| 0 < confidence && confidence < ONE_Q30);
        varying.map(|(_, &size)| size).sum()
    }

    /// Whether no two rows share a confidence.
    pub fn untied(&self) -> bool {
        self.confidence.len() == self.rows as usize
    }

    /// The mean residual of group `group` with `positives` of its rows positive, Q30.
    fn mean_residual(&self, group: usize, positives: u32) -> i64 {
        i64::from(fraction_q30(positives, self.size[group])) - i64::from(self.confidence[group])
    }
}

/// The tied groups of some rows of a batch in any order, and how many rows of each are positive.
///
/// # Panics
/// If `range` is not one of rows, or has 2³² rows or more.
pub fn tied_groups(rows: &Rows, range: std::ops::Range<usize>) -> (TiedGroups, Vec<u32>) {
    let dtype = rows.dtype();
    with_words!(rows, words => of_words(dtype, &words[range]))
}

fn of_words<W: Word>(dtype: Dtype, words: &[W]) -> (TiedGroups, Vec<u32>) {
    let mut sorted = words.to_vec();
    super::cpu::sort(&mut sorted, false);
    let (mut groups, mut positives) = (TiedGroups::default(), Vec::new());
    for tied in sorted.chunk_by(|a, b| a.confidence_bits() == b.confidence_bits()) {
        groups.push(dtype.q30(tied[0].confidence_bits()), tied.len() as u32);
        positives.push(tied.iter().map(|word| u32::from(word.label())).sum());
    }
    (groups, positives)
}

/// Which sums are asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// n·rankECE.
    pub rank_ece: bool,
    /// The sums over windows of ranks.
    pub windows: bool,
    /// The extremes of the walk.
    pub walk: bool,
}

impl Statistics {
    /// Whether none is.
    pub fn is_empty(self) -> bool {
        self == Statistics::default()
    }
}

/// Null resamples of one sample.
///
/// The label of the i-th smallest confidence q (Q30, i from 0) in resample b is 1 when
/// `word >> 2 < q`, where `word` is the second word (the label word, as in a replicate) of the call of
/// Threefry with counter (i, b) under [`resample_key`]. Rows of a tied group are exchangeable: only
/// how many of them are positive counts.
#[derive(Clone, Copy, Debug)]
pub struct Resamples<'a> {
    /// The confidences.
    pub groups: &'a TiedGroups,
    /// The key of the sample: that of its replicate under the point's key of stream 2.
    pub key: Key,
    /// Which sums are asked for.
    pub statistics: Statistics,
}

/// The key of the sample that is replicate `replicate` of a point, under the point's key of stream 2;
/// 0 in `evaluate`.
pub fn sample_key(point: Key, replicate: u64) -> Key {
    point.child(replicate as u32, (replicate >> 32) as u32)
}

/// The key of the labels of all resamples of a sample; there are fewer than 2³².
pub fn resample_key(sample: Key) -> Key {
    sample.child(0, 2)
}

/// The integer sums of consecutive resamples. Lists of statistics that were not asked for are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResampleSums {
    /// n·rankECE, tie-averaged, Q60.
    pub rank_ece: Vec<i128>,
    /// S_L = Σ_{1<=j-i<=L} W_(i) W_(j), Q60, for each L of [`windows`]: all of one resample, then all
    /// of the next. Every row carries its group's mean residual W, in Q30.
    pub windows: Vec<i128>,
    /// The smallest and the largest C_k = Σ_{i<=k} D_(i), Q30, over the ends of tied groups and the
    /// start, which is 0.
    pub walk: Vec<[i64; 2]>,
}

impl ResampleSums {
    /// Adds further resamples.
    pub fn extend(&mut self, other: ResampleSums) {
        self.rank_ece.extend(other.rank_ece);
        self.windows.extend(other.windows);
        self.walk.extend(other.walk);
    }
}

/// The widths L of windows of ranks: 1, 2, 4, … below n, and n - 1.
pub fn windows(rows: u32) -> Vec<u32> {
    let powers = (0..32)
        .map(|power| 1u32 << power)
        .filter(|&width| width < rows);
    let mut widths: Vec<u32> = powers.collect();
    if let Some(&last) = widths.last()
        && last != rows - 1
    {
        widths.push(rows - 1);
    }
    widths
}

/// The sums of given labels, as if they were a resample: `positives` rows of each group are 1. What
/// observed labels go through, so that they meet resamples in the same integers.
///
/// # Panics
/// If there are not as many numbers of positives as groups.
pub fn sums_of_labels(
    groups: &TiedGroups,
    positives: &[u32],
    statistics: Statistics,
) -> ResampleSums {
    assert_eq!(positives.len(), groups.size.len());
    let mut sums = ResampleSums::default();
    if statistics.rank_ece {
        sums.rank_ece.push(rank_ece(groups, positives));
    }
    if statistics.windows {
        sums.windows = window_sums(groups, positives);
    }
    if statistics.walk {
        sums.walk.push(walk(groups, positives));
    }
    sums
}

/// Σ |W| over all rows, Q30.
pub fn residual_size(groups: &TiedGroups, positives: &[u32]) -> u64 {
    let groups_with_positives = positives.iter().enumerate();
    groups_with_positives
        .map(|(group, &k)| {
            groups.mean_residual(group, k).unsigned_abs() * u64::from(groups.size[group])
        })
        .sum()
}

fn rank_ece(groups: &TiedGroups, positives: &[u32]) -> i128 {
    let (mut sum, mut before) = (0i128, 0i64);
    for (group, &k) in positives.iter().enumerate() {
        let size = groups.size[group];
        let residual = groups.mean_residual(group, k);
        sum += i128::from(before * residual);
        if size > 1 {
            let fraction = i64::from(fraction_q30(k, size));
            sum += i128::from(residual * residual) * i128::from(size - 1)
                - i128::from(fraction * (i64::from(ONE_Q30) - fraction));
        }
        before = residual;
    }
    sum
}

fn window_sums(groups: &TiedGroups, positives: &[u32]) -> Vec<i128> {
    let rows = groups.rows as usize;
    let mut before = Vec::with_capacity(rows + 1);
    let mut sum = 0i64;
    before.push(0);
    for (group, &k) in positives.iter().enumerate() {
        let residual = groups.mean_residual(group, k);
        for _ in 0..groups.size[group] {
            sum += residual;
            before.push(sum);
        }
    }
    let of_width = |width: u32| {
        let row = |row: usize| {
            let residual = before[row + 1] - before[row];
            let window = before[row] - before[row.saturating_sub(width as usize)];
            i128::from(residual) * i128::from(window)
        };
        (0..rows).map(row).sum()
    };
    windows(groups.rows).into_iter().map(of_width).collect()
}

fn walk(groups: &TiedGroups, positives: &[u32]) -> [i64; 2] {
    let (mut at, mut lowest, mut highest) = (0i64, 0i64, 0i64);
    for (group, &k) in positives.iter().enumerate() {
        // At most 2³² rows of at most 2³⁰ each.
        at += (i64::from(k) << 30)
            - i64::from(groups.size[group]) * i64::from(groups.confidence[group]);
        lowest = lowest.min(at);
        highest = highest.max(at);
    }
    [lowest, highest]
}

/// Something that resamples labels.
pub trait Resampler {
    /// The sums of resamples `first..first + count` of each sample, in order.
    ///
    /// # Errors
    /// If the device fails.
    fn resamples(
        &self,
        samples: &[Resamples<'_>],
        first: u32,
        count: u32,
    ) -> Result<Vec<ResampleSums>, DeviceError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_double_up_to_all_rows() {
        assert!(windows(0).is_empty());
        assert!(windows(1).is_empty());
        assert_eq!(windows(2), [1]);
        assert_eq!(windows(3), [1, 2]);
        assert_eq!(windows(5), [1, 2, 4]);
        assert_eq!(windows(6), [1, 2, 4, 5]);
        assert_eq!(windows(u32::MAX).len(), 33);
    }
}
