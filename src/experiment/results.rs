//! What `power` and `approx` find out: the shapes of their JSON (spec, section 8).

use serde::Serialize;

use super::journal::{AdapterUsed, ComputedBy};
use super::measure::{Tally, mean_and_sd};
use super::plan::{Plan, Planned};
use super::point::Source;
use super::sampler::Sampler;
use super::spec::Spec;
use super::wilson;

/// What computed a result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Computed {
    /// Version of the shape of the JSON.
    pub schema: u32,
    /// Version of rankece.
    pub version: String,
    /// `cpu` or `gpu`; `mixed` where parts were computed by several, whose numbers are the same.
    pub backend: String,
    /// The adapter, if one computed everything.
    pub adapter: Option<AdapterUsed>,
    /// The seed of everything random.
    pub seed: u64,
}

impl Computed {
    fn new(spec: &Spec, by: &[ComputedBy]) -> Self {
        let one = by
            .first()
            .filter(|first| by.iter().all(|other| other == *first));
        let same_backend = by
            .iter()
            .all(|other| Some(&other.backend) == by.first().map(|b| &b.backend));
        let backend = match by.first() {
            Some(first) if same_backend => first.backend.clone(),
            _ => "mixed".to_owned(),
        };
        Computed {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            backend,
            adapter: one.and_then(|by| by.adapter.clone()),
            seed: spec.seed,
        }
    }
}

/// Rejection rates over a grid.
#[derive(Clone, Debug, Serialize)]
pub struct PowerReport {
    /// What computed it.
    #[serde(flatten)]
    pub computed: Computed,
    /// How lower and upper ends of rates are found.
    pub interval: IntervalMethod,
    /// What was asked for.
    pub spec: Spec,
    /// One for each law, curve and n.
    pub curves: Vec<PowerCurve>,
    /// The smallest n of a power, if it was looked for.
    pub solve: Option<Solved>,
}

/// How intervals of rates are found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalMethod {
    /// `wilson`.
    pub method: &'static str,
    /// 0.95.
    pub level: f64,
}

impl Default for IntervalMethod {
    fn default() -> Self {
        IntervalMethod {
            method: "wilson",
            level: wilson::LEVEL,
        }
    }
}

/// Rejection rates at one point of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerCurve {
    /// The law of the confidence.
    pub law: String,
    /// The probability of a positive label.
    pub curve: String,
    /// Rows of a replicate.
    pub n: u32,
    /// Replicates.
    pub replicates: u64,
    /// What the model's calibration error is.
    pub truth: PowerTruth,
    /// Each test at each level.
    pub tests: Vec<TestPower>,
}

/// The calibration error of a model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PowerTruth {
    /// E\[(g(Z) - Z)²\].
    pub l2_ece: f64,
    /// The expectation of rankECE at this n.
    pub rank_ece: f64,
}

/// How often a test rejects.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestPower {
    /// The test.
    pub name: &'static str,
    /// Its level.
    pub alpha: f64,
    /// Replicates that it rejects.
    pub rejections: u64,
    /// Replicates on which it is undefined, which are no rejections.
    pub undefined: u64,
    /// Rejections over replicates.
    pub rate: f64,
    /// Lower end of the interval of the rate.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

/// The smallest n at which a test has a power.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Solved {
    /// The power.
    pub target: f64,
    /// The test.
    pub test: &'static str,
    /// Its level.
    pub alpha: f64,
    /// The smallest n that was found to reach it; none up to the limit.
    pub n: Option<u32>,
    /// Replicates at n (at the largest n tried, if there is none).
    pub replicates: u64,
    /// The simulated power there.
    pub rate: f64,
    /// Lower end of its interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The smallest n whose interval reaches the target.
    pub n_lower: Option<u32>,
    /// The smallest n whose interval lies at or above the target: with it the Monte Carlo error is
    /// on the safe side.
    pub n_upper: Option<u32>,
    /// n was looked for among multiples of this.
    pub resolution: u32,
    /// Why there is no n.
    pub undefined: Option<String>,
}

/// Estimates over a grid.
#[derive(Clone, Debug, Serialize)]
pub struct ApproxReport {
    /// What computed it.
    #[serde(flatten)]
    pub computed: Computed,
    /// What was asked for.
    pub spec: Spec,
    /// One for each law and curve, or population, and n.
    pub curves: Vec<ApproxCurve>,
}

/// Estimates at one point of a grid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ApproxCurve {
    /// The law of the confidence; none of a population.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// The file that rows are drawn from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<String>,
    /// The probability of a positive label; none of a population.
    pub curve: Option<String>,
    /// Rows of a replicate.
    pub n: u32,
    /// Replicates.
    pub replicates: u64,
    /// What estimates are held against.
    pub truth: Truth,
    /// rank_ece, then `ece_l2` of each binning.
    pub estimators: Vec<Estimator>,
}

/// What estimates are held against.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Truth {
    /// ℓ2-ECE of the model; of a population its own rankECE, from all rows.
    pub l2_ece: f64,
    /// `model`, or `rank_ece of all rows`.
    pub source: &'static str,
    /// 95 % neighbour interval around rankECE of all rows of a population.
    pub lower: Option<f64>,
    /// Its upper end.
    pub upper: Option<f64>,
}

