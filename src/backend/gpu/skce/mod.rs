//! Pair sums of a kernel on the device: tiles of the kernel matrix that are computed, used and
//! forgotten. The vectors are made on the host, from the words that the CPU's are made of.

mod forms;
mod places;
mod tasks;

use rayon::prelude::*;

use super::Gpu;
use crate::backend::DeviceError;
use crate::backend::cpu::Cpu;
use crate::backend::cpu::skce::drawn::Drawn;
use crate::backend::cpu::skce::resample::Resampler;
use crate::backend::cpu::skce::{Exact, LANES, Lanes};
use crate::backend::kernels::{
    Kernel, Method, PairSummer, Scaled, SkceNull, SkceResamples, SkceSample, SkceSums, SortedRows,
};
use crate::random::Key;
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
        self.prove_pair_sums()?;
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
    /// How far statistics of a sample and of its first resamples are from the CPU's, at most, as a part of
    /// what f64 decides: above 1 the device computes wrong numbers.
    ///
    /// # Errors
    /// If the device fails.
    pub(crate) fn pair_sums_error(&self, sample: &SkceSample<'_>) -> Result<f64, DeviceError> {
        let samples = [*sample];
        let matrices = Matrices::new(self, &samples)?;
        let observed = matrices.forms_of_residuals(&samples)?;
        let states = [State::new(sample, observed[0])];
        let forms = matrices.forms_of_resamples(&states, 0)?;
        let state = &states[0];
        let exact = Exact::new(sample);
        let mut error = (state.observed.value - exact.all).abs() / state.observed.size();
        if let (Some(resampler), Some(resamples)) = (&state.resampler, &sample.resamples) {
            let exact_of = Resampler::new(sample.rows, resamples, exact.all, exact.diagonal);
            let statistics = exact.statistics(&exact_of, &state.resamples_from(0));
            for ((form, diagonal), statistic) in std::iter::zip(&forms[0], statistics) {
                let above = resampler.statistic(form.value, *diagonal) - resampler.threshold();
                let apart = (above - (statistic - exact_of.threshold())).abs();
                error = error.max(apart / (form.size() + state.observed.size()));
            }
        }
        Ok(error / MARGIN)
    }

    /// Lets the device prove itself on a small sample before its pair sums are used, once.
    fn prove_pair_sums(&self) -> Result<(), DeviceError> {
        if self.pair_sums_proven.get() {
            return Ok(());
        }
        // 100 confidences all over [0, 1], a multiple of the golden section modulo 1, and all label 0.
        let q = |row: u32| row.wrapping_mul(0x9E37_79B9) >> 2;
        let rows: Vec<(u32, bool)> = (1..=100).map(|row| (q(row), false)).collect();
        let rows = SortedRows::of_q30(&rows);
        for kernel in [Kernel::Gaussian, Kernel::Laplace] {
            let sample = SkceSample {
                rows: &rows,
                scaled: Scaled {
                    kernel,
                    bandwidth: 0.1,
                },
                method: Method::Pairs,
                resamples: Some(SkceResamples {
                    null: SkceNull::Multinomial,
                    count: MANY as u32,
                    key: Key([1, 1]),
                }),
            };
            let error = self.pair_sums_error(&sample)?;
            // Not a number is no proof either.
            if error.is_nan() || error > 1.0 {
                return Err(DeviceError::WrongNumbers(format!(
                    "pair sums of the {} kernel are {error} times as far from the CPU's as they may be",
                    kernel.as_str()
                )));
            }
        }
        self.pair_sums_proven.set(true);
        Ok(())
    }

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
        drawn: &mut Drawn,
    ) -> Option<(Lanes, Lanes)> {
        let resampler = self.resampler.as_ref()?;
        let diagonals = resampler.fill(resamples, vectors, drawn);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::gpu::{DeviceOptions, adapters};

    #[test]
    fn statistics_err_by_far_less_than_the_margin() {
        let found = adapters::enumerate();
        let Some(index) = adapters::choose(&found, true) else {
            println!("skipped: this machine has no adapter");
            return;
        };
        let gpu = Gpu::open(&found[index], DeviceOptions::default()).expect("the adapter opens");
        let mut largest = 0f64;
        for (count, bandwidth) in [(2, 0.3), (50, 0.1), (1000, 0.3), (1000, 1e-4), (1500, 0.2)] {
            // A multiplicative walk over [0, 1]; labels calibrated, and then all 1.
            let q = |row: u32| row.wrapping_mul(0x9E37_79B9) >> 2;
            let label = |row: u32| row.wrapping_mul(0x85EB_CA6B).rotate_left(15) >> 2 < q(row);
            for always in [false, true] {
                let rows: Vec<(u32, bool)> = (1..=count)
                    .map(|row| (q(row), always || label(row)))
                    .collect();
                let rows = SortedRows::of_q30(&rows);
                for kernel in [Kernel::Gaussian, Kernel::Laplace] {
                    for null in [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo] {
                        let sample = SkceSample {
                            rows: &rows,
                            scaled: Scaled { kernel, bandwidth },
                            method: Method::Pairs,
                            resamples: Some(SkceResamples {
                                null,
                                count: 40,
                                key: Key([9, count]),
                            }),
                        };
                        let error = gpu.pair_sums_error(&sample).expect("the device works");
                        largest = largest.max(error);
                        assert!(error < 0.1, "{count} rows, {kernel:?}, {null:?}: {error}");
                    }
                }
            }
        }
        println!("largest error: {:.4} of the margin", largest);
    }
}
