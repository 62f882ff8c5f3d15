//! What a person is told of few rows, of certain confidences, and of a gate over them.

use super::program::Files;

/// Standard output of an evaluation, its lines joined.
fn prose(files: &Files, arguments: &str) -> String {
    let table = files.evaluate(arguments).done().stdout;
    table.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The risk once spoke of "the interval" without an upper end, below an interval that had one.
#[test]
fn regression_the_risk_names_the_interval_it_lacks() {
    let rows = ["0.3,1\n", "0.7,0\n", "0.5,1\n", "0.2,0\n"];
    for n in 1..=4 {
        let files = Files::with("p.csv", "p,y\n".to_owned() + &rows[..n].concat());
        let neighbour = prose(&files, "p.csv");
        let missing = "none from an upper end, as the first interval, neighbour, is undefined";
        assert_eq!(neighbour.contains(missing), n < 4, "{neighbour}");
        assert!(neighbour.contains("so a bound of 1 or more says nothing"));
        let concentration = prose(&files, "p.csv --interval concentration,neighbour");
        assert!(!concentration.contains(missing) && concentration.contains("from the interval's"));
    }
}

#[test]
fn regression_contradicted_certainty_is_told_in_every_format() {
    let files = Files::with(
        "p.csv",
        "p,y,g\n0,1,a\n1,0,a\n0,0,b\n1,1,b\n0.5,1,b\n0.25,0,b\n",
    );
    for (arguments, expected) in [
        (
            "p.csv",
            "whatever the tests say: 2 labels contradict confidences of exactly 0 or 1.",
        ),
        ("p.csv --tests none", "Perfect calibration is impossible"),
        (
            "p.csv --group-by g",
            "Perfect calibration is impossible for 1 of 2 results",
        ),
    ] {
        let prose = prose(&files, arguments);
        assert!(prose.contains(expected), "{prose}");
        assert!(
            !prose.contains("No evidence") || arguments.contains("group"),
            "{prose}"
        );
    }
    let json = files
        .evaluate("p.csv --group-by g --format json")
        .done()
        .json();
    let counts = [0, 1].map(|group| json["results"][group]["impossible_labels"].clone());
    assert_eq!(counts, [2, 0]);
    for test in json["results"][0]["tests"].as_array().expect("a list") {
        assert!(test["p_value"].is_null() && test["reject"].is_null());
        let why = test["undefined"].as_str().expect("a reason");
        assert!(why.ends_with("impossible labels"), "{why}");
    }
    let csv = files
        .evaluate("p.csv --group-by g --format csv")
        .done()
        .stdout;
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let place = lines[1]
        .iter()
        .position(|name| *name == "impossible_labels");
    let place = place.expect("a column");
    assert_eq!((lines[2][place], lines[3][place]), ("2", "0"));
    files.evaluate("p.csv --plot p.html").done();
    let page = files.text("p.html");
    assert!(page.contains("labels impossible under calibration"));
    assert!(page.contains("2 labels contradicting"));
}

#[test]
fn replicates_without_null_variance_are_counted_as_undefined() {
    let files = Files::with("scores.csv", "confidence\n0\n1\n");
    let json = super::program::rankece(
        "power --quiet --backend cpu --law empirical:scores.csv --curve 0.5 --n 8 --replicates 100 \
         --tests conditional,finite-sample,monte-carlo,adaptive,ks,spiegelhalter --resamples 19 \
         --format json"
            .split_whitespace(),
    )
    .directory(&files.path("."))
    .done()
    .json();
    let tests = json["curves"][0]["tests"].as_array().expect("a list");
    assert_eq!(tests.len(), 6);
    for test in tests {
        assert_eq!(
            (&test["undefined"], &test["rejections"]),
            (&100.into(), &0.into()),
            "{test}"
        );
    }
}

/// Confidences that are 0 or 1 to nine digits leave rankECE without a null variance, and `skce-l` alone
/// with a p-value.
#[test]
fn regression_one_test_of_skce_is_no_evidence_for_calibration() {
    let rows: String = (0..8)
        .map(|row| format!("1e-1{row},{}\n", row % 3 / 2))
        .collect();
    let files = Files::with("p.csv", format!("p,y\n{rows}"));
    let prose = prose(
        &files,
        "p.csv --tests asymptotic,conditional,skce-l --bandwidth 1",
    );
    assert!(
        prose.contains("Only tests of SKCE could be computed"),
        "{prose}"
    );
    assert!(prose.contains("No other test could: every confidence is 0 or 1 (to 9 digits)"));
    assert!(!prose.contains("No evidence"), "{prose}");
}
