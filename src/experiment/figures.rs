//! The figures of the paper, as lists of simulations (Chatterjee & Barber, arXiv 2609.13100).
//!
//! Grids are those of the paper where they are known to us; where they are not, they are our own, and
//! the caption says what was done.

use super::draft::Draft;
use super::spec::{Command, Spec, SpecError};

/// A figure: simulations, one for each chart.
#[derive(Clone, Debug)]
pub struct PaperFigure {
    /// Its name: `fig3`.
    pub name: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// What is simulated for all its charts.
    pub command: Command,
    /// Charts beside each other.
    pub columns: usize,
    /// Whether each chart has its curve above it.
    pub shapes: bool,
    /// Replicates, if the user names no number.
    pub replicates: u64,
    /// The charts.
    pub charts: Vec<PaperChart>,
}

/// One chart of a figure.
#[derive(Clone, Debug)]
pub struct PaperChart {
    /// Its title.
    pub title: String,
    /// What varies along the horizontal axis.
    pub across: Across,
    /// Whether rates are small, as under the null hypothesis.
    pub small_rates: bool,
    values: Vec<(&'static str, String)>,
}

/// What varies along a horizontal axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// Rows of a replicate.
    N,
    /// ρ of the law Beta(ρ, 1-ρ).
    Rho,
    /// The number of periods of the oscillating curve.
    Periods,
}

/// The comparison of all tests, which is ours and not of the paper.
pub const POWER_STUDY: &str = "power-study";

/// The names of all figures of the paper, in its order.
pub const NAMES: [&str; 9] = [
    "fig3", "fig4", "fig5", "figA2", "figA3", "figA4", "figA5", "figA6", "figC7",
];

/// The figure of run times, which are measured ([`super::cost`]) and not simulated.
pub const RUN_TIMES: &str = "figA6";

/// Its tests: rankECE (A) and (F), and SKCE over disjoint pairs and over all.
pub const RUN_TIME_TESTS: &str = "asymptotic,finite-sample,skce-l,skce-u";

/// Tests of the paper's figures.
const TESTS: &str = "asymptotic,conditional,finite-sample,skce-l,skce-u";
/// Rows of a sample in the paper's figures of tests and run times.
pub const TEST_ROWS: &str = "50,100,200,400,800,1600";

/// Files whose rows `fig4` and `figA3` draw if none are named.
pub fn default_populations(name: &str) -> &'static [&'static str] {
    match name {
        "fig4" => &["examples/data/nfl.csv", "examples/data/cifar10_lenet.csv"],
        "figA3" => &[
            "examples/data/llm_gpt4o.csv",
            "examples/data/breast_cancer.csv",
        ],
        _ => &[],
    }
}

/// The sizes of samples of the paper's figures of estimates.
const ROWS: [u32; 9] = [100, 250, 500, 750, 1000, 2500, 5000, 7500, 10_000];

fn rows_up_to(most: usize) -> String {
    let rows = ROWS.iter().filter(|&&rows| rows as usize <= most);
    rows.map(u32::to_string).collect::<Vec<_>>().join(",")
}

