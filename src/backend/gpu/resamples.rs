//! Null resamples.

use super::Gpu;
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::resamples::{ResampleSums, Resampler, Resamples};

/// Computed on the CPU, whose results are those of every backend: there is no kernel for it yet.
impl Resampler for Gpu {
    fn resamples(
        &self,
        samples: &[Resamples<'_>],
        first: u32,
        count: u32,
    ) -> Result<Vec<ResampleSums>, DeviceError> {
        Cpu::default().resamples(samples, first, count)
    }
}
