//! `power`, `approx` and `merge` through the command line: known numbers, shards, resuming, refusals.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rankece(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rankece"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the program runs")
}

/// What a run prints, which must succeed.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = rankece(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let mut arguments = arguments.to_vec();
    arguments.extend(["--format", "json", "--quiet", "--backend", "cpu"]);
    serde_json::from_str(&printed(folder, &arguments)).expect("JSON")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

/// Rates that an independent simulation in f64 found with 240,000 repetitions, spec section 5. Within
/// four standard errors of the difference; eight comparisons, a fixed seed.
#[test]
fn power_is_that_of_an_independent_simulation() {
    let folder = folder();
    let replicates: f64 = 100_000.0;
    let found = json(
        folder.path(),
        &[
            "power",
            "--law",
            "beta:0.15",
            "--curve",
            "quartic",
            "--n",
            "50,100,200,400",
            "--tests",
            "asymptotic,finite-sample",
            "--replicates",
            "100000",
        ],
    );
    let expected: [[f64; 2]; 4] = [
        [0.379, 0.0009],
        [0.577, 0.0133],
        [0.803, 0.102],
        [0.959, 0.433],
    ];
    for (point, expected) in expected.iter().enumerate() {
        for (test, &rate) in expected.iter().enumerate() {
            let result = &found["curves"][point]["tests"][test];
            let simulated = result["rate"].as_f64().expect("a rate");
            // The rate is quoted to three digits, so half a unit of the last may be added.
            let rounding = if rate < 0.01 { 5e-5 } else { 5e-4 };
            let error = (rate * (1.0 - rate) * (1.0 / replicates + 1.0 / 240_000.0)).sqrt();
            assert!(
                (simulated - rate).abs() <= 4.0 * error + rounding,
                "point {point}: {simulated} for {rate}"
            );
            let (lower, upper) = (
                result["lower"].as_f64().expect("an end"),
                result["upper"].as_f64().expect("an end"),
            );
            assert!(lower < simulated && simulated < upper);
        }
    }
}

/// The golden table of spec section 5: E rank_ece and E ece_l2 with 10 and 50 bins at n = 1000, uniform
/// law, within four standard errors; 15 comparisons, a fixed seed.
#[test]
fn approx_reproduces_the_golden_table() {
    let folder = folder();
    for (curve, l2_ece, expected) in [
        ("quadratic", 0.034667, [0.034626, 0.036347, 0.044588]),
        (
            "increasing-frequency",
            0.121395,
            [0.119278, 0.027866, 0.082187],
        ),
        ("spikes", 0.025828, [0.025724, 0.015744, 0.032741]),
        ("sawtooth", 0.120208, [0.117703, 0.087358, 0.128902]),
        ("weierstrass", 0.126141, [0.125551, 0.125191, 0.137328]),
    ] {
        let found = json(
            folder.path(),
            &[
                "approx",
                "--curve",
                curve,
                "--n",
                "1000",
                "--bins",
                "10,50",
                "--replicates",
                "20000",
            ],
        );
        let curve_found = &found["curves"][0];
        let truth = curve_found["truth"]["l2_ece"].as_f64().expect("a truth");
        assert!((truth - l2_ece).abs() < 1e-6, "{curve}: {truth}");
        for (estimator, &expected) in std::iter::zip(
            curve_found["estimators"].as_array().expect("estimators"),
            &expected,
        ) {
            let mean = estimator["mean"].as_f64().expect("a mean");
            let error = estimator["se"].as_f64().expect("an error");
            assert!(
                (mean - expected).abs() <= 4.0 * error + 5e-7,
                "{curve} {}: {mean} for {expected}",
                estimator["name"]
            );
        }
    }
}

/// On calibrated data the tests reject at most as often as they say, up to four standard errors.
#[test]
fn tests_keep_their_level() {
    let folder = folder();
    let found = json(
        folder.path(),
        &[
            "power",
            "--curve",
            "calibrated",
            "--n",
            "1000",
            "--tests",
            "all",
            "--replicates",
            "40000",
        ],
    );
    for test in found["curves"][0]["tests"].as_array().expect("tests") {
        let rate = test["rate"].as_f64().expect("a rate");
        let error = (0.05f64 * 0.95 / 40_000.0).sqrt();
        // The normal law is an approximation at n = 1000; its skewness is worth up to 0.006.
        assert!(rate <= 0.05 + 4.0 * error + 0.006, "{test}");
    }
}

