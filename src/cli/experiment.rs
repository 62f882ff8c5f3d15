//! What `power` and `approx` share: flags, state, interruption, output.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;

use super::backend::{self, BackendFlags, Chosen};
use super::failure::{DEVICE_FAILED, DONE, Failure};
use super::messages::Messages;
use super::output;
use super::progress::Bar;
use crate::backend::replicates::Simulator;
use crate::experiment::journal::{
    AdapterUsed, ComputedBy, Contents, Header, Journal, JournalError,
};
use crate::experiment::{
    Command, Draft, Halt, Plan, PlanError, PowerReport, Runner, Sampler, Shard, Spec, SpecError,
    Tally, check_solvable, name_computed, solve,
};
use crate::report::plot::{self, PlotFormat};
use crate::report::{Format, simulated};

/// Exit status after Ctrl-C, as shells have it.
pub const INTERRUPTED: u8 = 130;
/// How long a unit may take to end after Ctrl-C before the process ends without it.
const PATIENCE: Duration = Duration::from_millis(800);

/// Flags of every simulation over a grid.
#[derive(Args, Clone, Debug)]
pub struct Grid {
    /// A TOML file with keys named as the flags (law, curve, n, …); flags take precedence
    #[arg(value_name = "SPEC.toml")]
    spec: Option<PathBuf>,
    /// A law of the confidence: uniform, uniform:a,b, beta:a,b, beta:ρ for Beta(ρ, 1-ρ),
    /// empirical:FILE[:COLUMN]; numbers may be ranges (beta:0.05..0.95/0.05); may be repeated
    /// [default: uniform]
    #[arg(long, value_name = "LAW")]
    law: Vec<String>,
    /// E[Y|Z=z]: a name such as quadratic, or an expression in z; numbers may be ranges; may be
    /// repeated
    #[arg(long, value_name = "CURVE", allow_hyphen_values = true)]
    curve: Vec<String>,
    /// Rows of a replicate: 100,200 or 100..1000/100
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    n: Vec<String>,
    /// Replicates of each point of the grid [default: 10000]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    replicates: Option<String>,
    /// Seed of everything random [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    seed: Option<String>,
    /// Continue an interrupted run, whose state lies in OUTPUT.partial
    #[arg(long)]
    resume: bool,
    /// Do part i of k only; `rankece merge` puts the parts together
    #[arg(long, value_name = "i/k")]
    shard: Option<Shard>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    backend: BackendFlags,
}

