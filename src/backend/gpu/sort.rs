//! Sorting records on the device.

use super::device::Device;
use super::plan::{DIGITS, SORT_TILE, digits};
use super::recorder::{Dispatch, Params, Recorder};
use super::scan::scan;
use super::shaders::{Kernel, Variant};
use crate::backend::DeviceError;

/// Sorts `count` records by the bits of their words that vary, the last word being the most
/// significant. Stable. Returns the buffer with the sorted records.
///
/// # Errors
/// If the device fails.
pub fn radix_sort(
    device: &Device,
    recorder: &mut Recorder<'_>,
    variant: Variant,
    records: wgpu::Buffer,
    count: usize,
    varying: &[u32],
) -> Result<wgpu::Buffer, DeviceError> {
    let digits = digits(varying);
    if digits.is_empty() {
        return Ok(records);
    }
    let tiles = count.div_ceil(SORT_TILE);
    let mut source = records;
    let mut target = device.buffer("sorted records", source.size())?;
    let counts = device.buffer("counts of digits", (DIGITS * tiles) as u64 * 4)?;
    for (word, shift) in digits {
        let params = Params {
            count: count as u32,
            tiles: tiles as u32,
            word,
            shift,
            ..Params::default()
        };
        let cost = SORT_TILE as u64 * u64::from(variant.stride);
        recorder.dispatch(&Dispatch {
            kernel: Kernel::RadixCount,
            variant,
            buffers: &[&source, &counts],
            unused: 0,
            params,
            groups: tiles as u32,
            cost,
        })?;
        scan(device, recorder, variant, &counts, DIGITS * tiles)?;
        recorder.dispatch(&Dispatch {
            kernel: Kernel::RadixScatter,
            variant,
            buffers: &[&source, &counts, &target],
            unused: 0,
            params,
            groups: tiles as u32,
            cost: 2 * cost,
        })?;
        std::mem::swap(&mut source, &mut target);
    }
    Ok(source)
}

/// Sorts words of 16 bits by counting each value; the result has one word of 32 bits a row. Rows of
/// equal confidence come out with their labels in order.
///
/// # Errors
/// If the device fails.
pub fn counting_sort(
    device: &Device,
    recorder: &mut Recorder<'_>,
    variant: Variant,
    words: &[u16],
) -> Result<wgpu::Buffer, DeviceError> {
    // A confidence of 16 bits is at most 1.0, whose word, with its label, is below 2¹⁵.
    const VALUES: usize = 1 << 15;
    let packed = device.upload("words of 16 bits", words)?;
    let starts = device.buffer("counts of values", (VALUES as u64 + 1) * 4)?;
    let count = words.len();
    recorder.dispatch(&Dispatch {
        kernel: Kernel::CountValues,
        variant,
        buffers: &[&packed, &starts],
        unused: 0,
        params: Params {
            count: count as u32,
            ..Params::default()
        },
        groups: count.div_ceil(512) as u32,
        cost: 512,
    })?;
    scan(device, recorder, variant, &starts, VALUES + 1)?;
    let sorted = device.buffer("sorted records", count as u64 * 4)?;
    recorder.dispatch(&Dispatch {
        kernel: Kernel::ExpandCounts,
        variant,
        buffers: &[&starts, &sorted],
        unused: 0,
        params: Params {
            count: count as u32,
            tiles: VALUES as u32,
            ..Params::default()
        },
        groups: count.div_ceil(256) as u32,
        cost: 1024,
    })?;
    Ok(sorted)
}
