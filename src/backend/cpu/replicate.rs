//! A simulated replicate, drawn, sorted and summed. Twin of `shaders/replicate.wgsl`.

use rayon::prelude::*;

use super::Cpu;
use super::draw::draw;
use super::sort_uniform::sort_uniform;
use crate::backend::DeviceError;
use crate::backend::replicates::{
    ROWS_PER_CALL, ReplicateBin, ReplicateSums, Replicates, Simulator, replicate_key,
};
use crate::backend::terms::{Run, RunSums};
use crate::model::{Quantile, Response};

impl Simulator for Cpu {
    fn replicates_per_call(&self, rows: u32) -> usize {
        // A replicate for each thread, as long as all of them fit into memory by far.
        const MOST_ROWS: usize = 1 << 27;
        let rows = rows.max(1) as usize;
        let each = rayon::current_num_threads().min(MOST_ROWS / rows);
        (ROWS_PER_CALL / rows).max(each).max(1)
    }

    fn replicates(
        &self,
        replicates: &Replicates<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        let rows = replicates.rows as usize;
        let cells = Cells::new(replicates.response);
        Ok((0..count)
            .into_par_iter()
            .with_min_len((1 << 14) / rows.max(1) + 1)
            .map_init(
                || Scratch::new(rows),
                |scratch, offset| {
                    scratch.replicate(replicates, cells.as_ref(), first + offset as u64)
                },
            )
            .collect())
    }
}

/// What a thread keeps from replicate to replicate.
struct Scratch {
    uniform: Vec<u32>,
    label: Vec<u32>,
    spare: Vec<u32>,
    residual: Vec<i32>,
    variance: Vec<u32>,
    /// Sums of residuals before each row.
    before: Vec<i64>,
}

impl Scratch {
    fn new(rows: usize) -> Self {
        Scratch {
            uniform: vec![0; rows],
            label: vec![0; rows],
            spare: vec![0; rows],
            residual: vec![0; rows],
            variance: vec![0; rows],
            before: Vec::new(),
        }
    }

    fn replicate(
        &mut self,
        replicates: &Replicates<'_>,
        cells: Option<&Cells>,
        replicate: u64,
    ) -> ReplicateSums {
        let key = replicate_key(replicates.key, replicate);
        draw(key, replicate as u32, &mut self.uniform, &mut self.label);
        sort_uniform(&mut self.uniform, &mut self.spare);
        residuals(
            replicates.quantile,
            cells,
            &self.uniform,
            &self.label,
            &mut self.residual,
            &mut self.variance,
        );
        let mut sums = match replicates.quantile {
            Quantile::Empirical(scores) => self.tied_sums(&scores.run, &scores.q30),
            _ => untied_sums(&self.residual, &self.variance),
        };
        sums.bins = self.bins(replicates.thresholds);
        sums
    }
}

impl Scratch {
    /// The sums of a replicate whose rows may be tied; `runs` numbers the tied run of each score.
    fn tied_sums(&self, runs: &[u32], scores: &[u32]) -> ReplicateSums {
        let count = scores.len() as u64;
        let index = |uniform: u32| ((u64::from(uniform) * count) >> 32) as usize;
        let rows = self.uniform.len();
        let mut sums = RunSums::default();
        let mut before: Option<Run> = None;
        let mut row = 0;
        while row < rows {
            let first = row;
            let score = index(self.uniform[row]);
            let mut positives = 0;
            while row < rows && runs[index(self.uniform[row])] == runs[score] {
                // A residual is label - confidence: not negative with label 1, not positive with 0.
                positives += u32::from(self.residual[row] + scores[score] as i32 > 0);
                row += 1;
            }
            let run = Run::new(first as u32, scores[score], (row - first) as u32, positives);
            sums.add_run(&run);
            if let Some(before) = before {
                sums.add_boundary(&before, &run);
            }
            before = Some(run);
        }
        ReplicateSums {
            rank_ece: sums.rank_ece,
            null_squares: sums.null_squares,
            null_odd: sums.null_odd,
            null_even: sums.null_even,
            null_conditional: sums.null_conditional,
            bins: Vec::new(),
        }
    }

    /// The bins of every binning.
    fn bins(&mut self, thresholds: &[Vec<u32>]) -> Vec<ReplicateBin> {
        let bins = thresholds.iter().map(|edges| edges.len() + 1).sum();
        let mut all = Vec::with_capacity(bins);
        if bins == 0 {
            return all;
        }
        let mut sum = 0i64;
        self.before.clear();
        self.before.push(0);
        self.before.extend(self.residual.iter().map(|&residual| {
            sum += i64::from(residual);
            sum
        }));
        for edges in thresholds {
            let mut start = 0;
            for edge in edges.iter().map(Some).chain([None]) {
                let end = match edge {
                    Some(edge) => start + self.uniform[start..].partition_point(|word| word < edge),
                    None => self.uniform.len(),
                };
                all.push(ReplicateBin {
                    rows: (end - start) as u32,
                    residual: self.before[end] - self.before[start],
                });
                start = end;
            }
        }
        all
    }
}

/// A curve as the hot loop reads it: left limit below and right limit above in each word, and a last
/// word for confidence 1, so that no row is a special case.
struct Cells {
    count: u32,
    limits: Vec<u64>,
}

