//! Evaluations to report.

use std::collections::BTreeMap;

use rankece::backend::gpu::adapters::Adapter;
use rankece::backend::{Closed, Scheme, Ties};
use rankece::predictions::{Dtype, Reduction};
use rankece::results::{
    Bin, Binned, Evaluated, Evaluation, Gate, Interval, RankEce, TestResult, Verdict,
};

/// The example of the article: confidences 0.55, 0.65, 0.85, 0.95, labels 1, 0, 1, 1.
///
/// Residuals .45 -.65 .15 .05, so rankECE = (-.2925 - .0975 + .0075)/4 = -0.095625 and the Brier
/// score is (.2025 + .4225 + .0225 + .0025)/4 = 0.1625. With four bins all rows are in the upper
/// two: mean confidences 0.6 and 0.9, mean labels 0.5 and 1, gaps -0.1 and 0.1.
pub fn article() -> Evaluation {
    Evaluation {
        schema: 1,
        version: "0.1.0".to_owned(),
        backend: "cpu",
        adapter: None,
        seed: 1,
        alpha: 0.05,
        gate: None,
        results: vec![article_result()],
    }
}

pub fn article_result() -> Evaluated {
    Evaluated {
        source: "article.csv".to_owned(),
        group: None,
        reduction: Reduction::Binary,
        class: None,
        dtype: Dtype::F64,
        n: 4,
        skipped: 0,
        distinct: 4,
        tied_rows: 0,
        base_rate: Some(0.75),
        mean_confidence: Some(0.75),
        brier: Some(0.1625),
        // -(ln .55 + ln .35 + ln .85 + ln .95)/4
        log_loss: Some(0.465_367_837),
        log_loss_clamped: 0,
        impossible_labels: 0,
        gate: None,
        rank_ece: RankEce {
            estimate: Some(-0.095625),
            ties: Ties::Average,
            // sqrt(0 + 8 · 2 / 4)
            decision_risk_bound: Some(2.0),
            decision_risk_bound_upper: None,
            intervals: vec![
                interval("neighbour", None, Some("all moments are 0")),
                // sqrt(81 log 40 / 128) = 1.527864 on either side
                interval("concentration", Some((-1.623489, 1.432239)), None),
            ],
        },
        tests: vec![
            test("asymptotic", -1.054696, 1.644854, 0.854218, false),
            test("finite-sample", -0.3825, 5.177326, 1.0, false),
            TestResult {
                statistic: None,
                threshold: None,
                p_value: None,
                reject: None,
                undefined: Some("its own null variance is 0".to_owned()),
                ..test("conditional", 0.0, 0.0, 0.0, false)
            },
        ],
        binned: vec![Binned {
            scheme: Scheme::EqualWidth,
            closed: Some(Closed::Right),
            rule: "4".to_owned(),
            bins: 4,
            effective_bins: 2,
            ece_l1: Some(0.1),
            ece_l2: Some(0.01),
            ece_rms: Some(0.1),
            // 0.01 - (2/4)(1/4)
            ece_l2_debiased: Some(-0.115),
            mce: Some(0.1),
            intervals: vec![],
            table: vec![
                empty_bin(0.0, 0.25),
                empty_bin(0.25, 0.5),
                bin(0.5, 0.75, 2, 0.6, 0.5),
                bin(0.75, 1.0, 2, 0.9, 1.0),
            ],
        }],
        skce: None,
    }
}

pub fn interval(
    method: &'static str,
    ends: Option<(f64, f64)>,
    undefined: Option<&str>,
) -> Interval {
    Interval {
        method,
        level: 0.95,
        lower: ends.map(|(lower, _)| lower),
        upper: ends.map(|(_, upper)| upper),
        undefined: undefined.map(str::to_owned),
        resamples: None,
        subsample_rows: None,
    }
}

pub fn test(
    name: &'static str,
    statistic: f64,
    threshold: f64,
    p: f64,
    reject: bool,
) -> TestResult {
    TestResult {
        name,
        statistic: Some(statistic),
        threshold: Some(threshold),
        p_value: Some(p),
        p_value_asymptotic: None,
        reject: Some(reject),
        undefined: None,
        note: None,
        resamples: None,
        profile: None,
    }
}

pub fn bin(lower: f64, upper: f64, n: u64, mean_confidence: f64, mean_label: f64) -> Bin {
    Bin {
        lower,
        upper,
        n,
        mean_confidence: Some(mean_confidence),
        mean_label: Some(mean_label),
        gap: Some(mean_label - mean_confidence),
    }
}

pub fn empty_bin(lower: f64, upper: f64) -> Bin {
    Bin {
        lower,
        upper,
        n: 0,
        mean_confidence: None,
        mean_label: None,
        gap: None,
    }
}

