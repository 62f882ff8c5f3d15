//! One picture of several results: small diagrams on the same axes.

use crate::results::{Binned, Evaluated, Evaluation};

use super::super::number::{count, counted, with_digits};
use super::super::text::printable;
use super::super::{
    binning_rule_name, distinct, part_of_source, provenance, reduction_name, ties_name,
};
use super::PlotError;
use super::canvas::{self, Anchor};
use super::panel::{Counts, FAINT, Panel, TEXT};
use super::words::{Caption, LINE, Legend, SMALL, fitted};

/// The most diagrams in one picture.
pub const MOST_PANELS: usize = 12;

const MARGIN: f64 = 16.0;
/// Size of the names of panels.
const NAME_SIZE: f64 = 10.5;
/// Room left of a panel's axes, for its numbers.
const NUMBERS: f64 = 32.0;
const SIDE: f64 = 168.0;
/// Room between columns.
const GUTTER: f64 = 16.0;
/// Room above a panel's axes, for its two lines of title.
const TITLES: f64 = 38.0;
/// Room below a panel's histogram, for its numbers.
const BELOW: f64 = 34.0;
/// Room for the name of the vertical axis.
const AXIS: f64 = 18.0;

/// Reliability diagrams of the first twelve results as SVG, with the binning of each.
///
/// # Errors
/// If a result has no binning, or the drawing library reports a fault.
pub fn grid_svg(evaluation: &Evaluation) -> Result<String, PlotError> {
    let results = &evaluation.results;
    let shown: Vec<(&Evaluated, &Binned)> = results
        .iter()
        .take(MOST_PANELS)
        .map(|result| Ok((result, result.binned.first().ok_or(PlotError::NoBinning)?)))
        .collect::<Result<_, PlotError>>()?;
    let columns = columns(shown.len());
    let rows = shown.len().div_ceil(columns);
    let cell = NUMBERS + SIDE + GUTTER;
    let width = (2.0 * MARGIN + AXIS + columns as f64 * cell).max(460.0);
    let inner = width - 2.0 * MARGIN;
    let sources = distinct(results.iter().map(|r| r.source.as_str()));
    let title = match sources.as_slice() {
        [source] => printable(source).into_owned(),
        _ => format!(
            "{} of {}",
            counted(results.len() as u64, "result"),
            counted(sources.len() as u64, "file")
        ),
    };
    let legend = Legend::new(evaluation.alpha, inner);
    let legend_top = MARGIN + 14.0 + 10.0;
    let first = Panel {
        binned: shown.first().ok_or(PlotError::NoResults)?.1,
        alpha: evaluation.alpha,
        left: 0.0,
        top: 0.0,
        side: SIDE,
        bars: 30.0,
        tick_size: 9.0,
        ticks: 2,
        counts: Counts::Omitted,
    };
    let pitch = TITLES + first.height() + BELOW;
    let panels_top = legend_top + legend.height() + 4.0;
    let axis_baseline = panels_top + rows as f64 * pitch + 2.0;
    let caption_top = axis_baseline + 14.0;
    let paragraphs = paragraphs(evaluation, &shown, &sources);
    let caption = Caption::new(paragraphs.iter().map(String::as_str), inner);
    let height = (caption_top + caption.height() + MARGIN - (LINE - SMALL)).ceil();
    let name = format!("Reliability diagrams of {title}");
    canvas::draw((width, height), &name, |canvas| {
        let text = fitted(&title, 14.0, inner);
        canvas.text(&text, (MARGIN, MARGIN + 14.0), Anchor::Start, 14.0, TEXT)?;
        legend.draw(canvas, MARGIN, legend_top)?;
        for (place, (result, binned)) in shown.iter().enumerate() {
            let left = MARGIN + AXIS + (place % columns) as f64 * cell + NUMBERS;
            let top = panels_top + (place / columns) as f64 * pitch + TITLES;
            let name = panel_name(result, sources.len());
            canvas.text(&name, (left, top - 21.0), Anchor::Start, NAME_SIZE, TEXT)?;
            let estimate = result.rank_ece.estimate;
            let estimate = estimate.map_or("undefined".to_owned(), |e| with_digits(e, 4));
            let numbers = format!("n {}, rank_ece {estimate}", count(result.n));
            let numbers = fitted(&numbers, 9.0, SIDE + GUTTER + NUMBERS - 8.0);
            canvas.text(&numbers, (left, top - 8.0), Anchor::Start, 9.0, FAINT)?;
            let panel = Panel {
                left,
                top,
                binned,
                ..first
            };
            panel.draw(canvas)?;
        }
        let middle = width / 2.0;
        canvas.text(
            "confidence",
            (middle, axis_baseline),
            Anchor::Middle,
            12.0,
            TEXT,
        )?;
        let side = (MARGIN + 11.0, f64::midpoint(panels_top, axis_baseline));
        canvas.text_upwards("mean label, rows", side, Anchor::Middle, 12.0, TEXT)?;
        caption.draw(canvas, MARGIN, caption_top)
    })
}

/// Columns of a grid that leave few places empty.
fn columns(panels: usize) -> usize {
    match panels {
        0..=4 => panels.max(1),
        5 | 6 | 9 => 3,
        _ => 4,
    }
}

/// What tells a panel from the others, in the width of a panel.
fn panel_name(result: &Evaluated, sources: usize) -> String {
    let source = printable(&result.source);
    match (part_of_source(result), sources) {
        (None, _) => fitted(&source, NAME_SIZE, SIDE),
        (Some(part), 1) => fitted(&part, NAME_SIZE, SIDE),
        (Some(part), _) => {
            let source = fitted(&source, NAME_SIZE, SIDE / 2.0);
            fitted(&format!("{source}: {part}"), NAME_SIZE, SIDE)
        }
    }
}

fn paragraphs(
    evaluation: &Evaluation,
    shown: &[(&Evaluated, &Binned)],
    sources: &[&str],
) -> Vec<String> {
    let mut paragraphs = Vec::new();
    let (shown_results, all) = (shown.len(), evaluation.results.len());
    if shown_results < all {
        let left_out = counted((all - shown_results) as u64, "more result");
        paragraphs.push(format!(
            "The first {shown_results} results are shown; {left_out} left out."
        ));
    }
    if sources.len() > 1 {
        let files: Vec<_> = sources.iter().map(|source| printable(source)).collect();
        let named = files.iter().take(MOST_PANELS).map(|name| name.as_ref());
        let more = match files.len().saturating_sub(MOST_PANELS) {
            0 => String::new(),
            more => format!(" and {} more", count(more as u64)),
        };
        let named: Vec<&str> = named.collect();
        paragraphs.push(format!("Files: {}{more}.", named.join(", ")));
    }
    let binnings = distinct(shown.iter().map(|(_, binned)| binning_rule_name(binned)));
    let reductions = distinct(shown.iter().map(|(r, _)| reduction_name(r.reduction)));
    let ties = distinct(shown.iter().map(|(r, _)| ties_name(r.rank_ece.ties)));
    paragraphs.push(format!(
        "Bins: {}. Predictions: {}; ties: {}.",
        binnings.join(" or "),
        reductions.join(" and "),
        ties.join(" and ")
    ));
    paragraphs.push(
        "Histograms: rows in each bin, each to its own scale; their numbers are not written for \
         want of room."
            .to_owned(),
    );
    paragraphs.push(format!("{}.", provenance(evaluation)));
    paragraphs
}
