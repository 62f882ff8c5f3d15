//! A GPU with the CPU behind it.

use std::cell::RefCell;

use super::bootstrap::{Bootstrap, Bootstrapper, CellSums};
use super::cpu::Cpu;
use super::gpu::Gpu;
use super::kernels::{PairSummer, SkceSample, SkceSums};
use super::replicates::{ReplicateSums, Replicates, Simulator};
use super::resamples::{ResampleSums, Resampler, Resamples};
use super::subsamples::{Subsampler, Subsamples};
use super::{Backend, DeviceError, Request, SegmentSums};
use crate::predictions::Batch;

/// A GPU whose work goes to the CPU when it fails. What it had finished is kept; sums of integers are
/// the same, whoever computes them; for those of a kernel see [`PairSummer`].
pub struct Resilient {
    gpu: Gpu,
    failure: RefCell<Option<DeviceError>>,
}

impl Resilient {
    /// A device that has not failed yet.
    pub fn new(gpu: Gpu) -> Self {
        Resilient {
            gpu,
            failure: RefCell::new(None),
        }
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    /// Times every stage on the device from now on ([`Gpu::time_stages`]).
    pub fn time_stages(&mut self) {
        self.gpu.time_stages();
    }

    /// Why the device is not used any more.
    pub fn failure(&self) -> Option<DeviceError> {
        self.failure.borrow().clone()
    }
}

impl Backend for Resilient {
    fn sums(&self, batch: &mut Batch, request: &Request) -> Result<Vec<SegmentSums>, DeviceError> {
        if self.failure.borrow().is_some() {
            return Cpu::default().sums(batch, request);
        }
        self.gpu.run(batch, request, &mut |error| {
            self.failure.replace(Some(error));
            Ok(())
        })
    }
}

impl Simulator for Resilient {
    fn replicates_per_call(&self, rows: u32) -> usize {
        if self.failure.borrow().is_some() {
            return Cpu::default().replicates_per_call(rows);
        }
        self.gpu.replicates_per_call(rows)
    }

    fn replicates(
        &self,
        replicates: &Replicates<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        if self.failure.borrow().is_none() {
            match self.gpu.replicates(replicates, first, count) {
                Ok(sums) => return Ok(sums),
                Err(error) => self.failure.replace(Some(error)),
            };
        }
        Cpu::default().replicates(replicates, first, count)
    }
}

impl Resampler for Resilient {
    fn resamples(
        &self,
        samples: &[Resamples<'_>],
        first: u32,
        count: u32,
    ) -> Result<Vec<ResampleSums>, DeviceError> {
        if self.failure.borrow().is_none() {
            match self.gpu.resamples(samples, first, count) {
                Ok(sums) => return Ok(sums),
                Err(error) => self.failure.replace(Some(error)),
            };
        }
        Cpu::default().resamples(samples, first, count)
    }
}

impl Subsampler for Resilient {
    fn subsamples(
        &self,
        subsamples: &Subsamples<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        if self.failure.borrow().is_none() {
            match self.gpu.subsamples(subsamples, first, count) {
                Ok(sums) => return Ok(sums),
                Err(error) => self.failure.replace(Some(error)),
            };
        }
        Cpu::default().subsamples(subsamples, first, count)
    }
}

impl Bootstrapper for Resilient {
    fn bootstrap(
        &self,
        bootstrap: &Bootstrap<'_>,
        first: u32,
        count: u32,
    ) -> Result<Vec<CellSums>, DeviceError> {
        if self.failure.borrow().is_none() {
            match self.gpu.bootstrap(bootstrap, first, count) {
                Ok(sums) => return Ok(sums),
                Err(error) => self.failure.replace(Some(error)),
            };
        }
        Cpu::default().bootstrap(bootstrap, first, count)
    }
}

impl PairSummer for Resilient {
    fn pair_sums(&self, samples: &[SkceSample<'_>]) -> Result<Vec<SkceSums>, DeviceError> {
        if self.failure.borrow().is_none() {
            match self.gpu.pair_sums(samples) {
                Ok(sums) => return Ok(sums),
                Err(error) => self.failure.replace(Some(error)),
            };
        }
        Cpu::default().pair_sums(samples)
    }
}
