//! Null resamples on the device, one in each workgroup. Only integer sums come back.

use super::Gpu;
use super::plan::Limits;
use super::recorder::{Dispatch, Params, Recorder};
use super::shaders::{Kernel, Variant};
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::resamples::{ResampleSums, Resampler, Resamples, resample_key, windows};
use crate::predictions::Dtype;

/// Rows of a sample at most. A thread of a workgroup of 256 goes through its share of them three times,
/// and a software adapter leaves its loops after 65,535 rounds, with wrong sums.
const MOST_ROWS: u32 = 1 << 22;
/// Rows of all samples of a call at most, so that their tied groups fit every binding.
const MOST_ROWS_OF_ALL: usize = 1 << 22;
/// Memory of a launch for sums before rows, and for sums: of 10⁶ rows it takes 134 resamples, about as
/// many as a large device has processors.
pub const LAUNCH_BYTES: u64 = 1 << 30;

/// `Sample` of `shaders/resample.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Sample {
    first_group: u32,
    groups: u32,
    rows: u32,
    widths: u32,
    key: [u32; 2],
    statistics: u32,
    padding: u32,
}

/// `TiedGroup` of `shaders/resample.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct TiedGroup {
    confidence: u32,
    size: u32,
    first_row: u32,
    padding: u32,
}

/// How many resamples one launch takes, with `rows` sums before rows and `fields` sums each.
fn launch_size(limits: Limits, rows: u32, fields: u32) -> u32 {
    let bytes = limits
        .binding_bytes
        .min(limits.buffer_bytes)
        .min(LAUNCH_BYTES);
    let each = u64::from(rows.max(1)) * 8;
    (bytes / each.max(u64::from(fields) * 16)).clamp(1, 1 << 20) as u32
}

impl Resampler for Gpu {
    fn resamples(
        &self,
        samples: &[Resamples<'_>],
        first: u32,
        count: u32,
    ) -> Result<Vec<ResampleSums>, DeviceError> {
        let rows = samples.iter().map(|sample| sample.groups.rows as usize);
        let large = rows.clone().max().unwrap_or(0) > MOST_ROWS as usize
            || rows.sum::<usize>() > MOST_ROWS_OF_ALL;
        let pairs = (samples.len() as u64).saturating_mul(count.into());
        if large || pairs == 0 || pairs > u64::from(u32::MAX) {
            return Cpu::default().resamples(samples, first, count);
        }
        let device = &self.device;
        let (table, groups) = tables(samples);
        let widths = table.iter().map(|sample| sample.widths).max().unwrap_or(0);
        let with_windows = table.iter().filter(|sample| sample.widths > 0);
        let stride = with_windows
            .map(|sample| sample.rows + 1)
            .max()
            .unwrap_or(1);
        let fields = 2 + widths;
        let most = launch_size(device.limits, stride, fields);
        let largest = table.iter().map(|sample| sample.rows).max().unwrap_or(0);
        let (int64, subgroup) = device.features();
        let variant = Variant {
            stride: 1,
            dtype: Dtype::F32,
            wide: false,
            // The number of sums is a parameter, so that one compiled kernel serves all.
            fields: 2,
            int64,
            subgroup,
            model: None,
        };

        let table = device.upload("samples", &table)?;
        let groups = device.upload("tied groups", &groups)?;
        let slots = most.min(pairs as u32);
        let before = device.buffer("sums before rows", u64::from(slots) * u64::from(stride) * 8)?;
        let sums = device.buffer(
            "sums of resamples",
            u64::from(slots) * u64::from(fields) * 16,
        )?;
        let mut all = vec![ResampleSums::default(); samples.len()];
        let mut pair = 0;
        while pair < pairs as u32 {
            let launched = slots.min(pairs as u32 - pair);
            let mut recorder = Recorder::new(device, &self.budget, self.stages.as_ref())?;
            let resampled = Dispatch {
                kernel: Kernel::Resample,
                variant,
                buffers: &[&table, &groups, &before, &sums],
                unused: 0,
                params: Params {
                    count,
                    start: pair,
                    replicate: first,
                    rows: stride,
                    bins: fields,
                    ..Params::default()
                },
                groups: launched,
                cost: (u64::from(largest) + 256) * 16,
            };
            recorder.dispatch(&resampled)?;
            recorder.dispatch(&Dispatch {
                kernel: Kernel::ResampleWindows,
                buffers: &[&table, &before, &sums],
                groups: launched * widths,
                cost: (u64::from(largest) + 256) * 4,
                ..resampled
            })?;
            recorder.submit()?;
            recorder.stage("resamples")?;
            let numbers: Vec<u128> = device.read(&sums, (launched * fields) as usize)?;
            for (place, numbers) in (pair..).zip(numbers.chunks(fields as usize)) {
                let sample = (place / count) as usize;
                collect(&samples[sample], numbers, &mut all[sample]);
            }
            pair += launched;
        }
        Ok(all)
    }
}

/// The samples and their tied groups as the kernel reads them.
fn tables(samples: &[Resamples<'_>]) -> (Vec<Sample>, Vec<TiedGroup>) {
    let (mut table, mut groups) = (Vec::with_capacity(samples.len()), Vec::new());
    for sample in samples {
        let statistics = sample.statistics;
        let widths = if statistics.windows {
            windows(sample.groups.rows).len()
        } else {
            0
        };
        table.push(Sample {
            first_group: groups.len() as u32,
            groups: sample.groups.size.len() as u32,
            rows: sample.groups.rows,
            widths: widths as u32,
            key: resample_key(sample.key).0,
            statistics: u32::from(statistics.rank_ece)
                | u32::from(widths > 0) << 1
                | u32::from(statistics.walk) << 2,
            padding: 0,
        });
        let mut first_row = 0;
        for (&confidence, &size) in sample.groups.confidence.iter().zip(&sample.groups.size) {
            groups.push(TiedGroup {
                confidence,
                size,
                first_row,
                padding: 0,
            });
            first_row += size;
        }
    }
    (table, groups)
}

/// Appends the numbers of one resample to those of its sample.
fn collect(sample: &Resamples<'_>, numbers: &[u128], sums: &mut ResampleSums) {
    // Two's complement.
    if sample.statistics.rank_ece {
        sums.rank_ece.push(numbers[0] as i128);
    }
    if sample.statistics.walk {
        sums.walk
            .push([numbers[1] as i64, (numbers[1] >> 64) as i64]);
    }
    if sample.statistics.windows {
        let widths = windows(sample.groups.rows).len();
        let own = numbers[2..2 + widths].iter();
        sums.windows.extend(own.map(|&sum| sum as i128));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_end_before_a_software_adapter_leaves_them() {
        // Drawing, writing and adding up of a share; the search for its first group; over threads,
        // to complete a tied group and to join shares.
        let share = MOST_ROWS.div_ceil(256);
        assert!(3 * share + 32 + 2 * 256 < 65_535);
    }

    #[test]
    fn launches_keep_to_bindings() {
        let limits = Limits {
            binding_bytes: 128 << 20,
            buffer_bytes: 1 << 30,
            groups_per_dimension: 65_535,
            workgroup_bytes: 16 << 10,
            rows: usize::MAX,
        };
        for (rows, fields) in [(1, 2), (101, 10), (1001, 13), (MOST_ROWS + 1, 25)] {
            let slots = u64::from(launch_size(limits, rows, fields));
            assert!(slots >= 1);
            assert!(slots * u64::from(rows) * 8 <= limits.binding_bytes);
            assert!(slots * u64::from(fields) * 16 <= limits.binding_bytes);
        }
    }
}
