//! Intervals by resampling rows, against the formulas in f64.

mod common;

use common::{DTYPES, SPREADS, Spread, batch, rows, shuffled};
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::resamples::sample_key;
use rankece::backend::subsamples::{PopulationRows, Subsampler, Subsamples};
use rankece::backend::{Closed, Scheme, Ties};
use rankece::inference::intervals::{IntervalName, percentile, subsample_rows};
use rankece::input::SegmentInfo;
use rankece::predictions::{Dtype, Reduction};
use rankece::random::{Key, Stream};
use rankece::reference::{self, Sample};
use rankece::results::{Binned, Evaluated, Interval};
use rankece::statistic::BinsRule;
use rankece::{Batch, Options, evaluate, evaluate_slices};

/// What estimates may be off, and what their intervals: a spread adds as much again, times z.
const TOLERANCE: f64 = 2e-9;
const OF_ENDS: f64 = 1e-8;

fn key(stream: Stream, seed: u64) -> Key {
    sample_key(Key::for_stream(seed, stream, 0), 0)
}

fn options(intervals: &[IntervalName], resamples: u32) -> Options {
    Options {
        tests: Vec::new(),
        intervals: intervals.to_vec(),
        resamples: Some(resamples),
        seed: 3,
        ..Options::default()
    }
}

fn of_batch(batch: Batch, options: &Options) -> Vec<Evaluated> {
    let info = SegmentInfo {
        source: String::new(),
        group: None,
        reduction: Reduction::Binary,
        class: None,
        skipped: 0,
    };
    let segments = vec![info; batch.segments()];
    evaluate(batch, segments, options, &Cpu::default()).expect("the CPU does not fail")
}

#[track_caller]
fn assert_ends(interval: &Interval, expected: Option<(f64, f64)>, tolerance: f64) {
    let found = interval.lower.zip(interval.upper);
    match (found, expected) {
        (Some(found), Some(expected)) => assert!(
            (found.0 - expected.0).abs() <= tolerance && (found.1 - expected.1).abs() <= tolerance,
            "{found:?} is not within {tolerance} of {expected:?}"
        ),
        _ => assert_eq!(
            found.is_some(),
            expected.is_some(),
            "{interval:?} {expected:?}"
        ),
    }
    assert_eq!(interval.undefined.is_some(), expected.is_none());
}

/// Squares and cubes of whole numbers, and their neighbours.
#[test]
fn subsamples_have_the_whole_part_of_n_to_two_thirds_rows() {
    for (n, m) in [
        (0, 0),
        (1, 1),
        (4, 2),
        (7, 3),
        (8, 4),
        (26, 8),
        (27, 9),
        (999, 99),
        (1000, 100),
        (1001, 100),
        (1_000_000, 10_000),
        (u32::MAX, 2_642_245),
    ] {
        assert_eq!(subsample_rows(n), m, "{n} rows");
        if n < 10_000 {
            assert_eq!(reference::intervals::subsample_rows(n as usize), m as usize);
        }
    }
}

