//! Null resampling: its sums against the formulas, its tests against enumeration and closed values.

mod common;

use common::gpu;
use rand::Rng;
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::replicates::{Replicates, Simulator, replicate_groups};
use rankece::backend::resamples::{
    ResampleSums, Resampler, Resamples, Statistics, TiedGroups, sums_of_labels, tied_groups,
    windows,
};
use rankece::inference::tests_of_calibration::{
    ErrorScale, LabelOutcome, TestName, ks_tail, kuiper_tail,
};
use rankece::model::Model;
use rankece::random::{Key, ThreefryRng};
use rankece::reference::{Sample, rank_ece, resampling as reference};
use rankece::resampling::{LabelledGroups, default_resamples, label_tests};
use rankece::results::{Evaluated, TestResult};
use rankece::{Batch, Options, evaluate_slices};

const ALL: Statistics = Statistics {
    rank_ece: true,
    windows: true,
    walk: true,
};

const RESAMPLED: [TestName; 4] = [
    TestName::MonteCarlo,
    TestName::Adaptive,
    TestName::Ks,
    TestName::Kuiper,
];

fn close(actual: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{what}: {actual}, expected {expected}"
    );
}

fn uniform(rng: &mut ThreefryRng) -> f64 {
    f64::from(rng.next_u32()) / 2f64.powi(32)
}

/// Confidences with ties in steps of 0.05, or without, and calibrated labels.
fn calibrated(rng: &mut ThreefryRng, rows: usize, ties: bool) -> (Vec<f64>, Vec<bool>) {
    let confidence = |rng: &mut ThreefryRng| match ties {
        true => f64::from(rng.next_u32() % 21) / 20.0,
        false => uniform(rng),
    };
    let confidences: Vec<f64> = (0..rows).map(|_| confidence(rng)).collect();
    let labels = confidences.iter().map(|z| uniform(rng) < *z).collect();
    (confidences, labels)
}

fn grouped(confidences: &[f64], labels: &[bool]) -> (TiedGroups, Vec<u32>) {
    let batch = Batch::from_slices(confidences, labels).expect("confidences");
    tied_groups(batch.rows(), 0..labels.len())
}

fn result(confidences: &[f64], labels: &[bool], tests: &[TestName], resamples: u32) -> Evaluated {
    let options = Options {
        tests: tests.to_vec(),
        resamples: Some(resamples),
        ..Options::default()
    };
    evaluate_slices(confidences, labels, &options).expect("the CPU")
}

fn one(confidences: &[f64], labels: &[bool], test: TestName, resamples: u32) -> TestResult {
    result(confidences, labels, &[test], resamples)
        .tests
        .remove(0)
}

fn labels(text: &str) -> Vec<bool> {
    text.chars().map(|c| c == '1').collect()
}

#[test]
fn sums_are_those_of_the_formulas() {
    let mut rng = ThreefryRng::new(Key([1, 2]));
    for (rows, ties) in [
        (1, true),
        (2, false),
        (7, true),
        (64, true),
        (65, false),
        (300, true),
    ] {
        let (confidences, labels) = calibrated(&mut rng, rows, ties);
        let (groups, positives) = grouped(&confidences, &labels);
        let sums = sums_of_labels(&groups, &positives, ALL);
        let sample = Sample::new(&confidences, &labels).expect("a sample");
        let n = rows as f64;
        let q60 = 2f64.powi(60);
        let expected = rank_ece::average(&sample).expect("rows");
        close(
            sums.rank_ece[0] as f64 / q60 / n,
            expected,
            2e-9,
            "rank_ece",
        );
        for (width, sum) in windows(groups.rows).into_iter().zip(&sums.windows) {
            let expected = reference::window_sum(&sample, width as usize);
            close(*sum as f64 / q60 / n / n, expected / n / n, 2e-9, "window");
        }
        let (low, high) = reference::walk(&sample);
        let [lowest, highest] = sums.walk[0].map(|c| c as f64 / 2f64.powi(30));
        close(lowest / n, low / n, 2e-9, "lowest");
        close(highest / n, high / n, 2e-9, "highest");
    }
}

