//! The picture of one result.

use crate::predictions::Reduction;
use crate::results::{Binned, Evaluated, Evaluation};

use super::super::number::{counted, of_gaps, p_equals, percent, significant};
use super::super::text::printable;
use super::super::{
    binning_name, interval_for_people, part_of_source, provenance, reduction_name, ties_name,
};
use super::PlotError;
use super::canvas::{self, Anchor};
use super::panel::{Counts, FAINT, Panel, TEXT};
use super::profile::Profile;
use super::words::{Caption, LINE, Legend, SMALL, fitted};

/// Width of the picture in pixels.
const WIDTH: f64 = 560.0;
const LEFT: f64 = 66.0;
const RIGHT: f64 = 24.0;
const MARGIN: f64 = 16.0;
const SIDE: f64 = WIDTH - LEFT - RIGHT;

/// A reliability diagram as SVG: for each bin the mean label over the mean confidence, its gap to
/// the diagonal, and the range in which it would lie with probability 1 - alpha if the
/// probabilities were calibrated (quantiles of the binomial law of the bin's rows); beneath, a
/// histogram of the confidences, and the profile of `adaptive` if it was asked for; the numbers in a
/// caption.
///
/// `result` and `binned` are parts of `evaluation`, which tells the level and what computed it.
///
/// # Errors
/// If the drawing library reports one.
pub fn reliability_svg(
    evaluation: &Evaluation,
    result: &Evaluated,
    binned: &Binned,
) -> Result<String, PlotError> {
    let title = printable(&result.source);
    let part = part_of_source(result);
    let counts = Panel::roomiest_counts(binned, SIDE);
    let legend = Legend::new(evaluation.alpha, SIDE);
    let title_baseline = MARGIN + 14.0;
    let part_baseline = title_baseline + if part.is_some() { 18.0 } else { 0.0 };
    let legend_top = part_baseline + 10.0;
    let panel = Panel {
        binned,
        alpha: evaluation.alpha,
        left: LEFT,
        top: legend_top + legend.height() + 6.0,
        side: SIDE,
        bars: 64.0,
        tick_size: 11.0,
        ticks: 5,
        counts,
    };
    let axis_baseline = panel.foot() + 34.0;
    let tests = result.tests.iter();
    let profile = tests
        .filter_map(|test| test.profile.as_deref())
        .find_map(|sums| Profile::new(sums, LEFT, SIDE));
    let profile_top = axis_baseline + 20.0;
    let caption_top = match &profile {
        Some(profile) => profile_top + profile.height() + 8.0,
        None => axis_baseline + 16.0,
    };
    let paragraphs = paragraphs(evaluation, result, binned, counts);
    let caption = Caption::new(paragraphs.iter().map(String::as_str), WIDTH - 2.0 * MARGIN);
    let height = (caption_top + caption.height() + MARGIN - (LINE - SMALL)).ceil();
    let name = format!("Reliability diagram of {title}");
    canvas::draw((WIDTH, height), &name, |canvas| {
        let width = WIDTH - LEFT - RIGHT;
        let shown = fitted(&title, 14.0, width);
        canvas.text(&shown, (LEFT, title_baseline), Anchor::Start, 14.0, TEXT)?;
        if let Some(part) = &part {
            let shown = fitted(part, 12.0, width);
            canvas.text(&shown, (LEFT, part_baseline), Anchor::Start, 12.0, FAINT)?;
        }
        legend.draw(canvas, LEFT, legend_top)?;
        panel.draw(canvas)?;
        let middle = LEFT + SIDE / 2.0;
        canvas.text(
            "confidence",
            (middle, axis_baseline),
            Anchor::Middle,
            12.0,
            TEXT,
        )?;
        let x = MARGIN + 12.0;
        let label = (x, panel.top + SIDE / 2.0);
        canvas.text_upwards("mean label", label, Anchor::Middle, 12.0, TEXT)?;
        let rows = (x, panel.foot() - panel.bars / 2.0);
        canvas.text_upwards("rows", rows, Anchor::Middle, 12.0, TEXT)?;
        if let Some(profile) = &profile {
            profile.draw(canvas, profile_top)?;
        }
        caption.draw(canvas, MARGIN, caption_top)
    })
}

fn paragraphs(
    evaluation: &Evaluation,
    result: &Evaluated,
    binned: &Binned,
    counts: Counts,
) -> Vec<String> {
    let reduction = match result.reduction {
        Reduction::Binary => String::new(),
        reduction => format!(", {}", reduction_name(reduction)),
    };
    let rows = counted(result.n, "row");
    let mut sample = format!("{rows} ({}{reduction})", result.dtype);
    if result.skipped > 0 {
        sample.push_str(&format!(", {} skipped", counted(result.skipped, "row")));
    }
    if let Some((base_rate, mean)) = result.base_rate.zip(result.mean_confidence) {
        let (base_rate, mean) = (significant(base_rate), significant(mean));
        sample.push_str(&format!("; base rate {base_rate}, mean confidence {mean}"));
    }
    let rank_ece = &result.rank_ece;
    let interval = rank_ece.intervals.first().map_or(String::new(), |i| {
        format!(
            ", {} {} interval {}",
            percent(i.level),
            i.method,
            interval_for_people(i)
        )
    });
    let estimates = format!(
        ". rank_ece {}{interval}, ties {}. ece_l1 {} with {}.",
        defined(rank_ece.estimate),
        ties_name(rank_ece.ties),
        binned
            .ece_l1
            .map_or(defined(None), |value| of_gaps(Some(value))),
        binning_name(binned)
    );
    let tests: Vec<String> = result
        .tests
        .iter()
        .map(|test| match test.p_value {
            Some(p) => format!("{} {}", test.name, p_equals(p)),
            None => format!("{} undefined", test.name),
        })
        .collect();
    let mut reading = format!(
        "Shaded: {} range of a bin's mean label if the probabilities are calibrated (binomial).",
        percent(1.0 - evaluation.alpha)
    );
    reading.push_str(match counts {
        Counts::Across | Counts::Upwards => " On the bars: rows in each bin.",
        Counts::Omitted => " The numbers of rows are not written: bins are too narrow.",
    });
    let mut paragraphs = vec![sample + &estimates];
    if !tests.is_empty() {
        paragraphs.push(format!("Tests of calibration: {}.", tests.join(", ")));
    }
    if result.impossible_labels > 0 {
        paragraphs.push(format!(
            "Perfect calibration is impossible: {} contradicting a confidence of exactly 0 or 1.",
            counted(result.impossible_labels, "label")
        ));
    }
    paragraphs.push(reading);
    paragraphs.push(format!("{}.", provenance(evaluation)));
    paragraphs
}

/// A number in a sentence.
fn defined(value: Option<f64>) -> String {
    value.map_or_else(|| "undefined".to_owned(), significant)
}
