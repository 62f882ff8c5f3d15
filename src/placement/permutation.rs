//! A keyed pseudo-random permutation.

use super::few;
use super::round::{ROUNDS, ROUNDS_SMALL, mix};
use crate::random::Key;

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

    /// How many there are.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Where consecutive indices go, of which the first is `first`: what [`Permutation::at`] says,
    /// faster.
    pub fn places(&self, first: u32, places: &mut [u32]) {
        fill(self, first, places);
    }

    /// Which of the indices of a permutation of up to [`few::MOST`] go below `limit`: bit `j` tells of
    /// index `j`.
    pub(super) fn few_below(&self, limit: u32) -> u16 {
        debug_assert!(self.size <= few::MOST);
        let network = few::network(self.key, self.half_bits);
        let goes_below =
            |index: u32| loop_inside(index, self.size, |at| network[at as usize].into()) < limit;
        (0..self.size).fold(0, |below, index| {
            below | u16::from(goes_below(index)) << index
        })
    }

    /// Where `index` goes; both lie in `0..size`.
    pub fn at(&self, index: u32) -> u32 {
        debug_assert!(index < self.size);
        loop_inside(index, self.size, |place| self.network(place))
    }

    fn rounds(&self) -> u32 {
        if self.half_bits < 3 {
            ROUNDS_SMALL
        } else {
            ROUNDS
        }
    }

    fn network(&self, value: u32) -> u32 {
        let mask = (1u32 << self.half_bits) - 1;
        let mut left = value >> self.half_bits;
        let mut right = value & mask;
        for round in 0..self.rounds() {
            let next = left ^ (mix(self.key, round, right) & mask);
            left = right;
            right = next;
        }
        left << self.half_bits | right
    }
}

/// The network permutes 0..4^half_bits, at most four times `size` (or 4 when size is 1): walk along the
/// cycle until it comes back inside, which it must, since `index` is on it.
#[inline(always)]
fn loop_inside(index: u32, size: u32, network: impl Fn(u32) -> u32) -> u32 {
    let mut place = index;
    loop {
        place = network(place);
        if place < size {
            return place;
        }
    }
}

/// Indices that walk together.
const LANES: usize = 32;

fn fill(permutation: &Permutation, first: u32, places: &mut [u32]) {
    crate::simd::dispatch!(fill_body(
        permutation: &Permutation,
        first: u32,
        places: &mut [u32]
    ) -> ())
}

#[inline(always)]
fn fill_body(permutation: &Permutation, first: u32, places: &mut [u32]) {
    let size = permutation.size;
    let mut index = first;
    for block in places.chunks_mut(LANES) {
        // Those behind the last row walk along and are not used.
        let mut place: [u32; LANES] =
            std::array::from_fn(|lane| index.wrapping_add(lane as u32) % size.max(1));
        let mut is_first = true;
        loop {
            let next = network_lanes(permutation, &place);
            let mut outside = 0;
            for lane in 0..LANES {
                let walks = is_first || place[lane] >= size;
                place[lane] = if walks { next[lane] } else { place[lane] };
                outside |= u32::from(place[lane] >= size);
            }
            is_first = false;
            if outside == 0 {
                break;
            }
        }
        block.copy_from_slice(&place[..block.len()]);
        index = index.wrapping_add(LANES as u32);
    }
}

/// [`Permutation::network`] of each lane.
#[inline(always)]
fn network_lanes(permutation: &Permutation, value: &[u32; LANES]) -> [u32; LANES] {
    let half_bits = permutation.half_bits;
    let mask = (1u32 << half_bits) - 1;
    let (mut left, mut right) = ([0; LANES], [0; LANES]);
    for lane in 0..LANES {
        left[lane] = value[lane] >> half_bits;
        right[lane] = value[lane] & mask;
    }
    for round in 0..permutation.rounds() {
        for lane in 0..LANES {
            let next = left[lane] ^ (mix(permutation.key, round, right[lane]) & mask);
            left[lane] = right[lane];
            right[lane] = next;
        }
    }
    let mut joined = [0; LANES];
    for lane in 0..LANES {
        joined[lane] = left[lane] << half_bits | right[lane];
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn places_are_those_of_the_indices() {
        for size in (1..=70).chain([255, 256, 257, 1000]) {
            let permutation = Permutation::new(Key([size, 7]), size);
            for first in [0, size / 2, size - 1] {
                let mut places = vec![0; (size - first) as usize];
                permutation.places(first, &mut places);
                for (place, index) in std::iter::zip(places, first..) {
                    assert_eq!(place, permutation.at(index), "{index} of {size}");
                }
            }
        }
    }
}