#[test]
fn closed_values() {
    let p = [0.6, 0.8, 0.2, 0.4];
    for (y, expected) in [("1111", 2.236068), ("0101", 0.670820)] {
        let test = one(&p, &labels(y), TestName::Kuiper, 99);
        close(test.statistic.expect("a statistic"), expected, 1e-6, y);
    }
    let p = [0.8, 0.3, 0.5, 0.5, 0.7, 0.1];
    let test = one(&p, &labels("101010"), TestName::Spiegelhalter, 99);
    close(test.statistic.expect("a statistic"), -1.030244, 1e-6, "z");
    close(test.p_value.expect("a p-value"), 0.302895, 1e-6, "p");
    assert_eq!(test.resamples, None);
}

/// The means of max |B| and of the range of a Brownian motion on \[0, 1\] are √(π/2) and √(8/π) (Feller
/// 1951), and the mean of a positive variable is the integral of its tail; quantiles are published.
#[test]
fn tails_of_the_brownian_motion() {
    let step = 1e-3;
    let mean = |tail: fn(f64) -> f64| -> f64 {
        (0..12_000)
            .map(|i| tail((f64::from(i) + 0.5) * step) * step)
            .sum()
    };
    use std::f64::consts::PI;
    close(mean(ks_tail), (PI / 2.0).sqrt(), 1e-6, "mean of max |B|");
    close(
        mean(kuiper_tail),
        (8.0 / PI).sqrt(),
        1e-6,
        "mean of the range",
    );
    close(ks_tail(2.241403), 0.05, 1e-6, "quantile of max |B|");
    // The two series meet.
    close(ks_tail(1.0 - 1e-9), ks_tail(1.0), 1e-8, "series");
    for tail in [ks_tail, kuiper_tail] {
        assert_eq!(tail(0.0), 1.0);
        assert_eq!(tail(1e-300), 1.0);
        assert_eq!(tail(60.0), 0.0);
    }
}

/// p-values by 50,000 resamples against all 2ⁿ label vectors; wrong by chance, with this seed or any,
/// in fewer than 1 of 1,000 (24 comparisons at 4 standard errors).
#[test]
fn p_values_are_those_of_enumeration() {
    let cases: [(&[f64], &str); 4] = [
        (&[0.1, 0.25, 0.4, 0.55, 0.7, 0.9], "011010"),
        (&[0.3, 0.3, 0.3, 0.6, 0.6, 0.8, 0.8, 0.95], "11001101"),
        (&[0.0, 0.2, 0.2, 0.5, 0.5, 0.5, 1.0], "0110001"),
        (&[0.5, 0.5], "11"),
    ];
    let resamples = 50_000;
    for (confidences, y) in cases {
        let labels = labels(y);
        let sample = Sample::new(confidences, &labels).expect("a sample");
        let n = confidences.len() as f64;
        let n_rank_ece = |s: &Sample| n * rank_ece::average(s).expect("rows");
        let ks = |s: &Sample| reference::ks(s).expect("a variance");
        let kuiper = |s: &Sample| reference::kuiper(s).expect("a variance");
        type Statistic<'a> = &'a dyn Fn(&Sample) -> f64;
        let statistics: [(TestName, Statistic); 3] = [
            (TestName::MonteCarlo, &n_rank_ece),
            (TestName::Ks, &ks),
            (TestName::Kuiper, &kuiper),
        ];
        for (test, statistic) in statistics {
            let observed = statistic(&sample);
            let exact = reference::exact_p_value(confidences, observed, statistic).expect("few");
            let found = one(confidences, &labels, test, resamples);
            close(found.statistic.expect("defined"), observed, 1e-8, y);
            let error = (exact * (1.0 - exact) / f64::from(resamples)).sqrt();
            let p = found.p_value.expect("defined");
            close(
                p,
                exact,
                4.0 * error + 1.0 / f64::from(resamples),
                test.as_str(),
            );
        }
    }
}

