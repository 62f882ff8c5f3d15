//! `rankece cost`.

use std::path::PathBuf;

use clap::Args;

use super::backend::{self, BackendFlags, Chosen};
use super::experiment::{Output, computed_by, draft, tell_unused};
use super::failure::{DONE, Failure};
use super::messages::Messages;
use crate::experiment::cost::{CostError, CostReport, CostSpec, Measured, cost};
use crate::experiment::{Draft, Source};
use crate::report::plot;
use crate::report::simulated;

/// Flags of `cost`.
#[derive(Args, Clone, Debug)]
pub struct Cost {
    /// A TOML file with keys named as the flags (law, curve, n, tests, resamples, runs, seed); flags
    /// take precedence
    #[arg(value_name = "SPEC.toml")]
    spec: Option<PathBuf>,
    /// The law of the confidence [default: beta:0.5]
    #[arg(long, value_name = "LAW")]
    law: Option<String>,
    /// E[Y|Z=z]: a name or an expression in z [default: calibrated]
    #[arg(long, value_name = "CURVE", allow_hyphen_values = true)]
    curve: Option<String>,
    /// Rows of a sample: 1000,10000 or 1000..5000/1000 [default:
    /// 100,316,1000,3162,10000,31623,100000]
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    n: Vec<String>,
    /// Tests of calibration: asymptotic, conditional, finite-sample, monte-carlo, adaptive, ks, kuiper,
    /// spiegelhalter, skce-u, skce-l, or all [default: asymptotic, finite-sample, monte-carlo,
    /// adaptive, skce-l, skce-u]
    #[arg(long, value_name = "LIST")]
    tests: Vec<String>,
    /// Null resamples of each test that draws them [default: as in `evaluate`, 999 for monte-carlo,
    /// adaptive, ks and kuiper (fewer beyond 200,000 rows), 100 for skce-u]
    #[arg(long, value_name = "B", allow_hyphen_values = true)]
    resamples: Option<String>,
    /// Measurements of each test at each n, whose median is told; fewer where one takes long [default:
    /// 5]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    runs: Option<String>,
    /// Seed of the samples and of resamples [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    backend: BackendFlags,
}

impl Cost {
    /// Measures.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        let mut draft = draft(self.spec.as_deref(), |text| {
            Draft::of_keys(CostSpec::COMMAND, &CostSpec::KEYS, text)
        })?;
        let one = |value: &Option<String>| value.iter().cloned().collect();
        draft.set("law", one(&self.law));
        draft.set("curve", one(&self.curve));
        draft.set("n", self.n.clone());
        draft.set("tests", self.tests.clone());
        draft.set("resamples", one(&self.resamples));
        draft.set("runs", one(&self.runs));
        draft.set("seed", one(&self.seed));
        let inputs: Vec<PathBuf> = self.spec.iter().cloned().collect();
        self.output.check(&inputs)?;
        let messages = Messages::new(self.output.quiet());
        tell_unused(&mut draft, self.spec.as_deref(), messages);
        // What is wrong with flags is said before a device is opened.
        let asked = CostSpec::of_draft(draft)?;
        let chosen = backend::choose(&self.backend, messages)?;
        let report = measure(asked, &chosen, messages)?;
        self.output.write_cost(&report)?;
        Ok(DONE)
    }
}

/// Measures run times on the CPU, and on the chosen GPU beside it.
///
/// # Errors
/// If law or curve cannot be used, or the device fails.
pub fn measure(
    (spec, source): (CostSpec, Source),
    chosen: &Chosen,
    messages: Messages,
) -> Result<CostReport, Failure> {
    let spec = CostSpec {
        // Now that there are any.
        threads: rayon::current_num_threads(),
        ..spec
    };
    let gpu = match chosen {
        Chosen::Cpu(_) => None,
        Chosen::Gpu(_) => Some(chosen.backend()),
    };
    let by = computed_by(chosen);
    let progress = std::cell::RefCell::new(None);
    let tell = |measured: &Measured, n: u32| {
        progress.replace(Some(
            messages.progress(format!("{} at n = {n}", measured.name())),
        ));
    };
    let report = cost(&spec, &source, &by, gpu, &tell).map_err(|error| match error {
        CostError::Device(error) => Failure::device(error),
        error => Failure::input(error),
    })?;
    if let Chosen::Gpu(gpu) = chosen
        && let Some(error) = gpu.failure()
    {
        // The CPU took over, and its times are not the device's.
        return Err(Failure::device(format!(
            "{error}; times of a device that fails are none. --backend cpu measures the CPU alone"
        )));
    }
    Ok(report)
}

impl Output {
    /// Writes run times where results go.
    fn write_cost(&self, report: &CostReport) -> Result<(), Failure> {
        self.draw(|path| plot::write_figure(path, &plot::cost_figure(report)))?;
        self.write(|format, out| simulated::write_cost(format, report, out))
    }
}
