//! What is written, and where.

use std::io::Read;
use std::process::Stdio;

use serde_json::Value;

use super::program::{BREAST_CANCER, Files, LLM_STATED, NFL, evaluate};

#[track_caller]
fn has_keys(value: &Value, keys: &[&str]) {
    let object = value.as_object().expect("an object");
    for key in keys {
        assert!(object.contains_key(*key), "no {key} in {object:?}");
    }
}

#[test]
fn json_has_the_keys_that_scripts_rely_on() {
    let json = evaluate(&format!("{NFL} --max-rank-ece 1 --format json"))
        .done()
        .json();
    has_keys(
        &json,
        &[
            "schema", "version", "backend", "adapter", "seed", "alpha", "gate", "results",
        ],
    );
    assert_eq!(json["schema"], 1);
    assert_eq!(json["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["backend"], "cpu");
    assert!(json["adapter"].is_null());
    assert_eq!(json["seed"], 1);
    assert_eq!(json["alpha"], 0.05);
    has_keys(&json["gate"], &["limit", "verdict"]);
    let result = &json["results"][0];
    has_keys(
        result,
        &[
            "source",
            "group",
            "reduction",
            "class",
            "dtype",
            "n",
            "skipped",
            "distinct",
            "tied_rows",
            "base_rate",
            "mean_confidence",
            "brier",
            "log_loss",
            "log_loss_clamped",
            "impossible_labels",
            "gate",
            "rank_ece",
            "tests",
            "binned",
            "skce",
        ],
    );
    has_keys(
        &result["rank_ece"],
        &[
            "estimate",
            "ties",
            "decision_risk_bound",
            "decision_risk_bound_upper",
            "intervals",
        ],
    );
    for (index, method) in ["neighbour", "concentration"].iter().enumerate() {
        let interval = &result["rank_ece"]["intervals"][index];
        has_keys(
            interval,
            &[
                "method",
                "level",
                "lower",
                "upper",
                "undefined",
                "resamples",
                "subsample_rows",
            ],
        );
        assert_eq!(interval["method"], *method);
        assert_eq!(interval["level"], 0.95);
    }
    for (index, name) in ["asymptotic", "conditional", "finite-sample"]
        .iter()
        .enumerate()
    {
        let test = &result["tests"][index];
        has_keys(
            test,
            &[
                "name",
                "statistic",
                "threshold",
                "p_value",
                "p_value_asymptotic",
                "reject",
                "undefined",
                "resamples",
                "profile",
            ],
        );
        assert_eq!(test["name"], *name);
    }
    let binned = &result["binned"][0];
    has_keys(
        binned,
        &[
            "scheme",
            "closed",
            "rule",
            "bins",
            "effective_bins",
            "ece_l1",
            "ece_l2",
            "ece_rms",
            "ece_l2_debiased",
            "mce",
            "intervals",
            "table",
        ],
    );
    assert_eq!(binned["table"].as_array().map(Vec::len), Some(10));
    has_keys(
        &binned["table"][0],
        &[
            "lower",
            "upper",
            "n",
            "mean_confidence",
            "mean_label",
            "gap",
        ],
    );
}

#[test]
fn csv_begins_with_the_backend_and_has_a_line_for_each_result() {
    let outcome = evaluate(&format!("{BREAST_CANCER} --group-by group --format csv")).done();
    let (first, rest) = outcome.stdout.split_once('\n').expect("lines");
    assert_eq!(first, "# backend cpu");
    let mut reader = csv::Reader::from_reader(rest.as_bytes());
    let header = reader.headers().expect("a header").clone();
    assert!(
        header
            .iter()
            .all(|name| !name.contains("backend") && !name.contains("adapter"))
    );
    let column = |name: &str| header.iter().position(|field| field == name).expect(name);
    let (group, n, rank_ece) = (column("group"), column("n"), column("rank_ece"));
    let json = evaluate(&format!("{BREAST_CANCER} --group-by group --format json"))
        .done()
        .json();
    let records: Vec<csv::StringRecord> = reader.records().map(|r| r.expect("a line")).collect();
    assert_eq!(records.len(), 3);
    for (index, record) in records.iter().enumerate() {
        let result = &json["results"][index];
        assert_eq!(
            record[group],
            *result["group"]["group"].as_str().expect("a name")
        );
        assert_eq!(record[n].parse::<u64>().ok(), result["n"].as_u64());
        // Nothing is rounded.
        assert_eq!(
            record[rank_ece].parse::<f64>().ok(),
            result["rank_ece"]["estimate"].as_f64()
        );
    }
}

#[test]
fn undefined_is_null_or_empty_with_a_reason_and_never_nan() {
    let files = Files::with(
        "p.csv",
        "p,y,g\n0.5,1,a\nnan,0,b\nnan,1,b\n1,1,c\n0,0,c\n1,1,c\n0,0,c\n1,1,c\n",
    );
    for flags in [
        "",
        "--ties random",
        "--bins 3,n/2 --bin-scheme equal-mass,equal-width",
    ] {
        for format in ["table", "json", "csv"] {
            let arguments = format!("p.csv --group-by g --skip-missing {flags} --format {format}");
            let outcome = files.evaluate(&arguments).done();
            let text = outcome.stdout.to_lowercase();
            for word in ["nan", "inf,", "inf ", "infinity"] {
                assert!(!text.contains(word), "{word} in {text}");
            }
        }
    }
    let json = files
        .evaluate("p.csv --group-by g --skip-missing --format json")
        .done()
        .json();
    let empty = &json["results"][1];
    assert_eq!(empty["n"], 0);
    assert_eq!(empty["skipped"], 2);
    for key in ["base_rate", "mean_confidence", "brier", "log_loss"] {
        assert!(empty[key].is_null(), "{key}");
    }
    assert!(empty["rank_ece"]["estimate"].is_null());
    for result in json["results"].as_array().expect("a list") {
        for test in result["tests"].as_array().expect("a list") {
            assert_eq!(
                test["p_value"].is_null(),
                test["undefined"].is_string(),
                "{test}"
            );
        }
        for interval in result["rank_ece"]["intervals"].as_array().expect("a list") {
            assert_eq!(
                interval["lower"].is_null(),
                interval["undefined"].is_string()
            );
        }
    }
    // Group c is certain and right: no null variance.
    assert_eq!(json["results"][2]["rank_ece"]["estimate"], 0.0);
    assert!(json["results"][2]["tests"][0]["undefined"].is_string());
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child = evaluate(&format!(
        "{LLM_STATED} --group-by group,qset --bins 10000 --format json"
    ))
    .into_command()
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("the program starts");
    let mut start = [0; 10];
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_exact(&mut start).expect("some output");
    drop(stdout);
    let output = child.wait_with_output().expect("the program ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        !stderr.contains("error") && !stderr.contains("panic"),
        "{stderr}"
    );
}

#[test]
fn notes_go_to_standard_error_and_quiet_silences_them() {
    let loud = evaluate(NFL).done();
    assert!(loud.stderr.contains("note: ") && loud.stderr.contains("`confidence`"));
    assert!(!loud.stdout.contains("note: "));
    let quiet = evaluate(&format!("{NFL} --quiet")).done();
    assert_eq!(quiet.stderr, "");
    assert_eq!(quiet.stdout, loud.stdout);
    // A column that was named was not guessed.
    let named = evaluate(&format!("{NFL} --confidence confidence --label label")).done();
    assert_eq!(named.stderr, "");
}

#[test]
fn progress_is_for_terminals() {
    let outcome = evaluate(LLM_STATED).done();
    assert!(!outcome.stderr.contains('\r') && !outcome.stderr.contains('\u{1b}'));
}

#[test]
fn timings_go_to_standard_error() {
    let timed = evaluate(&format!("{NFL} --timings --quiet")).done();
    let lines: Vec<&str> = timed.stderr.lines().collect();
    let parts = [
        "started",
        "read 1882 rows",
        "computed 1882 rows",
        "  log loss 1882 rows",
        "  tests by resampling 1882 rows",
        "  sums over rows 1882 rows",
        "  estimates 1882 rows",
        "  the rest 1882 rows",
        "    sort 1882 rows",
        "    totals 1882 rows",
        "    runs 1882 rows",
        "    neighbours 1882 rows",
        "    bins 1882 rows",
        "wrote",
        "total",
    ];
    assert_eq!(lines.len(), parts.len(), "{}", timed.stderr);
    for (line, part) in lines.iter().zip(parts) {
        assert!(line.starts_with(&format!("{part} in ")), "{line}");
        assert_eq!(line.ends_with(" million rows/s"), part.ends_with(" rows"));
    }
    assert_eq!(timed.stdout, evaluate(NFL).done().stdout);

    // Rows left out were read as well; each of three classes has a result of its own.
    let rows = r#"{"p":[0.5,0.25,0.25],"y":1} {"p":null,"y":1} {"p":[0,0,1],"y":2}"#;
    let files = Files::with("m.jsonl", rows.replace(' ', "\n"));
    let arguments = "m.jsonl --reduce class-wise --skip-missing --timings --quiet";
    let timed = files.evaluate(arguments).done();
    assert!(
        timed.stderr.contains("\nread 3 rows in "),
        "{}",
        timed.stderr
    );
    assert!(timed.stderr.contains("\ncomputed 6 rows in "));
}

/// Resampling had no line, though it takes most of the time; the lines of a level add up to the one above.
#[test]
fn regression_timings_tell_of_resampling_and_add_up() {
    let flags = "--tests adaptive,skce-u --skce --interval subsample,bootstrap --timings --quiet";
    let told = evaluate(&format!("{NFL} {flags} --backend cpu"))
        .done()
        .stderr;
    let times: Vec<(usize, &str, f64)> = told
        .lines()
        .map(|line| {
            let (name, time) = line.split_once(" in ").expect("a time");
            let seconds = time.split(' ').next().expect("a number");
            let name = name.trim_end_matches(" rows").trim_end_matches(" 1882");
            let depth = name.len() - name.trim_start().len();
            (depth, name.trim_start(), seconds.parse().expect("a number"))
        })
        .collect();
    let of = |wanted: &str| {
        let mut found = times.iter().filter(|(_, name, _)| *name == wanted);
        let (_, _, seconds) = found
            .next()
            .unwrap_or_else(|| panic!("no {wanted} in {told}"));
        assert!(found.next().is_none());
        *seconds
    };
    let sum = |wanted: usize| -> f64 {
        let of_depth = times.iter().filter(|(depth, _, _)| *depth == wanted);
        of_depth.map(|(_, _, seconds)| seconds).sum()
    };
    // Times are told to a microsecond.
    let parts = sum(0) - of("total");
    assert!(
        (parts - of("total")).abs() < 0.001 + 0.05 * of("total"),
        "{told}"
    );
    assert!((sum(2) - of("computed")).abs() < 2e-5, "{told}");
    assert!(sum(4) <= sum(2), "{told}");
    for stage in ["tests by resampling", "intervals by resampling", "SKCE"] {
        assert!(of(stage) > 0.0, "{told}");
    }
}

#[test]
fn output_goes_to_a_file_and_nowhere_else() {
    let files = Files::with("p.csv", std::fs::read(NFL).expect("a file"));
    for format in ["table", "json", "csv"] {
        let printed = files.evaluate(&format!("p.csv --format {format}")).done();
        let written = files
            .evaluate(&format!("p.csv --format {format} --output out --quiet"))
            .done();
        assert!(written.stdout.is_empty() && written.stderr.is_empty());
        assert_eq!(files.text("out"), printed.stdout);
        assert_eq!(
            files.names(),
            ["out", "p.csv"],
            "nothing else is left behind"
        );
    }
}

#[test]
fn a_failed_run_leaves_an_older_output_as_it_was() {
    let files = Files::with("p.csv", "p,y\n7,1\n");
    files.write("out", "before");
    files.evaluate("p.csv --output out").refused(&["row 1"]);
    assert_eq!(files.read("out"), b"before");
    assert_eq!(files.names(), ["out", "p.csv"]);
}

#[test]
fn pictures_are_what_their_names_say() {
    let files = Files::with("p.csv", std::fs::read(BREAST_CANCER).expect("a file"));
    for flags in [
        "",
        "--group-by group",
        "--bins 3,20 --bin-scheme equal-mass",
    ] {
        for name in ["x.svg", "x.png", "x.html", "X.SVG"] {
            files
                .evaluate(&format!("p.csv {flags} --plot {name}"))
                .done();
        }
        for name in ["x.svg", "X.SVG"] {
            let svg = files.text(name);
            let document = roxmltree::Document::parse(&svg).expect("XML");
            assert_eq!(document.root_element().tag_name().name(), "svg");
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
        let png = files.read("x.png");
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(png[12..16], *b"IHDR");
        let html = files.text("x.html");
        assert!(html.to_lowercase().starts_with("<!doctype html>") && html.contains("<svg"));
        // The page stands alone.
        assert!(!html.contains("src=\"http") && !html.contains("href=\"http"));
    }
}

#[test]
fn pictures_are_the_same_bytes_again() {
    let files = Files::with("p.csv", std::fs::read(NFL).expect("a file"));
    for name in ["x.svg", "x.png", "x.html"] {
        files.evaluate(&format!("p.csv --plot {name}")).done();
        let first = files.read(name);
        files
            .evaluate(&format!("p.csv --plot {name} --threads 1"))
            .done();
        assert_eq!(first, files.read(name), "{name}");
    }
}

#[test]
fn groups_without_rows_can_be_drawn() {
    let files = Files::with("p.csv", "p,y,g\n0.5,1,a\nnan,0,b\n");
    for name in ["x.svg", "x.png", "x.html"] {
        files
            .evaluate(&format!("p.csv --group-by g --skip-missing --plot {name}"))
            .done();
    }
}

#[test]
fn every_rule_and_scheme_has_its_line() {
    let json = evaluate(&format!(
        "{NFL} --bins 10,sqrt,cbrt,n/20,n/10,10 --bin-scheme equal-width,equal-mass --format json"
    ))
    .done()
    .json();
    let binned = json["results"][0]["binned"].as_array().expect("a list");
    let named: Vec<(&str, &str, u64)> = binned
        .iter()
        .map(|b| {
            let text = |key: &str| b[key].as_str().expect("a text");
            (
                text("scheme"),
                text("rule"),
                b["bins"].as_u64().expect("a number"),
            )
        })
        .collect();
    // 1882: 43² = 1849, 44² = 1936; 12³ = 1728, 13³ = 2197.
    let rules = [
        ("10", 10),
        ("sqrt", 43),
        ("cbrt", 12),
        ("n/20", 94),
        ("n/10", 188),
    ];
    let expected: Vec<(&str, &str, u64)> = ["equal-width", "equal-mass"]
        .iter()
        .flat_map(|scheme| rules.map(|(rule, bins)| (*scheme, rule, bins)))
        .collect();
    assert_eq!(named, expected);
}

/// Both intervals that resample rows, in all formats.
#[test]
fn intervals_by_resampling() {
    let flags = format!("{NFL} --tests none --interval subsample,neighbour,bootstrap --bins 10,7");
    let json = evaluate(&format!("{flags} --format json")).done().json();
    let result = &json["results"][0];
    let subsample = &result["rank_ece"]["intervals"][0];
    assert_eq!(subsample["method"], "subsample");
    assert_eq!(subsample["resamples"], 999);
    // 152³ = 3,511,808 and 153³ = 3,581,577 lie on either side of 1882² = 3,541,924.
    assert_eq!(subsample["subsample_rows"], 152);
    let number = |value: &Value| value.as_f64().expect("a number");
    assert!(number(&subsample["lower"]) < number(&result["rank_ece"]["estimate"]));
    assert_eq!(result["rank_ece"]["intervals"][1]["method"], "neighbour");
    for binned in result["binned"].as_array().expect("a list") {
        let intervals = binned["intervals"].as_array().expect("a list");
        let names: Vec<&str> = intervals
            .iter()
            .filter_map(|interval| interval["estimator"].as_str())
            .collect();
        let expected = ["ece_l1", "ece_l2", "ece_rms", "ece_l2_debiased", "mce"];
        assert_eq!(names, expected);
        for interval in intervals {
            assert_eq!(interval["method"], "bootstrap");
            assert_eq!(interval["resamples"], 999);
            assert!(number(&interval["lower"]) < number(&interval["upper"]));
        }
        // The root is monotone, and so are percentiles.
        let [square, root] = [&intervals[1], &intervals[2]];
        let lower = number(&square["lower"]).sqrt();
        assert!((lower - number(&root["lower"])).abs() < 1e-15);
    }
    let csv = evaluate(&format!("{flags} --format csv")).done().stdout;
    for column in [
        "subsample_lower",
        "subsample_rows",
        "subsample_resamples",
        "neighbour_upper",
        "ece_l1_bootstrap_lower_equal_width_right_10",
        "mce_bootstrap_upper_equal_width_right_7",
    ] {
        let header = csv.lines().nth(1).expect("a header");
        assert!(header.split(',').any(|name| name == column), "{column}");
    }
    let table = evaluate(&flags).done().stdout;
    assert!(table.contains("subsample (999 of 152 rows)"), "{table}");
    assert!(
        table.contains("95 % intervals, bootstrap (999 resamples), 10 equal-width"),
        "{table}"
    );
}

#[test]
fn none_asks_for_no_tests_and_no_intervals() {
    let flags = format!("{NFL} --tests none --interval none");
    let json = evaluate(&format!("{flags} --format json")).done().json();
    let result = &json["results"][0];
    assert_eq!(result["tests"], Value::Array(Vec::new()));
    assert_eq!(result["rank_ece"]["intervals"], Value::Array(Vec::new()));
    assert!(result["rank_ece"]["decision_risk_bound_upper"].is_null());
    let table = evaluate(&flags).done().stdout;
    assert!(!table.contains("interval") && !table.contains("statistic"));
}
