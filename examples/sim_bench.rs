use rankece::backend::cpu::Cpu;
use rankece::backend::replicates::*;
use rankece::model::*;
use rankece::random::Key;
use std::time::Instant;
fn main() {
    let quantile = Quantile::Affine {
        start: 0,
        width: 1 << 30,
    };
    let cells = 10240u32;
    let g =
        |z: f64| ((0.8 * z * z - 0.2 * z + 0.2).clamp(0., 1.) * (1u64 << 30) as f64).round() as u32;
    let limits = (0..cells)
        .map(|c| [g(c as f64 / cells as f64), g((c + 1) as f64 / cells as f64)])
        .collect();
    let response = Response::Cells { cells, limits };
    for n in [100u32, 1000, 10000] {
        let job = Replicates {
            quantile: &quantile,
            response: &response,
            rows: n,
            key: Key([1, 2]),
            thresholds: &[],
        };
        let count = 100_000_000 / n as usize;
        let t = Instant::now();
        let s = Cpu::default().replicates(&job, 0, count).unwrap();
        let e = t.elapsed().as_secs_f64();
        let rej = s
            .iter()
            .filter(|s| {
                let t = s.rank_ece as f64
                    / 2f64.powi(60)
                    / (s.null_squares as f64 / 2f64.powi(66)).sqrt();
                t > 1.6448536269514722
            })
            .count();
        let mean = s
            .iter()
            .map(|s| s.rank_ece as f64 / 2f64.powi(60) / n as f64)
            .sum::<f64>()
            / count as f64;
        println!(
            "n {n}: rate {:.6} mean {mean:.6} {:.2} ns/row {:.0} replicates/s",
            rej as f64 / count as f64,
            e * 1e9 / (count as f64 * n as f64),
            count as f64 / e
        );
    }
}
