//! Figures of curves with intervals: small charts with one legend, laid out as in a paper.

mod axis;
mod chart;
mod figure;
mod html;
mod of_cost;
mod of_results;

use std::path::Path;

pub use axis::{Axis, Scale};
pub use chart::{Chart, Mark, Series};
pub use figure::Figure;
pub use of_cost::cost_figure;
pub use of_results::{
    approx_caption, approx_chart, approx_figure, approx_legend, power_caption, power_chart,
    power_figure, power_legend,
};

use super::{PlotError, PlotFormat, png};

/// Writes a figure in the format of the file's name.
///
/// # Errors
/// If the name ends in none of `.svg`, `.png`, `.html`, there is nothing to draw, or the file cannot
/// be written.
pub fn write_figure(path: &Path, figure: &Figure) -> Result<(), PlotError> {
    let format = PlotFormat::of(path)?;
    let svg = figure.svg()?;
    let bytes = match format {
        PlotFormat::Svg => svg.into_bytes(),
        PlotFormat::Png => png(&svg)?,
        PlotFormat::Html => html::page(figure, &svg).into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|source| PlotError::Write {
        path: path.display().to_string(),
        source,
    })
}
