//! Null resamples of a sample without ties, or with few of them. Twin of `shaders/resample.wgsl`.
//!
//! Without ties every sum is quadratic in labels: with the confidences q in Q30, their sums R before
//! each row, and W_i = 2³⁰Y_i - q_i,
//!
//! Σ W_i W_{i+1} = 2⁶⁰ Σ Y_i Y_{i+1} - 2³⁰ Σ Y_i (q_{i-1} + q_{i+1}) + Σ q_i q_{i+1},
//!
//! Σ_{0<i-k<=L} W_i W_k = 2⁶⁰ [K(K-1)/2 - Σ_{i-k>L} Y_i Y_k] - 2³⁰ Σ Y_i A_i + Σ_{0<i-k<=L} q_i q_k,
//!
//! where K is the number of positives and A_i = (R_{i+1+L} - R_{i+1}) + (R_i - R_{i-L}), R being
//! constant beyond both ends. So nothing is multiplied: pairs of positives are counted, and numbers
//! that are the same in all resamples are added up where a label is 1. Labels take one bit. What a few
//! ties change in the sums of windows is added by `few_ties`; the other sums are of samples
//! without ties.

use std::borrow::Cow;

use rayon::prelude::*;

use super::few_ties::{self, Drawn, Ties, add_ties};
use super::tile::TileSums;
use crate::backend::cpu::draw::LabelWords;
use crate::backend::cpu::wide_sum::WideSums;
use crate::backend::resamples::{Resamples, TiedGroups, resample_key, windows};

/// Rows whose labels are the bits of a word.
const WORD: usize = 16;
/// Words of a block, in which pairs are counted in 16 bits: at most 256 · 255 / 2.
const WORDS: usize = 16;
/// Words over which the linear sums are added in 64 bits.
const SPAN: usize = 4;
/// Widths whose linear sums are added side by side.
const WIDTHS: usize = 8;

/// What all resamples of a sample have in common.
pub struct Constants<'a> {
    /// The confidence of each row, Q30.
    confidence: Cow<'a, [u32]>,
    pub ties: Option<Ties>,
    /// q_{i-1} + q_{i+1} of each row, 0 beyond the ends.
    neighbours: Vec<u32>,
    /// Σ q_i q_{i+1}.
    adjacent: u128,
    /// Σ q before each row, and of all rows. Empty unless windows are asked for.
    before: Vec<u64>,
    /// Σ_{0<i-k<=L} q_i q_k for each width L.
    windows: Vec<(u32, u128)>,
}

impl<'a> Constants<'a> {
    /// Those of the sums that `sample` asks for. With `ties`, which are those of the sample, these must
    /// be the sums of windows alone.
    pub fn new(sample: &Resamples<'a>, ties: Option<Ties>) -> Self {
        let TiedGroups {
            confidence,
            size,
            rows,
        } = sample.groups;
        let confidence = match ties {
            None => Cow::Borrowed(&confidence[..]),
            Some(_) => {
                let groups = std::iter::zip(confidence, size);
                let rows = groups.flat_map(|(&q, &size)| std::iter::repeat_n(q, size as usize));
                Cow::Owned(rows.collect())
            }
        };
        let mut constants = Constants {
            confidence: Cow::Borrowed(&[]),
            ties,
            neighbours: Vec::new(),
            adjacent: 0,
            before: Vec::new(),
            windows: Vec::new(),
        };
        if sample.statistics.rank_ece {
            // At most 2³⁰ each.
            let at = |row: usize| confidence.get(row).copied().unwrap_or(0);
            constants.neighbours = (0..confidence.len())
                .map(|row| at(row.wrapping_sub(1)) + at(row + 1))
                .collect();
            constants.adjacent = products(&confidence, |row| u64::from(at(row.wrapping_sub(1))));
        }
        if sample.statistics.windows {
            let mut sum = 0u64;
            constants.before.push(0);
            constants.before.extend(confidence.iter().map(|&q| {
                sum += u64::from(q);
                sum
            }));
            let before = &constants.before;
            let of_width = |width: u32| {
                let window = |row: usize| before[row] - before[row.saturating_sub(width as usize)];
                (width, products(&confidence, window))
            };
            constants.windows = windows(*rows).into_par_iter().map(of_width).collect();
        }
        constants.confidence = confidence;
        constants
    }
}

/// Σ q_i f(i).
fn products(confidence: &[u32], f: impl Fn(usize) -> u64) -> u128 {
    let product = |(row, &q): (usize, &u32)| u128::from(q) * u128::from(f(row));
    confidence.iter().enumerate().map(product).sum()
}

