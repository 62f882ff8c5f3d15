//! What is asked of all replicates of a point.

use crate::backend::replicates::Replicates;
use crate::model::Model;
use crate::random::Key;
use crate::statistic::skce::SkceOptions;

/// What is the same for all replicates of a point.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// Rows of a replicate.
    pub rows: u32,
    /// The key of the point.
    pub key: Key,
    /// The key of null resamples of the point.
    pub null_key: Key,
    /// Null resamples of each replicate.
    pub resamples: u32,
    /// Where bins begin, for each binning.
    pub thresholds: &'a [Vec<u32>],
    /// What tests with a kernel need, if any is asked for.
    pub kernel: Option<KernelJob>,
}

impl Job<'_> {
    /// The pairs of rows of a replicate whose kernels are computed.
    pub fn pairs(&self) -> u64 {
        let rows = u64::from(self.rows);
        match self.kernel {
            Some(kernel) if kernel.unbiased => rows * rows / 2,
            _ => 0,
        }
    }
}

impl<'a> Job<'a> {
    /// The replicates of a model.
    pub(super) fn of_model(&self, model: &'a Model) -> Replicates<'a> {
        Replicates {
            quantile: &model.quantile,
            response: &model.response,
            rows: self.rows,
            key: self.key,
            thresholds: self.thresholds,
        }
    }
}

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
