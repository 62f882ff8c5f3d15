//! Run times.

use std::io::{self, Write};

use super::super::columns::{Align, Columns};
use super::super::number::{ABSENT, count, counted, with_digits};
use super::super::text::{LINE, write_wrapped};
use super::exact;
use crate::experiment::cost::{CostReport, CostRow, ENOUGH};
use crate::inference::tests_of_calibration::TestName;

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
        let slope = own.and_then(|slope| slope.slope);
        slope.map_or(ABSENT.to_owned(), |slope| with_digits(slope, 3))
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
        "{}, of one sample of {}, curve {}, to the decision of a test; median bandwidth; {} of the CPU",
        measurements(report),
        spec.law,
        spec.curve,
        counted(spec.threads as u64, "thread")
    );
    if let Some(resamples) = resamples(report) {
        text.push_str(&format!("; resamples: {resamples}"));
    }
    let (defined, undefined): (Vec<_>, Vec<_>) = report
        .slopes
        .iter()
        .partition(|slope| slope.slope.is_some());
    if let Some(slope) = defined.first() {
        text.push_str(&format!(
            "; slope: the power of n that the time grows with, fitted to the {} from {} to {}",
            counted(slope.sizes as u64, "size"),
            count(slope.from.into()),
            count(slope.to.into())
        ));
    } else if let Some(why) = undefined.first().and_then(|slope| slope.undefined.as_ref()) {
        text.push_str(&format!("; no slopes: {why}"));
    }
    if let Some(adapter) = &report.adapter {
        text.push_str(&format!("; gpu: {}", super::printable(&adapter.name)));
    }
    format!("{text}; rankece {}, seed {}", report.version, spec.seed)
}

/// How often was measured: `Medians of 5 measurements after a warm-up`.
fn measurements(report: &CostReport) -> String {
    let asked = report.spec.runs;
    let fewest = report.rows.iter().map(|row| row.runs).min();
    match fewest {
        _ if asked == 1 => "Single measurements after a warm-up, no medians".to_owned(),
        Some(fewest) if fewest < asked => format!(
            "Medians of {asked} measurements after a warm-up (fewer, down to {fewest}, of calls that \
             took over {ENOUGH} s together)"
        ),
        _ => format!("Medians of {asked} measurements after a warm-up"),
    }
}

/// How many resamples tests drew: `monte-carlo 999, skce-u 100`. None if no test draws any.
fn resamples(report: &CostReport) -> Option<String> {
    let mut all: Vec<(TestName, Vec<u32>)> = Vec::new();
    for row in &report.rows {
        let Some(resamples) = row.resamples else {
            continue;
        };
        match all.iter_mut().find(|(test, _)| *test == row.measured.test) {
            Some((_, own)) => own.push(resamples),
            None => all.push((row.measured.test, vec![resamples])),
        }
    }
    let of_test = |(test, own): &(TestName, Vec<u32>)| {
        let most = own.iter().max().copied().unwrap_or(0);
        let least = own.iter().min().copied().unwrap_or(0);
        if least == most {
            format!("{test} {}", count(most.into()))
        } else {
            // The default of large samples.
            format!("{test} {} to {}", count(least.into()), count(most.into()))
        }
    };
    let texts: Vec<String> = all.iter().map(of_test).collect();
    (!texts.is_empty()).then(|| texts.join(", "))
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
        "test",
        "kernel",
        "null",
        "method",
        "backend",
        "n",
        "resamples",
        "seconds",
        "least",
        "most",
        "runs",
        "slope",
    ])?;
    for row in &report.rows {
        let measured = &row.measured;
        let slope = report.slopes.iter().find(|s| s.measured == *measured);
        writer.write_record([
            measured.test.as_str(),
            measured.kernel.map_or("", |kernel| kernel.as_str()),
            measured.null.map_or("", |null| null.as_str()),
            measured.method.unwrap_or_default(),
            measured.backend,
            &row.n.to_string(),
            &row.resamples.map_or(String::new(), |b| b.to_string()),
            &exact(Some(row.seconds)),
            &exact(Some(row.least)),
            &exact(Some(row.most)),
            &row.runs.to_string(),
            &exact(slope.and_then(|slope| slope.slope)),
        ])?;
    }
    writer.flush()
}