/// The adaptive test on the very sums of the resamples, in the plainest f64.
#[test]
fn adaptive_is_that_of_the_formulas() {
    let mut rng = ThreefryRng::new(Key([3, 4]));
    for (rows, ties) in [(2, false), (9, true), (40, false), (200, true)] {
        let (confidences, labels) = calibrated(&mut rng, rows, ties);
        let (groups, positives) = grouped(&confidences, &labels);
        let key = Key([rows as u32, 1]);
        let job = Resamples {
            groups: &groups,
            key,
            statistics: ALL,
        };
        let mut sums = sums_of_labels(&groups, &positives, ALL).windows;
        sums.extend(
            Cpu::default().resamples(&[job], 0, 199).expect("the CPU")[0]
                .windows
                .clone(),
        );
        let widths = windows(groups.rows).len();
        let profiles: Vec<Vec<f64>> = sums
            .chunks(widths)
            .map(|profile| {
                profile
                    .iter()
                    .map(|&sum| sum as f64 / 2f64.powi(60))
                    .collect()
            })
            .collect();
        let sample = LabelledGroups {
            groups,
            positives,
            key,
        };
        let outcome = label_tests(&[sample], &[TestName::Adaptive], 199, &Cpu::default());
        let outcome = outcome
            .expect("the CPU")
            .remove(0)
            .remove(0)
            .1
            .expect("defined");
        let expected = reference::adaptive_p_value(&profiles).expect("defined");
        close(outcome.p_value, expected, 1e-12, "p");
    }
}

/// How often each test of calibrated samples rejects at level 0.05: a test that holds its level exceeds
/// this limit, 4 standard errors above, in 1 of 30,000.
#[test]
fn levels_hold() {
    let mut rng = ThreefryRng::new(Key([5, 6]));
    for (rows, replicates) in [(5, 2000), (20, 2000), (100, 1000), (1000, 300)] {
        for ties in [true, false] {
            let samples: Vec<LabelledGroups> = (0..replicates)
                .map(|replicate| {
                    let (confidences, labels) = calibrated(&mut rng, rows, ties);
                    let (groups, positives) = grouped(&confidences, &labels);
                    let key = Key([rows as u32, replicate]);
                    LabelledGroups {
                        groups,
                        positives,
                        key,
                    }
                })
                .collect();
            let outcomes = label_tests(&samples, &RESAMPLED, 99, &Cpu::default()).expect("the CPU");
            let limit = 0.05 + 4.0 * (0.05 * 0.95 / f64::from(replicates)).sqrt();
            for (place, test) in RESAMPLED.iter().enumerate() {
                let rejects = |outcomes: &&Vec<(TestName, LabelOutcome)>| matches!(&outcomes[place].1, Ok(test) if test.p_value <= 0.05);
                let rate = outcomes.iter().filter(rejects).count() as f64 / f64::from(replicates);
                assert!(
                    rate <= limit,
                    "{test}, n = {rows}, ties {ties}: {rate} > {limit}"
                );
                // Not by never rejecting, which tests of a few tied rows may.
                assert!(
                    rate >= 0.02 || rows < 100,
                    "{test}, n = {rows}, ties {ties}: {rate}"
                );
            }
        }
    }
}

#[test]
fn the_order_of_rows_does_not_matter() {
    let mut rng = ThreefryRng::new(Key([7, 8]));
    for ties in [true, false] {
        let (confidences, labels) = calibrated(&mut rng, 120, ties);
        let mut order: Vec<usize> = (0..120).collect();
        order.sort_by_cached_key(|_| rng.next_u32());
        let shuffled: Vec<f64> = order.iter().map(|&row| confidences[row]).collect();
        let shuffled_labels: Vec<bool> = order.iter().map(|&row| labels[row]).collect();
        // skce-l pairs rows in input order, by its definition.
        let names = TestName::ALL.into_iter();
        let names: Vec<TestName> = names.filter(|name| *name != TestName::SkceL).collect();
        let json = |z: &[f64], y: &[bool]| {
            let tests = result(z, y, &names, 199).tests;
            serde_json::to_string(&tests).expect("JSON")
        };
        assert_eq!(
            json(&confidences, &labels),
            json(&shuffled, &shuffled_labels)
        );
    }
}

