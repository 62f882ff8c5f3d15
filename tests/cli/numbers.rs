//! Numbers on real files, which other programs were asked for, and what must not change them.

use serde_json::Value;

use super::program::{
    BREAST_CANCER, CIFAR10, FLIGHTS, FLIGHTS_F32, Files, LLM_STATED, NFL, assert_close, evaluate,
};

fn results(arguments: &str) -> Vec<Value> {
    let json = evaluate(&format!("{arguments} --format json"))
        .done()
        .json();
    json["results"].as_array().expect("a list").clone()
}

fn only(arguments: &str) -> Value {
    let mut results = results(arguments);
    assert_eq!(results.len(), 1);
    results.remove(0)
}

/// The statistic of a test of a result.
fn statistic<'a>(result: &'a Value, name: &str) -> &'a Value {
    let tests = result["tests"].as_array().expect("a list");
    let test = tests.iter().find(|test| test["name"] == name);
    &test.expect("the test is there")["statistic"]
}

#[test]
fn nfl() {
    let result = only(NFL);
    assert_eq!(result["n"], 1882);
    assert_eq!(result["reduction"], "binary");
    assert_close(&result["rank_ece"]["estimate"], 0.002_716_1, 5e-8);
    assert_close(statistic(&result, "asymptotic"), 0.544, 5e-4);
    assert_close(&result["binned"][0]["ece_l1"], 0.032_30, 5e-6);
}

#[test]
fn llm_stated() {
    let result = only(LLM_STATED);
    assert_eq!(result["n"], 72_185);
    assert_eq!(result["distinct"], 140);
    assert_close(&result["rank_ece"]["estimate"], 0.016_160_5, 5e-8);
    assert_close(&result["binned"][0]["ece_l1"], 0.1128, 5e-5);
    assert_close(statistic(&result, "asymptotic"), 46.0, 0.5);
    assert_close(statistic(&result, "conditional"), 478.0, 0.5);
    // 186 rows of confidence 0 with label 1 and 2,213 of confidence 1 with label 0.
    assert_eq!(result["log_loss_clamped"], 186 + 2213);
}

#[test]
fn cifar10() {
    let result = only(CIFAR10);
    assert_eq!(result["n"], 10_000);
    assert_eq!(result["reduction"], "top-label");
    assert_close(&result["rank_ece"]["estimate"], 0.015_246_1, 5e-8);
    assert_close(statistic(&result, "asymptotic"), 7.645, 5e-4);
    assert_close(&result["binned"][0]["ece_l1"], 0.107_89, 5e-6);
}

#[test]
fn breast_cancer() {
    let result = only(BREAST_CANCER);
    assert_eq!(result["n"], 1707);
    assert_close(&result["rank_ece"]["estimate"], 0.002_663_9, 5e-8);
    assert_close(statistic(&result, "asymptotic"), 1.696, 5e-4);
}

#[test]
fn classes_and_groups_and_files_in_one_run() {
    let several = results(&format!("{NFL} {CIFAR10} --reduce class-wise"));
    assert_eq!(several.len(), 1 + 10);
    assert_eq!(several[0], only(NFL));
    for (class, result) in several[1..].iter().enumerate() {
        assert_eq!(result["class"], class);
        assert_eq!(result["reduction"], "class-wise");
        assert_eq!(result["n"], 10_000);
        // CIFAR-10 has 1,000 test images of each class.
        assert_eq!(result["base_rate"], 0.1);
    }

    let grouped = results(&format!(
        "{FLIGHTS} {BREAST_CANCER} {FLIGHTS_F32} --group-by group"
    ));
    let named: Vec<(String, String)> = grouped
        .iter()
        .map(|result| {
            let text = |value: &Value| value.as_str().expect("a text").to_owned();
            (text(&result["source"]), text(&result["group"]["group"]))
        })
        .collect();
    // Files in the order given, though those of one type are computed together.
    let expected: Vec<(String, String)> = [FLIGHTS, BREAST_CANCER, FLIGHTS_F32]
        .iter()
        .flat_map(|file| {
            let groups = if *file == BREAST_CANCER {
                ["gnb", "lr", "rf"]
            } else {
                ["gnb", "hgb", "lr"]
            };
            groups.map(|group| (file.to_string(), group.to_owned()))
        })
        .collect();
    assert_eq!(named, expected);
    assert_eq!(
        grouped[3..6],
        results(&format!("{BREAST_CANCER} --group-by group"))
    );
}

#[test]
fn groups_of_two_columns() {
    let both = results(&format!("{LLM_STATED} --group-by group,qset"));
    let rows: u64 = both.iter().filter_map(|result| result["n"].as_u64()).sum();
    assert_eq!(rows, 72_185);
    for result in &both {
        let group = result["group"].as_object().expect("a group");
        assert_eq!(group.keys().collect::<Vec<_>>(), ["group", "qset"]);
    }
}

