//! `adaptive`: sums over windows of ranks of every width at once.

use super::Undefined;
use crate::results::WindowSum;

/// Statistics of exchangeable samples that are less apart count as equal.
const EQUAL: f64 = 1e-6;

/// The window sums S_L of a sample and of its null resamples, each kept until all can be standardised
/// together.
#[derive(Clone, Debug)]
pub struct Adaptive {
    widths: Vec<u32>,
    /// One sum for each width: those of the sample, then those of each resample.
    sums: Vec<f64>,
}

/// What the sums say.
#[derive(Clone, Debug, PartialEq)]
pub struct AdaptiveResult {
    /// M, the largest standardised sum of the sample.
    pub largest: f64,
    /// How many resamples have as large an M.
    pub at_least: u32,
    /// The standardised sums of the sample.
    pub profile: Vec<WindowSum>,
}

impl Adaptive {
    /// Begins with the sums of a sample, one for each width.
    pub fn new(widths: Vec<u32>, observed: &[i128]) -> Self {
        let mut adaptive = Adaptive {
            widths,
            sums: Vec::new(),
        };
        adaptive.add(observed);
        adaptive
    }

    /// Adds the sums of resamples, those of one after those of another.
    pub fn add(&mut self, sums: &[i128]) {
        self.sums.extend(sums.iter().map(|&sum| sum as f64));
    }

    /// Standardises each S_L by mean and standard deviation of its values in the sample and all
    /// resamples; M is the largest over L. As all are treated alike, they are exchangeable under H0,
    /// and the rank of the sample's M is uniform whatever n.
    ///
    /// A width whose values are all equal is left out.
    ///
    /// # Errors
    /// If none is left.
    pub fn finish(self) -> Result<AdaptiveResult, Undefined> {
        let width = self.widths.len();
        let samples = self.sums.len() / width.max(1);
        let mut largest = vec![f64::NEG_INFINITY; samples];
        let mut profile = Vec::with_capacity(width);
        for (place, &window) in self.widths.iter().enumerate() {
            let values = || self.sums.iter().skip(place).step_by(width);
            let scale = scale(values);
            if let Some((mean, sd)) = scale {
                for (largest, value) in largest.iter_mut().zip(values()) {
                    *largest = largest.max((value - mean) / sd);
                }
            }
            let standardised = scale.map(|(mean, sd)| (self.sums[place] - mean) / sd);
            profile.push(WindowSum {
                window,
                standardised,
            });
        }
        let Some((&observed, resampled)) = largest.split_first() else {
            return Err(Undefined::NoWindowVaries);
        };
        if observed == f64::NEG_INFINITY {
            return Err(Undefined::NoWindowVaries);
        }
        let reaches = |&&other: &&f64| other >= observed - EQUAL;
        Ok(AdaptiveResult {
            largest: observed,
            at_least: resampled.iter().filter(reaches).count() as u32,
            profile,
        })
    }
}

/// Mean and standard deviation (divisor one less than their number) of values; none if they are all
/// equal.
fn scale<'a, I: Iterator<Item = &'a f64>>(values: impl Fn() -> I) -> Option<(f64, f64)> {
    let first = values().next()?;
    if values().all(|value| value == first) {
        return None;
    }
    // From the first value on, which cannot cancel where all are far from 0.
    let count = values().count() as f64;
    let mean = values().map(|value| value - first).sum::<f64>() / count;
    let squares: f64 = values().map(|value| (value - first - mean).powi(2)).sum();
    Some((first + mean, (squares / (count - 1.0)).sqrt()))
}
