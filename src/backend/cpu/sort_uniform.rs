//! Sorting uniform words: by so many leading bits that almost every row has its own value, then one
//! insertion pass over the nearly sorted rest.

/// Sorts `words`, which should be uniform; others come out sorted too, if slowly. `scratch` is as
/// long.
pub fn sort_uniform(words: &mut [u32], scratch: &mut [u32]) {
    match words.len() {
        0..=24 => insertion(words),
        25..=250 => one_byte_pass(words, scratch),
        251..=6000 => {
            two_passes::<8, 256>(words, scratch);
            mend(words);
        }
        6001..=200_000 => {
            two_passes::<11, 2048>(words, scratch);
            mend(words);
        }
        _ => words.sort_unstable(),
    }
}

/// Sorts at most 255 rows: by their leading eight bits, with counters of a byte, of which eight are
/// summed by one multiplication; then by insertion.
fn one_byte_pass(words: &mut [u32], scratch: &mut [u32]) {
    debug_assert!(words.len() <= 255);
    let mut starts = [0u8; 256];
    for word in words.iter() {
        let count = &mut starts[(word >> 24) as usize];
        *count = count.wrapping_add(1);
    }
    let mut before = 0u64;
    for eight in starts.as_chunks_mut::<8>().0 {
        let counts = u64::from_le_bytes(*eight);
        // Byte b of the product is the sum of bytes 0 to b; nothing carries, as no sum passes 255.
        let sums = counts.wrapping_mul(0x0101_0101_0101_0101);
        let own = (sums << 8).wrapping_add(before.wrapping_mul(0x0101_0101_0101_0101));
        *eight = own.to_le_bytes();
        before = before.wrapping_add(sums >> 56);
    }
    for &word in words.iter() {
        let place = &mut starts[(word >> 24) as usize];
        scratch[usize::from(*place)] = word;
        *place = place.wrapping_add(1);
    }
    // Insertion on the way back.
    for (row, &word) in scratch[..words.len()].iter().enumerate() {
        let mut place = row;
        while place > 0 && words[place - 1] > word {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}

/// Orders rows by their leading 2 · `BITS` bits.
fn two_passes<const BITS: u32, const VALUES: usize>(words: &mut [u32], scratch: &mut [u32]) {
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

fn scatter<const VALUES: usize>(
    source: &[u32],
    target: &mut [u32],
    starts: &mut [u32; VALUES],
    shift: u32,
) {
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
    super::simd::dispatch!(mend_body(words: &mut [u32]) -> ())
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

/// Insertion sort, quick when hardly anything is out of place.
fn insertion(words: &mut [u32]) {
    insertion_from(words, 1, words.len());
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
        for size in [
            0, 1, 2, 24, 25, 160, 250, 251, 1000, 6000, 6001, 50_000, 200_001,
        ] {
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
