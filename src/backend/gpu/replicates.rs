//! Simulated replicates on the device. Only integer sums come back.

use rayon::prelude::*;

use super::Gpu;
use super::plan::{Limits, MOST_ITEMS, SPAN_ITEMS, Span};
use super::recorder::{Dispatch, Params, Recorder};
use super::scan::scan;
use super::shaders::{Kernel, Law, ModelVariant, Variant, buckets};
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::replicates::{
    ROWS_PER_CALL, ReplicateBin, ReplicateSums, Replicates, Simulator, replicate_key,
};
use crate::model::{Quantile, Response};
use crate::predictions::Dtype;

/// Numbers of 128 bits a replicate gives back.
pub const FIELDS: usize = 5;
/// Replicates of one launch at most: 20 MiB of sums.
pub const MOST_REPLICATES: usize = 1 << 18;
/// Rows of an item of a large replicate.
const ITEM_ROWS: usize = 64;

/// `BinEdges` of `shaders/shared/bins.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct BinEdges {
    lower: u32,
    upper: u32,
    first: u32,
    last: u32,
}

/// `BinSums` of `shaders/shared/bins.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
struct BinSums {
    rows: u32,
    padding: u32,
    residual: i64,
}

/// Workgroup memory of a sort of `capacity` words: the words, the buckets, and a scan with its total.
pub const fn sort_bytes(capacity: u32) -> u32 {
    4 * (capacity + buckets(capacity) + 256 + 1)
}

/// Workgroup memory of sums over threads, 128 bits each.
pub const SUM_BYTES: u32 = 256 * 16;

/// How replicates of some size are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Each in the memory of one workgroup that holds `capacity` words.
    Whole { capacity: u32 },
    /// Each in `2^bits` parts by the leading bits of its words, parts of at most `capacity` rows.
    Parts { capacity: u32, bits: u32 },
    /// Too large for a binding.
    TooLarge,
}

impl Plan {
    /// The plan for replicates of `rows` rows.
    pub fn new(limits: Limits, rows: u32) -> Self {
        let largest = |most: u32, bytes: &dyn Fn(u32) -> u32| {
            let mut capacity = most;
            while capacity > 256 && bytes(capacity) > limits.workgroup_bytes {
                capacity /= 2;
            }
            capacity
        };
        let whole = largest(1 << 13, &|capacity| sort_bytes(capacity) + SUM_BYTES);
        let capacity = rows.next_power_of_two().max(256);
        if capacity <= whole && rows as usize <= limits.rows {
            return Plan::Whole { capacity };
        }
        if u64::from(rows) * 4 > limits.binding_bytes.min(limits.buffer_bytes) {
            return Plan::TooLarge;
        }
        let capacity = largest(1 << 12, &sort_bytes);
        // Uniform words fill parts of 0.6 capacity on average past capacity once in 10^100 times.
        let parts = (f64::from(rows) / (0.6 * f64::from(capacity))).ceil() as u32;
        Plan::Parts {
            capacity,
            bits: parts.next_power_of_two().ilog2().max(1),
        }
    }
}

impl Simulator for Gpu {
    fn replicates_per_call(&self, rows: u32) -> usize {
        // Hardware does this many rows in some milliseconds, and is not busy with fewer.
        const HARDWARE_ROWS: usize = 1 << 24;
        let call = match self.described.kind {
            "cpu" => ROWS_PER_CALL,
            _ => HARDWARE_ROWS,
        };
        (call / rows.max(1) as usize).max(1)
    }

    fn replicates(
        &self,
        replicates: &Replicates<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        let plan = Plan::new(self.device.limits, replicates.rows);
        if replicates.rows == 0 || plan == Plan::TooLarge || has_long_loops(replicates) {
            return Cpu::default().replicates(replicates, first, count);
        }
        let mut all = Vec::with_capacity(count);
        let tables = Tables::upload(self, replicates)?;
        while all.len() < count {
            let next = first + all.len() as u64;
            // The high word of the number is in the key, so a launch keeps to one.
            let before_carry = (1u64 << 32) - (next & 0xFFFF_FFFF);
            let most = launch_size(self.device.limits, plan, replicates)
                .min(count - all.len())
                .min(before_carry.min(1 << 32) as usize);
            let launch = Launch {
                gpu: self,
                replicates,
                tables: &tables,
                first: next,
                count: most,
            };
            match plan {
                Plan::Whole { capacity } => launch.whole(capacity, &mut all)?,
                Plan::Parts { capacity, bits } => launch.parts(capacity, bits, &mut all)?,
                Plan::TooLarge => unreachable!("went to the CPU above"),
            }
        }
        Ok(all)
    }
}