/// An estimator's mean and spread.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimator {
    /// `rank_ece` or `ece_l2`.
    pub name: &'static str,
    /// The bins of `ece_l2`.
    pub bins: Option<Bins>,
    /// Mean over the replicates.
    pub mean: f64,
    /// Standard deviation over the replicates, divisor one less than their number.
    pub sd: Option<f64>,
    /// Standard error of the mean.
    pub se: Option<f64>,
    /// Mean over ℓ2-ECE; none if that is 0.
    pub ratio: Option<f64>,
    /// Standard error of the ratio.
    pub ratio_se: Option<f64>,
    /// The exact expectation at this n under the model.
    pub expected: Option<f64>,
}

/// A number of bins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Bins {
    /// The rule.
    pub rule: String,
    /// What it gives at this n.
    pub k: u32,
}

impl Plan {
    /// The result of `power`, from the sums of each point.
    pub fn power_report(&self, tallies: &[Tally], by: &[ComputedBy]) -> PowerReport {
        let points = std::iter::zip(self.points(), tallies);
        PowerReport {
            computed: Computed::new(self.spec(), by),
            interval: IntervalMethod::default(),
            spec: self.spec().clone(),
            curves: points
                .filter_map(|(planned, tally)| {
                    self.power_curve(planned, tally, self.spec().replicates)
                })
                .collect(),
            solve: None,
        }
    }

    /// Rejection rates among `replicates` replicates of a point. Nothing for a population, which has
    /// no power: there is one of it.
    pub(super) fn power_curve(
        &self,
        planned: &Planned,
        tally: &Tally,
        replicates: u64,
    ) -> Option<PowerCurve> {
        let (Source::Model { law, curve }, Sampler::Model(model)) =
            (&planned.point.source, &self.samplers()[planned.sampler])
        else {
            return None;
        };
        let spec = self.spec();
        let pairs = spec
            .tests
            .iter()
            .flat_map(|test| spec.alpha.iter().map(move |&alpha| (test, alpha)));
        let tests = pairs
            .zip(tally.0.chunks_exact(2))
            .map(|((test, alpha), slot)| {
                // Counts of replicates are not negative.
                let [rejections, undefined] = [slot[0], slot[1]].map(|count| count as u64);
                let (lower, upper) = wilson::interval(rejections, replicates).unwrap_or((0.0, 1.0));
                TestPower {
                    name: test.as_str(),
                    alpha,
                    rejections,
                    undefined,
                    rate: rejections as f64 / replicates as f64,
                    lower,
                    upper,
                }
            });
        Some(PowerCurve {
            law: law.to_string(),
            curve: curve.to_string(),
            n: planned.point.rows,
            replicates,
            truth: PowerTruth {
                l2_ece: model.l2_ece(),
                rank_ece: model.rank_ece(planned.point.rows.into()),
            },
            tests: tests.collect(),
        })
    }

    /// The result of `approx`, from the sums of each point.
    pub fn approx_report(&self, tallies: &[Tally], by: &[ComputedBy]) -> ApproxReport {
        let points = std::iter::zip(self.points(), tallies);
        ApproxReport {
            computed: Computed::new(self.spec(), by),
            spec: self.spec().clone(),
            curves: points
                .map(|(planned, tally)| self.approx_curve(planned, tally))
                .collect(),
        }
    }

    fn approx_curve(&self, planned: &Planned, tally: &Tally) -> ApproxCurve {
        let spec = self.spec();
        let sampler = &self.samplers()[planned.sampler];
        let rows = u64::from(planned.point.rows);
        let (truth, expected) = match sampler {
            Sampler::Model(model) => {
                let truth = Truth {
                    l2_ece: model.l2_ece(),
                    source: "model",
                    lower: None,
                    upper: None,
                };
                let binned = planned
                    .bins
                    .iter()
                    .map(|&bins| Some(model.ece_l2(rows, bins)));
                let expected = std::iter::once(Some(model.rank_ece(rows))).chain(binned);
                (truth, expected.collect())
            }
            Sampler::Population(population) => {
                let truth = Truth {
                    l2_ece: population.rank_ece,
                    source: "rank_ece of all rows",
                    lower: population.interval.map(|(lower, _)| lower),
                    upper: population.interval.map(|(_, upper)| upper),
                };
                (truth, vec![None; 1 + planned.bins.len()])
            }
        };
        let bins = std::iter::zip(&spec.bins, &planned.bins).map(|(rule, &k)| {
            Some(Bins {
                rule: rule.to_string(),
                k,
            })
        });
        let estimators = std::iter::once(None)
            .chain(bins)
            .zip(expected)
            .zip(tally.0.chunks_exact(2))
            .map(|((bins, expected), slot)| {
                let (mean, sd) =
                    mean_and_sd(slot[0], slot[1], spec.replicates).unwrap_or((0.0, None));
                let se = sd.map(|sd| sd / (spec.replicates as f64).sqrt());
                let over_truth = |value: f64| (truth.l2_ece != 0.0).then(|| value / truth.l2_ece);
                Estimator {
                    name: if bins.is_none() { "rank_ece" } else { "ece_l2" },
                    bins,
                    mean,
                    sd,
                    se,
                    ratio: over_truth(mean),
                    ratio_se: se.and_then(over_truth).map(f64::abs),
                    expected,
                }
            });
        let (law, curve, file) = match &planned.point.source {
            Source::Model { law, curve } => (Some(law.to_string()), Some(curve.to_string()), None),
            Source::Population { file, .. } => (None, None, Some(file.clone())),
        };
        ApproxCurve {
            law,
            population: file,
            curve,
            n: planned.point.rows,
            replicates: spec.replicates,
            truth,
            estimators: estimators.collect(),
        }
    }
}
