//! Nanoseconds a row of simulated replicates, drawing, sorting and sums together.
//!
//! `cargo bench --bench replicates`; RAYON_NUM_THREADS=1 for one core.

use std::time::Instant;

use rankece::backend::cpu::Cpu;
use rankece::backend::replicates::{Replicates, Simulator};
use rankece::model::Model;
use rankece::random::Key;

fn main() {
    for law in ["uniform", "beta:0.15"] {
        let model = Model::new(
            law.parse().expect("a law"),
            "quadratic".parse().expect("a curve"),
            1,
        )
        .expect("a model");
        for rows in [100u32, 1000, 10_000, 100_000] {
            let job = Replicates {
                quantile: &model.quantile,
                response: &model.response,
                rows,
                key: Key([1, 2]),
                thresholds: &[],
            };
            let count = 50_000_000 / rows as usize;
            let start = Instant::now();
            let sums = Cpu::default().replicates(&job, 0, count).expect("the CPU");
            let seconds = start.elapsed().as_secs_f64();
            let mean = sums.iter().map(|sums| sums.rank_ece as f64).sum::<f64>()
                / 2f64.powi(60)
                / f64::from(rows)
                / count as f64;
            println!(
                "{law}, n = {rows}: {:.2} ns a row, {:.0} replicates/s; mean rank_ece {mean:.6}, true {:.6}",
                seconds * 1e9 / (count as f64 * f64::from(rows)),
                count as f64 / seconds,
                model.rank_ece(u64::from(rows))
            );
        }
    }
}
