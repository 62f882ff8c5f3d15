//! Pair sums of SKCE on the device, held against the formulas written out and against the CPU.

mod common;

use common::{Spread, gpu, rows};
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::{DeviceOptions, Fault, Gpu};
use rankece::backend::kernels::{
    Kernel, Method, PairSummer, Scaled, SkceNull, SkceResamples, SkceSample, SkceSums, SortedRows,
};
use rankece::backend::resilient::Resilient;
use rankece::predictions::{Confidence, Dtype, Word};
use rankece::random::Key;
use rankece::reference::{Sample, skce as reference};

const KERNELS: [Kernel; 2] = [Kernel::Gaussian, Kernel::Laplace];
const NULLS: [SkceNull; 3] = [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo];
/// More than one block of eight vectors, and not a whole one.
const RESAMPLES: u32 = 37;

fn sorted(z: &[f64], y: &[bool]) -> SortedRows {
    let words: Vec<u64> = std::iter::zip(z, y)
        .map(|(z, &y)| z.word(y).expect("in [0, 1]").to_u64())
        .collect();
    SortedRows::of_words(Dtype::F64, &words)
}

fn sample(rows: &SortedRows, kernel: Kernel, bandwidth: f64, null: SkceNull) -> SkceSample<'_> {
    SkceSample {
        rows,
        scaled: Scaled { kernel, bandwidth },
        // All pairs, also where there is a faster way.
        method: Method::Pairs,
        // One row has no null law.
        resamples: (rows.rows() != 1).then_some(SkceResamples {
            null,
            count: RESAMPLES,
            key: Key([5, rows.rows() as u32]),
        }),
    }
}

/// Holds the sums of a device against those of the CPU: the form within 10⁻⁶ Σ|h|, all else equal.
fn holds(own: &SkceSums, cpu: &SkceSums, size: f64, what: &str) {
    let error = (own.all - cpu.all).abs();
    assert!(
        error <= 1e-6 * size,
        "{what}: {own:?} is not {cpu:?}, with {size}"
    );
    assert_eq!(own.diagonal, cpu.diagonal, "{what}");
    assert_eq!(own.at_least, cpu.at_least, "{what}");
}

/// Both kernels, all nulls, at sizes around the tiles; against the matrix written out.
fn small_samples(device: &Gpu) {
    for count in [1, 2, 3, 5, 15, 16, 17, 63, 64, 65, 127, 128, 129, 257] {
        for spread in [
            Spread::Uniform,
            Spread::Steps,
            Spread::Constant,
            Spread::Extreme,
        ] {
            let (z, y) = rows(Dtype::F64, count, spread, 8);
            let own_rows = sorted(&z, &y);
            let reference_rows = Sample::new(&z, &y).expect("a sample");
            for bandwidth in [0.2, 1e-3] {
                let samples: Vec<SkceSample<'_>> = KERNELS
                    .into_iter()
                    .flat_map(|kernel| NULLS.map(|null| (kernel, null)))
                    .map(|(kernel, null)| sample(&own_rows, kernel, bandwidth, null))
                    .collect();
                let device_sums = device.pair_sums(&samples).expect("the device works");
                let cpu_sums = Cpu::default().pair_sums(&samples).expect("no device");
                for (index, (own, cpu)) in std::iter::zip(&device_sums, &cpu_sums).enumerate() {
                    let h = reference::matrix(
                        reference_rows.rows(),
                        samples[index].scaled.kernel,
                        bandwidth,
                    );
                    let size: f64 = h.iter().flatten().map(|h| h.abs()).sum();
                    let exact: f64 = h.iter().flatten().sum();
                    let SkceSample {
                        scaled, resamples, ..
                    } = samples[index];
                    let what = format!("{count} rows, {spread:?}, {scaled:?}, {resamples:?}");
                    assert!(
                        (own.all - exact).abs() <= 1e-6 * size,
                        "{what}: {own:?}, {exact}"
                    );
                    holds(own, cpu, size, &what);
                }
            }
        }
    }
}

#[test]
fn small_samples_are_those_of_the_formulas_and_the_cpu() {
    for without_int64 in [false, true] {
        let options = DeviceOptions {
            without_int64,
            ..DeviceOptions::default()
        };
        if let Some(device) = gpu(options) {
            small_samples(&device);
        }
    }
}

