//! What a simulation is asked for: one effective specification, which is written into every result.

use serde::{Deserialize, Serialize};

use super::point::{Columns, Point, Source};
use crate::backend::kernels::{Kernel, Method, SkceNull};
use crate::inference::tests_of_calibration::TestName;
use crate::statistic::BinsRule;
use crate::statistic::skce::{self, SkceOptions};

/// What is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// How often tests reject.
    Power,
    /// How estimates of ℓ2-ECE lie around it.
    Approx,
}

impl Command {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Command::Power => "power",
            Command::Approx => "approx",
        }
    }

    /// The keys of its specification.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Command::Power => &[
                "law",
                "curve",
                "n",
                "replicates",
                "tests",
                "kernel",
                "bandwidth",
                "skce_null",
                "resamples",
                "alpha",
                "seed",
                "solve_n",
            ],
            Command::Approx => &[
                "law",
                "curve",
                "population",
                "confidence",
                "label",
                "positive",
                "n",
                "replicates",
                "bins",
                "seed",
            ],
        }
    }
}

/// Why a specification cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SpecError(pub(super) String);

impl SpecError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        SpecError(message.into())
    }
}

/// The fewest rows of a replicate: two rows have one product and no variance to speak of.
pub const FEWEST_ROWS: u32 = 3;
/// The most rows of a replicate, so that the few words of each fit into memory.
pub const MOST_ROWS: u32 = 100_000_000;
/// The most replicates, so that sums of squares in Q80 fit 128 bits by far.
pub const MOST_REPLICATES: u64 = 1_000_000_000_000;

/// An effective specification: defaults, file and flags put together, every name in its canonical
/// form and every range written out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// What is simulated.
    pub command: Command,
    /// Laws of the confidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub law: Vec<String>,
    /// Curves of the probability of a positive label.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<String>,
    /// Files whose rows are subsampled, beside laws or in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub population: Vec<String>,
    /// The column of confidences in population files; else it is guessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The column of labels in population files; else it is guessed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The label in population files that counts as 1; else labels are 0/1, true/false or -1/1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub positive: Option<String>,
    /// Rows of a replicate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub n: Vec<u32>,
    /// Replicates of each grid point.
    pub replicates: u64,
    /// Tests whose power is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestName>,
    /// The kernel of SKCE, if one of its tests is asked for; so for the two below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<Kernel>,
    /// Its bandwidth: `median` or a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<String>,
    /// The law of the resamples of `skce-u`, if that is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skce_null: Option<SkceNull>,
    /// Null resamples of each replicate, if a test needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resamples: Option<u32>,
    /// Levels of the tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alpha: Vec<f64>,
    /// Rules for the number of bins of `ece_l2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "rules")]
    pub bins: Vec<BinsRule>,
    /// The seed of everything random.
    pub seed: u64,
    /// The power whose smallest n is looked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub solve_n: Option<f64>,
    /// With `solve_n`, and a number of replicates that was not asked for: the rows that are simulated
    /// at one n, beyond which there are fewer replicates (but 100 at least).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_rows: Option<u64>,
}

/// Rules for numbers of bins as texts.
mod rules {
    use super::BinsRule;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(rules: &[BinsRule], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(rules.iter().map(BinsRule::to_string))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<BinsRule>, D::Error> {
        let texts = Vec::<String>::deserialize(from)?;
        let rules = texts
            .iter()
            .map(|text| text.parse().map_err(D::Error::custom));
        rules.collect()
    }
}

impl Spec {
    /// How SKCE is computed.
    pub fn skce_options(&self) -> SkceOptions {
        let bandwidth = self.bandwidth.as_deref().map(str::parse);
        SkceOptions {
            kernel: self.kernel.unwrap_or_default(),
            // A finished specification holds one that reads as one.
            bandwidth: bandwidth.and_then(Result::ok).unwrap_or_default(),
            null: self.skce_null.unwrap_or_default(),
            resamples: self.resamples.unwrap_or(skce::RESAMPLES),
            method: Method::Fastest,
        }
    }

    /// The grid: laws, within them curves, within them numbers of rows; then population files.
    ///
    /// # Errors
    /// If a law or curve does not read as one, which those of [`Draft::finish`](super::Draft::finish) do.
    pub fn points(&self) -> Result<Vec<Point>, SpecError> {
        let mut points = Vec::new();
        for law in &self.law {
            for curve in &self.curve {
                let source = Source::Model {
                    law: law
                        .parse()
                        .map_err(|e| SpecError::new(format!("law: {e}")))?,
                    curve: curve
                        .parse()
                        .map_err(|e| SpecError::new(format!("curve: {e}")))?,
                };
                points.extend(self.n.iter().map(|&rows| Point {
                    source: source.clone(),
                    rows,
                }));
            }
        }
        for file in &self.population {
            points.extend(self.n.iter().map(|&rows| Point {
                source: Source::Population {
                    file: file.clone(),
                    columns: Columns {
                        confidence: self.confidence.clone(),
                        label: self.label.clone(),
                        positive: self.positive.clone(),
                    },
                },
                rows,
            }));
        }
        Ok(points)
    }
}
