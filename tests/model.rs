//! Simulation models against closed forms and numbers of the literature.

use rankece::model::{Model, Response};

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
        let m = model("uniform", curve);
        println!(
            "{curve} {:.9} {:.9} {:.9} {:.9}",
            m.l2_ece(),
            m.rank_ece(1000),
            m.ece_l2(1000, 10),
            m.ece_l2(1000, 50)
        );
    }
    for law in [
        "beta:0.05",
        "beta:0.1",
        "beta:0.15",
        "beta:0.2",
        "beta:0.3",
        "beta:0.4",
        "beta:0.5",
        "beta:0.6",
        "beta:0.7",
        "beta:0.8",
        "beta:0.9",
        "beta:0.001",
        "beta:2,3",
        "beta:50,30",
        "beta:1000000,1000000",
        "beta:1e-6,1e6",
        "beta:1000,0.01",
    ] {
        let m = model(law, "quartic");
        let u: Vec<u32> = (0..400u64)
            .map(|i| (i * 10737418 + 12345) as u32)
            .chain((0..32).map(|e| 1u32 << e))
            .chain((0..32).map(|e| (1u32 << e).wrapping_neg()))
            .chain((0..32).map(|e| ((1u64 << e) * 257 / 256) as u32))
            .collect();
        println!(
            "Q {} {}",
            law,
            u.iter()
                .map(|&u| format!("{u},{}", m.quantile.q30(u)))
                .collect::<Vec<_>>()
                .join(" ")
        );
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
    for f in [
        "tests/data/llm_stated.csv",
        "tests/data/flights.parquet",
        "tests/data/flights_f32.parquet",
        "tests/data/cifar10_lenet.npz",
        "tests/data/fte_madness_open.csv:confidence",
    ] {
        let start = std::time::Instant::now();
        let m = model(&format!("empirical:{f}"), "quartic");
        let made = start.elapsed();
        println!(
            "{f} {:?} {} {} {} {:?}",
            m.notes,
            m.l2_ece(),
            m.rank_ece(100),
            m.ece_l2(100, 10),
            m.bin_thresholds(10)
        );
        println!("{made:?} {:?}", start.elapsed());
    }
}
