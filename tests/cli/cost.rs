//! Run times on the command line.

use serde_json::Value;

use super::program::{Files, has_adapter, rankece};

fn rows(json: &Value) -> &Vec<Value> {
    json["rows"].as_array().expect("a list")
}

#[test]
fn every_way_of_every_test_is_measured() {
    let flags = "cost --n 50,70,100 --runs 2 --resamples 5 --backend cpu --quiet --format";
    let run = |format| rankece(flags.split_whitespace().chain([format])).done();
    let json = run("json").json();
    // Two tests of neighbours and two of labels, two kernels of skce-l, three nulls by three ways of
    // skce-u; three n each.
    assert_eq!(rows(&json).len(), 3 * (2 + 2 + 2 + 9));
    for row in rows(&json) {
        let time = |key: &str| row[key].as_f64().expect("a number");
        assert!(time("least") > 0.0, "{row}");
        assert!(time("least") <= time("seconds") && time("seconds") <= time("most"));
        assert_eq!(row["runs"], 2);
        let draws =
            ["monte-carlo", "adaptive", "skce-u"].contains(&row["test"].as_str().expect("a name"));
        assert_eq!(row["resamples"].as_u64(), draws.then_some(5), "{row}");
    }
    let slopes = json["slopes"].as_array().expect("a list");
    assert_eq!(slopes.len(), 15);
    assert!(
        slopes
            .iter()
            .all(|slope| slope["slope"].is_number() && slope["sizes"] == 3)
    );
    let csv = run("csv").stdout;
    assert!(
        csv.contains("\nskce-u,laplace,wild,recursion,cpu,100,5,"),
        "{csv}"
    );
    let table = run("table").stdout;
    assert!(table.contains("skce-u laplace wild recursion"), "{table}");
    assert!(table.contains("Medians of 2 measurements"), "{table}");
}

#[test]
fn a_test_draws_as_many_resamples_as_in_evaluate() {
    let flags = "cost --n 50 --runs 1 --tests adaptive,skce-u --backend cpu --quiet --format json";
    let json = rankece(flags.split_whitespace()).done().json();
    let of = |test: &str| {
        let row = rows(&json).iter().find(|row| row["test"] == test);
        row.expect("measured")["resamples"].clone()
    };
    assert_eq!((of("adaptive"), of("skce-u")), (999.into(), 100.into()));
}

#[test]
fn two_sizes_have_no_slope_and_one_run_is_no_median() {
    let flags = "cost --n 50,60 --runs 1 --tests asymptotic --backend cpu --quiet --format";
    let run = |format| rankece(flags.split_whitespace().chain([format])).done();
    let slope = run("json").json()["slopes"][0].clone();
    assert!(slope["slope"].is_null());
    let why = slope["undefined"].as_str().expect("a reason");
    assert!(why.contains("at least 3 sizes, but there are 2"), "{why}");
    let table = run("table").stdout.replace('\n', " ");
    assert!(
        table.contains("Single measurements after a warm-up, no medians"),
        "{table}"
    );
    assert!(
        table.contains("no slopes: a slope needs at least 3 sizes"),
        "{table}"
    );
}

#[test]
fn a_file_says_what_is_measured_and_flags_take_precedence() {
    let files = Files::new();
    let spec =
        "law = 'uniform'\nn = [60, 50]\ntests = ['asymptotic', 'skce-l']\nruns = 1\nseed = 7\n";
    std::fs::write(files.path("spec.toml"), spec).expect("written");
    let run = |flags: &str| {
        rankece(
            ["cost", "spec.toml"]
                .into_iter()
                .chain(flags.split_whitespace()),
        )
        .directory(&files.path(""))
    };
    let json = run("--seed 9 --format json --backend cpu").done().json();
    let mut own = json["spec"].clone();
    assert!(own["threads"].take().as_u64() > Some(0));
    let expected = serde_json::json!({
        "law": "uniform", "curve": "calibrated", "n": [50, 60], "tests": ["asymptotic", "skce-l"],
        "resamples": null, "runs": 1, "seed": 9, "threads": null,
    });
    assert_eq!(own, expected);
    assert_eq!(rows(&json).len(), 2 * (1 + 2));
    run("--output spec.toml").refused(&["spec.toml", "--output"]);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let files = Files::new();
    std::fs::write(files.path("bad.toml"), "laws = 'uniform'\n").expect("written");
    for (arguments, parts) in [
        (
            "bad.toml",
            &["bad.toml", "`laws` is no key of cost", "`law`"] as &[_],
        ),
        ("none.toml", &["none.toml"]),
        (
            "--law beta:0.1..0.3/0.1",
            &["cost takes one law", "there are 3"],
        ),
        ("--n 2", &["n: `2`", "from 3"]),
        ("--runs 0", &["runs: `0`", "from 1 to 1000"]),
        ("--resamples 0", &["resamples: `0`"]),
        (
            "--tests asymptotic --resamples 9",
            &["resamples", "monte-carlo"],
        ),
        ("--tests asymptotics", &["`asymptotics`", "`asymptotic`"]),
    ] {
        let run = ["cost"].into_iter().chain(arguments.split_whitespace());
        rankece(run).directory(&files.path("")).refused(parts);
    }
}

#[test]
fn a_gpu_is_measured_beside_the_cpu() {
    if !has_adapter() {
        return;
    }
    let flags = "cost --n 50 --runs 1 --resamples 5 --tests adaptive,spiegelhalter,skce-u --backend gpu \
                 --quiet --format json";
    let json = rankece(flags.split_whitespace()).done().json();
    let gpu = rows(&json).iter().filter(|row| row["backend"] == "gpu");
    // `adaptive`; three nulls by the Gaussian kernel, and all pairs of the Laplace kernel.
    assert_eq!((rows(&json).len(), gpu.count()), (1 + 1 + 9 + 1 + 6, 1 + 6));
}
