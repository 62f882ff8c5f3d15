//! Parse, run, and end with the right status.

use std::process::ExitCode;

use clap::Parser;

use rankece::cli::Cli;

fn main() -> ExitCode {
    quiet_drivers();
    match Cli::parse().run() {
        Ok(status) => ExitCode::from(status),
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::from(failure.status)
        }
    }
}

/// Keeps a Vulkan layer of Mesa from printing an error on machines without a desktop: it asks the
/// window system for the order of adapters, which `rankece` does not use.
fn quiet_drivers() {
    const VARIABLE: &str = "NODEVICE_SELECT";
    if std::env::var_os(VARIABLE).is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var(VARIABLE, "1") };
    }
}
