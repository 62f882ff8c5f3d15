//! Real predictions, whole and in groups, and sizes past what a device binds at once.
//!
//! The largest sizes take tens of seconds each on a software adapter, and are left out of a normal run:
//!
//! ```text
//! cargo test --release --test data_files -- --ignored --nocapture --test-threads 1
//! ```

mod common;

use common::{Spread, batch, gpu, request, rows};
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::{Backend, Ties};
use rankece::evaluate::{Options, evaluate};
use rankece::input::{self, Loaded, Reduce};
use rankece::predictions::Dtype;
use rankece::results::Evaluated;

/// A file with its number of rows, and the number of groups by each of its columns.
struct File {
    path: &'static str,
    rows: u64,
    dtype: Dtype,
    columns: &'static [(&'static [&'static str], usize)],
}

const FILES: [File; 6] = [
    File {
        path: "examples/data/nfl.csv",
        rows: 1882,
        dtype: Dtype::F64,
        // Seasons.
        columns: &[(&["group"], 7)],
    },
    File {
        path: "tests/data/breast_cancer.csv",
        rows: 1707,
        dtype: Dtype::F64,
        // Models.
        columns: &[(&["group"], 3)],
    },
    File {
        path: "tests/data/fte_madness_open.csv",
        rows: 14_458,
        dtype: Dtype::F64,
        columns: &[],
    },
    File {
        path: "tests/data/llm_stated.csv",
        rows: 72_185,
        dtype: Dtype::F64,
        // 11 models on 5 benchmarks.
        columns: &[(&["group"], 11), (&["qset"], 5), (&["group", "qset"], 55)],
    },
    File {
        path: "tests/data/flights.parquet",
        rows: 491_019,
        dtype: Dtype::F64,
        columns: &[(&["group"], 3)],
    },
    File {
        path: "tests/data/flights_f32.parquet",
        rows: 491_019,
        dtype: Dtype::F32,
        columns: &[(&["group"], 3)],
    },
];

fn load(path: &str, columns: &[&str]) -> Loaded {
    let options = input::Options {
        group_by: columns.iter().map(|&column| column.to_owned()).collect(),
        ..input::Options::default()
    };
    input::read(path, &options).expect("the file is read")
}

fn results(loaded: &Loaded, backend: &dyn Backend) -> Vec<Evaluated> {
    // A software adapter is slow at resampling.
    let options = Options {
        resamples: Some(9),
        ..Options::default()
    };
    let results = evaluate(
        loaded.batch.clone(),
        loaded.segments.clone(),
        &options,
        backend,
    );
    results.expect("it is evaluated")
}

fn json(results: &[Evaluated]) -> Vec<String> {
    let result = |result| serde_json::to_string(result).expect("JSON");
    results.iter().map(result).collect()
}

#[test]
fn files_have_their_rows_and_types() {
    for file in &FILES {
        let loaded = load(file.path, &[]);
        let whole = results(&loaded, &Cpu::default());
        assert_eq!(whole.len(), 1, "{}", file.path);
        assert_eq!(whole[0].n, file.rows, "{}", file.path);
        assert_eq!(whole[0].dtype, file.dtype, "{}", file.path);
        assert_eq!(whole[0].skipped, 0, "{}", file.path);
    }
}

/// Counts, and means weighted by them, add up over groups to those of the whole.
#[test]
fn groups_add_up_to_the_whole() {
    for file in &FILES {
        let whole = &results(&load(file.path, &[]), &Cpu::default())[0];
        for &(columns, groups) in file.columns {
            let parts = results(&load(file.path, columns), &Cpu::default());
            assert_eq!(parts.len(), groups, "{} {columns:?}", file.path);
            assert_eq!(parts.iter().map(|part| part.n).sum::<u64>(), whole.n);
            let clamped: u64 = parts.iter().map(|part| part.log_loss_clamped).sum();
            assert_eq!(clamped, whole.log_loss_clamped);
            let mean = |number: fn(&Evaluated) -> Option<f64>| {
                let sum: f64 = parts
                    .iter()
                    .map(|part| part.n as f64 * number(part).expect("rows"))
                    .sum();
                let expected = number(whole).expect("rows");
                assert!(
                    (sum / whole.n as f64 - expected).abs() < 1e-12,
                    "{} {columns:?}",
                    file.path
                );
            };
            mean(|result| result.base_rate);
            mean(|result| result.mean_confidence);
            mean(|result| result.brier);
            mean(|result| result.log_loss);
            // Rows of a bin are those of its groups.
            for (bin, expected) in whole.binned[0].table.iter().enumerate() {
                let rows: u64 = parts.iter().map(|part| part.binned[0].table[bin].n).sum();
                assert_eq!(rows, expected.n, "{} {columns:?} bin {bin}", file.path);
            }
        }
    }
}

/// A group is what the file would be without the other groups.
#[test]
fn a_group_is_its_rows_alone() {
    let path = "tests/data/llm_stated.csv";
    let text = std::fs::read_to_string(path).expect("a file");
    let directory = tempfile::tempdir().expect("a directory");
    let grouped = results(&load(path, &["group", "qset"]), &Cpu::default());
    for group in &grouped {
        let values = group.group.as_ref().expect("a group");
        let end = format!(",{},{}", values["group"], values["qset"]);
        let alone: String = text
            .lines()
            .enumerate()
            .filter(|(number, line)| *number == 0 || line.ends_with(&end))
            .flat_map(|(_, line)| [line, "\n"])
            .collect();
        let file = directory.path().join("alone.csv");
        std::fs::write(&file, alone).expect("a file");
        let loaded = load(file.to_str().expect("UTF-8"), &[]);
        let mut alone = results(&loaded, &Cpu::default());
        alone[0].source = path.to_owned();
        alone[0].group = group.group.clone();
        assert_eq!(json(&alone), json(std::slice::from_ref(group)));
    }
}

/// Rounding confidences to single precision moves them by at most 2⁻²⁵.
#[test]
fn single_precision_is_near_double() {
    let double = results(
        &load("tests/data/flights.parquet", &["group"]),
        &Cpu::default(),
    );
    let single = results(
        &load("tests/data/flights_f32.parquet", &["group"]),
        &Cpu::default(),
    );
    for (double, single) in std::iter::zip(&double, &single) {
        assert_eq!(double.group, single.group);
        assert_eq!(double.base_rate, single.base_rate);
        for number in [
            |result: &Evaluated| result.brier,
            |result: &Evaluated| result.mean_confidence,
        ] {
            let difference = number(double).expect("rows") - number(single).expect("rows");
            assert!(difference.abs() < 2.0 * 0.5f64.powi(25), "{difference}");
        }
    }
}

#[test]
fn classes_share_their_rows() {
    let options = input::Options {
        reduce: Reduce::ClassWise,
        ..input::Options::default()
    };
    let loaded = input::read("tests/data/cifar10_lenet.npz", &options).expect("the file is read");
    let classes = results(&loaded, &Cpu::default());
    assert_eq!(classes.len(), 10);
    // Each row is of one class, and its probabilities sum to 1 within their rounding.
    let sum = |number: fn(&Evaluated) -> Option<f64>| -> f64 {
        classes
            .iter()
            .map(|class| number(class).expect("rows"))
            .sum()
    };
    assert!((sum(|class| class.base_rate) - 1.0).abs() < 1e-12);
    assert!((sum(|class| class.mean_confidence) - 1.0).abs() < 1e-6);
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        assert_eq!(json(&results(&loaded, &gpu)), json(&classes));
    }
}

