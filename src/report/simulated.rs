//! What `power` and `approx` found out, as tables, JSON and CSV.

mod approx;
mod cost;
mod power;

use std::io::{self, Write};

use serde::Serialize;

use super::Format;
use super::number::count;
use super::text::printable;
pub(super) use cost::explanation as cost_explanation;

use crate::experiment::cost::CostReport;
use crate::experiment::{ApproxReport, Computed, PowerReport, Spec};

/// Writes the result of `power`.
///
/// # Errors
/// If writing fails.
pub fn write_power(format: Format, report: &PowerReport, out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    match format {
        Format::Table => power::table(report, &mut out),
        Format::Json => json(report, &mut out),
        Format::Csv => power::csv(&[report], &mut out),
    }
}

/// Writes the result of `approx`.
///
/// # Errors
/// If writing fails.
pub fn write_approx(format: Format, report: &ApproxReport, out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    match format {
        Format::Table => approx::table(report, &mut out),
        Format::Json => json(report, &mut out),
        Format::Csv => approx::csv(&[report], &mut out),
    }
}

/// Writes run times.
///
/// # Errors
/// If writing fails.
pub fn write_cost(format: Format, report: &CostReport, out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    match format {
        Format::Table => cost::table(report, &mut out),
        Format::Json => json(report, &mut out),
        Format::Csv => cost::csv(report, &mut out),
    }
}

/// Writes results of `power` as one CSV file.
///
/// # Errors
/// If writing fails.
pub fn power_csv(reports: &[&PowerReport], out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    power::csv(reports, &mut out)
}

/// Writes results of `approx` as one CSV file.
///
/// # Errors
/// If writing fails.
pub fn approx_csv(reports: &[&ApproxReport], out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    approx::csv(reports, &mut out)
}

fn json(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    writeln!(out)
}

/// The one comment of a CSV file: what computed it, and what was asked for as JSON.
fn comment(computed: Option<&Computed>, specs: &[&Spec]) -> io::Result<String> {
    let Some(computed) = computed else {
        return Ok("# no results".to_owned());
    };
    let adapter = computed.adapter.as_ref().map_or_else(String::new, |a| {
        format!(" adapter {:?} driver {:?}", a.name, a.driver)
    });
    let specs = match specs {
        [spec] => serde_json::to_string(spec)?,
        specs => serde_json::to_string(specs)?,
    };
    Ok(format!(
        "# backend {}{adapter} version {} spec {specs}",
        computed.backend, computed.version
    ))
}

/// The lines that say what computed a table, and from how much.
pub(super) fn provenance(computed: &Computed, spec: &Spec) -> String {
    let adapter = match &computed.adapter {
        Some(adapter) => format!(
            " ({}, driver {})",
            printable(&adapter.name),
            printable(&adapter.driver)
        ),
        None => String::new(),
    };
    // A search gives up an n that is far from the power.
    let (at_most, each) = match spec.solve_n {
        Some(_) => ("at most ", "n"),
        None => ("", "point"),
    };
    format!(
        "rankece {}, backend {}{adapter}, seed {}, {at_most}{} replicates of each {each}",
        computed.version,
        computed.backend,
        computed.seed,
        count(spec.replicates)
    )
}

/// A source in words: `beta:0.15,0.85, quartic`.
fn source(law: Option<&str>, curve: Option<&str>, population: Option<&str>) -> String {
    let parts = [law, curve, population].into_iter().flatten();
    parts
        .map(|part| printable(part).into_owned())
        .collect::<Vec<_>>()
        .join(", ")
}

/// An f64 that reads back the same; empty for nothing.
fn exact(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:?}"),
        _ => String::new(),
    }
}

/// `0.379 [0.378, 0.38]`
fn rate_with_interval(rate: f64, lower: f64, upper: f64) -> String {
    format!("{} [{}, {}]", rounded(rate), rounded(lower), rounded(upper))
}

/// Four significant digits.
fn rounded(value: f64) -> String {
    super::number::with_digits(value, 4)
}
