//! Bootstrap resamples.

use super::Gpu;
use crate::backend::DeviceError;
use crate::backend::bootstrap::{Bootstrap, Bootstrapper, CellSums};
use crate::backend::cpu::Cpu;

/// Computed on the CPU, whose results are those of every backend: there is no kernel for it yet.
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
