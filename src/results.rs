//! What `evaluate` finds out: the shape of its JSON (specification, section 8), which every report
//! reads.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::backend::gpu::adapters::Adapter;
use crate::backend::kernels::{Kernel, SkceNull};
use crate::backend::{Closed, Scheme, Ties};
use crate::predictions::{Dtype, Reduction};

/// All results of one run.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Version of this shape.
    pub schema: u32,
    /// Version of rankece.
    pub version: String,
    /// `cpu` or `gpu`.
    pub backend: &'static str,
    /// The adapter that computed, on the GPU.
    pub adapter: Option<Adapter>,
    /// The seed of everything random.
    pub seed: u64,
    /// The level of tests; intervals hold with probability 1 - alpha.
    pub alpha: f64,
    /// The gate over all results, if one was asked for.
    pub gate: Option<Gate>,
    /// One for each file, group or class.
    pub results: Vec<Evaluated>,
}

/// The gate of a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The largest rankECE that is accepted.
    pub limit: f64,
    /// The worst verdict over the results.
    pub verdict: Verdict,
}

/// Where an interval lies beside a limit. In the order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The interval's upper end is at most the limit.
    Within,
    /// The limit lies inside the interval, or the interval is undefined.
    Undecided,
    /// The interval's lower end is above the limit.
    Exceeds,
}

/// Everything about one sample.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluated {
    /// The file.
    pub source: String,
    /// The group: column and value.
    pub group: Option<BTreeMap<String, String>>,
    /// How predictions became confidences.
    pub reduction: Reduction,
    /// The class of `class-wise`.
    pub class: Option<usize>,
    /// Type of the confidences.
    pub dtype: Dtype,
    /// Rows used.
    pub n: u64,
    /// Rows left out because something was missing (`--skip-missing`).
    pub skipped: u64,
    /// Distinct confidences.
    pub distinct: u64,
    /// Rows that share their confidence with another.
    pub tied_rows: u64,
    /// Mean label; none without rows.
    pub base_rate: Option<f64>,
    /// Mean confidence.
    pub mean_confidence: Option<f64>,
    /// Brier score, the mean squared residual.
    pub brier: Option<f64>,
    /// Mean negative log likelihood, natural, probabilities clamped at 1e-15.
    pub log_loss: Option<f64>,
    /// How many rows were clamped.
    pub log_loss_clamped: u64,
    /// How many rows have a label that contradicts a confidence of exactly 0 or 1. One is enough to rule
    /// out perfect calibration, whatever tests say: their null law never draws such a label.
    pub impossible_labels: u64,
    /// This result's side of the gate.
    pub gate: Option<Verdict>,
    /// The tuning-free estimate.
    pub rank_ece: RankEce,
    /// Tests of perfect calibration.
    pub tests: Vec<TestResult>,
    /// Binned estimates, one for each binning.
    pub binned: Vec<Binned>,
    /// Kernel estimates; none if not asked for, nor a test that is made of them.
    pub skce: Option<SkceEstimates>,
}

/// Estimates of the squared kernel calibration error.
#[derive(Clone, Debug, Serialize)]
pub struct SkceEstimates {
    /// The kernel.
    pub kernel: Kernel,
    /// How the bandwidth was chosen: `median`, or a number as given.
    pub bandwidth_rule: String,
    /// γ, the bandwidth; none where the median distance is 0, and then no estimate either.
    pub bandwidth: Option<f64>,
    /// 2/(n(n-1)) Σ_{i<j} h_ij; none with fewer than two rows.
    pub unbiased: Option<f64>,
    /// (1/n²) Σ_{i,j} h_ij.
    pub biased: Option<f64>,
    /// The mean of h over disjoint pairs in input order.
    pub linear: Option<f64>,
    /// The law of the resamples, if the test `skce-u` was asked for.
    pub null: Option<SkceNull>,
    /// Why there is no estimate.
    pub undefined: Option<String>,
    /// Confidence intervals: a bootstrap interval around the unbiased estimate, or none at all.
    pub intervals: Vec<EstimatorInterval>,
}

/// rankECE with its intervals.
#[derive(Clone, Debug, Serialize)]
pub struct RankEce {
    /// The estimate of ℓ2-ECE = E[(E[Y|Z]-Z)²], signed; none without rows.
    pub estimate: Option<f64>,
    /// How ties were ordered.
    pub ties: Ties,
    /// Bound on the excess risk of the plug-in decision, from the estimate.
    pub decision_risk_bound: Option<f64>,
    /// The same from the upper end of the first interval.
    pub decision_risk_bound_upper: Option<f64>,
    /// Confidence intervals.
    pub intervals: Vec<Interval>,
}

