//! CSV for scripts: one line per result, nothing rounded.
//!
//! The first line is a comment that names what computed (`# backend cpu`), so that everything after
//! it is the same on every backend: read it with `pandas.read_csv(file, comment="#")`, or with
//! `skiprows=1` if a name of a file or group has a `#` in it. What is
//! undefined is an empty field, with the reason in a field of its own.
//!
//! Columns: `source`; one for each group column (with `group_` before a name that is taken); the
//! numbers of a result under their JSON names; for each interval `neighbour_lower`, `…_upper`,
//! `…_level`, `…_resamples`, `…_undefined`, and `subsample_rows`; for each test
//! `asymptotic_statistic`, `…_threshold`, `…_p_value`, `…_p_value_asymptotic`, `…_reject`,
//! `…_resamples`, `…_undefined`, `…_note`; for each binning `ece_l1_equal_width_right_10` and so on,
//! and for its intervals `ece_l1_bootstrap_lower_equal_width_right_10` and so on; then, if asked for,
//! `skce_kernel`, `skce_bandwidth_rule`, `skce_bandwidth`, `skce_unbiased`, `skce_biased`,
//! `skce_linear`, `skce_null`, `skce_undefined`, and of its interval `skce_unbiased_bootstrap_lower` and
//! so on; then `gate_limit`, `version`, `seed`, `alpha`. Signs other than letters and digits become `_` in
//! these names (`finite_sample_p_value`), never in those of group columns. The bins themselves are
//! in JSON only.

use std::collections::HashSet;
use std::io::{self, Write};

use crate::backend::{Closed, Scheme};
use crate::inference::intervals::IntervalName;
use crate::results::{Binned, Evaluated, Evaluation, Interval, SkceEstimates, TestResult};

use super::{distinct, reduction_name, ties_name, verdict_name};

/// Writes the comment, the header and one line per result.
///
/// # Errors
/// If writing fails.
pub fn write(evaluation: &Evaluation, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", backend_comment(evaluation))?;
    let columns = columns(evaluation);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns.iter().map(|column| &column.name))?;
    for result in &evaluation.results {
        writer.write_record(columns.iter().map(|column| (column.field)(result)))?;
    }
    writer.flush()
}

/// `# backend gpu adapter "…" driver "…"`, quotes and control characters escaped.
fn backend_comment(evaluation: &Evaluation) -> String {
    let adapter = evaluation.adapter.as_ref().map_or_else(String::new, |a| {
        format!(" adapter {:?} driver {:?}", a.name, a.driver)
    });
    format!("# backend {}{adapter}", evaluation.backend)
}

/// A column: its name, and its field of a result.
struct Column<'a> {
    name: String,
    field: Box<dyn Fn(&Evaluated) -> String + 'a>,
}

impl<'a> Column<'a> {
    fn new(name: &str, field: impl Fn(&Evaluated) -> String + 'a) -> Self {
        Column {
            name: name.to_owned(),
            field: Box::new(field),
        }
    }
}

fn columns(evaluation: &Evaluation) -> Vec<Column<'_>> {
    let results = &evaluation.results;
    let mut columns = sample_columns();
    columns.extend(interval_columns(results));
    columns.extend(test_columns(results));
    columns.extend(binning_columns(results));
    if results.iter().any(|r| r.skce.is_some()) {
        columns.extend(skce_columns());
        columns.extend(skce_interval_columns(results));
    }
    let limit = evaluation.gate.map(|gate| gate.limit);
    columns.push(Column::new("gate_limit", move |_| number(limit)));
    columns.push(Column::new("version", |_| evaluation.version.clone()));
    columns.push(Column::new("seed", |_| evaluation.seed.to_string()));
    columns.push(Column::new("alpha", |_| number(Some(evaluation.alpha))));
    // Group columns can have any name; where it is taken, they give way. They follow the source.
    let mut taken: HashSet<String> = columns.iter().map(|column| column.name.clone()).collect();
    let groups = distinct(
        results
            .iter()
            .flat_map(|r| r.group.iter().flat_map(|g| g.keys().cloned())),
    );
    let groups = groups.into_iter().map(|column| {
        let mut name = column.clone();
        while !taken.insert(name.clone()) {
            name.insert_str(0, "group_");
        }
        Column::new(&name, move |r| {
            let value = r.group.as_ref().and_then(|group| group.get(&column));
            value.cloned().unwrap_or_default()
        })
    });
    columns.splice(1..1, groups.collect::<Vec<_>>());
    columns
}

