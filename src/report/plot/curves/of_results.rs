//! From the results of `power` and `approx` to figures.

use super::axis::{Axis, Scale};
use super::chart::{Chart, Mark, Series};
use super::figure::Figure;
use crate::experiment::{ApproxCurve, ApproxReport, PowerCurve, PowerReport};
use crate::report::distinct;
use crate::report::number::{count, significant};
use crate::report::simulated::provenance;
use crate::report::text::printable;

/// The most charts of one figure.
const MOST_CHARTS: usize = 12;
/// Charts beside each other.
const COLUMNS: usize = 3;

/// The figure of rejection rates: a chart for each law and curve over n, or over the parameter that
/// takes more values than n.
pub fn power_figure(report: &PowerReport) -> Figure {
    let coordinates: Vec<Coordinates> = report
        .curves
        .iter()
        .map(|curve| Coordinates::new(&curve.law, &curve.curve, curve.n))
        .collect();
    let across = across(&coordinates);
    let charts = grouped(&coordinates, across, |title, places| {
        let curves: Vec<(f64, &PowerCurve)> = places
            .iter()
            .map(|&place| (coordinates[place].value(across), &report.curves[place]))
            .collect();
        power_chart(title, axis(across), &curves)
    });
    let mut caption = vec![power_caption(report)];
    let rows = in_rows(charts, &mut caption);
    Figure {
        title: "Rejection rates of tests of calibration".to_owned(),
        rows,
        legend: power_legend(report),
        caption,
    }
}

/// What there is to know of a figure of rejection rates.
pub fn power_caption(report: &PowerReport) -> String {
    let alpha: Vec<String> = report
        .spec
        .alpha
        .iter()
        .map(|&alpha| significant(alpha))
        .collect();
    format!(
        "Rejection rates at level {} with {} % Wilson intervals; dashed: the level. {}.",
        alpha.join(", "),
        significant(100.0 * report.interval.level),
        provenance(&report.computed, &report.spec)
    )
}

/// Names of tests, with their levels where there are several.
pub fn power_legend(report: &PowerReport) -> Vec<String> {
    let tests = report.curves.first().map_or(&[][..], |curve| &curve.tests);
    let one = report.spec.alpha.len() == 1;
    let name = |test: &crate::experiment::TestPower| {
        if one {
            test.name.to_owned()
        } else {
            format!("{} at {}", test.name, significant(test.alpha))
        }
    };
    tests.iter().map(name).collect()
}

/// Rejection rates over one coordinate.
pub fn power_chart(title: String, x: Axis, curves: &[(f64, &PowerCurve)]) -> Chart {
    let tests = curves.first().map_or(0, |(_, curve)| curve.tests.len());
    let series = (0..tests).map(|style| Series {
        style,
        marks: curves
            .iter()
            .map(|(x, curve)| {
                let test = &curve.tests[style];
                Mark {
                    x: *x,
                    y: test.rate,
                    interval: (test.lower, test.upper),
                }
            })
            .collect(),
    });
    // What a test of this level should reject where there is nothing to find.
    let alpha = curves
        .first()
        .and_then(|(_, curve)| curve.tests.first())
        .map(|test| test.alpha);
    Chart {
        title,
        x,
        y: Axis::new("rejection rate", Scale::Linear).between(0.0, 1.0),
        series: series.collect(),
        line: Vec::new(),
        level: alpha,
        diagonal: false,
    }
}

/// The figure of estimates: their ratios to ℓ2-ECE with one standard error.
pub fn approx_figure(report: &ApproxReport) -> Figure {
    let coordinates: Vec<Coordinates> = report
        .curves
        .iter()
        .map(|curve| match &curve.population {
            Some(file) => Coordinates::new(file, "", curve.n),
            None => {
                let [law, g] = [&curve.law, &curve.curve].map(|t| t.as_deref().unwrap_or_default());
                Coordinates::new(law, g, curve.n)
            }
        })
        .collect();
    let across = across(&coordinates);
    let charts = grouped(&coordinates, across, |title, places| {
        let curves: Vec<(f64, &ApproxCurve)> = places
            .iter()
            .map(|&place| (coordinates[place].value(across), &report.curves[place]))
            .collect();
        approx_chart(title, axis(across), &curves)
    });
    let mut caption = approx_caption(report);
    let rows = in_rows(charts, &mut caption);
    Figure {
        title: "Estimates of ℓ2-ECE, relative to it".to_owned(),
        rows,
        legend: approx_legend(report),
        caption,
    }
}

