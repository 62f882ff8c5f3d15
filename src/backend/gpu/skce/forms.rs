//! Quadratic forms of the kernel matrices of several samples, one behind the other.

use std::ops::Range;

use rayon::prelude::*;

use super::places::places;
use super::tasks::{self, Owned, Task};
use super::{Form, Resampled, State};
use crate::backend::DeviceError;
use crate::backend::cpu::skce::drawn::Drawn;
use crate::backend::cpu::skce::{LANES, Lanes};
use crate::backend::gpu::Gpu;
use crate::backend::gpu::plan::Limits;
use crate::backend::gpu::recorder::{Dispatch, Params, Recorder};
use crate::backend::gpu::shaders::{Kernel, Variant};
use crate::backend::kernels::{Kernel as PairKernel, SkceSample};
use crate::predictions::Dtype;

/// Vectors of a launch (`shaders/skce_forms.wgsl`).
pub const MANY: usize = 128;
/// Blocks of vectors side by side.
const BLOCKS: usize = MANY / LANES;
/// Tasks of a launch at most: 8 MiB to read back.
const MOST_TASKS: usize = 1 << 14;
/// Groups in one binding at most; vectors of more take several buffers.
const MOST_SLAB: usize = 1 << 18;

/// One number of each of [`LANES`] vectors, as the device has it.
type DeviceLanes = [f32; LANES];

/// Kernel matrices of samples on the device.
pub struct Matrices<'a> {
    gpu: &'a Gpu,
    /// The groups of each sample, all numbered through.
    groups: Vec<Range<u32>>,
    /// Whether the kernel of each sample is Gaussian.
    gaussian: Vec<bool>,
    /// Consecutive groups, as many as fit a binding.
    slabs: Vec<Range<u32>>,
    /// The places of each slab.
    places: Vec<wgpu::Buffer>,
}

/// Groups of a slab: whole tiles, so that rows of a task are in one.
fn slab(limits: Limits) -> u32 {
    let fitting = limits.capacity(MANY as u32).min(MOST_SLAB) / 64 * 64;
    fitting.max(64) as u32
}

