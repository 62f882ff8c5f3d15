//! Faults of other programs, one test for each case of `tests/cases.json` under its id: on the CPU
//! and, where there is one, on the device.

mod common;

use std::process::Command;

use common::{DTYPES, Spread, batch, gpu, narrow, rows, shuffled};
use half::f16;
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::{Backend, Closed, Scheme, Ties};
use rankece::evaluate::{Options, evaluate};
use rankece::input::SegmentInfo;
use rankece::predictions::{Batch, Dtype, Reduction};
use rankece::results::Evaluated;
use rankece::statistic::BinsRule;
use serde_json::Value;

/// How far from the formulas results may be.
const TOLERANCE: f64 = 2e-9;

/// Cases, each with the function that checks it, and a test that none is left out.
macro_rules! cases {
    ($($name:ident: $id:literal => $check:expr;)*) => {
        $(
            #[test]
            fn $name() {
                let check: fn(&Value) = $check;
                check(&case($id));
            }
        )*

        #[test]
        fn every_case_has_a_test() {
            let tested = [$($id),*];
            for case in all_cases() {
                let id = case["id"].as_str().expect("an id");
                assert!(tested.contains(&id), "no test for {id}");
            }
        }
    };
}

cases! {
    one_in_its_own_bin: "one-in-its-own-bin" => listed;
    zero_and_one: "zero-and-one" => listed;
    perfect: "perfect" => certain_and_right;
    n_bins_over_n: "n-bins-over-n" => listed;
    edge_half_right: "edge-half-right" => listed;
    edge_half_left: "edge-half-left" => listed;
    decimal_edge_right: "decimal-edge-right" => listed;
    decimal_edge_left: "decimal-edge-left" => listed;
    one_bin_too_few: "one-bin-too-few" => listed;
    cancelling: "cancelling" => listed;
    bin_centre: "bin-centre" => listed;
    one_class: "one-class" => listed;
    all_equal: "all-equal" => listed;
    tie_block_order: "tie-block-order" => every_order_of_labels;
    debiased: "debiased" => debiased_as_kumar;
    mass_bins_keep_ties: "mass-bins-keep-ties" => ties_in_one_bin;
    mass_bins_sorted: "mass-bins-sorted" => |case| equal_mass(case, 4);
    last_bin_skipped: "last-bin-skipped" => |case| equal_mass(case, 2);
    nan: "nan" => missing_in_a_file;
    slightly_over_one: "slightly-over-one" => |case| refused(case, &["row 3", "1.0000001", "never clipped"]);
    logits: "logits" => |case| refused(case, &["row 1", "-1", "logits"]);
    percent: "percent" => |case| refused(case, &["row 1", "90", "percentages"]);
    swapped: "swapped" => |case| refused(case, &["row 1", "column `label`", "0.1"]);
    half_counts: "half-counts" => counts;
    f32_counts: "f32-counts" => counts;
    gpu_sort_sizes: "gpu-sort-sizes" => |_| sort_sizes();
    row_order: "row-order" => |_| order_of_rows();
}

fn all_cases() -> Vec<Value> {
    serde_json::from_str(include_str!("cases.json")).expect("JSON")
}

fn case(id: &str) -> Value {
    let mut cases = all_cases().into_iter().filter(|case| case["id"] == id);
    cases.next().expect("the case is in the file")
}

/// What a case is about: some keep it one level down.
fn input(case: &Value) -> &Value {
    case.get("input").unwrap_or(case)
}

fn confidences(case: &Value) -> Vec<f64> {
    let list = input(case)["confidences"].as_array().expect("a list");
    list.iter().map(|z| z.as_f64().expect("a number")).collect()
}

fn labels(case: &Value) -> Vec<bool> {
    let list = input(case)["labels"].as_array().expect("a list");
    list.iter().map(|label| *label == 1).collect()
}

