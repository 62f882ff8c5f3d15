//! Simulation models against closed forms, enumeration, and numbers that others computed.

use rankece::model::{Curve, Law, Model, ModelError, Quantile, Response};

/// 1 in Q30.
const ONE: u32 = 1 << 30;

/// More rows than any bin needs to show its own mean.
const POPULATION: u64 = 1 << 60;

/// Every name, with the law that it is meant for.
const CURVES: [&str; 14] = [
    "calibrated",
    "quadratic",
    "spikes",
    "increasing-frequency",
    "linear",
    "staircase",
    "gaussian",
    "sawtooth",
    "random-fourier",
    "weierstrass",
    "quartic",
    "power-15",
    "square-wave",
    "oscillating:0.2,100",
];

fn model(law: &str, curve: &str) -> Model {
    Model::new(law.parse().unwrap(), curve.parse().unwrap(), 1).unwrap()
}

#[track_caller]
fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not within {tolerance} of {expected}"
    );
}

/// A file of confidences, removed with the returned guard.
fn scores(lines: &[&str]) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), format!("score\n{}\n", lines.join("\n"))).unwrap();
    let law = format!("empirical:{}", file.path().display());
    (file, law)
}

// Laws.

#[test]
fn laws_are_shown_as_they_are_parsed() {
    for (text, canonical) in [
        ("uniform", "uniform"),
        ("uniform:0,1", "uniform"),
        ("uniform:-0,0.5", "uniform:0,0.5"),
        (" uniform: 0.20, 0.8 ", "uniform:0.2,0.8"),
        ("beta:0.15", "beta:0.15,0.85"),
        // 1 - 0.9 is 0.09999999999999998 in floats.
        ("beta:0.9", "beta:0.9,0.1"),
        ("beta:2,3.50", "beta:2,3.5"),
        ("empirical:a.csv", "empirical:a.csv"),
        ("empirical:a.csv:score", "empirical:a.csv:score"),
        ("empirical:C:\\a.csv", "empirical:C:\\a.csv"),
    ] {
        let law: Law = text.parse().unwrap();
        assert_eq!(law.to_string(), canonical);
        assert_eq!(canonical.parse::<Law>().unwrap(), law);
    }
}

