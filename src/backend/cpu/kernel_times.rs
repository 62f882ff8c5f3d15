//! What each kernel takes beside the least that its operations could take. Not a check: a table to read.
//!
//! `cargo test --release --lib -- --ignored --nocapture kernel_times`, on a quiet machine.

use std::hint::black_box;
use std::time::Instant;

use super::draw::{draw, draw_side_by_side};
use super::radix_sort::radix_sort;
use super::reduce_rows::reduce_rows;
use super::reduce_runs::reduce_runs;
use super::residuals::{Cells, residuals};
use super::side_by_side::SideBySide;
use super::sort_lanes::{LANES, Row, padded, sort_lanes};
use super::sort_uniform::sort_uniform;
use super::totals::totals;
use crate::backend::piece::Place;
use crate::backend::replicates::Replicates;
use crate::model::{Law, Model};
use crate::predictions::{Confidence, Dtype, Word};
use crate::random::{Key, ThreefryRng};
use rand::Rng;

/// The least of many times, in ns for each of `rows`; a machine with other work is slow now and then,
/// never fast.
fn least(rows: usize, mut kernel: impl FnMut()) -> f64 {
    let repetitions = (100_000_000 / rows.max(1)).clamp(7, 3000);
    let one = |_| {
        let start = Instant::now();
        kernel();
        start.elapsed().as_secs_f64()
    };
    let least = (0..repetitions).map(one).fold(f64::INFINITY, f64::min);
    least * 1e9 / rows as f64
}

/// ns a round of a chain of multiplications by three cycles each, hence the clock.
fn clock() -> f64 {
    const ROUNDS: usize = 100_000;
    let chain = least(ROUNDS, || {
        let mut value = black_box(3u64);
        for _ in 0..ROUNDS {
            value = value.wrapping_mul(value);
        }
        black_box(value);
    });
    3.0 / chain
}

fn line(kernel: &str, rows: usize, time: f64) {
    println!("{kernel:<44} {rows:>9} {time:>8.2}");
}

#[test]
#[ignore = "a table to read, on a quiet machine"]
fn kernel_times() {
    println!("clock {:.2} GHz; one thread", clock());
    println!("{:<44} {:>9} {:>8}", "kernel", "rows", "ns a row");
    let model = |law: &str, curve: &str| -> Model {
        let (law, curve): (Law, _) = (law.parse().expect("a law"), curve.parse().expect("a curve"));
        Model::new(law, curve, 1).expect("a model")
    };
    let key = Key([1, 2]);
    simulation(&model, key);
    data(key);
}

/// Kernels of simulated replicates.
fn simulation(model: &dyn Fn(&str, &str) -> Model, key: Key) {
    for rows in [100usize, 1000, 10_000] {
        let all = rows * LANES;
        let size = padded(rows);
        let (mut uniform, mut label) = (vec![Row::PAST; size], vec![Row::PAST; size]);
        let drawn = rows.next_multiple_of(4);
        let mut first = 0;
        let time = least(all, || {
            first += LANES as u32;
            draw_side_by_side(key, first, &mut uniform[..drawn], &mut label[..drawn]);
        });
        line("draw_side_by_side", rows, time);
        uniform[rows..].fill(Row::PAST);
        let drawn = uniform.clone();
        let copy = least(all, || uniform.copy_from_slice(black_box(&drawn)));
        let time = least(all, || {
            uniform.copy_from_slice(&drawn);
            sort_lanes(&mut uniform, rows);
        });
        line("sort_lanes", rows, time - copy);
        for (law, curve) in [
            ("uniform", "calibrated"),
            ("uniform", "quadratic"),
            ("uniform", "staircase"),
            ("beta:2,3", "quadratic"),
        ] {
            let model = model(law, curve);
            let cells = Cells::new(&model.response);
            let (mut residual, mut variance) = (vec![0; all], vec![0; all]);
            let time = least(all, || {
                // As many rows at a time as `SideBySide` takes.
                for start in (0..all).step_by(64 * LANES) {
                    let block = start..all.min(start + 64 * LANES);
                    residuals(
                        &model.quantile,
                        cells.as_ref(),
                        &bytemuck::cast_slice(&uniform)[block.clone()],
                        &bytemuck::cast_slice(&label)[block.clone()],
                        &mut residual[block.clone()],
                        &mut variance[block],
                    );
                }
            });
            line(&format!("residuals, {law}, {curve}"), rows, time);
            let mut lanes = SideBySide::new(rows);
            let replicates = Replicates {
                quantile: &model.quantile,
                response: &model.response,
                rows: rows as u32,
                key,
                thresholds: &[],
            };
            lanes.draw_and_sort(&replicates, 0);
            let sums = least(all, || {
                black_box(lanes.sums(&replicates, cells.as_ref()));
            });
            line("  and products", rows, sums);
        }
    }
    let rows = 100_000;
    let (mut uniform, mut label) = (vec![0; rows], vec![0; rows]);
    let mut replicate = 0;
    let time = least(rows, || {
        replicate += 1;
        draw(key, replicate, &mut uniform, &mut label);
    });
    line("draw", rows, time);
    let drawn = uniform.clone();
    let mut scratch = uniform.clone();
    let copy = least(rows, || uniform.copy_from_slice(black_box(&drawn)));
    let time = least(rows, || {
        uniform.copy_from_slice(&drawn);
        sort_uniform(&mut uniform, &mut scratch);
    });
    line("sort_uniform", rows, time - copy);
}

/// Kernels of data.
fn data(key: Key) {
    for rows in [10_000usize, 1_000_000] {
        let mut rng = ThreefryRng::new(key);
        let words: Vec<u32> = (0..rows)
            .map(|_| {
                let value = f64::from(rng.next_u32()) / 2f64.powi(32);
                (value as f32)
                    .word(rng.next_u32() & 1 == 1)
                    .expect("a confidence")
            })
            .collect();
        sorted_data("f32", Dtype::F32, &words, rows, key);
        let words: Vec<u64> = (0..rows)
            .map(|_| {
                let value = f64::from(rng.next_u32()) / 2f64.powi(32);
                value.word(rng.next_u32() & 1 == 1).expect("a confidence")
            })
            .collect();
        sorted_data("f64", Dtype::F64, &words, rows, key);
    }
}

fn sorted_data<W: Word>(name: &str, dtype: Dtype, words: &[W], rows: usize, key: Key) {
    let mut sorted = words.to_vec();
    let copy = least(rows, || sorted.copy_from_slice(black_box(words)));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let time = pool.expect("a thread").install(|| {
        least(rows, || {
            sorted.copy_from_slice(words);
            radix_sort(&mut sorted, false);
        })
    });
    line(&format!("radix_sort, {name}"), rows, time - copy);
    let place = Place {
        first_rank: 0,
        segment_rows: rows as u32,
    };
    let time = least(rows, || {
        black_box(totals(dtype, &sorted));
    });
    line(&format!("totals, {name}"), rows, time);
    let time = least(rows, || {
        black_box(reduce_runs(dtype, &sorted, place, 0..rows));
    });
    line(&format!("reduce_runs, {name}"), rows, time);
    for (words, placement) in [("as they stand", None), ("placed", Some(key))] {
        let time = least(rows, || {
            black_box(reduce_rows(dtype, &sorted, place, 0..rows, placement));
        });
        line(&format!("reduce_rows, {name}, {words}"), rows, time);
    }
}
