//! One reliability diagram with its histogram: what a single picture and a grid of them share.

use plotters::style::RGBColor;

use crate::results::{Bin, Binned};

use super::super::number::count;
use super::PlotError;
use super::canvas::{Anchor, Canvas, Ink};
use super::consistency::consistency_range;
use super::font;

/// Colours of Okabe and Ito's palette, which colour-blind people tell apart, on greys of different
/// lightness, so that they also differ in print.
pub const TEXT: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub const FAINT: RGBColor = RGBColor(0x66, 0x66, 0x66);
pub const GRID: Ink = Ink::new(RGBColor(0xEC, 0xEC, 0xEC)).width(0.8);
pub const FRAME: Ink = Ink::new(RGBColor(0x77, 0x77, 0x77)).width(0.8);
pub const DIAGONAL: Ink = Ink::new(RGBColor(0x77, 0x77, 0x77)).width(1.0);
pub const RANGE: Ink = Ink::new(RGBColor(0xC3, 0xD3, 0xE2));
pub const GAP: Ink = Ink::new(RGBColor(0xD5, 0x5E, 0x00)).width(1.3);
pub const POINT: Ink = Ink::new(RGBColor(0x00, 0x3F, 0x73));
const BAR: Ink = Ink::new(RGBColor(0x8F, 0xA9, 0xC4));

/// Size of the numbers on the bars of the histogram.
const COUNT_SIZE: f64 = 9.0;
/// Room between the diagram and its histogram.
const BETWEEN: f64 = 10.0;

/// How the rows of each bin are told on the bars of the histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counts {
    /// Along the axis.
    Across,
    /// Reading upwards.
    Upwards,
    /// Not at all: the bins are too narrow.
    Omitted,
}

/// Where a panel lies and how it is drawn. Lengths in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    pub binned: &'a Binned,
    pub alpha: f64,
    /// Left end of the axes.
    pub left: f64,
    /// Top of the axes.
    pub top: f64,
    /// Side of the square from 0 to 1.
    pub side: f64,
    /// Height of the tallest bar of the histogram.
    pub bars: f64,
    /// Size of the numbers at the axes.
    pub tick_size: f64,
    /// Ticks at every 1/this.
    pub ticks: u32,
    pub counts: Counts,
}