/// What a thread keeps from tile to tile.
pub struct Scratch<const LANES: usize> {
    /// The labels of some rows, 0 or 1.
    drawn: Box<[[u32; LANES]; WORD]>,
    /// The labels of each word's rows, as bits.
    labels: Vec<[u16; LANES]>,
    tables: Box<[Table; 4 * SPAN]>,
    ties: few_ties::Scratch<LANES>,
}

/// The linear terms of four rows, added up for each of their 16 patterns of labels.
type Table = [[u64; WIDTHS]; 16];

impl<const LANES: usize> Scratch<LANES> {
    pub fn new() -> Self {
        Scratch {
            drawn: Box::new([[0; LANES]; WORD]),
            labels: Vec::new(),
            tables: Box::new([[[0; WIDTHS]; 16]; 4 * SPAN]),
            ties: few_ties::Scratch::new(),
        }
    }
}

macro_rules! tiles {
    ($($name:ident, $body:ident, $lanes:literal;)*) => {$(
        /// As many resamples as lanes, from `first` on.
        pub fn $name(
            sample: &Resamples<'_>,
            constants: &Constants<'_>,
            first: u32,
            scratch: &mut Scratch<$lanes>,
        ) -> TileSums<$lanes> {
            #[inline(always)]
            fn $body(
                sample: &Resamples<'_>,
                constants: &Constants<'_>,
                first: u32,
                scratch: &mut Scratch<$lanes>,
            ) -> TileSums<$lanes> {
                tile(sample, constants, first, scratch)
            }
            crate::simd::dispatch!($body(
                sample: &Resamples<'_>,
                constants: &Constants<'_>,
                first: u32,
                scratch: &mut Scratch<$lanes>
            ) -> TileSums<$lanes>)
        }
    )*};
}
tiles! {
    untied_64, body_64, 64;
    untied_32, body_32, 32;
    untied_16, body_16, 16;
}

#[inline(always)]
fn tile<const LANES: usize>(
    sample: &Resamples<'_>,
    constants: &Constants<'_>,
    first: u32,
    scratch: &mut Scratch<LANES>,
) -> TileSums<LANES> {
    let mut words = LabelWords::new(resample_key(sample.key), first);
    let statistics = sample.statistics;
    let mut sums = TileSums::new(constants.windows.len());
    let confidence = &constants.confidence[..];
    let mut adjacent = Adjacent::new();
    let mut at = [0i64; LANES];
    let mut far = vec![Far::new(); constants.windows.len()];
    let mut linear = vec![[WideSums::<WIDTHS>::default(); LANES]; far.len().div_ceil(WIDTHS)];
    let mut positives = [0u32; LANES];
    scratch.labels.clear();
    let mut row = 0;
    while row < confidence.len() {
        let start = scratch.labels.len();
        let end = confidence.len().min(row + WORDS * WORD);
        while row < end {
            let rows = row..end.min(row + WORD);
            let confidence = &confidence[rows.clone()];
            let drawn = &mut scratch.drawn[..confidence.len()];
            draw(&mut words, confidence, drawn);
            if statistics.rank_ece {
                adjacent.add(&constants.neighbours[rows.clone()], drawn);
            }
            if statistics.walk {
                walk(confidence, drawn, &mut at, &mut sums);
            }
            if statistics.windows {
                scratch.labels.push(bits(drawn));
            }
            row = rows.end;
        }
        if !statistics.windows {
            continue;
        }
        let block = start..scratch.labels.len();
        let ones = ones(&scratch.labels[block.clone()]);
        for ((width, _), far) in constants.windows.iter().zip(&mut far) {
            if (*width as usize) < row {
                far.count(&scratch.labels, block.clone(), *width as usize, &ones);
            }
        }
        for lane in 0..LANES {
            positives[lane] = positives[lane].wrapping_add(u32::from(ones[lane]));
        }
        let whole = scratch.labels.len().next_multiple_of(SPAN);
        scratch.labels.resize(whole, [0; LANES]);
        let spans = scratch.labels[block.start..].as_chunks::<SPAN>().0;
        for (place, span) in spans.iter().enumerate() {
            let first_row = (start + place * SPAN) * WORD;
            for (widths, sums) in constants.windows.chunks(WIDTHS).zip(&mut linear) {
                tabulate(&constants.before, first_row, widths, &mut scratch.tables);
                add_linear(span, &scratch.tables, sums);
            }
        }
    }
    for lane in 0..LANES {
        if statistics.rank_ece {
            sums.rank_ece[lane] = quadratic(
                adjacent.pairs[lane].into(),
                adjacent.linear[lane].into(),
                constants.adjacent,
            );
        }
        let positives = u64::from(positives[lane]);
        let all = positives * positives.saturating_sub(1) / 2;
        for (place, (_, constant)) in constants.windows.iter().enumerate() {
            let near = all - far[place].pairs[lane];
            let linear = linear[place / WIDTHS][lane].total(place % WIDTHS);
            sums.windows[place][lane] = quadratic(near, linear, *constant);
        }
    }
    if let Some(ties) = &constants.ties {
        let drawn = Drawn {
            confidence,
            before: &constants.before,
            labels: &scratch.labels,
            positives: &positives,
        };
        let windows = &mut sums.windows;
        add_ties(ties, &drawn, &constants.windows, &mut scratch.ties, windows);
    }
    sums
}

