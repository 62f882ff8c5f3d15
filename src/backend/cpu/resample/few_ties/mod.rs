//! What ties change in the window sums of labels: the rest of `untied.rs` where some rows are
//! tied.
//!
//! All rows of a tied group carry its mean residual W. With their own labels they would carry
//! V_i = 2³⁰Y_i - q, whose window sums need no multiplication. Let Δ = W - V, D_t the sum of Δ over the
//! rows of t's group up to t, and r that over the whole group, which is what rounding leaves. From the
//! pairs of rows that are more than L apart, summed by parts within each group,
//!
//! Σ_{i-k>L} W_i W_k - V_i V_k = Σ_{i-k>L} Δ_i W_k + V_i Δ_k
//!   = Σ_t D_t (V_{t+L+1} - W_{t-L}) + Σ_g r_g (Σ_{k<=e-L-1} W_k + Σ_{i>e+L} V_i),
//!
//! where t goes over the rows of each group but its last, e is the last, and rows beyond both ends
//! count as 0. So tied rows alone are visited, and a group whose confidence is 0 or 1 not even then:
//! its labels are all alike, and D is 0.

mod drawn;
mod rounding;

pub use drawn::Drawn;
use drawn::{BLOCK, of_block};
use rounding::{rounding, rounding_sums};

use super::tile::{self, MOST_ROWS};
use crate::backend::cpu::wide_sum::WideSums;
use crate::backend::resamples::TiedGroups;
use crate::fixed_point::ONE_Q30;

/// Rows whose labels are the bits of a word.
const WORD: usize = 16;
/// The largest tied group: its positives are counted in 16 bits.
const LARGEST: u32 = u16::MAX as u32;
/// Up to this size D fits 32 bits: it is at most m/4 and what rounding leaves, times 2³⁰.
const SMALL: u32 = 7;
/// The bits of the low part of D where it does not fit.
const LOW_BITS: u32 = 20;
/// Partial sums D that are worked on together, so that they stay in the nearest cache.
const CHUNK: usize = 128;

/// A tied group whose rows need not all have the same label.
struct Group {
    first: usize,
    size: u32,
    confidence: u32,
}

impl Group {
    fn end(&self) -> usize {
        self.first + self.size as usize
    }

    /// Whether W is rounded for some labels.
    fn rounded(&self) -> bool {
        !self.size.is_power_of_two()
    }

    /// The mean label of each lane, Q30.
    #[inline(always)]
    fn fraction<const LANES: usize>(&self, positives: &[u16; LANES]) -> [i32; LANES] {
        let mut fraction = [0; LANES];
        if !self.rounded() {
            let shift = 30 - self.size.trailing_zeros();
            for lane in 0..LANES {
                fraction[lane] = i32::from(positives[lane]) << shift;
            }
            return fraction;
        }
        let step = f64::from(ONE_Q30) / f64::from(self.size);
        for lane in 0..LANES {
            // SAFETY: positives are counted among the rows of the group, which are below 2¹⁶.
            fraction[lane] = unsafe { tile::fraction(positives[lane].into(), step) };
        }
        fraction
    }
}

/// Groups of which a tile of 16 resamples stays in a core's caches.
const NEAR_GROUPS: usize = 12_000;

/// The ties of a sample.
pub struct Ties {
    groups: Vec<Group>,
    /// For each row, 1 + the place of its group among them, or 0.
    group_of: Vec<u32>,
    /// The places of those whose means are rounded.
    rounded: Vec<u32>,
}

impl Ties {
    /// Those of some groups, if most rows are untied or in small groups. `group_windows.rs` is faster with
    /// two rows a group or more, and with a quarter more rows than groups as long as what it keeps of a
    /// tile of resamples stays in a core's caches (measured, Zen 4).
    pub fn few(groups: &TiedGroups) -> Option<Self> {
        let (rows, count) = (groups.rows as usize, groups.size.len());
        let many = count <= rows / 2 || count <= NEAR_GROUPS && count <= rows / 5 * 4;
        if many { None } else { Self::of(groups) }
    }

