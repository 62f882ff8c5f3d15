//! Simulation models against closed forms and numbers of the literature.

use rankece::model::{Curve, Law, Model, Quantile, Response};

fn model(law: &str, curve: &str) -> Model {
    Model::new(law.parse().unwrap(), curve.parse().unwrap(), 1).unwrap()
}

#[test]
fn sketch() {
    for curve in [
        "quadratic",
        "increasing-frequency",
        "spikes",
        "sawtooth",
        "weierstrass",
        "staircase",
        "square-wave",
        "gaussian",
        "linear",
        "quartic",
        "power-15",
        "random-fourier",
        "calibrated",
    ] {
        let start = std::time::Instant::now();
        let m = model("uniform", curve);
        let made = start.elapsed();
        println!(
            "{curve} {:.9} {:.9} {:.9} {:.9}",
            m.l2_ece(),
            m.rank_ece(1000),
            m.ece_l2(1000, 10),
            m.ece_l2(1000, 50)
        );
        println!("   {made:?} {:?}", start.elapsed());
    }
    for law in [
        "beta:0.05",
        "beta:0.15",
        "beta:0.5",
        "beta:0.9",
        "beta:0.001",
        "beta:1000000,1000000",
        "beta:1e-6,1e6",
    ] {
        let start = std::time::Instant::now();
        let m = model(law, "quartic");
        let made = start.elapsed();
        println!(
            "{law} {} {:.9} {:.9} {:.9} {:.9}",
            m.law,
            m.l2_ece(),
            m.rank_ece(1000),
            m.rank_ece(10_000_000),
            m.ece_l2(1000, 50)
        );
        println!("   {made:?} {:?}", start.elapsed());
        println!("  {:?}", m.bin_thresholds(10));
    }
    let m = model("uniform:0.2,0.8", "oscillating:0.2,100");
    println!(
        "{:?} {}",
        m.l2_ece(),
        match m.response {
            Response::Cells { cells, .. } => cells,
            _ => 0,
        }
    );
    for n in [2, 3, 10, 100, 1000, 10000, 100000, 10_000_000] {
        println!("{n} {:?}", m.rank_ece(n));
    }
}