/// What there is to know of a figure of estimates.
pub fn approx_caption(report: &ApproxReport) -> Vec<String> {
    let mut caption = vec![format!(
        "Mean ratio to ℓ2-ECE; bands and bars are ±1 standard error. {}.",
        provenance(&report.computed, &report.spec)
    )];
    let undefined = report.curves.iter().any(|curve| curve.truth.l2_ece == 0.0);
    if undefined {
        caption.push(
            "Where ℓ2-ECE is 0 there is no ratio, and the estimates are not shown.".to_owned(),
        );
    }
    let files = distinct(
        report
            .curves
            .iter()
            .filter_map(|c| c.population.as_deref().map(|p| (p, c.truth))),
    );
    for (file, truth) in files {
        let interval = match (truth.lower, truth.upper) {
            (Some(lower), Some(upper)) => format!(
                ", 95 % neighbour interval [{}, {}]",
                significant(lower),
                significant(upper)
            ),
            _ => String::new(),
        };
        caption.push(format!(
            "{}: subsamples without replacement, relative to rank_ece of all rows, {}{interval}.",
            printable(file),
            significant(truth.l2_ece)
        ));
    }
    caption
}

/// Names of estimators.
pub fn approx_legend(report: &ApproxReport) -> Vec<String> {
    let rules = report
        .spec
        .bins
        .iter()
        .map(|rule| format!("ece_l2, {rule} bins"));
    std::iter::once("rank_ece".to_owned())
        .chain(rules)
        .collect()
}

/// Ratios of estimates over one coordinate.
pub fn approx_chart(title: String, x: Axis, curves: &[(f64, &ApproxCurve)]) -> Chart {
    let estimators = curves
        .first()
        .map_or(0, |(_, curve)| curve.estimators.len());
    let series = (0..estimators).map(|style| Series {
        style,
        marks: curves
            .iter()
            .filter_map(|(x, curve)| {
                let estimator = &curve.estimators[style];
                let ratio = estimator.ratio?;
                let se = estimator.ratio_se.unwrap_or(0.0);
                Some(Mark {
                    x: *x,
                    y: ratio,
                    interval: (ratio - se, ratio + se),
                })
            })
            .collect(),
    });
    Chart {
        title,
        x,
        y: Axis::new("ratio to ℓ2-ECE", Scale::Linear),
        series: series.collect(),
        line: Vec::new(),
        level: Some(1.0),
        diagonal: false,
    }
}

/// The numbers of a point of a grid.
struct Coordinates {
    law: Parameters,
    curve: Parameters,
    n: u32,
}

/// A name with numbers behind its colon.
#[derive(PartialEq)]
struct Parameters {
    text: String,
    name: String,
    numbers: Vec<f64>,
}

impl Parameters {
    fn new(text: &str) -> Self {
        let (name, rest) = text.split_once(':').unwrap_or((text, ""));
        let numbers = rest.split(',').map(|number| number.parse().ok());
        match numbers.collect::<Option<Vec<f64>>>() {
            Some(numbers) => Parameters {
                text: text.to_owned(),
                name: name.to_owned(),
                numbers,
            },
            None => Parameters {
                text: text.to_owned(),
                name: text.to_owned(),
                numbers: Vec::new(),
            },
        }
    }

    /// The text without its number at `place`; of Beta(ρ, 1-ρ) without both.
    fn without(&self, place: usize) -> String {
        if self.is_arcsine_like() {
            return "Beta(ρ, 1-ρ)".to_owned();
        }
        let names = ["a", "b", "c", "m"];
        let numbers = self.numbers.iter().enumerate().map(|(at, number)| {
            if at == place {
                names[at % 4].to_owned()
            } else {
                number.to_string()
            }
        });
        format!("{}:{}", self.name, numbers.collect::<Vec<_>>().join(","))
    }