impl Cells {
    fn new(response: &Response) -> Option<Self> {
        let Response::Cells { cells, limits } = response else {
            return None;
        };
        let pack = |left: u32, right: u32| u64::from(left) | u64::from(right) << 32;
        let last = limits.last().map_or(0, |limits| limits[1]);
        let packed = limits.iter().map(|limits| pack(limits[0], limits[1]));
        Some(Cells {
            count: *cells,
            limits: packed.chain([pack(last, last)]).collect(),
        })
    }

    /// [`Response::q30`] without branches.
    #[inline(always)]
    fn q30(&self, confidence: u32) -> u32 {
        let place = u64::from(confidence).wrapping_mul(u64::from(self.count));
        let cell = (place >> 30) as usize;
        debug_assert!(cell < self.limits.len());
        // SAFETY: a confidence is at most 2³⁰, so the cell is at most `count`, and there are
        // `count` + 1 words. The check would keep this from being vectorised.
        let limits = unsafe { *self.limits.get_unchecked(cell) };
        let left = limits as u32;
        let difference = ((limits >> 32) as u32).wrapping_sub(left) as i32;
        let fraction = (place as u32) << 2;
        let size = u64::from(difference.unsigned_abs()).wrapping_mul(u64::from(fraction));
        let part = (size.wrapping_add(1 << 31) >> 32) as u32;
        let sign = (difference >> 31) as u32;
        left.wrapping_add((part ^ sign).wrapping_sub(sign))
    }
}

/// Residuals and null variances of sorted rows.
fn residuals(
    quantile: &Quantile,
    cells: Option<&Cells>,
    uniform: &[u32],
    label: &[u32],
    residual: &mut [i32],
    variance: &mut [u32],
) {
    super::simd::dispatch!(residuals_body(
        quantile: &Quantile,
        cells: Option<&Cells>,
        uniform: &[u32],
        label: &[u32],
        residual: &mut [i32],
        variance: &mut [u32]
    ) -> ())
}

#[inline(always)]
fn residuals_body(
    quantile: &Quantile,
    cells: Option<&Cells>,
    uniform: &[u32],
    label: &[u32],
    residual: &mut [i32],
    variance: &mut [u32],
) {
    let rows = uniform.len();
    let (label, residual, variance) =
        (&label[..rows], &mut residual[..rows], &mut variance[..rows]);
    // Confidences stay in `variance` until the last loop.
    match quantile {
        Quantile::Affine { start, width } => {
            for row in 0..rows {
                let product = u64::from(*width).wrapping_mul(u64::from(uniform[row]));
                variance[row] = start.wrapping_add((product.wrapping_add(1 << 31) >> 32) as u32);
            }
        }
        quantile => {
            for row in 0..rows {
                variance[row] = quantile.q30(uniform[row]);
            }
        }
    }
    match cells {
        None => {
            for row in 0..rows {
                residual[row] = of_label(label[row], variance[row], variance[row]);
            }
        }
        Some(cells) => {
            for row in 0..rows {
                residual[row] = of_label(label[row], cells.q30(variance[row]), variance[row]);
            }
        }
    }
    for confidence in variance {
        let product = u64::from(*confidence)
            .wrapping_mul(u64::from((1u32 << 30).wrapping_sub(*confidence)))
            .wrapping_add(1 << 26);
        *confidence = (product >> 27) as u32;
    }
}

/// The residual of a row: its label is 1 when the label word's upper 30 bits are below the chance.
#[inline(always)]
fn of_label(word: u32, chance: u32, confidence: u32) -> i32 {
    let label = if (word >> 2) < chance { 1i32 << 30 } else { 0 };
    label.wrapping_sub(confidence as i32)
}

/// The sums of a replicate without ties.
fn untied_sums(residual: &[i32], variance: &[u32]) -> ReplicateSums {
    super::simd::dispatch!(untied_sums_body(
        residual: &[i32],
        variance: &[u32]
    ) -> ReplicateSums)
}

#[inline(always)]
fn untied_sums_body(residual: &[i32], variance: &[u32]) -> ReplicateSums {
    // Products of 64 bits, as sums of their low and of their high words.
    let (mut low, mut high) = (0u64, 0i64);
    for pair in residual.windows(2) {
        let product = i64::from(pair[0]).wrapping_mul(i64::from(pair[1]));
        low = low.wrapping_add(product as u64 & 0xFFFF_FFFF);
        high = high.wrapping_add(product >> 32);
    }
    let rank_ece = (i128::from(high) << 32) + i128::from(low);

    let null_squares = wide_sum(variance.iter().map(|&v| (v, v)));
    let pairs = variance.as_chunks::<2>().0;
    let null_odd = wide_sum(pairs.iter().map(|pair| (pair[0], pair[1])));
    let shifted = variance.get(1..).unwrap_or(&[]).as_chunks::<2>().0;
    let null_even = wide_sum(shifted.iter().map(|pair| (pair[0], pair[1])));
    ReplicateSums {
        rank_ece,
        null_squares,
        null_odd,
        null_even,
        null_conditional: null_odd + null_even,
        bins: Vec::new(),
    }
}

/// Σ of products of two words.
#[inline(always)]
fn wide_sum(factors: impl Iterator<Item = (u32, u32)>) -> u128 {
    let (mut low, mut high) = (0u64, 0u64);
    for (a, b) in factors {
        let product = u64::from(a).wrapping_mul(u64::from(b));
        low = low.wrapping_add(product & 0xFFFF_FFFF);
        high = high.wrapping_add(product >> 32);
    }
    (u128::from(high) << 32) + u128::from(low)
}
