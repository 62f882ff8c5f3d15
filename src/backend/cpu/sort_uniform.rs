//! Sorting uniform words: by so many leading bits that almost every row has its own value, then one
//! insertion pass over the nearly sorted rest.

/// Words up to which 22 leading bits tell almost all apart.
const MOST_WORDS: usize = 200_000;

/// The bits of a pass, and the values that they can have.
const BITS: u32 = 11;
const VALUES: usize = 1 << BITS;

/// Sorts `words`, which should be uniform; others come out sorted too, if slowly. `scratch` is as
/// long.
pub fn sort_uniform(words: &mut [u32], scratch: &mut [u32]) {
    if words.len() <= MOST_WORDS {
        two_passes(words, scratch);
        mend(words);
    } else {
        words.sort_unstable();
    }
}

/// Orders rows by their leading 2 · `BITS` bits.
fn two_passes(words: &mut [u32], scratch: &mut [u32]) {
    let mut low = [0u32; VALUES];
    let mut high = [0u32; VALUES];
    for word in words.iter() {
        let count = &mut low[(word >> (32 - 2 * BITS)) as usize % VALUES];
        *count = count.wrapping_add(1);
        let count = &mut high[(word >> (32 - BITS)) as usize % VALUES];
        *count = count.wrapping_add(1);
    }
    exclusive(&mut low);
    exclusive(&mut high);
    scatter(words, scratch, &mut low, 32 - 2 * BITS);
    scatter(scratch, words, &mut high, 32 - BITS);
}

fn exclusive(counts: &mut [u32]) {
    let mut sum = 0u32;
    for count in counts {
        let before = sum;
        sum = sum.wrapping_add(*count);
        *count = before;
    }
}

fn scatter(source: &[u32], target: &mut [u32], starts: &mut [u32; VALUES], shift: u32) {
    for &word in source {
        let place = &mut starts[(word >> shift) as usize % VALUES];
        target[*place as usize] = word;
        *place = place.wrapping_add(1);
    }
}

/// Rows that are looked at together for anything out of order.
const BLOCK: usize = 64;

/// Puts the few rows in place that are not, of words that are sorted but for them.
fn mend(words: &mut [u32]) {
    crate::simd::dispatch!(mend_body(words: &mut [u32]) -> ())
}

#[inline(always)]
fn mend_body(words: &mut [u32]) {
    let mut start = 0;
    while start + BLOCK < words.len() {
        // One more row, so that the step to the next block is looked at too.
        let (left, right) = (
            &words[start..start + BLOCK],
            &words[start + 1..=start + BLOCK],
        );
        let mut disordered = 0u32;
        for row in 0..BLOCK {
            disordered |= u32::from(left[row] > right[row]);
        }
        if disordered != 0 {
            insertion_from(words, start + 1, start + BLOCK + 1);
        }
        start += BLOCK;
    }
    insertion_from(words, start + 1, words.len());
}

/// Puts rows `first..end` into their places among the sorted rows before them.
#[inline(always)]
fn insertion_from(words: &mut [u32], first: usize, end: usize) {
    for row in first..end {
        let word = words[row];
        let mut place = row;
        while place > 0 && words[place - 1] > word {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, ThreefryRng};
    use rand::Rng;

    #[test]
    fn sorts_every_size() {
        let mut rng = ThreefryRng::new(Key([8, 9]));
        for size in [0, 1, 2, 63, 64, 65, 1000, 6000, 50_000, 200_001] {
            for mask in [u32::MAX, 0x8000_00FF, 0xFF00_0000] {
                if size > 6000 && mask != u32::MAX {
                    continue;
                }
                let mut words: Vec<u32> = (0..size).map(|_| rng.next_u32() & mask).collect();
                let mut expected = words.clone();
                expected.sort_unstable();
                sort_uniform(&mut words, &mut vec![0; size]);
                assert!(words == expected, "{size} words");
            }
        }
    }
}
