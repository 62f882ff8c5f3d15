//! From batches of predictions to everything there is to know about their calibration.

use std::ops::Range;

use rayon::prelude::*;

use crate::backend::cpu::Cpu;
use crate::backend::kernels::{Kernel, SortedRows};
use crate::backend::resamples::{sample_key, tied_groups};
use crate::backend::stages::StageTimes;
use crate::backend::{Backend, Binning, Closed, DeviceError, Request, Scheme, SegmentSums, Ties};
use crate::inference::decision_risk::decision_risk;
use crate::inference::gate;
use crate::inference::intervals::{self, IntervalName, SubsampleEstimates};
use crate::inference::tests_of_calibration::{self as tests, LabelOutcome, TestName};
use crate::input::SegmentInfo;
use crate::predictions::{Batch, BatchError, Confidence, Dtype, Reduction, Word};
use crate::random::{Key, Stream};
use crate::resampling::{LabelledGroups, default_resamples, label_tests};
use crate::results::{Binned, EstimatorInterval, Evaluated, Gate, RankEce, SkceEstimates, Verdict};
use crate::row_resampling::{
    DEFAULT_SUBSAMPLES, Resampled, bootstrap_intervals, default_skce_resamples, skce_interval,
    subsample_estimates,
};
use crate::statistic::log_loss::{LogLossSums, log_loss};
use crate::statistic::skce::{Pending, Skce, SkceOptions, Wanted, add_sums};
use crate::statistic::{BinsRule, TooManyBins, binned};
use crate::with_words;

/// What to compute, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The order of rows of equal confidence.
    pub ties: Ties,
    /// Rules for the numbers of bins.
    pub bins: Vec<BinsRule>,
    /// How bins are laid; each rule is computed for each of these.
    pub schemes: Vec<Scheme>,
    /// The closed side of equal-width bins.
    pub closed: Closed,
    /// Tests of calibration.
    pub tests: Vec<TestName>,
    /// Resamples of tests and intervals that need them; none: [`default_resamples`] of the number of
    /// rows, but 999 subsamples.
    pub resamples: Option<u32>,
    /// Intervals around rankECE; the gate and the upper risk bound use the first.
    pub intervals: Vec<IntervalName>,
    /// Whether the binned estimates, and SKCE if it is estimated, have bootstrap intervals.
    pub bootstrap: bool,
    /// The level of tests; intervals hold with probability 1 - alpha.
    pub alpha: f64,
    /// The seed of everything random.
    pub seed: u64,
    /// The largest rankECE that is accepted, if there is a gate.
    pub max_rank_ece: Option<f64>,
    /// Whether SKCE is estimated; its tests bring the estimates they need.
    pub skce: bool,
    /// How SKCE and its tests are computed.
    pub skce_options: SkceOptions,
}

impl Options {
    /// Whether the estimates of SKCE or a test made of them are asked for.
    fn asks_for_skce(&self) -> bool {
        self.skce || self.tests.iter().any(|test| test.uses_kernel())
    }

    /// Whether an interval is asked for that resamples rows.
    fn resamples_rows(&self) -> bool {
        self.bootstrap || self.intervals.contains(&IntervalName::Subsample)
    }

    /// Whether SKCE is asked for with a kernel that takes all pairs of rows.
    pub fn compares_all_pairs(&self) -> bool {
        (self.skce || self.tests.contains(&TestName::SkceU))
            && self.skce_options.kernel == Kernel::Gaussian
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            ties: Ties::default(),
            bins: vec![BinsRule::default()],
            schemes: vec![Scheme::default()],
            closed: Closed::default(),
            tests: TestName::DEFAULT.to_vec(),
            resamples: None,
            intervals: IntervalName::DEFAULT.to_vec(),
            bootstrap: false,
            alpha: 0.05,
            seed: 1,
            max_rank_ece: None,
            skce: false,
            skce_options: SkceOptions::default(),
        }
    }
}

/// Why an evaluation stopped.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluateError {
    /// The rows are not confidences with their labels.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The device failed, and no CPU stands behind it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A rule gave too many bins.
    #[error(transparent)]
    Bins(#[from] TooManyBins),
    /// The bins of all results together are too many.
    #[error(
        "--bins and --bin-scheme ask for {bins} bins over {segments} results; the most is \
         {MOST_BINS_IN_ALL} in all; ask for fewer, or evaluate fewer files or groups at a time"
    )]
    BinsInAll {
        /// The bins.
        bins: u64,
        /// The results.
        segments: usize,
    },
}

/// The most bins of one batch, over all its segments and binnings; they take some gigabytes.
pub const MOST_BINS_IN_ALL: u64 = 1 << 26;

