//! Works through units of replicates, and keeps what is finished.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::job::Job;
use super::journal::{Journal, JournalError};
use super::measure::{Measure, Tally};
use super::sampler::Sampler;
use crate::backend::DeviceError;
use crate::backend::replicates::Simulator;

/// The most replicates of one call, and the most of their bins: their sums take some 100 MB.
const MOST_REPLICATES: u64 = 1 << 20;
const MOST_BINS: u64 = 1 << 23;
/// The most rows of a call whose labels are kept for tests of them.
const MOST_LABELS: u64 = 1 << 22;
/// A call that takes less is followed by one twice as large, so that a request to stop is heard in time
/// whatever computes. No longer than that, so that the sums of a call lie in memory that is used again.
const SHORT_CALL: Duration = Duration::from_millis(10);

/// The most pairs of rows in one call, some seconds of a core, so that a request to stop is heard.
const MOST_PAIRS: u64 = 1 << 28;

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
    pub(super) fn has_all(&self, point: u64, units: &[(u64, Range<u64>)]) -> bool {
        let mut units = units.iter();
        units.all(|(unit, _)| self.finished.contains_key(&(point, *unit)))
    }

    /// Adds the sums of units of a point, known to the journal by `point`, to `total`.
    ///
    /// A call of the simulator may span units, and a unit may take several calls: what is kept, and
    /// when, is decided by the units alone.
    pub(super) fn units(
        &mut self,
        point: u64,
        units: &[(u64, Range<u64>)],
        work: &Work<'_>,
        total: &mut Tally,
    ) -> Result<(), Halt> {
        let rows = u64::from(work.job.rows);
        let mut rest = Vec::with_capacity(units.len());
        for (unit, replicates) in units {
            if let Some(tally) = self.finished.get(&(point, *unit)) {
                (self.progress)(rows.saturating_mul(replicates.end - replicates.start));
                total.add(tally);
            } else {
                rest.push((*unit, replicates.clone()));
            }
        }
        let drawn = work
            .job
            .rows
            .saturating_mul(work.job.resamples.saturating_add(1));
        let mut size = self.simulator.replicates_per_call(drawn) as u64;
        for span in rest.chunk_by(|(_, a), (_, b)| a.end == b.start) {
            self.span(point, span, work, &mut size, total)?;
        }
        Ok(())
    }

    /// Simulates consecutive units in calls of about `size` replicates.
    fn span(
        &mut self,
        point: u64,
        units: &[(u64, Range<u64>)],
        work: &Work<'_>,
        size: &mut u64,
        total: &mut Tally,
    ) -> Result<(), Halt> {
        let job = work.job;
        let bins: usize = job.thresholds.iter().map(|edges| edges.len() + 1).sum();
        let mut most = MOST_REPLICATES
            .min(MOST_BINS / bins.max(1) as u64)
            .min(MOST_PAIRS / job.pairs().max(1));
        if work.measure.tests().iter().any(|test| test.is_of_labels()) {
            most = most.min(MOST_LABELS / u64::from(job.rows.max(1)));
        }
        let most = most.max(1);
        let (Some((_, first)), Some((_, last))) = (units.first(), units.last()) else {
            return Ok(());
        };
        let (mut next, end) = (first.start, last.end);
        let mut open = units.iter().peekable();
        let mut tally = work.measure.zero();
        while next < end {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Halt::Stopped);
            }
            let count = (*size).clamp(1, most).min(end - next);
            let start = Instant::now();
            let sums = work
                .sampler
                .replicates(self.simulator, job, next, count as usize)?;
            let tests = work.measure.tests();
            let labels =
                work.sampler
                    .label_tests(self.simulator, job, tests, next, count as usize)?;
            let (mut sums, mut labels) = (sums.as_slice(), labels.as_slice());
            while let Some((unit, replicates)) = open.peek()
                && !sums.is_empty()
            {
                let own = (replicates.end - next).min(sums.len() as u64);
                let (own_sums, later) = sums.split_at(own as usize);
                // There are none if no test looks at labels.
                let (own_labels, later_labels) = labels.split_at(labels.len().min(own as usize));
                let part = work.measure.tally(job.rows, own_sums, own_labels);
                tally.add(&part);
                (sums, labels) = (later, later_labels);
                let kernel = work
                    .sampler
                    .kernel_tests(self.simulator, job, next, own as usize)?;
                tally.add(&work.measure.tally_kernel(&kernel));
                next += own;
                if next == replicates.end {
                    if let Some(journal) = &mut self.journal {
                        journal.unit(point, *unit, &tally)?;
                    }
                    total.add(&std::mem::replace(&mut tally, work.measure.zero()));
                    open.next();
                }
            }
            if start.elapsed() < SHORT_CALL {
                *size = (*size).clamp(1, most) * 2;
            }
            (self.progress)(u64::from(job.rows) * count);
        }
        Ok(())
    }
}

/// What is done with the replicates of a point.
pub(super) struct Work<'a> {
    /// What they are drawn from.
    pub(super) sampler: &'a Sampler,
    /// How.
    pub(super) job: &'a Job<'a>,
    /// What is measured of them.
    pub(super) measure: &'a Measure,
}
