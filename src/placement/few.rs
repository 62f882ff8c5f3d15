//! The network of a small permutation, of all its values at once.

use super::round::{ROUNDS_SMALL, mix};
use crate::random::Key;

/// The most values that [`network`] permutes.
pub(super) const MOST: u32 = 16;

/// What the round function makes of a value of a half, in each round.
type Mixed = [u32; ROUNDS_SMALL as usize];

/// Where the network takes each value below 4^`half_bits`, of halves of 1 or 2 bits.
pub(super) fn network(key: Key, half_bits: u32) -> [u8; MOST as usize] {
    if half_bits == 1 {
        network_of::<1, 2>(mixed_of_2(key))
    } else {
        network_of::<2, 4>(mixed_of_4(key))
    }
}

/// The network of halves of `BITS` bits, which have `HALVES` values.
///
/// A half is held as its bits, and each bit of all values as a word of 16: a round then is some
/// operations on words, as its function is known for each value that a half can have.
#[inline(always)]
fn network_of<const BITS: usize, const HALVES: usize>(
    mixed: [Mixed; HALVES],
) -> [u8; MOST as usize] {
    // Bit v of a word is bit `bit` of value v.
    let word = |bit: usize| [0xAAAAu16, 0xCCCC, 0xF0F0, 0xFF00][bit];
    let mut right: [u16; BITS] = std::array::from_fn(word);
    let mut left: [u16; BITS] = std::array::from_fn(|bit| word(BITS + bit));
    for round in 0..ROUNDS_SMALL as usize {
        let mut next = left;
        for (half, mixed) in mixed.iter().enumerate() {
            // The values whose right half is this one.
            let mut values = u16::MAX;
            for (bit, right) in right.iter().enumerate() {
                values &= if half >> bit & 1 == 1 { *right } else { !right };
            }
            for (bit, next) in next.iter_mut().enumerate() {
                *next ^= values & ((mixed[round] >> bit & 1) as u16).wrapping_neg();
            }
        }
        (left, right) = (right, next);
    }
    let mut network = [0; MOST as usize];
    for (value, place) in network[..HALVES * HALVES].iter_mut().enumerate() {
        for bit in 0..BITS {
            *place |= (right[bit] >> value & 1) as u8 * (1 << bit);
            *place |= (left[bit] >> value & 1) as u8 * (1 << (BITS + bit));
        }
    }
    network
}

fn mixed_of_2(key: Key) -> [Mixed; 2] {
    crate::simd::dispatch!(mixed(key: Key) -> [Mixed; 2])
}

fn mixed_of_4(key: Key) -> [Mixed; 4] {
    crate::simd::dispatch!(mixed(key: Key) -> [Mixed; 4])
}

#[inline(always)]
fn mixed<const HALVES: usize>(key: Key) -> [Mixed; HALVES] {
    let of_half = |half| std::array::from_fn(|round| mix(key, round as u32, half));
    std::array::from_fn(|half| of_half(half as u32))
}
