//! The GPU backend, on wgpu. Kernels are in `shaders/`, each with a twin on the CPU.
//!
//! [`Gpu::open`] compiles nothing; the first call of a kernel does. [`Backend::sums`] uploads rows,
//! submits, waits and reads sums back; it returns no rows.

pub mod adapters;
mod bootstrap;
#[cfg(test)]
mod counts;
mod device;
mod launch;
mod parts;
mod plan;
mod recorder;
mod replicates;
mod resamples;
mod scan;
mod shaders;
mod skce;
mod sort;
mod subsample;

use std::cell::Cell;
use std::time::Duration;

pub use device::{DeviceOptions, Fault};
pub use plan::Limits;

use super::cpu;
use super::piece::Place;
use super::stages::StageTimes;
use super::{Backend, DeviceError, Request, SegmentSums, Ties};
use crate::predictions::{Batch, Dtype, Word};
use crate::with_words;
use adapters::{Adapter, Found};
use device::Device;
use launch::PieceRows;
use plan::Unit;

/// An open graphics device.
pub struct Gpu {
    device: Device,
    described: Adapter,
    budget: Cell<u64>,
    /// Whether pair sums were held against the CPU.
    pair_sums_proven: Cell<bool>,
    stages: Option<StageTimes>,
}

impl Gpu {
    /// Opens an adapter.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(found: &Found, options: DeviceOptions) -> Result<Self, DeviceError> {
        Ok(Gpu {
            device: Device::open(found, options)?,
            described: found.described.clone(),
            budget: Cell::new(0),
            pair_sums_proven: Cell::new(false),
            stages: None,
        })
    }

    /// Times every stage from now on. Each is then waited for, so that the whole takes longer.
    pub fn time_stages(&mut self) {
        self.stages = Some(StageTimes::default());
    }

    /// What each stage took, if [`Gpu::time_stages`] was called.
    pub fn take_stages(&self) -> Vec<(&'static str, Duration)> {
        self.stages.as_ref().map_or_else(Vec::new, StageTimes::take)
    }

    /// The adapter.
    pub fn adapter(&self) -> &Adapter {
        &self.described
    }

    /// The limits that work is cut to.
    pub fn limits(&self) -> Limits {
        self.device.limits
    }

    /// Whether 64-bit integers and subgroup operations are used.
    pub fn features(&self) -> (bool, bool) {
        self.device.features()
    }

    /// Where the first segment, if it fits the device, is sorted otherwise than on the CPU.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn sort_differs(
        &self,
        batch: &Batch,
        ties: Ties,
    ) -> Result<Option<String>, DeviceError> {
        let dtype = batch.dtype();
        with_words!(batch.rows(), words => {
            let words = &words[..batch.offsets()[1]];
            if words.len() > self.device.limits.capacity(launch::words_of_row(words)) {
                return Ok(None);
            }
            let mut expected = words.to_vec();
            cpu::sort(&mut expected, ties == Ties::Stable);
            let sorted = launch::sorted_words(self, dtype, words, ties)?;
            // Labels of tied rows may stand in any order unless it is that of the input.
            let key = |word: u64| if ties == Ties::Stable { word } else { word >> 1 };
            Ok(std::iter::zip(&sorted, &expected)
                .position(|(a, b)| key(a.to_u64()) != key(b.to_u64()))
                .map(|row| {
                    format!("row {row} is {:#x} and {:#x}", sorted[row].to_u64(), expected[row].to_u64())
                }))
        })
    }

    /// The sums of every segment; `fallback` takes over, for this segment range and all that follow,
    /// when the device fails.
    pub(super) fn run(
        &self,
        batch: &mut Batch,
        request: &Request,
        fallback: &mut dyn FnMut(DeviceError) -> Result<(), DeviceError>,
    ) -> Result<Vec<SegmentSums>, DeviceError> {
        let dtype = batch.dtype();
        let (rows, offsets) = batch.rows_mut();
        with_words!(rows, words => self.units(dtype, words, offsets, request, fallback))
    }

    fn units<W: Word>(
        &self,
        dtype: Dtype,
        words: &mut [W],
        offsets: &[usize],
        request: &Request,
        fallback: &mut dyn FnMut(DeviceError) -> Result<(), DeviceError>,
    ) -> Result<Vec<SegmentSums>, DeviceError> {
        let stride = launch::words_of::<W>();
        let single = self.device.limits.capacity(stride);
        let several = self.device.limits.capacity(stride + 1);
        let mut sums = Vec::with_capacity(offsets.len() - 1);
        let mut failed = false;
        for unit in plan::units(offsets, single, several) {
            let segments = match &unit {
                Unit::Whole(segments) => segments.clone(),
                Unit::Parts(segment) => *segment..segment + 1,
            };
            if !failed {
                let done = match unit {
                    Unit::Whole(_) => self.whole(dtype, words, offsets, segments.clone(), request),
                    Unit::Parts(segment) => self
                        .parts(
                            dtype,
                            &words[offsets[segment]..offsets[segment + 1]],
                            segment,
                            single,
                            request,
                        )
                        .map(|sums| vec![sums]),
                };
                match done {
                    Ok(done) => {
                        sums.extend(done);
                        continue;
                    }
                    Err(error) => fallback(error)?,
                }
                failed = true;
            }
            sums.extend(cpu::segments(
                dtype,
                words,
                offsets,
                segments,
                request,
                &StageTimes::default(),
            ));
        }
        Ok(sums)
    }

    /// Segments that fit the device together.
    fn whole<W: Word>(
        &self,
        dtype: Dtype,
        words: &[W],
        offsets: &[usize],
        segments: std::ops::Range<usize>,
        request: &Request,
    ) -> Result<Vec<SegmentSums>, DeviceError> {
        let pieces: Vec<PieceRows<'_, W>> = segments
            .map(|segment| {
                let words = &words[offsets[segment]..offsets[segment + 1]];
                PieceRows {
                    words,
                    place: Place {
                        first_rank: 0,
                        segment_rows: words.len() as u32,
                    },
                    segment,
                }
            })
            .collect();
        let sums = launch::sums(self, dtype, &pieces, request)?;
        Ok(sums.into_iter().map(|sums| sums.into_segment()).collect())
    }

    /// A segment that does not fit.
    fn parts<W: Word>(
        &self,
        dtype: Dtype,
        words: &[W],
        segment: usize,
        capacity: usize,
        request: &Request,
    ) -> Result<SegmentSums, DeviceError> {
        let parts = parts::split(words, capacity);
        let pieces = parts::pieces(&parts, segment);
        let mut sums = Vec::with_capacity(pieces.len());
        for (part, piece) in std::iter::zip(&parts, &pieces) {
            if part.constant && part.words.len() > capacity {
                // Sorted as it is, and too large to go over: a run of one value needs no device.
                sums.push(cpu::piece_sums(
                    dtype,
                    piece.words,
                    piece.place,
                    segment,
                    request,
                    &StageTimes::default(),
                ));
            } else {
                sums.append(&mut launch::sums(
                    self,
                    dtype,
                    std::slice::from_ref(piece),
                    request,
                )?);
            }
        }
        Ok(parts::join(dtype, &pieces, sums, request).into_segment())
    }
}

impl Backend for Gpu {
    fn sums(&self, batch: &mut Batch, request: &Request) -> Result<Vec<SegmentSums>, DeviceError> {
        self.run(batch, request, &mut Err)
    }
}