#[test]
fn subsamples_agree_with_the_formulas() {
    let options = options(&[IntervalName::Subsample], 60);
    for dtype in DTYPES {
        for spread in SPREADS {
            for size in [1, 3, 4, 5, 9, 64, 300] {
                let (confidences, labels) = rows(dtype, size, spread, 11);
                let batch = batch(dtype, &[(confidences.clone(), labels.clone())]);
                let sample = Sample::new(&confidences, &labels).expect("valid");
                let estimate = reference::rank_ece::average(&sample).expect("rows");
                let resampled = reference::intervals::subsampled_rank_ece(
                    &sample,
                    key(Stream::Subsample, 3),
                    60,
                );
                // Estimates that differ by less than they are computed to may be equal in one of the
                // two computations alone.
                let (low, high) = resampled
                    .iter()
                    .fold((f64::MAX, f64::MIN), |(low, high), &e| {
                        (low.min(e), high.max(e))
                    });
                if high > low && high - low < 2.0 * TOLERANCE {
                    continue;
                }
                let expected =
                    reference::intervals::subsample(size, estimate, &resampled, options.alpha);
                let shuffled = shuffled(&batch, 5);
                let result = of_batch(batch, &options).remove(0);
                let interval = &result.rank_ece.intervals[0];
                assert_ends(interval, expected, OF_ENDS);
                assert_eq!(interval.method, "subsample");
                if size >= 4 {
                    let m = reference::intervals::subsample_rows(size) as u32;
                    assert_eq!(interval.subsample_rows, Some(m));
                    assert_eq!(interval.resamples, Some(60));
                }
                // The order of rows does not matter, to the bit.
                let other = of_batch(shuffled, &options).remove(0);
                assert_eq!(
                    (interval.lower, interval.upper),
                    (
                        other.rank_ece.intervals[0].lower,
                        other.rank_ece.intervals[0].upper
                    )
                );
            }
        }
    }
}

/// Around the tiles of the kernel and beyond what fits a workgroup, with and without ties.
#[test]
fn subsamples_on_the_gpu_are_those_of_the_cpu() {
    let Some(gpu) = common::gpu(DeviceOptions::default()) else {
        return;
    };
    for spread in SPREADS {
        for (population, size) in [
            (1, 1),
            (2, 1),
            (4, 2),
            (300, 44),
            (700, 255),
            (700, 256),
            (700, 257),
            (5000, 2049),
            (20_000, 9000),
        ] {
            let (confidences, labels) = rows(Dtype::F64, population, spread, 13);
            let batch = batch(Dtype::F64, &[(confidences, labels)]);
            let population = PopulationRows::new(batch.rows(), 0..population);
            let subsamples = Subsamples {
                population: &population,
                rows: size,
                key: Key([size, 3]),
                thresholds: &[],
            };
            // Across a change of the high word of the number.
            let first = (1 << 32) - 5;
            let of_gpu = gpu
                .subsamples(&subsamples, first, 12)
                .expect("the GPU works");
            let of_cpu = Cpu::default().subsamples(&subsamples, first, 12);
            assert_eq!(Ok(of_gpu), of_cpu, "{size} rows, {spread:?}");
        }
    }
}

/// Bins of the reference, in the order of the result's.
fn reference_bins(sample: &Sample, dtype: Dtype, binned: &Binned) -> Vec<reference::bins::Bin> {
    match binned.scheme {
        Scheme::EqualWidth => reference::bins::equal_width(
            sample,
            dtype,
            binned.bins,
            binned.closed.expect("of equal width"),
        ),
        Scheme::EqualMass => reference::bins::equal_mass(sample, binned.bins),
    }
}