/// 2⁶⁰ · pairs - 2³⁰ · linear + constant.
fn quadratic(pairs: u64, linear: i128, constant: u128) -> i128 {
    // Each below 2¹²⁶ with fewer than 2³² rows.
    (i128::from(pairs) << 60) - (linear << 30) + constant as i128
}

/// Draws the labels of the next rows.
#[inline(always)]
fn draw<const LANES: usize>(
    words: &mut LabelWords<LANES>,
    confidence: &[u32],
    labels: &mut [[u32; LANES]],
) {
    for (&confidence, labels) in confidence.iter().zip(labels) {
        let words = words.next();
        for lane in 0..LANES {
            labels[lane] = u32::from((words[lane] >> 2) < confidence);
        }
    }
}

/// The labels of a word of rows as bits.
#[inline(always)]
fn bits<const LANES: usize>(labels: &[[u32; LANES]]) -> [u16; LANES] {
    let mut bits = [0u32; LANES];
    for (place, labels) in labels.iter().enumerate() {
        for lane in 0..LANES {
            bits[lane] |= labels[lane] << place;
        }
    }
    bits.map(|bits| bits as u16)
}

/// Follows the walk over some rows.
#[inline(always)]
fn walk<const LANES: usize>(
    confidence: &[u32],
    labels: &[[u32; LANES]],
    at: &mut [i64; LANES],
    sums: &mut TileSums<LANES>,
) {
    let (mut here, mut lowest, mut highest) = (*at, sums.lowest, sums.highest);
    for (&confidence, labels) in confidence.iter().zip(labels) {
        for lane in 0..LANES {
            let residual = i64::from(labels[lane] << 30).wrapping_sub(i64::from(confidence));
            here[lane] = here[lane].wrapping_add(residual);
            lowest[lane] = lowest[lane].min(here[lane]);
            highest[lane] = highest[lane].max(here[lane]);
        }
    }
    (*at, sums.lowest, sums.highest) = (here, lowest, highest);
}

/// What n·rankECE needs of the labels.
struct Adjacent<const LANES: usize> {
    /// Σ Y_i Y_{i+1}.
    pairs: [u32; LANES],
    /// Σ Y_i (q_{i-1} + q_{i+1}), below 2³¹ n.
    linear: [u64; LANES],
    /// The label of the last row so far.
    last: [u32; LANES],
}

impl<const LANES: usize> Adjacent<LANES> {
    fn new() -> Self {
        Adjacent {
            pairs: [0; LANES],
            linear: [0; LANES],
            last: [0; LANES],
        }
    }

    /// Adds the terms of some rows, and the pairs that end in them.
    #[inline(always)]
    fn add(&mut self, neighbours: &[u32], labels: &[[u32; LANES]]) {
        let (mut pairs, mut linear, mut last) = (self.pairs, self.linear, self.last);
        for (&term, labels) in neighbours.iter().zip(labels) {
            for lane in 0..LANES {
                let added = if labels[lane] != 0 { term.into() } else { 0 };
                linear[lane] = linear[lane].wrapping_add(added);
            }
            for lane in 0..LANES {
                pairs[lane] = pairs[lane].wrapping_add(labels[lane] & last[lane]);
            }
            last = *labels;
        }
        (self.pairs, self.linear, self.last) = (pairs, linear, last);
    }
}

/// The positives of a block.
#[inline(always)]
fn ones<const LANES: usize>(block: &[[u16; LANES]]) -> [u16; LANES] {
    let mut ones = [0u16; LANES];
    for labels in block {
        for lane in 0..LANES {
            ones[lane] = ones[lane].wrapping_add(labels[lane].count_ones() as u16);
        }
    }
    ones
}

/// Pairs of positives that are more than a width apart.
#[derive(Clone)]
struct Far<const LANES: usize> {
    pairs: [u64; LANES],
    /// Positives among the rows that lie more than the width before the next block.
    before: [u32; LANES],
}