/// Whether a thread of the kernels of large replicates would go round a loop too often: a software
/// adapter leaves its loops after 65,535 rounds, with wrong sums, and hardware has better to do.
///
/// A workgroup of 256 threads goes through the rows of a bin, and a thread through those of a tied run
/// and of the two beside it.
fn has_long_loops(replicates: &Replicates<'_>) -> bool {
    const MOST_BINNED_ROWS: u32 = 1 << 23;
    const MOST_TIED_ROWS: u64 = 1 << 14;
    let binned = !replicates.thresholds.is_empty() && replicates.rows > MOST_BINNED_ROWS;
    let tied = match replicates.quantile {
        Quantile::Empirical(scores) => {
            let largest = scores.run.chunk_by(|a, b| a == b).map(<[u32]>::len).max();
            // Rows that such a run has on average; at most 2¹⁴, they are never much more than that.
            let mean = u64::from(replicates.rows) * largest.unwrap_or(0) as u64
                / scores.run.len().max(1) as u64;
            mean > MOST_TIED_ROWS
        }
        _ => false,
    };
    binned || tied
}

/// Bins of a replicate, all binnings together.
fn bins_of(replicates: &Replicates<'_>) -> usize {
    replicates
        .thresholds
        .iter()
        .map(|edges| edges.len() + 1)
        .sum()
}

/// How many replicates one launch takes.
fn launch_size(limits: Limits, plan: Plan, replicates: &Replicates<'_>) -> usize {
    let bytes = limits.binding_bytes.min(limits.buffer_bytes).min(1 << 30) as usize;
    let by_bins = bytes / 16 / bins_of(replicates).max(1);
    let rows = replicates.rows as usize;
    let by_rows = match plan {
        Plan::Whole { .. } => MOST_REPLICATES,
        _ => (bytes / 4 / rows).min(MOST_ITEMS / rows.div_ceil(ITEM_ROWS)),
    };
    by_bins.min(by_rows).clamp(1, MOST_REPLICATES)
}

/// The tables of a model on the device.
struct Tables {
    quantile: wgpu::Buffer,
    response: wgpu::Buffer,
    score_runs: wgpu::Buffer,
    edges: wgpu::Buffer,
    law: Law,
    start: u32,
    width: u32,
    cells: u32,
    scores: u32,
    bins: usize,
}

impl Tables {
    fn upload(gpu: &Gpu, replicates: &Replicates<'_>) -> Result<Self, DeviceError> {
        let device = &gpu.device;
        let (law, start, width, quantile, runs): (_, _, _, &[u32], &[u32]) =
            match replicates.quantile {
                Quantile::Affine { start, width } => (Law::Affine, *start, *width, &[], &[]),
                Quantile::Nodes(nodes) => (Law::Nodes, 0, 0, nodes, &[]),
                Quantile::Empirical(scores) => (Law::Empirical, 0, 0, &scores.q30, &scores.run),
            };
        let (cells, limits): (_, &[[u32; 2]]) = match replicates.response {
            Response::Calibrated => (0, &[]),
            Response::Cells { cells, limits, .. } => (*cells, limits),
        };
        let mut edges = Vec::new();
        for thresholds in replicates.thresholds {
            for bin in 0..=thresholds.len() {
                edges.push(BinEdges {
                    lower: bin.checked_sub(1).map_or(0, |bin| thresholds[bin]),
                    upper: thresholds.get(bin).copied().unwrap_or(0),
                    first: u32::from(bin == 0),
                    last: u32::from(bin == thresholds.len()),
                });
            }
        }
        Ok(Tables {
            quantile: device.upload("quantiles", quantile)?,
            response: device.upload("response", limits)?,
            score_runs: device.upload("runs of scores", runs)?,
            edges: device.upload("edges of bins", &edges)?,
            law,
            start,
            width,
            cells,
            scores: quantile.len() as u32,
            bins: edges.len(),
        })
    }

    /// The bindings among quantile (1), response (2) and score runs (3) that a kernel does not use.
    fn unused(&self) -> u32 {
        let quantile = u32::from(self.law == Law::Affine) << 1;
        let response = u32::from(self.cells == 0) << 2;
        let runs = u32::from(self.law != Law::Empirical) << 3;
        quantile | response | runs
    }
}

