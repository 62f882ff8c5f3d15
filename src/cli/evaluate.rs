//! `rankece evaluate`.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::Common;
use super::backend::{self, Chosen};
use super::failure::{DONE, Failure, GATE_NOT_MET, GATE_UNDECIDED};
use super::messages::Messages;
use super::output;
use super::timings::Timings;
use crate::backend::kernels::{Kernel, Method, SkceNull};
use crate::backend::stages::StageTimes;
use crate::backend::{Closed, Scheme, Ties};
use crate::evaluate::{self, Options, overall_gate};
use crate::inference::intervals::{IntervalName, IntervalNameError};
use crate::inference::tests_of_calibration::TestName;
use crate::input::{self, Reduce};
use crate::report::{self, plot};
use crate::results::{Evaluated, Evaluation, Verdict};
use crate::statistic::BinsRule;
use crate::statistic::skce::{self, Bandwidth, SkceOptions};

/// Flags of `evaluate`.
#[derive(Args, Clone, Debug)]
pub struct Evaluate {
    /// Files of predictions: CSV, TSV or JSON Lines (also .gz), Parquet, Arrow IPC, .npy, .npz; `-` is
    /// standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// The column or array of confidences [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    confidence: Option<String>,
    /// The column or array of labels [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Columns whose values cut the rows into groups, one result each
    #[arg(long, value_name = "COLUMN,..", value_delimiter = ',')]
    group_by: Vec<String>,
    /// The label that counts as 1, all others as 0 [default: labels are 0/1, true/false or -1/1]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    positive: Option<String>,
    /// Labels for an .npy file, from an .npy or text file of their own
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Leave rows out whose confidence or label is missing, and count them
    #[arg(long)]
    skip_missing: bool,
    /// What becomes of probability matrices
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    reduce: Reduce,
    /// The order of rows of equal confidence. average: the expectation over random orders, in closed
    /// form; random: by the seed; stable: as in the input
    #[arg(long, value_enum, default_value_t, value_name = "NAME")]
    ties: Ties,
    /// Numbers of bins: whole numbers, sqrt, cbrt, n/20, n/10, n/C
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "10",
        allow_negative_numbers = true
    )]
    bins: Vec<BinsRule>,
    /// How bins are laid
    #[arg(
        long,
        value_enum,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "equal-width"
    )]
    bin_scheme: Vec<Scheme>,
    /// The end of an equal-width bin that belongs to it
    #[arg(long, value_enum, default_value_t, value_name = "SIDE")]
    closed: Closed,
    /// Tests of calibration: asymptotic, conditional, finite-sample, monte-carlo, adaptive, ks, kuiper,
    /// spiegelhalter, skce-u, skce-l, or all, or none
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "asymptotic,conditional,finite-sample,adaptive"
    )]
    tests: Vec<TestChoice>,
    /// Resamples of tests and intervals [default: 999 for monte-carlo, adaptive, ks, kuiper and the
    /// intervals subsample and bootstrap, all but subsample fewer beyond 200,000 rows, bootstrap of SKCE
    /// with a Gaussian kernel fewer beyond 14,000; 100 for skce-u]
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..=MOST_RESAMPLES), allow_negative_numbers = true)]
    resamples: Option<u32>,
    /// Estimate SKCE, the squared kernel calibration error: unbiased, biased and linear
    #[arg(long)]
    skce: bool,
    #[command(flatten)]
    kernel: KernelFlags,
    /// Intervals around rankECE: neighbour, concentration, subsample; the gate uses the first. Beside
    /// them bootstrap: intervals of the binned estimates, and with --skce of unbiased SKCE. Or none
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "neighbour,concentration"
    )]
    interval: Vec<IntervalChoice>,
    /// Gate: exit 0 if the interval lies within this rankECE, 1 if it lies above, 3 if neither
    #[arg(long, value_name = "LIMIT", value_parser = limit, allow_hyphen_values = true)]
    max_rank_ece: Option<f64>,
    /// Tell on standard error how long each part took, by the clock on the wall
    ///
    /// started: threads and device
    /// read: from files to validated rows
    /// computed: all below that is indented
    ///   log loss
    ///   SKCE: its estimates, and the resamples of skce-u
    ///   tests by resampling: labels drawn anew for adaptive, monte-carlo, ks and kuiper
    ///   sums over rows: sorting, and what rank_ece, bins and the neighbour interval are made of
    ///   intervals by resampling: subsample and bootstrap
    ///   estimates: numbers, tests and intervals from sums
    ///   the rest: bringing files together
    ///     what the backend tells of its work in these: sort, totals, runs (of ties), …
    ///     with several results on a CPU of all its threads together
    /// wrote: results and picture
    /// total
    #[arg(long, verbatim_doc_comment)]
    timings: bool,
    #[command(flatten)]
    common: Common,
}

