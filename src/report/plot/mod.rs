//! Reliability diagrams.

use std::io;
use std::path::Path;

use crate::results::Evaluation;

mod canvas;
mod consistency;
mod curves;
mod diagram;
mod font;
mod grid;
mod html;
mod panel;
mod png;
mod profile;
mod words;

pub use consistency::consistency_range;
pub use curves::{
    Axis, Chart, Figure, Mark, Scale, Series, approx_caption, approx_chart, approx_figure,
    approx_legend, cost_figure, power_caption, power_chart, power_figure, power_legend,
    write_figure,
};
pub use diagram::reliability_svg;
pub use grid::grid_svg;
pub use html::html;
pub use png::png;

/// Why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// Nothing to draw.
    #[error("there are no results to plot")]
    NoResults,
    /// A reliability diagram needs bins.
    #[error("a reliability diagram needs bins, and none were computed; ask for some (--bins 10)")]
    NoBinning,
    /// A file name that does not say what to write.
    #[error("cannot tell the format of the plot {0:?}; its name must end in .svg, .png or .html")]
    UnknownExtension(String),
    /// The file could not be written.
    #[error("cannot write the plot {path:?}: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
    },
    /// A fault of the drawing libraries.
    #[error("cannot draw the plot: {0}")]
    Drawing(String),
}

impl PlotError {
    fn drawing(error: impl std::fmt::Display) -> Self {
        PlotError::Drawing(error.to_string())
    }
}

/// The formats of pictures, by the ends of their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlotFormat {
    /// Scalable vector graphics.
    Svg,
    /// Pixels.
    Png,
    /// A page with the picture and its numbers, which refers to nothing outside itself.
    Html,
}

impl PlotFormat {
    /// The format that a file name asks for. Check it before long computations.
    ///
    /// # Errors
    /// If the name ends in none of `.svg`, `.png`, `.html`.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(PlotFormat::Svg),
            "png" => Ok(PlotFormat::Png),
            "html" => Ok(PlotFormat::Html),
            _ => Err(PlotError::UnknownExtension(path.display().to_string())),
        }
    }
}

/// The picture of an evaluation as SVG: the first binning of its only result, or small diagrams of
/// up to twelve results.
///
/// # Errors
/// If there are no results, or one to be shown has no binning.
pub fn svg(evaluation: &Evaluation) -> Result<String, PlotError> {
    match evaluation.results.as_slice() {
        [] => Err(PlotError::NoResults),
        [result] => {
            let binned = result.binned.first().ok_or(PlotError::NoBinning)?;
            reliability_svg(evaluation, result, binned)
        }
        _ => grid_svg(evaluation),
    }
}

/// Writes the picture of an evaluation in the format of the file's name.
///
/// # Errors
/// If the name ends in none of `.svg`, `.png`, `.html`, there is nothing to draw, or the file cannot
/// be written.
pub fn write(path: &Path, evaluation: &Evaluation) -> Result<(), PlotError> {
    let format = PlotFormat::of(path)?;
    let svg = svg(evaluation)?;
    let bytes = match format {
        PlotFormat::Svg => svg.into_bytes(),
        PlotFormat::Png => png(&svg)?,
        PlotFormat::Html => html(evaluation, &svg).into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|source| PlotError::Write {
        path: path.display().to_string(),
        source,
    })
}