/// Evaluates every segment of a batch; `segments` tells what each is.
///
/// # Errors
/// If the backend fails, or rules ask for too many bins.
///
/// # Panics
/// If `segments` are not as many as the batch has.
pub fn evaluate(
    batch: Batch,
    segments: Vec<SegmentInfo>,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Vec<Evaluated>, EvaluateError> {
    evaluate_in_stages(batch, segments, options, backend, &StageTimes::default())
}

/// As [`evaluate()`], and adds to `stages` how long each stage took that was asked for: log loss, tests
/// by resampling, SKCE, sums over rows, intervals by resampling, estimates. They come one after the
/// other, so that their times do not overlap.
///
/// # Errors
/// As [`evaluate()`].
///
/// # Panics
/// As [`evaluate()`].
pub fn evaluate_in_stages(
    mut batch: Batch,
    segments: Vec<SegmentInfo>,
    options: &Options,
    backend: &dyn Backend,
    stages: &StageTimes,
) -> Result<Vec<Evaluated>, EvaluateError> {
    assert_eq!(segments.len(), batch.segments());
    let dtype = batch.dtype();
    let (request, rules) = request(&batch, options)?;
    let losses = stages.time("log loss", || log_loss(&batch));
    // Before the backend sorts: disjoint pairs are those of the input.
    let skce = match options.asks_for_skce() {
        true => stages.time("SKCE", || skce(&batch, options, backend))?,
        false => vec![None; batch.segments()],
    };
    let labels = match options.tests.iter().any(|test| test.is_of_labels()) {
        true => stages.time("tests by resampling", || {
            tests_of_labels(&batch, options, backend)
        })?,
        false => vec![Vec::new(); batch.segments()],
    };
    let sums = stages.time("sums over rows", || backend.sums(&mut batch, &request))?;
    let numbers = sums.iter().zip(losses).zip(&labels).zip(skce);
    std::iter::zip(segments, numbers)
        .enumerate()
        .map(|(index, (info, (((sums, loss), labels), skce)))| {
            let segment = Segment {
                dtype,
                index,
                sums,
                loss,
                labels,
                skce,
                request: &request,
                rules: &rules,
            };
            let resampled = match options.resamples_rows() {
                true => stages.time("intervals by resampling", || {
                    resampled_rows(&batch, index, sums, segment.skce.as_ref(), options, backend)
                })?,
                false => ResampledRows::default(),
            };
            Ok(stages.time("estimates", || segment.evaluated(info, resampled, options)))
        })
        .collect()
}

/// Evaluates one sample on the CPU: confidences in \[0, 1\] with their labels, row by row.
///
/// The result's `source` is empty, as there is no file.
///
/// # Errors
/// If the lengths differ, a confidence is NaN or outside \[0, 1\], there are 2³² rows or more, or a
/// rule asks for too many bins.
pub fn evaluate_slices<C: Confidence>(
    confidences: &[C],
    labels: &[bool],
    options: &Options,
) -> Result<Evaluated, EvaluateError> {
    let batch = Batch::from_slices(confidences, labels)?;
    let sample = SegmentInfo {
        source: String::new(),
        group: None,
        reduction: Reduction::Binary,
        class: None,
        skipped: 0,
    };
    let mut results = evaluate(batch, vec![sample], options, &Cpu::default())?;
    // A batch from slices has one segment, so there is one result.
    Ok(results.remove(0))
}

/// What to ask of the backend, and the rule of each binning.
fn request(batch: &Batch, options: &Options) -> Result<(Request, Vec<BinsRule>), EvaluateError> {
    check_bins(batch, options)?;
    let mut binnings = Vec::new();
    let mut rules = Vec::new();
    for &scheme in &options.schemes {
        for &rule in &options.bins {
            let bins = batch
                .offsets()
                .windows(2)
                .map(|pair| rule.bins((pair[1] - pair[0]) as u64))
                .collect::<Result<_, _>>()?;
            binnings.push(Binning {
                scheme,
                closed: options.closed,
                bins,
            });
            rules.push(rule);
        }
    }
    let neighbours = options.intervals.contains(&IntervalName::Neighbour);
    let request = Request {
        ties: options.ties,
        ties_key: Key::for_stream(options.seed, Stream::Ties, 0),
        neighbour_key: neighbours.then(|| Key::for_stream(options.seed, Stream::Neighbour, 0)),
        binnings,
    };
    Ok((request, rules))
}

/// Rows, and segments, that are brought into tied groups or sorted for SKCE at a time, so that these do
/// not take much more memory than the batch.
const MOST_GROUPED: (usize, usize) = (1 << 22, 1 << 10);

/// The tests of each segment that look at labels.
fn tests_of_labels(
    batch: &Batch,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Vec<Vec<(TestName, LabelOutcome)>>, DeviceError> {
    let segments: Vec<_> = batch.offsets().windows(2).map(|o| o[0]..o[1]).collect();
    // A result must not depend on the other results, so all samples are the first of their point.
    let key = sample_key(Key::for_stream(options.seed, Stream::Null, 0), 0);
    let resamples = |rows: usize| {
        let default = || default_resamples(rows as u64);
        options.resamples.unwrap_or_else(default)
    };
    let mut tests = Vec::with_capacity(segments.len());
    let mut rest = &segments[..];
    while let Some(first) = rest.first() {
        let wanted = resamples(first.len());
        let mut rows = 0;
        let fitting = rest.iter().take(MOST_GROUPED.1).take_while(|segment| {
            rows += segment.len();
            (rows <= MOST_GROUPED.0 || rows == segment.len()) && resamples(segment.len()) == wanted
        });
        let (now, later) = rest.split_at(fitting.count().max(1));
        let samples: Vec<LabelledGroups> = now
            .par_iter()
            .map(|segment| {
                let (groups, positives) = tied_groups(batch.rows(), segment.clone());
                LabelledGroups {
                    groups,
                    positives,
                    key,
                }
            })
            .collect();
        tests.extend(label_tests(&samples, &options.tests, wanted, backend)?);
        rest = later;
    }
    Ok(tests)
}

/// What resamples of the rows of one segment tell.
#[derive(Default)]
struct ResampledRows {
    /// For the interval from subsamples.
    subsamples: Option<SubsampleEstimates>,
    /// Intervals of the estimates of each binning; empty if none were asked for.
    binned: Vec<Vec<EstimatorInterval>>,
    /// Intervals of SKCE; empty if none were asked for.
    skce: Vec<EstimatorInterval>,
}

/// Resamples the rows of a segment as intervals ask for it.
fn resampled_rows(
    batch: &Batch,
    index: usize,
    sums: &SegmentSums,
    skce: Option<&Skce>,
    options: &Options,
    backend: &dyn Backend,
) -> Result<ResampledRows, DeviceError> {
    let mut resampled = ResampledRows::default();
    let range = batch.offsets()[index]..batch.offsets()[index + 1];
    if options.intervals.contains(&IntervalName::Subsample) {
        let count = options.resamples.unwrap_or(DEFAULT_SUBSAMPLES);
        resampled.subsamples =
            subsample_estimates(batch.rows(), range.clone(), options.seed, count, backend)?;
    }
    if options.bootstrap {
        let default = || default_resamples(range.len() as u64);
        let how = Resampled {
            seed: options.seed,
            resamples: options.resamples.unwrap_or_else(default),
            alpha: options.alpha,
        };
        let rows = range.clone();
        resampled.binned = bootstrap_intervals(batch.rows(), rows, sums, &how, backend)?;
        if let Some(skce) = skce.filter(|_| options.skce) {
            let default =
                || default_skce_resamples(range.len() as u64, options.compares_all_pairs());
            let how = Resampled {
                resamples: options.resamples.unwrap_or_else(default),
                ..how
            };
            let method = options.skce_options.method;
            let interval = skce_interval(batch.rows(), range, skce, method, &how);
            resampled.skce.push(interval);
        }
    }
    Ok(resampled)
}

/// Counts bins before there is memory for any.
fn check_bins(batch: &Batch, options: &Options) -> Result<(), EvaluateError> {
    let mut bins = 0u64;
    for rule in &options.bins {
        for pair in batch.offsets().windows(2) {
            let of_one = u64::from(rule.bins((pair[1] - pair[0]) as u64)?);
            bins = bins.saturating_add(of_one.saturating_mul(options.schemes.len() as u64));
        }
    }
    if bins > MOST_BINS_IN_ALL {
        return Err(EvaluateError::BinsInAll {
            bins,
            segments: batch.segments(),
        });
    }
    Ok(())
}

/// The integers of one segment.
struct Segment<'a> {
    dtype: Dtype,
    index: usize,
    sums: &'a SegmentSums,
    loss: LogLossSums,
    labels: &'a [(TestName, LabelOutcome)],
    skce: Option<Skce>,
    request: &'a Request,
    rules: &'a [BinsRule],
}

impl Segment<'_> {
    /// The numbers of one segment.
    fn evaluated(
        &self,
        info: SegmentInfo,
        resampled: ResampledRows,
        options: &Options,
    ) -> Evaluated {
        let sums = self.sums;
        let rows = sums.rows as f64;
        let defined = |value: f64| (sums.rows > 0).then_some(value);
        let estimate = defined(sums.rank_ece as f64 / (1u64 << 60) as f64 / rows);
        let intervals = intervals::run(
            &options.intervals,
            sums,
            resampled.subsamples.as_ref(),
            options.ties,
            options.alpha,
        );
        let risk = |value: Option<f64>| value.and_then(|value| decision_risk(value, sums.rows));
        let upper = intervals.first().and_then(|interval| interval.upper);
        let gate = options.max_rank_ece.map(|limit| {
            intervals.first().map_or(Verdict::Undecided, |interval| {
                gate::verdict(interval, limit)
            })
        });
        let mut binned: Vec<Binned> = self
            .request
            .binnings
            .iter()
            .zip(self.rules)
            .zip(&sums.binned)
            .map(|((binning, &rule), bins)| binned(self.dtype, bins, binning, self.index, rule))
            .collect();
        for (binned, intervals) in binned.iter_mut().zip(resampled.binned) {
            binned.intervals = intervals;
        }
        let mut tests = tests::run(
            &options.tests,
            sums,
            self.labels,
            self.skce.as_ref(),
            options.ties,
            options.alpha,
        );
        tests::tell_impossible_labels(&mut tests, self.loss.impossible);
        Evaluated {
            source: info.source,
            group: info.group,
            reduction: info.reduction,
            class: info.class,
            dtype: self.dtype,
            n: sums.rows,
            skipped: info.skipped,
            distinct: sums.distinct,
            tied_rows: sums.tied_rows,
            base_rate: defined(sums.positives as f64 / rows),
            mean_confidence: defined(sums.confidence as f64 / (1u64 << 30) as f64 / rows),
            brier: defined(sums.brier as f64 / (1u64 << 60) as f64 / rows),
            log_loss: self.loss.mean(sums.rows),
            log_loss_clamped: self.loss.clamped,
            impossible_labels: self.loss.impossible,
            gate,
            rank_ece: RankEce {
                estimate,
                ties: options.ties,
                decision_risk_bound: risk(estimate),
                decision_risk_bound_upper: risk(upper),
                intervals,
            },
            tests,
            binned,
            skce: self.skce.as_ref().map(|skce| SkceEstimates {
                intervals: resampled.skce,
                ..estimates(skce, options)
            }),
        }
    }
}

