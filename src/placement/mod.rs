//! Random placement of labels inside a tied group. Twin of `shaders/shared/placement.wgsl`.
//!
//! A keyed Feistel permutation with cycle walking: every row finds its own place, so the draw is
//! parallel and free of the order of rows.

mod few;
mod permutation;
mod round;

pub use permutation::Permutation;

use crate::random::Key;

/// Which rows of a tied group are positive: row `j` of the group is when `is_positive(j)`.
///
/// The draw depends on the stream's key, the rank of the group's first row (which names the group),
/// its size and its number of positives, and on nothing else.
#[derive(Clone, Copy, Debug)]
pub struct TiedLabels {
    permutation: Permutation,
    positives: u32,
    /// The labels of a small group that has both kinds: bit `j` is that of row `j`.
    few: Option<u16>,
}

impl TiedLabels {
    /// The labels of a group that starts at `first_rank` (from 0) with `size` rows, `positives` of
    /// them positive.
    pub fn new(stream: Key, first_rank: u32, size: u32, positives: u32) -> Self {
        // A group of one kind needs no draw; this is most groups of real data.
        let is_mixed = positives > 0 && positives < size;
        let key = if is_mixed {
            stream.child(first_rank, 0).child(size, positives)
        } else {
            stream
        };
        let permutation = Permutation::new(key, size);
        let few = (is_mixed && size <= few::MOST).then(|| permutation.few_below(positives));
        TiedLabels {
            permutation,
            positives,
            few,
        }
    }

    /// The label of row `index` (from 0) of the group.
    pub fn is_positive(&self, index: u32) -> bool {
        if let Some(few) = self.few {
            return few >> index & 1 == 1;
        }
        if self.positives == 0 {
            return false;
        }
        self.positives == self.permutation.size() || self.permutation.at(index) < self.positives
    }

    /// The labels of consecutive rows, of which the first is `first`: what [`TiedLabels::is_positive`]
    /// says, faster.
    pub fn fill(&self, first: u32, labels: &mut [bool]) {
        if self.few.is_some() || self.positives == 0 || self.positives == self.permutation.size() {
            for (label, index) in std::iter::zip(labels, first..) {
                *label = self.is_positive(index);
            }
            return;
        }
        let mut places = [0; BLOCK];
        let mut index = first;
        for labels in labels.chunks_mut(BLOCK) {
            let places = &mut places[..labels.len()];
            self.permutation.places(index, places);
            for (label, place) in std::iter::zip(&mut *labels, places) {
                *label = *place < self.positives;
            }
            index += labels.len() as u32;
        }
    }
}

/// Rows whose places are found at a time.
const BLOCK: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn labels_filled_in_are_those_of_the_rows() {
        for size in (1..=20).chain([64, 1000]) {
            for positives in [0, 1, size / 2, size - 1, size] {
                let labels = TiedLabels::new(Key([size, 11]), 5, size, positives);
                let rows: Vec<bool> = (0..size).map(|row| labels.is_positive(row)).collect();
                let positive = rows.iter().filter(|&&label| label).count();
                assert_eq!(positive, positives as usize, "of {size}");
                for first in [0, size / 3, size - 1] {
                    let mut filled = vec![false; (size - first) as usize];
                    labels.fill(first, &mut filled);
                    assert_eq!(filled, rows[first as usize..], "{positives} of {size}");
                }
            }
        }
    }

    /// The labels of a small group are found all at once; one by one they are the same.
    #[test]
    fn labels_of_small_groups_are_those_of_the_permutation() {
        for size in 2..=17u32 {
            for positives in 1..size {
                for rank in 0..50 {
                    let labels = TiedLabels::new(Key([3, 4]), rank, size, positives);
                    for index in 0..size {
                        let place = labels.permutation.at(index);
                        assert_eq!(labels.is_positive(index), place < positives);
                    }
                }
            }
        }
    }

    /// Each row of a group of `size` is positive in a fraction `positives/size` of draws, and pairs
    /// of neighbours in a fraction k(k-1)/(m(m-1)). 40,000 keys; bounds of 5 standard errors over
    /// about 250 comparisons: one false alarm in some 7,000 seeds, and the seed is fixed.
    #[test]
    fn placement_is_uniform() {
        let draws = 40_000u32;
        let stream = Key::for_stream(1, Stream::Ties, 0);
        for size in 2..=9u32 {
            for positives in 1..size {
                let mut single = vec![0u32; size as usize];
                let mut pair = vec![0u32; size as usize - 1];
                for draw in 0..draws {
                    let labels = TiedLabels::new(stream, draw, size, positives);
                    let row: Vec<bool> = (0..size).map(|j| labels.is_positive(j)).collect();
                    for j in 0..size as usize {
                        single[j] += u32::from(row[j]);
                        if j > 0 {
                            pair[j - 1] += u32::from(row[j] && row[j - 1]);
                        }
                    }
                }
                let (m, k) = (f64::from(size), f64::from(positives));
                for (counts, expected) in [(single, k / m), (pair, k * (k - 1.0) / (m * (m - 1.0)))]
                {
                    for count in counts {
                        let rate = f64::from(count) / f64::from(draws);
                        let error = (expected * (1.0 - expected) / f64::from(draws)).sqrt();
                        assert!(
                            (rate - expected).abs() <= 5.0 * error,
                            "size {size}, positives {positives}: {rate} for {expected}"
                        );
                    }
                }
            }
        }
    }
}