/// Runs a check on the CPU and on the device, if there is one.
fn on_every_backend(check: impl Fn(&dyn Backend)) {
    check(&Cpu::default());
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        check(&gpu);
    }
}

/// Options with one binning.
fn options(scheme: Scheme, closed: Closed, bins: u64) -> Options {
    Options {
        bins: vec![
            bins.to_string()
                .parse::<BinsRule>()
                .expect("a number of bins"),
        ],
        schemes: vec![scheme],
        closed,
        resamples: Some(19),
        ..Options::default()
    }
}

/// The result of a batch of one segment.
fn result(batch: Batch, options: &Options, backend: &dyn Backend) -> Evaluated {
    let info = SegmentInfo {
        source: "case".to_owned(),
        group: None,
        reduction: Reduction::Binary,
        class: None,
        skipped: 0,
    };
    let results = evaluate(batch, vec![info], options, backend).expect("it is evaluated");
    assert_eq!(results.len(), 1);
    results.into_iter().next().expect("one")
}

#[track_caller]
fn close(what: &str, value: Option<f64>, expected: f64, tolerance: f64) {
    let value = value.expect(what);
    assert!(
        (value - expected).abs() <= tolerance,
        "{what} is {value}, not {expected}"
    );
}

/// Every number of a case that lists them, in every type of confidences: those of narrow types are
/// as far off as their confidences are, but every row is in its bin.
fn listed(case: &Value) {
    let closed = match case["closed"].as_str() {
        Some("left") => Closed::Left,
        _ => Closed::Right,
    };
    let bins = case["bins"].as_u64().expect("a number");
    let options = options(Scheme::EqualWidth, closed, bins);
    let expect = &case["expect"];
    let number = |key: &str| expect[key].as_f64().expect("a number");
    on_every_backend(|backend| {
        for dtype in DTYPES {
            let confidences: Vec<f64> = confidences(case)
                .iter()
                .map(|&z| narrow(dtype, z))
                .collect();
            let batch = batch(dtype, &[(confidences, labels(case))]);
            let result = result(batch, &options, backend);
            // A confidence is off by half a unit in the last place at most; errors are absolute
            // values and squares of numbers up to 1.
            let rounding = match dtype {
                Dtype::F64 => 0.0,
                narrow => 2.0 * 0.5f64.powi(narrow.fraction_bits() as i32 + 1),
            };
            let tolerance = TOLERANCE + rounding;
            let binned = &result.binned[0];
            close("ece_l1", binned.ece_l1, number("ece_l1"), tolerance);
            close("ece_l2", binned.ece_l2, number("ece_l2"), tolerance);
            close("mce", binned.mce, number("mce"), tolerance);
            close(
                "rank_ece",
                result.rank_ece.estimate,
                number("rank_ece_average"),
                tolerance,
            );
            if let Some(counts) = expect["counts"].as_array() {
                let expected: Vec<u64> = counts.iter().filter_map(Value::as_u64).collect();
                let counts: Vec<u64> = binned.table.iter().map(|bin| bin.n).collect();
                assert_eq!(counts, expected, "{dtype}");
            }
        }
    });
}

fn certain_and_right(case: &Value) {
    listed(case);
    let options = options(Scheme::EqualWidth, Closed::Right, 15);
    on_every_backend(|backend| {
        let batch = batch(Dtype::F64, &[(confidences(case), labels(case))]);
        let result = result(batch, &options, backend);
        assert_eq!(result.rank_ece.estimate, Some(0.0));
        assert_eq!(result.brier, Some(0.0));
        for test in &result.tests {
            assert!(test.undefined.is_some(), "{}", test.name);
            assert_eq!(test.p_value, None, "{}", test.name);
        }
        let json = serde_json::to_string(&result).expect("JSON");
        assert!(!json.to_lowercase().contains("nan"));
    });
}