#[test]
fn bootstrap_of_bins_agrees_with_the_formulas() {
    type Estimator = fn(&[reference::bins::Bin]) -> Option<f64>;
    let estimators: [(&str, Estimator); 5] = [
        ("ece_l1", reference::binned::ece_l1),
        ("ece_l2", reference::binned::ece_l2),
        ("ece_rms", reference::binned::ece_rms),
        ("ece_l2_debiased", reference::binned::ece_l2_debiased),
        ("mce", reference::binned::mce),
    ];
    for dtype in DTYPES {
        for (spread, closed) in [
            (Spread::Uniform, Closed::Right),
            (Spread::Steps, Closed::Left),
            (Spread::Extreme, Closed::Right),
        ] {
            for size in [2, 17, 150] {
                let (confidences, labels) = rows(dtype, size, spread, 12);
                let options = Options {
                    bootstrap: true,
                    bins: vec![
                        "10".parse().unwrap(),
                        "7".parse().unwrap(),
                        BinsRule::SquareRoot,
                    ],
                    schemes: vec![Scheme::EqualWidth, Scheme::EqualMass],
                    closed,
                    alpha: 0.1,
                    ..options(&[IntervalName::Neighbour], 59)
                };
                let batch = batch(dtype, &[(confidences.clone(), labels.clone())]);
                let sample = Sample::new(&confidences, &labels).expect("valid");
                let shuffled = shuffled(&batch, 6);
                let result = of_batch(batch, &options).remove(0);
                assert_eq!(result.binned.len(), 6);
                let resamples: Vec<Vec<usize>> = (0..59)
                    .map(|b| {
                        reference::intervals::bootstrap_ranks(size, key(Stream::Bootstrap, 3), b)
                    })
                    .collect();
                for binned in &result.binned {
                    let bins = reference_bins(&sample, dtype, binned);
                    let resampled: Vec<_> = resamples
                        .iter()
                        .map(|ranks| reference::intervals::bootstrap_bins(&sample, &bins, ranks))
                        .collect();
                    for (found, (name, estimator)) in binned.intervals.iter().zip(estimators) {
                        assert_eq!(
                            (found.estimator, found.interval.method),
                            (name, "bootstrap")
                        );
                        assert_eq!(found.interval.resamples, Some(59));
                        let estimates: Vec<f64> = resampled
                            .iter()
                            .filter_map(|bins| estimator(bins))
                            .collect();
                        assert_eq!(estimates.len(), 59);
                        let expected = reference::intervals::percentile(&estimates, options.alpha);
                        // A root loses half of the digits where it is small.
                        let tolerance = if name == "ece_rms" { 1e-6 } else { TOLERANCE };
                        match expected {
                            // Equal in integers, and the same but for rounding in f64.
                            Some((lower, upper)) if found.interval.lower.is_none() => {
                                assert!(upper - lower < tolerance);
                            }
                            _ => assert_ends(&found.interval, expected, tolerance),
                        }
                    }
                    assert_eq!(binned.intervals.len(), 5);
                }
                let other = of_batch(shuffled, &options).remove(0);
                let ends = |result: &Evaluated| -> Vec<(Option<f64>, Option<f64>)> {
                    let binned = result.binned.iter().flat_map(|binned| &binned.intervals);
                    binned
                        .map(|i| (i.interval.lower, i.interval.upper))
                        .collect()
                };
                assert_eq!(ends(&result), ends(&other));
            }
        }
    }
}

/// The k-th of 1, 2, …, B from both ends, k = (B+1)α/2 rounded down.
#[test]
fn percentiles_are_order_statistics() {
    let estimates = |count: u32| (1..=count).rev().map(f64::from).collect::<Vec<_>>();
    for (resamples, alpha, lower, upper) in [
        (999, 0.05, 25.0, 975.0),
        (999, 0.1, 50.0, 950.0),
        (99, 0.05, 2.0, 98.0),
        (39, 0.05, 1.0, 39.0),
        (199, 0.01, 1.0, 199.0),
        (19, 0.5, 5.0, 15.0),
    ] {
        let interval = percentile(estimates(resamples), 0.0, alpha);
        assert_eq!(interval.lower.zip(interval.upper), Some((lower, upper)));
        let of_reference = reference::intervals::percentile(&estimates(resamples), alpha);
        assert_eq!(of_reference, Some((lower, upper)));
    }
    for (resamples, alpha, part) in [
        (38, 0.05, "at least 39 resamples, but there are 38"),
        (198, 0.01, "at least 199 resamples, but there are 198"),
        (0, 0.05, "but there are 0"),
        (99, 1.5, "alpha"),
    ] {
        let interval = percentile(estimates(resamples), 0.0, alpha);
        assert_eq!((interval.lower, interval.upper), (None, None));
        let reason = interval.undefined.expect("a reason");
        assert!(reason.contains(part), "{reason}");
    }
    let equal = percentile(vec![0.25; 99], 0.0, 0.05);
    assert!(equal.undefined.expect("a reason").contains("same estimate"));
}