/// Replicates of one launch.
struct Launch<'a> {
    gpu: &'a Gpu,
    replicates: &'a Replicates<'a>,
    tables: &'a Tables,
    first: u64,
    count: usize,
}

impl Launch<'_> {
    fn variant(&self, capacity: u32) -> Variant {
        let (int64, subgroup) = self.gpu.device.features();
        Variant {
            stride: 1,
            dtype: Dtype::F32,
            wide: false,
            fields: FIELDS as u32,
            int64,
            subgroup,
            model: Some(ModelVariant {
                law: self.tables.law,
                cells: self.tables.cells > 0,
                capacity,
            }),
        }
    }

    fn params(&self) -> Params {
        Params {
            rows: self.replicates.rows,
            key: replicate_key(self.replicates.key, self.first).0,
            replicate: self.first as u32,
            bins: self.tables.bins as u32,
            start: self.tables.start,
            width: self.tables.width,
            cells: self.tables.cells,
            scores: self.tables.scores,
            ..Params::default()
        }
    }

    /// Replicates that a workgroup's memory holds.
    fn whole(&self, capacity: u32, all: &mut Vec<ReplicateSums>) -> Result<(), DeviceError> {
        let device = &self.gpu.device;
        let tables = self.tables;
        let mut recorder = Recorder::new(device, &self.gpu.budget, self.gpu.stages.as_ref())?;
        let sums = device.buffer("sums of replicates", (self.count * FIELDS * 16) as u64)?;
        let bins = device.buffer("bins of replicates", (self.count * tables.bins * 16) as u64)?;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::Replicate,
            variant: self.variant(capacity),
            buffers: &[
                &tables.quantile,
                &tables.response,
                &tables.score_runs,
                &tables.edges,
                &sums,
                &bins,
            ],
            unused: tables.unused(),
            params: Params {
                count: self.count as u32,
                ..self.params()
            },
            groups: self.count as u32,
            cost: u64::from(capacity) * 8,
        })?;
        recorder.submit()?;
        recorder.stage("replicates")?;
        self.collect(device.read(&sums, self.count * FIELDS)?, &bins, all)
    }

    /// Larger replicates: in parts by leading bits, each part sorted by a workgroup.
    fn parts(
        &self,
        capacity: u32,
        bits: u32,
        all: &mut Vec<ReplicateSums>,
    ) -> Result<(), DeviceError> {
        let device = &self.gpu.device;
        let tables = self.tables;
        let variant = self.variant(capacity);
        let rows = self.replicates.rows as usize;
        let parts = self.count << bits;
        let mut recorder = Recorder::new(device, &self.gpu.budget, self.gpu.stages.as_ref())?;
        let tiles = rows.div_ceil(256);
        let params = Params {
            tiles: tiles as u32,
            shift: 32 - bits,
            parts: 1 << bits,
            ..self.params()
        };

        let starts = device.buffer("parts of replicates", parts as u64 * 4)?;
        let words = device.buffer("words of replicates", (self.count * rows * 4) as u64)?;
        let (to_count, to_scatter) = ([&starts], [&starts, &words]);
        let mut dispatch = Dispatch {
            kernel: Kernel::PartCount,
            variant,
            buffers: &to_count,
            unused: 0,
            params,
            groups: (self.count * tiles) as u32,
            cost: 512,
        };
        recorder.dispatch(&dispatch)?;
        scan(device, &mut recorder, variant, &starts, parts)?;
        dispatch.kernel = Kernel::PartScatter;
        dispatch.buffers = &to_scatter;
        recorder.dispatch(&dispatch)?;
        let overflow = device.buffer("parts that are too large", 4)?;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::PartSort,
            variant,
            buffers: &[&starts, &words, &overflow],
            unused: 0,
            params,
            groups: parts as u32,
            cost: u64::from(capacity) * 4,
        })?;

        let items = rows.div_ceil(ITEM_ROWS);
        let item_count = self.count * items;
        let partial = device.buffer("sums of items", (item_count * FIELDS * 16) as u64)?;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::ReplicateItems,
            variant,
            buffers: &[
                &tables.quantile,
                &tables.response,
                &tables.score_runs,
                &words,
                &partial,
            ],
            unused: tables.unused(),
            params: Params {
                count: item_count as u32,
                tiles: items as u32,
                item_rows: ITEM_ROWS as u32,
                ..params
            },
            groups: item_count.div_ceil(64) as u32,
            cost: 64 * ITEM_ROWS as u64 * 4,
        })?;
        let mut spans = Vec::new();
        let mut owners = Vec::new();
        for replicate in 0..self.count {
            for first in (0..items).step_by(SPAN_ITEMS) {
                spans.push(Span {
                    first_item: (replicate * items + first) as u32,
                    items: SPAN_ITEMS.min(items - first) as u32,
                });
                owners.push(replicate);
            }
        }
        let span_table = device.upload("spans", &spans)?;
        let sums = device.buffer("sums of spans", (spans.len() * FIELDS * 16) as u64)?;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::SumItems,
            variant,
            buffers: &[&span_table, &partial, &sums],
            unused: 0,
            params: Params {
                count: (spans.len() * FIELDS) as u32,
                ..params
            },
            groups: (spans.len() * FIELDS).div_ceil(64) as u32,
            cost: 64 * SPAN_ITEMS as u64,
        })?;

        let bins = device.buffer("bins of replicates", (self.count * tables.bins * 16) as u64)?;
        let bin_count = self.count * tables.bins;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::ReplicateBins,
            variant,
            buffers: &[
                &tables.quantile,
                &tables.response,
                &words,
                &tables.edges,
                &bins,
            ],
            unused: tables.unused() & 0b110,
            params,
            groups: bin_count as u32,
            cost: (rows / tables.bins.max(1) + 256) as u64 * 4,
        })?;
        recorder.submit()?;
        recorder.stage("replicates")?;
        if device.read::<u32>(&overflow, 1)? != [0] {
            // It all but never happens, and the CPU has no parts.
            all.extend(Cpu::default().replicates(self.replicates, self.first, self.count)?);
            return Ok(());
        }
        let mut totals = vec![0u128; self.count * FIELDS];
        let of_spans: Vec<u128> = device.read(&sums, spans.len() * FIELDS)?;
        for (fields, replicate) in std::iter::zip(of_spans.as_chunks::<FIELDS>().0, owners) {
            let own = &mut totals[replicate * FIELDS..][..FIELDS];
            for (total, field) in std::iter::zip(own, fields) {
                // Two's complement: negative sums wrap.
                *total = total.wrapping_add(*field);
            }
        }
        self.collect(totals, &bins, all)
    }

    /// Adds the sums, as they are given back, to those of launches before.
    fn collect(
        &self,
        sums: Vec<u128>,
        bins: &wgpu::Buffer,
        all: &mut Vec<ReplicateSums>,
    ) -> Result<(), DeviceError> {
        let per_replicate = self.tables.bins;
        let bins: Vec<BinSums> = self.gpu.device.read(bins, self.count * per_replicate)?;
        let replicates = sums.as_chunks::<FIELDS>().0.par_iter().enumerate();
        all.par_extend(replicates.map(
            |(replicate, &[rank_ece, squares, odd, even, conditional])| {
                ReplicateSums {
                    rank_ece: rank_ece as i128,
                    null_squares: squares,
                    null_odd: odd,
                    null_even: even,
                    null_conditional: conditional,
                    bins: bins[replicate * per_replicate..][..per_replicate]
                        .iter()
                        .map(|bin| ReplicateBin {
                            rows: bin.rows,
                            residual: bin.residual,
                        })
                        .collect(),
                }
            },
        ));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_keep_to_workgroup_memory() {
        for workgroup_bytes in [16 << 10, 32 << 10, 48 << 10, 1 << 20] {
            let limits = Limits {
                binding_bytes: 128 << 20,
                buffer_bytes: 1 << 30,
                groups_per_dimension: 65_535,
                workgroup_bytes,
                rows: usize::MAX,
            };
            for rows in [1, 2, 255, 256, 257, 2048, 2049, 10_000, 1 << 20, 1 << 25] {
                match Plan::new(limits, rows) {
                    Plan::Whole { capacity } => {
                        assert!(capacity >= rows);
                        assert!(sort_bytes(capacity) + SUM_BYTES <= workgroup_bytes);
                    }
                    Plan::Parts { capacity, bits } => {
                        assert!(sort_bytes(capacity) <= workgroup_bytes);
                        let mean = f64::from(rows) / f64::from(1u32 << bits);
                        let spare = (f64::from(capacity) - mean) / mean.sqrt();
                        assert!(spare > 20.0, "{rows}: {spare} standard deviations");
                    }
                    Plan::TooLarge => panic!("{rows} rows fit"),
                }
            }
            assert_eq!(Plan::new(limits, (1 << 25) + 1), Plan::TooLarge);
        }
    }
}
