//! Pair sums of a kernel on the CPU.

mod drawn_rows;
mod exp;
mod recursion;
mod resample;
mod tiled;

use rayon::prelude::*;

use crate::backend::kernels::{Kernel, Method, Scaled, SkceResamples, SkceSums, SortedRows};
pub use drawn_rows::drawn_rows;
use exp::exp_of_negative;
use resample::{Resampler, Words};

/// Vectors side by side, one in each lane.
const LANES: usize = 8;
/// One number of each of [`LANES`] vectors.
type Lanes = [f64; LANES];

/// Numbers of lanes that are held at once: 32 MB, whatever n is.
const MOST_AT_ONCE: usize = 1 << 19;

/// The sums of one sample. Memory is O(n) and bounded per resample; the result is the same bits
/// whatever the number of threads.
pub fn skce_sums(
    rows: &SortedRows,
    scaled: Scaled,
    method: Method,
    resamples: Option<&SkceResamples>,
) -> SkceSums {
    let forms = Forms::new(scaled, method, &rows.confidence);
    let diagonal = rows.squares();
    let all = forms.of_one(&rows.residuals());
    SkceSums {
        all,
        diagonal,
        at_least: resamples.map(|resamples| at_least(rows, &forms, resamples, all, diagonal)),
    }
}

/// How many resamples have a statistic at least as large as the sample's.
fn at_least(
    rows: &SortedRows,
    forms: &Forms<'_>,
    resamples: &SkceResamples,
    all: f64,
    diagonal: f64,
) -> u32 {
    let groups = rows.confidence.len();
    if groups == 0 {
        return resamples.count;
    }
    let resampler = Resampler::new(rows, resamples, all, diagonal);
    let threshold = resampler.observed() - 1e-12 * rows.magnitudes().powi(2);
    let blocks = (resamples.count as usize).div_ceil(LANES);
    let at_once = (MOST_AT_ONCE / groups).clamp(1, blocks.max(1));
    let mut vectors = vec![[0.0; LANES]; groups * at_once];
    let mut found = 0;
    for first in (0..blocks).step_by(at_once) {
        let own = at_once.min(blocks - first);
        let vectors = &mut vectors[..own * groups];
        let diagonals: Vec<Lanes> = vectors
            .par_chunks_mut(groups)
            .enumerate()
            .map_init(Words::default, |words, (block, vectors)| {
                resampler.fill((first + block) as u32, vectors, words)
            })
            .collect();
        let values = forms.of_many(vectors);
        for (block, (values, diagonals)) in std::iter::zip(values, diagonals).enumerate() {
            for lane in 0..LANES {
                let resample = (first + block) * LANES + lane;
                let statistic = resampler.statistic(values[lane], diagonals[lane]);
                found += u32::from(resample < resamples.count as usize && statistic >= threshold);
            }
        }
    }
    found
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

    /// Of consecutive blocks of vectors, each as long as the list of confidences.
    fn of_many(&self, vectors: &[Lanes]) -> Vec<Lanes> {
        match self {
            Forms::Pairs { scaled, confidence } => tiled::forms(*scaled, confidence, vectors),
            Forms::Recursion { decay } => recursion::forms(decay, vectors),
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
