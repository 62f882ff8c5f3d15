//! Subsamples without replacement, one in each workgroup. Only integer sums come back.

use super::Gpu;
use super::recorder::{Dispatch, Params, Recorder};
use super::replicates::{FIELDS, MOST_REPLICATES, Plan};
use super::shaders::{Kernel, Law, ModelVariant, Variant, buckets};
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::replicates::ReplicateSums;
use crate::backend::subsamples::{PopulationRows, Subsampler, Subsamples};
use crate::predictions::Dtype;

impl Subsampler for Gpu {
    /// Subsamples that are too large for a workgroup's memory, populations too large for a binding, and
    /// bins of subsamples go to the CPU, whose results are those of every backend.
    fn subsamples(
        &self,
        subsamples: &Subsamples<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        let limits = self.device.limits;
        let population = subsamples.population.confidence.len();
        let fits = population as u64 * 4 <= limits.binding_bytes.min(limits.buffer_bytes)
            && population < 1 << 31;
        let plan = Plan::new(limits, subsamples.rows);
        let Plan::Whole { capacity } = plan else {
            return Cpu::default().subsamples(subsamples, first, count);
        };
        if !fits || subsamples.rows == 0 || count == 0 || !subsamples.thresholds.is_empty() {
            return Cpu::default().subsamples(subsamples, first, count);
        }
        let device = &self.device;
        let (int64, subgroup) = device.features();
        let confidence = device.upload("confidences", &subsamples.population.confidence)?;
        let runs = device.upload("tied runs", &runs(subsamples.population))?;
        let most = MOST_REPLICATES.min(count);
        let sums = device.buffer("sums of subsamples", (most * FIELDS * 16) as u64)?;
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            let next = first + all.len() as u64;
            // A launch keeps to one high word.
            let before_carry = (1u64 << 32) - (next & 0xFFFF_FFFF);
            let launched = most
                .min(count - all.len())
                .min(before_carry.min(1 << 32) as usize);
            let mut recorder = Recorder::new(device, &self.budget, self.stages.as_ref())?;
            recorder.dispatch(&Dispatch {
                kernel: Kernel::Subsample,
                variant: Variant {
                    stride: 1,
                    dtype: Dtype::F32,
                    wide: false,
                    fields: FIELDS as u32,
                    int64,
                    subgroup,
                    model: Some(ModelVariant {
                        law: Law::Affine,
                        cells: false,
                        capacity,
                    }),
                },
                buffers: &[&confidence, &runs, &sums],
                unused: 0,
                params: Params {
                    rows: subsamples.rows,
                    count: population as u32,
                    key: subsamples.key.0,
                    replicate: next as u32,
                    start: (next >> 32) as u32,
                    width: bucket_scale(capacity, population),
                    ..Params::default()
                },
                groups: launched as u32,
                cost: u64::from(capacity) * 8,
            })?;
            recorder.submit()?;
            recorder.stage("subsamples")?;
            let numbers: Vec<u128> = device.read(&sums, launched * FIELDS)?;
            all.extend(numbers.as_chunks::<FIELDS>().0.iter().map(
                |&[rank_ece, squares, odd, even, conditional]| ReplicateSums {
                    rank_ece: rank_ece as i128,
                    null_squares: squares,
                    null_odd: odd,
                    null_even: even,
                    null_conditional: conditional,
                    bins: Vec::new(),
                },
            ));
        }
        Ok(all)
    }
}

/// Buckets of the sort for each row of the population, in units of 2⁻³²: rounded down, and at most
/// one a row, so that the last row is in the last bucket at most.
fn bucket_scale(capacity: u32, population: usize) -> u32 {
    let scale = (u64::from(buckets(capacity)) << 32) / population as u64;
    scale.min(u64::from(u32::MAX)) as u32
}

/// The tied run and the label of each row, in one word.
fn runs(population: &PopulationRows) -> Vec<u32> {
    let rows = population.run.iter().zip(&population.label);
    rows.map(|(&run, &label)| run << 1 | u32::from(label))
        .collect()
}
