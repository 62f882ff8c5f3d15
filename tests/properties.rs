//! What holds for every sample: random ones, most of them with ties, in every type of confidences.
//!
//! The samples are the same in every run.

mod common;

use common::{DTYPES, batch, gpu, narrow, request, shuffled};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseResult, TestRunner};
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::{Backend, Closed, Request, Scheme, SegmentSums, Ties};
use rankece::inference::intervals::neighbour;
use rankece::predictions::{Batch, Dtype};
use rankece::random::{Key, Stream};
use rankece::reference::{self, Sample};
use rankece::statistic::{BinsRule, binned};

/// How far from the formulas estimates may be (spec: the reproducibility contract).
const TOLERANCE: f64 = 2e-9;
const TIES: [Ties; 3] = [Ties::Average, Ties::Random, Ties::Stable];
const BINS: [u32; 4] = [1, 3, 10, 64];

type Rows = (Vec<f64>, Vec<bool>);

/// Checks a property of random batches.
fn property(cases: u32, check: impl Fn(Dtype, Vec<Rows>) -> TestCaseResult) {
    let config = ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let result =
        TestRunner::new(config).run(&batches(), |(dtype, segments)| check(dtype, segments));
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// A type and up to six segments of it.
fn batches() -> impl Strategy<Value = (Dtype, Vec<Rows>)> {
    prop::sample::select(&DTYPES[..]).prop_flat_map(|dtype| {
        let row = (confidence(), any::<bool>()).prop_map(move |(z, y)| (narrow(dtype, z), y));
        let sizes = prop_oneof![3 => 0..8usize, 3 => 8..100usize, 1 => 100..600usize];
        let segment = sizes
            .prop_flat_map(move |size| prop::collection::vec(row.clone(), size))
            .prop_map(|rows| rows.into_iter().unzip());
        (Just(dtype), prop::collection::vec(segment, 0..6))
    })
}

/// Confidences anywhere, on a grid with many ties, on edges of bins, at the ends, and tiny.
fn confidence() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![
        4 => 0.0..=1.0f64,
        4 => (0..=20u32).prop_map(|step| f64::from(step) / 20.0),
        2 => (0..=64u32).prop_map(|step| f64::from(step) / 64.0),
        1 => Just(0.0),
        1 => Just(1.0),
        1 => (1..1074i32).prop_map(|exponent| 0.5f64.powi(exponent)),
        1 => (1..53i32).prop_map(|exponent| 1.0 - 0.5f64.powi(exponent)),
    ]
}

fn sums(backend: &dyn Backend, batch: &Batch, request: &Request) -> Vec<SegmentSums> {
    let sums = backend.sums(&mut batch.clone(), request);
    sums.expect("the backend works")
}

fn cpu(batch: &Batch, ties: Ties) -> Vec<SegmentSums> {
    sums(
        &Cpu::default(),
        batch,
        &request(ties, &BINS, batch.segments()),
    )
}

#[test]
fn the_order_of_rows_never_matters() {
    property(100, |dtype, segments| {
        let batch = batch(dtype, &segments);
        for ties in [Ties::Average, Ties::Random] {
            let expected = cpu(&batch, ties);
            for seed in 0..3 {
                prop_assert_eq!(&cpu(&shuffled(&batch, seed), ties), &expected);
            }
        }
        Ok(())
    });
}

#[test]
fn segments_know_nothing_of_each_other() {
    property(100, |dtype, segments| {
        for ties in TIES {
            let together = cpu(&batch(dtype, &segments), ties);
            let alone: Vec<SegmentSums> = segments
                .iter()
                .flat_map(|segment| cpu(&batch(dtype, std::slice::from_ref(segment)), ties))
                .collect();
            prop_assert_eq!(&alone, &together);

            let mut reversed = segments.clone();
            reversed.reverse();
            let mut results = cpu(&batch(dtype, &reversed), ties);
            results.reverse();
            prop_assert_eq!(&results, &together);
        }
        Ok(())
    });
}

#[test]
fn gpu_and_cpu_give_the_same_bits() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    property(40, |dtype, segments| {
        let batch = batch(dtype, &segments);
        for ties in TIES {
            let request = request(ties, &BINS, batch.segments());
            prop_assert_eq!(sums(&gpu, &batch, &request), cpu(&batch, ties));
        }
        Ok(())
    });
}