/// The rows of a file behind its header, reversed and dealt into seven heaps.
fn shuffled(csv: &str) -> String {
    let mut lines = csv.lines();
    let header = lines.next().expect("a header");
    let rows: Vec<&str> = lines.rev().collect();
    let heaps = (0..7).flat_map(|heap| rows.iter().skip(heap).step_by(7));
    std::iter::once(&header)
        .chain(heaps)
        .flat_map(|line| [line, "\n"])
        .collect()
}

#[test]
fn the_order_of_rows_changes_no_byte() {
    for file in [NFL, LLM_STATED, BREAST_CANCER] {
        let csv = std::fs::read_to_string(file).expect("a file of text");
        let files = Files::with("p.csv", &csv);
        let others = Files::with("p.csv", shuffled(&csv));
        for flags in [
            "",
            "--ties random --seed 7",
            "--group-by group",
            "--bins 10,sqrt --bin-scheme equal-mass,equal-width",
        ] {
            for format in ["table", "json", "csv"] {
                let arguments = format!("p.csv {flags} --format {format}");
                assert_eq!(
                    files.evaluate(&arguments).done().stdout,
                    others.evaluate(&arguments).done().stdout,
                    "{file} {arguments}"
                );
            }
        }
    }
}

#[test]
fn stable_ties_alone_follow_the_order_of_rows() {
    let one = Files::with("p.csv", "p,y\n0.5,1\n0.5,1\n0.5,0\n0.5,0\n");
    let other = Files::with("p.csv", "p,y\n0.5,1\n0.5,0\n0.5,1\n0.5,0\n");
    let estimate = |files: &Files| {
        let json = files.evaluate("p.csv --ties stable --format json").done();
        json.json()["results"][0]["rank_ece"]["estimate"].clone()
    };
    // D is 1/2, 1/2, -1/2, -1/2 in one and 1/2, -1/2, 1/2, -1/2 in the other.
    assert_close(&estimate(&one), 0.25 * (1.0 - 1.0 + 1.0) / 4.0, 1e-15);
    assert_close(&estimate(&other), -0.25 * 3.0 / 4.0, 1e-15);
}

#[test]
fn threads_change_no_byte() {
    for arguments in [
        NFL.to_owned(),
        format!("{FLIGHTS} --group-by group --ties random"),
    ] {
        let run = |threads: u32| {
            let arguments = format!("{arguments} --threads {threads} --format json");
            evaluate(&arguments).done().stdout
        };
        let one = run(1);
        assert_eq!(one, run(2));
        assert_eq!(one, run(5));
        assert_eq!(one, run(0));
    }
}

#[test]
fn standard_input_is_a_file() {
    let named = |arguments: &str, input: &str| {
        let bytes = std::fs::read(input).expect("a file");
        let json = evaluate(&format!("{arguments} --format json"))
            .input(bytes)
            .done()
            .json();
        let mut result = json["results"][0].clone();
        result["source"] = input.into();
        result
    };
    for file in [NFL, CIFAR10, FLIGHTS] {
        assert_eq!(named("-", file), only(file));
    }
}

/// Half precision holds 0.5 and 0.25 exactly; the sample is then the same in every type.
#[test]
fn one_sample_in_several_formats() {
    let files = Files::new();
    let rows = [("0.5", 1), ("0.25", 0), ("0.25", 1), ("0.75", 1), ("1", 1)];
    let lines = |start: &str, between: &str, end: &str| -> String {
        let line = |(p, y): &(&str, i32)| format!("{start}{p}{between}{y}{end}\n");
        rows.iter().map(line).collect()
    };
    files.write("p.csv", "p,y\n".to_owned() + &lines("", ",", ""));
    files.write("p.tsv", "p\ty\n".to_owned() + &lines("", "\t", ""));
    files.write("p.jsonl", lines("{\"p\": ", ", \"y\": ", "}"));
    files.write(
        "bom.csv",
        "\u{feff}p,y\r\n".to_owned() + &lines("", ",", "\r"),
    );
    let json = files
        .evaluate("p.csv p.tsv p.jsonl bom.csv --format json")
        .done()
        .json();
    let results = json["results"].as_array().expect("a list");
    for result in &results[1..] {
        let mut result = result.clone();
        result["source"] = "p.csv".into();
        assert_eq!(result, results[0]);
    }
    // W is 1/4 twice at 0.25, then 1/2, 1/4, 0; p(1-p) is 1/4 at 0.25 and 0 elsewhere.
    let sum = (0.0625 - 0.25) + 0.25 * 0.5 + 0.5 * 0.25;
    assert_close(&results[0]["rank_ece"]["estimate"], sum / 5.0, 1e-15);
}