#[test]
fn what_is_no_law_is_explained() {
    for (text, part) in [
        ("unifrom", "known are `uniform`, `beta`"),
        ("bta:1,2", "known are `beta`"),
        ("uniform:0.5,0.5", "0 <= a < b <= 1"),
        ("uniform:-0.1,0.5", "0 <= a < b <= 1"),
        ("uniform:0.5,1.1", "0 <= a < b <= 1"),
        ("uniform:0.5,0.5000000001", "2^-30"),
        ("uniform:0.5", "two numbers"),
        ("uniform:a,b", "`a` is not a number"),
        ("uniform:nan,1", "`nan` is not a number"),
        ("beta", "beta:a,b"),
        ("beta:0,1", "between"),
        ("beta:-1,1", "between"),
        ("beta:inf,1", "`inf` is not a number"),
        ("beta:1,2,3", "two numbers"),
        ("beta:1.5", "0 < ρ < 1"),
        ("empirical", "empirical:FILE"),
        ("empirical:", "empirical:FILE"),
    ] {
        let message = text.parse::<Law>().unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
    let law = Law::Uniform {
        lower: 0.0,
        upper: 2.0,
    };
    let result = Model::new(law, "linear".parse().unwrap(), 1);
    assert!(matches!(result, Err(ModelError::Law(_))));
}

#[test]
fn uniform_quantiles_are_rounded_half_up() {
    let uniform = model("uniform", "calibrated").quantile;
    assert_eq!(
        uniform,
        Quantile::Affine {
            start: 0,
            width: ONE
        }
    );
    for u in [
        0,
        1,
        2,
        3,
        5,
        6,
        7,
        1 << 31,
        u32::MAX - 2,
        u32::MAX - 1,
        u32::MAX,
    ] {
        assert_eq!(u64::from(uniform.q30(u)), (u64::from(u) + 2) / 4);
    }
    let half = model("uniform:0.25,0.75", "calibrated").quantile;
    assert_eq!(half.q30(0), ONE / 4);
    assert_eq!(half.q30(1 << 31), ONE / 2);
    assert_eq!(half.q30(u32::MAX), 3 * (ONE / 4));
}

/// Words at which tables are looked at: on, beside and between nodes, in every octave.
fn words() -> impl Iterator<Item = u32> {
    let octaves = (0..32).flat_map(|octave| {
        let step = (1u32 << octave) / 1024;
        (0..1024u32).map(move |part| (1u32 << octave) + part * step)
    });
    let lower = octaves.filter(|&word| word <= 1 << 31);
    lower.flat_map(|word| [word, word.wrapping_neg()])
}

/// The largest error of a quantile function against the true one, given word/2³².
fn quantile_error(law: &str, quantile: impl Fn(f64) -> f64) -> f64 {
    let model = model(law, "calibrated");
    let error = |word: u32| {
        let level = f64::from(word) / (1u64 << 32) as f64;
        (f64::from(model.quantile.q30(word)) / f64::from(ONE) - quantile(level)).abs()
    };
    words().map(error).fold(0.0, f64::max)
}

#[test]
fn beta_quantiles_agree_with_closed_forms() {
    let arcsine = |u: f64| (std::f64::consts::FRAC_PI_2 * u).sin().powi(2);
    assert!(quantile_error("beta:0.5", arcsine) < 1.7e-6);
    for power in [0.2, 0.5, 3.0, 20.0] {
        let law = format!("beta:{power},1");
        assert!(
            quantile_error(&law, |u| u.powf(1.0 / power)) < 5.3e-6,
            "{law}"
        );
        let law = format!("beta:1,{power}");
        let mirrored = |u: f64| -((-u).ln_1p() / power).exp_m1();
        assert!(quantile_error(&law, mirrored) < 5.3e-6, "{law}");
    }
    // One unit of Q30 where the quantile function is linear.
    assert!(quantile_error("beta:1,1", |u| u) < 1.0 / f64::from(ONE));
}

/// Quantiles at nodes, times 2³⁰: scipy.stats.beta.ppf of SciPy 1.17.1, at 1 - u of the mirrored law
/// for u above 1/2.
#[test]
fn beta_quantiles_agree_with_scipy() {
    let words = [
        1 << 20,
        1 << 28,
        1 << 30,
        3 << 29,
        3 << 30,
        0xE000_0000,
        0xFF00_0000u32,
    ];
    for (law, expected) in [
        (
            "beta:0.15",
            [
                0.0,
                12.924,
                133389.61,
                1990516.1074,
                197200373.0301,
                523874923.6079,
                1061133940.4774,
            ],
        ),
        (
            "beta:0.05",
            [
                0.0,
                0.0,
                0.0011,
                3.5259,
                3696601.0923,
                80395002.2885,
                1006108471.3296,
            ],
        ),
        (
            "beta:0.3",
            [
                0.0016,
                173059.4755,
                17515974.46,
                66937152.2168,
                584401632.655,
                863313373.7185,
                1072117393.8972,
            ],
        ),
        (
            "beta:0.9",
            [
                1216653.0265,
                451397520.6863,
                1002860645.1384,
                1062235125.3953,
                1073740616.2557,
                1073741822.8206,
                1073741824.0,
            ],
        ),
        (
            "beta:2,3",
            [
                6878639.3154,
                118223261.3974,
                260942975.4845,
                338325653.9315,
                583770113.8551,
                699602162.0142,
                964352977.6077,
            ],
        ),
        (
            "beta:50,30",
            [
                463153466.3372,
                580818774.1821,
                632453866.5239,
                653538406.6866,
                710938581.2411,
                737467305.4594,
                816078459.0672,
            ],
        ),
    ] {
        let model = model(law, "calibrated");
        for (word, expected) in words.into_iter().zip(expected) {
            // Rounded to the nearest; a millionth for SciPy's own rounding.
            assert_close(f64::from(model.quantile.q30(word)), expected, 0.5 + 1e-3);
        }
    }
}

#[test]
fn beta_quantiles_ascend_and_keep_symmetry() {
    for law in [
        "beta:0.05",
        "beta:0.5",
        "beta:0.9",
        "beta:1e-6,1e6",
        "beta:1e6,1e6",
        "beta:3,3",
    ] {
        let model = model(law, "calibrated");
        let Quantile::Nodes(nodes) = &model.quantile else {
            panic!("beta laws have nodes");
        };
        assert_eq!(nodes.len(), 7939);
        assert!(nodes.is_sorted() && nodes[7938] <= ONE);
        let symmetric = matches!(model.law, Law::Beta { a, b } if a == b);
        for word in words() {
            let around: Vec<u32> = (0..7)
                .map(|step| {
                    model
                        .quantile
                        .q30(word.saturating_sub(3).saturating_add(step))
                })
                .collect();
            assert!(around.is_sorted(), "{law} around {word}: {around:?}");
            if symmetric {
                let mirrored = model.quantile.q30(word.wrapping_neg());
                assert_eq!(model.quantile.q30(word), ONE - mirrored, "{law} at {word}");
            }
        }
    }
}

// Curves.

#[test]
fn curves_are_shown_as_they_are_parsed() {
    for name in CURVES {
        assert_eq!(name.parse::<Curve>().unwrap().to_string(), name);
    }
    for (text, canonical) in [
        ("oscillating", "oscillating:0.2,100"),
        (" quartic ", "quartic"),
        ("z-z^4", "z - z^4"),
        (
            "0.15+0.7*z+0.5*sin(40*pi*z^2)",
            "0.15 + 0.7*z + 0.5*sin(40*pi*z^2)",
        ),
    ] {
        let curve: Curve = text.parse().unwrap();
        assert_eq!(curve.to_string(), canonical);
        assert_eq!(canonical.parse::<Curve>().unwrap(), curve);
    }
}

#[test]
fn errors_point_at_the_place() {
    for (text, position, part) in [
        (
            "z + * 3",
            4,
            "expected a number, z, pi, e, a function or `(`, not `*`",
        ),
        ("z +", 3, "ends here"),
        ("2z", 1, "write * to multiply"),
        ("z(1 - z)", 1, "z*(…)"),
        ("(1 - z", 0, "never closed"),
        ("1 - z)", 5, "closes nothing"),
        (
            "z + sni(z)",
            4,
            "there is no function `sni`; known are `sin`",
        ),
        ("z + x", 4, "`x` is not known; the variable is `z`"),
        ("sin z", 4, "expected `(` after the function `sin`"),
        ("max(z)", 5, "takes 2 arguments"),
        ("sin(z, 1)", 5, "no more arguments"),
        ("z, 1", 1, "comma"),
        ("z**2", 1, "write ^ for powers"),
        ("z − 1", 2, "write -"),
        ("2*π", 2, "write pi"),
        ("z² - z", 1, "write ^2"),
        ("1.2.3", 3, "operator"),
        ("1e999", 0, "too large"),
        ("z & 1", 2, "not `&`"),
        ("()", 1, "expected a number"),
        (".", 0, "digits"),
    ] {
        let error = text.parse::<Curve>().unwrap_err();
        assert_eq!(error.position, Some(position), "{text}: {error}");
        assert!(error.problem.contains(part), "{text}: {}", error.problem);
        let message = error.to_string();
        let lines: Vec<&str> = message.lines().collect();
        assert_eq!(lines[1], format!("  {text}"));
        assert_eq!(lines[2], format!("{}^", " ".repeat(position + 2)));
    }
}

#[test]
fn misspelt_names_list_the_known_ones() {
    for (text, first) in [
        ("quartik", "`quartic`"),
        ("square-wav", "`square-wave`"),
        ("randomfourier", "`random-fourier`"),
        ("power-16", "`power-15`"),
        ("oscilating:0.1,5", "`oscillating:c,m`"),
        ("", "`"),
    ] {
        let error = text.parse::<Curve>().unwrap_err();
        assert_eq!(error.position, None);
        assert!(
            error.problem.starts_with(&format!("known are {first}")),
            "{error}"
        );
        assert!(error.problem.contains("`sawtooth`"));
    }
    for text in [
        "oscillating:0.2",
        "oscillating:0.5,3",
        "oscillating:0.1,0",
        "oscillating:a,b",
    ] {
        assert!(text.parse::<Curve>().is_err(), "{text}");
    }
}

#[test]
fn a_curve_without_a_value_somewhere_is_refused() {
    for (curve, at) in [
        ("1/z", 0.0),
        ("log(z)", 0.0),
        ("sqrt(0.5 - z)", 0.5),
        ("z/(1 - z)", 1.0),
    ] {
        let error = Model::new("uniform".parse().unwrap(), curve.parse().unwrap(), 1).unwrap_err();
        let ModelError::NotFinite {
            confidence, value, ..
        } = error
        else {
            panic!("{error}");
        };
        assert_close(confidence, at, 1e-4);
        assert!(!value.is_finite());
    }
    // Infinite on the way, but not in the end.
    model("uniform", "exp(-1/z)");
}

#[test]
fn responses_are_interpolated_within_cells() {
    let identity = model("uniform", "z").response;
    assert_eq!(identity, Response::Calibrated);
    let line = model("uniform", "linear").response;
    for confidence in (0..=ONE).step_by(999_983) {
        let expected = f64::from(confidence) / 2.0 + 0.3 * f64::from(ONE);
        assert_close(f64::from(line.q30(confidence)), expected, 1.01);
    }
    assert_eq!(line.q30(ONE), (0.8 * f64::from(ONE)).round() as u32);
    // At a jump the right limit counts: 1/2 is an edge of cells.
    let step = model("uniform", "0.25 + 0.5*floor(2*z)").response;
    assert_eq!(step.q30(ONE / 2 - 1), ONE / 4);
    assert_eq!(step.q30(ONE / 2), 3 * (ONE / 4));
    // Clipped.
    let steep = model("uniform", "10*z - 4.5").response;
    assert_eq!((steep.q30(0), steep.q30(ONE)), (0, ONE));
}

#[test]
fn coefficients_of_random_fourier_come_from_the_seed() {
    let with = |seed| {
        let curve = "random-fourier".parse().unwrap();
        Model::new("uniform".parse().unwrap(), curve, seed).unwrap()
    };
    assert_eq!(with(1).response, with(1).response);
    assert_ne!(with(1).checksum, with(2).checksum);
    // Over many seeds: E of the unclipped ∫(g - 1/2)² is Σ (1/16)/k², a little less when clipped.
    let mean = (0..40)
        .map(|seed| {
            let response = with(seed).response;
            let squares = (0..1000).map(|step| {
                let value = f64::from(response.q30(step * (ONE / 1000))) / f64::from(ONE);
                (value - 0.5).powi(2)
            });
            squares.sum::<f64>() / 1000.0
        })
        .sum::<f64>()
        / 40.0;
    assert!((0.055..0.11).contains(&mean), "{mean}");
}

#[test]
fn checksums_tell_tables_apart() {
    let names = ["uniform", "uniform:0.1,0.9", "beta:0.15", "beta:0.15,0.84"];
    let mut checksums: Vec<u32> = names
        .iter()
        .flat_map(|law| CURVES.map(|curve| model(law, curve).checksum))
        .collect();
    let count = checksums.len();
    checksums.sort_unstable();
    checksums.dedup();
    assert_eq!(checksums.len(), count);
    // zlib.crc32 of the words 0, 0, 2³⁰, 0 in Python.
    assert_eq!(model("uniform", "calibrated").checksum, 3_024_622_364);
}

// Truths.

/// The specification's golden table: ℓ2-ECE, rankECE_n and E ece_l2 with 10 and 50 bins at n = 1000.
#[test]
fn golden_truths() {
    for (curve, l2_ece, rank_ece, ten, fifty) in [
        ("quadratic", 0.034667, 0.034626, 0.036347, 0.044588),
        (
            "increasing-frequency",
            0.121395,
            0.119278,
            0.027866,
            0.082187,
        ),
        ("spikes", 0.025828, 0.025724, 0.015744, 0.032741),
        ("sawtooth", 0.120208, 0.117703, 0.087358, 0.128902),
        ("weierstrass", 0.126141, 0.125551, 0.125191, 0.137328),
    ] {
        let model = model("uniform", curve);
        // Half a unit of the sixth digit, and what a table of cells loses.
        let tolerance = 0.5e-6 + 0.4e-6;
        assert_close(model.l2_ece(), l2_ece, tolerance);
        assert_close(model.rank_ece(1000), rank_ece, tolerance);
        assert_close(model.ece_l2(1000, 10), ten, tolerance);
        assert_close(model.ece_l2(1000, 50), fifty, tolerance);
    }
}

#[test]
fn l2_ece_in_closed_form() {
    for (law, curve, expected) in [
        ("uniform", "calibrated", 0.0),
        // ∫ (0.8z² - 1.2z + 0.2)².
        (
            "uniform",
            "quadratic",
            0.64 / 5.0 - 1.92 / 4.0 + 1.76 / 3.0 - 0.48 / 2.0 + 0.04,
        ),
        // ∫ (0.3 - z/2)².
        ("uniform", "linear", 0.09 - 0.15 + 1.0 / 12.0),
        ("uniform", "quartic", 1.0 / 9.0),
        ("uniform", "power-15", 1.0 / 31.0),
        ("uniform:0.2,0.8", "oscillating:0.2,100", 0.04),
        ("uniform:0.05,0.95", "oscillating:0.05,30", 0.0025),
        ("uniform:0,0.5", "z + 0.05", 0.0025),
    ] {
        assert_close(model(law, curve).l2_ece(), expected, 3e-9);
    }
    // Σ over tenths of ∫ (j/11 + 0.05 - z)²: with d = j/11 + 0.05 - (j/10 + 0.05) at the middle of a
    // tenth, d² + 1/1200.
    let staircase: f64 = (0..10).map(|j| (f64::from(j) / 110.0).powi(2)).sum::<f64>() / 10.0;
    assert_close(
        model("uniform", "staircase").l2_ece(),
        staircase + 1.0 / 1200.0,
        3e-9,
    );
    // Beta(a, b) has E Z⁸ = Π (a+k)/(a+b+k).
    for (a, b) in [(0.15, 0.85), (0.5, 0.5), (2.0, 3.0), (0.9, 0.1)] {
        let moment: f64 = (0..8)
            .map(|k| (a + f64::from(k)) / (a + b + f64::from(k)))
            .product();
        let actual = model(&format!("beta:{a},{b}"), "quartic").l2_ece();
        assert_close(actual, moment, 5.3e-6);
    }
}

/// For Z uniform and g(z) - z = a + bz: E U_(i) U_(i+1) = i(i+2)/((n+1)(n+2)), E U_(i) = i/(n+1).
#[test]
fn rank_ece_of_a_line_in_closed_form() {
    let (a, b) = (0.3, -0.5);
    let model = model("uniform", "linear");
    for n in [
        2u64,
        3,
        4,
        10,
        47,
        48,
        49,
        50,
        100,
        1000,
        12_345,
        1_000_000,
        10_000_000,
        1 << 32,
    ] {
        let rows = n as f64;
        let pairs = rows - 1.0;
        let squares = pairs * (2.0 * rows - 1.0) / 6.0 + pairs;
        let expected = pairs / rows * a * a
            + a * b * pairs / rows
            + b * b * squares / ((rows + 1.0) * (rows + 2.0));
        assert_close(model.rank_ece(n), expected, 2e-9);
    }
    assert_eq!((model.rank_ece(0), model.rank_ece(1)), (0.0, 0.0));
}

/// A shift is the same at every level: (n-1)/n of its square, whatever the law.
#[test]
fn rank_ece_of_a_shift_in_closed_form() {
    for law in ["uniform:0,0.9", "uniform:0.4,0.6"] {
        let model = model(law, "z + 0.05");
        for n in [2u64, 5, 100, 10_000] {
            let expected = (n - 1) as f64 / n as f64 * 0.0025;
            assert_close(model.rank_ece(n), expected, 1e-9);
        }
    }
}

#[test]
fn rank_ece_lies_between_binned_and_l2_ece() {
    for law in ["uniform", "uniform:0.2,0.8", "beta:0.15"] {
        for curve in CURVES {
            let model = model(law, curve);
            let l2_ece = model.l2_ece();
            let mut last = 0.0;
            for n in [2, 30, 1000, 10_000_000] {
                let rank_ece = model.rank_ece(n);
                assert!(
                    (0.0..=l2_ece + 1e-12).contains(&rank_ece),
                    "{law} {curve} {n}"
                );
                last = rank_ece;
                for bins in [1, 10, 50] {
                    let binned = model.ece_l2(POPULATION, bins);
                    assert!(binned <= l2_ece + 1e-9, "{law} {curve} {bins}");
                    assert!(rank_ece >= binned - 4.0 * f64::from(bins) / n as f64);
                }
            }
            // More rows, nearer neighbours.
            assert_close(last, l2_ece, 1e-4 + 1e-3 * l2_ece);
        }
    }
}

#[test]
fn binned_truths_in_closed_form() {
    let calibrated = model("uniform", "calibrated");
    // The variance of Y - Z in a bin is E Z(1-Z) there: 1/6 on the mean over the ten bins.
    let occupied = 1.0 - 0.9f64.powi(20);
    assert_close(
        calibrated.ece_l2(20, 10),
        10.0 / 6.0 / 20.0 * occupied,
        1e-9,
    );
    // Means over two bins of 0.3 - z/2: 0.175 and -0.075.
    let linear = model("uniform", "linear");
    let expected = (0.175f64.powi(2) + 0.075f64.powi(2)) / 2.0;
    assert_close(linear.ece_l2(POPULATION, 2), expected, 1e-9);
    // One bin: μ² + (E (Y-Z)² - μ²)/n, E (Y-Z)² = ∫ g - 2gz + z² = 0.55 - (1/3 + 0.3) + 1/3.
    let square: f64 = 0.55 - 0.3 - 1.0 / 3.0 + 1.0 / 3.0;
    let expected = 0.0025 + (square - 0.0025) / 7.0;
    assert_close(linear.ece_l2(7, 1), expected, 1e-9);
    assert_eq!(linear.ece_l2(0, 10), 0.0);
}

#[test]
fn thresholds_part_the_words_as_the_bins_part_confidences() {
    for law in [
        "uniform",
        "uniform:0.25,0.55",
        "beta:0.15",
        "beta:1,50",
        "beta:50,1",
    ] {
        let model = model(law, "calibrated");
        for bins in [1u32, 2, 3, 10, 97] {
            let thresholds = model.bin_thresholds(bins);
            assert!(thresholds.len() < bins as usize);
            let near = thresholds
                .iter()
                .flat_map(|&t| [t.saturating_sub(1), t, t.saturating_add(1)]);
            for word in near.chain([0, 1, u32::MAX]).chain(words().step_by(31)) {
                let bin = thresholds.partition_point(|&threshold| threshold <= word) as u64;
                // (j-1)/K < z <= j/K, and 0 in the first.
                let place = u64::from(model.quantile.q30(word)) * u64::from(bins);
                let expected = place.saturating_sub(1) / u64::from(ONE);
                assert_eq!(bin, expected, "{law} {bins} {word}");
            }
        }
    }
    assert!(model("uniform", "calibrated").bin_thresholds(0).is_empty());
}

// Empirical laws.

#[test]
fn scores_are_resampled_as_they_are() {
    // 0.3 and its neighbour are equal in Q30 and yet no tie.
    let (_file, law) = scores(&["0.7", "0.30000000000000004", "0.3", "0.7", "0"]);
    let model = model(&law, "calibrated");
    let Quantile::Empirical(scores) = &model.quantile else {
        panic!("an empirical law has scores");
    };
    assert_eq!(scores.run, [0, 1, 2, 3, 3]);
    assert_eq!(scores.q30[1], scores.q30[2]);
    assert_eq!(scores.q30[0], 0);
    for u in [
        0u32,
        858_993_459,
        858_993_460,
        1_717_986_918,
        1_717_986_919,
        u32::MAX,
    ] {
        let index = (u64::from(u) * 5 / (1 << 32)) as usize;
        assert_eq!(model.quantile.q30(u), scores.q30[index]);
    }
    // 0.3 lies on its edge with ten bins, its neighbour above; nothing lies above 0.7.
    let words: Vec<u32> = [1u64, 1, 1, 2, 3, 3, 3]
        .iter()
        .map(|index| ((index << 32) as f64 / 5.0).ceil() as u32)
        .collect();
    assert_eq!(model.bin_thresholds(10)[..2], words[..2]);
    assert_eq!(model.bin_thresholds(10)[2], words[3]);
    assert!(model.notes[0].contains("column `score` is read as the confidences"));
}

/// All samples of four rows out of three scores, one of them twice as likely; labels are independent
/// given the rows, so a product of residuals has the product of their means.
#[test]
fn empirical_truths_by_enumeration() {
    let (_file, law) = scores(&["0.2", "0.5", "0.5", "0.9"]);
    let model = model(&law, "z - z^4 + 0.1*sin(9*z)");
    let response = |z: f64| {
        f64::from(model.response.q30((z * f64::from(ONE)).round() as u32)) / f64::from(ONE)
    };
    let values = [0.2, 0.5, 0.5, 0.9];
    let residuals = values.map(|z| response(z) - z);
    let (mut rank_ece, mut ece_l2) = (0.0, 0.0);
    for sample in 0..256usize {
        let mut rows: Vec<usize> = (0..4).map(|row| sample >> (2 * row) & 3).collect();
        rows.sort_unstable();
        let products = rows
            .windows(2)
            .map(|pair| residuals[pair[0]] * residuals[pair[1]]);
        rank_ece += products.sum::<f64>() / 4.0 / 256.0;
        // Two bins: up to 1/2 and above. E gap² is mean² plus variance of the mean.
        for high in [false, true] {
            let inside: Vec<usize> = rows
                .iter()
                .copied()
                .filter(|&row| (row == 3) == high)
                .collect();
            let sum: f64 = inside.iter().map(|&row| residuals[row]).sum();
            let variance: f64 = inside
                .iter()
                .map(|&row| response(values[row]))
                .map(|p| p * (1.0 - p))
                .sum();
            if !inside.is_empty() {
                ece_l2 += (sum * sum + variance) / inside.len() as f64 / 4.0 / 256.0;
            }
        }
    }
    let l2_ece = residuals.iter().map(|r| r * r).sum::<f64>() / 4.0;
    assert_close(model.l2_ece(), l2_ece, 1e-9);
    assert_close(model.rank_ece(4), rank_ece, 1e-9);
    assert_close(model.ece_l2(4, 2), ece_l2, 1e-9);
}

#[test]
fn scores_of_real_files() {
    let path = |name: &str| format!("empirical:{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    for (name, rows) in [
        ("llm_stated.csv:confidence", 72_185),
        ("flights_f32.parquet", 491_019),
        ("cifar10_lenet.npz:probs", 10_000),
    ] {
        let model = model(&path(name), "quartic");
        let Quantile::Empirical(scores) = &model.quantile else {
            panic!("an empirical law has scores");
        };
        assert_eq!(scores.q30.len(), rows);
        assert!(scores.bits.is_sorted() && scores.run.is_sorted());
        let direct: f64 = scores
            .q30
            .iter()
            .map(|&q| (f64::from(q) / f64::from(ONE)).powi(8))
            .sum();
        assert_close(model.l2_ece(), direct / rows as f64, 1e-6);
    }
}

#[test]
fn scores_that_cannot_be_read_are_explained() {
    let (_file, law) = scores(&["0.2", "1.5"]);
    let refused = |law: &str| {
        let curve = "quartic".parse().unwrap();
        Model::new(law.parse().unwrap(), curve, 1)
            .unwrap_err()
            .to_string()
    };
    assert!(refused(&law).contains("row 2"), "{}", refused(&law));
    assert!(refused("empirical:no-such-file.csv").contains("cannot be read"));
    let message = refused(&format!("{law}:confidnce"));
    assert!(
        message.contains("no column `confidnce` (empirical:FILE:COLUMN)"),
        "{message}"
    );
}

/// A `.npy` file of the given shape.
fn array(shape: &str, values: &[f32]) -> (tempfile::NamedTempFile, String) {
    let file = tempfile::Builder::new().suffix(".npy").tempfile().unwrap();
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(118u16.to_le_bytes());
    bytes.extend(format!("{header:<117}\n").as_bytes());
    bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    std::fs::write(file.path(), bytes).unwrap();
    let law = format!("empirical:{}", file.path().display());
    (file, law)
}

#[test]
fn scores_of_arrays() {
    for (shape, values, expected) in [
        ("(3,)", &[0.5f32, 0.25, 1.0][..], vec![0.25f32, 0.5, 1.0]),
        // Confidence and label.
        ("(2, 2)", &[0.75, 1.0, 0.5, 0.0], vec![0.5, 0.75]),
        // Probabilities of three classes: the largest.
        ("(2, 3)", &[0.25, 0.5, 0.25, 0.0, 0.0, 1.0], vec![0.5, 1.0]),
    ] {
        let (_file, law) = array(shape, values);
        let model = model(&law, "calibrated");
        let Quantile::Empirical(scores) = &model.quantile else {
            panic!("an empirical law has scores");
        };
        let read: Vec<f32> = scores
            .bits
            .iter()
            .map(|&bits| f32::from_bits(bits as u32))
            .collect();
        assert_eq!(read, expected, "{shape}");
    }
}
