//! Counter-based random numbers: Threefry2x32 with 20 rounds. Twin of `shaders/shared/threefry.wgsl`.
//!
//! A word depends on its key and counter alone, so any thread of any device can draw it, in any
//! order, and get the same bits. Source: Salmon, Moraes, Dror & Shaw, "Parallel Random Numbers: As
//! Easy as 1, 2, 3", SC 2011.

use std::convert::Infallible;

use rand::rand_core::TryRng;

/// A Threefry key of two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub [u32; 2]);

/// What a stream of random numbers is for. Streams of one seed never share a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Stream {
    /// Rows of simulated replicates.
    Replicates = 1,
    /// Labels of null resamples.
    Null = 2,
    /// Random order of tied rows.
    Ties = 3,
    /// Labels of tied rows under the neighbour interval.
    Neighbour = 4,
    /// Subsamples without replacement, of a population file or for an interval.
    Subsample = 5,
    /// Rows drawn with replacement.
    Bootstrap = 6,
    /// Rows that a resample of SKCE draws with replacement.
    Multinomial = 7,
    /// Signs of a resample of SKCE.
    Wild = 8,
    /// Coefficients of the curve `random-fourier`.
    Curve = 9,
    /// Data of `selfcheck`.
    Selfcheck = 10,
}

impl Key {
    /// The key of a user's seed.
    pub fn from_seed(seed: u64) -> Self {
        Key([seed as u32, (seed >> 32) as u32])
    }

    /// The key of one stream of `seed` at one grid point (`point` is 0 in `evaluate`).
    pub fn for_stream(seed: u64, stream: Stream, point: u32) -> Self {
        Key::from_seed(seed).child(stream as u32, 0).child(point, 0)
    }

    /// A key derived from this one. For a fixed key this is a bijection of `(a, b)`, so siblings
    /// never collide.
    pub fn child(self, a: u32, b: u32) -> Self {
        Key(threefry(self, [a, b]))
    }
}

/// One Threefry2x32-20 block: two words from a key and a counter.
pub fn threefry(key: Key, counter: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
    let [k0, k1] = key.0;
    let schedule = [k0, k1, 0x1BD1_1BDA ^ k0 ^ k1];
    let mut x0 = counter[0].wrapping_add(k0);
    let mut x1 = counter[1].wrapping_add(k1);
    for round in 0..20 {
        x0 = x0.wrapping_add(x1);
        x1 = x1.rotate_left(ROTATIONS[round % 8]) ^ x0;
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            x0 = x0.wrapping_add(schedule[injection % 3]);
            x1 = x1
                .wrapping_add(schedule[(injection + 1) % 3])
                .wrapping_add(injection as u32);
        }
    }
    [x0, x1]
}

/// The words of one key in the order of their counters, as a generator for the `rand` crate.
#[derive(Clone, Debug)]
pub struct ThreefryRng {
    key: Key,
    block: u64,
    spare: Option<u32>,
}

impl ThreefryRng {
    /// A generator that starts at counter 0 of `key`.
    pub fn new(key: Key) -> Self {
        ThreefryRng {
            key,
            block: 0,
            spare: None,
        }
    }
}

impl TryRng for ThreefryRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        if let Some(word) = self.spare.take() {
            return Ok(word);
        }
        let [first, second] = threefry(self.key, [self.block as u32, (self.block >> 32) as u32]);
        self.block = self.block.wrapping_add(1);
        self.spare = Some(second);
        Ok(first)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let low = self.try_next_u32()?;
        let high = self.try_next_u32()?;
        Ok(u64::from(low) | u64::from(high) << 32)
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(4) {
            let word = self.try_next_u32()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known answers published with Random123 (`kat_vectors`, threefry2x32 20).
    #[test]
    fn threefry_gives_the_published_answers() {
        let ones = u32::MAX;
        for (key, counter, answer) in [
            ([0, 0], [0, 0], [0x6b20_0159, 0x99ba_4efe]),
            ([ones, ones], [ones, ones], [0x1cb9_96fc, 0xbb00_2be7]),
            (
                [0x1319_8a2e, 0x0370_7344],
                [0x243f_6a88, 0x85a3_08d3],
                [0xc492_3a9c, 0x483d_f7a0],
            ),
        ] {
            assert_eq!(threefry(Key(key), counter), answer);
        }
    }
}
