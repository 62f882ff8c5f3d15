//! `rankece power`.

use clap::Args;

use super::experiment::Grid;
use super::failure::Failure;
use crate::experiment::Command;

/// Flags of `power`.
#[derive(Args, Clone, Debug)]
pub struct Power {
    #[command(flatten)]
    grid: Grid,
    /// Tests of calibration: asymptotic, conditional, finite-sample, monte-carlo, adaptive, ks, kuiper,
    /// spiegelhalter, skce-u, skce-l, or all [default: the first three]
    #[arg(long, value_name = "LIST")]
    tests: Vec<String>,
    /// The kernel of skce-u and skce-l, gaussian or laplace [default: gaussian]
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Its bandwidth: median (of the distances between confidences), or a number [default: median]
    #[arg(long, value_name = "median|NUMBER", allow_hyphen_values = true)]
    bandwidth: Option<String>,
    /// The null resamples of skce-u: multinomial, wild or monte-carlo [default: multinomial]
    #[arg(long, value_name = "NAME")]
    skce_null: Option<String>,
    /// Null resamples of each replicate, for monte-carlo, adaptive, ks, kuiper and skce-u [default:
    /// 199, 100 for skce-u alone]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    resamples: Option<String>,
    /// Levels of the tests [default: 0.05]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    alpha: Vec<String>,
    /// Find the smallest n at which a test (by default `conditional`) has this power, such as 0.8
    #[arg(long, value_name = "POWER", allow_hyphen_values = true)]
    solve_n: Option<String>,
}

impl Power {
    /// Simulates.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        let own = [
            ("tests", self.tests.clone()),
            ("kernel", self.kernel.iter().cloned().collect()),
            ("bandwidth", self.bandwidth.iter().cloned().collect()),
            ("skce_null", self.skce_null.iter().cloned().collect()),
            ("resamples", self.resamples.iter().cloned().collect()),
            ("alpha", self.alpha.clone()),
            ("solve_n", self.solve_n.iter().cloned().collect()),
        ];
        self.grid.run(Command::Power, &own)
    }
}
