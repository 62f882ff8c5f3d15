//! What a file says that flags leave without a meaning.

use super::draft::Draft;
use crate::inference::tests_of_calibration::TestName;

/// Keys of a file that some tests read and others do not, and whether a test reads them.
const READ_BY_TESTS: [(&str, IsReadBy); 4] = [
    ("resamples", TestName::draws_null_resamples),
    ("kernel", TestName::uses_kernel),
    ("bandwidth", TestName::uses_kernel),
    ("skce_null", is_skce_u),
];

type IsReadBy = fn(TestName) -> bool;

fn is_skce_u(test: TestName) -> bool {
    test == TestName::SkceU
}

impl Draft {
    /// Takes away what the file says and flags, which take precedence, leave without a meaning; a flag
    /// cannot unset a key of the file. Gives a line about each.
    ///
    /// What a file contradicts by itself, or a flag contradicts, stays, and is an error of
    /// [`Draft::finish`].
    pub fn leave_unused(&mut self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut leave = |draft: &mut Draft, key: &str, why: &str| {
            if draft.remove_of_file(key) {
                notes.push(format!("`{key}` is not used: {why}"));
            }
        };
        if self.is_by_flag("tests")
            // Tests that do not read as such are an error of their own.
            && let Ok(tests) = self.named_tests()
        {
            for (key, reads) in READ_BY_TESTS {
                if !tests.iter().copied().any(reads) {
                    leave(self, key, "it is for other tests than those of --tests");
                }
            }
        }
        if self.is_by_flag("solve_n") {
            leave(self, "n", "--solve-n looks for n");
        } else if self.is_by_flag("n") {
            leave(self, "solve_n", "--n gives the numbers of rows");
        }
        if self.is_by_flag("population") && !self.gives("law") {
            leave(
                self,
                "curve",
                "files of --population bring their own labels",
            );
        }
        notes
    }
}
