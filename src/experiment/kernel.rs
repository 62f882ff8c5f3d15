//! Tests with a kernel of simulated replicates.

use rayon::prelude::*;

use super::job::Job;
use super::sampler::Sampler;
use crate::backend::DeviceError;
use crate::backend::cpu::skce::drawn_rows;
use crate::backend::kernels::{PairSummer, SortedRows};
use crate::backend::replicates::{ROWS_PER_CALL, Replicates};
use crate::inference::tests_of_calibration::TestName;
use crate::inference::tests_of_calibration::skce::{self, SkceTest};
use crate::statistic::skce::{Pending, Skce, Wanted, add_sums};

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
    /// The tests with a kernel of some replicates; nothing if the job asks for none, or of a population.
    ///
    /// The rows are in the order drawn, and each has its own label word: row i of a replicate is the
    /// uniform word and the label word of one call of Threefry. (For the sums of neighbours the uniform
    /// words are sorted first, and label words belong to ranks. Both are n independent draws of the
    /// same law; they share their confidences but not their labels, so that within one replicate
    /// tests with a kernel and without see different labels.)
    ///
    /// # Errors
    /// If the device fails.
    pub fn kernel_tests(
        &self,
        summer: &dyn PairSummer,
        job: &Job<'_>,
        first: u64,
        count: usize,
    ) -> Result<Vec<KernelTests>, DeviceError> {
        let (Some(kernel), Sampler::Model(model)) = (job.kernel, self) else {
            return Ok(Vec::new());
        };
        let replicates = Replicates {
            thresholds: &[],
            ..job.of_model(model)
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
            let sorted = SortedRows::of_q30(&rows);
            Pending {
                skce: Skce::without_sums(&kernel.options, wanted, &sorted, in_order),
                wanted,
                sorted,
            }
        };
        let together = (ROWS_PER_CALL / job.rows.max(1) as usize).max(1);
        let mut tests = Vec::with_capacity(count);
        for start in (0..count).step_by(together) {
            let offsets = start..count.min(start + together);
            let pending = offsets.into_par_iter().map(one).collect();
            let all = add_sums(&kernel.options, pending, summer)?;
            tests.extend(all.iter().map(|skce| KernelTests {
                unbiased: skce::unbiased(skce).ok(),
                linear: skce::linear(skce).ok(),
            }));
        }
        Ok(tests)
    }
}
