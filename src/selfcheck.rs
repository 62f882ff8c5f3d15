//! A device held against the CPU and the formulas, on data that have gone wrong elsewhere.

use rand::Rng;

use crate::backend::cpu::Cpu;
use crate::backend::gpu::Gpu;
use crate::backend::kernels::{
    Kernel, Method, Scaled, SkceNull, SkceResamples, SkceSample, SortedRows,
};
use crate::backend::replicates::{Replicates, Simulator};
use crate::backend::resamples::{Resampler, Resamples, Statistics, tied_groups};
use crate::backend::{Backend, Binning, Closed, DeviceError, Request, Scheme, SegmentSums, Ties};
use crate::fixed_point::ONE_Q30;
use crate::model::{Quantile, Response};
use crate::predictions::{Batch, Confidence, Dtype, Rows};
use crate::random::{Key, Stream, ThreefryRng};
use crate::reference;
use crate::with_words;

/// How far results may be from the f64 formulas (specification, section 6).
pub const TOLERANCE: f64 = 2e-9;

/// Sizes around the tiles of the kernels, and those at which others went wrong.
const SIZES: [usize; 22] = [
    0, 1, 2, 3, 4, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049, 4095, 4097, 65_535, 65_536, 65_537,
    131_072, 262_145, 1_048_583,
];
/// The formulas are slow: beyond this many rows only the CPU is asked.
const MOST_REFERENCE_ROWS: usize = 5000;

/// Beyond this many rows nothing is drawn: no kernel changes its way there.
const MOST_DRAWN_ROWS: usize = 150_000;

/// A sample to check.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Case {
    /// Type of the confidences.
    pub dtype: Dtype,
    /// Rows.
    pub rows: usize,
    /// Distinct confidences at most; none: as the type has them.
    pub steps: Option<u32>,
    /// The order of ties.
    pub ties: Ties,
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ties = match self.ties {
            Ties::Average => "average",
            Ties::Random => "random",
            Ties::Stable => "stable",
        };
        write!(f, "{} rows of {}", self.rows, self.dtype)?;
        match self.steps {
            Some(1) => write!(f, ", all equal")?,
            Some(steps) => write!(f, ", {steps} distinct confidences at most")?,
            None => {}
        }
        write!(f, ", ties {ties}")
    }
}

/// Every case of a full check.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        for rows in SIZES {
            for steps in [None, Some(21), Some(1)] {
                // Large samples once, as they are; the modes of ties differ in one kernel alone.
                let all = [Ties::Average, Ties::Random, Ties::Stable];
                let modes = if rows > 10_000 { &all[..1] } else { &all[..] };
                if rows > 200_000 && steps == Some(21) {
                    continue;
                }
                cases.extend(modes.iter().map(|&ties| Case {
                    dtype,
                    rows,
                    steps,
                    ties,
                }));
            }
        }
    }
    cases
}

/// Where a check ended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CheckError {
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// GPU and CPU part.
    #[error("{case}: GPU and CPU part at stage \"{stage}\": {detail}")]
    Parts {
        /// The sample.
        case: String,
        /// The first stage that differs.
        stage: &'static str,
        /// What differs.
        detail: String,
    },
    /// The CPU is too far from the formulas.
    #[error("{case}: {what} is {value}, but the formula gives {expected}")]
    Formula {
        /// The sample.
        case: String,
        /// The number.
        what: &'static str,
        /// What the CPU gives.
        value: f64,
        /// What the formula gives.
        expected: f64,
    },
}

/// Checks one sample: the CPU against the formulas, and the device, if there is one, against the CPU.
///
/// # Errors
/// At the first difference.
pub fn check(gpu: Option<&Gpu>, case: Case, seed: u64) -> Result<(), CheckError> {
    let (confidences, labels) = sample(case, seed);
    let batch = batch(case.dtype, &confidences, &labels);
    let request = request(case.ties, seed);
    let expected = Cpu::default().sums(&mut batch.clone(), &request)?;
    if case.rows <= MOST_REFERENCE_ROWS {
        check_formulas(case, &confidences, &labels, &expected[0], seed)?;
    }
    let Some(gpu) = gpu else { return Ok(()) };
    if let Some(detail) = gpu.sort_differs(&batch, request.ties)? {
        return Err(CheckError::Parts {
            case: case.to_string(),
            stage: "sort",
            detail,
        });
    }
    let sums = gpu.sums(&mut batch.clone(), &request)?;
    let mut difference = first_difference(&sums[0], &expected[0]);
    // Kernels are of f64, whatever the type of the confidences.
    if case.dtype == Dtype::F64 && (2..=MOST_REFERENCE_ROWS).contains(&case.rows) {
        difference = difference.or(pair_sums_difference(gpu, &batch, seed)?);
    }
    if case.dtype == Dtype::F64
        && case.ties == Ties::Average
        && (1..=MOST_DRAWN_ROWS).contains(&case.rows)
    {
        difference = difference.or(drawn_difference(gpu, &batch, seed)?);
    }
    difference.map_or(Ok(()), |(stage, detail)| {
        Err(CheckError::Parts {
            case: case.to_string(),
            stage,
            detail,
        })
    })
}

