//! Uniform and label words of a replicate. Twin of the drawing in `shaders/replicate.wgsl`.

use crate::random::Key;

/// Rows drawn at a time: two of the widest vectors, so that one hides the latency of the other.
const LANES: usize = 32;

/// Draws rows `0..uniform.len()` of replicate `replicate_low` under `key`.
pub fn draw(key: Key, replicate_low: u32, uniform: &mut [u32], label: &mut [u32]) {
    super::simd::dispatch!(draw_body(
        key: Key,
        replicate_low: u32,
        uniform: &mut [u32],
        label: &mut [u32]
    ) -> ())
}

#[inline(always)]
fn draw_body(key: Key, replicate_low: u32, uniform: &mut [u32], label: &mut [u32]) {
    let (blocks, rest) = uniform.as_chunks_mut::<LANES>();
    let (label_blocks, label_rest) = label.as_chunks_mut::<LANES>();
    let mut row = 0u32;
    for (uniform, label) in std::iter::zip(blocks, label_blocks) {
        block(key, row, replicate_low, uniform, label);
        row = row.wrapping_add(LANES as u32);
    }
    match rest.len() {
        0 => {}
        1..=16 => partial_block::<16>(key, row, replicate_low, rest, label_rest),
        _ => partial_block::<LANES>(key, row, replicate_low, rest, label_rest),
    }
}

/// Fewer rows than a block.
#[inline(always)]
fn partial_block<const ROWS: usize>(
    key: Key,
    first_row: u32,
    replicate_low: u32,
    uniform: &mut [u32],
    label: &mut [u32],
) {
    let (mut words, mut label_words) = ([0; ROWS], [0; ROWS]);
    block(key, first_row, replicate_low, &mut words, &mut label_words);
    uniform.copy_from_slice(&words[..uniform.len()]);
    label.copy_from_slice(&label_words[..label.len()]);
}

/// [`crate::random::threefry`] for consecutive rows, each step over all of them so that it is
/// vectorised.
#[inline(always)]
fn block<const ROWS: usize>(
    key: Key,
    first_row: u32,
    replicate_low: u32,
    uniform: &mut [u32; ROWS],
    label: &mut [u32; ROWS],
) {
    const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
    let [k0, k1] = key.0;
    let schedule = [k0, k1, 0x1BD1_1BDA ^ k0 ^ k1];
    for lane in 0..ROWS {
        uniform[lane] = first_row.wrapping_add(lane as u32).wrapping_add(k0);
        label[lane] = replicate_low.wrapping_add(k1);
    }
    for round in 0..20 {
        for lane in 0..ROWS {
            uniform[lane] = uniform[lane].wrapping_add(label[lane]);
            label[lane] = label[lane].rotate_left(ROTATIONS[round % 8]) ^ uniform[lane];
        }
        if round % 4 == 3 {
            let injection = round / 4 + 1;
            let second = schedule[(injection + 1) % 3].wrapping_add(injection as u32);
            for lane in 0..ROWS {
                uniform[lane] = uniform[lane].wrapping_add(schedule[injection % 3]);
                label[lane] = label[lane].wrapping_add(second);
            }
        }
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
        }
    }
}
