//! Pair sums of a kernel on the device: tiles of the kernel matrix that are computed, used and
//! forgotten. The vectors are made on the host, from the words that the CPU's are made of.

mod forms;
mod places;
mod tasks;

use rayon::prelude::*;

use super::Gpu;
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::cpu::skce::resample::{Resampler, Words};
use crate::backend::cpu::skce::{Exact, LANES, Lanes};
use crate::backend::kernels::{PairSummer, SkceSample, SkceSums};
use forms::{MANY, Matrices};

/// How far, as a part of the sizes of a form (see [`Form::size`]), a statistic may be from the sample's
/// for f64 to decide. Forms of f32 were never seen to err by a tenth of this.
const MARGIN: f64 = 1.0 / (1 << 18) as f64;
/// Groups of all samples of a launch at most, unless one sample has more.
const MOST_GROUPS: usize = 1 << 17;
/// Groups of a sample at most: task numbers stay below 2³², and so do memory and patience.
const MOST_GROUPS_OF_ONE: usize = 1 << 22;

/// A form aᵀKa as the device computed it.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    value: f64,
    /// Σ a².
    squares: f64,
}

impl Form {
    /// What the error of the value is measured by. Errors of single products are independent and add up as
    /// Σ a² does; those of sums grow with the sums.
    fn size(self) -> f64 {
        self.squares + self.value.abs()
    }
}

impl PairSummer for Gpu {
    fn pair_sums(&self, samples: &[SkceSample<'_>]) -> Result<Vec<SkceSums>, DeviceError> {
        let of_device = |sample: &&SkceSample<'_>| {
            // What is linear in n is done before a device has its data.
            !sample.is_linear() && sample.rows.confidence.len() <= MOST_GROUPS_OF_ONE
        };
        if !samples.iter().all(|sample| of_device(&sample)) {
            return Cpu::default().pair_sums(samples);
        }
        let mut sums = Vec::with_capacity(samples.len());
        let mut rest = samples;
        while !rest.is_empty() {
            let mut groups = 0;
            let fitting = rest.iter().take_while(|sample| {
                groups += sample.rows.confidence.len();
                groups <= MOST_GROUPS
            });
            let (now, later) = rest.split_at(fitting.count().max(1));
            sums.extend(self.pair_sums_of_launch(now)?);
            rest = later;
        }
        Ok(sums)
    }
}

impl Gpu {
    fn pair_sums_of_launch(
        &self,
        samples: &[SkceSample<'_>],
    ) -> Result<Vec<SkceSums>, DeviceError> {
        let matrices = Matrices::new(self, samples)?;
        let observed = matrices.forms_of_residuals(samples)?;
        let mut states: Vec<State<'_>> = std::iter::zip(samples, observed)
            .map(|(sample, observed)| State::new(sample, observed))
            .collect();
        let most = samples.iter().filter_map(|sample| sample.resamples);
        let most = most.map(|resamples| resamples.count).max().unwrap_or(0);
        for first in (0..most).step_by(MANY) {
            let forms = matrices.forms_of_resamples(&states, first)?;
            for (state, forms) in std::iter::zip(&mut states, forms) {
                state.count(first, &forms);
            }
        }
        Ok(states.into_par_iter().map(State::sums).collect())
    }
}

/// A sample, and what is known of it so far.
struct State<'a> {
    sample: &'a SkceSample<'a>,
    observed: Form,
    diagonal: f64,
    resampler: Option<Resampler<'a>>,
    /// Resamples that are at least as large for certain.
    at_least: u32,
    /// Resamples that f64 must decide.
    close: Vec<u32>,
}

/// The form of a resample, and the diagonal that is taken off it.
type Resampled = (Form, f64);

impl<'a> State<'a> {
    fn new(sample: &'a SkceSample<'a>, observed: Form) -> Self {
        let diagonal = sample.rows.squares();
        State {
            sample,
            observed,
            diagonal,
            resampler: sample
                .resamples
                .as_ref()
                .map(|resamples| Resampler::new(sample.rows, resamples, observed.value, diagonal)),
            at_least: 0,
            close: Vec::new(),
        }
    }

    /// The resamples from `first` on that one launch takes.
    fn resamples_from(&self, first: u32) -> Vec<u32> {
        let count = self.sample.resamples.map_or(0, |resamples| resamples.count);
        (first..count.min(first.saturating_add(MANY as u32))).collect()
    }

    /// Writes the vectors of resamples, one in each lane, and gives their sums of squares and their
    /// diagonals; nothing if the sample has no resamples.
    fn fill(
        &self,
        resamples: &[u32],
        vectors: &mut [Lanes],
        words: &mut Words,
    ) -> Option<(Lanes, Lanes)> {
        let resampler = self.resampler.as_ref()?;
        let diagonals = resampler.fill(resamples, vectors, words);
        let mut squares = [0.0; LANES];
        for vector in vectors {
            for lane in 0..LANES {
                squares[lane] += vector[lane] * vector[lane];
            }
        }
        Some((squares, diagonals))
    }

    /// Holds resamples, of which the first is `first`, against the sample.
    fn count(&mut self, first: u32, forms: &[Resampled]) {
        let Some(resampler) = &self.resampler else {
            return;
        };
        let threshold = resampler.threshold();
        for (resample, (form, diagonal)) in (first..).zip(forms) {
            let above = resampler.statistic(form.value, *diagonal) - threshold;
            if above.abs() <= MARGIN * (form.size() + self.observed.size()) {
                self.close.push(resample);
            } else {
                self.at_least += u32::from(above > 0.0);
            }
        }
    }

    fn sums(self) -> SkceSums {
        let at_least = self.sample.resamples.map(|resamples| {
            if self.sample.rows.confidence.is_empty() {
                // All statistics are 0.
                return resamples.count;
            }
            if self.close.is_empty() {
                return self.at_least;
            }
            self.at_least + Exact::new(self.sample).at_least(&resamples, &self.close)
        });
        SkceSums {
            all: self.observed.value,
            diagonal: self.diagonal,
            at_least,
        }
    }
}