/// Forecasts of football games: neighbours show nothing, the adaptive test does.
#[test]
fn football() {
    let text = include_str!("../examples/data/nfl.csv");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let column = |name| names.iter().position(|n| *n == name).expect("a column");
    let (z, y) = (column("confidence"), column("label"));
    let (mut confidences, mut labels) = (Vec::new(), Vec::new());
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        confidences.push(cells[z].parse::<f64>().expect("a number"));
        labels.push(cells[y] == "1");
    }
    // The profile, standardised by the exact null.
    let sample = Sample::new(&confidences, &labels).expect("a sample");
    let expected = [0.5, 1.6, 1.3, 0.9, 1.2, 0.0, 0.1, 1.0, 2.1, 3.3, 4.2, 4.7];
    let widths = windows(1882);
    assert_eq!(widths.len(), expected.len());
    let (groups, positives) = grouped(&confidences, &labels);
    let sums = sums_of_labels(&groups, &positives, ALL).windows;
    for ((width, expected), sum) in widths.into_iter().zip(expected).zip(sums) {
        let variance = reference::window_variance(&sample, width as usize);
        let standardised = sum as f64 / 2f64.powi(60) / variance.sqrt();
        close(standardised, expected, 0.0501, &format!("window {width}"));
    }
    let tests = [TestName::Adaptive, TestName::MonteCarlo];
    let found = result(&confidences, &labels, &tests, 9999).tests;
    let p = |place: usize| found[place].p_value.expect("defined");
    assert!(p(0) < 0.02, "adaptive {}", p(0));
    // 0.29, three standard errors of resampling and one of its rounding.
    close(p(1), 0.29, 0.0187, "monte-carlo");
    let profile = found[0].profile.as_ref().expect("a profile");
    let scale = ErrorScale::of_profile(profile, 1882);
    assert_eq!(scale, Some((ErrorScale::InTheLarge, 1881)));
}

#[test]
fn what_cannot_be_tested_is_undefined() {
    for (confidences, y) in [(&[][..], ""), (&[0.5][..], "1")] {
        let tests = result(confidences, &labels(y), &TestName::ALL, 99).tests;
        for test in tests {
            assert!(
                test.undefined
                    .is_some_and(|why| why.starts_with("needs at least 2"))
            );
            assert_eq!((test.p_value, test.reject), (None, None));
        }
    }
    let half = one(
        &[0.5, 0.5, 0.0],
        &labels("100"),
        TestName::Spiegelhalter,
        99,
    );
    assert!(half.undefined.is_some_and(|why| why.contains("1/2")));
}

#[test]
fn fewer_resamples_of_many_rows() {
    assert_eq!(default_resamples(0), 999);
    assert_eq!(default_resamples(200_000), 999);
    assert_eq!(default_resamples(400_000), 500);
    assert_eq!(default_resamples(1_000_000), 200);
    assert_eq!(default_resamples(10_000_000), 99);
    assert_eq!(default_resamples(u64::MAX), 99);
}

/// Labels of a replicate, regained one by one, give the sums of the replicate.
#[test]
fn replicates_are_those_that_are_simulated() {
    for (law, curve) in [("uniform", "quadratic"), ("beta:0.15", "calibrated")] {
        let model = Model::new(law.parse().expect(law), curve.parse().expect(curve), 1);
        let model = model.expect("a model");
        let replicates = Replicates {
            quantile: &model.quantile,
            response: &model.response,
            rows: 77,
            key: Key([9, 10]),
            thresholds: &[],
        };
        let sums = Cpu::default()
            .replicates(&replicates, 5, 20)
            .expect("the CPU");
        for (replicate, sums) in (5..).zip(sums) {
            let (groups, positives) = replicate_groups(&replicates, replicate);
            let regained = sums_of_labels(&groups, &positives, ALL);
            assert_eq!(regained.rank_ece, [sums.rank_ece]);
        }
    }
}

/// Samples around the tiles of every backend, with ties and without.
fn groups_of(rng: &mut ThreefryRng, rows: u32, largest: u32) -> TiedGroups {
    let mut groups = TiedGroups::default();
    let mut confidence = 0;
    while groups.rows < rows {
        let size = (1 + rng.next_u32() % largest).min(rows - groups.rows);
        groups.push(confidence, size);
        let step = 2 * (1u64 << 30) / u64::from(rows) * u64::from(size);
        confidence = (confidence + rng.next_u32() % (step as u32 + 1)).min(1 << 30);
    }
    groups
}

