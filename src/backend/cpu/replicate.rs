//! A simulated replicate, drawn, sorted and summed. Twin of `shaders/replicate.wgsl`.

use rayon::prelude::*;

use super::Cpu;
use super::draw::draw;
use super::residuals::{Cells, residuals};
use super::side_by_side::{self, SideBySide};
use super::sort_lanes::LANES;
use super::sort_uniform::sort_uniform;
use super::wide_sum::{WideSum, product, signed_product};
use crate::backend::DeviceError;
use crate::backend::replicates::{
    ReplicateBin, ReplicateSums, Replicates, Simulator, replicate_key,
};
use crate::backend::terms::{Run, RunSums};
use crate::model::Quantile;

/// Rows of a call: so many that threads seldom wait for each other, and so few that their sums stay in
/// memory that is used again.
const ROWS_PER_CALL: usize = 1 << 21;

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
        let cells = cells.as_ref();
        if rows > side_by_side::MOST_ROWS {
            return Ok((first..first + count as u64)
                .into_par_iter()
                .map_init(
                    || Scratch::new(rows),
                    |scratch, replicate| scratch.replicate(replicates, cells, replicate),
                )
                .collect());
        }
        // Groups begin at multiples of their size, so that none crosses a multiple of 2³².
        let skipped = (first % LANES as u64) as usize;
        let first_of_groups = first - skipped as u64;
        let mut sums = (0..(skipped + count).div_ceil(LANES))
            .into_par_iter()
            .with_min_len((1 << 14) / (rows * LANES).max(1) + 1)
            .map_init(
                || (Scratch::new(rows), SideBySide::new(rows)),
                |(scratch, lanes), group| {
                    lanes.draw_and_sort(replicates, first_of_groups + (group * LANES) as u64);
                    if replicates.thresholds.is_empty() && !replicates.quantile.has_ties() {
                        return lanes.sums(replicates, cells);
                    }
                    std::array::from_fn(|lane| {
                        lanes.copy_lane(lane, &mut scratch.uniform, &mut scratch.label);
                        scratch.sorted_sums(replicates, cells)
                    })
                },
            )
            .collect::<Vec<[ReplicateSums; LANES]>>()
            .into_flattened();
        // The first and the last group may begin before and end after what is asked for.
        sums.drain(..skipped);
        sums.truncate(count);
        Ok(sums)
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
        self.sorted_sums(replicates, cells)
    }

    /// The sums of the replicate that is drawn and sorted.
    fn sorted_sums(&mut self, replicates: &Replicates<'_>, cells: Option<&Cells>) -> ReplicateSums {
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

/// The sums of a replicate without ties.
fn untied_sums(residual: &[i32], variance: &[u32]) -> ReplicateSums {
    crate::simd::dispatch!(untied_sums_body(
        residual: &[i32],
        variance: &[u32]
    ) -> ReplicateSums)
}

#[inline(always)]
fn untied_sums_body(residual: &[i32], variance: &[u32]) -> ReplicateSums {
    let [mut rank_ece, mut squares, mut odd, mut even] = [WideSum::default(); 4];
    for pair in residual.windows(2) {
        rank_ece.add(signed_product(pair[0], pair[1]));
    }
    for &v in variance {
        squares.add(product(v, v));
    }
    for pair in variance.as_chunks::<2>().0 {
        odd.add(product(pair[0], pair[1]));
    }
    let from_the_second = variance.get(1..).unwrap_or(&[]);
    for pair in from_the_second.as_chunks::<2>().0 {
        even.add(product(pair[0], pair[1]));
    }
    // Products of variances are not negative.
    let [squares, odd, even] = [squares, odd, even].map(|sum| sum.total() as u128);
    ReplicateSums {
        rank_ece: rank_ece.total(),
        null_squares: squares,
        null_odd: odd,
        null_even: even,
        null_conditional: odd + even,
        bins: Vec::new(),
    }
}
