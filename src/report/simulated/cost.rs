//! Run times.

use std::io::{self, Write};

use super::super::columns::{Align, Columns};
use super::super::number::{count, significant, with_digits};
use super::super::text::{LINE, write_wrapped};
use super::exact;
use crate::experiment::cost::{CostReport, CostRow};

/// A row for each test, a column for each n, and how the time grows.
pub fn table(report: &CostReport, out: &mut impl Write) -> io::Result<()> {
    let tests: Vec<&[CostRow]> = report
        .rows
        .chunk_by(|a, b| a.measured == b.measured)
        .collect();
    let mut columns = Columns::default();
    let names = tests.iter().map(|rows| rows[0].measured.name());
    columns.push(Align::Left, "seconds at n =", names.collect());
    for &n in &report.spec.n {
        let cell = |rows: &&[CostRow]| {
            let row = rows.iter().find(|row| row.n == n);
            row.map_or(String::new(), |row| time(row.seconds))
        };
        columns.push(
            Align::Right,
            count(n.into()),
            tests.iter().map(cell).collect(),
        );
    }
    let slope = |rows: &&[CostRow]| {
        let own = report
            .slopes
            .iter()
            .find(|slope| slope.measured == rows[0].measured);
        own.map_or(String::new(), |slope| with_digits(slope.slope, 3))
    };
    columns.push(Align::Point, "slope", tests.iter().map(slope).collect());
    columns.write(out, 0, LINE)?;
    writeln!(out)?;
    write_wrapped("", &format!("{}.", explanation(report)), out)
}

/// `1.23e-5`, so that decades are told at a glance.
fn time(seconds: f64) -> String {
    format!("{seconds:.2e}")
}

/// What was measured, and how.
pub fn explanation(report: &CostReport) -> String {
    let spec = &report.spec;
    let mut text = format!(
        "Medians of {} calls after a warm-up (fewer where a call takes long), one sample of {}, \
         curve {}, to the decision of a test; skce-u with {} resamples; median bandwidth; {} of the \
         CPU",
        spec.runs,
        spec.law,
        spec.curve,
        count(spec.resamples.into()),
        super::super::number::counted(spec.threads as u64, "thread")
    );
    if let Some(slope) = report.slopes.first() {
        text.push_str(&format!(
            "; slope: the power of n that the time grows with, fitted from n = {} to {}",
            count(slope.from.into()),
            count(slope.to.into())
        ));
    }
    if let Some(adapter) = &report.adapter {
        text.push_str(&format!("; gpu: {}", super::printable(&adapter.name)));
    }
    format!(
        "{text}; rankece {}, seed {}",
        report.version,
        significant(spec.seed as f64)
    )
}

/// A line for each test and n.
pub fn csv(report: &CostReport, out: &mut impl Write) -> io::Result<()> {
    let adapter = report.adapter.as_ref().map_or_else(String::new, |a| {
        format!(" adapter {:?} driver {:?}", a.name, a.driver)
    });
    writeln!(
        out,
        "# backend {}{adapter} version {} spec {}",
        report.backend,
        report.version,
        serde_json::to_string(&report.spec)?
    )?;
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "test", "kernel", "null", "method", "backend", "n", "seconds", "least", "most", "runs",
        "slope",
    ])?;
    for row in &report.rows {
        let measured = &row.measured;
        let slope = report.slopes.iter().find(|s| s.measured == *measured);
        writer.write_record([
            measured.test,
            measured.kernel.map_or("", |kernel| kernel.as_str()),
            measured.null.map_or("", |null| null.as_str()),
            measured.method.unwrap_or_default(),
            measured.backend,
            &row.n.to_string(),
            &exact(Some(row.seconds)),
            &exact(Some(row.least)),
            &exact(Some(row.most)),
            &row.runs.to_string(),
            &exact(slope.map(|slope| slope.slope)),
        ])?;
    }
    writer.flush()
}
