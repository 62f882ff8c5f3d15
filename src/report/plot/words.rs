//! Text of a measured width: captions and legends.

use plotters::style::RGBColor;

use super::super::number::percent;
use super::super::text::shorten_to;
use super::PlotError;
use super::canvas::{Anchor, Canvas};
use super::font;
use super::panel::{DIAGONAL, FAINT, GAP, POINT, RANGE, TEXT};

/// Size of captions and legends.
pub const SMALL: f64 = 10.5;
/// From one line of small text to the next.
pub const LINE: f64 = 15.0;

/// The text, shortened in the middle where it is wider than `limit` pixels.
pub fn fitted(text: &str, size: f64, limit: f64) -> String {
    shorten_to(text, |candidate| size * font::width(candidate) <= limit).into_owned()
}

/// The text in lines of at most `limit` pixels, broken at spaces; longer words lose their middle.
pub fn lines(text: &str, size: f64, limit: f64) -> Vec<String> {
    let space = size * (font::width("a a") - font::width("aa"));
    let mut lines = Vec::new();
    let (mut line, mut length) = (String::new(), 0.0);
    for word in text.split_whitespace() {
        let word = fitted(word, size, limit);
        let width = size * font::width(&word);
        if !line.is_empty() && length + space + width > limit {
            lines.push(std::mem::take(&mut line));
            length = 0.0;
        }
        if !line.is_empty() {
            line.push(' ');
            length += space;
        }
        line.push_str(&word);
        length += width;
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A caption: lines of small text.
pub struct Caption(Vec<String>);

impl Caption {
    pub fn new<'a>(paragraphs: impl IntoIterator<Item = &'a str>, width: f64) -> Self {
        let paragraphs = paragraphs.into_iter();
        Caption(
            paragraphs
                .flat_map(|text| lines(text, SMALL, width))
                .collect(),
        )
    }

    pub fn height(&self) -> f64 {
        LINE * self.0.len() as f64
    }

    /// Draws the lines, the first with its top at `top`.
    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) -> Result<(), PlotError> {
        let mut baseline = top + SMALL;
        for line in &self.0 {
            canvas.text(line, (left, baseline), Anchor::Start, SMALL, TEXT)?;
            baseline += LINE;
        }
        Ok(())
    }
}

/// What the marks of a panel mean, one item after the other, over as many rows as they need.
pub struct Legend {
    items: Vec<(Mark, String, f64, f64)>,
    rows: usize,
}

#[derive(Clone, Copy)]
enum Mark {
    Point,
    Gap,
    Range,
    Diagonal,
}

impl Legend {
    const MARK: f64 = 20.0;
    const BETWEEN: f64 = 18.0;

    pub fn new(alpha: f64, width: f64) -> Self {
        let range = format!("{} range if calibrated", percent(1.0 - alpha));
        let (mut x, mut row) = (0.0, 0);
        let items = [
            (Mark::Point, "mean label".to_owned()),
            (Mark::Gap, "gap".to_owned()),
            (Mark::Range, range),
            (Mark::Diagonal, "perfect calibration".to_owned()),
        ]
        .into_iter()
        .map(|(mark, text)| {
            let needed = Self::MARK + SMALL * font::width(&text);
            if x > 0.0 && x + needed > width {
                x = 0.0;
                row += 1;
            }
            let item = (mark, text, x, LINE * f64::from(row));
            x += needed + Self::BETWEEN;
            item
        })
        .collect();
        Legend {
            items,
            rows: row as usize + 1,
        }
    }

    pub fn height(&self) -> f64 {
        LINE * self.rows as f64
    }

    pub fn draw(&self, canvas: &mut Canvas, left: f64, top: f64) -> Result<(), PlotError> {
        const COLOR: RGBColor = FAINT;
        for (mark, text, x, y) in &self.items {
            let (x, middle) = (left + x, top + y + 0.5 * SMALL);
            match mark {
                Mark::Point => canvas.disc((x + 7.0, middle + 1.0), 3.5, POINT)?,
                Mark::Gap => {
                    canvas.line((x + 7.0, middle - 4.0), (x + 7.0, middle + 6.0), GAP)?;
                }
                Mark::Range => {
                    canvas.rectangle((x + 3.0, middle - 4.0), (x + 11.0, middle + 6.0), RANGE)?;
                }
                Mark::Diagonal => {
                    canvas.dashes((x - 2.0, middle + 1.0), (x + 14.0, middle + 1.0), DIAGONAL)?;
                }
            }
            let at = (x + Self::MARK, middle + 0.5 * SMALL);
            canvas.text(text, at, Anchor::Start, SMALL, COLOR)?;
        }
        Ok(())
    }
}
