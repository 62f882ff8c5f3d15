//! Stable radix sort of row words by confidence. Twin of `shaders/radix_count.wgsl` and
//! `shaders/radix_scatter.wgsl`.

use rayon::prelude::*;

use crate::predictions::Word;

/// Bits of a digit.
const DIGIT_BITS: u32 = 8;
/// Values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Below this many rows the standard library's sort is quicker.
const SMALL: usize = 1500;
/// The least rows worth a thread of their own.
const ROWS_PER_TASK: usize = 1 << 16;

/// Sorts words by confidence. Rows of equal confidence keep their order if `keep_order`; otherwise
/// theirs is not specified.
pub fn radix_sort<W: Word>(words: &mut [W], keep_order: bool) {
    if words.len() < SMALL {
        if keep_order {
            words.sort_by_key(|word| word.confidence_bits());
        } else {
            words.sort_unstable();
        }
        return;
    }
    if W::BITS == 16 && !keep_order {
        counting_sort(words);
        return;
    }
    let Some((mut shift, top)) = varying_bits(words) else {
        return;
    };
    let mut scratch = vec![W::from_u64(0); words.len()];
    let mut in_scratch = false;
    while shift <= top {
        let moved = if in_scratch {
            pass(&scratch, words, shift)
        } else {
            pass(words, &mut scratch, shift)
        };
        in_scratch ^= moved;
        shift += DIGIT_BITS;
    }
    if in_scratch {
        words.copy_from_slice(&scratch);
    }
}

/// The lowest and the highest bit, label aside, in which the words differ.
fn varying_bits<W: Word>(words: &[W]) -> Option<(u32, u32)> {
    let first = words[0].to_u64();
    let differing = words
        .par_chunks(ROWS_PER_TASK)
        .map(|chunk| {
            chunk
                .iter()
                .fold(0, |bits, word| bits | (word.to_u64() ^ first))
        })
        .reduce(|| 0, |a, b| a | b)
        & !1;
    (differing != 0).then(|| (differing.trailing_zeros(), 63 - differing.leading_zeros()))
}

/// One pass: moves words from `source` to `target` in the order of the digit at `shift`. Does
/// nothing and says so if all digits are equal.
fn pass<W: Word>(source: &[W], target: &mut [W], shift: u32) -> bool {
    let digit = |word: W| (word.to_u64() >> shift) as usize & (DIGITS - 1);
    let task_rows = source
        .len()
        .div_ceil(rayon::current_num_threads())
        .max(ROWS_PER_TASK);
    let counts: Vec<[u32; DIGITS]> = source
        .par_chunks(task_rows)
        .map(|chunk| {
            // A segment has fewer than 2³² rows, so its counts fit.
            let mut counts = [0u32; DIGITS];
            for &word in chunk {
                counts[digit(word)] += 1;
            }
            counts
        })
        .collect();

    let mut starts = vec![[0u32; DIGITS]; counts.len()];
    let mut next = 0;
    for value in 0..DIGITS {
        let before = next;
        for (start, count) in std::iter::zip(&mut starts, &counts) {
            start[value] = next;
            next += count[value];
        }
        if (next - before) as usize == source.len() {
            return false;
        }
    }

    let target = SharedTarget(target.as_mut_ptr());
    source
        .par_chunks(task_rows)
        .zip(starts)
        .for_each(|(chunk, mut starts)| {
            let target = &target;
            for &word in chunk {
                let place = &mut starts[digit(word)];
                // SAFETY: `starts` and `counts` cut 0..source.len() into one range for each pair of
                // task and digit; this task writes each place of its ranges once, and no other task
                // writes there. `target` is as long as `source`.
                unsafe { target.0.add(*place as usize).write(word) };
                *place += 1;
            }
        });
    true
}

/// The target of a scatter from several threads. The ranges that threads write are interleaved, so
/// they cannot be lent out as slices; this is the reason for the `unsafe` here.
struct SharedTarget<W>(*mut W);
// SAFETY: threads only write, to places that are theirs alone (see `pass`).
unsafe impl<W: Send> Sync for SharedTarget<W> {}

/// Counts how often each word occurs and writes them out again. For words of 16 bits.
fn counting_sort<W: Word>(words: &mut [W]) {
    let counts = words
        .par_chunks(ROWS_PER_TASK * 4)
        .fold(
            || vec![0usize; 1 << 16],
            |mut counts, chunk| {
                for word in chunk {
                    counts[word.to_u64() as usize & 0xFFFF] += 1;
                }
                counts
            },
        )
        .reduce(
            || vec![0; 1 << 16],
            |mut a, b| {
                for (a, b) in std::iter::zip(&mut a, b) {
                    *a += b;
                }
                a
            },
        );
    let mut rest = words;
    for (word, count) in counts.into_iter().enumerate() {
        let (run, after) = rest.split_at_mut(count);
        run.fill(W::from_u64(word as u64));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Key, ThreefryRng};
    use rand::Rng;

    fn check<W: Word + std::fmt::Debug>(words: Vec<W>) {
        let mut expected = words.clone();
        expected.sort_by_key(|word| word.confidence_bits());
        let mut sorted = words.clone();
        radix_sort(&mut sorted, true);
        assert!(sorted == expected, "{} rows, stable", words.len());
        let mut sorted = words;
        radix_sort(&mut sorted, false);
        expected.sort_unstable();
        // Labels of tied rows may stand in any order.
        let mut rest = &mut sorted[..];
        while let Some(first) = rest.first() {
            let bits = first.confidence_bits();
            let size = rest.partition_point(|word| word.confidence_bits() == bits);
            let (run, after) = rest.split_at_mut(size);
            run.sort_unstable();
            rest = after;
        }
        assert!(sorted == expected, "{} rows", expected.len());
    }

    #[test]
    fn sorts_like_the_standard_library() {
        let mut rng = ThreefryRng::new(Key([1, 2]));
        for size in [0, 1, 2, 3, 1499, 1500, 1501, 65_537, 200_003] {
            check::<u16>((0..size).map(|_| rng.next_u32() as u16 & 0x7801).collect());
            check::<u32>((0..size).map(|_| rng.next_u32() >> 1).collect());
            check::<u32>((0..size).map(|_| rng.next_u32() & 0x3003).collect());
            check::<u64>((0..size).map(|_| rng.next_u64() >> 1).collect());
            check::<u64>(vec![7; size]);
        }
    }
}
