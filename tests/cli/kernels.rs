//! SKCE, its tests and run times on the command line.

use super::program::{Files, NFL, assert_close, evaluate, rankece};

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
        (["--resamples", "9"], &["resamples", "--tests skce-u"]),
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
fn cost_measures_every_way_of_every_test() {
    let flags = "cost --n 50,100 --runs 1 --resamples 5 --backend cpu --quiet --format";
    let run = |format| rankece(flags.split_whitespace().chain([format])).done();
    let json = run("json").json();
    let rows = json["rows"].as_array().expect("a list");
    // Two tests of neighbours, two kernels of skce-l, three nulls by three ways of skce-u; two n each.
    assert_eq!(rows.len(), 2 * (2 + 2 + 9));
    for row in rows {
        assert!(
            row["seconds"].as_f64().is_some_and(|seconds| seconds > 0.0),
            "{row}"
        );
        assert!(row["least"].as_f64() <= row["seconds"].as_f64());
    }
    assert_eq!(json["slopes"].as_array().expect("a list").len(), 13);
    assert!(
        run("csv")
            .stdout
            .contains("skce-u,laplace,wild,recursion,cpu,100,")
    );
    assert!(
        run("table")
            .stdout
            .contains("skce-u laplace wild recursion")
    );
}