/// Flags of SKCE and its tests.
#[derive(Args, Clone, Debug)]
struct KernelFlags {
    /// The kernel of SKCE [default: gaussian]
    #[arg(long, value_enum, value_name = "NAME")]
    kernel: Option<Kernel>,
    /// The kernel's bandwidth: median (of the distances between confidences), or a number [default:
    /// median]
    #[arg(long, value_name = "median|NUMBER", allow_hyphen_values = true)]
    bandwidth: Option<Bandwidth>,
    /// The null resamples of skce-u. multinomial: rows drawn with replacement; wild: random signs;
    /// monte-carlo: labels drawn from the confidences, valid at any n [default: multinomial]
    #[arg(long, value_enum, value_name = "NAME")]
    skce_null: Option<SkceNull>,
}

/// Rows whose pairs are compared in some seconds.
const ROWS_OF_QUICK_PAIRS: usize = 20_000;

/// The most resamples: their numbers fit a word of random numbers.
const MOST_RESAMPLES: i64 = 1 << 31;

impl KernelFlags {
    /// Refuses flags of what is not computed.
    fn check(&self, tests: &[TestName], skce: bool) -> Result<(), Failure> {
        let unbiased = tests.contains(&TestName::SkceU);
        let any = skce || unbiased || tests.contains(&TestName::SkceL);
        let refuse = |flag: &str, what: &str| {
            Err(Failure::input(format!(
                "{flag} is for {what}, which is not asked for; add it, or leave {flag} out"
            )))
        };
        let estimates = "--skce or --tests skce-u,skce-l";
        match self {
            KernelFlags {
                kernel: Some(_), ..
            } if !any => refuse("--kernel", estimates),
            KernelFlags {
                bandwidth: Some(_), ..
            } if !any => refuse("--bandwidth", estimates),
            KernelFlags {
                skce_null: Some(_), ..
            } if !unbiased => refuse("--skce-null", "--tests skce-u"),
            _ => Ok(()),
        }
    }

    fn options(&self, resamples: Option<u32>) -> SkceOptions {
        SkceOptions {
            kernel: self.kernel.unwrap_or_default(),
            bandwidth: self.bandwidth.unwrap_or_default(),
            null: self.skce_null.unwrap_or_default(),
            resamples: resamples.unwrap_or(skce::RESAMPLES),
            method: Method::Fastest,
        }
    }
}

/// A test, or all of them, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TestChoice {
    None,
    All,
    One(TestName),
}

impl FromStr for TestChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "none" => return Ok(TestChoice::None),
            "all" => return Ok(TestChoice::All),
            _ => {}
        }
        TestName::from_str(name, false)
            .map(TestChoice::One)
            .map_err(|_| {
                let known: Vec<&str> = TestName::ALL.iter().map(|test| test.as_str()).collect();
                format!(
                    "no test has this name; there are {}, and all and none",
                    known.join(", ")
                )
            })
    }
}

/// An interval around rankECE, or the bootstrap of the binned estimates and of SKCE, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
enum IntervalChoice {
    None,
    Bootstrap,
    One(IntervalName),
}

impl FromStr for IntervalChoice {
    type Err = IntervalNameError;

    fn from_str(name: &str) -> Result<Self, IntervalNameError> {
        match name {
            "none" => Ok(IntervalChoice::None),
            "bootstrap" => Ok(IntervalChoice::Bootstrap),
            _ => name.parse().map(IntervalChoice::One),
        }
    }
}

/// The limit of the gate.
fn limit(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok(limit),
        _ => Err("must be a number that is not negative".to_owned()),
    }
}

/// Each item once, in order.
fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}

