//! Uniform and label words of a replicate. Twin of the drawing in `shaders/replicate.wgsl`.

use super::sort_lanes::{LANES as LANES_OF_A_ROW, Row};
use crate::random::Key;

/// Words that go through the rounds of Threefry together: rounds wait for each other, so that a core is
/// busy only with several vectors of them.
const TOGETHER: usize = 64;

/// Draws rows `0..uniform.len()` of replicate `replicate_low` under `key`.
pub fn draw(key: Key, replicate_low: u32, uniform: &mut [u32], label: &mut [u32]) {
    draw_from(key, 0, replicate_low, uniform, label);
}

/// The same for as many rows from `first_row` on.
pub fn draw_from(
    key: Key,
    first_row: u32,
    replicate_low: u32,
    uniform: &mut [u32],
    label: &mut [u32],
) {
    crate::simd::dispatch!(draw_body(
        key: Key,
        first_row: u32,
        replicate_low: u32,
        uniform: &mut [u32],
        label: &mut [u32]
    ) -> ())
}

#[inline(always)]
fn draw_body(key: Key, first_row: u32, replicate_low: u32, uniform: &mut [u32], label: &mut [u32]) {
    let blocks = uniform.chunks_mut(TOGETHER);
    let mut row = first_row;
    for (uniform, label) in std::iter::zip(blocks, label.chunks_mut(TOGETHER)) {
        // Arrays of a known size stay in registers.
        let mut words = std::array::from_fn(|lane| row.wrapping_add(lane as u32));
        let mut label_words = [replicate_low; TOGETHER];
        threefry_lanes(key, &mut words, &mut label_words);
        uniform.copy_from_slice(&words[..uniform.len()]);
        label.copy_from_slice(&label_words[..uniform.len()]);
        row = row.wrapping_add(TOGETHER as u32);
    }
}

/// Rows of a replicate that are drawn together, side by side: [`TOGETHER`] words.
pub const ROWS_TOGETHER: usize = TOGETHER / LANES_OF_A_ROW;

/// Draws rows `0..uniform.len()` of [`LANES_OF_A_ROW`] consecutive replicates, of which the first is
/// `replicate_low`, side by side. A multiple of [`ROWS_TOGETHER`].
pub fn draw_side_by_side(key: Key, replicate_low: u32, uniform: &mut [Row], label: &mut [Row]) {
    crate::simd::dispatch!(draw_side_by_side_body(
        key: Key,
        replicate_low: u32,
        uniform: &mut [Row],
        label: &mut [Row]
    ) -> ())
}

#[inline(always)]
fn draw_side_by_side_body(key: Key, replicate_low: u32, uniform: &mut [Row], label: &mut [Row]) {
    let blocks = uniform.as_chunks_mut::<ROWS_TOGETHER>().0.iter_mut();
    let label_blocks = label.as_chunks_mut::<ROWS_TOGETHER>().0;
    let mut row = 0u32;
    for (block, label_block) in blocks.zip(label_blocks) {
        let (mut words, mut label_words) = ([0; TOGETHER], [0; TOGETHER]);
        for lane in 0..TOGETHER {
            words[lane] = row.wrapping_add((lane / LANES_OF_A_ROW) as u32);
            label_words[lane] = replicate_low.wrapping_add((lane % LANES_OF_A_ROW) as u32);
        }
        threefry_lanes(key, &mut words, &mut label_words);
        bytemuck::cast_slice_mut(block).copy_from_slice(&words);
        bytemuck::cast_slice_mut(label_block).copy_from_slice(&label_words);
        row = row.wrapping_add(ROWS_TOGETHER as u32);
    }
}

/// [`crate::random::threefry`] of the counters (first word, second word) of each lane, in place; each
/// step over all lanes, so that it is vectorised.
#[inline(always)]
pub fn threefry_lanes<const COUNT: usize>(
    key: Key,
    first: &mut [u32; COUNT],
    second: &mut [u32; COUNT],
) {
    let [k0, k1] = key.0;
    let k2 = 0x1BD1_1BDA ^ k0 ^ k1;
    inject(first, second, k0, k1);
    // Written out, so that each rotation is by a constant.
    four_rounds(first, second, [13, 15, 26, 6]);
    inject(first, second, k1, k2.wrapping_add(1));
    four_rounds(first, second, [17, 29, 16, 24]);
    inject(first, second, k2, k0.wrapping_add(2));
    four_rounds(first, second, [13, 15, 26, 6]);
    inject(first, second, k0, k1.wrapping_add(3));
    four_rounds(first, second, [17, 29, 16, 24]);
    inject(first, second, k1, k2.wrapping_add(4));
    four_rounds(first, second, [13, 15, 26, 6]);
    inject(first, second, k2, k0.wrapping_add(5));
}

