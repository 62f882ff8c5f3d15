//! A page with a picture and its numbers, which refers to nothing outside itself.

use crate::results::{Binned, Evaluated, Evaluation};

use super::super::number::{
    ABSENT, count, gap, of_gaps, of_squared_gaps, optional, p_value, percent, significant,
};
use super::super::text::printable;
use super::super::{
    binning_name, interval_for_people, part_of_source, provenance, reduction_name, test_verdict,
    ties_name,
};
use super::font::push_escaped;

pub(super) const STYLE: &str = "\
body{font:15px/1.5 'DejaVu Sans',Verdana,sans-serif;color:#222;background:#fff;max-width:60em;\
margin:2em auto;padding:0 1em}\
figure{margin:0}svg{max-width:100%;height:auto}\
h2{font-size:1.1em;margin:2em 0 .5em;overflow-wrap:anywhere}\
table{border-collapse:collapse;margin:.75em 0;font-size:.87em;font-variant-numeric:tabular-nums}\
caption{text-align:left;color:#666;padding:.25em 0}\
th,td{padding:.15em .8em;text-align:right;border-bottom:1px solid #e3e3e3}\
th:first-child,td:first-child{text-align:left;padding-left:0}\
footer{color:#666;font-size:.87em;margin-top:2em;overflow-wrap:anywhere}";

/// The page: the picture (the SVG of [`super::svg`]) and beneath it the numbers of every result.
pub fn html(evaluation: &Evaluation, svg: &str) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
    page.push_str("<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<title>Reliability diagram</title>\n<style>");
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n<figure>\n");
    page.push_str(svg);
    page.push_str("</figure>\n");
    for result in &evaluation.results {
        push_result(&mut page, result);
    }
    page.push_str("<footer>");
    push_escaped(&mut page, &provenance(evaluation));
    page.push_str("</footer>\n</body>\n</html>\n");
    page
}

fn push_result(page: &mut String, result: &Evaluated) {
    page.push_str("<h2>");
    push_escaped(page, &printable(&result.source));
    if let Some(part) = part_of_source(result) {
        push_escaped(page, &format!(": {part}"));
    }
    page.push_str("</h2>\n");
    let rank_ece = &result.rank_ece;
    let mut facts = vec![
        ("rows", format!("{} ({})", count(result.n), result.dtype)),
        ("rows skipped", count(result.skipped)),
        ("distinct confidences", count(result.distinct)),
        ("tied rows", count(result.tied_rows)),
        ("reduction", reduction_name(result.reduction).to_owned()),
        ("base rate", optional(result.base_rate)),
        ("mean confidence", optional(result.mean_confidence)),
        ("Brier score", optional(result.brier)),
        ("log loss", optional(result.log_loss)),
        (
            "rows clamped in the log loss",
            count(result.log_loss_clamped),
        ),
        (
            "labels impossible under calibration",
            count(result.impossible_labels),
        ),
        ("rank_ece", optional(rank_ece.estimate)),
        ("ties", ties_name(rank_ece.ties).to_owned()),
    ];
    let names: Vec<String> = rank_ece
        .intervals
        .iter()
        .map(|interval| format!("{} {} interval", percent(interval.level), interval.method))
        .collect();
    for (name, interval) in names.iter().zip(&rank_ece.intervals) {
        facts.push((name, interval_for_people(interval)));
    }
    let bound = |bound: Option<f64>| match bound {
        // Losses are in [0, 1].
        Some(value) if value >= 1.0 => format!("{} (from 1 on it says nothing)", optional(bound)),
        _ => optional(bound),
    };
    facts.push(("decision risk at most", bound(rank_ece.decision_risk_bound)));
    facts.push((
        "decision risk at most, from the upper end",
        bound(rank_ece.decision_risk_bound_upper),
    ));
    let rows = facts
        .into_iter()
        .map(|(name, value)| vec![name.to_owned(), value]);
    push_table(page, "The sample and its rankECE", &["", "value"], rows);

    let header = [
        "test",
        "statistic",
        "threshold",
        "p",
        "calibration is",
        "remarks",
    ];
    let rows = result.tests.iter().map(|test| {
        let remarks = test.undefined.iter().chain(&test.note);
        vec![
            test.name.to_owned(),
            optional(test.statistic),
            optional(test.threshold),
            test.p_value.map_or(ABSENT.to_owned(), p_value),
            test_verdict(test).to_owned(),
            remarks
                .map(|text| printable(text))
                .collect::<Vec<_>>()
                .join("; "),
        ]
    });
    if !result.tests.is_empty() {
        push_table(page, "Tests of calibration", &header, rows);
    }
    for binned in &result.binned {
        push_binned(page, binned);
    }
}

fn push_binned(page: &mut String, binned: &Binned) {
    let name = binning_name(binned);
    let header = ["", "ece_l1", "ece_rms", "mce", "ece_l2", "ece_l2_debiased"];
    let row = vec![
        "estimate".to_owned(),
        of_gaps(binned.ece_l1),
        of_gaps(binned.ece_rms),
        of_gaps(binned.mce),
        of_squared_gaps(binned.ece_l2),
        optional(binned.ece_l2_debiased),
    ];
    push_table(page, &name, &header, [row]);
    let header = ["from", "to", "rows", "mean confidence", "mean label", "gap"];
    let rows = binned.table.iter().map(|bin| {
        vec![
            significant(bin.lower),
            significant(bin.upper),
            count(bin.n),
            optional(bin.mean_confidence),
            optional(bin.mean_label),
            gap(bin.gap, 6),
        ]
    });
    push_table(page, &format!("Bins: {name}"), &header, rows);
}

pub(super) fn push_table(
    page: &mut String,
    caption: &str,
    header: &[&str],
    rows: impl IntoIterator<Item = Vec<String>>,
) {
    page.push_str("<table>\n<caption>");
    push_escaped(page, caption);
    page.push_str("</caption>\n<thead><tr>");
    for cell in header {
        page.push_str("<th>");
        push_escaped(page, cell);
        page.push_str("</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            page.push_str("<td>");
            push_escaped(page, &cell);
            page.push_str("</td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table>\n");
}
