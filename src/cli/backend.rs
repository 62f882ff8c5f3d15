//! The choice of a backend.

use std::time::Duration;

use clap::{Args, ValueEnum};

use super::failure::Failure;
use super::messages::Messages;
use crate::backend::cpu::Cpu;
use crate::backend::gpu::adapters::{self, Adapter, Found};
use crate::backend::gpu::{DeviceOptions, Fault, Gpu};
use crate::backend::replicates::Simulator;
use crate::backend::resilient::Resilient;
use crate::backend::{Backend, DeviceError};
use crate::selfcheck;

/// Names the fault that a device shall have, to test what follows: `lost`, `memory`, `timeout` or
/// `wrong`, and after a colon the number of submissions before it.
const FAULT_VARIABLE: &str = "RANKECE_FAULT";

/// Where to compute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum BackendName {
    /// A hardware adapter if there is one, else the CPU.
    #[default]
    Auto,
    /// A graphics adapter, a software one too.
    Gpu,
    /// The CPU.
    Cpu,
}

/// Flags that choose a backend.
#[derive(Args, Clone, Debug)]
pub struct BackendFlags {
    /// Where to compute. Results are the same to the bit, but for estimates of SKCE with a Gaussian
    /// kernel: on a GPU they are within 1e-5 of the mean |h|. auto: a hardware GPU if there is one, else
    /// the CPU; gpu: takes a software adapter too
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    pub backend: BackendName,
    /// The GPU adapter, by its index in `rankece devices` or part of its name
    #[arg(long, value_name = "NAME|INDEX")]
    pub adapter: Option<String>,
    /// Threads of the CPU; 0: as many as cores
    #[arg(
        long,
        default_value_t = 0,
        value_name = "N",
        hide_default_value = true,
        value_parser = threads,
        allow_negative_numbers = true
    )]
    pub threads: usize,
}

/// The most threads: more than any machine has cores, and few enough for every system to start.
const MOST_THREADS: usize = 1024;

/// A number of threads.
fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= MOST_THREADS => Ok(threads),
        _ => Err(format!(
            "must be a whole number from 0 (as many as cores) to {MOST_THREADS}"
        )),
    }
}

/// A backend that is ready.
pub enum Chosen {
    /// The CPU.
    Cpu(Cpu),
    /// A device.
    Gpu(Box<Resilient>),
}

impl Chosen {
    /// The backend.
    pub fn backend(&self) -> &dyn Backend {
        match self {
            Chosen::Cpu(cpu) => cpu,
            Chosen::Gpu(gpu) => &**gpu,
        }
    }

    /// What simulates.
    pub fn simulator(&self) -> &dyn Simulator {
        match self {
            Chosen::Cpu(cpu) => cpu,
            Chosen::Gpu(gpu) => &**gpu,
        }
    }

    /// Times the stages of sums over rows from now on; on a device each is then waited for.
    pub fn time_stages(&mut self) {
        if let Chosen::Gpu(gpu) = self {
            gpu.time_stages();
        }
    }

    /// What each stage took; of many segments on a CPU, all threads together.
    pub fn take_stages(&self) -> Vec<(&'static str, Duration)> {
        match self {
            Chosen::Cpu(cpu) => cpu.stages.take(),
            Chosen::Gpu(gpu) => gpu.gpu().take_stages(),
        }
    }

    /// What computed: `cpu` or `gpu`, and the adapter. A device that failed is not named.
    pub fn describe(&self) -> (&'static str, Option<Adapter>) {
        match self {
            Chosen::Gpu(gpu) if gpu.failure().is_none() => {
                ("gpu", Some(gpu.gpu().adapter().clone()))
            }
            _ => ("cpu", None),
        }
    }

    /// Warns if a device failed while it computed.
    pub fn warn_of_failure(&self, messages: Messages) {
        if let Chosen::Gpu(gpu) = self
            && let Some(error) = gpu.failure()
        {
            messages.warning(&format!(
                "{error}; the CPU took over, with the same results (estimates of SKCE with a Gaussian \
                 kernel within 1e-5 of the mean |h|)"
            ));
        }
    }
}

/// Sets up threads and opens the backend that the flags ask for.
///
/// # Errors
/// If `--backend gpu` or `--adapter` asks for a device that cannot be used.
pub fn choose(flags: &BackendFlags, messages: Messages) -> Result<Chosen, Failure> {
    set_threads(flags.threads)?;
    if flags.backend == BackendName::Cpu {
        return match &flags.adapter {
            Some(adapter) => Err(Failure::input(format!(
                "--adapter {adapter} has no meaning with --backend cpu; leave one of them out"
            ))),
            None => Ok(Chosen::Cpu(Cpu::default())),
        };
    }
    let found = adapters::enumerate();
    let demanded = flags.backend == BackendName::Gpu || flags.adapter.is_some();
    let index = match &flags.adapter {
        Some(wanted) => Some(adapters::by_name(&found, wanted).map_err(Failure::input)?),
        None => adapters::choose(&found, demanded),
    };
    let Some(index) = index else {
        if demanded {
            return Err(Failure::device(
                "--backend gpu: this machine has no GPU adapter (Vulkan, Metal or DX12); install a \
                 driver, or use --backend cpu, whose results are the same",
            ));
        }
        return Ok(Chosen::Cpu(Cpu::default()));
    };
    let name = &found[index].described.name;
    if found[index].software {
        messages.warning(&format!(
            "the adapter {name} is software on the CPU: right results, but slower than --backend cpu"
        ));
    }
    match open(&found[index], messages) {
        Ok(gpu) => Ok(Chosen::Gpu(Box::new(Resilient::new(gpu)))),
        Err(error) if demanded => Err(Failure::device(format!(
            "the adapter {name} cannot be used: {error}; use --backend cpu, whose results are the \
             same"
        ))),
        Err(error) => {
            messages.warning(&format!("the adapter {name} is not used: {error}"));
            Ok(Chosen::Cpu(Cpu::default()))
        }
    }
}

/// The number of threads of the CPU.
fn set_threads(threads: usize) -> Result<(), Failure> {
    if threads == 0 {
        return Ok(());
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build_global()
        .map_err(|error| Failure::input(format!("--threads {threads}: {error}")))
}

/// Opens a device and lets it prove itself on a small sample. Subgroup operations are the likeliest
/// to be wrong in a driver, so that without them it has a second chance.
///
/// # Errors
/// If the device cannot be opened or computes wrong numbers.
pub fn open(found: &Found, messages: Messages) -> Result<Gpu, DeviceError> {
    let options = DeviceOptions {
        fault: fault(),
        ..DeviceOptions::default()
    };
    let gpu = Gpu::open(found, options)?;
    let Err(error) = selfcheck::quick(&gpu) else {
        return Ok(gpu);
    };
    if !(gpu.features().1 && matches!(error, DeviceError::WrongNumbers(_))) {
        return Err(error);
    }
    let gpu = Gpu::open(
        found,
        DeviceOptions {
            without_subgroups: true,
            ..options
        },
    )?;
    selfcheck::quick(&gpu)?;
    messages.warning(&format!(
        "subgroup operations of {} give wrong numbers and are not used",
        found.described.name
    ));
    Ok(gpu)
}

/// The fault to be tested.
fn fault() -> Option<(Fault, u32)> {
    let value = std::env::var(FAULT_VARIABLE).ok()?;
    let (name, after) = value.split_once(':').unwrap_or((&value, "0"));
    Some((Fault::parse(name)?, after.parse().ok()?))
}
