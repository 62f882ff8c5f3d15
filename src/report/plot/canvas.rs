//! A picture in pixels, drawn with plotters' SVG backend.

use plotters::backend::{DrawingBackend, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, RGBColor, ShapeStyle,
};

use super::PlotError;
use super::font::FAMILY;

/// plotters draws at whole numbers; that many of its units are a pixel.
const UNITS: f64 = 20.0;
/// plotters writes sizes of fonts divided by this.
const FONT_FACTOR: f64 = 1.24;
/// plotters puts the baseline of top-anchored text that many font sizes below its position.
const ASCENT: f64 = 0.76;

/// Where a text is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// A line's or area's colour, opacity and, for lines, width in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Ink {
    pub color: RGBColor,
    pub opacity: f64,
    pub width: f64,
}

impl Ink {
    pub const fn new(color: RGBColor) -> Self {
        Ink {
            color,
            opacity: 1.0,
            width: 1.0,
        }
    }

    pub const fn width(self, width: f64) -> Self {
        Ink { width, ..self }
    }

    fn style(self, filled: bool) -> ShapeStyle {
        ShapeStyle {
            color: self.color.mix(self.opacity),
            filled,
            stroke_width: (self.width * UNITS).round().max(1.0) as u32,
        }
    }
}

/// A picture under way.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws a picture of the given size in pixels on white and returns it as SVG, named for those who
/// cannot see it.
pub fn draw(
    (width, height): (f64, f64),
    title: &str,
    paint: impl FnOnce(&mut Canvas) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let units = |pixels: f64| (pixels * UNITS).round() as u32;
    let mut canvas = Canvas {
        backend: SVGBackend::with_string(&mut svg, (units(width), units(height))),
    };
    canvas.rectangle(
        (0.0, 0.0),
        (width, height),
        Ink::new(RGBColor(255, 255, 255)),
    )?;
    paint(&mut canvas)?;
    canvas.backend.present().map_err(PlotError::drawing)?;
    drop(canvas);
    // The backend states the size in its own units. In pixels, and the view box does the scaling.
    let mut start = format!(
        "<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" role=\"img\" \
         xmlns=\"http://www.w3.org/2000/svg\">\n<title>",
        units(width),
        units(height)
    );
    super::font::push_escaped(&mut start, title);
    start.push_str("</title>");
    let body = svg.find('>').map_or("", |end| &svg[end + 1..]);
    Ok(start + body)
}

impl Canvas<'_> {
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) -> Result<(), PlotError> {
        self.backend
            .draw_line(place(from), place(to), &ink.style(false))
            .map_err(PlotError::drawing)
    }

    pub fn dashes(&mut self, from: (f64, f64), to: (f64, f64), ink: Ink) -> Result<(), PlotError> {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let dashes = (dx.hypot(dy) / 8.0).round().max(1.0) as u32;
        let along = |t: f64| (from.0 + t * dx, from.1 + t * dy);
        for dash in 0..dashes {
            let (start, length) = (f64::from(dash), f64::from(dashes));
            self.line(along(start / length), along((start + 0.5) / length), ink)?;
        }
        Ok(())
    }

    /// A filled rectangle between two corners.
    pub fn rectangle(&mut self, a: (f64, f64), b: (f64, f64), ink: Ink) -> Result<(), PlotError> {
        let corners = ((a.0.min(b.0), a.1.min(b.1)), (a.0.max(b.0), a.1.max(b.1)));
        self.backend
            .draw_rect(place(corners.0), place(corners.1), &ink.style(true), true)
            .map_err(PlotError::drawing)
    }

    /// A line through points.
    pub fn polyline(&mut self, points: &[(f64, f64)], ink: Ink) -> Result<(), PlotError> {
        let points: Vec<_> = points.iter().copied().map(place).collect();
        self.backend
            .draw_path(points, &ink.style(false))
            .map_err(PlotError::drawing)
    }

    /// A filled polygon.
    pub fn polygon(&mut self, corners: &[(f64, f64)], ink: Ink) -> Result<(), PlotError> {
        let corners: Vec<_> = corners.iter().copied().map(place).collect();
        self.backend
            .fill_polygon(corners, &ink.style(true))
            .map_err(PlotError::drawing)
    }

    /// A filled disc.
    pub fn disc(&mut self, centre: (f64, f64), radius: f64, ink: Ink) -> Result<(), PlotError> {
        let radius = (radius * UNITS).round() as u32;
        self.backend
            .draw_circle(place(centre), radius, &ink.style(true), true)
            .map_err(PlotError::drawing)
    }

    /// A text with its baseline at `at`, `size` pixels high.
    pub fn text(
        &mut self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        color: RGBColor,
    ) -> Result<(), PlotError> {
        let at = (at.0, at.1 - ASCENT * size);
        self.draw_text(text, at, anchor, size, color, FontTransform::None)
    }

    /// A text that reads upwards, with its baseline, vertical, at `at`.
    pub fn text_upwards(
        &mut self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        color: RGBColor,
    ) -> Result<(), PlotError> {
        let at = (at.0 - ASCENT * size, at.1);
        self.draw_text(text, at, anchor, size, color, FontTransform::Rotate270)
    }

    fn draw_text(
        &mut self,
        text: &str,
        at: (f64, f64),
        anchor: Anchor,
        size: f64,
        color: RGBColor,
        transform: FontTransform,
    ) -> Result<(), PlotError> {
        if text.is_empty() {
            return Ok(());
        }
        let horizontal = match anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let size = size * UNITS * FONT_FACTOR;
        let style = FontDesc::new(FontFamily::Name(FAMILY), size, FontStyle::Normal)
            .transform(transform)
            .color(&color);
        let style = plotters::style::TextStyle {
            pos: Pos::new(horizontal, VPos::Top),
            ..style
        };
        self.backend
            .draw_text(text, &style, place(at))
            .map_err(PlotError::drawing)
    }
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}