fn every_order_of_labels(case: &Value) {
    listed(case);
    let expected = case["expect"]["rank_ece_average"]
        .as_f64()
        .expect("a number");
    let options = options(Scheme::EqualWidth, Closed::Right, 10);
    let orders: Vec<u32> = (0..1u32 << 6)
        .filter(|bits| bits.count_ones() == 3)
        .collect();
    assert_eq!(orders.len(), 20);
    on_every_backend(|backend| {
        let results: Vec<Evaluated> = orders
            .iter()
            .map(|bits| {
                let labels = (0..6).map(|row| bits >> row & 1 == 1).collect();
                let batch = batch(Dtype::F64, &[(confidences(case), labels)]);
                result(batch, &options, backend)
            })
            .collect();
        for result in results {
            close("rank_ece", result.rank_ece.estimate, expected, TOLERANCE);
        }
    });
}

fn debiased_as_kumar(case: &Value) {
    listed(case);
    let options = options(Scheme::EqualWidth, Closed::Right, 2);
    on_every_backend(|backend| {
        let batch = batch(Dtype::F64, &[(confidences(case), labels(case))]);
        let result = result(batch, &options, backend);
        // Two bins of three rows, a third or two thirds of them positive: 17/1800 less
        // 2 · (1/2) · (1/3)(2/3)/2.
        let debiased = result.binned[0].ece_l2_debiased;
        close("ece_l2_debiased", debiased, -0.101_666_666_667, TOLERANCE);
    });
}

fn equal_mass(case: &Value, bins: u64) {
    let options = options(Scheme::EqualMass, Closed::Right, bins);
    let expected = case["expect"]["ece_l1"].as_f64().expect("a number");
    on_every_backend(|backend| {
        let batch = batch(Dtype::F64, &[(confidences(case), labels(case))]);
        let result = result(batch, &options, backend);
        let binned = &result.binned[0];
        close("ece_l1", binned.ece_l1, expected, TOLERANCE);
        let inside: u64 = binned.table.iter().map(|bin| bin.n).sum();
        assert_eq!(inside, result.n, "every row is in a bin");
    });
}

/// Ten rows of two kinds: every way in which the two of the second kind can stand among the others.
fn ties_in_one_bin(case: &Value) {
    equal_mass(case, 5);
    let options = options(Scheme::EqualMass, Closed::Right, 5);
    let (confidences, labels) = (confidences(case), labels(case));
    on_every_backend(|backend| {
        let mut orders = 0;
        for first in 0..10 {
            for second in first + 1..10 {
                let mut order: Vec<usize> = (0..8).collect();
                order.insert(first, 8);
                order.insert(second, 9);
                let rows = order.iter().map(|&row| (confidences[row], labels[row]));
                let result = result(batch(Dtype::F64, &[rows.unzip()]), &options, backend);
                let binned = &result.binned[0];
                close("ece_l1", binned.ece_l1, 0.2, TOLERANCE);
                assert_eq!(binned.effective_bins, 2);
                orders += 1;
            }
        }
        assert_eq!(orders, 45);
    });
}

/// Runs `rankece evaluate` on a case as a CSV file.
fn run(case: &Value, flags: &[&str]) -> std::process::Output {
    let directory = tempfile::tempdir().expect("a directory");
    let column = |name: &str| {
        let list = input(case)[name].as_array().expect("a list").clone();
        list.into_iter().map(|value| match value {
            Value::String(text) => text,
            number => number.to_string(),
        })
    };
    let lines: String = std::iter::zip(column("confidences"), column("labels"))
        .map(|(confidence, label)| format!("{confidence},{label}\n"))
        .collect();
    let csv = format!("confidence,label\n{lines}");
    std::fs::write(directory.path().join("case.csv"), csv).expect("a file");
    Command::new(env!("CARGO_BIN_EXE_rankece"))
        .args(["evaluate", "case.csv"])
        .args(flags)
        .current_dir(directory.path())
        .output()
        .expect("the program runs")
}

