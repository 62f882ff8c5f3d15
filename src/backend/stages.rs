//! How long each stage of a computation takes, for benches and `--timings`.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Times of stages, summed by name in the order of first appearance.
///
/// Of many segments at once, the CPU adds up what each took; of one, times are what a clock on the
/// wall shows.
#[derive(Debug, Default)]
pub struct StageTimes(Mutex<Vec<(&'static str, Duration)>>);

impl StageTimes {
    /// Runs a stage and adds its time.
    pub fn time<T>(&self, stage: &'static str, run: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = run();
        self.add(stage, start.elapsed());
        result
    }

    /// Adds the time of a stage.
    pub fn add(&self, stage: &'static str, time: Duration) {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match times.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, total)) => *total += time,
            None => times.push((stage, time)),
        }
    }

    /// The times so far, which start anew.
    pub fn take(&self) -> Vec<(&'static str, Duration)> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