fn same_resamples(resampler: &dyn Resampler, sizes: &[u32]) {
    let mut rng = ThreefryRng::new(Key([11, 12]));
    let statistics = [
        ALL,
        Statistics {
            windows: false,
            ..ALL
        },
        Statistics {
            rank_ece: true,
            ..Statistics::default()
        },
    ];
    for statistics in statistics {
        let groups: Vec<TiedGroups> = sizes
            .iter()
            .flat_map(|&rows| [1, 3, 500].map(|largest| groups_of(&mut rng, rows, largest)))
            .collect();
        let samples: Vec<Resamples> = groups
            .iter()
            .map(|groups| Resamples {
                groups,
                key: Key([groups.rows, 13]),
                statistics,
            })
            .collect();
        let expected = Cpu::default().resamples(&samples, 0, 21).expect("the CPU");
        let mut found = vec![ResampleSums::default(); samples.len()];
        for (first, count) in [(0, 5), (5, 16)] {
            let sums = resampler
                .resamples(&samples, first, count)
                .expect("the device");
            for (all, sums) in found.iter_mut().zip(sums) {
                all.extend(sums);
            }
        }
        for ((found, expected), groups) in found.iter().zip(&expected).zip(&groups) {
            assert_eq!(found, expected, "{} rows, {statistics:?}", groups.rows);
        }
    }
}

#[test]
fn the_cpu_resamples_alike_in_pieces() {
    same_resamples(&Cpu::default(), &[1, 2, 3, 127, 129, 255, 257, 1000, 5000]);
}

#[test]
fn a_device_resamples_as_the_cpu_does() {
    let plain = DeviceOptions {
        without_subgroups: true,
        ..DeviceOptions::default()
    };
    for options in [DeviceOptions::default(), plain] {
        if let Some(gpu) = gpu(options) {
            same_resamples(&gpu, &[1, 2, 3, 4, 63, 65, 255, 257, 1000, 5000]);
        }
    }
}

/// More rows than a thread of the device went through once, tied and not.
#[test]
fn a_device_resamples_large_samples_as_the_cpu_does() {
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        let mut rng = ThreefryRng::new(Key([15, 16]));
        for largest in [1, 3, 100_000] {
            let groups = groups_of(&mut rng, (1 << 18) + 77, largest);
            let sample = Resamples {
                groups: &groups,
                key: Key([largest, 17]),
                statistics: ALL,
            };
            let expected = Cpu::default().resamples(&[sample], 1, 2).expect("the CPU");
            let found = gpu.resamples(&[sample], 1, 2).expect("the device");
            assert_eq!(found, expected, "groups of at most {largest} rows");
        }
    }
}

/// One thread of the device went through all rows of a tied group, and a software adapter stopped it on
/// the way, so that all sums were 0.
#[test]
fn regression_a_tied_group_too_large_for_a_thread() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    for size in [5_000, 12_000, 25_000, 70_000, 140_000] {
        let mut groups = TiedGroups::default();
        groups.push(1 << 28, 3);
        groups.push(1 << 29, size);
        groups.push(3 << 28, 1);
        let sample = Resamples {
            groups: &groups,
            key: Key([size, 14]),
            statistics: ALL,
        };
        let expected = Cpu::default().resamples(&[sample], 0, 3).expect("the CPU");
        let found = gpu.resamples(&[sample], 0, 3).expect("the device");
        assert_eq!(found, expected, "{size} rows");
    }
}

/// Rejection rates at level 0.05 with tied scores: in f64, from the formulas, with labels and scores of
/// an independent generator.
fn rejections_in_f64(scores: &[f64], shift: f64, n: usize, replicates: u32) -> [f64; 4] {
    let mut rng = ThreefryRng::new(Key([21, 22]));
    let widths: Vec<usize> = windows(n as u32).iter().map(|&w| w as usize).collect();
    let mut rejections = [0; 4];
    for _ in 0..replicates {
        let z: Vec<f64> = (0..n)
            .map(|_| scores[(uniform(&mut rng) * scores.len() as f64) as usize])
            .collect();
        let mut sample = |shift: f64| {
            let labels: Vec<bool> = z.iter().map(|z| uniform(&mut rng) < z + shift).collect();
            Sample::new(&z, &labels).expect("a sample")
        };
        let mut samples = vec![sample(shift)];
        samples.extend((0..RESAMPLES_IN_F64).map(|_| sample(0.0)));
        let p = |statistic: &dyn Fn(&Sample) -> f64| {
            let values: Vec<f64> = samples.iter().map(statistic).collect();
            let reach = values.iter().filter(|value| **value >= values[0] - 1e-9);
            reach.count() as f64 / samples.len() as f64
        };
        let profiles: Vec<Vec<f64>> = samples
            .iter()
            .map(|sample| {
                let sum = |&width: &usize| reference::window_sum(sample, width);
                widths.iter().map(sum).collect()
            })
            .collect();
        let found = [
            p(&|sample| rank_ece::average(sample).expect("rows")),
            reference::adaptive_p_value(&profiles).expect("defined"),
            p(&|sample| reference::ks(sample).expect("a variance")),
            p(&|sample| reference::kuiper(sample).expect("a variance")),
        ];
        for (rejections, p) in rejections.iter_mut().zip(found) {
            *rejections += u32::from(p <= 0.05);
        }
    }
    rejections.map(|count| f64::from(count) / f64::from(replicates))
}