impl PaperFigure {
    /// A figure by its name, which is one of [`NAMES`] or [`POWER_STUDY`]; none for [`RUN_TIMES`].
    /// `populations` are files and their numbers of rows, for `fig4` and `figA3`.
    pub fn new(name: &str, populations: &[(String, usize)]) -> Option<Self> {
        let tests = |name, title, charts| PaperFigure {
            name,
            title,
            command: Command::Power,
            columns: 2,
            shapes: false,
            replicates: 200,
            charts,
        };
        Some(match name {
            "fig3" => PaperFigure::of_curves(
                "fig3",
                "Estimates of ℓ2-ECE relative to it, confidences uniform on [0, 1]",
                &["quadratic", "spikes", "increasing-frequency"],
            ),
            "figA2" => PaperFigure::of_curves(
                "figA2",
                "Estimates of ℓ2-ECE relative to it, further curves, confidences uniform on [0, 1]",
                &[
                    "linear",
                    "staircase",
                    "gaussian",
                    "sawtooth",
                    "random-fourier",
                    "weierstrass",
                ],
            ),
            "fig4" => PaperFigure::of_files(
                "fig4",
                "Estimates from subsamples of real predictions, relative to rankECE of all rows",
                populations,
            ),
            "figA3" => PaperFigure::of_files(
                "figA3",
                "Estimates from subsamples of further predictions, relative to rankECE of all rows",
                populations,
            ),
            "fig5" => tests(
                "fig5",
                "Tests of calibration at level 0.05: type I error, and power against z - z⁴",
                vec![
                    chart(
                        "(a) type I error, ρ = 0.3",
                        "0.3",
                        "calibrated",
                        Across::N,
                        "",
                    )
                    .small(),
                    chart(
                        "(b) type I error, n = 100",
                        "",
                        "calibrated",
                        Across::Rho,
                        "100",
                    )
                    .small(),
                    chart("(c) power, ρ = 0.15", "0.15", "quartic", Across::N, ""),
                    chart("(d) power, n = 100", "", "quartic", Across::Rho, "100"),
                ],
            ),
            "figA4" => tests(
                "figA4",
                "Power of tests of calibration at level 0.05 against z - z¹⁵",
                power_charts("power-15"),
            )
            .in_three(),
            "figA5" => tests(
                "figA5",
                "Power of tests of calibration at level 0.05 against z ± 1/4, a square wave",
                power_charts("square-wave"),
            )
            .in_three(),
            "figC7" => PaperFigure {
                name: "figC7",
                title: "Estimates of ℓ2-ECE of an oscillating curve, confidences uniform on [0.2, 0.8]",
                command: Command::Approx,
                columns: 2,
                shapes: false,
                replicates: 50,
                charts: oscillating_charts(),
            },
            POWER_STUDY => PaperFigure {
                columns: 4,
                replicates: 1000,
                ..tests(
                    POWER_STUDY,
                    "Power of all tests of calibration at level 0.05, and their type I error",
                    study_charts(),
                )
            },
            _ => return None,
        })
    }

    fn of_curves(name: &'static str, title: &'static str, curves: &[&str]) -> Self {
        let chart = |curve: &&str| PaperChart {
            title: curve.replace('-', " "),
            across: Across::N,
            small_rates: false,
            values: vec![
                ("law", "uniform".to_owned()),
                ("curve", (*curve).to_owned()),
                ("n", rows_up_to(usize::MAX)),
            ],
        };
        PaperFigure {
            name,
            title,
            command: Command::Approx,
            columns: 3,
            shapes: true,
            replicates: 100,
            charts: curves.iter().map(chart).collect(),
        }
    }

    fn of_files(name: &'static str, title: &'static str, files: &[(String, usize)]) -> Self {
        let chart = |(file, rows): &(String, usize)| PaperChart {
            title: file.rsplit(['/', '\\']).next().unwrap_or(file).to_owned(),
            across: Across::N,
            small_rates: false,
            values: vec![("population", file.clone()), ("n", rows_up_to(*rows))],
        };
        PaperFigure {
            name,
            title,
            command: Command::Approx,
            columns: 2,
            shapes: false,
            replicates: 100,
            charts: files.iter().map(chart).collect(),
        }
    }

    fn in_three(self) -> Self {
        PaperFigure { columns: 3, ..self }
    }
}

impl PaperChart {
    fn small(self) -> Self {
        PaperChart {
            small_rates: true,
            ..self
        }
    }

    /// The simulation of the chart.
    ///
    /// # Errors
    /// If a population has too few rows for the grid.
    pub fn spec(&self, command: Command, replicates: u64, seed: u64) -> Result<Spec, SpecError> {
        let mut draft = Draft::default();
        for (key, value) in &self.values {
            draft.set(key, vec![value.clone()]);
        }
        draft.set("replicates", vec![replicates.to_string()]);
        draft.set("seed", vec![seed.to_string()]);
        draft.finish(command)
    }
}