#[test]
fn gpu_gives_the_same_for_groups() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    for file in &FILES {
        for (columns, _) in file.columns {
            let loaded = load(file.path, columns);
            assert_eq!(
                json(&results(&loaded, &gpu)),
                json(&results(&loaded, &Cpu::default())),
                "{} {columns:?}",
                file.path
            );
        }
    }
}

/// Real files on a device that takes fewer rows at a time than they have, whole and in groups of
/// which some fit and some do not.
#[test]
fn gpu_gives_the_same_past_its_binding() {
    let options = DeviceOptions {
        most_rows: Some(100_000),
        ..DeviceOptions::default()
    };
    let Some(gpu) = gpu(options) else { return };
    for path in [
        "tests/data/flights.parquet",
        "tests/data/flights_f32.parquet",
    ] {
        for columns in [&[] as &[&str], &["group"]] {
            let loaded = load(path, columns);
            assert_eq!(
                json(&results(&loaded, &gpu)),
                json(&results(&loaded, &Cpu::default())),
                "{path} {columns:?}"
            );
        }
    }
}

/// Holds the device against the CPU on random rows.
fn size(dtype: Dtype, count: usize) {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    let batch = batch(dtype, &[rows(dtype, count, Spread::Uniform, 11)]);
    let request = request(Ties::Average, &[10], 1);
    let start = std::time::Instant::now();
    let sums = gpu
        .sums(&mut batch.clone(), &request)
        .expect("the device works");
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{count} rows of {dtype}: {seconds:.1} s on {}",
        gpu.adapter().name
    );
    let expected = Cpu::default().sums(&mut batch.clone(), &request);
    assert!(
        sums == expected.expect("the CPU does not fail"),
        "{count} rows of {dtype}"
    );
}

#[test]
fn gpu_2_to_the_17_rows() {
    size(Dtype::F32, 1 << 17);
}

#[test]
fn gpu_2_to_the_20_rows_and_7() {
    size(Dtype::F32, (1 << 20) + 7);
}

/// Half of a binding of 128 MiB.
#[test]
#[ignore = "tens of seconds on a software adapter, and a gigabyte of memory"]
fn gpu_2_to_the_24_rows_and_1000() {
    size(Dtype::F32, (1 << 24) + 1000);
}

/// Past a binding of 128 MiB, as software adapters have it.
#[test]
#[ignore = "tens of seconds on a software adapter, and gigabytes of memory"]
fn gpu_2_to_the_25_rows_and_1000() {
    size(Dtype::F32, (1 << 25) + 1000);
}

/// Past a binding of 128 MiB with confidences of 64 bits.
#[test]
#[ignore = "tens of seconds on a software adapter, and gigabytes of memory"]
fn gpu_2_to_the_24_rows_and_1000_in_double_precision() {
    size(Dtype::F64, (1 << 24) + 1000);
}
