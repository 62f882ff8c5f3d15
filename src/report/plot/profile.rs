//! The profile of `adaptive`: at which scale of ranks errors live.

use crate::results::WindowSum;

use super::super::number::count;
use super::PlotError;
use super::canvas::{Anchor, Canvas};
use super::panel::{FAINT, FRAME, GAP, GRID, POINT, TEXT};
use super::words::SMALL;

const HEIGHT: f64 = 90.0;
/// Room above for the title, and below for widths and their name.
const ABOVE: f64 = 22.0;
const BELOW: f64 = 36.0;
/// Room for the widest number of a width.
const TICK: f64 = 52.0;

/// A chart of standardised window sums, one for each width.
pub struct Profile<'a> {
    sums: &'a [WindowSum],
    left: f64,
    width: f64,
}

impl<'a> Profile<'a> {
    /// The chart of a profile, if it has anything to show.
    pub fn new(sums: &'a [WindowSum], left: f64, width: f64) -> Option<Self> {
        let any = sums.iter().any(|sum| sum.standardised.is_some());
        any.then_some(Profile { sums, left, width })
    }

    pub fn height(&self) -> f64 {
        ABOVE + HEIGHT + BELOW
    }

    /// Draws the chart with its top at `top`.
    pub fn draw(&self, canvas: &mut Canvas, top: f64) -> Result<(), PlotError> {
        let defined = self.sums.iter().filter_map(|sum| sum.standardised);
        let (low, high) = defined.fold((-1.0, 1.0), |(low, high): (f64, f64), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = (low.floor(), high.ceil());
        let axes = top + ABOVE;
        let y = |value: f64| axes + HEIGHT * (high - value) / (high - low);
        let pitch = self.width / self.sums.len() as f64;
        let x = |place: usize| self.left + (place as f64 + 0.5) * pitch;
        let right = self.left + self.width;

        let title = "sums over windows of ranks, standardised by null resampling";
        canvas.text(title, (self.left, top + SMALL), Anchor::Start, SMALL, TEXT)?;
        for value in [low, 0.0, high] {
            let line = if value == 0.0 { FRAME } else { GRID };
            canvas.line((self.left, y(value)), (right, y(value)), line)?;
            let at = (self.left - 6.0, y(value) + 3.5);
            canvas.text(&format!("{value}"), at, Anchor::End, SMALL, FAINT)?;
        }
        // As many widths as there is room for, the last among them.
        let step = (TICK / pitch).ceil().max(1.0) as usize;
        for (place, sum) in self.sums.iter().enumerate() {
            if let Some(value) = sum.standardised {
                canvas.line((x(place), y(0.0)), (x(place), y(value)), GAP)?;
                canvas.disc((x(place), y(value)), 3.5, POINT)?;
            }
            if (self.sums.len() - 1 - place).is_multiple_of(step) {
                let at = (x(place), axes + HEIGHT + 14.0);
                let width = count(sum.window.into());
                canvas.text(&width, at, Anchor::Middle, SMALL, FAINT)?;
            }
        }
        let at = (self.left + self.width / 2.0, axes + HEIGHT + 29.0);
        canvas.text("window, in ranks", at, Anchor::Middle, 12.0, TEXT)
    }
}
