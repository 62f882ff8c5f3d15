//! Rows per second of each stage on each backend, in one run.
//!
//! `cargo bench --bench stages [-- ROWS]`; 10^7 rows by default. A software adapter is measured too,
//! with a tenth of the rows, as a check of the work and never as a claim of speed.

use std::time::{Duration, Instant};

use rand::Rng;
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::{DeviceOptions, Gpu, adapters};
use rankece::backend::{Backend, Binning, Closed, Request, Scheme, Ties};
use rankece::predictions::{Batch, Confidence, Rows};
use rankece::random::{Key, Stream, ThreefryRng};
use rankece::statistic::log_loss::log_loss;

/// Repetitions; the median is shown.
const REPETITIONS: usize = 5;

fn main() {
    let rows = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(10_000_000usize);
    println!("uniform confidences, labels from 0.8z^2 - 0.2z + 0.2, 10 equal-width bins");
    println!(
        "median of {REPETITIONS} runs; {} threads\n",
        rayon::current_num_threads()
    );

    let cpu = Cpu::default();
    for (name, batch) in [
        ("f32", f32_rows(rows)),
        ("f64", f64_rows(rows)),
        ("f16", f16_rows(rows)),
    ] {
        measure(&format!("cpu, {rows} rows of {name}"), &batch, &cpu, || {
            cpu.stages.take()
        });
    }
    for found in adapters::enumerate() {
        let rows = if found.software { rows / 10 } else { rows };
        let name = &found.described.name;
        match Gpu::open(&found, DeviceOptions::default()) {
            Ok(mut gpu) => {
                gpu.time_stages();
                for (dtype, batch) in [
                    ("f32", f32_rows(rows)),
                    ("f64", f64_rows(rows)),
                    ("f16", f16_rows(rows)),
                ] {
                    let title = format!("gpu ({name}), {rows} rows of {dtype}");
                    measure(&title, &batch, &gpu, || gpu.take_stages());
                }
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}

/// Times every stage of a backend and prints rows per second.
fn measure(
    title: &str,
    batch: &Batch,
    backend: &dyn Backend,
    take: impl Fn() -> Vec<(&'static str, Duration)>,
) {
    let request = Request {
        ties: Ties::Average,
        ties_key: Key::for_stream(1, Stream::Ties, 0),
        neighbour_key: Some(Key::for_stream(1, Stream::Neighbour, 0)),
        binnings: vec![Binning {
            scheme: Scheme::EqualWidth,
            closed: Closed::Right,
            bins: vec![10],
        }],
    };
    let mut runs: Vec<Vec<(&'static str, Duration)>> = Vec::new();
    for repetition in 0..=REPETITIONS {
        let mut batch = batch.clone();
        let start = Instant::now();
        log_loss(&batch);
        let loss = start.elapsed();
        let start = Instant::now();
        if let Err(error) = backend.sums(&mut batch, &request) {
            println!("{title}: {error}");
            return;
        }
        let mut times = take();
        times.push(("all of the above", start.elapsed()));
        times.push(("log loss (on the CPU)", loss));
        // The first run compiles kernels and warms caches.
        if repetition > 0 {
            runs.push(times);
        }
    }
    println!("{title}");
    let rows = batch.rows().len() as f64;
    for stage in 0..runs[0].len() {
        let mut times: Vec<f64> = runs.iter().map(|run| run[stage].1.as_secs_f64()).collect();
        times.sort_by(f64::total_cmp);
        let median = times[times.len() / 2];
        println!(
            "  {:<22} {:>9.1} ms {:>9.1} million rows/s",
            runs[0][stage].0,
            median * 1e3,
            rows / median / 1e6
        );
    }
    println!();
}

/// Random rows of a type.
fn random<C: Confidence>(rows: usize, narrow: impl Fn(f64) -> C) -> Rows {
    let mut rng = ThreefryRng::new(Key([1, 2]));
    let words = (0..rows)
        .map(|_| {
            let z = f64::from(rng.next_u32()) / 2f64.powi(32);
            let chance = 0.8 * z * z - 0.2 * z + 0.2;
            let label = f64::from(rng.next_u32()) / 2f64.powi(32) < chance;
            narrow(z).word(label).expect("a confidence in [0, 1]")
        })
        .collect();
    C::rows(words)
}

fn batch(rows: Rows) -> Batch {
    let size = rows.len();
    Batch::new(rows, &[size]).expect("one segment")
}

fn f32_rows(rows: usize) -> Batch {
    batch(random(rows, |z| z as f32))
}

fn f64_rows(rows: usize) -> Batch {
    batch(random(rows, |z| z))
}

fn f16_rows(rows: usize) -> Batch {
    batch(random(rows, half::f16::from_f64))
}
