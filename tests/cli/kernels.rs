//! SKCE and its tests on the command line.

use super::program::{Files, NFL, assert_close, evaluate, has_adapter, rankece};

#[test]
fn skce_and_its_tests_are_in_every_format() {
    let flags = "--skce --kernel laplace --bandwidth 0.2 --tests skce-u,skce-l --skce-null wild \
                 --resamples 50";
    let json = evaluate(&format!("{NFL} {flags} --format json"))
        .done()
        .json();
    let result = &json["results"][0];
    // Half of what probcal 0.4.0 gives with its matrix-valued kernel.
    assert_close(&result["skce"]["unbiased"], 0.000_369_156_911_425, 1e-9);
    assert_close(&result["skce"]["biased"], 0.000_486_296_747_348, 1e-9);
    assert_eq!(result["skce"]["kernel"], "laplace");
    assert_eq!(result["skce"]["bandwidth"], 0.2);
    assert_eq!(result["skce"]["null"], "wild");
    assert_eq!(result["tests"][0]["name"], "skce-u");
    assert_eq!(result["tests"][0]["resamples"], 50);
    assert_close(
        &result["tests"][0]["statistic"],
        1882.0 * 0.000_369_156_911_425,
        1e-6,
    );
    assert_eq!(result["tests"][1]["name"], "skce-l");
    let csv = evaluate(&format!("{NFL} {flags} --format csv"))
        .done()
        .stdout;
    for column in [
        "skce_unbiased",
        "skce_linear",
        "skce_u_p_value",
        "skce_l_p_value",
    ] {
        assert!(csv.contains(column), "{column} is missing:\n{csv}");
    }
    let table = evaluate(&format!("{NFL} {flags}")).done().stdout;
    assert!(
        table.contains("laplace kernel, bandwidth 0.2, skce-u against wild"),
        "{table}"
    );
    // Nobody asked: nothing.
    let json = evaluate(&format!("{NFL} --format json")).done().json();
    assert!(json["results"][0]["skce"].is_null());
}

#[test]
fn the_bootstrap_interval_of_skce_is_in_every_format() {
    let flags =
        "--skce --kernel laplace --bandwidth 0.2 --interval neighbour,bootstrap --tests none";
    let run = |format: &str| {
        let run = evaluate(&format!("{NFL} {flags} --format {format}"));
        run.done()
    };
    let json = run("json").json();
    let intervals = json["results"][0]["skce"]["intervals"]
        .as_array()
        .expect("a list")
        .clone();
    assert_eq!(intervals.len(), 1);
    let interval = &intervals[0];
    assert_eq!(
        (&interval["estimator"], &interval["method"]),
        (&"unbiased".into(), &"bootstrap".into())
    );
    assert_eq!(
        (&interval["level"], &interval["resamples"]),
        (&0.95.into(), &999.into())
    );
    let (lower, upper) = (interval["lower"].as_f64(), interval["upper"].as_f64());
    assert!(
        lower < Some(0.000_369_156) && upper > Some(0.000_369_157),
        "{interval}"
    );
    let csv = run("csv").stdout;
    assert!(csv.contains("skce_unbiased_bootstrap_lower,"), "{csv}");
    let table = run("table").stdout;
    let mut lines = table
        .lines()
        .skip_while(|line| !line.starts_with("    unbiased"));
    let below = lines.nth(1).expect("a line below");
    assert!(
        below.contains("95 % interval") && below.contains("bootstrap (999 resamples)"),
        "{table}"
    );
    // Without --skce, and without the bootstrap, there is none.
    for flags in ["--tests skce-u --interval neighbour,bootstrap", "--skce"] {
        let json = evaluate(&format!("{NFL} {flags} --format json"))
            .done()
            .json();
        assert_eq!(
            json["results"][0]["skce"]["intervals"],
            serde_json::json!([])
        );
    }
}

