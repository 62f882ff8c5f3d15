//! Labels that perfect calibration rules out.

use crate::results::TestResult;

/// Tells of `rows` labels that contradict a confidence of exactly 0 or 1 in the reason of every
/// undefined test, so that nobody takes a test that cannot be computed for a lack of evidence.
///
/// Under perfect calibration such a label has probability 0: no statistic is needed to reject.
pub fn tell_impossible_labels(tests: &mut [TestResult], rows: u64) {
    if rows == 0 {
        return;
    }
    for reason in tests.iter_mut().filter_map(|test| test.undefined.as_mut()) {
        reason.push_str("; but perfect calibration is ruled out by impossible labels");
    }
}