/// `bins` equal-width bins with a U-shaped share of `n` rows and an S-shaped miscalibration.
pub fn wavy(bins: u32, n: u64) -> Binned {
    let k = f64::from(bins);
    let shape: Vec<f64> = (0..bins)
        .map(|j| 0.15 + (2.0 * (f64::from(j) + 0.5) / k - 1.0).powi(2))
        .collect();
    let total: f64 = shape.iter().sum();
    let table = (0..bins)
        .map(|j| {
            let (lower, upper) = (f64::from(j) / k, f64::from(j + 1) / k);
            let middle = f64::midpoint(lower, upper);
            let rows = (n as f64 * shape[j as usize] / total).round() as u64;
            if rows == 0 {
                return empty_bin(lower, upper);
            }
            let label = middle - 0.08 * (std::f64::consts::TAU * middle).sin();
            bin(lower, upper, rows, middle, label)
        })
        .collect();
    Binned {
        rule: bins.to_string(),
        bins,
        effective_bins: bins.into(),
        ece_l1: Some(0.0509),
        ece_l2: Some(0.0032),
        ece_rms: Some(0.0566),
        ece_l2_debiased: Some(0.0031),
        mce: Some(0.08),
        table,
        ..article_result().binned.remove(0)
    }
}

/// One result with the given bins.
pub fn with_bins(binned: Binned) -> Evaluation {
    let mut evaluation = article();
    let result = &mut evaluation.results[0];
    result.source = "predictions.parquet".to_owned();
    result.n = binned.table.iter().map(|bin| bin.n).sum();
    result.distinct = result.n;
    result.rank_ece.estimate = Some(0.003214567);
    result.rank_ece.intervals = vec![interval("neighbour", Some((0.00271, 0.003719)), None)];
    result.rank_ece.decision_risk_bound_upper = Some(0.08);
    result.tests = vec![
        test("asymptotic", 4.2, 1.644854, 0.0000133, true),
        test("conditional", 4.3, 1.644854, 0.0, true),
        test("finite-sample", 12.5, 25.25, 0.31, false),
    ];
    result.binned = vec![binned];
    evaluation
}

/// No rows at all.
pub fn nothing() -> Evaluation {
    let mut evaluation = article();
    let result = &mut evaluation.results[0];
    (result.n, result.distinct) = (0, 0);
    result.base_rate = None;
    result.mean_confidence = None;
    result.brier = None;
    result.log_loss = None;
    result.rank_ece.estimate = None;
    result.rank_ece.decision_risk_bound = None;
    for interval in &mut result.rank_ece.intervals {
        (interval.lower, interval.upper) = (None, None);
        interval.undefined = Some("there are no rows".to_owned());
    }
    for test in &mut result.tests {
        *test = TestResult {
            statistic: None,
            threshold: None,
            p_value: None,
            reject: None,
            undefined: Some("there are no rows".to_owned()),
            ..test.clone()
        };
    }
    let binned = &mut result.binned[0];
    binned.ece_l1 = None;
    binned.ece_l2 = None;
    binned.ece_rms = None;
    binned.ece_l2_debiased = None;
    binned.mce = None;
    binned.effective_bins = 0;
    for bin in &mut binned.table {
        *bin = empty_bin(bin.lower, bin.upper);
    }
    evaluation
}

/// `count` groups of one file, every tenth rejected by one of three tests, on a GPU, with a gate.
pub fn groups(count: usize) -> Evaluation {
    let mut evaluation = with_bins(wavy(10, 5_000));
    evaluation.backend = "gpu";
    evaluation.adapter = Some(Adapter {
        name: "NVIDIA H200".to_owned(),
        driver: "570.86".to_owned(),
        kind: "discrete",
    });
    evaluation.gate = Some(Gate {
        limit: 0.003,
        verdict: Verdict::Undecided,
    });
    let template = evaluation.results.remove(0);
    evaluation.results = (0..count)
        .map(|number| {
            let mut result = template.clone();
            result.group = Some(BTreeMap::from([
                ("season".to_owned(), (1990 + number).to_string()),
                ("team".to_owned(), "<Ünïon & \"Co\">".to_owned()),
            ]));
            let rejected = number % 10 == 0;
            result.gate = Some(if rejected {
                Verdict::Undecided
            } else {
                Verdict::Within
            });
            result.tests[0] = test("asymptotic", 1.0, 1.644854, 0.158655, false);
            result.tests[1] = test("conditional", 4.0, 1.644854, 0.00003167, rejected);
            result.n = 10u64.pow((number % 10) as u32);
            result
        })
        .collect();
    evaluation
}
