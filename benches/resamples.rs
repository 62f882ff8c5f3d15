//! Nanoseconds a row of null resamples, drawing and sums together.
//!
//! `cargo bench --bench resamples [ROWS,..]`; RAYON_NUM_THREADS=1 for one core.

use std::time::Instant;

use rankece::backend::cpu::Cpu;
use rankece::backend::resamples::{Resampler, Resamples, Statistics, TiedGroups};
use rankece::random::Key;

fn main() {
    let rank_ece = Statistics {
        rank_ece: true,
        ..Statistics::default()
    };
    let windows = Statistics {
        windows: true,
        ..Statistics::default()
    };
    let walk = Statistics {
        walk: true,
        ..Statistics::default()
    };
    let rows: Vec<u32> = std::env::args()
        .skip(1)
        .find_map(|list| list.split(',').map(|rows| rows.parse().ok()).collect())
        .unwrap_or_else(|| vec![100, 1000, 10_000, 100_000, 1_000_000]);
    for (name, statistics) in [
        ("n·rankECE", rank_ece),
        ("windows", windows),
        ("walk", walk),
    ] {
        for &rows in &rows {
            // The size of every so manieth group; the others are of one row.
            for (size, every) in [(1, 1), (2, 32), (2, 3), (2, 1), (3, 3), (20, 1)] {
                let mut groups = TiedGroups::default();
                let step = (1 << 30) / rows;
                while groups.rows + size <= rows {
                    let group = groups.size.len() as u32;
                    let size = if group % every == 0 { size } else { 1 };
                    groups.push(groups.rows * step, size);
                }
                let count = (400_000_000 / rows).clamp(160, 100_000);
                let samples = [Resamples {
                    groups: &groups,
                    key: Key([1, 2]),
                    statistics,
                }];
                let start = Instant::now();
                let sums = Cpu::default().resamples(&samples, 0, count);
                let seconds = start.elapsed().as_secs_f64();
                println!(
                    "{name}, n = {rows}, every {every}. confidence in {size} rows: {:.2} ns a row, {:.0} resamples/s{}",
                    seconds * 1e9 / f64::from(count) / f64::from(rows),
                    f64::from(count) / seconds,
                    if sums.is_ok() { "" } else { ", failed" }
                );
            }
        }
    }
}
