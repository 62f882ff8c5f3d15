//! From run times to a figure.

use super::axis::{Axis, Scale};
use super::chart::{Chart, Mark, Series};
use super::figure::Figure;
use crate::experiment::cost::{CostReport, CostRow};
use crate::report::simulated::cost_explanation;

/// Run times over n, both on logarithmic scales: on the left tests without resamples and SKCE-U with
/// its default null, on the right all nulls of SKCE-U.
pub fn cost_figure(report: &CostReport) -> Figure {
    let tests: Vec<&[CostRow]> = report
        .rows
        .chunk_by(|a, b| a.measured == b.measured)
        .collect();
    let chart = |title: &str, wanted: &dyn Fn(&CostRow) -> bool| {
        let series = tests
            .iter()
            .enumerate()
            .filter(|(_, rows)| wanted(&rows[0]));
        let series = series.map(|(style, rows)| Series {
            style,
            marks: rows
                .iter()
                .map(|row| Mark {
                    x: row.n.into(),
                    y: row.seconds,
                    interval: (row.least, row.most),
                })
                .collect(),
        });
        Chart {
            title: title.to_owned(),
            x: Axis::new("n", Scale::Log),
            // Named in the title: beside it there is no room for numbers of many digits.
            y: Axis::new("", Scale::Log),
            series: series.collect(),
            line: Vec::new(),
            level: None,
            diagonal: false,
        }
    };
    let null = |row: &CostRow| row.measured.null;
    let mut charts = vec![chart("seconds of a test", &|row| {
        null(row).is_none_or(|null| null == Default::default())
    })];
    if tests.iter().any(|rows| null(&rows[0]).is_some()) {
        charts.push(chart("seconds of SKCE-U by its null resamples", &|row| {
            null(row).is_some()
        }));
    }
    let legend = tests.iter().map(|rows| {
        let own = &rows[0].measured;
        let slope = report.slopes.iter().find(|slope| slope.measured == *own);
        match slope.and_then(|slope| slope.slope) {
            Some(slope) => format!("{}, slope {:.2}", own.name(), slope),
            None => own.name(),
        }
    });
    Figure {
        title: "Run times of tests of calibration".to_owned(),
        rows: vec![charts],
        legend: legend.collect(),
        caption: vec![format!(
            "{}. Bands: shortest to longest call.",
            cost_explanation(report)
        )],
    }
}
