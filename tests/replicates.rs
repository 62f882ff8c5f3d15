//! One suite of simulated replicates for every backend, and what they must be by the formulas.

mod common;

use std::io::Write;

use common::gpu;
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::replicates::{ReplicateSums, Replicates, Simulator, replicate_key};
use rankece::model::Model;
use rankece::random::{Key, Stream, threefry};
use rankece::reference;

fn model(law: &str, curve: &str) -> Model {
    Model::new(law.parse().expect(law), curve.parse().expect(curve), 1).expect("a model")
}

/// Scores with ties in steps of 0.05, and some without.
fn score_file() -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a file");
    writeln!(file, "score,label").expect("a line");
    for step in 0..400u32 {
        let score = if step % 3 == 0 {
            f64::from(step) / 400.0
        } else {
            f64::from(step % 21) / 20.0
        };
        writeln!(file, "{score},1").expect("a line");
    }
    file
}

/// Models of every kind of table.
fn models(scores: &tempfile::NamedTempFile) -> Vec<Model> {
    let empirical = format!("empirical:{}", scores.path().display());
    vec![
        model("uniform", "calibrated"),
        model("uniform", "square-wave"),
        model("uniform:0.2,0.8", "oscillating:0.2,100"),
        model("beta:0.15", "quartic"),
        model("beta:2,3", "calibrated"),
        model(&empirical, "quadratic"),
        model(&empirical, "calibrated"),
    ]
}

fn same_replicates(simulator: &dyn Simulator, sizes: &[u32], count: usize) {
    let scores = score_file();
    for model in models(&scores) {
        let thresholds = [
            model.bin_thresholds(10),
            model.bin_thresholds(1),
            model.bin_thresholds(70),
        ];
        for &rows in sizes {
            for thresholds in [&thresholds[..], &[]] {
                let replicates = Replicates {
                    quantile: &model.quantile,
                    response: &model.response,
                    rows,
                    key: Key::for_stream(1, Stream::Replicates, 7),
                    thresholds,
                };
                // The number of the replicate passes 2³² on the way.
                for first in [0, (1 << 32) - 3] {
                    let expected = Cpu::default()
                        .replicates(&replicates, first, count)
                        .expect("the CPU does not fail");
                    let sums = simulator
                        .replicates(&replicates, first, count)
                        .expect("the device works");
                    assert!(
                        sums == expected,
                        "{} {} {rows} rows from {first}",
                        model.law,
                        model.curve
                    );
                }
            }
        }
    }
}

#[test]
fn gpu_whole_replicates() {
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        same_replicates(&gpu, &[0, 1, 2, 3, 100, 255, 256, 257, 1000, 2048], 7);
    }
}

#[test]
fn gpu_replicates_in_parts() {
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        same_replicates(&gpu, &[5000, 20_000], 5);
    }
}

/// One thread went through all rows of a bin, or of a tied run, and a software adapter left its loop after
/// 65,535 of them.
#[test]
fn regression_bins_and_ties_of_more_rows_than_loops_have_rounds() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    let mut file = tempfile::Builder::new()
        .suffix(".csv")
        .tempfile()
        .expect("a file");
    write!(file, "score,label\n0.25,1\n0.25,1\n0.25,1\n0.75,1\n").expect("lines");
    let empirical = format!("empirical:{}", file.path().display());
    for law in ["uniform", &empirical] {
        let model = model(law, "quadratic");
        let thresholds = [model.bin_thresholds(1), model.bin_thresholds(2)];
        let replicates = Replicates {
            quantile: &model.quantile,
            response: &model.response,
            rows: 140_000,
            key: Key([3, 4]),
            thresholds: &thresholds,
        };
        let expected = Cpu::default()
            .replicates(&replicates, 0, 2)
            .expect("the CPU");
        let sums = gpu.replicates(&replicates, 0, 2).expect("the device");
        assert!(sums == expected, "{law}");
    }
}

#[test]
fn gpu_replicates_without_subgroups_and_int64() {
    let options = DeviceOptions {
        without_subgroups: true,
        without_int64: true,
        ..DeviceOptions::default()
    };
    if let Some(gpu) = gpu(options) {
        same_replicates(&gpu, &[100, 9000], 3);
    }
}

/// The CPU against the definition: words from Threefry, sorted as whole rows, looked up one by one,
/// and summed by the formulas in f64.
#[test]
fn cpu_replicates_are_what_the_definition_says() {
    let scores = score_file();
    for model in models(&scores) {
        for rows in [1u32, 2, 5, 24, 25, 160, 161, 700, 6001, 16_384, 16_385] {
            let bins = 10;
            let thresholds = [model.bin_thresholds(bins)];
            let key = Key::for_stream(1, Stream::Replicates, 7);
            let replicates = Replicates {
                quantile: &model.quantile,
                response: &model.response,
                rows,
                key,
                thresholds: &thresholds,
            };
            let cpu = Cpu::default();
            let sums = &cpu.replicates(&replicates, 5, 20).expect("the CPU")[14];
            let without_bins = Replicates {
                thresholds: &[],
                ..replicates
            };
            let without_bins = cpu.replicates(&without_bins, 19, 1).expect("the CPU");
            assert_eq!(
                without_bins[0],
                ReplicateSums {
                    bins: Vec::new(),
                    ..sums.clone()
                }
            );
            let row_key = replicate_key(key, 19);
            let words: Vec<[u32; 2]> = (0..rows).map(|row| threefry(row_key, [row, 19])).collect();
            let mut uniform: Vec<u32> = words.iter().map(|pair| pair[0]).collect();
            uniform.sort_unstable();
            let mut in_bins = vec![(0u32, 0i64); thresholds[0].len() + 1];
            let (confidences, labels): (Vec<f64>, Vec<bool>) = std::iter::zip(&uniform, &words)
                .map(|(&word, pair)| {
                    let confidence = model.quantile.q30(word);
                    let label = (pair[1] >> 2) < model.response.q30(confidence);
                    let bin = thresholds[0].iter().filter(|&&edge| edge <= word).count();
                    in_bins[bin].0 += 1;
                    in_bins[bin].1 += (i64::from(label) << 30) - i64::from(confidence);
                    (f64::from(confidence) / 2f64.powi(30), label)
                })
                .unzip();
            let got: Vec<(u32, i64)> = sums
                .bins
                .iter()
                .map(|bin| (bin.rows, bin.residual))
                .collect();
            assert_eq!(got, in_bins, "{} {rows}", model.law);

            // Continuous laws have no ties, whatever rounding to Q30 does; so `stable`.
            let sample = reference::Sample::new(&confidences, &labels).expect("confidences");
            let tied = model.law.to_string().starts_with("empirical");
            let n = f64::from(rows);
            let expected = if tied {
                reference::rank_ece::average(&sample)
            } else {
                reference::rank_ece::stable(&sample)
            };
            let rank_ece = sums.rank_ece as f64 / 2f64.powi(60) / n;
            assert!((rank_ece - expected.expect("rows")).abs() < 2e-9);
            let conditional = if tied {
                reference::null::conditional_average(&sample)
            } else {
                reference::null::conditional_ordered(&sample)
            };
            for (sum, expected) in [
                (sums.null_squares, reference::null::squares(&sample)),
                (sums.null_odd, reference::null::odd(&sample)),
                (sums.null_even, reference::null::even(&sample)),
                (sums.null_conditional, conditional),
            ] {
                assert!((sum as f64 / 2f64.powi(66) - expected).abs() / n < 2e-9);
            }
        }
    }
}
