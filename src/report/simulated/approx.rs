//! Estimates beside their truth.

use std::io::{self, Write};

use super::super::columns::{Align, Columns};
use super::super::number::{count, optional, significant};
use super::super::text::LINE;
use super::super::text::write_wrapped;
use super::{comment, exact, provenance, rounded, source};
use crate::experiment::{ApproxCurve, ApproxReport, Estimator};

/// A block for each law and curve or population: a row for each n and estimator.
pub fn table(report: &ApproxReport, out: &mut impl Write) -> io::Result<()> {
    let same = |a: &ApproxCurve, b: &ApproxCurve| {
        (&a.law, &a.curve, &a.population) == (&b.law, &b.curve, &b.population)
    };
    for block in report.curves.chunk_by(same) {
        let first = &block[0];
        let names = [&first.law, &first.curve, &first.population].map(Option::as_deref);
        let [law, curve, population] = names;
        let truth = match (population, first.truth.lower, first.truth.upper) {
            (Some(_), Some(lower), Some(upper)) => format!(
                "rank_ece of all rows {}, 95 % neighbour interval [{}, {}]",
                significant(first.truth.l2_ece),
                rounded(lower),
                rounded(upper)
            ),
            (Some(_), ..) => format!("rank_ece of all rows {}", significant(first.truth.l2_ece)),
            _ => format!("l2_ece {}", significant(first.truth.l2_ece)),
        };
        writeln!(out, "{}, {truth}", source(law, curve, population))?;
        let rows: Vec<(&ApproxCurve, &Estimator)> = block
            .iter()
            .flat_map(|curve| {
                curve
                    .estimators
                    .iter()
                    .map(move |estimator| (curve, estimator))
            })
            .collect();
        let mut columns = Columns::default();
        let mut push = |align, header: &str, cell: &dyn Fn(&ApproxCurve, &Estimator) -> String| {
            let cells = rows.iter().map(|(curve, estimator)| cell(curve, estimator));
            columns.push(align, header, cells.collect());
        };
        push(Align::Right, "n", &|curve, _| count(curve.n.into()));
        push(Align::Left, "estimator", &|_, estimator| name(estimator));
        push(Align::Point, "ratio", &|_, e| {
            e.ratio.map_or("-".to_owned(), rounded)
        });
        push(Align::Point, "s.e.", &|_, e| {
            e.ratio_se.map_or("-".to_owned(), |se| {
                super::super::number::with_digits(se, 2)
            })
        });
        push(Align::Point, "mean", &|_, e| significant(e.mean));
        push(Align::Point, "sd", &|_, e| {
            e.sd.map_or("-".to_owned(), rounded)
        });
        if population.is_none() {
            push(Align::Point, "expected", &|_, e| optional(e.expected));
        }
        columns.write(out, 2, LINE)?;
        writeln!(out)?;
    }
    let provenance = provenance(&report.computed, &report.spec);
    let line = format!(
        "Mean ratio to l2_ece with its standard error; bins are right-closed and of equal width. \
         {provenance}"
    );
    write_wrapped("", &line, out)
}

/// `rank_ece`, `ece_l2, sqrt = 31 bins`.
fn name(estimator: &Estimator) -> String {
    match &estimator.bins {
        None => estimator.name.to_owned(),
        Some(bins) if bins.rule == bins.k.to_string() => {
            format!("{}, {} bins", estimator.name, bins.k)
        }
        Some(bins) => format!("{}, {} = {} bins", estimator.name, bins.rule, bins.k),
    }
}

/// A line for each estimator and point.
pub fn csv(reports: &[&ApproxReport], out: &mut impl Write) -> io::Result<()> {
    let specs: Vec<_> = reports.iter().map(|report| &report.spec).collect();
    let computed = reports.first().map(|report| &report.computed);
    writeln!(out, "{}", comment(computed, &specs)?)?;
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record([
        "law",
        "population",
        "curve",
        "n",
        "replicates",
        "estimator",
        "rule",
        "k",
        "mean",
        "sd",
        "se",
        "ratio",
        "ratio_se",
        "expected",
        "l2_ece",
        "l2_ece_source",
        "l2_ece_lower",
        "l2_ece_upper",
        "version",
        "seed",
    ])?;
    let curves = reports
        .iter()
        .flat_map(|report| report.curves.iter().map(move |c| (report, c)));
    for (report, curve) in curves {
        for estimator in &curve.estimators {
            let bins = estimator.bins.as_ref();
            writer.write_record([
                curve.law.clone().unwrap_or_default(),
                curve.population.clone().unwrap_or_default(),
                curve.curve.clone().unwrap_or_default(),
                curve.n.to_string(),
                curve.replicates.to_string(),
                estimator.name.to_owned(),
                bins.map(|bins| bins.rule.clone()).unwrap_or_default(),
                bins.map(|bins| bins.k.to_string()).unwrap_or_default(),
                exact(Some(estimator.mean)),
                exact(estimator.sd),
                exact(estimator.se),
                exact(estimator.ratio),
                exact(estimator.ratio_se),
                exact(estimator.expected),
                exact(Some(curve.truth.l2_ece)),
                curve.truth.source.to_owned(),
                exact(curve.truth.lower),
                exact(curve.truth.upper),
                report.computed.version.clone(),
                report.computed.seed.to_string(),
            ])?;
        }
    }
    writer.flush()
}