impl Evaluate {
    /// Reads, computes, writes.
    ///
    /// # Errors
    /// What the user must be told.
    pub fn run(&self) -> Result<u8, Failure> {
        self.check()?;
        self.kernel.check(&self.test_names(), self.skce)?;
        self.check_resamples()?;
        let messages = Messages::new(self.common.quiet);
        let mut timings = Timings::default();
        let mut chosen = backend::choose(&self.common.backend, messages)?;
        if self.timings {
            chosen.time_stages();
        }
        timings.end("started", None);

        let files = self.read(messages)?;
        timings.end("read", Some(files.iter().map(rows_read).sum()));
        let stages = StageTimes::default();
        let results = self.compute(files, &chosen, messages, &stages)?;
        let rows = results.iter().map(|result| result.n).sum();
        timings.end("computed", Some(rows));

        chosen.warn_of_failure(messages);
        let (backend, adapter) = chosen.describe();
        let evaluation = Evaluation {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend,
            adapter,
            seed: self.common.seed,
            alpha: self.common.alpha,
            gate: self.max_rank_ece.map(|limit| overall_gate(&results, limit)),
            results,
        };
        if let Some(path) = &self.common.plot {
            let _progress = messages.progress("drawing".to_owned());
            plot::write(path, &evaluation)
                .map_err(|error| Failure::input(format!("--plot: {error}")))?;
        }
        let mut contents = Vec::new();
        report::write(self.common.format, &evaluation, &mut contents)
            .map_err(|error| Failure::input(format!("cannot write the results: {error}")))?;
        output::write(self.common.output.as_deref(), &contents)?;
        if self.timings {
            timings.end("wrote", None);
            timings.tell(&stages.take(), &chosen.take_stages());
        }
        Ok(match evaluation.gate.map(|gate| gate.verdict) {
            None | Some(Verdict::Within) => DONE,
            Some(Verdict::Exceeds) => GATE_NOT_MET,
            Some(Verdict::Undecided) => GATE_UNDECIDED,
        })
    }

    /// Refuses a number of resamples that nothing would draw.
    fn check_resamples(&self) -> Result<(), Failure> {
        let tests = self.test_names();
        let of_tests = tests.iter().any(|test| test.draws_null_resamples());
        let of_intervals = self.interval.iter().any(|choice| {
            matches!(
                choice,
                IntervalChoice::Bootstrap | IntervalChoice::One(IntervalName::Subsample)
            )
        });
        if self.resamples.is_some() && !of_tests && !of_intervals {
            return Err(Failure::input(
                "--resamples is for tests and intervals that resample, and none is asked for; add \
                 one of --tests monte-carlo,adaptive,ks,kuiper,skce-u or --interval \
                 subsample,bootstrap, or leave --resamples out",
            ));
        }
        Ok(())
    }

