//! What tests of calibration cost: their run time over n.
//!
//! A measured call takes the rows of one sample, in memory and in random order, to the decision of one
//! test: it sorts, sums, draws resamples, all of it. Nothing is read or written.

use std::time::Instant;

use serde::Serialize;

use super::journal::{AdapterUsed, ComputedBy};
use super::sampler::SourceError;
use crate::backend::cpu::Cpu;
use crate::backend::cpu::skce::drawn_rows;
use crate::backend::kernels::{Kernel, Method, SkceNull, SortedRows};
use crate::backend::replicates::Replicates;
use crate::backend::{Backend, DeviceError, Request, Ties};
use crate::inference::tests_of_calibration::{Level, TestName, TestSums, decide, skce};
use crate::model::Model;
use crate::predictions::{Batch, Confidence, Dtype};
use crate::random::{Key, Stream};
use crate::statistic::skce::{Skce, SkceOptions, Wanted};

use super::point::{Point, Source};

/// A call shorter than this is repeated within one measurement.
const SHORT: f64 = 2e-3;
/// Measurements of a row end after this many seconds, with at least one of them.
const ENOUGH: f64 = 20.0;

/// What is measured.
#[derive(Clone, Debug, Serialize)]
pub struct CostSpec {
    /// The law of the confidence.
    pub law: String,
    /// The probability of a positive label.
    pub curve: String,
    /// Rows of a sample, ascending.
    pub n: Vec<u32>,
    /// Measurements of a row, whose median is its time.
    pub runs: u32,
    /// Null resamples of `skce-u`.
    pub resamples: u32,
    /// Tests that are measured.
    pub tests: Vec<TestName>,
    /// The seed of the samples.
    pub seed: u64,
    /// Threads of the CPU.
    pub threads: usize,
}

/// A test as it is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Measured {
    /// The test.
    pub test: &'static str,
    /// Its kernel, if it has one.
    pub kernel: Option<Kernel>,
    /// Its null resamples, if it has any.
    pub null: Option<SkceNull>,
    /// How sums over all pairs are computed: `pairs`, or `recursion` in O(n).
    pub method: Option<&'static str>,
    /// `cpu` or `gpu`.
    pub backend: &'static str,
}

/// The time of a test at one n.
#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// The test.
    #[serde(flatten)]
    pub measured: Measured,
    /// Rows of the sample.
    pub n: u32,
    /// The median time of a call.
    pub seconds: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
    /// How many measurements these are of: fewer than asked for where one takes long.
    pub runs: u32,
}

/// How a time grows: seconds are proportional to n to this power, by least squares on logarithms.
#[derive(Clone, Debug, Serialize)]
pub struct CostSlope {
    /// The test.
    #[serde(flatten)]
    pub measured: Measured,
    /// The power.
    pub slope: f64,
    /// The smallest n of the fit.
    pub from: u32,
    /// The largest.
    pub to: u32,
}

