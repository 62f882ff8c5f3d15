//! Subsamples without replacement, and bootstrap resamples.

use super::Gpu;
use crate::backend::DeviceError;
use crate::backend::bootstrap::{Bootstrap, Bootstrapper, CellSums};
use crate::backend::cpu::Cpu;
use crate::backend::replicates::ReplicateSums;
use crate::backend::subsamples::{Subsampler, Subsamples};

/// Computed on the CPU, whose results are those of every backend: there is no kernel for it yet.
impl Subsampler for Gpu {
    fn subsamples(
        &self,
        subsamples: &Subsamples<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<ReplicateSums>, DeviceError> {
        Cpu::default().subsamples(subsamples, first, count)
    }
}

/// Computed on the CPU, as above.
impl Bootstrapper for Gpu {
    fn bootstrap(
        &self,
        bootstrap: &Bootstrap<'_>,
        first: u32,
        count: u32,
    ) -> Result<Vec<CellSums>, DeviceError> {
        Cpu::default().bootstrap(bootstrap, first, count)
    }
}