/// Flags that say where results go.
#[derive(Args, Clone, Debug)]
pub struct Output {
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

impl Grid {
    /// Reads the file, lays the flags over it, runs, writes.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(
        &self,
        command: Command,
        own: &[(&'static str, Vec<String>)],
    ) -> Result<u8, Failure> {
        let messages = Messages::new(self.output.quiet);
        let spec = self.effective(command, own, messages)?;
        self.check(&spec)?;
        let chosen = backend::choose(&self.backend, messages)?;
        let plan = plan(spec, messages)?;
        let status = self.run_plan(&plan, &chosen, messages);
        chosen.warn_of_failure(messages);
        status
    }

    fn run_plan(&self, plan: &Plan, chosen: &Chosen, messages: Messages) -> Result<u8, Failure> {
        let path = self.output.output.as_deref();
        let partial = path.map(|path| with_suffix(path, ".partial"));
        if let (Some(path), Some(partial)) = (path, &partial)
            && self.is_complete(plan, path, partial)?
        {
            messages.note(&format!("{} is complete already", path.display()));
            return Ok(DONE);
        }
        check_solvable(plan)?;
        let session = Session::new(chosen, self.resume, self.output.quiet, partial.is_some());
        let partial = partial.as_deref();
        if let Some(target) = plan.spec().solve_n {
            let Some(report) = session.solve(plan, target, partial)? else {
                return Ok(INTERRUPTED);
            };
            self.output.write_power(&report)?;
        } else {
            let Some((tallies, by)) = session.grid(plan, self.shard, partial)? else {
                return Ok(INTERRUPTED);
            };
            if let (Some(_), Some(partial), Some(path)) = (self.shard, partial, path) {
                // A part is its own state.
                return match fs::rename(partial, path) {
                    Ok(()) => Ok(DONE),
                    Err(error) => Err(cannot_write(path, &error)),
                };
            }
            self.output.write_tallies(plan, &tallies, &by)?;
        }
        if let Some(partial) = partial {
            remove_state(partial)?;
        }
        Ok(DONE)
    }

    /// Whether a part that is to be resumed was finished before.
    fn is_complete(&self, plan: &Plan, path: &Path, partial: &Path) -> Result<bool, Failure> {
        if !self.resume || self.shard.is_none() || partial.exists() || !path.exists() {
            return Ok(false);
        }
        let contents = Contents::read(path)?;
        let header = Header::new(plan.spec().clone(), self.shard, plan.checksums());
        let same = header.difference(&contents.header).is_none();
        Ok(same && plan.has_part(&contents.units, self.shard))
    }

    fn effective(
        &self,
        command: Command,
        own: &[(&'static str, Vec<String>)],
        messages: Messages,
    ) -> Result<Spec, Failure> {
        let mut draft = draft(self.spec.as_deref(), |text| Draft::from_toml(command, text))?;
        draft.set("law", self.law.clone());
        draft.set("curve", self.curve.clone());
        draft.set("n", self.n.clone());
        draft.set("replicates", self.replicates.iter().cloned().collect());
        draft.set("seed", self.seed.iter().cloned().collect());
        for (key, values) in own {
            draft.set(key, values.clone());
        }
        tell_unused(&mut draft, self.spec.as_deref(), messages);
        Ok(draft.finish(command)?)
    }

    /// Refuses what cannot work before anything is computed.
    fn check(&self, spec: &Spec) -> Result<(), Failure> {
        let refuse = |message: &str| Err(Failure::input(message));
        if self.output.output.is_none() {
            if self.resume {
                return refuse("--resume needs --output: the state lies in OUTPUT.partial");
            }
            if self.shard.is_some() {
                return refuse("--shard needs --output FILE, where the part is written");
            }
        }
        if self.shard.is_some() {
            if spec.solve_n.is_some() {
                return refuse(
                    "--solve-n cannot be sharded, as which n is tried depends on those before it; leave \
                     --shard out",
                );
            }
            if self.output.plot.is_some() {
                return refuse("a part cannot be drawn; give --plot to `rankece merge`");
            }
        }
        let mut inputs: Vec<PathBuf> = spec.population.iter().map(PathBuf::from).collect();
        inputs.extend(self.spec.clone());
        for law in &spec.law {
            if let Ok(crate::model::Law::Empirical { file, .. }) = law.parse() {
                inputs.push(file.into());
            }
        }
        self.output.check(&inputs)
    }
}

/// What a file says, if one is named.
pub fn draft(
    path: Option<&Path>,
    read: impl FnOnce(&str) -> Result<Draft, SpecError>,
) -> Result<Draft, Failure> {
    let Some(path) = path else {
        return Ok(Draft::default());
    };
    let named =
        |error: &dyn std::fmt::Display| Failure::input(format!("{}: {error}", path.display()));
    let text = fs::read_to_string(path).map_err(|error| named(&error))?;
    read(&text).map_err(|error| named(&error))
}

/// Leaves out what flags leave of the file without a meaning, and tells.
pub fn tell_unused(draft: &mut Draft, path: Option<&Path>, messages: Messages) {
    for note in draft.leave_unused() {
        let file = path.map_or(String::new(), |path| format!("{}: ", path.display()));
        messages.note(&format!("{file}{note}"));
    }
}

/// What computes, as results name it.
pub fn computed_by(chosen: &Chosen) -> ComputedBy {
    let (backend, adapter) = chosen.describe();
    ComputedBy {
        backend: backend.to_owned(),
        adapter: adapter.map(|adapter| AdapterUsed {
            name: adapter.name,
            driver: adapter.driver,
            kind: adapter.kind.to_owned(),
        }),
    }
}

impl Output {
    /// Refuses names that cannot be written to.
    pub fn check(&self, inputs: &[PathBuf]) -> Result<(), Failure> {
        let inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
        if let Some(path) = &self.output {
            output::spare_inputs("--output", path, &inputs)?;
            output::check_writable("--output", path)?;
        }
        if let Some(path) = &self.plot {
            PlotFormat::of(path).map_err(|error| Failure::input(format!("--plot: {error}")))?;
            output::spare_inputs("--plot", path, &inputs)?;
            output::check_writable("--plot", path)?;
        }
        Ok(())
    }

    pub fn messages(&self) -> Messages {
        Messages::new(self.quiet)
    }

    /// Writes what the sums of a plan's points mean.
    pub fn write_tallies(
        &self,
        plan: &Plan,
        tallies: &[Tally],
        by: &[ComputedBy],
    ) -> Result<(), Failure> {
        match plan.spec().command {
            Command::Power => self.write_power(&plan.power_report(tallies, by)),
            Command::Approx => {
                let report = plan.approx_report(tallies, by);
                self.draw(|path| plot::write_figure(path, &plot::approx_figure(&report)))?;
                self.write(|format, out| simulated::write_approx(format, &report, out))
            }
        }
    }

    pub fn write_power(&self, report: &PowerReport) -> Result<(), Failure> {
        self.draw(|path| plot::write_figure(path, &plot::power_figure(report)))?;
        self.write(|format, out| simulated::write_power(format, report, out))
    }

    pub fn quiet(&self) -> bool {
        self.quiet
    }

    pub fn draw(
        &self,
        draw: impl FnOnce(&Path) -> Result<(), plot::PlotError>,
    ) -> Result<(), Failure> {
        match &self.plot {
            Some(path) => draw(path).map_err(|error| Failure::input(format!("--plot: {error}"))),
            None => Ok(()),
        }
    }

    pub fn write(
        &self,
        write: impl FnOnce(Format, &mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        let mut contents = Vec::new();
        write(self.format, &mut contents)
            .map_err(|error| Failure::input(format!("cannot write the results: {error}")))?;
        output::write(self.output.as_deref(), &contents)
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::input(format!("--output {}: {error}", path.display()))
}

pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes the plan and tells what its files say.
pub fn plan(spec: Spec, messages: Messages) -> Result<Plan, Failure> {
    let plan = Plan::new(spec)?;
    // One law may stand beside several curves.
    let mut told = BTreeSet::new();
    for sampler in plan.samplers() {
        let notes = match sampler {
            Sampler::Model(model) => &model.notes,
            Sampler::Population(population) => &population.notes,
        };
        for note in notes.iter().filter(|note| told.insert(*note)) {
            messages.note(note);
        }
    }
    Ok(plan)
}

/// What the runs of one command share.
pub struct Session<'a> {
    pub simulator: &'a dyn Simulator,
    pub by: ComputedBy,
    pub stop: Arc<AtomicBool>,
    pub resume: bool,
    pub quiet: bool,
}

/// What a run gave, and what computed it.
type Finished<T> = (T, Vec<ComputedBy>);

/// The state of a run beside its output.
#[derive(Default)]
struct State {
    journal: Option<Journal>,
    finished: BTreeMap<(u64, u64), Tally>,
    by: Vec<ComputedBy>,
}

impl<'a> Session<'a> {
    /// A session on a backend. `kept` says whether finished work survives Ctrl-C.
    pub fn new(chosen: &'a Chosen, resume: bool, quiet: bool, kept: bool) -> Self {
        Session {
            simulator: chosen.simulator(),
            by: computed_by(chosen),
            stop: stop_on_interrupt(kept),
            resume,
            quiet,
        }
    }

    /// Works through a grid, or part of one, with its state in `partial`. Nothing if interrupted.
    pub fn grid(
        &self,
        plan: &Plan,
        shard: Option<Shard>,
        partial: Option<&Path>,
    ) -> Result<Option<Finished<Vec<Tally>>>, Failure> {
        self.run(Some(plan.rows(shard)), plan, shard, partial, |runner| {
            plan.run(runner, shard)
        })
    }

    /// Looks for the smallest n of a power. Nothing if interrupted.
    pub fn solve(
        &self,
        plan: &Plan,
        target: f64,
        partial: Option<&Path>,
    ) -> Result<Option<PowerReport>, Failure> {
        let done = self.run(None, plan, None, partial, |runner| {
            solve(plan, target, runner)
        })?;
        Ok(done.map(|(mut report, by)| {
            name_computed(plan, &mut report, &by);
            report
        }))
    }

    fn run<T>(
        &self,
        rows: Option<u64>,
        plan: &Plan,
        shard: Option<Shard>,
        partial: Option<&Path>,
        work: impl FnOnce(&mut Runner) -> Result<T, Halt>,
    ) -> Result<Option<Finished<T>>, Failure> {
        let state = match partial {
            Some(partial) => self.open(plan, shard, partial)?,
            None => State {
                by: vec![self.by.clone()],
                ..State::default()
            },
        };
        let bar = Bar::new(rows, self.quiet);
        let mut runner = Runner {
            simulator: self.simulator,
            stop: &self.stop,
            progress: &|rows| bar.add(rows),
            journal: state.journal,
            finished: state.finished,
        };
        let done = work(&mut runner);
        if let Some(journal) = &mut runner.journal {
            journal.sync()?;
        }
        drop(runner);
        drop(bar);
        match done {
            Ok(done) => Ok(Some((done, state.by))),
            Err(Halt::Stopped) => {
                tell_interrupted(partial.is_some());
                Ok(None)
            }
            Err(halt) => Err(halt.into()),
        }
    }

    fn open(&self, plan: &Plan, shard: Option<Shard>, partial: &Path) -> Result<State, Failure> {
        let header = Header::new(plan.spec().clone(), shard, plan.checksums());
        let mut state = State {
            by: vec![self.by.clone()],
            ..State::default()
        };
        let mut journal = if !partial.exists() {
            Journal::create(partial, &header)?
        } else if self.resume {
            let (journal, contents) = Journal::resume(partial, &header)?;
            if let Some(line) = contents.damaged {
                Messages::new(self.quiet).note(&format!(
                    "line {line} of {} was torn; what it held is computed again",
                    partial.display()
                ));
            }
            state.finished = contents.units;
            state.by.extend(contents.computed_by);
            state.by.sort();
            state.by.dedup();
            journal
        } else {
            return Err(Failure::input(format!(
                "{} holds the state of an interrupted run: continue it with --resume, or remove it",
                partial.display()
            )));
        };
        journal.computed_by(&self.by)?;
        state.journal = Some(journal);
        Ok(state)
    }
}

/// Removes the state of a run whose results are written.
pub fn remove_state(partial: &Path) -> Result<(), Failure> {
    fs::remove_file(partial)
        .map_err(|error| Failure::input(format!("{}: {error}", partial.display())))
}

/// A flag that Ctrl-C sets. A unit that takes long is not waited for: finished units are on the disk
/// already.
pub fn stop_on_interrupt(kept: bool) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    // Where signals cannot be caught Ctrl-C ends the process at once, and the state is as good.
    let _ = ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        std::thread::sleep(PATIENCE);
        tell_interrupted(kept);
        std::process::exit(INTERRUPTED.into());
    });
    stop
}

fn tell_interrupted(kept: bool) {
    if kept {
        eprintln!("interrupted; the same command with --resume goes on from here");
    } else {
        eprintln!("interrupted; nothing was kept, as there is no --output");
    }
}

impl From<SpecError> for Failure {
    fn from(error: SpecError) -> Self {
        Failure::input(error)
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        Failure::input(error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Self {
        Failure::input(error)
    }
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped => Failure {
                message: halt.to_string(),
                status: INTERRUPTED,
            },
            Halt::Device(error) => Failure {
                message: error.to_string(),
                status: DEVICE_FAILED,
            },
            Halt::Journal(error) => error.into(),
        }
    }
}