/// Whether null resamples of the rows, or simulated replicates of as many, are not those of the CPU.
fn drawn_difference(
    gpu: &Gpu,
    batch: &Batch,
    seed: u64,
) -> Result<Option<(&'static str, String)>, DeviceError> {
    let rows = batch.rows().len();
    let key = Key::for_stream(seed, Stream::Selfcheck, 1);
    let (groups, _) = tied_groups(batch.rows(), 0..rows);
    let samples = [Resamples {
        groups: &groups,
        key,
        statistics: Statistics {
            rank_ece: true,
            windows: true,
            walk: true,
        },
    }];
    let own = gpu.resamples(&samples, 1, 3)?;
    let expected = Cpu::default().resamples(&samples, 1, 3)?;
    if own != expected {
        let detail = format!("{:?} and {:?}", own[0], expected[0]);
        return Ok(Some(("null resamples", detail)));
    }
    // A uniform law, and a curve that goes up, jumps, and goes down.
    let replicates = Replicates {
        quantile: &Quantile::Affine {
            start: 0,
            width: ONE_Q30,
        },
        response: &Response::Cells {
            cells: 2,
            limits: vec![[1 << 28, 3 << 28], [1 << 29, 1 << 27]],
            nearby: None,
        },
        // At most MOST_DRAWN_ROWS.
        rows: rows as u32,
        key,
        thresholds: &[vec![1 << 29, 1 << 31]],
    };
    let own = gpu.replicates(&replicates, 1, 3)?;
    let expected = Cpu::default().replicates(&replicates, 1, 3)?;
    let mut pairs = std::iter::zip(own, expected);
    Ok(pairs
        .find(|(own, expected)| own != expected)
        .map(|(own, expected)| ("simulated replicates", format!("{own:?} and {expected:?}"))))
}

/// Whether pair sums of the Gaussian kernel are further from the CPU's than they may be.
fn pair_sums_difference(
    gpu: &Gpu,
    batch: &Batch,
    seed: u64,
) -> Result<Option<(&'static str, String)>, DeviceError> {
    let dtype = batch.dtype();
    let rows = with_words!(batch.rows(), words => SortedRows::of_words(dtype, words));
    let error = gpu.pair_sums_error(&SkceSample {
        rows: &rows,
        scaled: Scaled {
            kernel: Kernel::Gaussian,
            bandwidth: 0.25,
        },
        method: Method::Pairs,
        resamples: Some(SkceResamples {
            null: SkceNull::Multinomial,
            count: 8,
            key: Key::for_stream(seed, Stream::Multinomial, 0),
        }),
    })?;
    // Not a number differs too.
    Ok((error.is_nan() || error > 1.0).then(|| {
        let detail = format!("they are {error} times as far apart as they may be");
        ("pair sums of the Gaussian kernel", detail)
    }))
}

/// A check of a few milliseconds, for every device that is opened.
///
/// # Errors
/// If the device fails or gives other numbers than the CPU.
pub fn quick(gpu: &Gpu) -> Result<(), DeviceError> {
    let case = Case {
        dtype: Dtype::F32,
        rows: 5000,
        steps: Some(4000),
        ties: Ties::Average,
    };
    match check(Some(gpu), case, 1) {
        Ok(()) => Ok(()),
        Err(CheckError::Device(error)) => Err(error),
        Err(error) => Err(DeviceError::WrongNumbers(error.to_string())),
    }
}

/// Random confidences, exact in their type, some of them 0 and 1, and labels.
fn sample(case: Case, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let key = Key::for_stream(seed, Stream::Selfcheck, 0);
    let mut rng = ThreefryRng::new(key.child(case.rows as u32, case.steps.unwrap_or(0)));
    (0..case.rows)
        .map(|_| {
            let uniform = rng.next_u64() as f64 / 2f64.powi(64);
            let value = match case.steps {
                Some(1) => 0.3,
                Some(steps) => (uniform * f64::from(steps)).floor() / f64::from(steps - 1),
                // Small confidences too, a quarter of them.
                None if rng.next_u32().is_multiple_of(4) => uniform.powi(16),
                None => uniform,
            };
            let value = match case.dtype {
                Dtype::F16 => half::f16::from_f64(value).to_f64(),
                Dtype::Bf16 => half::bf16::from_f64(value).to_f64(),
                Dtype::F32 => f64::from(value as f32),
                Dtype::F64 => value,
            };
            (
                value,
                f64::from(rng.next_u32()) < value * value * 2f64.powi(32),
            )
        })
        .unzip()
}