impl<'a> Matrices<'a> {
    /// Uploads the confidences of samples, which have fewer than 2³¹ groups together.
    pub fn new(gpu: &'a Gpu, samples: &[SkceSample<'_>]) -> Result<Self, DeviceError> {
        let mut end = 0;
        let groups: Vec<Range<u32>> = samples
            .iter()
            .map(|sample| {
                let start = end;
                end += sample.rows.confidence.len() as u32;
                start..end
            })
            .collect();
        let all: Vec<Vec<[u32; 2]>> = samples
            .par_iter()
            .map(|sample| places(sample.scaled, &sample.rows.confidence))
            .collect();
        let all = all.concat();
        let size = slab(gpu.device.limits);
        let slabs: Vec<Range<u32>> = (0..end)
            .step_by(size as usize)
            .map(|first| first..end.min(first + size))
            .collect();
        let upload = |slab: &Range<u32>| {
            let own = &all[slab.start as usize..slab.end as usize];
            gpu.device.upload("places", own)
        };
        Ok(Matrices {
            gpu,
            gaussian: samples
                .iter()
                .map(|sample| sample.scaled.kernel == PairKernel::Gaussian)
                .collect(),
            places: slabs.iter().map(upload).collect::<Result<_, _>>()?,
            groups,
            slabs,
        })
    }

    /// The form of the residuals of each sample.
    pub fn forms_of_residuals(&self, samples: &[SkceSample<'_>]) -> Result<Vec<Form>, DeviceError> {
        let residuals: Vec<Vec<f64>> = samples
            .par_iter()
            .map(|sample| sample.rows.residuals())
            .collect();
        let mut vector = Vec::with_capacity(self.size());
        let mut scales = Vec::with_capacity(samples.len());
        for residuals in &residuals {
            let scale = scale_to_one(
                residuals
                    .iter()
                    .fold(0.0, |most, a| f64::max(most, a.abs())),
            );
            vector.extend(residuals.iter().map(|a| (a * scale) as f32));
            scales.push(scale);
        }
        let buffers = self.upload_slabs(|slab| vector[slab].to_vec())?;
        let wanted = vec![true; samples.len()];
        let values = self.sum_tasks(Kernel::SkceForm, 1, &buffers, &wanted)?;
        Ok(std::iter::zip(values, std::iter::zip(scales, residuals))
            .map(|(value, (scale, residuals))| Form {
                value: value / scale / scale,
                squares: residuals.iter().map(|a| a * a).sum(),
            })
            .collect())
    }

    /// The forms of the resamples from `first` on, at most [`MANY`] of each sample.
    pub fn forms_of_resamples(
        &self,
        states: &[State<'_>],
        first: u32,
    ) -> Result<Vec<Vec<Resampled>>, DeviceError> {
        let size = self.size();
        let which: Vec<Vec<u32>> = states.iter().map(|s| s.resamples_from(first)).collect();
        let mut vectors = vec![[0f32; LANES]; size * BLOCKS];
        let mut jobs = Vec::new();
        for (block, mut rest) in vectors.chunks_mut(size.max(1)).enumerate() {
            for (sample, groups) in self.groups.iter().enumerate() {
                let (own, later) = rest.split_at_mut(groups.len());
                let resamples = which[sample].chunks(LANES).nth(block).unwrap_or(&[]);
                if !resamples.is_empty() {
                    jobs.push((sample, resamples, own));
                }
                rest = later;
            }
        }
        let made: Vec<Made> = jobs
            .into_par_iter()
            .map_init(Default::default, |memory, (sample, resamples, own)| {
                Made::new(sample, &states[sample], resamples, own, memory)
            })
            .collect();
        let buffers = self.upload_slabs(|slab| {
            let block = |block: usize| &vectors[block * size..][slab.clone()];
            (0..BLOCKS).flat_map(block).copied().collect()
        })?;
        drop(vectors);
        let wanted: Vec<bool> = which.iter().map(|which| !which.is_empty()).collect();
        let values = self.sum_tasks(Kernel::SkceForms, MANY, &buffers, &wanted)?;
        // Blocks of one sample come in order.
        let mut forms = vec![Vec::new(); states.len()];
        for made in made {
            let own: &mut Vec<Resampled> = &mut forms[made.sample];
            for lane in 0..made.resamples {
                // The device gives the first halves of all blocks, then the second halves.
                let block = own.len() / LANES;
                let place = (lane / 4) * MANY / 2 + block * 4 + lane % 4;
                let value = values[made.sample * MANY + place];
                let form = Form {
                    value: value / made.scales[lane] / made.scales[lane],
                    squares: made.squares[lane],
                };
                own.push((form, made.diagonals[lane]));
            }
        }
        Ok(forms)
    }

    /// The number of groups of all samples.
    fn size(&self) -> usize {
        self.groups.last().map_or(0, |groups| groups.end as usize)
    }

    fn upload_slabs<T: bytemuck::NoUninit>(
        &self,
        contents: impl Fn(Range<usize>) -> Vec<T>,
    ) -> Result<Vec<wgpu::Buffer>, DeviceError> {
        let upload = |slab: &Range<u32>| {
            let own = contents(slab.start as usize..slab.end as usize);
            self.gpu.device.upload("vectors", &own)
        };
        self.slabs.iter().map(upload).collect()
    }

    /// Sums the parts of tasks in f64, in their order: `width` numbers for each sample that is wanted.
    fn sum_tasks(
        &self,
        kernel: Kernel,
        width: usize,
        vectors: &[wgpu::Buffer],
        wanted: &[bool],
    ) -> Result<Vec<f64>, DeviceError> {
        let mut sums = vec![0.0; wanted.len() * width];
        for rows in 0..self.slabs.len() {
            for columns in rows..self.slabs.len() {
                let tasks = self.tasks(rows, columns, wanted);
                for tasks in tasks.chunks(MOST_TASKS) {
                    let parts = self.launch(kernel, width, tasks, [rows, columns], vectors)?;
                    for (owned, parts) in std::iter::zip(tasks, parts.chunks_exact(width)) {
                        let own = &mut sums[owned.sample as usize * width..][..width];
                        for (sum, &part) in std::iter::zip(own, parts) {
                            let part = f64::from(part);
                            *sum += if owned.twice { 2.0 * part } else { part };
                        }
                    }
                }
            }
        }
        Ok(sums)
    }

    /// The tasks whose rows are in one slab and whose columns are in another, or in the same.
    fn tasks(&self, rows: usize, columns: usize, wanted: &[bool]) -> Vec<Owned> {
        let mut all = Vec::new();
        for (sample, groups) in self.groups.iter().enumerate().filter(|(s, _)| wanted[*s]) {
            let within = |slab: &Range<u32>| {
                let start = groups.start.max(slab.start);
                start - slab.start..groups.end.min(slab.end).max(start) - slab.start
            };
            let width = tasks::columns(groups.len());
            let gaussian = self.gaussian[sample];
            let own = within(&self.slabs[rows]);
            // Samples are fewer than groups.
            let sample = sample as u32;
            all.extend(if rows == columns {
                tasks::triangle(own, width, gaussian, sample)
            } else {
                let others = within(&self.slabs[columns]);
                tasks::rectangle(own, others, width, gaussian, sample)
            });
        }
        all
    }

    /// Runs tasks; `width` numbers for each.
    fn launch(
        &self,
        kernel: Kernel,
        width: usize,
        owned: &[Owned],
        [rows, columns]: [usize; 2],
        vectors: &[wgpu::Buffer],
    ) -> Result<Vec<f32>, DeviceError> {
        let device = &self.gpu.device;
        let tasks: Vec<Task> = owned.iter().map(|owned| owned.task).collect();
        let largest = tasks.iter().map(|task| task.end_column - task.first_column);
        let largest = largest.max().unwrap_or(0);
        let on_device = device.upload("tasks", &tasks)?;
        let parts = device.buffer("parts of forms", (tasks.len() * width * 4) as u64)?;
        let (int64, subgroup) = device.features();
        let mut recorder = Recorder::new(device, &self.gpu.budget, self.gpu.stages.as_ref())?;
        recorder.dispatch(&Dispatch {
            kernel,
            variant: Variant {
                stride: 1,
                dtype: Dtype::F32,
                wide: false,
                fields: 1,
                int64,
                subgroup,
                model: None,
            },
            buffers: &[
                &on_device,
                &self.places[rows],
                &vectors[rows],
                &self.places[columns],
                &vectors[columns],
                &parts,
            ],
            unused: 0,
            params: Params {
                rows: self.slabs[rows].len() as u32,
                count: self.slabs[columns].len() as u32,
                ..Params::default()
            },
            groups: tasks.len() as u32,
            // A value of the kernel, or eight products, take about as long as a row read.
            cost: u64::from(largest) * 64 * (1 + width as u64 / 8),
        })?;
        recorder.submit()?;
        recorder.stage(kernel.name())?;
        device.read(&parts, tasks.len() * width)
    }
}

/// The vectors of a block of resamples of a sample.
struct Made {
    sample: usize,
    resamples: usize,
    /// What each vector was multiplied by.
    scales: Lanes,
    squares: Lanes,
    diagonals: Lanes,
}

impl Made {
    /// Makes them, and writes them to `own`.
    fn new(
        sample: usize,
        state: &State<'_>,
        resamples: &[u32],
        own: &mut [DeviceLanes],
        (drawn, vectors): &mut (Drawn, Vec<Lanes>),
    ) -> Self {
        vectors.clear();
        vectors.resize(own.len(), [0.0; LANES]);
        let (squares, diagonals) = state.fill(resamples, vectors, drawn).unwrap_or_default();
        let mut most = [0f64; LANES];
        for vector in vectors.iter() {
            for lane in 0..LANES {
                most[lane] = most[lane].max(vector[lane].abs());
            }
        }
        let scales = most.map(scale_to_one);
        for (own, vector) in std::iter::zip(own, vectors) {
            for lane in 0..LANES {
                own[lane] = (vector[lane] * scales[lane]) as f32;
            }
        }
        Made {
            sample,
            resamples: resamples.len(),
            scales,
            squares,
            diagonals,
        }
    }
}

/// The power of two that brings a number below 2³³ to \[1, 2), so that products of small ones do not
/// vanish in f32; of a subnormal number the largest power there is.
fn scale_to_one(most: f64) -> f64 {
    let exponent = most.to_bits() >> 52 & 0x7FF;
    f64::from_bits((2046 - exponent.min(2045)) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_are_whole_tiles_that_fit_bindings() {
        for binding_bytes in [1 << 20, 128 << 20, 2 << 30] {
            let limits = Limits {
                binding_bytes,
                buffer_bytes: 4 << 30,
                groups_per_dimension: 65_535,
                workgroup_bytes: 16 << 10,
                rows: usize::MAX,
            };
            let groups = slab(limits);
            assert!(groups.is_multiple_of(64) && groups > 0);
            assert!(u64::from(groups) * MANY as u64 * 4 <= binding_bytes);
        }
    }

    #[test]
    fn scales_are_powers_of_two() {
        assert_eq!(scale_to_one(1.0), 1.0);
        assert_eq!(scale_to_one(0.75), 2.0);
        assert_eq!(scale_to_one(5e9), 2f64.powi(-32));
        assert_eq!(scale_to_one(0.0), 2f64.powi(1023));
        assert_eq!(scale_to_one(1e-310), 2f64.powi(1023));
    }
}