/// Asserts that a case is refused, by name, with `parts`.
#[track_caller]
fn refused(case: &Value, parts: &[&str]) {
    let output = run(case, &[]);
    let expected = case["expect"]["exit"].as_i64().expect("a status");
    assert_eq!(output.status.code().map(i64::from), Some(expected));
    assert!(output.stdout.is_empty());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("error: case.csv"), "{stderr}");
    for part in parts {
        assert!(stderr.contains(part), "no {part:?} in {stderr}");
    }
}

fn missing_in_a_file(case: &Value) {
    refused(case, &["row 2", "column `confidence`", "--skip-missing"]);
    let output = run(case, &["--skip-missing", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let result = &json["results"][0];
    assert_eq!(result["n"], 3);
    assert_eq!(result["skipped"], 1);
    let ece_l1 = result["binned"][0]["ece_l1"].as_f64();
    close("ece_l1", ece_l1, 0.2, TOLERANCE);
}

/// Many equal confidences of 0.75, labels 1, 1, 1, 0 over and over: calibrated in each count.
fn counts(case: &Value) {
    let input = input(case);
    let n = input["n"].as_u64().expect("a number");
    assert_eq!(input["confidence"], 0.75);
    let dtype = match input["dtype"].as_str() {
        Some("f16") => Dtype::F16,
        _ => Dtype::F32,
    };
    let labels: Vec<bool> = (0..n).map(|row| row % 4 != 3).collect();
    let batch = match dtype {
        Dtype::F16 => Batch::from_slices(&vec![f16::from_f32(0.75); n as usize], &labels),
        _ => Batch::from_slices(&vec![0.75f32; n as usize], &labels),
    }
    .expect("confidences");
    let options = options(Scheme::EqualWidth, Closed::Right, 10);
    on_every_backend(|backend| {
        let result = result(batch.clone(), &options, backend);
        assert_eq!(result.dtype, dtype);
        assert_eq!(result.n, n);
        assert_eq!(result.tied_rows, n);
        assert_eq!(result.base_rate, Some(0.75));
        assert_eq!(result.mean_confidence, Some(0.75));
        let binned = &result.binned[0];
        assert_eq!(binned.ece_l1, Some(0.0));
        assert_eq!(binned.table[7].n, n);
        // n·rankECE = (n - 1)·0² - p(1 - p) with p = 3/4.
        let expected = -0.1875 / n as f64;
        close(
            "rank_ece",
            result.rank_ece.estimate,
            expected,
            TOLERANCE / n as f64,
        );
    });
}

fn sort_sizes() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    let options = options(Scheme::EqualWidth, Closed::Right, 10);
    for size in [
        (1 << 16) - 1,
        1 << 16,
        (1 << 16) + 1,
        1 << 17,
        (1 << 20) + 7,
    ] {
        let batch = batch(Dtype::F32, &[rows(Dtype::F32, size, Spread::Uniform, 3)]);
        let json = |backend: &dyn Backend| {
            let result = result(batch.clone(), &options, backend);
            assert!(result.rank_ece.estimate != Some(0.0));
            serde_json::to_string(&result).expect("JSON")
        };
        assert_eq!(json(&gpu), json(&Cpu::default()), "{size} rows");
    }
}

fn order_of_rows() {
    on_every_backend(|backend| {
        for dtype in DTYPES {
            for spread in [Spread::Steps, Spread::Uniform] {
                let batch = batch(dtype, &[rows(dtype, 1000, spread, 4)]);
                for ties in [Ties::Average, Ties::Random] {
                    let options = Options {
                        ties,
                        schemes: vec![Scheme::EqualWidth, Scheme::EqualMass],
                        resamples: Some(19),
                        ..Options::default()
                    };
                    let json = |batch: Batch| {
                        let result = result(batch, &options, backend);
                        serde_json::to_string(&result).expect("JSON")
                    };
                    let expected = json(batch.clone());
                    for seed in 0..5 {
                        assert_eq!(json(shuffled(&batch, seed)), expected);
                    }
                }
            }
        }
    });
}
