//! Seven seasons of football forecasts, on the GPU if there is one. From the root of the repository:
//! `cargo run --release --example evaluate`.

use std::error::Error;

use rankece::backend::Backend;
use rankece::backend::cpu::Cpu;
use rankece::backend::gpu::{DeviceOptions, Gpu, adapters};
use rankece::backend::resilient::Resilient;
use rankece::{Options, evaluate, input};

fn main() -> Result<(), Box<dyn Error>> {
    let file = input::Options {
        group_by: vec!["group".to_owned()],
        ..input::Options::default()
    };
    let loaded = input::read("examples/data/nfl.csv", &file)?;
    let results = evaluate(
        loaded.batch,
        loaded.segments,
        &Options::default(),
        &*backend()?,
    )?;
    for result in results {
        let season = result.group.as_ref().and_then(|group| group.get("group"));
        let interval = &result.rank_ece.intervals[0];
        println!(
            "{}: {} games, rankECE {}, {} interval {} to {}",
            season.map_or("all", String::as_str),
            result.n,
            number(result.rank_ece.estimate),
            interval.method,
            number(interval.lower),
            number(interval.upper),
        );
    }
    Ok(())
}

/// What is undefined is `None`, never NaN; of an interval, `undefined` says why.
fn number(value: Option<f64>) -> String {
    value.map_or("undefined".to_owned(), |value| format!("{value:+.4}"))
}

/// A hardware adapter with the CPU behind it, or else the CPU. The results are the same bits.
fn backend() -> Result<Box<dyn Backend>, Box<dyn Error>> {
    let found = adapters::enumerate();
    Ok(match adapters::choose(&found, false) {
        Some(index) => {
            let gpu = Gpu::open(&found[index], DeviceOptions::default())?;
            Box::new(Resilient::new(gpu))
        }
        None => Box::new(Cpu::default()),
    })
}
