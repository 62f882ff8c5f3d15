//! One chart.

use plotters::style::RGBColor;

use super::super::PlotError;
use super::super::canvas::{Anchor, Canvas, Ink};
use super::super::panel::{DIAGONAL, FAINT, FRAME, GRID, TEXT};
use super::super::words::fitted;
use super::axis::{Axis, Fitted, Scale};
use crate::report::number::{count, with_digits};

/// A value with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Lower and upper end of the interval; both y if there is none.
    pub interval: (f64, f64),
}

/// Values that belong together.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The place of its name in the legend, which decides colour and shape.
    pub style: usize,
    /// Its values, from left to right.
    pub marks: Vec<Mark>,
}

/// A chart with its axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// A function drawn as a plain line, in pieces without jumps.
    pub line: Vec<Vec<(f64, f64)>>,
    /// A level that is marked by a dashed line.
    pub level: Option<f64>,
    /// Whether y = x is marked.
    pub diagonal: bool,
}

/// Okabe and Ito's colours, which colour-blind people tell apart.
const COLORS: [RGBColor; 7] = [
    RGBColor(0x00, 0x3F, 0x73),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0x55, 0x55, 0x55),
];

/// Size of titles and names of axes.
pub(super) const NAME_SIZE: f64 = 11.0;
const TICK_SIZE: f64 = 9.0;

pub(super) fn ink(style: usize) -> Ink {
    Ink::new(COLORS[style % COLORS.len()])
}

/// Draws the sign of a style: shapes differ too, for those who print in grey.
pub(super) fn sign(
    canvas: &mut Canvas,
    (x, y): (f64, f64),
    size: f64,
    style: usize,
) -> Result<(), PlotError> {
    let ink = ink(style);
    let corners = |offsets: &[(f64, f64)]| -> Vec<(f64, f64)> {
        offsets
            .iter()
            .map(|(dx, dy)| (x + size * dx, y + size * dy))
            .collect()
    };
    match style % 5 {
        0 => canvas.disc((x, y), size, ink),
        1 => canvas.rectangle(
            (x - 0.85 * size, y - 0.85 * size),
            (x + 0.85 * size, y + 0.85 * size),
            ink,
        ),
        2 => canvas.polygon(&corners(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), ink),
        3 => canvas.polygon(
            &corners(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
            ink,
        ),
        _ => canvas.polygon(&corners(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]), ink),
    }
}

/// Where a chart's axes lie, in pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A chart with its scales, ready to draw.
struct Drawing<'a> {
    chart: &'a Chart,
    place: Place,
    x: Fitted,
    y: Fitted,
}

impl Chart {
    /// Draws the chart with the numbers and names of its axes.
    pub(super) fn draw(
        &self,
        canvas: &mut Canvas,
        place: Place,
        names_y: bool,
    ) -> Result<(), PlotError> {
        let marks = || self.series.iter().flat_map(|series| &series.marks);
        let line = || self.line.iter().flatten();
        let xs = marks()
            .map(|mark| mark.x)
            .chain(line().map(|point| point.0));
        let ys = marks()
            .flat_map(|mark| [mark.y, mark.interval.0, mark.interval.1])
            .chain(line().map(|point| point.1))
            .chain(self.level);
        let drawing = Drawing {
            chart: self,
            place,
            x: self.x.fit(xs),
            y: self.y.fit(ys),
        };
        drawing.axes(canvas, names_y)?;
        drawing.contents(canvas)
    }
}

