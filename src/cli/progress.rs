//! How far a long run is.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar with rate and time left, on a terminal only; it vanishes when it is dropped.
pub struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar over `rows` simulated rows; none if it is unknown how many there will be.
    pub fn new(rows: Option<u64>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Bar(None);
        }
        let (bar, template) = match rows {
            Some(rows) => (
                ProgressBar::new(rows),
                "{bar:30} {percent} %  {human_len} rows, {per_sec}, {eta} left",
            ),
            None => (
                ProgressBar::new_spinner(),
                "{spinner} {human_pos} rows, {per_sec}, {elapsed}",
            ),
        };
        // The templates are constants of known keys; if they were not, the default style would do.
        let bar = match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        Bar(Some(bar))
    }

    /// More rows are done.
    pub fn add(&self, rows: u64) {
        if let Some(bar) = &self.0 {
            bar.inc(rows);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
