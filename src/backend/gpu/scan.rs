//! Exclusive prefix sums of a buffer: scan blocks, scan their totals, add. No workgroup waits for
//! another.

use super::device::Device;
use super::plan::SCAN_BLOCK;
use super::recorder::{Dispatch, Params, Recorder};
use super::shaders::{Kernel, Variant};
use crate::backend::DeviceError;

/// Records the exclusive scan of the first `count` entries, of 64 bits if the variant is wide.
///
/// # Errors
/// If the device fails.
pub fn scan(
    device: &Device,
    recorder: &mut Recorder<'_>,
    variant: Variant,
    entries: &wgpu::Buffer,
    count: usize,
) -> Result<(), DeviceError> {
    let blocks = count.div_ceil(SCAN_BLOCK);
    let entry_bytes = if variant.wide { 8 } else { 4 };
    let totals = device.buffer("totals of a scan", blocks as u64 * entry_bytes)?;
    let mut dispatch = Dispatch {
        kernel: Kernel::ScanBlocks,
        variant,
        buffers: &[entries, &totals],
        unused: 0,
        params: Params {
            count: count as u32,
            ..Params::default()
        },
        groups: blocks as u32,
        cost: SCAN_BLOCK as u64,
    };
    recorder.dispatch(&dispatch)?;
    if blocks > 1 {
        scan(device, recorder, variant, &totals, blocks)?;
        dispatch.kernel = Kernel::ScanAdd;
        recorder.dispatch(&dispatch)?;
    }
    Ok(())
}
