//! Works through units of replicates, and keeps what is finished.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::journal::{Journal, JournalError};
use super::measure::{Measure, Tally};
use super::sampler::{Job, Sampler};
use crate::backend::DeviceError;
use crate::backend::replicates::Simulator;

/// The most replicates of one call, so that their sums fit into memory by far.
const MOST_REPLICATES: u64 = 1 << 17;
/// Rows of the first call of a unit; a slow software adapter does them in half a second.
const FIRST_ROWS: u64 = 1 << 19;
/// A call that takes less is followed by one twice as large, so that a request to stop is heard in
/// time whatever computes.
const SHORT_CALL: Duration = Duration::from_millis(100);

/// Why a run ended early. What was finished is kept.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// It was asked to.
    #[error("interrupted")]
    Stopped,
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// Finished work cannot be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// What a run works with.
pub struct Runner<'a> {
    /// What simulates.
    pub simulator: &'a dyn Simulator,
    /// Looked at between units; true ends the run.
    pub stop: &'a AtomicBool,
    /// Told of simulated rows.
    pub progress: &'a dyn Fn(u64),
    /// Where finished units are kept.
    pub journal: Option<Journal>,
    /// Units that are finished already.
    pub finished: BTreeMap<(u64, u64), Tally>,
}

impl Runner<'_> {
    /// Whether all these units of a point are finished already.
    pub(super) fn has_all(&self, point: u64, units: &[u64]) -> bool {
        let mut units = units.iter();
        units.all(|&unit| self.finished.contains_key(&(point, unit)))
    }

    /// The sums of a unit, known by its point and number.
    pub(super) fn unit(
        &mut self,
        name: (u64, u64),
        sampler: &Sampler,
        job: &Job<'_>,
        measure: &Measure,
        replicates: Range<u64>,
    ) -> Result<Tally, Halt> {
        let rows = u64::from(job.rows);
        if let Some(tally) = self.finished.get(&name) {
            (self.progress)(rows.saturating_mul(replicates.end - replicates.start));
            return Ok(tally.clone());
        }
        let mut tally = measure.zero();
        let mut first = replicates.start;
        let mut most = (FIRST_ROWS / rows.max(1)).clamp(1, MOST_REPLICATES);
        while first < replicates.end {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            let count = (replicates.end - first).min(most);
            let start = Instant::now();
            let sums = sampler.replicates(self.simulator, job, first, count as usize)?;
            tally.add(&measure.tally(job.rows, &sums));
            let kernel = sampler.kernel_tests(job, first, count as usize);
            tally.add(&measure.tally_kernel(&kernel));
            first += count;
            if start.elapsed() < SHORT_CALL {
                most = (2 * most).min(MOST_REPLICATES);
            }
            (self.progress)(rows * count);
        }
        if let Some(journal) = &mut self.journal {
            journal.unit(name.0, name.1, &tally)?;
        }
        Ok(tally)
    }
}