/// What every result has.
fn sample_columns() -> Vec<Column<'static>> {
    vec![
        Column::new("source", |r| r.source.clone()),
        Column::new("reduction", |r| reduction_name(r.reduction).to_owned()),
        Column::new("class", |r| optional(r.class)),
        Column::new("dtype", |r| r.dtype.to_string()),
        Column::new("n", |r| r.n.to_string()),
        Column::new("skipped", |r| r.skipped.to_string()),
        Column::new("distinct", |r| r.distinct.to_string()),
        Column::new("tied_rows", |r| r.tied_rows.to_string()),
        Column::new("base_rate", |r| number(r.base_rate)),
        Column::new("mean_confidence", |r| number(r.mean_confidence)),
        Column::new("brier", |r| number(r.brier)),
        Column::new("log_loss", |r| number(r.log_loss)),
        Column::new("log_loss_clamped", |r| r.log_loss_clamped.to_string()),
        Column::new("impossible_labels", |r| r.impossible_labels.to_string()),
        Column::new("gate", |r| r.gate.map_or("", verdict_name).to_owned()),
        Column::new("rank_ece", |r| number(r.rank_ece.estimate)),
        Column::new("ties", |r| ties_name(r.rank_ece.ties).to_owned()),
        Column::new("decision_risk_bound", |r| {
            number(r.rank_ece.decision_risk_bound)
        }),
        Column::new("decision_risk_bound_upper", |r| {
            number(r.rank_ece.decision_risk_bound_upper)
        }),
    ]
}

/// Six columns for each method of interval around rankECE.
fn interval_columns(results: &[Evaluated]) -> Vec<Column<'static>> {
    let methods = distinct(
        results
            .iter()
            .flat_map(|r| r.rank_ece.intervals.iter().map(|i| i.method)),
    );
    let mut columns = Vec::new();
    for method in methods {
        let of = move |r: &Evaluated| -> Option<Interval> {
            let mut intervals = r.rank_ece.intervals.iter();
            intervals.find(|i| i.method == method).cloned()
        };
        columns.extend(columns_of_interval(&identifier(method), "", of));
        // Only one method has subsamples.
        if method == IntervalName::Subsample.as_str() {
            columns.push(Column::new("subsample_rows", move |r| {
                optional(of(r).and_then(|i| i.subsample_rows))
            }));
        }
    }
    columns
}

/// What is told of an interval.
type IntervalField = (&'static str, fn(&Interval) -> String);
const INTERVAL_FIELDS: [IntervalField; 5] = [
    ("lower", |i| number(i.lower)),
    ("upper", |i| number(i.upper)),
    ("level", |i| number(Some(i.level))),
    ("resamples", |i| optional(i.resamples)),
    ("undefined", |i| optional(i.undefined.as_ref())),
];

/// A column for each, between `prefix` and `suffix`.
fn columns_of_interval(
    prefix: &str,
    suffix: &str,
    of: impl Fn(&Evaluated) -> Option<Interval> + Clone + 'static,
) -> Vec<Column<'static>> {
    INTERVAL_FIELDS
        .iter()
        .map(|&(what, field)| {
            let of = of.clone();
            Column::new(&format!("{prefix}_{what}{suffix}"), move |r| {
                of(r).as_ref().map(field).unwrap_or_default()
            })
        })
        .collect()
}

/// Eight columns for each test.
fn test_columns(results: &[Evaluated]) -> Vec<Column<'static>> {
    let names = distinct(results.iter().flat_map(|r| r.tests.iter().map(|t| t.name)));
    let mut columns = Vec::new();
    for name in names {
        let mut push = |what: &str, field: fn(&TestResult) -> String| {
            let column = format!("{}_{what}", identifier(name));
            columns.push(Column::new(&column, move |r| {
                let found = r.tests.iter().find(|t| t.name == name);
                found.map(field).unwrap_or_default()
            }));
        };
        push("statistic", |t| number(t.statistic));
        push("threshold", |t| number(t.threshold));
        push("p_value", |t| number(t.p_value));
        push("p_value_asymptotic", |t| number(t.p_value_asymptotic));
        push("reject", |t| optional(t.reject));
        push("resamples", |t| optional(t.resamples));
        push("undefined", |t| optional(t.undefined.as_ref()));
        push("note", |t| optional(t.note.as_ref()));
    }
    columns
}

