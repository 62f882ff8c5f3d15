//! The gate, and the exit status that tells its verdict.
//!
//! On `nfl.csv` the neighbour interval is about -0.008 to 0.0134.

use super::program::{Files, LLM_STATED, NFL, evaluate};

#[track_caller]
fn gated(arguments: &str, status: i32, verdict: &str) {
    let outcome = evaluate(&format!("{arguments} --format json")).outcome();
    assert_eq!(outcome.status, status, "{}", outcome.stderr);
    let json = outcome.json();
    assert_eq!(json["gate"]["verdict"], verdict);
    let table = evaluate(arguments).outcome();
    assert_eq!(table.status, status);
    assert!(table.stdout.contains(verdict), "{}", table.stdout);
}

#[test]
fn within() {
    gated(&format!("{NFL} --max-rank-ece 0.02"), 0, "within");
}

#[test]
fn exceeds() {
    // Every pair of neighbours is wrong by 0.9, so rankECE is near 0.81 and varies little.
    let csv = "p,y\n".to_owned() + &"0.9,0\n0.1,1\n".repeat(500);
    let files = Files::with("p.csv", csv);
    let outcome = files
        .evaluate("p.csv --max-rank-ece 0.5 --format json")
        .outcome();
    assert_eq!(outcome.status, 1);
    assert_eq!(outcome.json()["gate"]["verdict"], "exceeds");
    assert_eq!(outcome.json()["results"][0]["gate"], "exceeds");
}

#[test]
fn undecided_when_the_interval_holds_the_limit() {
    gated(&format!("{NFL} --max-rank-ece 0.001"), 3, "undecided");
    gated(&format!("{NFL} --max-rank-ece 0"), 3, "undecided");
}

#[test]
fn undecided_when_the_interval_is_undefined() {
    let files = Files::with("p.csv", "p,y\n0.5,1\n0.6,0\n");
    let outcome = files
        .evaluate("p.csv --max-rank-ece 1 --format json")
        .outcome();
    assert_eq!(outcome.status, 3);
    assert_eq!(outcome.json()["results"][0]["gate"], "undecided");
}

#[test]
fn the_first_interval_decides() {
    // The concentration interval of 1,882 rows is wider than 0.02 on either side.
    gated(
        &format!("{NFL} --max-rank-ece 0.02 --interval concentration,neighbour"),
        3,
        "undecided",
    );
    gated(
        &format!("{NFL} --max-rank-ece 0.02 --interval neighbour,concentration"),
        0,
        "within",
    );
}

#[test]
fn the_worst_of_several_results_counts() {
    let files = Files::new();
    files.write(
        "exceeds.csv",
        "p,y\n".to_owned() + &"0.9,0\n0.1,1\n".repeat(500),
    );
    files.write("undecided.csv", "p,y\n0.5,1\n0.6,0\n");
    files.write(
        "within.csv",
        "p,y\n".to_owned() + &"0.5,0\n0.5,1\n".repeat(500),
    );
    for (names, status, verdict) in [
        ("within", 0, "within"),
        ("undecided", 3, "undecided"),
        ("exceeds", 1, "exceeds"),
        ("within within", 0, "within"),
        ("within undecided", 3, "undecided"),
        ("undecided within", 3, "undecided"),
        ("exceeds undecided", 1, "exceeds"),
        ("undecided exceeds within", 1, "exceeds"),
    ] {
        let names: Vec<String> = names.split(' ').map(|name| format!("{name}.csv")).collect();
        let outcome = files
            .evaluate(&format!(
                "{} --max-rank-ece 0.1 --format json",
                names.join(" ")
            ))
            .outcome();
        assert_eq!(outcome.status, status, "{names:?} {}", outcome.stderr);
        assert_eq!(outcome.json()["gate"]["verdict"], verdict);
    }
}

#[test]
fn no_gate_no_verdict() {
    let json = evaluate(&format!("{LLM_STATED} --format json"))
        .done()
        .json();
    assert!(json["gate"].is_null() && json["results"][0]["gate"].is_null());
}