#[test]
fn what_cannot_be_resampled_is_undefined_with_a_reason() {
    let undefined = |confidences: &[f64], labels: &[bool], options: &Options, part: &str| {
        let result = evaluate_slices(confidences, labels, options).expect("valid");
        let interval = &result.rank_ece.intervals[0];
        assert_eq!((interval.lower, interval.upper), (None, None));
        let reason = interval.undefined.clone().expect("a reason");
        assert!(reason.contains(part), "{reason}");
        result
    };
    let subsample = options(&[IntervalName::Subsample], 99);
    for n in 0..4 {
        let part = format!("at least 4 rows, but there are {n}");
        undefined(&[0.2, 0.4, 0.6][..n], &[true; 3][..n], &subsample, &part);
    }
    // All rows alike.
    let result = undefined(&[0.5; 30], &[true; 30], &subsample, "same rankECE");
    assert_eq!(result.rank_ece.intervals[0].subsample_rows, Some(9));
    let one = options(&[IntervalName::Subsample], 1);
    let four = [0.1, 0.2, 0.3, 0.4];
    let labels = [false, true, false, true];
    undefined(&four, &labels, &one, "at least 2 subsamples");
    // Ordered ties have another variance; without ties the order is the only one.
    for ties in [Ties::Random, Ties::Stable] {
        let ordered = Options {
            ties,
            ..subsample.clone()
        };
        undefined(&[0.5; 4], &labels, &ordered, "--ties average");
        let result = evaluate_slices(&four, &labels, &ordered).expect("valid");
        let averaged = evaluate_slices(&four, &labels, &subsample).expect("valid");
        assert_eq!(
            result.rank_ece.intervals[0].upper,
            averaged.rank_ece.intervals[0].upper
        );
        assert!(result.rank_ece.intervals[0].upper.is_some());
    }
    let bootstrap = Options {
        bootstrap: true,
        ..options(&[], 99)
    };
    let result = evaluate_slices(&[0.5; 30], &[true; 30], &bootstrap).expect("valid");
    for of_estimator in &result.binned[0].intervals {
        let reason = of_estimator.interval.undefined.clone().expect("a reason");
        assert!(reason.contains("same estimate"), "{reason}");
    }
    let none: [f64; 0] = [];
    let result = evaluate_slices(&none, &[], &bootstrap).expect("valid");
    for of_estimator in &result.binned[0].intervals {
        let reason = of_estimator.interval.undefined.clone().expect("a reason");
        assert!(reason.contains("no rows"), "{reason}");
    }
    assert_eq!(result.binned[0].intervals.len(), 5);
}

/// Each segment of a batch is resampled as if it were alone.
#[test]
fn other_segments_change_nothing() {
    let options = Options {
        bootstrap: true,
        ..options(&[IntervalName::Subsample], 99)
    };
    let samples: Vec<_> = [40, 7, 0, 120]
        .iter()
        .map(|&size| rows(Dtype::F32, size, Spread::Uniform, size as u32))
        .collect();
    let together = of_batch(batch(Dtype::F32, &samples), &options);
    for (sample, together) in samples.iter().zip(together) {
        let alone = of_batch(batch(Dtype::F32, std::slice::from_ref(sample)), &options).remove(0);
        let json = |result: &Evaluated| serde_json::to_value(result).expect("JSON");
        assert_eq!(json(&alone), json(&together));
    }
}

