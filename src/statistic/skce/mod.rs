//! SKCE, the squared kernel calibration error (\[W19\] Widmann, Lindsten & Zachariah, "Calibration
//! tests in multi-class classification", 2019), in its binary form: with residuals D and
//! h_ij = D_i k(Z_i, Z_j) D_j,
//! - unbiased: 2/(n(n-1)) Σ_{i<j} h_ij;
//! - biased: (1/n²) Σ_{i,j} h_ij;
//! - linear: the mean of h over the ⌊n/2⌋ disjoint pairs (1,2), (3,4), … in input order.
//!
//! Against a matrix-valued kernel on the probability vectors of two classes these are half the values:
//! there both classes' residuals, D and -D, are counted.

mod bandwidth;
mod null_variance;

pub use bandwidth::{Bandwidth, NoBandwidth, median_distance};

use crate::backend::DeviceError;
use crate::backend::kernels::{
    Kernel, Method, PairSummer, Scaled, SkceNull, SkceResamples, SkceSample, SkceSums, SortedRows,
};
use crate::random::{Key, Stream};

/// The number of resamples of `skce-u` if none is named.
pub const RESAMPLES: u32 = 100;

/// How SKCE is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkceOptions {
    /// The kernel.
    pub kernel: Kernel,
    /// Its bandwidth.
    pub bandwidth: Bandwidth,
    /// The law that resamples of the test `skce-u` stand for.
    pub null: SkceNull,
    /// Their number, B.
    pub resamples: u32,
    /// How sums over pairs are computed.
    pub method: Method,
}

impl Default for SkceOptions {
    fn default() -> Self {
        SkceOptions {
            kernel: Kernel::default(),
            bandwidth: Bandwidth::default(),
            null: SkceNull::default(),
            resamples: RESAMPLES,
            method: Method::default(),
        }
    }
}

impl SkceOptions {
    /// The stream that resamples draw from.
    pub fn stream(&self) -> Stream {
        match self.null {
            SkceNull::Multinomial => Stream::Multinomial,
            SkceNull::Wild => Stream::Wild,
            SkceNull::MonteCarlo => Stream::Null,
        }
    }
}

/// What is asked of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The sums over all pairs.
    pub all_pairs: bool,
    /// The key of the sample for the null resamples ([`SkceResamples`]); none: no resamples.
    pub resamples: Option<Key>,
    /// The moments of disjoint pairs.
    pub disjoint_pairs: bool,
}

/// What SKCE and its tests are made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Skce {
    /// n, the number of rows.
    pub rows: u64,
    /// The kernel.
    pub kernel: Kernel,
    /// The law of the resamples.
    pub null: SkceNull,
    /// B, how many resamples were to be drawn.
    pub resamples: u32,
    /// Whether resamples of that law can differ from each other, given the rows.
    pub null_varies: bool,
    /// The bandwidth, or why there is none; then nothing else is computed.
    pub bandwidth: Result<f64, NoBandwidth>,
    /// Sums over all pairs, if asked for.
    pub sums: Option<SkceSums>,
    /// Moments of disjoint pairs, if asked for.
    pub pairs: Option<PairMoments>,
}

/// Mean and spread of h over disjoint pairs of rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairMoments {
    /// ⌊n/2⌋, how many pairs.
    pub count: u64,
    /// Their mean, `skce_l`; 0 without pairs.
    pub mean: f64,
    /// Their standard deviation, divisor one less than their number; none with fewer than two.
    pub sd: Option<f64>,
}

impl Skce {
    /// Of a sample, given by its rows in input order as confidences with their labels, and sorted: all
    /// but the sums over all pairs, which [`add_sums`] adds.
    pub fn without_sums(
        options: &SkceOptions,
        wanted: Wanted,
        sorted: &SortedRows,
        in_order: impl Iterator<Item = (f64, bool)>,
    ) -> Self {
        let mut skce = Skce {
            rows: sorted.rows() as u64,
            kernel: options.kernel,
            null: options.null,
            resamples: options.resamples,
            null_varies: null_variance::varies(options.null, sorted),
            bandwidth: options.bandwidth.of(sorted),
            sums: None,
            pairs: None,
        };
        if let Some(scaled) = skce.scaled().filter(|_| wanted.disjoint_pairs) {
            skce.pairs = Some(pair_moments(scaled, in_order));
        }
        skce
    }