impl Panel<'_> {
    /// How there is room to tell the rows of each bin.
    pub fn roomiest_counts(binned: &Binned, side: f64) -> Counts {
        let widest = counts_width(binned);
        let centres: Vec<f64> = filled(binned).map(centre).collect();
        let closest = centres
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) * side)
            .fold(side, f64::min);
        if widest + 4.0 <= closest {
            Counts::Across
        } else if COUNT_SIZE * 1.2 <= closest {
            Counts::Upwards
        } else {
            Counts::Omitted
        }
    }

    /// Height from the top of the axes to the foot of the histogram.
    pub fn height(&self) -> f64 {
        let counts = match self.counts {
            Counts::Across => COUNT_SIZE + 5.0,
            Counts::Upwards => counts_width(self.binned) + 8.0,
            Counts::Omitted => 3.0,
        };
        self.side + BETWEEN + counts + self.bars
    }

    /// The foot of the histogram.
    pub fn foot(&self) -> f64 {
        self.top + self.height()
    }

    fn x(&self, confidence: f64) -> f64 {
        self.left + self.side * confidence
    }

    fn y(&self, label: f64) -> f64 {
        self.top + self.side * (1.0 - label)
    }

    pub fn draw(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        self.draw_axes(canvas)?;
        self.draw_bins(canvas)?;
        self.draw_histogram(canvas)
    }

    fn draw_axes(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let (right, bottom) = (self.x(1.0), self.y(0.0));
        for tick in 0..=self.ticks {
            let value = f64::from(tick) / f64::from(self.ticks);
            let (x, y) = (self.x(value), self.y(value));
            canvas.line((x, self.top), (x, bottom), GRID)?;
            canvas.line((self.left, y), (right, y), GRID)?;
            let text = super::super::number::significant(value);
            let baseline = y + 0.36 * self.tick_size;
            let size = self.tick_size;
            canvas.text(&text, (self.left - 6.0, baseline), Anchor::End, size, TEXT)?;
            let below = self.foot() + size + 4.0;
            canvas.text(&text, (x, below), Anchor::Middle, size, TEXT)?;
            canvas.line((x, self.foot()), (x, self.foot() + 3.0), FRAME)?;
            canvas.line((self.left - 3.0, y), (self.left, y), FRAME)?;
        }
        Ok(())
    }

    fn draw_diagonal(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let (start, end) = ((self.left, self.y(0.0)), (self.x(1.0), self.top));
        canvas.dashes(start, end, DIAGONAL)
    }

    fn draw_frame(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let (right, bottom) = (self.x(1.0), self.y(0.0));
        for (from, to) in [
            ((self.left, self.top), (right, self.top)),
            ((self.left, bottom), (right, bottom)),
            ((self.left, self.top), (self.left, bottom)),
            ((right, self.top), (right, bottom)),
        ] {
            canvas.line(from, to, FRAME)?;
        }
        Ok(())
    }

    fn draw_bins(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let bins: Vec<(&Bin, f64, f64)> = self
            .binned
            .table
            .iter()
            .filter_map(|bin| Some((bin, bin.mean_confidence?, bin.mean_label?)))
            .collect();
        if bins.is_empty() {
            self.draw_diagonal(canvas)?;
            self.draw_frame(canvas)?;
            let middle = (self.x(0.7), self.y(0.3));
            return canvas.text("no rows", middle, Anchor::Middle, self.tick_size, FAINT);
        }
        let pitch = self.side / (bins.len() as f64).max(self.side / 40.0);
        let half = (0.22 * pitch).clamp(0.4, 5.0);
        for (bin, confidence, _) in &bins {
            let x = self.x(*confidence);
            let range = consistency_range(bin.n, *confidence, self.alpha);
            if let Some((lower, upper)) = range {
                // A range of no height is still seen.
                let middle = self.y(f64::midpoint(lower, upper));
                let (low, high) = (
                    self.y(lower).max(middle + 0.75),
                    self.y(upper).min(middle - 0.75),
                );
                canvas.rectangle((x - half, low), (x + half, high), RANGE)?;
            }
        }
        let gap = GAP.width((0.3 * pitch).clamp(0.2, GAP.width));
        for (_, confidence, label) in &bins {
            let x = self.x(*confidence);
            canvas.line((x, self.y(*confidence)), (x, self.y(*label)), gap)?;
        }
        // Above what it would be hidden by, below the points.
        self.draw_diagonal(canvas)?;
        self.draw_frame(canvas)?;
        for (_, confidence, label) in &bins {
            let radius = (0.2 * pitch).clamp(1.2, 1.2 + self.side / 180.0);
            canvas.disc((self.x(*confidence), self.y(*label)), radius, POINT)?;
        }
        Ok(())
    }

    fn draw_histogram(&self, canvas: &mut Canvas) -> Result<(), PlotError> {
        let foot = self.foot();
        let most = filled(self.binned).map(|bin| bin.n).max().unwrap_or(0);
        for bin in filled(self.binned) {
            let height = self.bars * bin.n as f64 / most as f64;
            let (from, to) = (self.x(bin.lower), self.x(bin.upper));
            // A hairline between bars, and a bar for bins of one confidence.
            let inset = ((to - from) * 0.06).min(0.6);
            let half = ((to - from) / 2.0 - inset).max(0.5);
            let middle = f64::midpoint(from, to);
            let top = foot - height;
            canvas.rectangle((middle - half, foot), (middle + half, top), BAR)?;
            let text = count(bin.n);
            let x = self.x(centre(bin));
            match self.counts {
                Counts::Across => {
                    canvas.text(&text, (x, top - 3.5), Anchor::Middle, COUNT_SIZE, FAINT)?;
                }
                Counts::Upwards => {
                    let at = (x + 0.36 * COUNT_SIZE, top - 4.0);
                    canvas.text_upwards(&text, at, Anchor::Start, COUNT_SIZE, FAINT)?;
                }
                Counts::Omitted => {}
            }
        }
        canvas.line((self.left, foot), (self.x(1.0), foot), FRAME)
    }
}

fn filled(binned: &Binned) -> impl Iterator<Item = &Bin> {
    binned.table.iter().filter(|bin| bin.n > 0)
}

fn centre(bin: &Bin) -> f64 {
    f64::midpoint(bin.lower, bin.upper)
}

fn counts_width(binned: &Binned) -> f64 {
    // Digits are all of one width, so the largest number is the widest.
    let most = filled(binned).map(|bin| bin.n).max().unwrap_or(0);
    COUNT_SIZE * font::width(&count(most))
}
