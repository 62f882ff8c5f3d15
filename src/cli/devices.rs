//! `rankece devices`.

use std::fmt::Write;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::failure::{DONE, Failure};
use super::output;
use crate::backend::gpu::adapters::{self, Found};
use crate::backend::gpu::{DeviceOptions, Gpu};

/// Flags of `devices`.
#[derive(Args, Clone, Debug)]
pub struct Devices {
    /// How the list is written
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    format: ListFormat,
    /// Write the list to a file and not to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ListFormat {
    #[default]
    Table,
    Json,
}

/// What is told of an adapter.
#[derive(Serialize)]
struct Described {
    index: usize,
    name: String,
    driver: String,
    #[serde(rename = "type")]
    kind: &'static str,
    /// `auto` uses it.
    auto: bool,
    /// `gpu` uses it.
    gpu: bool,
    /// Why it cannot be opened.
    error: Option<String>,
    limits: Option<Limits>,
}

#[derive(Serialize)]
struct Limits {
    binding_bytes: u64,
    buffer_bytes: u64,
    groups_per_dimension: u32,
    rows_f32: usize,
    rows_f64: usize,
    int64: bool,
    subgroups: bool,
}

impl Devices {
    /// Lists the adapters.
    ///
    /// # Errors
    /// If the list cannot be written.
    pub fn run(&self) -> Result<u8, Failure> {
        let found = adapters::enumerate();
        let auto = adapters::choose(&found, false);
        let gpu = adapters::choose(&found, true);
        let described: Vec<Described> = found
            .iter()
            .enumerate()
            .map(|(index, found)| describe(index, found, auto, gpu))
            .collect();
        let contents = match self.format {
            ListFormat::Table => table(&described),
            ListFormat::Json => {
                let list = serde_json::json!({ "schema": 1, "adapters": described });
                format!("{list:#}\n")
            }
        };
        output::write(self.output.as_deref(), contents.as_bytes())?;
        Ok(DONE)
    }
}

fn describe(index: usize, found: &Found, auto: Option<usize>, gpu: Option<usize>) -> Described {
    let opened = Gpu::open(found, DeviceOptions::default());
    let limits = opened.as_ref().ok().map(|gpu| {
        let (int64, subgroups) = gpu.features();
        let limits = gpu.limits();
        Limits {
            binding_bytes: limits.binding_bytes,
            buffer_bytes: limits.buffer_bytes,
            groups_per_dimension: limits.groups_per_dimension,
            rows_f32: limits.capacity(1),
            rows_f64: limits.capacity(2),
            int64,
            subgroups,
        }
    });
    Described {
        index,
        name: found.described.name.clone(),
        driver: found.described.driver.clone(),
        kind: found.described.kind,
        auto: auto == Some(index),
        gpu: gpu == Some(index),
        error: opened.err().map(|error| error.to_string()),
        limits,
    }
}

/// The list for people.
fn table(adapters: &[Described]) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    for adapter in adapters {
        let _ = writeln!(text, "{}: {}", adapter.index, adapter.name);
        let _ = writeln!(text, "   type     {}", kind_in_words(adapter.kind));
        let _ = writeln!(text, "   driver   {}", adapter.driver);
        if let Some(error) = &adapter.error {
            let _ = writeln!(text, "   cannot be opened: {error}");
        }
        if let Some(limits) = &adapter.limits {
            let _ = writeln!(
                text,
                "   limits   {} MiB a binding, {} MiB a buffer, {} workgroups a dimension",
                limits.binding_bytes >> 20,
                limits.buffer_bytes >> 20,
                limits.groups_per_dimension
            );
            let _ = writeln!(
                text,
                "   at once  {} rows of f32, {} of f64; larger samples go in parts",
                limits.rows_f32, limits.rows_f64
            );
            let uses = |used: bool| if used { "used" } else { "not used" };
            let _ = writeln!(
                text,
                "   features 64-bit integers {}, subgroup operations {}",
                uses(limits.int64),
                uses(limits.subgroups)
            );
        }
    }
    let name = |index: Option<&Described>| match index {
        Some(adapter) => format!("adapter {}", adapter.index),
        None => "none".to_owned(),
    };
    let auto = adapters.iter().find(|adapter| adapter.auto);
    let gpu = adapters.iter().find(|adapter| adapter.gpu);
    let _ = match auto {
        Some(adapter) => writeln!(
            text,
            "--backend auto uses adapter {}: the best hardware adapter",
            adapter.index
        ),
        None => writeln!(
            text,
            "--backend auto uses the CPU: this machine has no hardware adapter"
        ),
    };
    let _ = match gpu {
        Some(_) => writeln!(text, "--backend gpu uses {}", name(gpu)),
        None => writeln!(
            text,
            "--backend gpu cannot be used: there is no adapter (Vulkan, Metal or DX12)"
        ),
    };
    text
}

fn kind_in_words(kind: &str) -> &str {
    match kind {
        "discrete" => "discrete card",
        "integrated" => "integrated with the CPU",
        "virtual" => "virtual card",
        "cpu" => "software on the CPU: right, but slow",
        _ => "unknown",
    }
}
