//! A segment too large for the device, in parts: ranges of confidences that fit, each a piece by
//! itself, and what lies across the cuts between them.

use super::launch::PieceRows;
use crate::backend::piece::{PieceSums, Place};
use crate::backend::terms::{RowSums, Run};
use crate::backend::{Request, Ties};
use crate::fixed_point::residual_q30;
use crate::placement::TiedLabels;
use crate::predictions::{Dtype, Word};
use crate::random::Key;

/// A part of a segment: all its rows in some range of confidences.
pub struct Part<W> {
    pub words: Vec<W>,
    /// All rows have one confidence, and may be more than fit the device.
    pub constant: bool,
}

/// Cuts rows into parts of at most `capacity` rows, in the order of confidence. Rows of equal
/// confidence stay together, in their order.
pub fn split<W: Word>(words: &[W], capacity: usize) -> Vec<Part<W>> {
    let mut parts = Vec::new();
    split_into(words.to_vec(), capacity, &mut parts);
    parts
}

fn split_into<W: Word>(words: Vec<W>, capacity: usize, parts: &mut Vec<Part<W>>) {
    let Some(first) = words.first().map(|word| word.to_u64()) else {
        return;
    };
    let differing = words
        .iter()
        .fold(0, |bits, word| bits | (word.to_u64() ^ first))
        & !1;
    if words.len() <= capacity || differing == 0 {
        parts.push(Part {
            constant: differing == 0,
            words,
        });
        return;
    }
    // By the twelve topmost bits that differ: each such value whole, neighbours together while they
    // fit.
    let top = 64 - differing.leading_zeros();
    let shift = top.saturating_sub(12).max(1);
    let digit = |word: &W| (word.to_u64() >> shift) as usize & 0xFFF;
    let mut counts = vec![0usize; 1 << 12];
    for word in &words {
        counts[digit(word)] += 1;
    }
    let mut bucket_of = vec![0usize; counts.len()];
    let mut sizes: Vec<usize> = vec![0];
    for (value, &count) in counts.iter().enumerate() {
        // `sizes` is never empty.
        let last = sizes.len() - 1;
        if sizes[last] > 0 && sizes[last] + count > capacity {
            sizes.push(count);
        } else {
            sizes[last] += count;
        }
        bucket_of[value] = sizes.len() - 1;
    }
    let mut buckets: Vec<Vec<W>> = sizes.into_iter().map(Vec::with_capacity).collect();
    for word in &words {
        buckets[bucket_of[digit(word)]].push(*word);
    }
    drop(words);
    for bucket in buckets {
        split_into(bucket, capacity, parts);
    }
}

/// The parts as pieces of segment `segment`.
pub fn pieces<W>(parts: &[Part<W>], segment: usize) -> Vec<PieceRows<'_, W>> {
    let segment_rows = parts.iter().map(|part| part.words.len()).sum::<usize>() as u32;
    let mut first_rank = 0;
    parts
        .iter()
        .map(|part| {
            let place = Place {
                first_rank,
                segment_rows,
            };
            first_rank += part.words.len() as u32;
            PieceRows {
                words: &part.words,
                place,
                segment,
            }
        })
        .collect()
}

