//! An open device: buffers, kernels, and every way in which it can fail as an error.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rayon::prelude::*;

use super::adapters::Found;
use super::plan::Limits;
use super::shaders::{Kernel, Variant, source};
use crate::backend::DeviceError;

/// How long a submission may take. Submissions are made to take about a tenth of a second; one that
/// takes this long will not come back.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes that a thread copies at a time.
const COPIED_BYTES: usize = 1 << 20;

/// A failure on purpose, to test what follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The device goes away.
    Lost,
    /// A buffer cannot be had.
    OutOfMemory,
    /// A submission never ends.
    Timeout,
    /// A bit of a result is wrong.
    WrongNumbers,
}

impl Fault {
    /// `lost`, `memory`, `timeout` or `wrong`.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "lost" => Fault::Lost,
            "memory" => Fault::OutOfMemory,
            "timeout" => Fault::Timeout,
            "wrong" => Fault::WrongNumbers,
            _ => return None,
        })
    }
}

/// How to open a device.
#[derive(Clone, Copy, Debug, Default)]
pub struct DeviceOptions {
    /// Do without subgroup operations even if the device has them.
    pub without_subgroups: bool,
    /// Do without 64-bit integers even if the device has them.
    pub without_int64: bool,
    /// Take fewer rows at a time than the device can, to test what comes past its limits.
    pub most_rows: Option<usize>,
    /// Fail on purpose, after so many submissions.
    pub fault: Option<(Fault, u32)>,
}

/// An open device.
pub struct Device {
    device: wgpu::Device,
    queue: wgpu::Queue,
    pub limits: Limits,
    int64: bool,
    subgroup: bool,
    pipelines: Mutex<HashMap<(Kernel, Variant), wgpu::ComputePipeline>>,
    /// The first thing that went wrong, told by callbacks.
    failed: Arc<Mutex<Option<DeviceError>>>,
    fault: Option<(Fault, u32)>,
    submissions: AtomicU32,
}

