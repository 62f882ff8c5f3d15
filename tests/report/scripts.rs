//! JSON and CSV.

use rankece::report::{Format, write};
use rankece::results::Evaluation;
use serde_json::Value;

use super::samples::{article, groups, nothing, wavy, with_bins};

pub fn written(format: Format, evaluation: &Evaluation) -> String {
    let mut out = Vec::new();
    write(format, evaluation, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn json(evaluation: &Evaluation) -> Value {
    serde_json::from_str(&written(Format::Json, evaluation)).unwrap()
}

/// The keys of an object, in order.
fn keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    keys.sort_unstable();
    keys
}

fn assert_has_keys(value: &Value, expected: &str) {
    for key in expected.split_whitespace() {
        assert!(keys(value).contains(&key), "{key} is missing in {value}");
    }
}

#[test]
fn json_has_the_keys_that_scripts_rely_on() {
    let document = json(&article());
    assert_has_keys(
        &document,
        "schema version backend adapter seed alpha gate results",
    );
    let result = &document["results"][0];
    assert_has_keys(
        result,
        "source group reduction class dtype n skipped distinct tied_rows base_rate \
         mean_confidence brier log_loss log_loss_clamped impossible_labels gate rank_ece tests \
         binned skce",
    );
    let rank_ece = &result["rank_ece"];
    assert_has_keys(
        rank_ece,
        "estimate ties decision_risk_bound decision_risk_bound_upper intervals",
    );
    assert_has_keys(
        &rank_ece["intervals"][0],
        "method level lower upper undefined",
    );
    assert_has_keys(
        &result["tests"][0],
        "name statistic threshold p_value p_value_asymptotic reject undefined resamples profile",
    );
    let binned = &result["binned"][0];
    assert_has_keys(
        binned,
        "scheme closed rule bins effective_bins ece_l1 ece_l2 ece_rms ece_l2_debiased mce \
         intervals table",
    );
    assert_has_keys(
        &binned["table"][0],
        "lower upper n mean_confidence mean_label gap",
    );
}

#[test]
fn json_has_the_words_and_numbers_of_the_article() {
    let document = json(&article());
    assert_eq!(document["schema"], 1);
    assert_eq!(document["backend"], "cpu");
    assert_eq!(document["adapter"], Value::Null);
    let result = &document["results"][0];
    assert_eq!(result["reduction"], "binary");
    assert_eq!(result["dtype"], "f64");
    assert_eq!(result["rank_ece"]["estimate"], -0.095625);
    assert_eq!(result["rank_ece"]["ties"], "average");
    assert_eq!(result["tests"][0]["statistic"], -1.054696);
    assert_eq!(result["tests"][1]["threshold"], 5.177326);
    assert_eq!(result["tests"][2]["p_value"], Value::Null);
    assert_eq!(
        result["tests"][2]["undefined"],
        "its own null variance is 0"
    );
    let binned = &result["binned"][0];
    assert_eq!(binned["scheme"], "equal-width");
    assert_eq!(binned["closed"], "right");
    assert_eq!(binned["rule"], "4");
    assert_eq!(binned["table"][0]["gap"], Value::Null);
    let gpu = json(&groups(2));
    assert_eq!(gpu["adapter"]["type"], "discrete");
    assert_eq!(gpu["gate"]["verdict"], "undecided");
    assert_eq!(gpu["results"][1]["group"]["season"], "1991");
}

#[test]
fn json_numbers_read_back_to_the_same_bits() {
    for number in [0.1 + 0.2, 1e-300, 5e-324, f64::MAX, -0.095625, 1.0 / 3.0] {
        let mut evaluation = article();
        evaluation.results[0].rank_ece.estimate = Some(number);
        let read = json(&evaluation)["results"][0]["rank_ece"]["estimate"].as_f64();
        assert_eq!(read.map(f64::to_bits), Some(number.to_bits()));
    }
    assert!(written(Format::Json, &article()).ends_with("}\n"));
}

#[test]
fn nothing_is_ever_nan_or_infinite() {
    let mut broken = article();
    broken.results[0].brier = Some(f64::NAN);
    broken.results[0].tests[0].statistic = Some(f64::INFINITY);
    for evaluation in [article(), nothing(), groups(3), broken] {
        for format in [Format::Table, Format::Json, Format::Csv] {
            let text = written(format, &evaluation).to_lowercase();
            for word in text.split(|c: char| !c.is_alphanumeric()) {
                assert!(!["nan", "inf", "infinity"].contains(&word), "{text}");
            }
        }
    }
}

/// The comment, and a lookup of the fields of each record by their names.
fn csv(evaluation: &Evaluation) -> (String, Vec<impl Fn(&str) -> String + use<>>) {
    let text = written(Format::Csv, evaluation);
    let (comment, body) = text.split_once('\n').unwrap();
    let mut reader = csv::Reader::from_reader(body.as_bytes());
    let header = reader.headers().unwrap().clone();
    let mut names: Vec<&str> = header.iter().collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), header.len(), "a name occurs twice");
    let records = reader.into_records().map(|record| {
        let (record, header) = (record.unwrap(), header.clone());
        move |name: &str| {
            let place = header.iter().position(|column| column == name);
            record[place.unwrap_or_else(|| panic!("no column {name}"))].to_owned()
        }
    });
    (comment.to_owned(), records.collect())
}

