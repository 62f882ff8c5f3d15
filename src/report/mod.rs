//! What is shown of an [`Evaluation`]: tables for people, JSON and CSV for scripts, pictures.

use std::io::{self, Write};

use crate::backend::{Closed, Scheme, Ties};
use crate::predictions::Reduction;
use crate::results::{Binned, Evaluated, Evaluation, Interval, TestResult, Verdict};

pub mod csv;
pub mod json;
pub mod plot;
pub mod simulated;
pub mod table;

mod bars;
mod columns;
mod number;
mod several;
mod single;
mod text;
mod verdict;

/// How results are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Aligned lines for people.
    #[default]
    Table,
    /// One JSON document for scripts, nothing rounded.
    Json,
    /// One line per result, nothing rounded.
    Csv,
}

/// Writes an evaluation.
///
/// # Errors
/// If writing fails.
pub fn write(format: Format, evaluation: &Evaluation, out: &mut dyn Write) -> io::Result<()> {
    let mut out = out;
    match format {
        Format::Table => table::write(evaluation, &mut out),
        Format::Json => json::write(evaluation, &mut out),
        Format::Csv => csv::write(evaluation, &mut out),
    }
}

/// Group and class of a result, as `season = 2019, class 3 against the rest`; nothing for a whole
/// file.
fn part_of_source(result: &Evaluated) -> Option<String> {
    let groups = result.group.iter().flatten();
    let mut parts: Vec<String> = groups
        .map(|(column, value)| format!("{} = {}", text::printable(column), text::printable(value)))
        .collect();
    parts.extend(result.class.map(|class| format!("class {class}")));
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Each item once, in the order of first appearance.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}

/// A reduction as it is written in `--reduce`.
fn reduction_name(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Binary => "binary",
        Reduction::TopLabel => "top-label",
        Reduction::ClassWise => "class-wise",
    }
}

/// A verdict as it is written in JSON.
fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Within => "within",
        Verdict::Undecided => "undecided",
        Verdict::Exceeds => "exceeds",
    }
}

/// A treatment of ties as it is written in `--ties`.
fn ties_name(ties: Ties) -> &'static str {
    match ties {
        Ties::Average => "average",
        Ties::Random => "random",
        Ties::Stable => "stable",
    }
}

/// `[lower, upper]`, or why there is none.
fn interval_for_people(interval: &Interval) -> String {
    match (interval.lower, interval.upper) {
        (Some(lower), Some(upper)) => {
            format!(
                "[{}, {}]",
                number::significant(lower),
                number::significant(upper)
            )
        }
        _ => match &interval.undefined {
            Some(why) => format!("undefined ({})", text::printable(why)),
            None => "undefined".to_owned(),
        },
    }
}

/// How an interval was made: `neighbour`, `subsample (999 of 150 rows)`.
fn interval_method(interval: &Interval) -> String {
    let method = interval.method;
    match (interval.resamples, interval.subsample_rows) {
        (Some(resamples), Some(rows)) => format!(
            "{method} ({} of {})",
            number::count(resamples),
            number::counted(u64::from(rows), "row")
        ),
        (Some(resamples), None) => {
            format!("{method} ({})", number::counted(resamples, "resample"))
        }
        (None, _) => method.to_owned(),
    }
}

/// What a test says of calibration.
fn test_verdict(test: &TestResult) -> &'static str {
    match test.reject {
        Some(true) => "rejected",
        Some(false) => "not rejected",
        None => "undefined",
    }
}

/// The reason of an undefined test and the note of a test, each with the test's name.
fn remarks(test: &TestResult) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let why = test.undefined.iter().map(|why| format!("undefined, {why}"));
    let remarks: Vec<String> = why.chain(test.note.clone()).collect();
    let name = test.name;
    remarks.into_iter().map(move |text| (name, text))
}

/// What holds for some tests or intervals: their names, then the text below or beside them.
fn write_named(names: &[&str], text: &str, indent: &str, out: &mut impl Write) -> io::Result<()> {
    let text = text::printable(text);
    match names {
        [name] => text::write_wrapped(&format!("{indent}{name}: "), &text, out),
        names => {
            let line = format!("{}: {text}", names.join(", "));
            text::write_wrapped(indent, &line, out)
        }
    }
}

/// A binning in words: `10 equal-width bins, right-closed`, `sqrt = 31 equal-mass bins (30 with
/// rows)`.
fn binning_name(binned: &Binned) -> String {
    let bins = number::counted(binned.bins.into(), "bin");
    let (number, noun) = bins.split_once(' ').unwrap_or((&bins, ""));
    let rule = if binned.rule == binned.bins.to_string() {
        String::new()
    } else {
        format!("{} = ", text::printable(&binned.rule))
    };
    let (scheme, closed) = scheme_name(binned);
    let effective = if binned.effective_bins == u64::from(binned.bins) {
        String::new()
    } else {
        format!(", {} with rows", number::count(binned.effective_bins))
    };
    format!("{rule}{number} {scheme} {noun}{closed}{effective}")
}

/// What binnings of several results have in common: rule, scheme and closed side. Their numbers of bins,
/// and of bins with rows, may differ.
fn binning_rule_name(binned: &Binned) -> String {
    let (scheme, closed) = scheme_name(binned);
    let noun = if binned.rule == "1" { "bin" } else { "bins" };
    format!("{} {scheme} {noun}{closed}", text::printable(&binned.rule))
}

/// Scheme and closed side of a binning.
fn scheme_name(binned: &Binned) -> (&'static str, &'static str) {
    let scheme = match binned.scheme {
        Scheme::EqualWidth => "equal-width",
        Scheme::EqualMass => "equal-mass",
    };
    let closed = match binned.closed {
        Some(Closed::Right) => ", right-closed",
        Some(Closed::Left) => ", left-closed",
        None => "",
    };
    (scheme, closed)
}

/// The lines that say what computed an evaluation, and from which seed and level.
fn provenance(evaluation: &Evaluation) -> String {
    let adapter = match &evaluation.adapter {
        Some(adapter) => format!(
            " ({}, {}, driver {})",
            text::printable(&adapter.name),
            adapter.kind,
            text::printable(&adapter.driver)
        ),
        None => String::new(),
    };
    format!(
        "rankece {}, backend {}{adapter}, seed {}, alpha {}",
        evaluation.version,
        evaluation.backend,
        evaluation.seed,
        number::significant(evaluation.alpha)
    )
}
