//! Rejection rates.

use std::io::{self, Write};

use super::super::columns::{Align, Columns};
use super::super::number::{count, significant};
use super::super::text::LINE;
use super::super::text::write_wrapped;
use super::{comment, exact, provenance, rate_with_interval, rounded, source};
use crate::experiment::{PowerCurve, PowerReport, Solved};

/// A block for each law and curve: a row for each n, a column for each test at each level.
pub fn table(report: &PowerReport, out: &mut impl Write) -> io::Result<()> {
    let same = |a: &PowerCurve, b: &PowerCurve| (&a.law, &a.curve) == (&b.law, &b.curve);
    for block in report.curves.chunk_by(same) {
        let first = &block[0];
        writeln!(
            out,
            "{}, l2_ece {}",
            source(Some(&first.law), Some(&first.curve), None),
            significant(first.truth.l2_ece)
        )?;
        let mut columns = Columns::default();
        let cells =
            |cell: &dyn Fn(&PowerCurve) -> String| block.iter().map(cell).collect::<Vec<_>>();
        columns.push(Align::Right, "n", cells(&|curve| count(curve.n.into())));
        for (place, test) in first.tests.iter().enumerate() {
            let header = if report.spec.alpha == [0.05] {
                test.name.to_owned()
            } else {
                format!("{} at {}", test.name, significant(test.alpha))
            };
            let cell = |curve: &PowerCurve| {
                let test = &curve.tests[place];
                rate_with_interval(test.rate, test.lower, test.upper)
            };
            columns.push(Align::Point, header, cells(&cell));
            if block.iter().any(|curve| curve.tests[place].undefined > 0) {
                let cell = |curve: &PowerCurve| count(curve.tests[place].undefined);
                columns.push(Align::Right, "undefined", cells(&cell));
            }
        }
        columns.write(out, 2, LINE)?;
        writeln!(out)?;
    }
    if let Some(solved) = &report.solve {
        write_wrapped("", &solved_in_words(solved), out)?;
        writeln!(out)?;
    }
    let provenance = provenance(&report.computed, &report.spec);
    let level = significant(100.0 * report.interval.level);
    let line = format!("Rejection rates with {level} % Wilson intervals. {provenance}");
    write_wrapped("", &line, out)
}

fn solved_in_words(solved: &Solved) -> String {
    let power = significant(solved.target);
    let test = format!("{} at level {}", solved.test, significant(solved.alpha));
    let Some(n) = solved.n else {
        let why = solved.undefined.as_deref().unwrap_or_default();
        return format!("Power {power} of {test}: {why}.");
    };
    let mut text = format!(
        "n = {} rows give {test} the power {power}: simulated {} [{}, {}] of {} replicates.",
        count(n.into()),
        rounded(solved.rate),
        rounded(solved.lower),
        rounded(solved.upper),
        count(solved.replicates)
    );
    if let (Some(lower), None) = (solved.n_lower, solved.n_upper) {
        text.push_str(&format!(
            " With the error of the simulation n is at least {}; how large it may be takes more --replicates to tell.",
            count(lower.into())
        ));
    }
    if let (Some(lower), Some(upper)) = (solved.n_lower, solved.n_upper) {
        text.push_str(&format!(
            " With the error of the simulation n lies between {} and {}; more --replicates narrow it.",
            count(lower.into()),
            count(upper.into())
        ));
    }
    if solved.resolution > 1 {
        text.push_str(&format!(
            " n was looked for in steps of {}.",
            solved.resolution
        ));
    }
    text
}

/// A line for each test, level and point.
pub fn csv(reports: &[&PowerReport], out: &mut impl Write) -> io::Result<()> {
    let specs: Vec<_> = reports.iter().map(|report| &report.spec).collect();
    let computed = reports.first().map(|report| &report.computed);
    writeln!(out, "{}", comment(computed, &specs)?)?;
    let mut writer = csv::Writer::from_writer(out);
    let mut header: Vec<String> = [
        "law",
        "curve",
        "n",
        "replicates",
        "test",
        "alpha",
        "rejections",
        "undefined",
        "rate",
        "lower",
        "upper",
        "level",
        "l2_ece",
        "rank_ece",
        "version",
        "seed",
    ]
    .map(str::to_owned)
    .to_vec();
    let solving = reports.iter().any(|report| report.solve.is_some());
    if solving {
        header.extend(
            ["solve_target", "solve_n", "solve_n_lower", "solve_n_upper"].map(str::to_owned),
        );
    }
    writer.write_record(&header)?;
    let curves = reports
        .iter()
        .flat_map(|report| report.curves.iter().map(move |c| (report, c)));
    for (report, curve) in curves {
        for test in &curve.tests {
            let mut fields = vec![
                curve.law.clone(),
                curve.curve.clone(),
                curve.n.to_string(),
                curve.replicates.to_string(),
                test.name.to_owned(),
                exact(Some(test.alpha)),
                test.rejections.to_string(),
                test.undefined.to_string(),
                exact(Some(test.rate)),
                exact(Some(test.lower)),
                exact(Some(test.upper)),
                exact(Some(report.interval.level)),
                exact(Some(curve.truth.l2_ece)),
                exact(Some(curve.truth.rank_ece)),
                report.computed.version.clone(),
                report.computed.seed.to_string(),
            ];
            if let Some(solved) = &report.solve {
                let whole = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
                fields.push(exact(Some(solved.target)));
                fields.extend([solved.n, solved.n_lower, solved.n_upper].map(whole));
            }
            writer.write_record(&fields)?;
        }
    }
    writer.flush()
}