/// A confidence interval.
#[derive(Clone, Debug, Serialize)]
pub struct Interval {
    /// `neighbour`, `concentration`, `subsample` or `bootstrap`.
    pub method: &'static str,
    /// 1 - alpha.
    pub level: f64,
    /// Lower end.
    pub lower: Option<f64>,
    /// Upper end.
    pub upper: Option<f64>,
    /// Why there is none.
    pub undefined: Option<String>,
    /// The number of resamples it comes from; none if it comes from none.
    pub resamples: Option<u64>,
    /// The rows of each, of a subsample.
    pub subsample_rows: Option<u32>,
}

/// The confidence interval of one of several estimates.
#[derive(Clone, Debug, Serialize)]
pub struct EstimatorInterval {
    /// The estimate: `ece_l1`, `ece_l2`, `ece_rms`, `ece_l2_debiased` or `mce`; of SKCE `unbiased`.
    pub estimator: &'static str,
    /// Its interval.
    #[serde(flatten)]
    pub interval: Interval,
}

/// One test of the hypothesis that E[Y|Z] = Z.
#[derive(Clone, Debug, Serialize)]
pub struct TestResult {
    /// Its name in `--tests`.
    pub name: &'static str,
    /// The statistic.
    pub statistic: Option<f64>,
    /// What the statistic (for `spiegelhalter` its magnitude) must exceed to reject; none for a test
    /// by resampling, which is decided on its p-value.
    pub threshold: Option<f64>,
    /// The p-value.
    pub p_value: Option<f64>,
    /// The asymptotic p-value of a resampling test.
    pub p_value_asymptotic: Option<f64>,
    /// Whether calibration is rejected at level alpha.
    pub reject: Option<bool>,
    /// Why the test is undefined.
    pub undefined: Option<String>,
    /// What a reader must know of this result.
    pub note: Option<String>,
    /// Number of null resamples, for a resampling test.
    pub resamples: Option<u64>,
    /// Standardised window sums, for `adaptive`.
    pub profile: Option<Vec<WindowSum>>,
}

/// Σ W_(i) W_(j) over pairs of rows at most `window` ranks apart, W the mean residual of a row's tied
/// group: at which scale of ranks errors have one sign.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WindowSum {
    /// L, the most ranks between two rows.
    pub window: u32,
    /// The sum less the mean, over the standard deviation, of it and its null resamples; none if they
    /// are all equal.
    pub standardised: Option<f64>,
}

/// One binned estimate.
#[derive(Clone, Debug, Serialize)]
pub struct Binned {
    /// How edges are laid.
    pub scheme: Scheme,
    /// Which end of an equal-width bin is inside it; none for equal-mass.
    pub closed: Option<Closed>,
    /// The rule for the number of bins, as given.
    pub rule: String,
    /// The number of bins asked for.
    pub bins: u32,
    /// The number of bins with rows in them.
    pub effective_bins: u64,
    /// Σ (n_j/n) |gap_j|; none without rows, as all below.
    pub ece_l1: Option<f64>,
    /// Σ (n_j/n) gap_j², a square.
    pub ece_l2: Option<f64>,
    /// √ece_l2.
    pub ece_rms: Option<f64>,
    /// ece_l2 less the variance of the bins' mean labels.
    pub ece_l2_debiased: Option<f64>,
    /// The largest |gap_j|.
    pub mce: Option<f64>,
    /// Confidence intervals: one for each estimate, or none at all.
    pub intervals: Vec<EstimatorInterval>,
    /// The bins: all of them for equal-width, those with rows for equal-mass.
    pub table: Vec<Bin>,
}

/// One bin.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Lower edge (equal-mass: smallest confidence inside).
    pub lower: f64,
    /// Upper edge (equal-mass: largest confidence inside).
    pub upper: f64,
    /// Rows.
    pub n: u64,
    /// Their mean confidence; none in an empty bin, as below.
    pub mean_confidence: Option<f64>,
    /// Their mean label.
    pub mean_label: Option<f64>,
    /// Mean label less mean confidence.
    pub gap: Option<f64>,
}
