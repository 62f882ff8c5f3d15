//! What several test files share: random samples, and the adapter of this machine.
#![allow(dead_code)] // each test file uses its own part

use half::{bf16, f16};
use rand::Rng;
use rankece::backend::gpu::{DeviceOptions, Gpu, adapters};
use rankece::backend::{Binning, Closed, Request, Scheme, Ties};
use rankece::predictions::{Batch, Confidence, Dtype, Rows, Word};
use rankece::random::{Key, Stream, ThreefryRng};

/// The device of this machine, if there is one. Without one, says so and returns nothing, or fails
/// if `RANKECE_REQUIRE_GPU` is 1.
pub fn gpu(options: DeviceOptions) -> Option<Gpu> {
    let found = adapters::enumerate();
    match adapters::choose(&found, true) {
        Some(index) => Some(Gpu::open(&found[index], options).expect("the adapter opens")),
        None if std::env::var("RANKECE_REQUIRE_GPU").is_ok_and(|value| value == "1") => {
            panic!("RANKECE_REQUIRE_GPU=1, but this machine has no adapter")
        }
        None => {
            println!("skipped: this machine has no adapter");
            None
        }
    }
}

/// How random confidences are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Spread {
    /// Over all of \[0, 1\], ties only by chance.
    Uniform,
    /// On 21 values in steps of 0.05, so nearly all rows are tied.
    Steps,
    /// All equal.
    Constant,
    /// Near 0 and 1, some exactly 0 and 1, and subnormal.
    Extreme,
}

pub const SPREADS: [Spread; 4] = [
    Spread::Uniform,
    Spread::Steps,
    Spread::Constant,
    Spread::Extreme,
];

pub const DTYPES: [Dtype; 4] = [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64];

/// A random confidence.
fn confidence(rng: &mut ThreefryRng, spread: Spread) -> f64 {
    let uniform = rng.next_u64() as f64 / 2f64.powi(64);
    match spread {
        Spread::Uniform => uniform,
        Spread::Steps => f64::from(rng.next_u32() % 21) / 20.0,
        Spread::Constant => 0.3,
        Spread::Extreme => match rng.next_u32() % 6 {
            0 => 0.0,
            1 => 1.0,
            2 => 1e-310 * uniform,
            3 => 2f64.powi(-20) * uniform,
            4 => 1.0 - 2f64.powi(-24) * uniform,
            _ => uniform.powi(12),
        },
    }
}

/// The nearest value of a type.
pub fn narrow(dtype: Dtype, value: f64) -> f64 {
    match dtype {
        Dtype::F16 => f16::from_f64(value).to_f64(),
        Dtype::Bf16 => bf16::from_f64(value).to_f64(),
        Dtype::F32 => f64::from(value as f32),
        Dtype::F64 => value,
    }
}

/// Confidences, exact in the type, and labels that are not calibrated.
pub fn rows(dtype: Dtype, count: usize, spread: Spread, seed: u32) -> (Vec<f64>, Vec<bool>) {
    let mut rng = ThreefryRng::new(Key([seed, count as u32]));
    (0..count)
        .map(|_| {
            let value = confidence(&mut rng, spread);
            let value = narrow(dtype, value);
            let chance = 0.8 * value * value - 0.2 * value + 0.2;
            (value, (rng.next_u32() as f64) < chance * 2f64.powi(32))
        })
        .unzip()
}

/// Segments as a batch.
pub fn batch(dtype: Dtype, segments: &[(Vec<f64>, Vec<bool>)]) -> Batch {
    fn words<C: Confidence>(segments: &[(Vec<f64>, Vec<bool>)], narrow: impl Fn(f64) -> C) -> Rows {
        C::rows(
            segments
                .iter()
                .flat_map(|(confidences, labels)| std::iter::zip(confidences, labels))
                .map(|(&confidence, &label)| narrow(confidence).word(label).expect("in [0, 1]"))
                .collect(),
        )
    }
    let rows = match dtype {
        Dtype::F16 => words(segments, f16::from_f64),
        Dtype::Bf16 => words(segments, bf16::from_f64),
        Dtype::F32 => words(segments, |value| value as f32),
        Dtype::F64 => words(segments, |value| value),
    };
    let sizes: Vec<usize> = segments
        .iter()
        .map(|(confidences, _)| confidences.len())
        .collect();
    Batch::new(rows, &sizes).expect("sizes add up")
}

/// A request for everything.
pub fn request(ties: Ties, bins: &[u32], segments: usize) -> Request {
    let mut binnings = Vec::new();
    for &count in bins {
        for (scheme, closed) in [
            (Scheme::EqualWidth, Closed::Right),
            (Scheme::EqualWidth, Closed::Left),
            (Scheme::EqualMass, Closed::Right),
        ] {
            binnings.push(Binning {
                scheme,
                closed,
                bins: vec![count; segments],
            });
        }
    }
    Request {
        ties,
        ties_key: Key::for_stream(1, Stream::Ties, 0),
        neighbour_key: Some(Key::for_stream(1, Stream::Neighbour, 0)),
        binnings,
    }
}

/// The same rows in another order.
pub fn shuffled(batch: &Batch, seed: u32) -> Batch {
    fn shuffle<W: Word>(words: &[W], offsets: &[usize], seed: u32) -> Vec<W> {
        let mut rng = ThreefryRng::new(Key([seed, 99]));
        let mut words = words.to_vec();
        for pair in offsets.windows(2) {
            let segment = &mut words[pair[0]..pair[1]];
            for last in (1..segment.len()).rev() {
                segment.swap(last, rng.next_u32() as usize % (last + 1));
            }
        }
        words
    }
    let offsets = batch.offsets();
    let sizes: Vec<usize> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rows = match batch.rows() {
        Rows::F16(words) => Rows::F16(shuffle(words, offsets, seed)),
        Rows::Bf16(words) => Rows::Bf16(shuffle(words, offsets, seed)),
        Rows::F32(words) => Rows::F32(shuffle(words, offsets, seed)),
        Rows::F64(words) => Rows::F64(shuffle(words, offsets, seed)),
    };
    Batch::new(rows, &sizes).expect("sizes add up")
}