#[test]
fn gpu_in_parts_and_cpu_give_the_same_bits() {
    let options = DeviceOptions {
        most_rows: Some(50),
        ..DeviceOptions::default()
    };
    let Some(gpu) = gpu(options) else { return };
    property(10, |dtype, segments| {
        let batch = batch(dtype, &segments);
        for ties in TIES {
            let request = request(ties, &BINS, batch.segments());
            prop_assert_eq!(sums(&gpu, &batch, &request), cpu(&batch, ties));
        }
        Ok(())
    });
}

/// Asserts that two numbers are within a tolerance.
macro_rules! close {
    ($what:expr, $value:expr, $expected:expr, $tolerance:expr) => {
        let (value, expected): (f64, f64) = ($value, $expected);
        prop_assert!(
            (value - expected).abs() <= $tolerance,
            "{}: {value} but the formula gives {expected}",
            $what
        );
    };
}

#[test]
fn estimates_are_those_of_the_formulas() {
    property(200, |dtype, segments| {
        for ties in TIES {
            let batch = batch(dtype, &segments);
            let all = cpu(&batch, ties);
            for (sums, (confidences, labels)) in std::iter::zip(&all, &segments) {
                let sample = Sample::new(confidences, labels).expect("a sample");
                check_counts(sums, &sample)?;
                if sums.rows > 0 {
                    check_means(sums, &sample, ties)?;
                    check_null(sums, &sample)?;
                    check_neighbours(sums, &sample)?;
                    check_bins(dtype, sums, &sample, segments.len())?;
                }
            }
        }
        Ok(())
    });
}

fn check_counts(sums: &SegmentSums, sample: &Sample) -> TestCaseResult {
    let positives = sample.rows().iter().filter(|row| row.label).count();
    prop_assert_eq!(sums.rows, sample.rows().len() as u64);
    prop_assert_eq!(sums.positives, positives as u64);
    prop_assert_eq!(sums.distinct, sample.groups().len() as u64);
    prop_assert_eq!(sums.tied_rows, sample.tied_rows() as u64);
    Ok(())
}

fn check_means(sums: &SegmentSums, sample: &Sample, ties: Ties) -> TestCaseResult {
    let n = sums.rows as f64;
    let expected = match ties {
        Ties::Average => reference::rank_ece::average(sample),
        Ties::Random => reference::rank_ece::random(sample, Key::for_stream(1, Stream::Ties, 0)),
        Ties::Stable => reference::rank_ece::stable(sample),
    };
    let q60 = 0.5f64.powi(60);
    let rank_ece = sums.rank_ece as f64 * q60 / n;
    close!("rank_ece", rank_ece, expected.expect("rows"), TOLERANCE);
    let brier = sums.brier as f64 * q60 / n;
    close!(
        "brier",
        brier,
        reference::scores::brier(sample).expect("rows"),
        TOLERANCE
    );
    let mean = sums.confidence as f64 * 0.5f64.powi(30) / n;
    let expected = reference::scores::mean_confidence(sample).expect("rows");
    close!("mean_confidence", mean, expected, TOLERANCE);
    Ok(())
}

fn check_null(sums: &SegmentSums, sample: &Sample) -> TestCaseResult {
    let n = sums.rows as f64;
    for (what, sum, expected) in [
        (
            "null_squares",
            sums.null_squares,
            reference::null::squares(sample),
        ),
        ("null_odd", sums.null_odd, reference::null::odd(sample)),
        ("null_even", sums.null_even, reference::null::even(sample)),
        (
            "null_conditional",
            sums.null_conditional,
            reference::null::conditional_average(sample),
        ),
    ] {
        close!(
            what,
            sum as f64 * 0.5f64.powi(66) / n,
            expected / n,
            TOLERANCE
        );
    }
    Ok(())
}

