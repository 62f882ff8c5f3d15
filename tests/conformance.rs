//! One suite for every backend: each must give the integers of the CPU, which `tests/reference.rs`
//! holds against the formulas.

mod common;

use common::{DTYPES, SPREADS, Spread, batch, gpu, request, rows, shuffled};
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::DeviceOptions;
use rankece::backend::{Backend, Ties};
use rankece::predictions::{Batch, Dtype};

const TIES: [Ties; 3] = [Ties::Average, Ties::Random, Ties::Stable];

/// Holds a backend against the CPU on one batch.
fn same_sums(backend: &dyn Backend, batch: &Batch, ties: Ties, bins: &[u32], what: &str) {
    let request = request(ties, bins, batch.segments());
    let expected = Cpu::default()
        .sums(&mut batch.clone(), &request)
        .expect("the CPU does not fail");
    let sums = backend
        .sums(&mut batch.clone(), &request)
        .expect("the device works");
    assert_eq!(sums.len(), expected.len());
    for (segment, (sums, expected)) in std::iter::zip(&sums, &expected).enumerate() {
        assert_eq!(sums, expected, "{what}, segment {segment}, ties {ties:?}");
    }
}

/// Every type, spread and tie mode at sizes around the tiles of the kernels.
fn small_sizes(backend: &dyn Backend) {
    for dtype in DTYPES {
        for spread in SPREADS {
            for size in [
                0, 1, 2, 3, 4, 5, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049, 5000,
            ] {
                let batch = batch(dtype, &[rows(dtype, size, spread, 1)]);
                for ties in TIES {
                    let what = format!("{dtype} {spread:?} {size} rows");
                    same_sums(backend, &batch, ties, &[1, 2, 10, 37], &what);
                }
            }
        }
    }
}

/// Batches of segments of many sizes, empty ones among them.
fn batches(backend: &dyn Backend) {
    for dtype in DTYPES {
        let segments: Vec<_> = (0..300)
            .map(|index| {
                let size = [0, 1, 2, 3, 50, 64, 100, 700][index % 8];
                rows(dtype, size, SPREADS[index / 8 % 4], index as u32)
            })
            .collect();
        let batch = batch(dtype, &segments);
        for ties in TIES {
            same_sums(backend, &batch, ties, &[10], &format!("{dtype} batch"));
        }
    }
}

/// Segments past the most rows that the device takes at a time (`most_rows` of its options).
fn parts(backend: &dyn Backend) {
    for dtype in DTYPES {
        for spread in SPREADS {
            let segments = [
                rows(dtype, 100, spread, 1),
                rows(dtype, 9000, spread, 2),
                rows(dtype, 3000, spread, 3),
                rows(dtype, 0, spread, 4),
            ];
            let batch = batch(dtype, &segments);
            for ties in TIES {
                let what = format!("{dtype} {spread:?} in parts");
                same_sums(backend, &batch, ties, &[7, 1000], &what);
            }
        }
    }
}

#[test]
fn cpu_ignores_the_order_of_rows() {
    for dtype in DTYPES {
        for spread in SPREADS {
            let batch = batch(
                dtype,
                &[rows(dtype, 3000, spread, 5), rows(dtype, 77, spread, 6)],
            );
            for ties in [Ties::Average, Ties::Random] {
                let request = request(ties, &[10], batch.segments());
                let expected = Cpu::default().sums(&mut batch.clone(), &request);
                for seed in 0..3 {
                    assert_eq!(
                        Cpu::default().sums(&mut shuffled(&batch, seed), &request),
                        expected
                    );
                }
            }
        }
    }
}

#[test]
fn cpu_gives_the_same_on_every_number_of_threads() {
    let batch = batch(Dtype::F32, &[rows(Dtype::F32, 300_000, Spread::Steps, 1)]);
    let request = request(Ties::Random, &[10], 1);
    let expected = Cpu::default().sums(&mut batch.clone(), &request);
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let sums = pool.install(|| Cpu::default().sums(&mut batch.clone(), &request));
        assert_eq!(sums, expected, "{threads} threads");
    }
}

#[test]
fn gpu_small_sizes() {
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        small_sizes(&gpu);
    }
}

#[test]
fn gpu_small_sizes_without_subgroups_and_int64() {
    for (without_subgroups, without_int64) in [(true, true), (true, false), (false, true)] {
        let options = DeviceOptions {
            without_subgroups,
            without_int64,
            ..DeviceOptions::default()
        };
        let Some(gpu) = gpu(options) else { return };
        let (int64, subgroup) = gpu.features();
        assert!(!(without_int64 && int64));
        assert!(!(without_subgroups && subgroup));
        for dtype in DTYPES {
            let batch = batch(dtype, &[rows(dtype, 5000, Spread::Extreme, 9)]);
            for ties in TIES {
                let what = format!("{dtype} {without_subgroups} {without_int64}");
                same_sums(&gpu, &batch, ties, &[10], &what);
            }
        }
    }
}

#[test]
fn gpu_batches() {
    if let Some(gpu) = gpu(DeviceOptions::default()) {
        batches(&gpu);
    }
}

#[test]
fn gpu_parts() {
    for most_rows in [1000, 2500] {
        let options = DeviceOptions {
            most_rows: Some(most_rows),
            ..DeviceOptions::default()
        };
        if let Some(gpu) = gpu(options) {
            parts(&gpu);
            batches(&gpu);
        }
    }
}

/// Lightning-AI/torchmetrics#1727 returned 0.0 at 2¹⁷ rows.
#[test]
fn gpu_sort_sizes() {
    let Some(gpu) = gpu(DeviceOptions::default()) else {
        return;
    };
    for size in [
        (1 << 16) - 1,
        1 << 16,
        (1 << 16) + 1,
        1 << 17,
        (1 << 20) + 7,
    ] {
        let batch = batch(Dtype::F32, &[rows(Dtype::F32, size, Spread::Uniform, 1)]);
        same_sums(&gpu, &batch, Ties::Average, &[10], &format!("{size} rows"));
    }
}