/// Four rounds with these rotations.
#[inline(always)]
fn four_rounds<const COUNT: usize>(
    first: &mut [u32; COUNT],
    second: &mut [u32; COUNT],
    rotations: [u32; 4],
) {
    for rotation in rotations {
        for lane in 0..COUNT {
            first[lane] = first[lane].wrapping_add(second[lane]);
            second[lane] = second[lane].rotate_left(rotation) ^ first[lane];
        }
    }
}

/// Adds words of the key schedule.
#[inline(always)]
fn inject<const COUNT: usize>(
    first: &mut [u32; COUNT],
    second: &mut [u32; COUNT],
    to_first: u32,
    to_second: u32,
) {
    for lane in 0..COUNT {
        first[lane] = first[lane].wrapping_add(to_first);
        second[lane] = second[lane].wrapping_add(to_second);
    }
}

/// Words that are drawn at a time.
const WORDS: usize = 1024;

/// The label words of consecutive resamples, row after row: the second words of Threefry at counters
/// (row, resample). `LANES` divides into [`TOGETHER`].
pub struct LabelWords<const LANES: usize> {
    key: Key,
    first: u32,
    /// The row that is drawn next.
    row: u32,
    words: [u32; WORDS],
    /// Those given out.
    given: usize,
}

impl<const LANES: usize> LabelWords<LANES> {
    /// From row 0 on, of resamples from `first` on.
    pub fn new(key: Key, first: u32) -> Self {
        LabelWords {
            key,
            first,
            row: 0,
            words: [0; WORDS],
            given: WORDS,
        }
    }

    /// Those of the next row.
    #[inline(always)]
    pub fn next(&mut self) -> &[u32; LANES] {
        if self.given == WORDS {
            label_words(self.key, self.row, self.first, LANES, &mut self.words);
            self.row = self.row.wrapping_add((WORDS / LANES) as u32);
            self.given = 0;
        }
        let row = &self.words.as_chunks::<LANES>().0[self.given / LANES];
        self.given += LANES;
        row
    }
}

/// Those of as many rows as there is room for, from `row` on, for `lanes` resamples. A function of its
/// own, so that it is vectorised whatever surrounds the call.
fn label_words(key: Key, row: u32, first: u32, lanes: usize, words: &mut [u32; WORDS]) {
    crate::simd::dispatch!(label_words_body(
        key: Key,
        row: u32,
        first: u32,
        lanes: usize,
        words: &mut [u32; WORDS]
    ) -> ())
}

#[inline(always)]
fn label_words_body(key: Key, row: u32, first: u32, lanes: usize, words: &mut [u32; WORDS]) {
    // A power of two, as it divides into one.
    let shift = lanes.trailing_zeros();
    let mut row = row;
    for words in words.as_chunks_mut::<TOGETHER>().0 {
        let mut rows = [0; TOGETHER];
        for word in 0..TOGETHER as u32 {
            rows[word as usize] = row.wrapping_add(word >> shift);
            words[word as usize] = first.wrapping_add(word & ((1 << shift) - 1));
        }
        threefry_lanes(key, &mut rows, words);
        row = row.wrapping_add(TOGETHER as u32 >> shift);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::threefry;

    #[test]
    fn draws_the_words_of_threefry() {
        let key = Key([0x1234_5678, 0x9ABC_DEF0]);
        for rows in [0, 1, 16, 17, 31, 32, 33, 48, 1000] {
            let (mut uniform, mut label) = (vec![0; rows], vec![0; rows]);
            draw(key, 77, &mut uniform, &mut label);
            for row in 0..rows {
                assert_eq!([uniform[row], label[row]], threefry(key, [row as u32, 77]));
            }
            let (mut later, mut later_label) = (vec![0; rows / 2], vec![0; rows / 2]);
            draw_from(
                key,
                (rows - rows / 2) as u32,
                77,
                &mut later,
                &mut later_label,
            );
            assert_eq!(later, uniform[rows - rows / 2..]);
            assert_eq!(later_label, label[rows - rows / 2..]);
        }
    }

    #[test]
    fn draws_the_same_words_side_by_side() {
        let key = Key([0x1234_5678, 0x9ABC_DEF0]);
        let (mut uniform, mut label) = (vec![Row::PAST; 12], vec![Row::PAST; 12]);
        draw_side_by_side(key, u32::MAX - 15, &mut uniform, &mut label);
        for row in 0..12 {
            for lane in 0..LANES_OF_A_ROW {
                let counter = [row as u32, u32::MAX - 15 + lane as u32];
                let words = [uniform[row].0[lane], label[row].0[lane]];
                assert_eq!(words, threefry(key, counter));
            }
        }
    }
}