    /// Refuses what cannot work before anything is read.
    fn check(&self) -> Result<(), Failure> {
        self.check_choices()?;
        if self.files.iter().filter(|file| *file == "-").count() > 1 {
            return Err(Failure::input(
                "standard input (-) can be read only once; name it once",
            ));
        }
        if self.files.iter().any(String::is_empty) {
            return Err(Failure::input(
                "the name of a FILE is empty; is a variable of the shell unset?",
            ));
        }
        let inputs: Vec<&Path> = self
            .files
            .iter()
            .filter(|file| *file != "-")
            .map(Path::new)
            .chain(self.labels.as_deref())
            .collect();
        if let Some(path) = &self.common.output {
            output::spare_inputs("--output", path, &inputs)?;
            output::check_writable("--output", path)?;
        }
        if let Some(path) = &self.common.plot {
            plot::PlotFormat::of(path)
                .map_err(|error| Failure::input(format!("--plot: {error}")))?;
            output::spare_inputs("--plot", path, &inputs)?;
            output::check_writable("--plot", path)?;
            if let Some(output) = &self.common.output
                && output::same_file(path, output)
            {
                return Err(Failure::input(format!(
                    "--plot {}: --output names the same file, and one would be lost; give another \
                     name",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Refuses lists that contradict themselves.
    fn check_choices(&self) -> Result<(), Failure> {
        let none = |flag: &str, others: bool| match others {
            false => Ok(()),
            true => Err(Failure::input(format!(
                "{flag} none stands alone; leave out either `none` or the other names"
            ))),
        };
        let (tests, intervals) = (&self.tests, &self.interval);
        let no_tests = tests.contains(&TestChoice::None);
        none(
            "--tests",
            no_tests && tests.iter().any(|test| *test != TestChoice::None),
        )?;
        let no_intervals = intervals.contains(&IntervalChoice::None);
        none(
            "--interval",
            no_intervals && intervals.iter().any(|name| *name != IntervalChoice::None),
        )?;
        if no_intervals && let Some(limit) = self.max_rank_ece {
            return Err(Failure::input(format!(
                "--max-rank-ece {limit} holds an interval against a limit, but --interval none asks \
                 for none; name one, as --interval neighbour"
            )));
        }
        if intervals
            .iter()
            .all(|name| *name == IntervalChoice::Bootstrap)
        {
            return Err(Failure::input(format!(
                "--interval bootstrap: {}",
                IntervalNameError::Bootstrap
            )));
        }
        Ok(())
    }

    /// The tests, each once.
    fn test_names(&self) -> Vec<TestName> {
        distinct(self.tests.iter().flat_map(|choice| match choice {
            TestChoice::None => Vec::new(),
            TestChoice::All => TestName::ALL.to_vec(),
            TestChoice::One(test) => vec![*test],
        }))
    }

    fn read(&self, messages: Messages) -> Result<Vec<input::Loaded>, Failure> {
        let options = input::Options {
            confidence: self.confidence.clone(),
            label: self.label.clone(),
            group_by: self.group_by.clone(),
            reduce: self.reduce,
            positive: self.positive.clone(),
            labels_file: self.labels.clone(),
            skip_missing: self.skip_missing,
            confidences_only: false,
        };
        let mut files = Vec::with_capacity(self.files.len());
        for path in &self.files {
            let progress = messages.progress(format!("reading {path}"));
            let mut loaded = input::read(path, &options)?;
            drop(progress);
            for note in loaded.notes.drain(..) {
                messages.note(&note);
            }
            files.push(loaded);
        }
        Ok(files)
    }

    fn compute(
        &self,
        files: Vec<input::Loaded>,
        chosen: &Chosen,
        messages: Messages,
        stages: &StageTimes,
    ) -> Result<Vec<Evaluated>, Failure> {
        let options = Options {
            ties: self.ties,
            bins: distinct(self.bins.iter().copied()),
            schemes: distinct(self.bin_scheme.iter().copied()),
            closed: self.closed,
            tests: self.test_names(),
            resamples: self.resamples,
            intervals: distinct(self.interval.iter().filter_map(|choice| match choice {
                IntervalChoice::One(name) => Some(*name),
                IntervalChoice::None | IntervalChoice::Bootstrap => None,
            })),
            bootstrap: self.interval.contains(&IntervalChoice::Bootstrap),
            alpha: self.common.alpha,
            seed: self.common.seed,
            max_rank_ece: self.max_rank_ece,
            skce: self.skce,
            skce_options: self.kernel.options(self.resamples),
        };
        let _progress = messages.progress("computing".to_owned());
        let mut results: Vec<(usize, Evaluated)> = Vec::new();
        for merged in input::merge(files) {
            let sizes = merged
                .batch
                .offsets()
                .windows(2)
                .map(|ends| ends[1] - ends[0]);
            if let Some(rows) = sizes.max()
                && rows > ROWS_OF_QUICK_PAIRS
                && options.compares_all_pairs()
            {
                messages.note(&format!(
                    "a Gaussian kernel is taken of all pairs of {rows} rows, which takes n² time; \
                     --kernel laplace takes n log n"
                ));
            }
            let evaluated = evaluate::evaluate_in_stages(
                merged.batch,
                merged.segments,
                &options,
                chosen.backend(),
                stages,
            )?;
            results.extend(std::iter::zip(merged.places, evaluated));
        }
        results.sort_by_key(|(place, _)| *place);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }
}

/// The rows of a file, those left out too. With class-wise reduction each class has all of them.
fn rows_read(file: &input::Loaded) -> u64 {
    let sizes = file
        .batch
        .offsets()
        .windows(2)
        .map(|ends| ends[1] - ends[0]);
    std::iter::zip(&file.segments, sizes)
        .filter(|(segment, _)| segment.class.unwrap_or(0) == 0)
        .map(|(segment, rows)| segment.skipped + rows as u64)
        .sum()
}
