//! Subsamples without replacement.

use rayon::prelude::*;

use super::Cpu;
use crate::backend::DeviceError;
use crate::backend::replicates::{ReplicateBin, ReplicateSums};
use crate::backend::subsamples::{PopulationRows, Subsampler, Subsamples, subsample_key};
use crate::backend::terms::{Run, RunSums};
use crate::fixed_point::residual_q30;
use crate::placement::Permutation;

impl Subsampler for Cpu {
    fn subsamples(
        &self,
        subsamples: &Subsamples<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        let one = |rows: &mut Vec<u32>, offset: usize| {
            draw(subsamples, first + offset as u64, rows);
            let population = subsamples.population;
            let bins = subsamples
                .thresholds
                .iter()
                .flat_map(|edges| bins(population, rows, edges));
            ReplicateSums {
                bins: bins.collect(),
                ..run_sums(population, rows)
            }
        };
        Ok((0..count).into_par_iter().map_init(Vec::new, one).collect())
    }
}

/// The ranks in the population of a subsample's rows, ascending.
fn draw(subsamples: &Subsamples<'_>, subsample: u64, rows: &mut Vec<u32>) {
    let key = subsample_key(subsamples.key, subsample);
    let size = subsamples.population.confidence.len() as u32;
    let permutation = Permutation::new(key, size);
    rows.resize(subsamples.rows as usize, 0);
    permutation.places(0, rows);
    rows.sort_unstable();
}

fn run_sums(population: &PopulationRows, rows: &[u32]) -> ReplicateSums {
    let mut sums = RunSums::default();
    let mut before: Option<Run> = None;
    let mut start = 0;
    let same = |a: &u32, b: &u32| population.run[*a as usize] == population.run[*b as usize];
    for tied in rows.chunk_by(same) {
        let positives = tied.iter().filter(|&&row| population.label[row as usize]);
        let run = Run::new(
            start,
            population.confidence[tied[0] as usize],
            tied.len() as u32,
            positives.count() as u32,
        );
        sums.add_run(&run);
        if let Some(before) = before {
            sums.add_boundary(&before, &run);
        }
        before = Some(run);
        start += tied.len() as u32;
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

/// The bins of one binning.
fn bins<'a>(
    population: &'a PopulationRows,
    rows: &'a [u32],
    edges: &'a [u32],
) -> impl Iterator<Item = ReplicateBin> + use<'a> {
    let mut start = 0;
    edges.iter().map(Some).chain([None]).map(move |edge| {
        let end = match edge {
            Some(edge) => start + rows[start..].partition_point(|row| row < edge),
            None => rows.len(),
        };
        let residuals = rows[start..end].iter().map(|&row| {
            let row = row as usize;
            i64::from(residual_q30(
                population.label[row],
                population.confidence[row],
            ))
        });
        let bin = ReplicateBin {
            rows: (end - start) as u32,
            residual: residuals.sum(),
        };
        start = end;
        bin
    })
}
