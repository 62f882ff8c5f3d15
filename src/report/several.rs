//! Several results, one row each.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::results::{Evaluated, Interval, TestResult};

use super::columns::{Align, Columns};
use super::number::{ABSENT, count, of_gaps, optional, p_value, percent, significant};
use super::text::write_wrapped;
use super::text::{LINE, printable, shorten};
use super::{
    binning_rule_name, distinct, part_of_source, reduction_name, remarks, ties_name, verdict_name,
    write_named,
};

/// The most reasons and notes beneath the rows.
const MOST_REMARKS: usize = 20;

/// Columns for the names of results, more if shorter names are not different.
const NAME_LIMITS: [usize; 3] = [40, 80, 400];

/// Writes the rows and what they share.
pub fn write(results: &[Evaluated], alpha: f64, out: &mut impl Write) -> io::Result<()> {
    let source = shared(results, |r| r.source.as_str());
    if let Some(source) = source {
        writeln!(out, "{}", printable(source))?;
    }
    let mut columns = Columns::default();
    columns.push(Align::Left, "result", names(results, source.is_some()));
    let mut push = |align, header: &str, cell: &dyn Fn(&Evaluated) -> String| {
        columns.push(align, header, results.iter().map(cell).collect());
    };
    push(Align::Right, "n", &|r| count(r.n));
    push(Align::Right, "tied", &|r| count(r.tied_rows));
    if results.iter().any(|r| r.skipped > 0) {
        push(Align::Right, "skipped", &|r| count(r.skipped));
    }
    if results.iter().any(|r| r.impossible_labels > 0) {
        push(Align::Right, "impossible", &|r| count(r.impossible_labels));
    }
    push(Align::Point, "rank_ece", &|r| optional(r.rank_ece.estimate));
    let first = |r: &Evaluated| r.rank_ece.intervals.first().cloned();
    if results.iter().any(|r| first(r).is_some()) {
        push(Align::Point, "lower", &|r| {
            optional(first(r).and_then(|i| i.lower))
        });
        push(Align::Point, "upper", &|r| {
            optional(first(r).and_then(|i| i.upper))
        });
    }
    if results.iter().any(|r| !r.binned.is_empty()) {
        push(Align::Point, "ece_l1", &|r| {
            of_gaps(r.binned.first().and_then(|b| b.ece_l1))
        });
    }
    for name in test_names(results) {
        push(Align::Point, &format!("p {name}"), &|r| {
            let Some(test) = r.tests.iter().find(|t| t.name == name) else {
                return String::new();
            };
            let mark = if test.reject == Some(true) { "*" } else { "" };
            match test.p_value {
                Some(p) => format!("{}{mark}", p_value(p)),
                None => format!("{ABSENT}{mark}"),
            }
        });
    }
    if results.iter().any(|r| r.gate.is_some()) {
        push(Align::Left, "gate", &|r| {
            r.gate.map_or("", verdict_name).to_owned()
        });
    }
    columns.write(out, 0, LINE)?;
    writeln!(out)?;
    write_legend(results, alpha, out)?;
    write_remarks(results, out)?;
    let impossible = results.iter().filter(|r| r.impossible_labels > 0).count();
    if impossible > 0 {
        writeln!(out)?;
        let line = format!(
            "Perfect calibration is impossible for {} of {} results, whatever their tests say: \
             impossible is the number of labels that contradict a confidence of exactly 0 or 1.",
            count(impossible as u64),
            count(results.len() as u64)
        );
        write_wrapped("", &line, out)?;
    }
    if results.iter().any(|r| !r.tests.is_empty()) {
        writeln!(out)?;
        write_wrapped("", &multiplicity(results, alpha), out)?;
    }
    Ok(())
}

/// What tells each result from the others.
fn names(results: &[Evaluated], one_source: bool) -> Vec<String> {
    let name = |result: &Evaluated, limit: usize| {
        let source = printable(&result.source);
        match part_of_source(result) {
            Some(part) if one_source => shorten(&part, limit).into_owned(),
            None if one_source => "all rows".to_owned(),
            Some(part) => {
                let source = shorten(&source, limit / 2);
                shorten(&format!("{source}: {part}"), limit).into_owned()
            }
            None => shorten(&source, limit).into_owned(),
        }
    };
    let mut names = Vec::new();
    for limit in NAME_LIMITS {
        names = results.iter().map(|result| name(result, limit)).collect();
        if names.iter().collect::<HashSet<_>>().len() == names.len() {
            break;
        }
    }
    names
}