const GRID: [&str; 11] = [
    "power",
    "--law",
    "beta:0.2..0.4/0.2",
    "--curve",
    "quartic",
    "--n",
    "100,300",
    "--tests",
    "asymptotic",
    "--replicates",
    "150000",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = GRID.to_vec();
    arguments.extend(["--backend", "cpu", "--format", "json"]);
    arguments.extend(more);
    arguments
}

#[test]
fn shards_merge_to_the_bytes_of_one_run() {
    let folder = folder();
    let whole = printed(folder.path(), &with(&["--quiet"]));
    for shards in [1, 3] {
        let mut merge = vec!["merge".to_owned()];
        for shard in 1..=shards {
            let name = format!("part-{shard}-{shards}");
            let shard = format!("{shard}/{shards}");
            printed(
                folder.path(),
                &with(&[
                    "--quiet",
                    "--shard",
                    &shard,
                    "--output",
                    &name,
                    "--threads",
                    "1",
                ]),
            );
            merge.push(name);
        }
        merge.extend([
            "--format".to_owned(),
            "json".to_owned(),
            "--quiet".to_owned(),
        ]);
        let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
        assert_eq!(printed(folder.path(), &merge), whole, "{shards} shards");
    }
    // A part that is missing, or there twice.
    for parts in [
        &["part-1-3", "part-2-3"][..],
        &["part-1-3", "part-1-3", "part-2-3", "part-3-3"],
    ] {
        let mut merge = vec!["merge"];
        merge.extend(parts);
        let output = rankece(folder.path(), &merge);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
    }
}

/// A run whose state ends anywhere, in the middle of a line too, goes on to the same bytes.
#[test]
fn a_broken_run_resumes_to_the_same_bytes() {
    let folder = folder();
    let whole = printed(folder.path(), &with(&["--quiet"]));
    // The state of a finished part is that of a run at its end.
    printed(
        folder.path(),
        &with(&["--quiet", "--shard", "1/1", "--output", "part"]),
    );
    let state = fs::read(folder.path().join("part")).expect("a part");
    let header = state
        .iter()
        .position(|&byte| byte == b'\n')
        .expect("a line")
        + 1;
    for kept in [
        header,
        header + 10,
        (header + state.len()) / 2,
        state.len() - 3,
    ] {
        fs::write(folder.path().join("cut.partial"), &state[..kept]).expect("a state");
        let output = rankece(
            folder.path(),
            &with(&["--shard", "1/1", "--resume", "--output", "cut"]),
        );
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success(),
            "{kept} of {}: {errors}",
            state.len()
        );
        let merged = printed(
            folder.path(),
            &["merge", "cut", "--format", "json", "--quiet"],
        );
        assert_eq!(merged, whole, "{kept} of {}", state.len());
        fs::remove_file(folder.path().join("cut")).expect("a part");
    }
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    let folder = folder();
    for (arguments, fragments) in [
        (
            vec!["power", "--curve", "quartc", "--n", "100"],
            vec!["quartic"],
        ),
        (
            vec![
                "power",
                "--law",
                "betta:1,2",
                "--curve",
                "quartic",
                "--n",
                "100",
            ],
            vec!["betta", "beta"],
        ),
        (vec!["power", "--curve", "quartic", "--n", "0"], vec!["0"]),
        (vec!["power", "--curve", "quartic", "--n", "2"], vec!["2"]),
        (
            vec![
                "power",
                "--curve",
                "quartic",
                "--n",
                "100",
                "--replicates",
                "0",
            ],
            vec!["0"],
        ),
        (
            vec!["power", "--curve", "quartic", "--n", "100", "--alpha", "1"],
            vec!["1"],
        ),
        (
            vec![
                "power", "--law", "beta:0,1", "--curve", "quartic", "--n", "100",
            ],
            vec!["beta"],
        ),
        (
            vec!["power", "--curve", "z - z^^4", "--n", "100"],
            vec!["z - z^^4", "^"],
        ),
        (
            vec![
                "power", "--curve", "quartic", "--n", "100", "--tests", "magic",
            ],
            vec!["magic", "asymptotic"],
        ),
    ] {
        let output = rankece(folder.path(), &arguments);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(output.stdout.is_empty());
        for fragment in fragments {
            assert!(errors.contains(fragment), "{arguments:?}: {errors}");
        }
    }
    fs::write(folder.path().join("spec.toml"), "curv = \"quartic\"\n").expect("a file");
    let output = rankece(folder.path(), &["power", "spec.toml"]);
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("curv") && errors.contains("curve"),
        "{errors}"
    );
}
