//! `rankece cost`.

use clap::Args;

use super::backend::{self, BackendFlags, Chosen};
use super::experiment::{Output, computed_by};
use super::failure::{DEVICE_FAILED, DONE, Failure};
use super::messages::Messages;
use crate::experiment::cost::{CostError, CostReport, CostSpec, cost};
use crate::experiment::{Command, Draft, Source};
use crate::inference::tests_of_calibration::TestName;
use crate::report::plot;
use crate::report::simulated;
use crate::statistic::skce;

/// Flags of `cost`.
#[derive(Args, Clone, Debug)]
pub struct Cost {
    /// The law of the confidence
    #[arg(long, value_name = "LAW", default_value = "beta:0.5")]
    law: String,
    /// E[Y|Z=z]: a name or an expression in z
    #[arg(
        long,
        value_name = "CURVE",
        default_value = "calibrated",
        allow_hyphen_values = true
    )]
    curve: String,
    /// Rows of a sample
    #[arg(
        long,
        value_name = "LIST",
        default_value = "100,316,1000,3162,10000,31623,100000",
        allow_hyphen_values = true
    )]
    n: String,
    /// Tests of calibration [default: asymptotic, finite-sample, skce-u, skce-l]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    tests: Vec<TestName>,
    /// Null resamples of skce-u
    #[arg(long, value_name = "B", default_value_t = skce::RESAMPLES, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    resamples: u32,
    /// Measurements of each test at each n, whose median is told
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    runs: u32,
    /// Seed of the samples
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
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
        self.output.check(&[])?;
        let mut tests: Vec<TestName> = Vec::new();
        for test in &self.tests {
            if !tests.contains(test) {
                tests.push(*test);
            }
        }
        let messages = Messages::new(self.output.quiet());
        let chosen = backend::choose(&self.backend, messages)?;
        let asked = Asked {
            law: self.law.clone(),
            curve: self.curve.clone(),
            n: self.n.clone(),
            tests,
            resamples: self.resamples,
            runs: self.runs,
            seed: self.seed,
        };
        let report = measure(&asked, &chosen, messages)?;
        chosen.warn_of_failure(messages);
        self.output.write_cost(&report)?;
        Ok(DONE)
    }
}

/// What is to be measured, as texts.
pub struct Asked {
    pub law: String,
    pub curve: String,
    pub n: String,
    pub tests: Vec<TestName>,
    pub resamples: u32,
    pub runs: u32,
    pub seed: u64,
}

/// Measures run times on the CPU, and on the chosen GPU beside it.
///
/// # Errors
/// If law, curve or n do not read as such, or the device fails.
pub fn measure(asked: &Asked, chosen: &Chosen, messages: Messages) -> Result<CostReport, Failure> {
    // Law, curve and n are read as those of a simulation are.
    let mut draft = Draft::default();
    draft.set("law", vec![asked.law.clone()]);
    draft.set("curve", vec![asked.curve.clone()]);
    draft.set("n", vec![asked.n.clone()]);
    let grid = draft.finish(Command::Power)?;
    let points = grid.points()?;
    if grid.law.len() != 1 || grid.curve.len() != 1 {
        return Err(Failure::input("cost takes one --law and one --curve"));
    }
    let source: Source = points[0].source.clone();
    let mut n: Vec<u32> = points.iter().map(|point| point.rows).collect();
    n.sort_unstable();
    let spec = CostSpec {
        law: grid.law[0].clone(),
        curve: grid.curve[0].clone(),
        n,
        runs: asked.runs,
        resamples: asked.resamples,
        tests: if asked.tests.is_empty() {
            vec![
                TestName::Asymptotic,
                TestName::FiniteSample,
                TestName::SkceL,
                TestName::SkceU,
            ]
        } else {
            asked.tests.clone()
        },
        seed: asked.seed,
        threads: rayon::current_num_threads(),
    };
    let gpu = match chosen {
        Chosen::Cpu(_) => None,
        Chosen::Gpu(_) => Some(chosen.backend()),
    };
    let by = computed_by(chosen);
    let progress = std::cell::RefCell::new(None);
    let tell = |measured: &crate::experiment::cost::Measured, n: u32| {
        progress.replace(Some(
            messages.progress(format!("{} at n = {n}", measured.name())),
        ));
    };
    cost(&spec, &source, &by, gpu, &tell).map_err(|error| match error {
        CostError::Device(error) => Failure {
            message: error.to_string(),
            status: DEVICE_FAILED,
        },
        error => Failure::input(error),
    })
}

/// Writes run times where results go.
impl Output {
    fn write_cost(&self, report: &CostReport) -> Result<(), Failure> {
        self.draw(|path| plot::write_figure(path, &plot::cost_figure(report)))?;
        self.write(|format, out| simulated::write_cost(format, report, out))
    }
}