/// The sums of a segment from those of its pieces, in order.
pub fn join<W: Word>(
    dtype: Dtype,
    pieces: &[PieceRows<'_, W>],
    sums: Vec<PieceSums>,
    request: &Request,
) -> PieceSums {
    let ends: Vec<Ends> = pieces.iter().map(|piece| Ends::of(dtype, piece)).collect();
    let mut joined = PieceSums::default();
    for sums in sums {
        joined.absorb(sums);
    }
    for pair in ends.windows(2) {
        let (before, after) = (&pair[0].highest[0], &pair[1].lowest[0]);
        joined.runs.add_boundary(&before.run, &after.run);
    }
    match request.ties {
        Ties::Average => {}
        Ties::Random => add_across(&mut joined.ordered, &ends, Some(request.ties_key)),
        Ties::Stable => add_across(&mut joined.ordered, &ends, None),
    }
    if let Some(key) = request.neighbour_key {
        add_across(&mut joined.neighbours, &ends, Some(key));
    }
    joined
}

/// Adds the pairs and windows that lie across cuts.
fn add_across(sums: &mut Option<RowSums>, ends: &[Ends], placement: Option<Key>) {
    let sums = sums.get_or_insert_default();
    // The last three rows so far; a window across a cut has at least one row on each side.
    let mut tail: Vec<i32> = Vec::new();
    for end in ends {
        let head = end.first_residuals(placement);
        let cut = tail.len();
        let rows: Vec<i32> = tail.iter().chain(&head).copied().collect();
        if cut > 0 {
            sums.add_pair(rows[cut - 1], rows[cut]);
        }
        for (start, window) in rows.windows(4).enumerate() {
            if start < cut && start + 4 > cut {
                sums.add_window([window[0], window[1], window[2], window[3]]);
            }
        }
        tail = if end.rows >= 3 {
            end.last_residuals(placement)
        } else {
            rows[rows.len().saturating_sub(3)..].to_vec()
        };
    }
}

/// A run at one end of a piece.
struct EndRun {
    run: Run,
    /// The labels of its first and last three rows, in the order of the input.
    first_labels: Vec<bool>,
    last_labels: Vec<bool>,
}

impl EndRun {
    /// The residual of row `index` of the run.
    fn residual(&self, index: u32, placement: Option<Key>) -> i32 {
        let Run {
            first_rank,
            confidence,
            size,
            positives,
            ..
        } = self.run;
        let label = match placement {
            Some(key) => TiedLabels::new(key, first_rank, size, positives).is_positive(index),
            None => match self.first_labels.get(index as usize) {
                Some(&label) => label,
                None => self.last_labels[self.last_labels.len() - (size - index) as usize],
            },
        };
        residual_q30(label, confidence)
    }
}

/// The runs at both ends of a piece: as many as hold its first and last three rows.
struct Ends {
    rows: usize,
    /// From the lowest confidence up.
    lowest: Vec<EndRun>,
    /// From the highest confidence down.
    highest: Vec<EndRun>,
}

impl Ends {
    fn of<W: Word>(dtype: Dtype, piece: &PieceRows<'_, W>) -> Self {
        let mut low: Vec<u64> = Vec::new();
        let mut high: Vec<u64> = Vec::new();
        for word in piece.words {
            let bits = word.confidence_bits();
            keep_three(&mut low, bits, |a, b| a < b);
            keep_three(&mut high, bits, |a, b| a > b);
        }
        let run_of = |bits: u64| {
            let mut below = 0;
            let mut labels = Vec::new();
            for word in piece.words {
                below += u32::from(word.confidence_bits() < bits);
                if word.confidence_bits() == bits {
                    labels.push(word.label());
                }
            }
            EndRun {
                run: Run::new(
                    piece.place.first_rank + below,
                    dtype.q30(bits),
                    labels.len() as u32,
                    labels.iter().map(|&label| u32::from(label)).sum(),
                ),
                first_labels: labels[..labels.len().min(3)].to_vec(),
                last_labels: labels[labels.len().saturating_sub(3)..].to_vec(),
            }
        };
        Ends {
            rows: piece.words.len(),
            lowest: low.into_iter().map(run_of).collect(),
            highest: high.into_iter().map(run_of).collect(),
        }
    }

    /// The residuals of the first three rows.
    fn first_residuals(&self, placement: Option<Key>) -> Vec<i32> {
        self.lowest
            .iter()
            .flat_map(|end| (0..end.run.size.min(3)).map(|index| end.residual(index, placement)))
            .take(3)
            .collect()
    }

    /// The residuals of the last three rows, in order.
    fn last_residuals(&self, placement: Option<Key>) -> Vec<i32> {
        let mut last: Vec<i32> = self
            .highest
            .iter()
            .flat_map(|end| {
                let size = end.run.size;
                (0..size.min(3)).map(move |back| end.residual(size - 1 - back, placement))
            })
            .take(3)
            .collect();
        last.reverse();
        last
    }
}

/// Keeps the three foremost distinct values, in order.
fn keep_three(kept: &mut Vec<u64>, bits: u64, before: impl Fn(u64, u64) -> bool) {
    if kept.len() == 3 && !before(bits, kept[2]) || kept.contains(&bits) {
        return;
    }
    let place = kept
        .iter()
        .take_while(|&&value| before(value, bits))
        .count();
    kept.insert(place, bits);
    kept.truncate(3);
}
