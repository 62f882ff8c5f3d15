//! The command line (specification, section 7).

mod approx;
mod backend;
mod cost;
mod devices;
mod evaluate;
mod experiment;
mod failure;
mod merge;
mod messages;
mod output;
mod power;
mod progress;
mod reproduce;
mod selfcheck;
mod timings;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::report::Format;
use backend::BackendFlags;
pub use failure::Failure;

/// Measures whether predicted probabilities can be trusted
///
/// rankECE (arXiv 2609.13100), binned ECE and tests of calibration, on the GPU or the CPU with the
/// same bits (but for SKCE, see --backend). Exit status: 0 done, 1 gate not met, 2 usage or bad input, 3 gate undecided, 4 device
/// failure that could not be recovered.
#[derive(Debug, Parser)]
#[command(name = "rankece", version)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything about the calibration of predictions in files
    Evaluate(Box<evaluate::Evaluate>),
    /// How often tests of calibration reject, simulated; --solve-n finds the sample size of a power
    Power(Box<power::Power>),
    /// How estimates of l2_ece lie around it, simulated or in subsamples of a file
    Approx(Box<approx::Approx>),
    /// What tests of calibration cost: run times over n, of rankECE beside SKCE
    Cost(Box<cost::Cost>),
    /// The figures of the paper, simulated anew, as CSV and pictures
    Reproduce(reproduce::Reproduce),
    /// Puts the parts of a run (--shard) together
    Merge(merge::Merge),
    /// The GPU adapters of this machine, their limits, and which one is used
    Devices(devices::Devices),
    /// Holds the GPU against the CPU and the formulas, on this machine
    Selfcheck(selfcheck::Selfcheck),
}

/// Flags of every command that computes.
#[derive(Args, Clone, Debug)]
struct Common {
    #[command(flatten)]
    backend: BackendFlags,
    /// Seed of everything random
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        allow_negative_numbers = true
    )]
    seed: u64,
    /// Level of tests; intervals hold with probability 1 - alpha
    #[arg(
        long,
        default_value_t = 0.05,
        value_name = "A",
        value_parser = level,
        allow_negative_numbers = true
    )]
    alpha: f64,
    /// How results are written
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    format: Format,
    /// Write results to a file and not to standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Draw a picture: .svg, .png or .html
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// No notes, warnings or progress on standard error
    #[arg(long)]
    quiet: bool,
}

/// A level of tests.
fn level(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("must be a number between 0 and 1, both excluded".to_owned()),
    }
}

impl Cli {
    /// Runs the command. The result is the exit status.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        match &self.command {
            Command::Evaluate(command) => command.run(),
            Command::Power(command) => command.run(),
            Command::Approx(command) => command.run(),
            Command::Cost(command) => command.run(),
            Command::Reproduce(command) => command.run(),
            Command::Merge(command) => command.run(),
            Command::Devices(command) => command.run(),
            Command::Selfcheck(command) => command.run(),
        }
    }
}