/// What SKCE has, if it was asked for.
fn skce_columns() -> Vec<Column<'static>> {
    let column = |name: &str, field: fn(&SkceEstimates) -> String| {
        Column::new(name, move |r| {
            r.skce.as_ref().map(field).unwrap_or_default()
        })
    };
    vec![
        column("skce_kernel", |s| s.kernel.as_str().to_owned()),
        column("skce_bandwidth_rule", |s| s.bandwidth_rule.clone()),
        column("skce_bandwidth", |s| number(s.bandwidth)),
        column("skce_unbiased", |s| number(s.unbiased)),
        column("skce_biased", |s| number(s.biased)),
        column("skce_linear", |s| number(s.linear)),
        column("skce_null", |s| {
            s.null.map_or("", |null| null.as_str()).to_owned()
        }),
        column("skce_undefined", |s| optional(s.undefined.as_ref())),
    ]
}

/// Five columns for each interval of SKCE.
fn skce_interval_columns(results: &[Evaluated]) -> Vec<Column<'static>> {
    let skce = results.iter().filter_map(|r| r.skce.as_ref());
    let all = skce.flat_map(|s| s.intervals.iter().map(|i| (i.estimator, i.interval.method)));
    let columns = distinct(all).into_iter().flat_map(|(estimator, method)| {
        let of = move |r: &Evaluated| {
            let mut intervals = r.skce.as_ref()?.intervals.iter();
            let found =
                intervals.find(|i| i.estimator == estimator && i.interval.method == method)?;
            Some(found.interval.clone())
        };
        columns_of_interval(&format!("skce_{estimator}_{}", identifier(method)), "", of)
    });
    columns.collect()
}

/// Seven columns for each binning, and five for the interval of each estimate.
fn binning_columns(results: &[Evaluated]) -> Vec<Column<'static>> {
    let key = |b: &Binned| (b.scheme, b.closed, b.rule.clone());
    let mut columns = Vec::new();
    for wanted in distinct(results.iter().flat_map(|r| r.binned.iter().map(key))) {
        let suffix = binning_suffix(wanted.0, wanted.1, &wanted.2);
        let find = move |r: &Evaluated| r.binned.iter().position(|b| key(b) == wanted);
        let mut push = |what: &str, field: fn(&Binned) -> String| {
            let find = find.clone();
            columns.push(Column::new(&format!("{what}{suffix}"), move |r| {
                find(r).map(|at| field(&r.binned[at])).unwrap_or_default()
            }));
        };
        push("bins", |b| b.bins.to_string());
        push("effective_bins", |b| b.effective_bins.to_string());
        push("ece_l1", |b| number(b.ece_l1));
        push("ece_l2", |b| number(b.ece_l2));
        push("ece_rms", |b| number(b.ece_rms));
        push("ece_l2_debiased", |b| number(b.ece_l2_debiased));
        push("mce", |b| number(b.mce));
        let intervals = results
            .iter()
            .filter_map(|r| Some(&r.binned[find(r)?].intervals));
        for (estimator, method) in distinct(
            intervals
                .flatten()
                .map(|i| (i.estimator, i.interval.method)),
        ) {
            let find = find.clone();
            let of = move |r: &Evaluated| {
                let mut intervals = r.binned[find(r)?].intervals.iter();
                let found =
                    intervals.find(|i| i.estimator == estimator && i.interval.method == method)?;
                Some(found.interval.clone())
            };
            let prefix = format!("{estimator}_{}", identifier(method));
            columns.extend(columns_of_interval(&prefix, &suffix, of));
        }
    }
    columns
}

/// `_equal_width_right_10`, `_equal_mass_n_20`.
fn binning_suffix(scheme: Scheme, closed: Option<Closed>, rule: &str) -> String {
    let scheme = match scheme {
        Scheme::EqualWidth => "_equal_width",
        Scheme::EqualMass => "_equal_mass",
    };
    let closed = match closed {
        Some(Closed::Right) => "_right",
        Some(Closed::Left) => "_left",
        None => "",
    };
    format!("{scheme}{closed}_{}", identifier(rule))
}

/// A name that data frames take as an attribute.
fn identifier(name: &str) -> String {
    name.replace(|c: char| !c.is_alphanumeric(), "_")
}

/// Empty for nothing.
fn optional<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// The shortest digits that read back to the same `f64`. Empty for nothing, and for a NaN or an
/// infinity, should one turn up.
fn number(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("{value:?}"),
        _ => String::new(),
    }
}
