//! `rankece selfcheck`.

use clap::Args;

use super::backend::{self, BackendFlags, Chosen};
use super::failure::{DEVICE_FAILED, DONE, Failure};
use super::messages::Messages;
use crate::selfcheck;

/// Flags of `selfcheck`.
#[derive(Args, Clone, Debug)]
pub struct Selfcheck {
    #[command(flatten)]
    backend: BackendFlags,
    /// Seed of the data
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        allow_negative_numbers = true
    )]
    seed: u64,
    /// No notes, warnings or progress on standard error
    #[arg(long)]
    quiet: bool,
}

impl Selfcheck {
    /// Checks this machine.
    ///
    /// # Errors
    /// If the device that the flags ask for cannot be used.
    pub fn run(&self) -> Result<u8, Failure> {
        let messages = Messages::new(self.quiet);
        let chosen = backend::choose(&self.backend, messages)?;
        let gpu = match &chosen {
            Chosen::Gpu(gpu) => Some(gpu.gpu()),
            Chosen::Cpu(_) => None,
        };
        let cases = selfcheck::cases();
        for (index, &case) in cases.iter().enumerate() {
            let _progress = messages.progress(format!("{}/{}: {case}", index + 1, cases.len()));
            if let Err(error) = selfcheck::check(gpu, case, self.seed) {
                println!("FAIL: {error}");
                return Ok(DEVICE_FAILED);
            }
        }
        let count = cases.len();
        match gpu {
            Some(gpu) => println!(
                "pass: {count} samples, the same bits from {} ({}) and the CPU, and the CPU within \
                 {:e} of the formulas",
                gpu.adapter().name,
                gpu.adapter().driver,
                selfcheck::TOLERANCE
            ),
            None => println!(
                "pass: {count} samples, the CPU within {:e} of the formulas; no GPU was checked \
                 (--backend gpu takes a software adapter too)",
                selfcheck::TOLERANCE
            ),
        }
        Ok(DONE)
    }
}