    /// Those of some groups, unless there are too many rows, or one is too large.
    pub fn of(groups: &TiedGroups) -> Option<Self> {
        let loose = |confidence: u32, size: u32| size > 1 && confidence > 0 && confidence < ONE_Q30;
        let mut each = std::iter::zip(&groups.confidence, &groups.size);
        if groups.rows >= MOST_ROWS
            || each.any(|(&confidence, &size)| loose(confidence, size) && size > LARGEST)
        {
            return None;
        }
        let mut ties = Ties {
            groups: Vec::new(),
            group_of: vec![0; groups.rows as usize],
            rounded: Vec::new(),
        };
        let mut first = 0;
        for (&confidence, &size) in groups.confidence.iter().zip(&groups.size) {
            let group = Group {
                first,
                size,
                confidence,
            };
            first = group.end();
            if loose(confidence, size) {
                if group.rounded() {
                    ties.rounded.push(ties.groups.len() as u32);
                }
                ties.group_of[group.first..first].fill(ties.groups.len() as u32 + 1);
                ties.groups.push(group);
            }
        }
        Some(ties)
    }

    /// Bytes that a resample takes while it is worked on.
    pub fn bytes_of_resample(&self) -> usize {
        let prefix = if self.rounded.is_empty() { 0 } else { 4 };
        self.group_of.len() / WORD * (2 + prefix) + 2 * self.groups.len()
    }
}

/// What a thread keeps from tile to tile.
pub struct Scratch<const LANES: usize> {
    /// The positives of each group.
    positives: Vec<[u16; LANES]>,
    rounding: rounding::Scratch<LANES>,
    /// D, or its low part.
    low: Chunk<LANES>,
    /// Its high part where it does not fit.
    high: Chunk<LANES>,
}

impl<const LANES: usize> Scratch<LANES> {
    pub fn new() -> Self {
        Scratch {
            positives: Vec::new(),
            rounding: rounding::Scratch::new(),
            low: Chunk::new(),
            high: Chunk::new(),
        }
    }
}

/// Partial sums D, or parts of them.
struct Chunk<const LANES: usize> {
    rows: Vec<usize>,
    partial: Vec<[i32; LANES]>,
}

impl<const LANES: usize> Chunk<LANES> {
    fn new() -> Self {
        Chunk {
            rows: Vec::with_capacity(CHUNK),
            partial: Vec::with_capacity(CHUNK),
        }
    }

    #[inline(always)]
    fn push(&mut self, row: usize, partial: [i32; LANES]) {
        self.rows.push(row);
        self.partial.push(partial);
    }

    /// Adds Σ D_t (V_{t+L+1} - W_{t-L}) for each width L, and is empty again.
    #[inline(always)]
    fn flush(
        &mut self,
        ties: &Ties,
        drawn: &Drawn<'_, LANES>,
        positives: &[[u16; LANES]],
        widths: &[(u32, u128)],
        sums: &mut [WideSums<LANES>],
    ) {
        for ((width, _), sum) in widths.iter().zip(sums) {
            let width = *width as usize;
            for block in 0..LANES / BLOCK {
                let mut part = WideSums::<BLOCK>::default();
                for (&row, partial) in self.rows.iter().zip(&self.partial) {
                    let partial = of_block(partial, block);
                    let difference = drawn.difference(ties, row, width, positives, block);
                    for lane in 0..BLOCK {
                        let partial = i64::from(partial[lane]);
                        part.add(lane, partial.wrapping_mul(difference[lane].into()));
                    }
                }
                sum.add_block(block, &part);
            }
        }
        self.rows.clear();
        self.partial.clear();
    }
}

