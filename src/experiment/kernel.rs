//! Tests with a kernel of simulated replicates.

use rayon::prelude::*;

use super::sampler::{Job, Sampler};
use crate::backend::cpu::skce::drawn_rows;
use crate::backend::kernels::SortedRows;
use crate::backend::replicates::Replicates;
use crate::inference::tests_of_calibration::TestName;
use crate::inference::tests_of_calibration::skce::{self, SkceTest};
use crate::random::Key;
use crate::statistic::skce::{Skce, SkceOptions, Wanted};

/// What tests with a kernel need beyond the rows.
#[derive(Clone, Copy, Debug)]
pub struct KernelJob {
    /// Kernel, bandwidth and resamples.
    pub options: SkceOptions,
    /// Whether `skce-u` is asked for.
    pub unbiased: bool,
    /// Whether `skce-l` is asked for.
    pub linear: bool,
    /// The key of the point, of the stream of the resamples.
    pub key: Key,
}

/// The tests of one replicate; none where one is undefined or not asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KernelTests {
    /// `skce-u`.
    pub unbiased: Option<SkceTest>,
    /// `skce-l`.
    pub linear: Option<SkceTest>,
}

impl KernelTests {
    /// A test by its name.
    pub fn of(&self, name: TestName) -> Option<SkceTest> {
        match name {
            TestName::SkceU => self.unbiased,
            TestName::SkceL => self.linear,
            _ => None,
        }
    }
}

impl Sampler {
    /// The tests with a kernel of some replicates, computed on the CPU whatever simulates the rest;
    /// nothing if the job asks for none, or of a population.
    ///
    /// The rows are in the order drawn, and each has its own label word: row i of a replicate is the
    /// uniform word and the label word of one call of Threefry. (For the sums of neighbours the uniform
    /// words are sorted first, and label words belong to ranks. Both are n independent draws of the
    /// same law; they share their confidences but not their labels, so that within one replicate
    /// tests with a kernel and without see different labels.)
    pub fn kernel_tests(&self, job: &Job<'_>, first: u64, count: usize) -> Vec<KernelTests> {
        let (Some(kernel), Sampler::Model(model)) = (job.kernel, self) else {
            return Vec::new();
        };
        let replicates = Replicates {
            quantile: &model.quantile,
            response: &model.response,
            rows: job.rows,
            key: job.key,
            thresholds: &[],
        };
        let one = |offset: usize| {
            let replicate = first + offset as u64;
            let rows = drawn_rows(&replicates, replicate);
            let sample_key = kernel.key.child(replicate as u32, (replicate >> 32) as u32);
            let wanted = Wanted {
                all_pairs: false,
                resamples: kernel.unbiased.then_some(sample_key),
                disjoint_pairs: kernel.linear,
            };
            let in_order = rows
                .iter()
                .map(|&(q, label)| (f64::from(q) / f64::from(1u32 << 30), label));
            let skce = Skce::new(
                &kernel.options,
                wanted,
                &SortedRows::of_q30(&rows),
                in_order,
            );
            KernelTests {
                unbiased: skce::unbiased(&skce).ok(),
                linear: skce::linear(&skce).ok(),
            }
        };
        (0..count).into_par_iter().map(one).collect()
    }
}
