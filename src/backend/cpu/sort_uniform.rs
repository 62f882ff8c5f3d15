//! Sorting uniform words: by so many leading bits that almost every row has its own value, then one
//! insertion pass over the nearly sorted rest.

/// Sorts `words`, which should be uniform; others come out sorted too, if slowly. `scratch` is as
/// long.
pub fn sort_uniform(words: &mut [u32], scratch: &mut [u32]) {
    match words.len() {
        0..=24 => insertion(words),
        25..=160 => {
            one_pass::<8>(words, scratch);
            insertion(words);
        }
        161..=6000 => {
            two_passes::<8>(words, scratch);
            insertion(words);
        }
        6001..=200_000 => {
            two_passes::<11>(words, scratch);
            insertion(words);
        }
        _ => words.sort_unstable(),
    }
}

/// Orders rows by their leading `BITS` bits.
fn one_pass<const BITS: u32>(words: &mut [u32], scratch: &mut [u32]) {
    let mut starts = [0u32; 1 << 8];
    for word in words.iter() {
        starts[(word >> (32 - BITS)) as usize & 255] += 1;
    }
    exclusive(&mut starts);
    scatter::<256>(words, scratch, &mut starts, 32 - BITS);
    words.copy_from_slice(scratch);
}

/// Orders rows by their leading 2 · `BITS` bits.
fn two_passes<const BITS: u32>(words: &mut [u32], scratch: &mut [u32]) {
    const MOST: usize = 1 << 11;
    let mut low = [0u32; MOST];
    let mut high = [0u32; MOST];
    let values = 1usize << BITS;
    let (low, high) = (&mut low[..values], &mut high[..values]);
    for word in words.iter() {
        low[(word >> (32 - 2 * BITS)) as usize & (values - 1)] += 1;
        high[(word >> (32 - BITS)) as usize & (values - 1)] += 1;
    }
    exclusive(low);
    exclusive(high);
    scatter_dynamic(words, scratch, low, 32 - 2 * BITS);
    scatter_dynamic(scratch, words, high, 32 - BITS);
}

fn exclusive(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        let before = sum;
        sum += *count;
        *count = before;
    }
}

fn scatter<const VALUES: usize>(
    source: &[u32],
    target: &mut [u32],
    starts: &mut [u32; VALUES],
    shift: u32,
) {
    scatter_dynamic(source, target, starts, shift);
}

fn scatter_dynamic(source: &[u32], target: &mut [u32], starts: &mut [u32], shift: u32) {
    let mask = starts.len() - 1;
    for &word in source {
        let place = &mut starts[(word >> shift) as usize & mask];
        target[*place as usize] = word;
        *place += 1;
    }
}

/// Insertion sort, quick when hardly anything is out of place.
fn insertion(words: &mut [u32]) {
    for row in 1..words.len() {
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
        for size in [0, 1, 2, 24, 25, 160, 161, 1000, 6000, 6001, 50_000, 200_001] {
            for mask in [u32::MAX, 0x8000_00FF] {
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
