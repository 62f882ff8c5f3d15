//! What `cost` is asked for: from flags and a TOML file to one effective specification.

use serde::Serialize;

use crate::experiment::draft::Draft;
use crate::experiment::point::Source;
use crate::experiment::spec::SpecError;
use crate::inference::tests_of_calibration::TestName;
use crate::resampling::default_resamples;
use crate::statistic::skce;

/// The law of the confidence unless another is asked for: half of the confidences lie within 0.15 of 0
/// or 1.
const DEFAULT_LAW: &str = "beta:0.5";
/// E\[Y|Z=z\] unless another is asked for. Only the time of a test that ends early could depend on it,
/// and none does.
const DEFAULT_CURVE: &str = "calibrated";
/// Rows of samples unless others are asked for: three decades, in half steps.
const DEFAULT_ROWS: &str = "100,316,1000,3162,10000,31623,100000";
/// Measurements of each test at each n unless another number is asked for.
const DEFAULT_RUNS: u64 = 5;
const MOST_RUNS: u64 = 1000;
/// More resamples than any test is run with.
const MOST_RESAMPLES: u64 = 1_000_000;
/// Tests that are measured unless others are asked for: those of rankECE, and what they are held against.
const DEFAULT_TESTS: [TestName; 6] = [
    TestName::Asymptotic,
    TestName::FiniteSample,
    TestName::MonteCarlo,
    TestName::Adaptive,
    TestName::SkceL,
    TestName::SkceU,
];

/// What is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostSpec {
    /// The law of the confidence.
    pub law: String,
    /// The probability of a positive label.
    pub curve: String,
    /// Rows of a sample, ascending.
    pub n: Vec<u32>,
    /// Measurements of a row, whose median is its time.
    pub runs: u32,
    /// Null resamples of tests that draw them; none: what `evaluate` draws ([`CostSpec::resamples`]).
    pub resamples: Option<u32>,
    /// Tests that are measured.
    pub tests: Vec<TestName>,
    /// The seed of the samples and of resamples.
    pub seed: u64,
    /// Threads of the CPU; 0 until there are any.
    pub threads: usize,
}

impl CostSpec {
    /// The name of the command.
    pub const COMMAND: &str = "cost";
    /// The keys of its specification.
    pub const KEYS: [&str; 7] = ["law", "curve", "n", "tests", "resamples", "runs", "seed"];

    /// The effective specification of a draft, and where its samples come from.
    ///
    /// # Errors
    /// The first thing that is wrong, and what to write instead.
    pub fn of_draft(mut draft: Draft) -> Result<(Self, Source), SpecError> {
        draft.set_default("law", DEFAULT_LAW);
        draft.set_default("curve", DEFAULT_CURVE);
        draft.set_default("n", DEFAULT_ROWS);
        let one = |key: &str, values: Vec<String>| match <[String; 1]>::try_from(values) {
            Ok([value]) => Ok(value),
            Err(values) => Err(SpecError::new(format!(
                "cost takes one {key}, but there are {}; name one",
                values.len()
            ))),
        };
        let law = one("law", draft.laws()?)?;
        let curve = one("curve", draft.curves()?)?;
        let mut n = draft.rows(false)?;
        n.sort_unstable();
        let mut tests = draft.named_tests()?;
        if tests.is_empty() {
            tests = DEFAULT_TESTS.to_vec();
        }
        let resamples = if draft.gives("resamples") {
            draft.check_resampling(&tests)?;
            // At most a million.
            Some(draft.whole("resamples", 0, 1..=MOST_RESAMPLES)? as u32)
        } else {
            None
        };
        let spec = CostSpec {
            n,
            // At most a thousand.
            runs: draft.whole("runs", DEFAULT_RUNS, 1..=MOST_RUNS)? as u32,
            resamples,
            tests,
            seed: draft.whole("seed", 1, 0..=u64::MAX)?,
            threads: 0,
            law,
            curve,
        };
        let read = |error: String| SpecError::new(error);
        let source = Source::Model {
            law: spec.law.parse().map_err(|e| read(format!("law: {e}")))?,
            curve: spec
                .curve
                .parse()
                .map_err(|e| read(format!("curve: {e}")))?,
        };
        Ok((spec, source))
    }

    /// Null resamples of a test of `n` rows, by default as many as in `evaluate`; none of a test that
    /// draws none.
    pub fn resamples(&self, test: TestName, n: u32) -> Option<u32> {
        let default = match test {
            TestName::SkceU => skce::RESAMPLES,
            test if test.resamples_labels() => default_resamples(n.into()),
            _ => return None,
        };
        Some(self.resamples.unwrap_or(default))
    }
}
