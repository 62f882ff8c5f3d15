//! One result in full.

use std::io::{self, Write};

use crate::inference::rounding_of_rank_ece;
use crate::predictions::Reduction;
use crate::results::{Binned, Evaluated, RankEce, SkceEstimates, TestResult};

use super::columns::{Align, Columns};
use super::number::{
    ABSENT, count, counted, of_gaps, of_squared_gaps, optional, p_value, percent, significant,
    with_digits,
};
use super::text::write_wrapped;
use super::text::{LINE, printable};
use super::verdict::verdict;
use super::{
    bars, binning_name, distinct, interval_for_people, interval_method, part_of_source,
    reduction_name, remarks, test_verdict, ties_name, write_named,
};

/// Writes everything about one result.
pub fn write(result: &Evaluated, alpha: f64, out: &mut impl Write) -> io::Result<()> {
    let part = part_of_source(result).map_or(String::new(), |part| format!(": {part}"));
    writeln!(out, "{}{part}", printable(&result.source))?;
    write_sample(result, out)?;
    writeln!(out)?;
    write_rank_ece(&result.rank_ece, result.brier, out)?;
    if !result.binned.is_empty() {
        writeln!(out)?;
        write_binned(result, out)?;
    }
    if let Some(skce) = &result.skce {
        writeln!(out)?;
        write_skce(skce, out)?;
    }
    if !result.tests.is_empty() {
        writeln!(out)?;
        write_tests(&result.tests, out)?;
    }
    let verdict = verdict(result, alpha);
    if !verdict.is_empty() {
        writeln!(out)?;
        write_wrapped("", &verdict, out)?;
    }
    if let Some(binned) = result.binned.first() {
        writeln!(out)?;
        writeln!(out, "Reliability, {}", binning_name(binned))?;
        bars::write(binned, out)?;
    }
    Ok(())
}

/// A name and its value on a line.
fn fact(name: &str, value: &str, out: &mut impl Write) -> io::Result<()> {
    write_wrapped(&format!("  {name:<18} "), value, out)
}

fn write_sample(result: &Evaluated, out: &mut impl Write) -> io::Result<()> {
    let mut rows = format!(
        "{} ({}), {}, {}",
        count(result.n),
        result.dtype,
        counted(result.distinct, "distinct confidence"),
        counted(result.tied_rows, "tied row"),
    );
    if result.skipped > 0 {
        rows.push_str(&format!(", {}", counted(result.skipped, "skipped row")));
    }
    fact("rows", &rows, out)?;
    if result.reduction != Reduction::Binary {
        fact("reduction", reduction_name(result.reduction), out)?;
    }
    fact("base rate", &optional(result.base_rate), out)?;
    fact("mean confidence", &optional(result.mean_confidence), out)?;
    fact("Brier score", &optional(result.brier), out)?;
    let clamped = match result.log_loss_clamped {
        0 => String::new(),
        rows => format!(" ({} clamped at 1e-15)", counted(rows, "row")),
    };
    let log_loss = optional(result.log_loss);
    fact("log loss", &format!("{log_loss}{clamped}"), out)?;
    if result.impossible_labels > 0 {
        let rows = format!(
            "{}: label 1 at confidence 0, or 0 at 1, which perfect calibration rules out",
            counted(result.impossible_labels, "row")
        );
        fact("impossible labels", &rows, out)?;
    }
    Ok(())
}

fn write_rank_ece(rank_ece: &RankEce, brier: Option<f64>, out: &mut impl Write) -> io::Result<()> {
    let ties = ties_name(rank_ece.ties);
    let estimate = optional(rank_ece.estimate);
    fact("rank_ece", &format!("{estimate}, ties {ties}"), out)?;
    for interval in &rank_ece.intervals {
        let ends = interval_for_people(interval);
        let value = format!("{ends}, {}", interval_method(interval));
        fact(
            &format!("  {} interval", percent(interval.level)),
            &value,
            out,
        )?;
    }
    if let Some(estimate) = rank_ece.estimate {
        let rounding = brier.map_or(0.0, rounding_of_rank_ece);
        let size = if estimate > 0.0 && estimate <= rounding {
            // The root of what rounding makes would be some 1e-5.
            format!(
                "0, as an estimate up to {} may be rounding alone",
                with_digits(rounding, 2)
            )
        } else if estimate > 0.0 {
            format!(
                "{} = sqrt(rank_ece), the size of miscalibration in units of probability",
                significant(estimate.sqrt())
            )
        } else {
            "0, as the estimate is not positive".to_owned()
        };
        fact("  root mean square", &size, out)?;
    }
    if let Some(bound) = rank_ece.decision_risk_bound {
        fact("decision risk", &decision_risk(bound, rank_ece), out)?;
    }
    Ok(())
}

/// The bounds on the excess risk, and whether they say anything.
fn decision_risk(bound: f64, rank_ece: &RankEce) -> String {
    let first = rank_ece.intervals.first();
    let upper = match (rank_ece.decision_risk_bound_upper, first) {
        (Some(upper), _) => format!(" ({} from the interval's upper end)", significant(upper)),
        (None, Some(first)) => format!(
            " (none from an upper end, as the first interval, {}, is undefined)",
            first.method
        ),
        (None, None) => String::new(),
    };
    let vacuous = match rank_ece.decision_risk_bound_upper {
        _ if bound >= 1.0 => "; losses are in [0, 1], so a bound of 1 or more says nothing",
        Some(upper) if upper >= 1.0 => {
            "; losses are in [0, 1], so the one from the upper end says nothing"
        }
        _ => "",
    };
    let bound = significant(bound);
    format!(
        "decisions taken at these probabilities have at most {bound} more risk than after the best \
         monotone transformation of them{upper}{vacuous}"
    )
}

