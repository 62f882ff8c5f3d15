//! Random placement of labels inside a tied group. Twin of `shaders/shared/placement.wgsl`.
//!
//! A keyed Feistel permutation with cycle walking: every row finds its own place, so the draw is
//! parallel and free of the order of rows.

use crate::random::Key;

/// Rounds of the Feistel network when each half has at least three bits, and when it has fewer: so
/// small halves mix slowly (six rounds there make some pairs of places 15 % too frequent).
const ROUNDS: u32 = 6;
const ROUNDS_SMALL: u32 = 16;

/// A pseudo-random permutation of `0..size`.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    key: Key,
    size: u32,
    half_bits: u32,
}

impl Permutation {
    /// The permutation of `0..size` that `key` names.
    pub fn new(key: Key, size: u32) -> Self {
        let bits = 32 - size.saturating_sub(1).leading_zeros();
        Permutation {
            key,
            size,
            half_bits: bits.div_ceil(2).max(1),
        }
    }

    /// Where `index` goes; both lie in `0..size`.
    pub fn at(&self, index: u32) -> u32 {
        debug_assert!(index < self.size);
        let mut place = index;
        // The network permutes 0..4^half_bits, at most four times size (or 4 when size is 1): walk
        // along the cycle until it comes back inside, which it must, since `index` is on it.
        loop {
            place = self.network(place);
            if place < self.size {
                return place;
            }
        }
    }

    fn network(&self, value: u32) -> u32 {
        let mask = (1u32 << self.half_bits) - 1;
        let mut left = value >> self.half_bits;
        let mut right = value & mask;
        let rounds = if self.half_bits < 3 {
            ROUNDS_SMALL
        } else {
            ROUNDS
        };
        for round in 0..rounds {
            let next = left ^ (mix(self.key, round, right) & mask);
            left = right;
            right = next;
        }
        left << self.half_bits | right
    }
}

/// The round function: the finaliser of MurmurHash3 (Appleby, public domain) over keyed input.
fn mix(key: Key, round: u32, value: u32) -> u32 {
    let mut x = value
        .wrapping_mul(0x9E37_79B1)
        .wrapping_add(key.0[(round & 1) as usize])
        .wrapping_add(round.wrapping_mul(0x7F4A_7C15));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    x = x.wrapping_mul(0xC2B2_AE35);
    x ^ x >> 16
}

/// Which rows of a tied group are positive: row `j` of the group is when `is_positive(j)`.
///
/// The draw depends on the stream's key, the rank of the group's first row (which names the group),
/// its size and its number of positives, and on nothing else.
#[derive(Clone, Copy, Debug)]
pub struct TiedLabels {
    permutation: Permutation,
    positives: u32,
}

impl TiedLabels {
    /// The labels of a group that starts at `first_rank` (from 0) with `size` rows, `positives` of
    /// them positive.
    pub fn new(stream: Key, first_rank: u32, size: u32, positives: u32) -> Self {
        // A group of one kind needs no draw; this is most groups of real data.
        let key = if positives == 0 || positives == size {
            stream
        } else {
            stream.child(first_rank, 0).child(size, positives)
        };
        TiedLabels {
            permutation: Permutation::new(key, size),
            positives,
        }
    }

    /// The label of row `index` (from 0) of the group.
    pub fn is_positive(&self, index: u32) -> bool {
        if self.positives == 0 {
            return false;
        }
        self.positives == self.permutation.size || self.permutation.at(index) < self.positives
    }

    /// The labels of all rows, in order: what [`TiedLabels::is_positive`] says, without asking for
    /// rows that those before them decide.
    pub fn all(&self) -> impl Iterator<Item = bool> {
        let size = self.permutation.size;
        let mut positives_left = self.positives;
        (0..size).map(move |index| {
            let is_positive = positives_left > 0
                && (positives_left == size - index || self.permutation.at(index) < self.positives);
            positives_left -= u32::from(is_positive);
            is_positive
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    #[test]
    fn every_size_is_permuted() {
        for size in (1..=70).chain([255, 256, 257, 1000, 65_537]) {
            let permutation = Permutation::new(Key([size, 7]), size);
            let mut seen = vec![false; size as usize];
            for index in 0..size {
                let place = permutation.at(index) as usize;
                assert!(!seen[place], "{size}: {place} twice");
                seen[place] = true;
            }
        }
    }

    #[test]
    fn all_labels_are_those_of_the_rows() {
        for size in (1..=20).chain([64, 1000]) {
            for positives in [0, 1, size / 2, size - 1, size] {
                let labels = TiedLabels::new(Key([size, 11]), 5, size, positives);
                let rows: Vec<bool> = (0..size).map(|row| labels.is_positive(row)).collect();
                assert_eq!(
                    labels.all().collect::<Vec<_>>(),
                    rows,
                    "{positives} of {size}"
                );
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