const RESAMPLES_IN_F64: u32 = 39;

/// `power` of tests by resampling, of an empirical law with ties: wrong by chance in 1 of 4,000 (4
/// comparisons at 4 standard errors).
#[test]
fn powers_of_tied_scores_are_those_in_f64() {
    let scores = [0.1, 0.3, 0.3, 0.45, 0.6, 0.75];
    let (n, replicates, in_f64) = (30, 4000, 500);
    let folder = tempfile::tempdir().expect("a folder");
    let lines: Vec<String> = scores.iter().map(f64::to_string).collect();
    let text = format!("confidence\n{}\n", lines.join("\n"));
    std::fs::write(folder.path().join("scores.csv"), text).expect("written");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rankece"))
        .current_dir(folder.path())
        .args([
            "power",
            "--law",
            "empirical:scores.csv",
            "--curve",
            "z + 0.2",
        ])
        .args(["--n", "30", "--replicates", "4000", "--resamples", "39"])
        .args(["--tests", "monte-carlo,adaptive,ks,kuiper"])
        .args(["--backend", "cpu", "--format", "json", "--quiet"])
        .output()
        .expect("the program runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let tests = json["curves"][0]["tests"].as_array().expect("tests");
    let expected = rejections_in_f64(&scores, 0.2, n, in_f64);
    for ((test, name), expected) in tests.iter().zip(RESAMPLED).zip(expected) {
        assert_eq!(test["name"], name.as_str());
        let rate = test["rate"].as_f64().expect("a rate");
        assert!((0.1..0.9).contains(&rate), "{name}: {rate} tells little");
        let variance = expected * (1.0 - expected);
        let error = (variance / f64::from(in_f64) + variance / f64::from(replicates)).sqrt();
        close(rate, expected, 4.0 * error, name.as_str());
    }
}

/// The power table of section 3 of the specification: rates that were measured with another program,
/// with the error it states (twice its standard error), and that of 1,000 replicates here. 16
/// comparisons at 4 standard errors: wrong by chance in 1 of 1,000.
#[test]
fn powers_are_those_of_the_specification() {
    let table: [(&str, &str, u32, f64, &[f64]); 4] = [
        (
            "beta:0.15",
            "quartic",
            200,
            0.035,
            &[0.90, 0.78, 0.71, 0.85],
        ),
        (
            "beta:0.3",
            "power-15",
            200,
            0.015,
            &[0.88, 0.75, 0.53, 0.68],
        ),
        (
            "uniform",
            "square-wave",
            200,
            0.035,
            &[0.98, 0.94, 0.23, 0.28],
        ),
        (
            "uniform",
            "z + 0.05",
            1000,
            0.035,
            &[0.94, 0.12, 0.96, 0.93],
        ),
    ];
    for (law, curve, n, stated, expected) in table {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_rankece"))
            .args([
                "power",
                "--law",
                law,
                "--curve",
                curve,
                "--n",
                &n.to_string(),
            ])
            .args([
                "--replicates",
                "1000",
                "--resamples",
                "199",
                "--backend",
                "cpu",
            ])
            .args(["--tests", "adaptive,monte-carlo,ks,kuiper"])
            .args(["--format", "json", "--quiet"])
            .output()
            .expect("the program runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let tests = json["curves"][0]["tests"].as_array().expect("tests");
        assert_eq!(tests.len(), expected.len());
        for (test, &expected) in tests.iter().zip(expected) {
            let rate = test["rate"].as_f64().expect("a rate");
            let own = expected * (1.0 - expected) / 1000.0;
            let error = (own + stated * stated / 4.0f64).sqrt();
            close(
                rate,
                expected,
                4.0 * error,
                &format!("{curve}, {}", test["name"]),
            );
        }
    }
}