/// Run times.
#[derive(Clone, Debug, Serialize)]
pub struct CostReport {
    /// Version of the shape of the JSON.
    pub schema: u32,
    /// Version of rankece.
    pub version: String,
    /// `cpu`, or `gpu` where that was measured beside it.
    pub backend: String,
    /// The adapter, if one was measured.
    pub adapter: Option<AdapterUsed>,
    /// What was asked for.
    pub spec: CostSpec,
    /// The times.
    pub rows: Vec<CostRow>,
    /// How they grow.
    pub slopes: Vec<CostSlope>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// The law or curve.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The samples.
    #[error(transparent)]
    Batch(#[from] crate::predictions::BatchError),
}

/// Measures every test at every n, on the CPU and on `gpu` where a test runs there. `tell` is told of
/// each row before it is measured.
///
/// # Errors
/// If the law or curve cannot be used, or the device fails.
pub fn cost(
    spec: &CostSpec,
    source: &Source,
    by: &ComputedBy,
    gpu: Option<&dyn Backend>,
    tell: &dyn Fn(&Measured, u32),
) -> Result<CostReport, CostError> {
    let Source::Model { law, curve } = source else {
        return Ok(report(spec, by, Vec::new()));
    };
    let model = Model::new(law.clone(), curve.clone(), spec.seed).map_err(SourceError::from)?;
    let mut rows = Vec::new();
    for &n in &spec.n {
        let point = Point {
            source: source.clone(),
            rows: n,
        };
        let sample = Sample::new(&model, &point, spec.seed)?;
        for measured in measured(&spec.tests, gpu.is_some()) {
            tell(&measured, n);
            let times = sample.times(&measured, spec, gpu)?;
            rows.push(CostRow {
                measured,
                n,
                seconds: median(&times),
                least: times[0],
                most: times[times.len() - 1],
                runs: times.len() as u32,
            });
        }
    }
    rows.sort_by_key(|row| {
        let all = measured(&spec.tests, gpu.is_some());
        (all.iter().position(|one| *one == row.measured), row.n)
    });
    Ok(report(spec, by, rows))
}

fn report(spec: &CostSpec, by: &ComputedBy, rows: Vec<CostRow>) -> CostReport {
    CostReport {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: by.backend.clone(),
        adapter: by.adapter.clone(),
        spec: spec.clone(),
        slopes: slopes(&rows),
        rows,
    }
}

/// Everything that is measured: each test by its kernels, nulls and methods. Tests with a kernel run on
/// the CPU alone.
fn measured(tests: &[TestName], gpu: bool) -> Vec<Measured> {
    const NULLS: [SkceNull; 3] = [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo];
    const WAYS: [(Kernel, &str); 3] = [
        (Kernel::Gaussian, "pairs"),
        (Kernel::Laplace, "pairs"),
        (Kernel::Laplace, "recursion"),
    ];
    let mut all = Vec::new();
    for &test in tests {
        let plain = Measured {
            test: test.as_str(),
            kernel: None,
            null: None,
            method: None,
            backend: "cpu",
        };
        match test {
            TestName::SkceU => {
                for (null, (kernel, method)) in NULLS
                    .into_iter()
                    .flat_map(|null| WAYS.map(|way| (null, way)))
                {
                    all.push(Measured {
                        kernel: Some(kernel),
                        null: Some(null),
                        method: Some(method),
                        ..plain
                    });
                }
            }
            TestName::SkceL => {
                for kernel in [Kernel::Gaussian, Kernel::Laplace] {
                    all.push(Measured {
                        kernel: Some(kernel),
                        ..plain
                    });
                }
            }
            _ => {
                all.push(plain);
                if gpu {
                    all.push(Measured {
                        backend: "gpu",
                        ..plain
                    });
                }
            }
        }
    }
    all
}

/// The rows of a sample in the order drawn.
struct Sample {
    words: Vec<u64>,
    batch: Batch,
    key: Key,
}

impl Sample {
    fn new(model: &Model, point: &Point, seed: u64) -> Result<Self, CostError> {
        let replicates = Replicates {
            quantile: &model.quantile,
            response: &model.response,
            rows: point.rows,
            key: point.key(seed),
            thresholds: &[],
        };
        let rows = drawn_rows(&replicates, 0);
        let (z, y): (Vec<f64>, Vec<bool>) = rows
            .into_iter()
            .map(|(q, label)| (f64::from(q) / f64::from(1u32 << 30), label))
            .unzip();
        let batch = Batch::from_slices(&z, &y)?;
        let words = std::iter::zip(&z, &y).filter_map(|(z, &y)| z.word(y));
        Ok(Sample {
            words: words.collect(),
            batch,
            key: point.stream_key(seed, Stream::Multinomial),
        })
    }

