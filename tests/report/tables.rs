//! Tables for people.

use rankece::report::Format;
use rankece::results::{Evaluation, TestResult};
use rankece::{Options, evaluate_slices};

use super::samples::{article, groups, nothing, test, wavy, with_bins};
use super::scripts::written;

fn table(evaluation: &Evaluation) -> String {
    written(Format::Table, evaluation)
}

/// Lines joined, so that it does not matter where they are broken.
fn prose(evaluation: &Evaluation) -> String {
    let table = table(evaluation);
    table.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_article_in_full() {
    let expected = r"article.csv
  rows               4 (f64), 4 distinct confidences, 0 tied rows
  base rate          0.75
  mean confidence    0.75
  Brier score        0.1625
  log loss           0.465368

  rank_ece           -0.095625, ties average
    95 % interval    undefined (all moments are 0), neighbour
    95 % interval    [-1.62349, 1.43224], concentration
    root mean square 0, as the estimate is not positive
  decision risk      decisions taken at these probabilities have at most 2 more risk than after
                     the best monotone transformation of them (none from an upper end, as the
                     first interval, neighbour, is undefined); losses are in [0, 1], so a bound of
                     1 or more says nothing

  bins                                      ece_l1  ece_rms  mce  ece_l2  ece_l2_debiased
  4 equal-width, right-closed, 2 with rows     0.1      0.1  0.1    0.01           -0.115
  ece_l1, ece_rms and mce are in units of probability; ece_l2 is a square, as rank_ece is.

  test           statistic  threshold       p  calibration is
  asymptotic       -1.0547    1.64485  0.8542  not rejected
  finite-sample    -0.3825    5.17733  1       not rejected
  conditional            -          -       -  undefined
  conditional: undefined, its own null variance is 0

No evidence against calibration at level 0.05 (asymptotic p = 0.8542, finite-sample p = 1). This
does not show that the probabilities are calibrated. Undefined: conditional.

Reliability, 4 equal-width bins, right-closed, 2 with rows
  from    to  n  confidence  label   gap  0                               1
  0     0.25  0           -      -     -
  0.25  0.5   0           -      -     -
  0.5   0.75  2         0.6    0.5  -0.1  ████████████████   ┃
  0.75  1     2         0.9    1    +0.1  █████████████████████████████┃██
  bar: mean label, ┃: mean confidence, gap: label - confidence

rankece 0.1.0, backend cpu, seed 1, alpha 0.05
";
    assert_eq!(table(&article()), expected);
}

#[test]
fn the_verdict_says_no_more_than_the_tests() {
    let mut evaluation = article();
    let tests = &mut evaluation.results[0].tests;
    *tests = vec![
        test("asymptotic", 3.0, 1.644854, 0.00134990, true),
        test("conditional", 9.0, 1.644854, 0.0, true),
    ];
    assert!(prose(&evaluation).contains(
        "Calibration is rejected at level 0.05 (asymptotic p = 0.00135, conditional p < 1e-16)."
    ));
    evaluation.results[0]
        .tests
        .push(test("finite-sample", 3.0, 5.0, 0.25, false));
    assert!(prose(&evaluation).contains(
        "The tests disagree at level 0.05: calibration is rejected by some (asymptotic p = \
         0.00135, conditional p < 1e-16), but not by others (finite-sample p = 0.25)."
    ));
    assert!(prose(&nothing()).contains("No test could be computed: there are no rows."));
    evaluation.results[0].tests.clear();
    assert!(!prose(&evaluation).contains("alibration is"));
}

#[test]
fn the_verdict_begins_with_impossible_labels() {
    let mut evaluation = article();
    evaluation.results[0].impossible_labels = 1;
    let one = prose(&evaluation);
    assert!(one.contains(
        "impossible labels 1 row: label 1 at confidence 0, or 0 at 1, which perfect calibration rules \
         out"
    ));
    // Neither is there "no evidence" then.
    assert!(one.contains(
        "Perfect calibration is impossible, whatever the tests say: 1 label contradicts a confidence of \
         exactly 0 or 1. The tests by themselves do not reject it at level 0.05 (asymptotic p = \
         0.8542, finite-sample p = 1). Undefined: conditional."
    ));
    assert!(!one.contains("No evidence"));
    let result = &mut evaluation.results[0];
    result.impossible_labels = 2345;
    result.tests = vec![test("adaptive", 3.0, 0.0, 0.001, true)];
    assert!(prose(&evaluation).contains(
        "whatever the tests say: 2,345 labels contradict confidences of exactly 0 or 1. Calibration is \
         rejected at level 0.05 (adaptive p = 0.001)."
    ));
    evaluation.results[0].tests = vec![test("adaptive", 3.0, 0.0, 0.9, false)];
    assert!(
        prose(&evaluation)
            .contains("The tests by themselves do not reject it at level 0.05 (adaptive p = 0.9).")
    );
    // Without tests it is said as well.
    evaluation.results[0].tests.clear();
    assert!(prose(&evaluation).contains("Perfect calibration is impossible"));

    let mut evaluation = groups(3);
    assert!(!prose(&evaluation).contains("impossible"));
    evaluation.results[1].impossible_labels = 4;
    let table = table(&evaluation);
    let column: Vec<&str> = table
        .lines()
        .skip(1)
        .take(4)
        .filter_map(|line| {
            line.split_whitespace()
                .find(|w| *w == "impossible" || *w == "4")
        })
        .collect();
    assert_eq!(column, ["impossible", "4"]);
    assert!(prose(&evaluation).contains("Perfect calibration is impossible for 1 of 3 results"));
}

#[test]
fn tests_undefined_for_one_reason_share_a_line() {
    let mut evaluation = nothing();
    assert!(
        prose(&evaluation)
            .contains("asymptotic, finite-sample, conditional: undefined, there are no rows")
    );
    evaluation.results.extend(nothing().results);
    assert!(prose(&evaluation).contains(
        "neighbour, asymptotic, finite-sample, conditional: undefined, there are no rows (2 of 2 \
         results)"
    ));
}

#[test]
fn a_bound_on_the_risk_says_when_it_says_nothing() {
    let mut evaluation = groups(1);
    let risk = |evaluation: &Evaluation| {
        let prose = prose(evaluation);
        let (_, after) = prose.split_once("decision risk").expect("a line");
        after
            .split_once(" bins ")
            .expect("bins follow")
            .0
            .to_owned()
    };
    let rank_ece = |evaluation: &mut Evaluation, bound, upper| {
        let rank_ece = &mut evaluation.results[0].rank_ece;
        rank_ece.decision_risk_bound = Some(bound);
        rank_ece.decision_risk_bound_upper = upper;
    };
    rank_ece(&mut evaluation, 0.5, Some(0.9));
    assert!(!risk(&evaluation).contains("says nothing"));
    rank_ece(&mut evaluation, 0.5, Some(1.2));
    assert!(risk(&evaluation).ends_with("so the one from the upper end says nothing"));
    rank_ece(&mut evaluation, 1.1, Some(1.2));
    assert!(risk(&evaluation).ends_with("so a bound of 1 or more says nothing"));
    rank_ece(&mut evaluation, 0.5, None);
    let first = &mut evaluation.results[0].rank_ece.intervals[0];
    (first.lower, first.upper) = (None, None);
    assert!(risk(&evaluation).ends_with("as the first interval, neighbour, is undefined)"));
    evaluation.results[0].rank_ece.intervals.clear();
    assert!(risk(&evaluation).ends_with("transformation of them"));
}

#[test]
fn a_result_says_what_it_is_a_result_of() {
    let mut evaluation = groups(1);
    let result = &mut evaluation.results[0];
    result.skipped = 3;
    result.log_loss_clamped = 1;
    result.class = Some(7);
    result.reduction = rankece::predictions::Reduction::ClassWise;
    result.tests[0].note = Some("with many ties it is conservative".to_owned());
    result.tests[1].resamples = Some(9_999);
    let prose = prose(&evaluation);
    for expected in [
        "predictions.parquet: season = 1990, team = <Ünïon & \"Co\">, class 7",
        "3 skipped rows",
        "(1 row clamped at 1e-15)",
        "reduction class-wise",
        "ties average",
        "sqrt(rank_ece)",
        "(0.08 from the interval's upper end)",
        "10 equal-width, right-closed",
        "asymptotic: with many ties it is conservative",
        "9,999",
        "Gate rank_ece <= 0.003: undecided",
        "rankece 0.1.0, backend gpu (NVIDIA H200, discrete, driver 570.86), seed 1, alpha 0.05",
    ] {
        assert!(prose.contains(expected), "{expected} is missing in {prose}");
    }
}

#[test]
fn several_results_are_counted_against_chance() {
    let prose = prose(&groups(40));
    for expected in [
        "Rejections of calibration at level 0.05, and in parentheses how many to expect by chance \
         if all were calibrated: asymptotic 0 of 40 (2), conditional 4 of 40 (2), finite-sample 0 \
         of 40 (2).",
        "Gate rank_ece <= 0.003: undecided, the worst of 36 within, 4 undecided, 0 exceeds.",
        "lower and upper: 95 % neighbour interval",
        "ece_l1: 10 equal-width bins, right-closed",
        "binary predictions; f64; ties average",
        "*: rejected at level 0.05",
    ] {
        assert!(prose.contains(expected), "{expected} is missing in {prose}");
    }
    let undefined = super::samples::nothing().results.remove(0);
    let mut evaluation = groups(3);
    evaluation.results.push(undefined);
    let table = table(&evaluation);
    assert!(table.contains(
        "neighbour, asymptotic, finite-sample, conditional: undefined, there are no rows"
    ));
    assert!(table.contains("(1 of 4 results)"));
}

#[test]
fn columns_line_up_and_lines_are_short() {
    for evaluation in [
        article(),
        nothing(),
        groups(25),
        with_bins(wavy(7, 100)),
        with_bins(wavy(20, 4_294_967_295)),
        with_bins(wavy(1000, 4_294_967_295)),
    ] {
        let table = table(&evaluation);
        for line in table.lines() {
            assert!(line.chars().count() <= 100, "{line}");
            assert_eq!(line, line.trim_end());
        }
        let bars = table.lines().filter(|line| line.contains('┃')).count();
        assert!(bars <= 21);
    }
    // Every row of p-values has its points where the first one has.
    let table = table(&groups(25));
    let rows: Vec<&str> = table.lines().filter(|line| line.contains("0.31")).collect();
    assert_eq!(rows.len(), 25);
    for row in &rows {
        for number in ["0.1587", "3.167e-5", "0.31"] {
            assert_eq!(row.find(number), rows[0].find(number));
        }
    }
}

#[test]
fn names_cannot_command_the_terminal() {
    let mut evaluation = article();
    evaluation.results[0].source = "a\u{1b}[2J\nb".to_owned();
    assert!(table(&evaluation).starts_with("a\\u{1b}[2J\\nb\n"));
}

/// "No evidence against calibration" was said where a test of SKCE alone was defined.
#[test]
fn regression_undefined_tests_are_no_evidence_for_anything() {
    let undefined = |name, why: &str| TestResult {
        statistic: None,
        threshold: None,
        p_value: None,
        reject: None,
        undefined: Some(why.to_owned()),
        ..test(name, 0.0, 0.0, 0.0, false)
    };
    let mut evaluation = article();
    evaluation.results[0].tests = vec![
        undefined("conditional", "nothing varies"),
        undefined("adaptive", "nothing varies"),
        undefined("ks", "it has no variance"),
    ];
    let all = prose(&evaluation);
    assert!(all.contains("No test could be computed: nothing varies; it has no variance."));
    let skce = [
        test("skce-l", 0.5, 1.644854, 0.3085, false),
        test("skce-u", 0.5, 0.0, 0.5, false),
    ];
    evaluation.results[0].tests.extend(skce);
    let kernels = prose(&evaluation);
    assert!(kernels.contains(
        "Only tests of SKCE could be computed, and do not reject calibration at level 0.05 (skce-l p = \
         0.3085, skce-u p = 0.5). No other test could: nothing varies; it has no variance."
    ));
    assert!(!all.contains("No evidence") && !kernels.contains("No evidence"));
    // By themselves they were what was asked for.
    evaluation.results[0].tests.drain(..3);
    assert!(prose(&evaluation).contains("No evidence against calibration at level 0.05 (skce-l"));

    let mut evaluation = groups(3);
    for result in &mut evaluation.results {
        result.tests = vec![undefined("adaptive", "nothing varies")];
    }
    assert!(prose(&evaluation).contains("No test could be computed of any result"));
}

/// Five rows of confidence 0.4, one of them positive: n·rankECE = 4·0.2² - 0.2·0.8 = 0. In fixed point it is
/// 4e-11, whose root was told as a miscalibration of 6e-6.
#[test]
fn regression_the_root_of_rounding_is_no_miscalibration() {
    let labels = [true, false, false, false, false];
    let result = evaluate_slices(&[0.4; 5], &labels, &Options::default()).expect("the CPU");
    let estimate = result.rank_ece.estimate.expect("there are rows");
    assert!(estimate > 0.0 && estimate < 1e-10, "{estimate:e}");
    let mut evaluation = article();
    evaluation.results = vec![result];
    assert!(prose(&evaluation).contains("root mean square 0, as an estimate up to 1.7e-9 may be"));
}