impl<const LANES: usize> Far<LANES> {
    fn new() -> Self {
        Far {
            pairs: [0; LANES],
            before: [0; LANES],
        }
    }

    /// Counts the pairs whose later row is in a block, of which `ones` are positive.
    #[inline(always)]
    fn count(
        &mut self,
        labels: &[[u16; LANES]],
        block: std::ops::Range<usize>,
        width: usize,
        ones: &[u16; LANES],
    ) {
        let (words, bits) = (width / WORD, width % WORD);
        // Of the word of rows that lie `distance` words before.
        let word = |place: usize, distance: usize| match place.checked_sub(distance) {
            Some(place) => labels[place],
            None => [0; LANES],
        };
        // Inside the block: positives that have come to lie far enough before, and pairs.
        let (mut passed, mut pairs) = ([0u16; LANES], [0u16; LANES]);
        for place in block {
            let here = labels[place];
            let mut leaving = word(place, words);
            if bits > 0 {
                let earlier = word(place, words + 1);
                for lane in 0..LANES {
                    leaving[lane] = leaving[lane] << bits | earlier[lane] >> (WORD - bits);
                }
            }
            for bit in 0..WORD {
                for lane in 0..LANES {
                    let here = (here[lane] >> bit & 1).wrapping_neg();
                    pairs[lane] = pairs[lane].wrapping_add(passed[lane] & here);
                    passed[lane] = passed[lane].wrapping_add(leaving[lane] >> bit & 1);
                }
            }
        }
        for lane in 0..LANES {
            let earlier = u64::from(self.before[lane]).wrapping_mul(u64::from(ones[lane]));
            let added = earlier.wrapping_add(u64::from(pairs[lane]));
            self.pairs[lane] = self.pairs[lane].wrapping_add(added);
            self.before[lane] = self.before[lane].wrapping_add(u32::from(passed[lane]));
        }
    }
}

/// Tabulates A of the rows of a span, for some widths.
#[inline(always)]
fn tabulate(
    before: &[u64],
    first_row: usize,
    widths: &[(u32, u128)],
    tables: &mut [Table; 4 * SPAN],
) {
    const ROWS: usize = SPAN * WORD;
    let last = before.len() - 1;
    // R of the rows from `start` on, constant beyond the last.
    let from = |start: usize| -> [u64; ROWS] {
        match before.get(start..start + ROWS) {
            Some(inside) => std::array::from_fn(|row| inside[row]),
            None => std::array::from_fn(|row| before[last.min(start + row)]),
        }
    };
    let (here, next) = (from(first_row), from(first_row + 1));
    for (place, &(width, _)) in widths.iter().enumerate() {
        let width = width as usize;
        let after = from(first_row + 1 + width);
        let earlier = match first_row.checked_sub(width) {
            Some(start) => from(start),
            None => {
                std::array::from_fn(|row| before[last.min((first_row + row).saturating_sub(width))])
            }
        };
        let mut terms = [0u64; ROWS];
        for row in 0..ROWS {
            let above = after[row].wrapping_sub(next[row]);
            terms[row] = above.wrapping_add(here[row].wrapping_sub(earlier[row]));
        }
        for row in 0..ROWS {
            tables[row / 4][1 << (row % 4)][place] = terms[row];
        }
    }
    for table in tables {
        for bit in 1..4 {
            let top = 1 << bit;
            for pattern in 1..top {
                let (below, above) = (table[pattern], table[top]);
                table[top + pattern] =
                    std::array::from_fn(|place| below[place].wrapping_add(above[place]));
            }
        }
    }
}

/// Adds the tabulated terms of the rows of a span whose labels are 1.
#[inline(always)]
fn add_linear<const LANES: usize>(
    span: &[[u16; LANES]; SPAN],
    tables: &[Table; 4 * SPAN],
    sums: &mut [WideSums<WIDTHS>; LANES],
) {
    for lane in 0..LANES {
        let mut sum = [0u64; WIDTHS];
        for place in 0..4 * SPAN {
            let pattern = span[place / 4][lane] >> (4 * (place % 4)) & 15;
            // So that vectors go over widths, whose terms lie side by side: over lanes, or over rows,
            // they would have to be gathered.
            let terms = std::hint::black_box(&tables[place][usize::from(pattern)]);
            for width in 0..WIDTHS {
                sum[width] = sum[width].wrapping_add(terms[width]);
            }
        }
        for (width, sum) in sum.into_iter().enumerate() {
            sums[lane].add(width, sum as i64);
        }
    }
}
