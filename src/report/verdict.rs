//! What labels and tests say of a sample, in words.

use super::distinct;
use super::number::{count, p_equals, with_digits};
use crate::inference::tests_of_calibration::{ErrorScale, TestName};
use crate::results::{Evaluated, TestResult};

/// What labels and tests say of a sample. Labels that are impossible under calibration come first, as
/// they leave nothing to chance. Then `adaptive`, if it was asked for and is defined, else all tests
/// together. Never that probabilities are calibrated: no test can say that. Empty if there is nothing
/// to say.
pub fn verdict(result: &Evaluated, alpha: f64) -> String {
    let impossible = match result.impossible_labels {
        0 => None,
        1 => Some("1 label contradicts a confidence".to_owned()),
        rows => Some(format!("{} labels contradict confidences", count(rows))),
    };
    let certain = impossible.map(|labels| {
        format!(
            "Perfect calibration is impossible, whatever the tests say: {labels} of exactly 0 or 1."
        )
    });
    let tests = &result.tests;
    let adaptive = tests.iter().find(|t| t.name == TestName::Adaptive.as_str());
    let of_tests = match adaptive.and_then(|t| Some((t, t.reject?, t.p_value?))) {
        _ if tests.is_empty() => None,
        Some((_, false, p)) => {
            let by = format!("{} {}", TestName::Adaptive, p_equals(p));
            Some(not_rejected(&by, certain.is_some(), alpha))
        }
        Some((test, true, p)) => Some(rejected_by_adaptive(test, p, result.n, alpha)),
        None => Some(verdict_of_all(tests, certain.is_some(), alpha)),
    };
    let sentences: Vec<String> = certain.into_iter().chain(of_tests).collect();
    sentences.join(" ")
}

/// No test rejects; `certain`: but labels do.
fn not_rejected(by: &str, certain: bool, alpha: f64) -> String {
    let level = with_digits(alpha, 6);
    if certain {
        return format!("The tests by themselves do not reject it at level {level} ({by}).");
    }
    format!(
        "No evidence against calibration at level {level} ({by}). This does not show that the \
         probabilities are calibrated."
    )
}

fn rejected_by_adaptive(test: &TestResult, p: f64, n: u64, alpha: f64) -> String {
    let (level, p) = (with_digits(alpha, 6), p_equals(p));
    let profile = test.profile.as_deref().unwrap_or_default();
    let scale = match ErrorScale::of_profile(profile, n) {
        Some((scale, window)) => {
            let words = match scale {
                ErrorScale::Local => "local, of one sign only over short stretches of ranks",
                ErrorScale::Regional => "regional, of one sign over part of the ranks",
                ErrorScale::InTheLarge => "in the large, of one sign over much of the ranks",
            };
            format!(
                " The error is {words}: it stands out most in windows of {} of {} ranks.",
                count(window.into()),
                count(n)
            )
        }
        None => String::new(),
    };
    format!("Calibration is rejected at level {level} (adaptive {p}).{scale}")
}

fn verdict_of_all(tests: &[TestResult], certain: bool, alpha: f64) -> String {
    let level = with_digits(alpha, 6);
    let told = |decision: Option<bool>| -> Vec<String> {
        let chosen = tests.iter().filter(|t| t.reject == decision);
        chosen
            .map(|t| match t.p_value {
                Some(p) => format!("{} {}", t.name, p_equals(p)),
                None => t.name.to_owned(),
            })
            .collect()
    };
    let (rejecting, accepting, undefined) = (told(Some(true)), told(Some(false)), told(None));
    let by = |tests: &[String]| tests.join(", ");
    let mut text = match (rejecting.as_slice(), accepting.as_slice()) {
        ([], []) => return format!("No test could be computed: {}.", reasons(tests)),
        // Those of SKCE are for comparison, and say little where all others find nothing to go by.
        ([], _) if !undefined.is_empty() && tests.iter().all(is_of_kernel_or_undefined) => {
            return format!(
                "Only tests of SKCE could be computed, and do not reject calibration at level {level} \
                 ({}). No other test could: {}.",
                by(&accepting),
                reasons(tests)
            );
        }
        ([], _) => not_rejected(&by(&accepting), certain, alpha),
        (_, []) => format!(
            "Calibration is rejected at level {level} ({}).",
            by(&rejecting)
        ),
        _ => format!(
            "The tests disagree at level {level}: calibration is rejected by some ({}), but not by \
             others ({}).",
            by(&rejecting),
            by(&accepting)
        ),
    };
    if !undefined.is_empty() {
        text.push_str(&format!(" Undefined: {}.", by(&undefined)));
    }
    text
}

fn is_of_kernel_or_undefined(test: &TestResult) -> bool {
    let of_kernel = [TestName::SkceU, TestName::SkceL].map(TestName::as_str);
    test.reject.is_none() || of_kernel.contains(&test.name)
}

/// Why tests are undefined, each reason once.
fn reasons(tests: &[TestResult]) -> String {
    let reasons = distinct(tests.iter().filter_map(|test| test.undefined.as_deref()));
    reasons.join("; ")
}