fn batch(dtype: Dtype, confidences: &[f64], labels: &[bool]) -> Batch {
    fn rows<C: Confidence>(
        confidences: &[f64],
        labels: &[bool],
        narrow: impl Fn(f64) -> C,
    ) -> Rows {
        let word = |(&confidence, &label)| {
            // Confidences of `sample` are at least 0 and at most 1 in every type.
            narrow(confidence).word(label).expect("a confidence")
        };
        C::rows(std::iter::zip(confidences, labels).map(word).collect())
    }
    let rows = match dtype {
        Dtype::F16 => rows(confidences, labels, half::f16::from_f64),
        Dtype::Bf16 => rows(confidences, labels, half::bf16::from_f64),
        Dtype::F32 => rows(confidences, labels, |value| value as f32),
        Dtype::F64 => rows(confidences, labels, |value| value),
    };
    let size = rows.len();
    // The one segment has all rows, and no case has 2³².
    Batch::new(rows, &[size]).expect("one segment")
}

fn request(ties: Ties, seed: u64) -> Request {
    let binning = |scheme, closed, bins| Binning {
        scheme,
        closed,
        bins: vec![bins],
    };
    Request {
        ties,
        ties_key: Key::for_stream(seed, Stream::Ties, 0),
        neighbour_key: Some(Key::for_stream(seed, Stream::Neighbour, 0)),
        binnings: vec![
            binning(Scheme::EqualWidth, Closed::Right, 10),
            binning(Scheme::EqualWidth, Closed::Left, 10),
            binning(Scheme::EqualMass, Closed::Right, 7),
        ],
    }
}

/// The first stage, in the order of the computation, in which sums differ.
fn first_difference(sums: &SegmentSums, expected: &SegmentSums) -> Option<(&'static str, String)> {
    macro_rules! compare {
        ($stage:literal: $($field:ident),*) => {$(
            if sums.$field != expected.$field {
                let what = stringify!($field);
                let detail = format!("{what} is {:?} and {:?}", sums.$field, expected.$field);
                return Some(($stage, detail));
            }
        )*};
    }
    compare!("prefix sums": rows, positives, confidence);
    compare!("sums over runs": distinct, tied_rows, brier, null_squares, null_odd, null_even,
        null_conditional);
    compare!("adjacent products": rank_ece);
    compare!("sums over rows": neighbours);
    compare!("bins": binned);
    None
}

/// Holds sums against the formulas in f64.
fn check_formulas(
    case: Case,
    confidences: &[f64],
    labels: &[bool],
    sums: &SegmentSums,
    seed: u64,
) -> Result<(), CheckError> {
    let Some(sample) = reference::Sample::new(confidences, labels) else {
        // The formulas need no more than what `sample` gives.
        return Ok(());
    };
    let n = sums.rows as f64;
    let rank_ece = match case.ties {
        Ties::Average => reference::rank_ece::average(&sample),
        Ties::Random => {
            reference::rank_ece::random(&sample, Key::for_stream(seed, Stream::Ties, 0))
        }
        Ties::Stable => reference::rank_ece::stable(&sample),
    };
    let q60 = 2f64.powi(-60);
    let q66 = 2f64.powi(-66);
    let comparisons = [
        ("rank_ece", sums.rank_ece as f64 * q60 / n, rank_ece),
        (
            "brier",
            sums.brier as f64 * q60 / n,
            reference::scores::brier(&sample),
        ),
        (
            "the mean squared null variance",
            sums.null_squares as f64 * q66 / n,
            (sums.rows > 0).then(|| reference::null::squares(&sample) / n),
        ),
        (
            "the conditional null variance over n",
            sums.null_conditional as f64 * q66 / n,
            (sums.rows > 0).then(|| reference::null::conditional_average(&sample) / n),
        ),
    ];
    for (what, value, expected) in comparisons {
        if let Some(expected) = expected
            && (value - expected).abs() > TOLERANCE
        {
            return Err(CheckError::Formula {
                case: case.to_string(),
                what,
                value,
                expected,
            });
        }
    }
    Ok(())
}