/// A chart over ρ, or over n at one ρ.
fn chart(title: &str, rho: &str, curve: &str, across: Across, n: &str) -> PaperChart {
    let (rho, n) = match across {
        Across::Rho => ("0.05..0.95/0.05", n),
        _ => (rho, TEST_ROWS),
    };
    PaperChart {
        title: title.to_owned(),
        across,
        small_rates: false,
        values: vec![
            ("law", format!("beta:{rho}")),
            ("curve", curve.to_owned()),
            ("n", n.to_owned()),
            ("tests", TESTS.to_owned()),
        ],
    }
}

fn power_charts(curve: &str) -> Vec<PaperChart> {
    vec![
        chart("(a) power, n = 100", "", curve, Across::Rho, "100"),
        chart("(b) power, n = 200", "", curve, Across::Rho, "200"),
        chart("(c) power, ρ = 0.3", "0.3", curve, Across::N, ""),
    ]
}

/// Every curve of the specification on uniform confidences, two on beta laws, and two plain errors
/// beside them: all confidences too low by 0.05, and odds that are a power of what they should be.
fn study_charts() -> Vec<PaperChart> {
    const TEMPERATURE: &str = "z^0.7/(z^0.7 + (1-z)^0.7)";
    let uniform = [
        ("calibrated", "calibrated"),
        ("z + 0.05", "z + 0.05"),
        ("odds to the power 0.7", TEMPERATURE),
        ("quadratic", "quadratic"),
        ("linear", "linear"),
        ("quartic", "quartic"),
        ("power 15", "power-15"),
        ("spikes", "spikes"),
        ("increasing frequency", "increasing-frequency"),
        ("staircase", "staircase"),
        ("gaussian", "gaussian"),
        ("sawtooth", "sawtooth"),
        ("random fourier", "random-fourier"),
        ("weierstrass", "weierstrass"),
        ("square wave", "square-wave"),
    ];
    let uniform = uniform.map(|(title, curve)| (title, "uniform", curve));
    let others = [
        ("calibrated, ρ = 0.15", "beta:0.15", "calibrated"),
        ("quartic, ρ = 0.15", "beta:0.15", "quartic"),
        ("power 15, ρ = 0.3", "beta:0.3", "power-15"),
        ("oscillating", "uniform:0.2,0.8", "oscillating:0.2,100"),
    ];
    let chart = |(title, law, curve): (&str, &str, &str)| PaperChart {
        title: title.to_owned(),
        across: Across::N,
        small_rates: curve == "calibrated",
        values: vec![
            ("law", law.to_owned()),
            ("curve", curve.to_owned()),
            ("n", "100,200,500,1000".to_owned()),
            (
                "tests",
                "asymptotic,conditional,finite-sample,monte-carlo,adaptive,ks,kuiper,spiegelhalter,\
                 skce-u,skce-l"
                    .to_owned(),
            ),
            ("kernel", "laplace".to_owned()),
        ],
    };
    uniform.into_iter().chain(others).map(chart).collect()
}

fn oscillating_charts() -> Vec<PaperChart> {
    [
        (
            "(a) n = 2,000",
            "oscillating:0.2,20..400/20",
            Across::Periods,
            "2000".to_owned(),
        ),
        (
            "(b) m = 100",
            "oscillating:0.2,100",
            Across::N,
            rows_up_to(usize::MAX),
        ),
    ]
    .into_iter()
    .map(|(title, curve, across, n)| PaperChart {
        title: title.to_owned(),
        across,
        small_rates: false,
        values: vec![
            ("law", "uniform:0.2,0.8".to_owned()),
            ("curve", curve.to_owned()),
            ("n", n),
            ("bins", "10,sqrt,n/10".to_owned()),
        ],
    })
    .collect()
}