#[test]
fn flags_of_what_is_not_computed_are_refused() {
    for (flags, parts) in [
        ("--kernel laplace", &["--kernel", "--skce"] as &[_]),
        ("--bandwidth 0.2", &["--bandwidth", "--skce"]),
        ("--skce --skce-null wild", &["--skce-null", "skce-u"]),
        ("--tests skce-l --resamples 9", &["--resamples", "skce-u"]),
        ("--skce --bandwidth 0", &["`0`", "--bandwidth", "median"]),
        ("--skce --bandwidth -1", &["`-1`", "--bandwidth"]),
        ("--skce --bandwidth nan", &["`nan`", "--bandwidth"]),
        ("--skce --kernel box", &["box", "gaussian, laplace"]),
        ("--tests skce-u --resamples 0", &["0", "--resamples"]),
    ] {
        evaluate(&format!("{NFL} {flags}")).refused(parts);
    }
    let power = ["power", "--curve", "calibrated", "--n", "50"];
    for (flags, parts) in [
        (
            ["--kernel", "laplace"],
            &["kernel", "--tests skce-u"] as &[_],
        ),
        (["--resamples", "9"], &["resamples", "skce-u"]),
    ] {
        rankece(power.into_iter().chain(flags)).refused(parts);
    }
}

#[test]
fn a_power_of_few_resamples_says_that_it_cannot_reject() {
    let table = evaluate(&format!("{NFL} --tests skce-u --resamples 5"))
        .done()
        .stdout;
    assert!(table.contains("can never reach alpha"), "{table}");
}

#[test]
fn power_of_tests_with_a_kernel_is_the_same_in_shards() {
    let files = Files::new();
    let run = |extra: &[&str]| {
        let flags = "power --curve quartic --law beta:0.15 --n 40 --replicates 300 --format json \
                     --tests asymptotic,skce-u,skce-l --resamples 20 --kernel laplace --quiet";
        let flags = flags.split_whitespace().chain(extra.iter().copied());
        rankece(flags).directory(&files.path("")).done()
    };
    let whole = run(&[]).stdout;
    run(&["--shard", "1/2", "--output", "a"]);
    run(&["--shard", "2/2", "--output", "b"]);
    let merge = ["merge", "a", "b", "--format", "json"];
    let merged = rankece(merge).directory(&files.path("")).done().stdout;
    assert_eq!(merged, whole);
    assert_eq!(run(&["--threads", "3"]).stdout, whole);
}

#[test]
fn a_gpu_gives_the_p_values_of_the_cpu_and_nearly_its_estimates() {
    if !has_adapter() {
        return;
    }
    let run = |backend: &str| {
        let flags = format!("{NFL} --group-by group --skce --tests skce-u,skce-l --format json");
        let json = evaluate(&format!("{flags} --backend {backend}"))
            .done()
            .json();
        assert_eq!(json["backend"], backend);
        json["results"].as_array().expect("a list").clone()
    };
    let (cpu, gpu) = (run("cpu"), run("gpu"));
    assert!(cpu.len() > 1 && cpu.len() == gpu.len());
    for (cpu, gpu) in std::iter::zip(&cpu, &gpu) {
        for (estimate, tolerance) in [("unbiased", 1e-7), ("biased", 1e-7), ("linear", 0.0)] {
            let expected = cpu["skce"][estimate].as_f64().expect("a number");
            assert_close(&gpu["skce"][estimate], expected, tolerance);
        }
        for test in [0, 1] {
            assert_eq!(cpu["tests"][test]["p_value"], gpu["tests"][test]["p_value"]);
        }
    }
}

#[test]
fn power_with_kernels_counts_the_same_rejections_on_a_gpu() {
    if !has_adapter() {
        return;
    }
    let run = |backend: &str| {
        let flags = "power --curve quartic --law beta:0.15 --n 3,50 --replicates 120 --format json \
                     --tests skce-u,skce-l --resamples 19 --quiet --backend";
        let flags = flags.split_whitespace().chain([backend]);
        rankece(flags).done().json()["curves"].clone()
    };
    assert_eq!(run("cpu"), run("gpu"));
}