    fn is_arcsine_like(&self) -> bool {
        self.name == "beta" && (self.numbers.iter().sum::<f64>() - 1.0).abs() < 1e-9
    }
}

/// What lies along the horizontal axis.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Across {
    N,
    Law(usize),
    Curve(usize),
}

impl Coordinates {
    fn new(law: &str, curve: &str, n: u32) -> Self {
        Coordinates {
            law: Parameters::new(law),
            curve: Parameters::new(curve),
            n,
        }
    }

    fn value(&self, across: Across) -> f64 {
        let number = match across {
            Across::N => Some(f64::from(self.n)),
            Across::Law(place) => self.law.numbers.get(place).copied(),
            Across::Curve(place) => self.curve.numbers.get(place).copied(),
        };
        number.unwrap_or(f64::NAN)
    }

    /// What is the same for all points of a chart.
    fn rest(&self, across: Across) -> String {
        let n = format!("n = {}", count(self.n.into()));
        let parts = match across {
            Across::N => [
                self.law.text.clone(),
                self.curve.text.clone(),
                String::new(),
            ],
            Across::Law(place) => [self.law.without(place), self.curve.text.clone(), n],
            Across::Curve(place) => [self.law.text.clone(), self.curve.without(place), n],
        };
        let parts: Vec<_> = parts
            .iter()
            .filter(|part| !part.is_empty())
            .map(|p| printable(p))
            .collect();
        parts.join(", ")
    }
}

/// The coordinate that takes most values: n, or a number of the law or the curve.
fn across(points: &[Coordinates]) -> Across {
    let values = |across: Across| {
        let same_names = points.windows(2).all(|pair| match across {
            Across::N => true,
            Across::Law(_) => pair[0].law.name == pair[1].law.name,
            Across::Curve(_) => pair[0].curve.name == pair[1].curve.name,
        });
        let defined = points.iter().all(|point| !point.value(across).is_nan());
        let values = distinct(points.iter().map(|point| point.value(across).to_bits()));
        if same_names && defined {
            values.len()
        } else {
            0
        }
    };
    let candidates = [
        Across::N,
        Across::Law(0),
        Across::Law(1),
        Across::Curve(0),
        Across::Curve(1),
    ];
    let mut best = Across::N;
    for candidate in candidates {
        if values(candidate) > values(best) {
            best = candidate;
        }
    }
    best
}

fn axis(across: Across) -> Axis {
    match across {
        Across::N => Axis::new("n", Scale::Log),
        Across::Law(0) => Axis::new("first parameter of the law", Scale::Linear),
        Across::Law(_) => Axis::new("second parameter of the law", Scale::Linear),
        Across::Curve(0) => Axis::new("first parameter of the curve", Scale::Linear),
        Across::Curve(_) => Axis::new("second parameter of the curve", Scale::Linear),
    }
}

/// A chart for each set of points that differ in one coordinate alone.
fn grouped(
    points: &[Coordinates],
    across: Across,
    chart: impl Fn(String, &[usize]) -> Chart,
) -> Vec<Chart> {
    let names: Vec<String> = points.iter().map(|point| point.rest(across)).collect();
    distinct(names.iter())
        .into_iter()
        .map(|name| {
            let mut places: Vec<usize> = (0..points.len()).filter(|&p| names[p] == *name).collect();
            places.sort_by(|&a, &b| points[a].value(across).total_cmp(&points[b].value(across)));
            chart(name.clone(), &places)
        })
        .collect()
}

/// Charts in rows; those beyond the most that a figure holds are named in the caption.
fn in_rows(mut charts: Vec<Chart>, caption: &mut Vec<String>) -> Vec<Vec<Chart>> {
    if charts.len() > MOST_CHARTS {
        caption.push(format!(
            "The first {MOST_CHARTS} of {} charts; all numbers are in the results.",
            charts.len()
        ));
        charts.truncate(MOST_CHARTS);
    }
    let columns = if charts.len() == 4 { 2 } else { COLUMNS };
    charts.chunks(columns).map(<[Chart]>::to_vec).collect()
}
