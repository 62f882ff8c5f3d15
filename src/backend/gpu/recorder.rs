//! Commands for a device, cut into submissions of about a tenth of a second.
//!
//! A long submission is a lost device (Windows resets a display driver after two seconds), so the
//! recorder measures how much work the device does in that time and submits no more.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::device::Device;
use super::shaders::{Kernel, Variant};
use crate::backend::DeviceError;
use crate::backend::stages::StageTimes;

/// How long a submission should take.
const TARGET: Duration = Duration::from_millis(100);
/// Work of the first submission, in rows read; a slow integrated card does this in the time.
const FIRST_BUDGET: u64 = 1 << 22;
/// A submission holds at most this many dispatches.
const SLOTS: usize = 512;
/// Distance of parameters in their buffer, the most that any device asks for.
const SLOT_BYTES: u64 = 256;

/// The parameters of a kernel (`shaders/shared/dispatch.wgsl`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Params {
    pub first_group: u32,
    pub end_group: u32,
    pub count: u32,
    pub tiles: u32,
    pub word: u32,
    pub shift: u32,
    pub placed: u32,
    pub rows: u32,
    pub key: [u32; 2],
    pub replicate: u32,
    pub bins: u32,
    pub start: u32,
    pub width: u32,
    pub cells: u32,
    pub scores: u32,
    pub parts: u32,
    pub item_rows: u32,
    pub padding: [u32; 2],
}

/// One kernel to run.
#[derive(Clone, Copy)]
pub struct Dispatch<'a> {
    pub kernel: Kernel,
    pub variant: Variant,
    /// Buffers of bindings 1, 2, ….
    pub buffers: &'a [&'a wgpu::Buffer],
    /// Bit b is set if the kernel does not use binding b in this variant.
    pub unused: u32,
    /// Parameters; the recorder sets the groups.
    pub params: Params,
    /// Workgroups.
    pub groups: u32,
    /// Work of a workgroup, in rows read.
    pub cost: u64,
}

/// Records dispatches and submits them.
pub struct Recorder<'a> {
    device: &'a Device,
    /// Rows read in [`TARGET`], as measured so far; kept by the owner of the device.
    budget: &'a Cell<u64>,
    encoder: wgpu::CommandEncoder,
    parameters: wgpu::Buffer,
    slots: usize,
    cost: u64,
    /// Where times of stages go, if they are taken, and when the current stage began.
    stages: Option<&'a StageTimes>,
    stage_start: Instant,
}

impl<'a> Recorder<'a> {
    /// A recorder without commands. `budget` starts at 0 for a new device.
    ///
    /// # Errors
    /// If the device has no memory left.
    pub fn new(
        device: &'a Device,
        budget: &'a Cell<u64>,
        stages: Option<&'a StageTimes>,
    ) -> Result<Self, DeviceError> {
        budget.set(budget.get().max(FIRST_BUDGET));
        Ok(Recorder {
            device,
            budget,
            encoder: device.encoder(),
            parameters: device.uniform(SLOTS as u64 * SLOT_BYTES)?,
            slots: 0,
            cost: 0,
            stages,
            stage_start: Instant::now(),
        })
    }

    /// Ends a stage: waits for it and adds its time, if times are taken.
    ///
    /// # Errors
    /// If the device fails.
    pub fn stage(&mut self, name: &'static str) -> Result<(), DeviceError> {
        if let Some(stages) = self.stages {
            self.submit()?;
            self.device.wait_for_all()?;
            stages.add(name, self.stage_start.elapsed());
            self.stage_start = Instant::now();
        }
        Ok(())
    }

    /// Records a kernel, in several parts if it is long. Submits, and waits, when enough has been
    /// recorded.
    ///
    /// # Errors
    /// If the device fails.
    pub fn dispatch(&mut self, dispatch: &Dispatch<'_>) -> Result<(), DeviceError> {
        let pipeline = self.device.pipeline(dispatch.kernel, dispatch.variant)?;
        let cost = dispatch.cost.max(1);
        let mut first = 0;
        while first < dispatch.groups {
            let room = self.budget.get().saturating_sub(self.cost);
            if self.slots == SLOTS || (room < cost && self.cost > 0) {
                self.submit()?;
                continue;
            }
            let most = (room / cost).clamp(1, u64::from(u32::MAX)) as u32;
            let groups = most.min(dispatch.groups - first);
            let params = Params {
                first_group: first,
                end_group: first + groups,
                ..dispatch.params
            };
            let offset = self.slots as u64 * SLOT_BYTES;
            self.device
                .write(&self.parameters, offset, bytemuck::bytes_of(&params));
            let binding = wgpu::BufferBinding {
                buffer: &self.parameters,
                offset,
                size: wgpu::BufferSize::new(size_of::<Params>() as u64),
            };
            let group = self
                .device
                .bind(&pipeline, binding, dispatch.buffers, dispatch.unused);
            let (x, y) = self.device.limits.grid(groups);
            {
                let mut pass = self
                    .encoder
                    .begin_compute_pass(&wgpu::ComputePassDescriptor {
                        label: Some(dispatch.kernel.name()),
                        timestamp_writes: None,
                    });
                pass.set_pipeline(&pipeline);
                pass.set_bind_group(0, &group, &[]);
                pass.dispatch_workgroups(x, y, 1);
            }
            self.slots += 1;
            self.cost += u64::from(groups) * cost;
            first += groups;
        }
        Ok(())
    }

    /// Submits what is recorded and waits for it.
    ///
    /// # Errors
    /// If the device fails.
    pub fn submit(&mut self) -> Result<(), DeviceError> {
        if self.slots == 0 {
            return self.device.check();
        }
        let encoder = std::mem::replace(&mut self.encoder, self.device.encoder());
        let start = Instant::now();
        self.device.submit(encoder)?;
        // Small submissions are all overhead and tell nothing; the measure moves by a factor of
        // four at most, since the first runs of a kernel compile it.
        let budget = self.budget.get();
        if self.cost >= budget / 4 {
            let rate = self.cost as f64 / start.elapsed().as_secs_f64().max(1e-6);
            let measured = (rate * TARGET.as_secs_f64()) as u64;
            self.budget.set(
                measured
                    .clamp(budget / 4, budget.saturating_mul(4))
                    .clamp(1 << 16, 1 << 34),
            );
        }
        self.slots = 0;
        self.cost = 0;
        Ok(())
    }
}