/// What the columns mean, and what the rows share.
fn write_legend(results: &[Evaluated], alpha: f64, out: &mut impl Write) -> io::Result<()> {
    let mut legend = Vec::new();
    let reductions = distinct(results.iter().map(|r| reduction_name(r.reduction)));
    let dtypes = distinct(results.iter().map(|r| r.dtype.to_string()));
    let ties = distinct(results.iter().map(|r| ties_name(r.rank_ece.ties)));
    legend.push(format!("{} predictions", reductions.join(" and ")));
    legend.push(dtypes.join(" and "));
    legend.push(format!("ties {}", ties.join(" and ")));
    let intervals = results.iter().filter_map(|r| r.rank_ece.intervals.first());
    let intervals = distinct(intervals.map(|i: &Interval| {
        let level = percent(i.level);
        format!("lower and upper: {level} {} interval", i.method)
    }));
    legend.extend(intervals);
    let binnings = distinct(
        results
            .iter()
            .filter_map(|r| r.binned.first().map(binning_rule_name)),
    );
    match binnings.as_slice() {
        [] => {}
        [one] => legend.push(format!("ece_l1: {one}")),
        several => legend.push(format!("ece_l1: {}", several.join(" or "))),
    }
    if results
        .iter()
        .flat_map(|r| &r.tests)
        .any(|t| t.reject == Some(true))
    {
        legend.push(format!("*: rejected at level {}", significant(alpha)));
    }
    write_wrapped("", &format!("{}.", legend.join("; ")), out)
}

/// Reasons and notes, each once with the number of results it holds for.
fn write_remarks(results: &[Evaluated], out: &mut impl Write) -> io::Result<()> {
    let tests = results.iter().flat_map(|r| &r.tests).flat_map(remarks);
    let intervals = results.iter().filter_map(|r| {
        let interval = r.rank_ece.intervals.first()?;
        let why = interval.undefined.as_ref()?;
        Some((interval.method, format!("undefined, {why}")))
    });
    let remarks: Vec<(&'static str, String)> = intervals.chain(tests).collect();
    let of_one = distinct(remarks.iter()).into_iter().map(|remark| {
        let held = remarks.iter().filter(|other| *other == remark).count() as u64;
        (remark, held)
    });
    let of_one: Vec<(&(&str, String), u64)> = of_one.collect();
    // Several tests are often undefined for the same reason in the same number of results.
    let different = distinct(of_one.iter().map(|((_, text), held)| (text, *held)));
    for (text, held) in different.iter().take(MOST_REMARKS) {
        let alike = of_one
            .iter()
            .filter(|((_, other), n)| other == *text && n == held);
        let names: Vec<&str> = alike.map(|((name, _), _)| *name).collect();
        let line = format!("{text} ({} of {} results)", count(*held), results.len());
        write_named(&names, &line, "", out)?;
    }
    match different.len().saturating_sub(MOST_REMARKS) {
        0 => Ok(()),
        more => writeln!(out, "{} more remarks: see JSON or CSV.", count(more as u64)),
    }
}

/// How many results are rejected, and how many would be by chance.
fn multiplicity(results: &[Evaluated], alpha: f64) -> String {
    if results
        .iter()
        .flat_map(|r| &r.tests)
        .all(|t| t.reject.is_none())
    {
        return "No test could be computed of any result, for the reasons above.".to_owned();
    }
    let told = test_names(results).into_iter().map(|name| {
        let tests = results.iter().flat_map(|r| &r.tests);
        let decided: Vec<&TestResult> = tests
            .filter(|t| t.name == name && t.reject.is_some())
            .collect();
        let rejected = decided.iter().filter(|t| t.reject == Some(true)).count();
        format!(
            "{name} {} of {} ({})",
            count(rejected as u64),
            count(decided.len() as u64),
            significant(alpha * decided.len() as f64)
        )
    });
    format!(
        "Rejections of calibration at level {}, and in parentheses how many to expect by chance if \
         all were calibrated: {}.",
        significant(alpha),
        told.collect::<Vec<_>>().join(", ")
    )
}

fn test_names(results: &[Evaluated]) -> Vec<&'static str> {
    distinct(results.iter().flat_map(|r| r.tests.iter().map(|t| t.name)))
}

/// What all results share, if they do.
fn shared<'a, T: PartialEq>(
    results: &'a [Evaluated],
    of: impl Fn(&'a Evaluated) -> T,
) -> Option<T> {
    let mut values = distinct(results.iter().map(of));
    (values.len() == 1).then(|| values.remove(0))
}