#[test]
fn csv_reads_back() {
    let (comment, records) = csv(&article());
    assert_eq!(comment, "# backend cpu");
    let [field] = records.as_slice() else {
        panic!("one record");
    };
    for (name, value) in [
        ("source", "article.csv"),
        ("reduction", "binary"),
        ("class", ""),
        ("dtype", "f64"),
        ("n", "4"),
        ("rank_ece", "-0.095625"),
        ("ties", "average"),
        ("brier", "0.1625"),
        ("neighbour_lower", ""),
        ("neighbour_undefined", "all moments are 0"),
        ("concentration_upper", "1.432239"),
        ("asymptotic_statistic", "-1.054696"),
        ("asymptotic_p_value", "0.854218"),
        ("asymptotic_reject", "false"),
        ("finite_sample_threshold", "5.177326"),
        ("conditional_p_value", ""),
        ("conditional_reject", ""),
        ("conditional_undefined", "its own null variance is 0"),
        ("ece_l1_equal_width_right_4", "0.1"),
        ("ece_l2_debiased_equal_width_right_4", "-0.115"),
        ("effective_bins_equal_width_right_4", "2"),
        ("gate_limit", ""),
        ("version", "0.1.0"),
        ("seed", "1"),
        ("alpha", "0.05"),
    ] {
        assert_eq!(field(name), value, "{name}");
    }
}

#[test]
fn csv_names_the_adapter_in_the_comment_alone() {
    let mut evaluation = groups(3);
    evaluation.adapter.as_mut().unwrap().name = "a \"fast\"\ncard".to_owned();
    let (comment, records) = csv(&evaluation);
    let expected = r#"# backend gpu adapter "a \"fast\"\ncard" driver "570.86""#;
    assert_eq!(comment, expected);
    assert_eq!(records.len(), 3);
    assert_eq!(records[2]("season"), "1992");
    assert_eq!(records[2]("team"), "<Ünïon & \"Co\">");
    assert_eq!(records[0]("gate"), "undecided");
    assert_eq!(records[0]("gate_limit"), "0.003");
}

#[test]
fn group_columns_of_any_name_get_a_name_of_their_own() {
    let mut evaluation = article();
    let group =
        ["n", "group_n", "seed", "a,\"b\"\n"].map(|name| (name.to_owned(), format!("my {name}")));
    evaluation.results[0].group = Some(group.into());
    let (_, records) = csv(&evaluation);
    assert_eq!(records[0]("n"), "4");
    assert_eq!(records[0]("seed"), "1");
    assert_eq!(records[0]("group_seed"), "my seed");
    assert_eq!(records[0]("a,\"b\"\n"), "my a,\"b\"\n");
    let found = ["group_n", "group_group_n"].map(&records[0]);
    assert!(found.contains(&"my n".to_owned()) && found.contains(&"my group_n".to_owned()));
}

#[test]
fn binnings_of_results_that_differ_stay_apart() {
    let mut evaluation = with_bins(wavy(10, 1000));
    let mut other = evaluation.results[0].clone();
    other.binned[0].rule = "n/20".to_owned();
    other.binned[0].ece_l1 = Some(0.25);
    other.tests.remove(0);
    evaluation.results.push(other);
    let (_, records) = csv(&evaluation);
    let l1 = [
        "ece_l1_equal_width_right_10",
        "ece_l1_equal_width_right_n_20",
    ];
    assert_eq!(l1.map(&records[0]), ["0.0509", ""]);
    assert_eq!(l1.map(&records[1]), ["", "0.25"]);
    assert_eq!(records[1]("asymptotic_p_value"), "");
}
