//! The rounds of the network.

use crate::random::Key;

/// Rounds of the Feistel network when each half has at least three bits, and when it has fewer: so
/// small halves mix slowly (six rounds there make some pairs of places 15 % too frequent).
pub(super) const ROUNDS: u32 = 6;
pub(super) const ROUNDS_SMALL: u32 = 16;

/// The round function: the finaliser of MurmurHash3 (Appleby, public domain) over keyed input.
#[inline(always)]
pub(super) fn mix(key: Key, round: u32, value: u32) -> u32 {
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
