//! Samples through null resampling: from tied groups to what the tests of labels say.

use crate::backend::DeviceError;
use crate::backend::resamples::{Resampler, Resamples, TiedGroups};
use crate::inference::tests_of_calibration::{LabelOutcome, LabelTests, TestName};
use crate::random::Key;

/// Resamples of one call to a backend, over all samples: their sums take some tens of MB.
const MOST_RESAMPLES: usize = 1 << 17;
/// Calls end at multiples of this, which divides into the tiles of every backend.
const STEP: usize = 64;

/// The default number of resamples of `n` rows: 999, fewer beyond 200,000 rows for the work of 2·10⁸
/// rows, and at least 99.
pub fn default_resamples(n: u64) -> u32 {
    // At most 999.
    (200_000_000 / n.max(1)).clamp(99, 999) as u32
}

/// A sample that is to be resampled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledGroups {
    /// Its confidences.
    pub groups: TiedGroups,
    /// How many rows of each tied group are positive.
    pub positives: Vec<u32>,
    /// The key of its resamples ([`crate::backend::resamples::sample_key`]).
    pub key: Key,
}

/// The tests among `names` that look at labels, by `resamples` null resamples of each sample.
///
/// # Errors
/// If the device fails.
pub fn label_tests(
    samples: &[LabelledGroups],
    names: &[TestName],
    resamples: u32,
    resampler: &dyn Resampler,
) -> Result<Vec<Vec<(TestName, LabelOutcome)>>, DeviceError> {
    let mut tests: Vec<LabelTests> = samples
        .iter()
        .map(|sample| LabelTests::new(names, &sample.groups, &sample.positives))
        .collect();
    let (asked, jobs): (Vec<usize>, Vec<Resamples>) = std::iter::zip(samples, &tests)
        .enumerate()
        .filter(|(_, (_, tests))| !tests.statistics().is_empty())
        .map(|(place, (sample, tests))| {
            let job = Resamples {
                groups: &sample.groups,
                key: sample.key,
                statistics: tests.statistics(),
            };
            (place, job)
        })
        .unzip();
    let step = (MOST_RESAMPLES / jobs.len().max(1)).max(STEP) / STEP * STEP;
    let mut first = 0;
    while first < resamples && !jobs.is_empty() {
        let count = (resamples - first).min(step as u32);
        let sums = resampler.resamples(&jobs, first, count)?;
        for (&place, sums) in asked.iter().zip(&sums) {
            tests[place].add(count, sums);
        }
        first += count;
    }
    Ok(tests.into_iter().map(LabelTests::finish).collect())
}