/// SKCE of each segment.
fn skce(
    batch: &Batch,
    options: &Options,
    backend: &dyn Backend,
) -> Result<Vec<Option<Skce>>, DeviceError> {
    let asks = |name| options.tests.contains(&name);
    let (unbiased, linear) = (asks(TestName::SkceU), asks(TestName::SkceL));
    let own = &options.skce_options;
    let wanted = Wanted {
        all_pairs: options.skce,
        resamples: unbiased.then(|| Key::for_stream(options.seed, own.stream(), 0).child(0, 0)),
        disjoint_pairs: options.skce || linear,
    };
    let dtype = batch.dtype();
    let pending = |range: Range<usize>| {
        with_words!(batch.rows(), words => {
            let words = &words[range];
            let in_order = words.iter().map(|word| {
                (dtype.value(word.confidence_bits()), word.label())
            });
            let sorted = SortedRows::of_words(dtype, words);
            Pending {
                skce: Skce::without_sums(own, wanted, &sorted, in_order),
                wanted,
                sorted,
            }
        })
    };
    let ends = batch.offsets().windows(2);
    let segments: Vec<Range<usize>> = ends.map(|pair| pair[0]..pair[1]).collect();
    let mut all = Vec::with_capacity(segments.len());
    let mut rest = &segments[..];
    while !rest.is_empty() {
        // Several small segments keep a device busy together.
        let mut rows = 0;
        let fitting = rest.iter().take(MOST_GROUPED.1).take_while(|segment| {
            rows += segment.len();
            rows <= MOST_GROUPED.0
        });
        let (now, later) = rest.split_at(fitting.count().max(1));
        let now = now.par_iter().cloned().map(pending).collect();
        all.extend(add_sums(own, now, backend)?.into_iter().map(Some));
        rest = later;
    }
    Ok(all)
}

/// What is shown of SKCE.
fn estimates(skce: &Skce, options: &Options) -> SkceEstimates {
    let own = &options.skce_options;
    let resampled = options.tests.contains(&TestName::SkceU);
    SkceEstimates {
        kernel: skce.kernel,
        bandwidth_rule: own.bandwidth.to_string(),
        bandwidth: skce.bandwidth.ok(),
        unbiased: skce.unbiased(),
        biased: skce.biased(),
        linear: skce.linear(),
        null: resampled.then_some(skce.null),
        undefined: skce.bandwidth.err().map(|why| why.to_string()),
        intervals: Vec::new(),
    }
}

/// The gate over all results: the worst of them. An evaluation without results is undecided.
pub fn overall_gate(results: &[Evaluated], limit: f64) -> Gate {
    let verdict = results
        .iter()
        .filter_map(|result| result.gate)
        .max()
        .unwrap_or(Verdict::Undecided);
    Gate { limit, verdict }
}