impl Drawing<'_> {
    fn at(&self, x: f64, y: f64) -> (f64, f64) {
        let Place {
            left,
            top,
            width,
            height,
        } = self.place;
        (
            left + width * self.x.place(x).clamp(-0.02, 1.02),
            top + height * (1.0 - self.y.place(y).clamp(0.0, 1.0)),
        )
    }

    fn axes(&self, canvas: &mut Canvas, names_y: bool) -> Result<(), PlotError> {
        let Place {
            left,
            top,
            width,
            height,
        } = self.place;
        let (right, bottom) = (left + width, top + height);
        let (numbered, plain) = self.x.ticks();
        // Numbers that would touch the one before them are left out.
        let mut free = f64::NEG_INFINITY;
        for tick in numbered {
            let x = left + width * self.x.place(tick);
            canvas.line((x, top), (x, bottom), GRID)?;
            canvas.line((x, bottom), (x, bottom + 4.0), FRAME)?;
            let text = number(tick, self.chart.x.scale);
            let half = TICK_SIZE * super::super::font::width(&text) / 2.0;
            if x - half > free + 3.0 {
                let below = (x, bottom + TICK_SIZE + 6.0);
                canvas.text(&text, below, Anchor::Middle, TICK_SIZE, TEXT)?;
                free = x + half;
            }
        }
        for tick in plain {
            let x = left + width * self.x.place(tick);
            canvas.line((x, bottom), (x, bottom + 2.0), FRAME)?;
        }
        let (numbered, plain) = self.y.ticks();
        for tick in numbered {
            let y = top + height * (1.0 - self.y.place(tick));
            canvas.line((left, y), (right, y), GRID)?;
            canvas.line((left - 4.0, y), (left, y), FRAME)?;
            let text = number(tick, self.chart.y.scale);
            let at = (left - 6.0, y + 0.36 * TICK_SIZE);
            canvas.text(&text, at, Anchor::End, TICK_SIZE, TEXT)?;
        }
        for tick in plain {
            let y = top + height * (1.0 - self.y.place(tick));
            canvas.line((left - 2.0, y), (left, y), FRAME)?;
        }
        for (from, to) in [
            ((left, top), (right, top)),
            ((left, bottom), (right, bottom)),
            ((left, top), (left, bottom)),
            ((right, top), (right, bottom)),
        ] {
            canvas.line(from, to, FRAME)?;
        }
        let middle = left + width / 2.0;
        let title = fitted(&self.chart.title, NAME_SIZE, width + 30.0);
        canvas.text(&title, (middle, top - 7.0), Anchor::Middle, NAME_SIZE, TEXT)?;
        let below = (middle, bottom + 30.0);
        canvas.text(
            &self.chart.x.name,
            below,
            Anchor::Middle,
            NAME_SIZE - 1.0,
            FAINT,
        )?;
        if names_y {
            let beside = (left - 36.0, top + height / 2.0);
            canvas.text_upwards(
                &self.chart.y.name,
                beside,
                Anchor::Middle,
                NAME_SIZE - 1.0,
                FAINT,
            )?;
        }
        Ok(())
    }

    fn contents(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let Place {
            left, top, width, ..
        } = self.place;
        if let Some(level) = self.chart.level {
            let y = self.at(1.0, level).1;
            canvas.dashes((left, y), (left + width, y), DIAGONAL)?;
        }
        if self.chart.diagonal {
            canvas.dashes((left, self.at(0.0, 0.0).1), (left + width, top), DIAGONAL)?;
        }
        for piece in &self.chart.line {
            let points: Vec<_> = piece.iter().map(|&(x, y)| self.at(x, y)).collect();
            canvas.polyline(&points, ink(0).width(1.2))?;
        }
        for series in &self.chart.series {
            let lower = series
                .marks
                .iter()
                .map(|mark| self.at(mark.x, mark.interval.0));
            let upper = series
                .marks
                .iter()
                .rev()
                .map(|mark| self.at(mark.x, mark.interval.1));
            let ribbon: Vec<_> = lower.chain(upper).collect();
            let mut faint = ink(series.style);
            faint.opacity = 0.2;
            if series.marks.len() > 1 {
                canvas.polygon(&ribbon, faint)?;
            }
        }
        // The first of the legend last, so that it lies on top.
        for series in self.chart.series.iter().rev() {
            let points: Vec<_> = series
                .marks
                .iter()
                .map(|mark| self.at(mark.x, mark.y))
                .collect();
            let ink = ink(series.style).width(if series.style == 0 { 1.8 } else { 1.2 });
            if points.len() > 1 {
                canvas.polyline(&points, ink)?;
            }
            let many = points.len() > 30;
            for (mark, point) in std::iter::zip(&series.marks, points) {
                let (low, high) = (
                    self.at(mark.x, mark.interval.0),
                    self.at(mark.x, mark.interval.1),
                );
                if (low.1 - high.1).abs() > 1.0 {
                    canvas.line(low, high, ink.width(0.8))?;
                }
                if !many {
                    sign(canvas, point, 2.5, series.style)?;
                }
            }
        }
        Ok(())
    }
}

/// The number at a tick.
fn number(value: f64, scale: Scale) -> String {
    match scale {
        Scale::Log if value >= 1.0 => count(value.round() as u64),
        _ => with_digits(value, 4),
    }
}
