//! One sample, and the times of tests of it.

use std::time::Instant;

use super::{CostError, CostSpec, Measured};
use crate::backend::cpu::Cpu;
use crate::backend::cpu::skce::drawn_rows;
use crate::backend::kernels::SortedRows;
use crate::backend::replicates::Replicates;
use crate::backend::resamples::{sample_key, tied_groups};
use crate::backend::{Backend, DeviceError, Request, Ties};
use crate::experiment::point::Point;
use crate::inference::tests_of_calibration::{Level, TestName, TestSums, decide, skce};
use crate::model::Model;
use crate::predictions::{Batch, Confidence, Dtype};
use crate::random::{Key, Stream};
use crate::resampling::{LabelledGroups, label_tests};
use crate::statistic::skce::{Pending, Skce, SkceOptions, Wanted, add_sums};

/// A call shorter than this is repeated within one measurement.
const SHORT: f64 = 2e-3;
/// Measurements of a row end after this many seconds, with at least one of them.
pub(super) const ENOUGH: f64 = 20.0;

/// The rows of a sample in the order drawn.
pub(super) struct Sample {
    /// Confidence and label of each row.
    words: Vec<u64>,
    batch: Batch,
    /// The keys of null resamples of kernels, and of labels.
    kernel_key: Key,
    label_key: Key,
}

impl Sample {
    /// The first replicate of a point.
    pub fn new(model: &Model, point: &Point, seed: u64) -> Result<Self, CostError> {
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
        // A batch of these rows was made, so every one is a word.
        let words = std::iter::zip(&z, &y).filter_map(|(z, &y)| z.word(y));
        Ok(Sample {
            words: words.collect(),
            batch,
            kernel_key: point.stream_key(seed, Stream::Multinomial),
            label_key: sample_key(point.stream_key(seed, Stream::Null), 0),
        })
    }

    /// The times of single calls, ascending; at least one.
    pub fn times(
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
        let resamples = spec.resamples(measured.test, self.words.len() as u32);
        let mut total = 0.0;
        for _ in 0..calls {
            // Rows may be sorted in place: each call has its own.
            let mut batch = self.batch.clone();
            let start = Instant::now();
            let rejects = if measured.test.uses_kernel() {
                self.kernel_test(measured, resamples.unwrap_or(0), backend)?
            } else if measured.test.is_of_labels() {
                self.label_test(measured.test, resamples.unwrap_or(0), backend)?
            } else {
                neighbour_test(measured.test, &mut batch, backend)?
            };
            std::hint::black_box(rejects);
            total += start.elapsed().as_secs_f64();
        }
        Ok(total)
    }

    /// The decision of a test with a kernel, of its median bandwidth on.
    fn kernel_test(
        &self,
        measured: &Measured,
        resamples: u32,
        backend: &dyn Backend,
    ) -> Result<Option<bool>, DeviceError> {
        let options = SkceOptions {
            kernel: measured.kernel.unwrap_or_default(),
            null: measured.null.unwrap_or_default(),
            resamples,
            method: measured.method(),
            ..SkceOptions::default()
        };
        let unbiased = measured.test == TestName::SkceU;
        let wanted = Wanted {
            all_pairs: false,
            resamples: unbiased.then_some(self.kernel_key),
            disjoint_pairs: !unbiased,
        };
        let sorted = SortedRows::of_words(Dtype::F64, &self.words);
        let in_order = self.words.iter().map(|word| {
            let word = *word;
            (f64::from_bits(word >> 1), word & 1 == 1)
        });
        let pending = Pending {
            skce: Skce::without_sums(&options, wanted, &sorted, in_order),
            wanted,
            sorted,
        };
        let all = add_sums(&options, vec![pending], backend)?;
        let test = all.first().and_then(|skce| {
            let test = if unbiased {
                skce::unbiased(skce)
            } else {
                skce::linear(skce)
            };
            test.ok()
        });
        Ok(std::iter::zip(test, Level::new(LEVEL))
            .next()
            .map(|(test, level)| test.rejects(&level)))
    }

    /// The decision of a test of labels.
    fn label_test(
        &self,
        test: TestName,
        resamples: u32,
        backend: &dyn Backend,
    ) -> Result<Option<bool>, DeviceError> {
        let (groups, positives) = tied_groups(self.batch.rows(), 0..self.words.len());
        let sample = LabelledGroups {
            groups,
            positives,
            key: self.label_key,
        };
        let tests = label_tests(&[sample], &[test], resamples, backend)?;
        let outcome = tests.first().and_then(|tests| tests.first());
        let defined = outcome.and_then(|(_, outcome)| outcome.as_ref().ok());
        Ok(defined.map(|test| test.p_value <= LEVEL))
    }
}

/// The level of decisions. A time does not depend on it.
const LEVEL: f64 = 0.05;

/// The decision of a test of neighbours.
fn neighbour_test(
    test: TestName,
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
    let (Some(level), Some(sums)) = (Level::new(LEVEL), sums.first()) else {
        return Ok(None);
    };
    let decision = decide(test, &TestSums::from(sums), Ties::Average, &level);
    Ok(decision.ok().map(|decision| decision.rejects()))
}