fn write_binned(result: &Evaluated, out: &mut impl Write) -> io::Result<()> {
    let binned = &result.binned;
    let mut columns = Columns::default();
    let names = binned
        .iter()
        .map(|b| binning_name(b).replacen(" bins", "", 1));
    columns.push(
        Align::Left,
        "  bins",
        names.map(|name| format!("  {name}")).collect(),
    );
    let mut push = |header: &str, cell: &dyn Fn(&Binned) -> String| {
        columns.push(Align::Point, header, binned.iter().map(cell).collect());
    };
    push("ece_l1", &|b| of_gaps(b.ece_l1));
    push("ece_rms", &|b| of_gaps(b.ece_rms));
    push("mce", &|b| of_gaps(b.mce));
    push("ece_l2", &|b| of_squared_gaps(b.ece_l2));
    push("ece_l2_debiased", &|b| optional(b.ece_l2_debiased));
    columns.write(out, 0, LINE)?;
    for binned in binned.iter().filter(|binned| !binned.intervals.is_empty()) {
        write_binned_intervals(binned, out)?;
    }
    if binned.iter().any(|binned| !binned.intervals.is_empty()) {
        let caution = "Resampling adds to an estimate the bias that it has already: where an interval \
                       lies above its estimate, there are too many bins for these rows.";
        write_wrapped("  ", caution, out)?;
    }
    let units = "ece_l1, ece_rms and mce are in units of probability; ece_l2 is a square, as \
                 rank_ece is.";
    write_wrapped("  ", units, out)
}

/// The intervals of the estimates of one binning, in a line for each.
fn write_binned_intervals(binned: &Binned, out: &mut impl Write) -> io::Result<()> {
    for (index, of_estimator) in binned.intervals.iter().enumerate() {
        let interval = &of_estimator.interval;
        if index == 0 {
            let level = percent(interval.level);
            let method = interval_method(interval);
            let name = binning_name(binned);
            let header = format!("{level} intervals, {method}, {name}");
            write_wrapped("  ", &header, out)?;
        }
        let name = format!("    {:<16} ", of_estimator.estimator);
        write_wrapped(&name, &interval_for_people(interval), out)?;
    }
    Ok(())
}

fn write_skce(skce: &SkceEstimates, out: &mut impl Write) -> io::Result<()> {
    let null = skce.null.map_or(String::new(), |null| {
        format!(", skce-u against {} resamples", null.as_str())
    });
    let bandwidth = match (skce.bandwidth, skce.bandwidth_rule.as_str()) {
        (Some(bandwidth), "median") => {
            format!("bandwidth {}, the median distance", significant(bandwidth))
        }
        (Some(bandwidth), _) => format!("bandwidth {}", significant(bandwidth)),
        (None, _) => "no bandwidth".to_owned(),
    };
    fact(
        "SKCE",
        &format!("{} kernel, {bandwidth}{null}", skce.kernel.as_str()),
        out,
    )?;
    if let Some(why) = &skce.undefined {
        return fact("  undefined", why, out);
    }
    for (name, value) in [
        ("unbiased", skce.unbiased),
        ("biased", skce.biased),
        ("linear", skce.linear),
    ] {
        if let Some(value) = value {
            fact(&format!("  {name}"), &significant(value), out)?;
        }
        for own in skce.intervals.iter().filter(|own| own.estimator == name) {
            let interval = &own.interval;
            let ends = interval_for_people(interval);
            let level = percent(interval.level);
            let value = format!("{ends}, {}", interval_method(interval));
            fact(&format!("    {level} interval"), &value, out)?;
        }
    }
    Ok(())
}

fn write_tests(tests: &[TestResult], out: &mut impl Write) -> io::Result<()> {
    let mut columns = Columns::default();
    let mut push = |align, header: &str, cell: &dyn Fn(&TestResult) -> String| {
        columns.push(align, header, tests.iter().map(cell).collect());
    };
    push(Align::Left, "  test", &|t| format!("  {}", t.name));
    push(Align::Point, "statistic", &|t| optional(t.statistic));
    push(Align::Point, "threshold", &|t| optional(t.threshold));
    push(Align::Point, "p", &|t| {
        t.p_value.map_or(ABSENT.to_owned(), p_value)
    });
    if tests.iter().any(|t| t.p_value_asymptotic.is_some()) {
        push(Align::Point, "p asymptotic", &|t| {
            t.p_value_asymptotic.map_or(ABSENT.to_owned(), p_value)
        });
    }
    if tests.iter().any(|t| t.resamples.is_some()) {
        push(Align::Right, "resamples", &|t| {
            t.resamples.map_or(ABSENT.to_owned(), count)
        });
    }
    push(Align::Left, "calibration is", &|t| {
        test_verdict(t).to_owned()
    });
    columns.write(out, 0, LINE)?;
    let remarks: Vec<(&str, String)> = tests.iter().flat_map(remarks).collect();
    for text in distinct(remarks.iter().map(|(_, text)| text)) {
        // Tests are often undefined for one and the same reason.
        let of_text = remarks.iter().filter(|(_, other)| other == text);
        let names: Vec<&str> = of_text.map(|(name, _)| *name).collect();
        write_named(&names, text, "  ", out)?;
    }
    Ok(())
}