/// Adds to the sums of windows of labels what their ties change. `widths` are those of `windows`.
#[inline(always)]
pub fn add_ties<const LANES: usize>(
    ties: &Ties,
    drawn: &Drawn<'_, LANES>,
    widths: &[(u32, u128)],
    scratch: &mut Scratch<LANES>,
    windows: &mut [[i128; LANES]],
) {
    scratch.positives.clear();
    let mut low = vec![WideSums::<LANES>::default(); widths.len()];
    let mut high = low.clone();
    let mut squares = Squares::new();
    for group in &ties.groups {
        let positives = drawn.positives_of(group);
        scratch.positives.push(positives);
        let fraction = group.fraction(&positives);
        squares.add(group, &positives, &fraction);
        let mut partial = [0i64; LANES];
        for row in group.first..group.end() - 1 {
            let word = &drawn.labels[row / WORD];
            for lane in 0..LANES {
                let label = i64::from(word[lane] >> (row % WORD) & 1);
                let difference = i64::from(fraction[lane]).wrapping_sub(label << 30);
                partial[lane] = partial[lane].wrapping_add(difference);
            }
            if scratch.low.rows.len() == CHUNK {
                let positives = &scratch.positives;
                scratch.low.flush(ties, drawn, positives, widths, &mut low);
                scratch
                    .high
                    .flush(ties, drawn, positives, widths, &mut high);
            }
            if group.size > SMALL {
                let mask = (1 << LOW_BITS) - 1;
                scratch
                    .low
                    .push(row, partial.map(|partial| (partial & mask) as i32));
                scratch
                    .high
                    .push(row, partial.map(|partial| (partial >> LOW_BITS) as i32));
            } else {
                scratch.low.push(row, partial.map(|partial| partial as i32));
            }
        }
    }
    let positives = &scratch.positives;
    scratch.low.flush(ties, drawn, positives, widths, &mut low);
    scratch
        .high
        .flush(ties, drawn, positives, widths, &mut high);

    let rounding = rounding_sums(ties, drawn, positives, widths, &mut scratch.rounding);
    let rows = drawn.confidence.len();
    for lane in 0..LANES {
        // Of all pairs of rows: ((ΣW)² - (ΣV)² - ΣW² + ΣV²)/2.
        let sum = (i128::from(drawn.positives[lane]) << 30) - i128::from(drawn.before[rows]);
        let rounding_sum = i128::from(squares.rounding[lane]);
        let all = rounding_sum * (2 * sum + rounding_sum) - squares.total(lane);
        for place in 0..widths.len() {
            let far = low[place].total(lane)
                + (high[place].total(lane) << LOW_BITS)
                + rounding[place][lane];
            windows[place][lane] += all / 2 - far;
        }
    }
}

/// ΣW² - ΣV² and Σr.
///
/// A group of m rows with k positives and mean label P has mP² - 2⁶⁰k - 2qr.
struct Squares<const LANES: usize> {
    /// Σ m P² by low and high words of P²; ties have fewer than 2²⁶ rows.
    low: [u64; LANES],
    high: [u64; LANES],
    positives: [u64; LANES],
    /// Σ q r, with |r| <= m/2.
    weighted_rounding: [i64; LANES],
    rounding: [i64; LANES],
}

impl<const LANES: usize> Squares<LANES> {
    fn new() -> Self {
        Squares {
            low: [0; LANES],
            high: [0; LANES],
            positives: [0; LANES],
            weighted_rounding: [0; LANES],
            rounding: [0; LANES],
        }
    }

    #[inline(always)]
    fn add(&mut self, group: &Group, positives: &[u16; LANES], fraction: &[i32; LANES]) {
        let size = u64::from(group.size);
        let rounding = rounding(group, positives, fraction);
        for lane in 0..LANES {
            let fraction = fraction[lane] as u64;
            let square = fraction.wrapping_mul(fraction);
            self.low[lane] = self.low[lane].wrapping_add((square & 0xFFFF_FFFF).wrapping_mul(size));
            self.high[lane] = self.high[lane].wrapping_add((square >> 32).wrapping_mul(size));
            self.positives[lane] = self.positives[lane].wrapping_add(positives[lane].into());
            let rounding = i64::from(rounding[lane]);
            let weighted = rounding.wrapping_mul(group.confidence.into());
            self.weighted_rounding[lane] = self.weighted_rounding[lane].wrapping_add(weighted);
            self.rounding[lane] = self.rounding[lane].wrapping_add(rounding);
        }
    }

    fn total(&self, lane: usize) -> i128 {
        let means = (i128::from(self.high[lane]) << 32) + i128::from(self.low[lane]);
        let labels = i128::from(self.positives[lane]) << 60;
        means - labels - 2 * i128::from(self.weighted_rounding[lane])
    }
}