fn check_neighbours(sums: &SegmentSums, sample: &Sample) -> TestCaseResult {
    let key = Key::for_stream(1, Stream::Neighbour, 0);
    let moments = sums.neighbours.expect("asked for");
    let rank_ece = sums.rank_ece as f64 * 0.5f64.powi(60) / sums.rows as f64;
    let interval = neighbour(sums, 0.05);
    let Some(expected) = reference::intervals::neighbour_moments(sample, key) else {
        prop_assert_eq!(moments, Default::default());
        prop_assert!(interval.lower.is_none() && interval.undefined.is_some());
        return Ok(());
    };
    let mean =
        |sum: i128, terms: f64| sum as f64 * 0.5f64.powi(58) / (terms * (sums.rows as f64 - 3.0));
    close!("E r4", mean(moments.r4, 1.0), expected.r4, TOLERANCE);
    close!("E r2s2", mean(moments.r2s2, 6.0), expected.r2s2, TOLERANCE);
    close!("E s4", mean(moments.s4, 3.0), expected.s4, TOLERANCE);

    // The ends are a root away from the moments: an error of 6 tolerances in σ² (one of r⁴, four of
    // r²s², one of s⁴) is one of 6/(2σ) tolerances in σ.
    let variance =
        (expected.r4 - rank_ece * rank_ece).max(0.0) + 4.0 * expected.r2s2.max(0.0) + expected.s4;
    if variance > 1e-6 {
        let ends = reference::intervals::neighbour(sample, rank_ece, key, 0.05);
        let (lower, upper) = ends.expect("variance");
        let of_root = 6.0 * TOLERANCE / (2.0 * variance.sqrt());
        let tolerance = TOLERANCE + 1.96 * of_root / (sums.rows as f64).sqrt();
        close!(
            "lower end",
            interval.lower.expect("an end"),
            lower,
            tolerance
        );
        // The slope is a ratio whose denominator is at least 1/n, so that its error is at most some
        // n tolerances; it enters multiplied by z²/n.
        let tolerance = tolerance + 50.0 * TOLERANCE;
        close!(
            "upper end",
            interval.upper.expect("an end"),
            upper,
            tolerance
        );
    }
    Ok(())
}

fn check_bins(
    dtype: Dtype,
    sums: &SegmentSums,
    sample: &Sample,
    segments: usize,
) -> TestCaseResult {
    let request = request(Ties::Average, &BINS, segments);
    for (binning, bins) in std::iter::zip(&request.binnings, &sums.binned) {
        let count = binning.bins[0];
        let estimates = binned(dtype, bins, binning, 0, BinsRule::default());
        let expected = match binning.scheme {
            Scheme::EqualWidth => {
                reference::bins::equal_width(sample, dtype, count, binning.closed)
            }
            Scheme::EqualMass => reference::bins::equal_mass(sample, count),
        };
        let counts: Vec<u64> = estimates.table.iter().map(|bin| bin.n).collect();
        let expected_counts: Vec<u64> = expected.iter().map(|bin| bin.rows as u64).collect();
        prop_assert_eq!(counts, expected_counts, "{:?}", binning);
        for (bin, expected) in std::iter::zip(&estimates.table, &expected) {
            prop_assert_eq!(bin.lower, expected.lower);
            prop_assert_eq!(bin.upper, expected.upper);
            prop_assert_eq!(bin.gap.is_some(), expected.gap().is_some());
            if let (Some(gap), Some(expected)) = (bin.gap, expected.gap()) {
                close!("gap", gap, expected, TOLERANCE);
            }
        }
        use reference::binned::{ece_l1, ece_l2, ece_l2_debiased, mce};
        for (what, value, expected) in [
            ("ece_l1", estimates.ece_l1, ece_l1(&expected)),
            ("ece_l2", estimates.ece_l2, ece_l2(&expected)),
            (
                "ece_l2_debiased",
                estimates.ece_l2_debiased,
                ece_l2_debiased(&expected),
            ),
            ("mce", estimates.mce, mce(&expected)),
        ] {
            close!(
                what,
                value.expect("rows"),
                expected.expect("rows"),
                TOLERANCE
            );
        }
    }
    Ok(())
}

/// The helper of this suite asks for both sides and both schemes.
#[test]
fn every_way_of_binning_is_asked_for() {
    let ways: Vec<(Scheme, Closed)> = request(Ties::Average, &[10], 1)
        .binnings
        .iter()
        .map(|binning| (binning.scheme, binning.closed))
        .collect();
    assert!(ways.contains(&(Scheme::EqualWidth, Closed::Right)));
    assert!(ways.contains(&(Scheme::EqualWidth, Closed::Left)));
    assert!(ways.contains(&(Scheme::EqualMass, Closed::Right)));
}
