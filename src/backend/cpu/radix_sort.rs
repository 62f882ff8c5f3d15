//! Stable radix sort of row words by confidence. Twin of `shaders/radix_count.wgsl` and
//! `shaders/radix_scatter.wgsl`.

use rayon::prelude::*;

use crate::predictions::Word;

/// The most bits of a digit: counts of more values lose more in the caches than a pass less gains.
const DIGIT_BITS: u32 = 11;
/// Values of a digit, at most.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Below this many rows the standard library's sort is quicker.
const SMALL: usize = 1500;
/// The least rows worth a thread of their own.
const ROWS_PER_TASK: usize = 1 << 16;
/// Bytes of words up to which all of them stay in the first two levels of a core's caches.
const NEAR: usize = 1 << 17;
/// Bytes of words up to which a core's caches hold them and their copy.
const CACHED: usize = 1 << 21;

/// Sorts words by confidence. Rows of equal confidence keep their order if `keep_order`; otherwise
/// theirs is not specified.
///
/// What the caches hold is sorted from the lowest digit to the highest. More is first cut by its highest
/// digit, into parts that are sorted each by itself, as threads are free.
pub fn radix_sort<W: Word>(words: &mut [W], keep_order: bool) {
    if W::BITS == 16 && !keep_order && words.len() >= SMALL {
        counting_sort(words);
    } else if words.len() < SMALL {
        small_sort(words, keep_order);
    } else {
        let mut scratch = vec![W::from_u64(0); words.len()];
        sort_between(words, &mut scratch, false, keep_order);
    }
}

fn small_sort<W: Word>(words: &mut [W], keep_order: bool) {
    if keep_order {
        words.sort_by_key(|word| word.confidence_bits());
    } else {
        words.sort_unstable();
    }
}

/// Sorts `words`, with as much `other` room, into the latter if `into_other`.
fn sort_between<W: Word>(words: &mut [W], other: &mut [W], into_other: bool, keep_order: bool) {
    let varying = if words.len() < SMALL {
        small_sort(words, keep_order);
        None
    } else {
        varying_bits(words)
    };
    let Some((low, top)) = varying else {
        if into_other {
            other.copy_from_slice(words);
        }
        return;
    };
    let bits = top + 1 - low;
    if size_of_val(words) <= CACHED || bits <= DIGIT_BITS {
        let digit_bits = digit_bits(bits, size_of_val(words) <= NEAR);
        let (mut from, mut to) = (words, other);
        let mut is_in_other = false;
        for shift in (low..=top).step_by(digit_bits as usize) {
            if pass(from, to, shift, digit_bits).is_some() {
                std::mem::swap(&mut from, &mut to);
                is_in_other = !is_in_other;
            }
        }
        if is_in_other != into_other {
            to.copy_from_slice(from);
        }
        return;
    }
    // The highest bit varies, so there are several values.
    let ends = pass(words, other, top + 1 - DIGIT_BITS, DIGIT_BITS).expect("several values");
    let mut parts = Vec::new();
    let (mut words, mut other, mut start) = (words, other, 0);
    for end in ends {
        let (part, rest) = words.split_at_mut(end as usize - start);
        let (other_part, other_rest) = other.split_at_mut(end as usize - start);
        if !part.is_empty() {
            parts.push((part, other_part));
        }
        (words, other, start) = (rest, other_rest, end as usize);
    }
    parts.into_par_iter().for_each(|(words, sorted_by_digit)| {
        sort_between(sorted_by_digit, words, !into_other, keep_order);
    });
}

/// The bits of a digit, so that words of as many varying bits are sorted soonest. Of words that are not
/// near, those written to at a time should be in the first level: with digits of 10 bits a pass takes a
/// quarter longer than with 8.
fn digit_bits(bits: u32, are_near: bool) -> u32 {
    let passes = |most: u32| bits.div_ceil(most);
    let passes = if are_near {
        passes(DIGIT_BITS)
    } else if 5 * passes(10) < 4 * passes(8) {
        passes(10)
    } else {
        passes(8)
    };
    bits.div_ceil(passes)
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

/// One pass: moves words from `source` to `target` in the order of the digit at `shift`, and says where
/// each value ends. Nothing if all digits are equal; then nothing is moved.
fn pass<W: Word>(source: &[W], target: &mut [W], shift: u32, digit_bits: u32) -> Option<Vec<u32>> {
    let mask = (1usize << digit_bits) - 1;
    let digit = |word: W| (word.to_u64() >> shift) as usize & mask & (DIGITS - 1);
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
                let count = &mut counts[digit(word)];
                *count = count.wrapping_add(1);
            }
            counts
        })
        .collect();

    let mut starts = vec![[0u32; DIGITS]; counts.len()];
    let mut ends = Vec::with_capacity(mask + 1);
    let mut next = 0;
    for value in 0..=mask {
        let before = next;
        for (start, count) in std::iter::zip(&mut starts, &counts) {
            start[value] = next;
            next += count[value];
        }
        if (next - before) as usize == source.len() {
            return None;
        }
        ends.push(next);
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
                *place = place.wrapping_add(1);
            }
        });
    Some(ends)
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

    /// More than the caches hold is cut into parts; these are even, or one of them is almost all, or all
    /// but a word are equal.
    #[test]
    fn sorts_more_than_the_caches_hold() {
        let mut rng = ThreefryRng::new(Key([3, 4]));
        let size = CACHED / size_of::<u32>() + 12_345;
        check::<u32>((0..size).map(|_| rng.next_u32() >> 1).collect());
        check::<u64>((0..size).map(|_| rng.next_u64() >> 1).collect());
        let value = |rng: &mut ThreefryRng| f64::from(rng.next_u32()) / 2f64.powi(32);
        let words = (0..size).map(|_| (value(&mut rng).to_bits() << 1) | 1);
        check::<u64>(words.collect());
        let near_one = (0..size).map(|row| {
            if row == 77 {
                2
            } else {
                (0x3F80_0000 - row as u32 % 9) << 1
            }
        });
        check::<u32>(near_one.collect());
        check::<u32>(
            (0..size)
                .map(|row| u32::from(row == size - 1) << 30)
                .collect(),
        );
        check::<u16>((0..3 * size).map(|_| rng.next_u32() as u16).collect());
    }
}