    /// The times of single calls, ascending; at least one.
    fn times(
        &self,
        measured: &Measured,
        spec: &CostSpec,
        gpu: Option<&dyn Backend>,
    ) -> Result<Vec<f64>, DeviceError> {
        let cpu = Cpu::default();
        let backend = match (measured.backend, gpu) {
            ("gpu", Some(gpu)) => gpu,
            _ => &cpu,
        };
        // The first call warms caches, threads and pipelines up; a long one is measurement enough.
        let warm_up = self.seconds(measured, spec, backend, 1)?;
        if warm_up > ENOUGH {
            return Ok(vec![warm_up]);
        }
        let calls = (SHORT / warm_up.max(1e-9)).ceil().clamp(1.0, 1e6) as u32;
        let (mut times, start) = (Vec::new(), Instant::now());
        for _ in 0..spec.runs.max(1) {
            times.push(self.seconds(measured, spec, backend, calls)? / f64::from(calls));
            if start.elapsed().as_secs_f64() > ENOUGH {
                break;
            }
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }

    /// The time of some calls, one after the other.
    fn seconds(
        &self,
        measured: &Measured,
        spec: &CostSpec,
        backend: &dyn Backend,
        calls: u32,
    ) -> Result<f64, DeviceError> {
        let mut total = 0.0;
        for _ in 0..calls {
            if measured.kernel.is_some() {
                let start = Instant::now();
                std::hint::black_box(self.kernel_test(measured, spec));
                total += start.elapsed().as_secs_f64();
            } else {
                // The rows are sorted in place: each call has its own.
                let mut batch = self.batch.clone();
                let start = Instant::now();
                std::hint::black_box(neighbour_test(measured, &mut batch, backend)?);
                total += start.elapsed().as_secs_f64();
            }
        }
        Ok(total)
    }

    fn kernel_test(&self, measured: &Measured, spec: &CostSpec) -> Option<f64> {
        let options = SkceOptions {
            kernel: measured.kernel.unwrap_or_default(),
            null: measured.null.unwrap_or_default(),
            resamples: spec.resamples,
            method: match measured.method {
                Some("pairs") => Method::Pairs,
                _ => Method::Fastest,
            },
            ..SkceOptions::default()
        };
        let unbiased = measured.null.is_some();
        let wanted = Wanted {
            all_pairs: false,
            resamples: unbiased.then_some(self.key),
            disjoint_pairs: !unbiased,
        };
        let sorted = SortedRows::of_words(Dtype::F64, &self.words);
        let in_order = self.words.iter().map(|word| {
            let word = *word;
            (f64::from_bits(word >> 1), word & 1 == 1)
        });
        let skce = Skce::new(&options, wanted, &sorted, in_order);
        let test = if unbiased {
            skce::unbiased(&skce)
        } else {
            skce::linear(&skce)
        };
        test.ok().map(|test| test.p_value)
    }
}

/// The decision of a test of neighbours.
fn neighbour_test(
    measured: &Measured,
    batch: &mut Batch,
    backend: &dyn Backend,
) -> Result<Option<bool>, DeviceError> {
    let request = Request {
        ties: Ties::Average,
        ties_key: Key([0, 0]),
        neighbour_key: None,
        binnings: Vec::new(),
    };
    let sums = backend.sums(batch, &request)?;
    let named = |name: &&TestName| name.as_str() == measured.test;
    let (Some(&name), Some(level), Some(sums)) = (
        TestName::ALL.iter().find(named),
        Level::new(0.05),
        sums.first(),
    ) else {
        return Ok(None);
    };
    let decision = decide(name, &TestSums::from(sums), Ties::Average, &level);
    Ok(decision.ok().map(|decision| decision.rejects()))
}

fn median(ascending: &[f64]) -> f64 {
    let middle = ascending.len() / 2;
    if ascending.len() % 2 == 1 {
        ascending[middle]
    } else {
        0.5 * (ascending[middle - 1] + ascending[middle])
    }
}

/// A slope for each test, over the n from 1,000 on if there are two of them, else over all; none for one n.
fn slopes(rows: &[CostRow]) -> Vec<CostSlope> {
    let mut slopes = Vec::new();
    for own in rows.chunk_by(|a, b| a.measured == b.measured) {
        let large: Vec<&CostRow> = own.iter().filter(|row| row.n >= 1000).collect();
        let used = if large.len() > 1 {
            large
        } else {
            own.iter().collect()
        };
        let points: Vec<(f64, f64)> = used
            .iter()
            .map(|row| (libm::log(row.n.into()), libm::log(row.seconds.max(1e-12))))
            .collect();
        let number = points.len() as f64;
        let mean_x = points.iter().map(|point| point.0).sum::<f64>() / number;
        let mean_y = points.iter().map(|point| point.1).sum::<f64>() / number;
        let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
        if spread > 0.0 {
            let common: f64 = points
                .iter()
                .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
                .sum();
            slopes.push(CostSlope {
                measured: own[0].measured,
                slope: common / spread,
                from: used[0].n,
                to: used[used.len() - 1].n,
            });
        }
    }
    slopes
}

impl Measured {
    /// The name in a table or legend: `skce-u laplace multinomial recursion`, `asymptotic (gpu)`.
    pub fn name(&self) -> String {
        let mut parts = vec![self.test];
        parts.extend(self.kernel.map(Kernel::as_str));
        parts.extend(self.null.map(SkceNull::as_str));
        parts.extend(self.method);
        if self.backend != "cpu" {
            parts.push("(gpu)");
        }
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_of_exact_powers() {
        let measured = measured(&[TestName::Asymptotic], false)[0];
        let row = |n: u32, power: i32| CostRow {
            measured,
            n,
            seconds: 1e-9 * f64::from(n).powi(power),
            least: 0.0,
            most: 0.0,
            runs: 1,
        };
        let rows = [row(100, 1), row(1000, 2), row(10_000, 2), row(100_000, 2)];
        let slopes = slopes(&rows);
        assert_eq!((slopes[0].from, slopes[0].to), (1000, 100_000));
        assert!((slopes[0].slope - 2.0).abs() < 1e-12);
        assert!(super::slopes(&rows[..1]).is_empty());
        let all = super::slopes(&[row(10, 1), row(100, 1)]);
        assert!((all[0].slope - 1.0).abs() < 1e-12);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[1.0, 2.0, 4.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }
}