impl Device {
    /// Opens an adapter.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn open(found: &Found, options: DeviceOptions) -> Result<Self, DeviceError> {
        let available = found.adapter.features();
        let info = found.adapter.get_info();
        let int64 = !options.without_int64 && available.contains(wgpu::Features::SHADER_INT64);
        // A shader cannot tell how large its subgroups are if the driver may choose.
        let lanes = info.subgroup_min_size;
        let subgroup = !options.without_subgroups
            && available.contains(wgpu::Features::SUBGROUP)
            && lanes == info.subgroup_max_size
            && (4..=128).contains(&lanes);
        let mut features = wgpu::Features::empty();
        features.set(wgpu::Features::SHADER_INT64, int64);
        features.set(wgpu::Features::SUBGROUP, subgroup);
        let limits = found.adapter.limits();
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("rankece"),
            required_features: features,
            required_limits: limits.clone(),
            experimental_features: wgpu::ExperimentalFeatures::disabled(),
            memory_hints: wgpu::MemoryHints::Performance,
            trace: wgpu::Trace::Off,
        };
        let (device, queue) = pollster::block_on(found.adapter.request_device(&descriptor))
            .map_err(|error| DeviceError::Fault(error.to_string()))?;

        let failed: Arc<Mutex<Option<DeviceError>>> = Arc::default();
        let told = failed.clone();
        device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            tell(
                &told,
                match error {
                    wgpu::Error::OutOfMemory { source } => {
                        DeviceError::OutOfMemory(source.to_string())
                    }
                    wgpu::Error::Validation { description, .. }
                    | wgpu::Error::Internal { description, .. } => DeviceError::Fault(description),
                },
            );
        }));
        let told = failed.clone();
        device.set_device_lost_callback(move |reason, message| {
            tell(
                &told,
                DeviceError::Lost(format!("{reason:?} {message}").trim().to_owned()),
            );
        });
        Ok(Device {
            device,
            queue,
            limits: Limits {
                binding_bytes: limits.max_storage_buffer_binding_size,
                buffer_bytes: limits.max_buffer_size,
                groups_per_dimension: limits.max_compute_workgroups_per_dimension,
                workgroup_bytes: limits.max_compute_workgroup_storage_size,
                rows: options.most_rows.unwrap_or(usize::MAX),
            },
            int64,
            subgroup,
            pipelines: Mutex::default(),
            failed,
            fault: options.fault,
            submissions: AtomicU32::new(0),
        })
    }

    /// Whether kernels use 64-bit integers, and subgroup operations.
    pub fn features(&self) -> (bool, bool) {
        (self.int64, self.subgroup)
    }

    /// What went wrong, if anything did.
    pub fn check(&self) -> Result<(), DeviceError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.clone().map_or(Ok(()), Err)
    }

    /// Whether the fault to be tested is due.
    fn fault_is(&self, fault: Fault) -> bool {
        self.fault.is_some_and(|(due, after)| {
            due == fault && self.submissions.load(Ordering::Relaxed) >= after
        })
    }

    /// A buffer of `bytes` zeros, rounded up to a whole word.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn buffer(&self, label: &str, bytes: u64) -> Result<wgpu::Buffer, DeviceError> {
        self.create(label, bytes, wgpu::BufferUsages::STORAGE)
    }

    fn create(
        &self,
        label: &str,
        bytes: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<wgpu::Buffer, DeviceError> {
        // A binding is not empty.
        let size = bytes.next_multiple_of(16).max(16);
        if self.fault_is(Fault::OutOfMemory) {
            return Err(DeviceError::OutOfMemory(format!(
                "{size} bytes for {label}"
            )));
        }
        let buffer = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size,
            usage: usage | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        self.check()?;
        Ok(buffer)
    }

    /// A buffer with these contents.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn upload<T: bytemuck::NoUninit>(
        &self,
        label: &str,
        contents: &[T],
    ) -> Result<wgpu::Buffer, DeviceError> {
        let bytes: &[u8] = bytemuck::cast_slice(contents);
        let buffer = self.buffer(label, bytes.len() as u64)?;
        self.write(&buffer, 0, bytes);
        Ok(buffer)
    }

    /// Writes bytes into a buffer, before anything that is submitted later.
    pub fn write(&self, buffer: &wgpu::Buffer, offset: u64, bytes: &[u8]) {
        // Pieces, so that the queue's staging memory stays small.
        const PIECE: usize = 16 << 20;
        for (index, piece) in bytes.chunks(PIECE).enumerate() {
            let at = offset + (index * PIECE) as u64;
            let whole = piece.len() / 4 * 4;
            self.queue.write_buffer(buffer, at, &piece[..whole]);
            if whole < piece.len() {
                let mut last = [0; 4];
                last[..piece.len() - whole].copy_from_slice(&piece[whole..]);
                self.queue.write_buffer(buffer, at + whole as u64, &last);
            }
            if bytes.len() > PIECE {
                self.queue.submit([]);
            }
        }
    }

    /// A buffer of parameters, for a recorder.
    pub fn uniform(&self, bytes: u64) -> Result<wgpu::Buffer, DeviceError> {
        self.create("parameters", bytes, wgpu::BufferUsages::UNIFORM)
    }

    /// An empty list of commands.
    pub fn encoder(&self) -> wgpu::CommandEncoder {
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: None })
    }

    /// A kernel compiled for this device.
    ///
    /// # Errors
    /// If the driver refuses it.
    pub fn pipeline(
        &self,
        kernel: Kernel,
        variant: Variant,
    ) -> Result<wgpu::ComputePipeline, DeviceError> {
        let mut pipelines = self
            .pipelines
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(pipeline) = pipelines.get(&(kernel, variant)) {
            return Ok(pipeline.clone());
        }
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(kernel.name()),
            source: wgpu::ShaderSource::Wgsl(source(kernel, variant).into()),
        };
        let module = if cfg!(debug_assertions) {
            self.device.create_shader_module(descriptor)
        } else {
            // SAFETY: the shaders are this program's own. They index only rows, tiles, items and
            // queries below the counts they are given, with buffers of at least that size; their
            // loops end; the conformance suite also runs them with all checks on.
            unsafe {
                self.device.create_shader_module_trusted(
                    descriptor,
                    wgpu::ShaderRuntimeChecks::unchecked(),
                )
            }
        };
        let pipeline = self
            .device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(kernel.name()),
                layout: None,
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    // Every kernel writes its workgroup memory before it reads it.
                    zero_initialize_workgroup_memory: cfg!(debug_assertions),
                },
                cache: None,
            });
        self.check()?;
        pipelines.insert((kernel, variant), pipeline.clone());
        Ok(pipeline)
    }

    /// Binds buffers to a kernel: parameters first, then the rest in order. Bindings whose bit is set
    /// in `unused` are left out.
    pub fn bind(
        &self,
        pipeline: &wgpu::ComputePipeline,
        parameters: wgpu::BufferBinding<'_>,
        buffers: &[&wgpu::Buffer],
        unused: u32,
    ) -> wgpu::BindGroup {
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: 0,
            resource: wgpu::BindingResource::Buffer(parameters),
        }];
        entries.extend(
            (1..)
                .zip(buffers)
                .filter(|(binding, _)| unused >> binding & 1 == 0)
                .map(|(binding, buffer)| wgpu::BindGroupEntry {
                    binding,
                    resource: buffer.as_entire_binding(),
                }),
        );
        self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &pipeline.get_bind_group_layout(0),
            entries: &entries,
        })
    }

    /// Submits commands and waits for them.
    ///
    /// # Errors
    /// If the device fails or does not finish.
    pub fn submit(&self, commands: wgpu::CommandEncoder) -> Result<(), DeviceError> {
        self.check()?;
        if self.fault_is(Fault::Lost) {
            self.device.destroy();
        }
        let index = self.queue.submit([commands.finish()]);
        self.submissions.fetch_add(1, Ordering::Relaxed);
        self.wait(Some(index))
    }

    /// Waits for everything submitted so far, uploads too.
    ///
    /// # Errors
    /// If the device fails or does not finish.
    pub fn wait_for_all(&self) -> Result<(), DeviceError> {
        self.queue.submit([]);
        self.wait(None)
    }

    fn wait(&self, submission: Option<wgpu::SubmissionIndex>) -> Result<(), DeviceError> {
        let waited = self.device.poll(wgpu::PollType::Wait {
            submission_index: submission,
            timeout: Some(TIMEOUT),
        });
        self.check()?;
        match waited {
            Ok(_) if self.fault_is(Fault::Timeout) => Err(DeviceError::Timeout(TIMEOUT.as_secs())),
            Ok(_) => Ok(()),
            Err(wgpu::PollError::Timeout) => Err(DeviceError::Timeout(TIMEOUT.as_secs())),
            Err(error) => {
                // A device that is lost says so only when it is polled once more; if that fails
                // too, the first error stands.
                let _ = self.device.poll(wgpu::PollType::Poll);
                self.check()?;
                Err(DeviceError::Fault(error.to_string()))
            }
        }
    }

    /// The first `count` elements of a buffer.
    ///
    /// # Errors
    /// If the device fails or does not answer.
    pub fn read<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(
        &self,
        buffer: &wgpu::Buffer,
        count: usize,
    ) -> Result<Vec<T>, DeviceError> {
        if count == 0 {
            return Ok(Vec::new());
        }
        let bytes = (count * size_of::<T>()) as u64;
        let size = bytes.next_multiple_of(4);
        if self.fault_is(Fault::OutOfMemory) {
            return Err(DeviceError::OutOfMemory(format!("{size} bytes to read")));
        }
        let staging = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mut encoder = self.encoder();
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, Some(size));
        let (sender, receiver) = mpsc::channel();
        self.submit(encoder)?;
        staging.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver may have given up.
            let _ = sender.send(result);
        });
        self.wait(None)?;
        // Callbacks of maps have been known never to come (wgpu#9511).
        match receiver.recv_timeout(TIMEOUT) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(DeviceError::Fault(error.to_string())),
            Err(_) => return Err(DeviceError::Timeout(TIMEOUT.as_secs())),
        }
        let view = staging
            .get_mapped_range(..bytes)
            .map_err(|error| DeviceError::Fault(error.to_string()))?;
        let mut contents = vec![T::zeroed(); count];
        let read: &[u8] = &view;
        // Fresh memory is slow to touch, so that all threads do.
        bytemuck::cast_slice_mut::<T, u8>(&mut contents)
            .par_chunks_mut(COPIED_BYTES)
            .zip(read.par_chunks(COPIED_BYTES))
            .for_each(|(to, from)| to.copy_from_slice(from));
        if self.fault_is(Fault::WrongNumbers) {
            bytemuck::cast_slice_mut::<T, u8>(&mut contents)[0] ^= 1;
        }
        Ok(contents)
    }
}

/// Keeps the first thing that went wrong; what follows from it says less.
fn tell(failed: &Mutex<Option<DeviceError>>, error: DeviceError) {
    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
    failed.get_or_insert(error);
}