/// Larger samples, several in one call and of different sizes, and vectors that take several buffers.
#[test]
fn batches_and_vectors_in_parts_give_what_the_cpu_gives() {
    let samples_rows: Vec<SortedRows> = [1025, 0, 300, 1, 1500]
        .into_iter()
        .map(|count| {
            let (z, y) = rows(Dtype::F64, count, Spread::Uniform, 3);
            sorted(&z, &y)
        })
        .collect();
    for most_rows in [None, Some(320)] {
        let options = DeviceOptions {
            most_rows,
            ..DeviceOptions::default()
        };
        let Some(device) = gpu(options) else { return };
        for null in NULLS {
            let mut samples: Vec<SkceSample<'_>> = std::iter::zip(&samples_rows, 0..)
                .map(|(rows, index)| sample(rows, KERNELS[index % 2], 0.15, null))
                .collect();
            // More than one launch takes, and none at all.
            samples[2].resamples = samples[2].resamples.map(|resamples| SkceResamples {
                count: 131,
                ..resamples
            });
            samples[4].resamples = None;
            let own = device.pair_sums(&samples).expect("the device works");
            let again = device.pair_sums(&samples).expect("the device works");
            assert_eq!(own, again, "the same device, other bits");
            let cpu = Cpu::default().pair_sums(&samples).expect("no device");
            for (index, (own, cpu)) in std::iter::zip(&own, &cpu).enumerate() {
                let rows = samples[index].rows;
                // Σ|h| is at least Σ h, and here of the size of (Σ|D|)² / 4.
                let size = 0.25 * rows.magnitudes().powi(2);
                holds(
                    own,
                    cpu,
                    size,
                    &format!("sample {index}, {null:?}, {most_rows:?}"),
                );
            }
        }
    }
}

/// Equal scores and balanced labels: most statistics are ties, which f32 must not decide.
#[test]
fn ties_of_statistics_are_decided_as_on_the_cpu() {
    let Some(device) = gpu(DeviceOptions::default()) else {
        return;
    };
    for (z, y) in [
        (
            vec![0.3; 10],
            vec![
                true, false, false, false, true, false, true, false, false, false,
            ],
        ),
        (
            vec![0.5, 0.5, 0.5 + 1e-9, 0.5 + 1e-9],
            vec![true, false, true, false],
        ),
        (vec![0.0, 1.0, 0.0, 1.0], vec![false, true, false, true]),
        (vec![1e-200, 1e-30, 1e-25, 1e-21], vec![false; 4]),
    ] {
        let rows = sorted(&z, &y);
        for kernel in KERNELS {
            for null in NULLS {
                for bandwidth in [1e-100, 1e-30, 1e-10, 0.3, 1e6] {
                    let samples = [sample(&rows, kernel, bandwidth, null)];
                    let own = device.pair_sums(&samples).expect("the device works");
                    let cpu = Cpu::default().pair_sums(&samples).expect("no device");
                    let what = format!("{z:?}, {kernel:?}, {null:?}, bandwidth {bandwidth}");
                    holds(&own[0], &cpu[0], rows.squares(), &what);
                }
            }
        }
    }
}

/// A device that fails leaves the work to the CPU, whose bits the result then has.
#[test]
fn a_device_that_fails_leaves_the_sums_to_the_cpu() {
    let (z, y) = rows(Dtype::F64, 200, Spread::Uniform, 2);
    let rows = sorted(&z, &y);
    let samples = [sample(&rows, Kernel::Gaussian, 0.2, SkceNull::Wild)];
    let cpu = Cpu::default().pair_sums(&samples).expect("no device");
    for fault in [Fault::Lost, Fault::OutOfMemory, Fault::Timeout] {
        for after in [0, 1, 2] {
            let options = DeviceOptions {
                fault: Some((fault, after)),
                ..DeviceOptions::default()
            };
            let Some(device) = gpu(options) else { return };
            let resilient = Resilient::new(device);
            let own = resilient.pair_sums(&samples).expect("the CPU is there");
            assert!(resilient.failure().is_some(), "{fault:?} after {after}");
            assert_eq!(own, cpu);
        }
    }
}
