//! Charts in rows and columns, with one legend above and a caption below.

use super::super::canvas::{self, Anchor, Canvas};
use super::super::panel::TEXT;
use super::super::words::{Caption, LINE, SMALL, fitted};
use super::super::{PlotError, font};
use super::chart::{Chart, Place, ink, sign};

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Its name.
    pub title: String,
    /// Rows of charts, each at most as long as the first.
    pub rows: Vec<Vec<Chart>>,
    /// Names of the series, by their style.
    pub legend: Vec<String>,
    /// What there is to know, a paragraph each.
    pub caption: Vec<String>,
}

const MARGIN: f64 = 16.0;
/// Room left of a chart's axes.
const NUMBERS: f64 = 48.0;
/// Room right of a chart's axes.
const GUTTER: f64 = 14.0;
/// Room above a chart's axes, for its title.
const ABOVE: f64 = 24.0;
/// Room below a chart's axes, for numbers and a name.
const BELOW: f64 = 38.0;

impl Figure {
    /// The figure as SVG.
    ///
    /// # Errors
    /// If there is nothing to draw, or the drawing library reports a fault.
    pub fn svg(&self) -> Result<String, PlotError> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if columns == 0 {
            return Err(PlotError::NoResults);
        }
        let chart_width = match columns {
            1 => 420.0,
            2 => 250.0,
            _ => 190.0,
        };
        let pitch = NUMBERS + chart_width + GUTTER;
        let width = 2.0 * MARGIN + columns as f64 * pitch;
        let inner = width - 2.0 * MARGIN;
        let legend = Legend::new(&self.legend, inner);
        let legend_top = MARGIN + 14.0 + 10.0;
        let charts_top = legend_top + legend.height() + 6.0;
        let heights: Vec<f64> = self
            .rows
            .iter()
            .map(|row| height(row, chart_width))
            .collect();
        let charts: f64 = heights.iter().map(|height| ABOVE + height + BELOW).sum();
        let caption_top = charts_top + charts + 8.0;
        let caption = Caption::new(self.caption.iter().map(String::as_str), inner);
        let total = (caption_top + caption.height() + MARGIN - (LINE - SMALL)).ceil();
        canvas::draw((width, total), &self.title, |canvas| {
            let title = fitted(&self.title, 14.0, inner);
            canvas.text(&title, (MARGIN, MARGIN + 14.0), Anchor::Start, 14.0, TEXT)?;
            legend.draw(canvas, MARGIN, legend_top)?;
            let mut top = charts_top;
            for (row, &height) in std::iter::zip(&self.rows, &heights) {
                for (column, chart) in row.iter().enumerate() {
                    let place = Place {
                        left: MARGIN + column as f64 * pitch + NUMBERS,
                        top: top + ABOVE,
                        width: chart_width,
                        height,
                    };
                    // What all charts of a row show is named once.
                    let named = column == 0 || row[column - 1].y.name != chart.y.name;
                    chart.draw(canvas, place, named)?;
                }
                top += ABOVE + height + BELOW;
            }
            caption.draw(canvas, MARGIN, caption_top)
        })
    }
}

/// Rows that show functions alone are lower.
fn height(row: &[Chart], width: f64) -> f64 {
    let functions = row.iter().all(|chart| chart.series.is_empty());
    (width * if functions { 0.5 } else { 0.78 }).round()
}

/// Names of series with their signs, over as many lines as they need.
struct Legend<'a> {
    items: Vec<(&'a str, f64, f64)>,
    rows: usize,
}

impl<'a> Legend<'a> {
    const SIGN: f64 = 28.0;
    const BETWEEN: f64 = 18.0;

    fn new(names: &'a [String], width: f64) -> Self {
        let (mut x, mut row) = (0.0, 0);
        let mut items = Vec::new();
        for name in names {
            let needed = Self::SIGN + SMALL * font::width(name);
            if x > 0.0 && x + needed > width {
                x = 0.0;
                row += 1;
            }
            items.push((name.as_str(), x, LINE * row as f64));
            x += needed + Self::BETWEEN;
        }
        Legend {
            items,
            rows: row + 1,
        }
    }

    fn height(&self) -> f64 {
        LINE * self.rows as f64
    }

    fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) -> Result<(), PlotError> {
        for (style, (name, x, y)) in self.items.iter().enumerate() {
            let (x, middle) = (left + x, top + y + 0.5 * SMALL + 1.0);
            canvas.line((x, middle), (x + 22.0, middle), ink(style).width(1.5))?;
            sign(canvas, (x + 11.0, middle), 3.0, style)?;
            let at = (x + Self::SIGN, middle + 0.36 * SMALL);
            canvas.text(name, at, Anchor::Start, SMALL, TEXT)?;
        }
        Ok(())
    }
}
