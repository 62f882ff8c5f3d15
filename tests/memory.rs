//! Peak memory, as this process asks for it. One test alone: the counter is of the whole process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use rankece::backend::cpu::skce::{bootstrap_sums, skce_sums};
use rankece::backend::kernels::{
    Kernel, Method, Scaled, SkceBootstrap, SkceNull, SkceResamples, SkceSample, SortedRows,
};
use rankece::random::Key;

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: all work is done by the allocator of the system; beside it only numbers are added up.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        // SAFETY: the caller's contract is that of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes at the peak of a computation, beyond what there is before it.
fn peak(compute: impl FnOnce()) -> usize {
    let before = NOW.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    compute();
    PEAK.load(Ordering::Relaxed) - before
}

/// Confidences all over [0, 1], each once, and labels of any kind.
fn sample(rows: u32) -> SortedRows {
    let row = |row: u32| {
        (
            ((u64::from(row) << 30) / u64::from(rows)) as u32,
            row.is_multiple_of(3),
        )
    };
    let rows: Vec<(u32, bool)> = (0..rows).map(row).collect();
    SortedRows::of_q30(&rows)
}

/// What 100 resamples of SKCE need: 4 bytes a row for each eight of them, as long as that is up to 6 MB,
/// and about 20 bytes a row beside. In f64 their weights would take 80 MB at n = 100,000.
#[test]
fn resamples_of_skce_need_a_few_megabytes() {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .expect("threads");
    let measure = |rows: u32, scaled: Scaled, most: usize| {
        let rows = sample(rows);
        for null in [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo] {
            let sample = SkceSample {
                rows: &rows,
                scaled,
                method: Method::Fastest,
                resamples: Some(SkceResamples {
                    null,
                    count: 100,
                    key: Key([1, 2]),
                }),
            };
            let bytes = pool.install(|| peak(|| assert!(skce_sums(&sample).at_least.is_some())));
            println!("{} rows, {scaled:?}, {null:?}: {bytes} bytes", rows.rows());
            assert!(
                bytes < most,
                "{} rows, {null:?}: {bytes} bytes",
                rows.rows()
            );
        }
        let bootstrap = SkceBootstrap {
            rows: &rows,
            scaled,
            method: Method::Fastest,
            count: 100,
            key: Key([1, 2]),
        };
        let bytes = pool.install(|| peak(|| assert_eq!(bootstrap_sums(&bootstrap).len(), 100)));
        println!("{} rows, {scaled:?}, bootstrap: {bytes} bytes", rows.rows());
        assert!(
            bytes < most,
            "{} rows, bootstrap: {bytes} bytes",
            rows.rows()
        );
    };
    let kernel = |kernel| Scaled {
        kernel,
        bandwidth: 0.3,
    };
    // 5.2 MB of draws, residuals, chances and kernels of 0.4 to 0.8 MB each.
    measure(100_000, kernel(Kernel::Laplace), 8_000_000);
    // 0.5 MB of draws; over all pairs there are parts of sums beside.
    measure(10_000, kernel(Kernel::Gaussian), 1_200_000);
    // Parts of resamples, 16 bytes a row, where all together would take 52.
    measure(500_000, kernel(Kernel::Laplace), 20_000_000);
}