    /// The kernel with its bandwidth, if there is one.
    fn scaled(&self) -> Option<Scaled> {
        let kernel = self.kernel;
        let scaled = |bandwidth| Scaled { kernel, bandwidth };
        self.bandwidth.ok().map(scaled)
    }

    /// What is asked of a backend, if anything is.
    fn sample<'a>(
        &self,
        options: &SkceOptions,
        wanted: Wanted,
        sorted: &'a SortedRows,
    ) -> Option<SkceSample<'a>> {
        let resamples = wanted.resamples.map(|key| SkceResamples {
            null: options.null,
            count: options.resamples,
            key,
        });
        let any = wanted.all_pairs || resamples.is_some();
        self.scaled().filter(|_| any).map(|scaled| SkceSample {
            rows: sorted,
            scaled,
            method: options.method,
            // With one row nothing can be told apart from a resample.
            resamples: resamples.filter(|_| sorted.rows() > 1),
        })
    }

    /// 2/(n(n-1)) Σ_{i<j} h_ij; none with fewer than two rows.
    pub fn unbiased(&self) -> Option<f64> {
        let n = self.rows as f64;
        let sums = self.sums.filter(|_| self.rows > 1)?;
        Some((sums.all - sums.diagonal) / (n * (n - 1.0)))
    }

    /// (1/n²) Σ_{i,j} h_ij; none without rows.
    pub fn biased(&self) -> Option<f64> {
        let n = self.rows as f64;
        let sums = self.sums.filter(|_| self.rows > 0)?;
        Some(sums.all / (n * n))
    }

    /// The mean of h over disjoint pairs; none with fewer than two rows.
    pub fn linear(&self) -> Option<f64> {
        let pairs = self.pairs.filter(|pairs| pairs.count > 0)?;
        Some(pairs.mean)
    }
}

/// A sample on its way through a backend.
#[derive(Clone, Debug)]
pub struct Pending {
    /// All but the sums over all pairs.
    pub skce: Skce,
    /// What is asked of it.
    pub wanted: Wanted,
    /// Its rows.
    pub sorted: SortedRows,
}

/// Has the sums over all pairs of several samples computed, as far as they are asked for.
///
/// # Errors
/// If the device fails.
pub fn add_sums(
    options: &SkceOptions,
    pending: Vec<Pending>,
    summer: &dyn PairSummer,
) -> Result<Vec<Skce>, DeviceError> {
    let samples: Vec<Option<SkceSample<'_>>> = pending
        .iter()
        .map(|pending| {
            let sorted = &pending.sorted;
            pending.skce.sample(options, pending.wanted, sorted)
        })
        .collect();
    let asked: Vec<SkceSample<'_>> = samples.iter().flatten().copied().collect();
    let mut sums = summer.pair_sums(&asked)?.into_iter();
    let sums: Vec<Option<SkceSums>> = samples
        .iter()
        .map(|sample| sample.as_ref().and_then(|_| sums.next()))
        .collect();
    let with_sums = |(pending, sums): (Pending, Option<SkceSums>)| Skce {
        sums,
        ..pending.skce
    };
    Ok(std::iter::zip(pending, sums).map(with_sums).collect())
}

/// The moments of h over the pairs (1,2), (3,4), … of rows; a last row without another is in none.
fn pair_moments(scaled: Scaled, rows: impl Iterator<Item = (f64, bool)>) -> PairMoments {
    let mut moments = PairMoments::default();
    let (mut squares, mut first) = (0.0, None);
    for (z, label) in rows {
        let residual = f64::from(u8::from(label)) - z;
        let Some((other, other_residual)) = first.take() else {
            first = Some((z, residual));
            continue;
        };
        let h: f64 = residual * other_residual * kernel_value(scaled, z - other);
        // Welford's update: no cancellation between Σ h² and the square of the mean.
        moments.count += 1;
        let before = h - moments.mean;
        moments.mean += before / moments.count as f64;
        squares += before * (h - moments.mean);
    }
    if moments.count > 1 {
        moments.sd = Some((squares / (moments.count - 1) as f64).sqrt());
    }
    moments
}

/// The kernel at a distance of confidences.
fn kernel_value(scaled: Scaled, distance: f64) -> f64 {
    let t = distance.abs() / scaled.bandwidth;
    match scaled.kernel {
        Kernel::Gaussian => libm::exp(-0.5 * t * t),
        Kernel::Laplace => libm::exp(-t),
    }
}
