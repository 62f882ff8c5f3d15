//! Pair sums of a kernel on the CPU.

mod bootstrap;
pub(in crate::backend) mod drawn;
mod drawn_rows;
mod exp;
mod recursion;
pub(in crate::backend) mod resample;
mod resampling;
mod tiled;

use rayon::prelude::*;

use super::Cpu;
use crate::backend::DeviceError;
use crate::backend::kernels::{
    Kernel, Method, PairSummer, Scaled, SkceResamples, SkceSample, SkceSums, SortedRows,
};
pub use bootstrap::bootstrap_sums;
use drawn::Drawn;
pub use drawn_rows::drawn_rows;
use exp::exp_of_negative;
use resample::Resampler;
use resampling::{Resampling, Vectors};

/// Vectors side by side, one in each lane.
pub(in crate::backend) const LANES: usize = 8;
/// One number of each of [`LANES`] vectors.
pub(in crate::backend) type Lanes = [f64; LANES];

/// Words of resamples ([`Drawn`]) that are held at once: 6 MB, or 16 bytes a row where that is more.
/// Each time the kernel is computed anew.
const MOST_AT_ONCE: usize = 3 << 19;

impl PairSummer for Cpu {
    fn pair_sums(&self, samples: &[SkceSample<'_>]) -> Result<Vec<SkceSums>, DeviceError> {
        Ok(samples.par_iter().map(skce_sums).collect())
    }
}

/// The sums of one sample. Memory is O(n) and bounded per resample; the result is the same bits
/// whatever the number of threads.
pub fn skce_sums(sample: &SkceSample<'_>) -> SkceSums {
    let exact = Exact::new(sample);
    SkceSums {
        all: exact.all,
        diagonal: exact.diagonal,
        at_least: sample.resamples.map(|resamples| {
            let all: Vec<u32> = (0..resamples.count).collect();
            exact.at_least(&resamples, &all)
        }),
    }
}

/// A sample with its sums in f64, which any of its resamples can be held against.
pub(in crate::backend) struct Exact<'a> {
    rows: &'a SortedRows,
    forms: Forms<'a>,
    /// Σ_{i,j} h_ij.
    pub(in crate::backend) all: f64,
    /// Σ_i h_ii.
    pub(in crate::backend) diagonal: f64,
}

impl<'a> Exact<'a> {
    /// Computes the sums.
    pub(in crate::backend) fn new(sample: &SkceSample<'a>) -> Self {
        let rows = sample.rows;
        let forms = Forms::new(sample.scaled, sample.method, &rows.confidence);
        Exact {
            rows,
            all: forms.of_one(&rows.residuals()),
            diagonal: rows.squares(),
            forms,
        }
    }

    /// How many of the resamples `which` have a statistic at least as large as the sample's.
    pub(in crate::backend) fn at_least(&self, resamples: &SkceResamples, which: &[u32]) -> u32 {
        if self.rows.confidence.is_empty() {
            // All statistics are 0. There are at most as many as resamples.
            return which.len() as u32;
        }
        let resampler = Resampler::new(self.rows, resamples, self.all, self.diagonal);
        let threshold = resampler.threshold();
        let statistics = self.statistics(&resampler, which);
        let found = statistics
            .iter()
            .filter(|&&statistic| statistic >= threshold);
        // At most as many as resamples.
        found.count() as u32
    }

    /// The statistics of the resamples `which`; there is a row at least.
    pub(in crate::backend) fn statistics(
        &self,
        resampler: &Resampler<'_>,
        which: &[u32],
    ) -> Vec<f64> {
        let mut statistics = Vec::with_capacity(which.len());
        for which in at_once(self.rows.rows(), which) {
            let (drawn, diagonals): (Vec<Drawn>, Vec<Lanes>) = which
                .par_chunks(LANES)
                .map(|own| {
                    let mut drawn = Drawn::default();
                    let diagonals = resampler.draw(own, &mut drawn);
                    (drawn, diagonals)
                })
                .unzip();
            let values = self.forms.of_many(resampler.resampling(), &drawn);
            let of_lanes = std::iter::zip(values.as_flattened(), diagonals.as_flattened());
            let statistic = |(&value, &diagonal)| resampler.statistic(value, diagonal);
            // The last block may have lanes without a resample.
            statistics.extend(of_lanes.take(which.len()).map(statistic));
        }
        statistics
    }
}

/// Resamples in parts that are held at once, of whole blocks and about one size.
fn at_once(rows: usize, which: &[u32]) -> std::slice::Chunks<'_, u32> {
    let fitting = (MOST_AT_ONCE / rows.max(1)).max(4);
    let blocks = which.len().div_ceil(LANES).max(1);
    let parts = blocks.div_ceil(fitting);
    which.chunks(blocks.div_ceil(parts) * LANES)
}

/// Quadratic forms aᵀKa, K_gh the kernel of two of the distinct confidences.
enum Forms<'a> {
    Pairs {
        scaled: Scaled,
        confidence: &'a [f64],
    },
    /// The Laplace kernel from each confidence to the one before.
    Recursion { decay: Vec<f64> },
}

impl<'a> Forms<'a> {
    fn new(scaled: Scaled, method: Method, confidence: &'a [f64]) -> Self {
        match (scaled.kernel, method) {
            (Kernel::Laplace, Method::Fastest) => Forms::Recursion {
                decay: recursion::decay(scaled.bandwidth, confidence),
            },
            _ => Forms::Pairs { scaled, confidence },
        }
    }

    fn of_one(&self, vector: &[f64]) -> f64 {
        match self {
            Forms::Pairs { scaled, confidence } => tiled::form(*scaled, confidence, vector),
            Forms::Recursion { decay } => recursion::form(decay, vector),
        }
    }

    /// Of blocks of resamples.
    fn of_many(&self, resampling: &Resampling<'_>, drawn: &[Drawn]) -> Vec<Lanes> {
        let vectors = Vectors::new(resampling, drawn);
        match self {
            Forms::Pairs { scaled, confidence } => tiled::forms(*scaled, confidence, vectors),
            Forms::Recursion { decay } => recursion::forms(decay, &vectors),
        }
    }
}

/// The factor of distances in the exponent of a kernel: of their squares (Gaussian, whose factor is
/// squared with them) or of their sizes.
fn exponent_scale(scaled: Scaled) -> f64 {
    match scaled.kernel {
        Kernel::Gaussian => std::f64::consts::FRAC_1_SQRT_2 / scaled.bandwidth,
        Kernel::Laplace => 1.0 / scaled.bandwidth,
    }
}

/// The Gaussian kernel at a distance.
#[inline(always)]
fn gaussian(distance: f64, scale: f64) -> f64 {
    let t = distance * scale;
    exp_of_negative(-(t * t))
}

/// The Laplace kernel at a distance.
#[inline(always)]
fn laplace(distance: f64, scale: f64) -> f64 {
    exp_of_negative(-(distance.abs() * scale))
}