/// Confidences within 1e-9 of 0, all labels 0: in fixed point their residuals are 0 or one unit, and the
/// interval told of that. With residuals of 1e-4 the spread of the products is real, if small.
#[test]
fn regression_a_spread_of_rounding_had_an_interval() {
    let options = options(&[IntervalName::Subsample], 199);
    let interval = |scale: f64| {
        let confidences: Vec<f64> = (1..=100).map(|row| scale * f64::from(row)).collect();
        let result = evaluate_slices(&confidences, &[false; 100], &options).expect("valid");
        result.rank_ece.intervals[0].clone()
    };
    let why = interval(1e-11).undefined.expect("undefined");
    assert!(why.contains("but for rounding"), "{why}");
    let real = interval(1e-6);
    let (lower, upper) = (real.lower.expect("an end"), real.upper.expect("an end"));
    // rankECE is the mean product of neighbours, 1e-12 Σ i (i + 1) / 100.
    let estimate: f64 = (1..100).map(|i| 1e-14 * f64::from(i * (i + 1))).sum();
    assert!(
        (lower + upper - 2.0 * estimate).abs() < 1e-13,
        "{lower:e} {upper:e}"
    );
    // Products go from 0 to 1e-8; no spread is wider, and 21 of them leave some.
    assert!(
        upper - lower > 1e-10 && upper - lower < 1e-8,
        "{lower:e} {upper:e}"
    );
}

/// Residuals of 0.3 in one bin and -0.3 in another: every resample has the same estimates, whatever the
/// last digits of their sums.
#[test]
fn regression_resamples_of_one_estimate_had_an_interval() {
    let bootstrap = Options {
        bootstrap: true,
        ..options(&[], 199)
    };
    let confidences = [[0.3; 7], [0.7; 7]].concat();
    let labels = [[false; 7], [true; 7]].concat();
    let result = evaluate_slices(&confidences, &labels, &bootstrap).expect("valid");
    for of_estimator in &result.binned[0].intervals {
        let reason = of_estimator.interval.undefined.as_ref();
        let reason = reason.unwrap_or_else(|| panic!("{of_estimator:?}"));
        assert!(reason.contains("same estimate"), "{reason}");
    }
}

/// One bin of five rows, one of them positive, has a variance of 0.2·0.8/4 = 0.04: at a gap of 0.2 nothing is
/// left of `ece_l2_debiased`, and rounding was told in its place. A small number that is none of
/// rounding's stays.
#[test]
fn regression_a_debiased_estimate_was_rounding() {
    let debiased = |confidences: &[f64], labels: &[bool]| {
        let result = evaluate_slices(confidences, labels, &options(&[], 9)).expect("valid");
        result.binned[0].ece_l2_debiased.expect("there are rows")
    };
    let one_of_five = [true, false, false, false, false];
    assert_eq!(debiased(&[0.0; 5], &one_of_five), 0.0);
    assert_eq!(debiased(&[0.4; 5], &one_of_five), 0.0);
    let near = debiased(&[0.400001; 5], &one_of_five);
    assert!(
        (near - (0.200001f64.powi(2) - 0.04)).abs() < TOLERANCE && near > 3e-7,
        "{near:e}"
    );
    let rare = debiased(&[2e-5; 40], &[false; 40]);
    assert!((rare / 4e-10 - 1.0).abs() < 1e-4, "{rare:e}");
}

/// Confidences within 1e-9 of 0, all labels 0: what resamples of bins differ by is rounding as well.
#[test]
fn regression_resamples_that_rounding_parts_had_an_interval() {
    let bootstrap = Options {
        bootstrap: true,
        ..options(&[], 199)
    };
    let intervals = |scale: f64| {
        let confidences: Vec<f64> = (1..=100).map(|row| scale * f64::from(row)).collect();
        let result = evaluate_slices(&confidences, &[false; 100], &bootstrap).expect("valid");
        result.binned[0].intervals.clone()
    };
    for of_estimator in intervals(1e-11) {
        let why = of_estimator.interval.undefined;
        assert!(why.is_some_and(|why| why.contains("same estimate")));
    }
    // The mean of 100 confidences up to 1e-6 has a standard deviation of 2.9e-8, here 1.96 of them.
    let real = &intervals(1e-8)[0].interval;
    let (lower, upper) = (real.lower.expect("an end"), real.upper.expect("an end"));
    assert!(
        (upper - lower - 2.0 * 1.96 * 2.9e-8).abs() < 0.3e-7,
        "{lower:e} {upper:e}"
    );
}
