//! What goes to standard error: notes, warnings and progress.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// Writes to standard error, unless it is to be quiet.
#[derive(Clone, Copy, Debug)]
pub struct Messages {
    quiet: bool,
}

impl Messages {
    /// Messages that are shown unless `quiet`.
    pub fn new(quiet: bool) -> Self {
        Messages { quiet }
    }

    /// Something that a reader of the results should know.
    pub fn note(self, text: &str) {
        self.line("note", text);
    }

    /// Something that did not go as asked, with right results all the same.
    pub fn warning(self, text: &str) {
        self.line("warning", text);
    }

    fn line(self, kind: &str, text: &str) {
        if !self.quiet {
            eprintln!("{kind}: {text}");
        }
    }

    /// Shows, on a terminal only, what is being done until the result is dropped.
    pub fn progress(self, text: String) -> Progress {
        if self.quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let style = ProgressStyle::with_template("{spinner} {msg} {elapsed}");
        let bar = ProgressBar::new_spinner().with_message(text);
        // The template is a constant of known keys; if it were not, the default style would do.
        let bar = match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        };
        bar.enable_steady_tick(Duration::from_millis(100));
        Progress(Some(bar))
    }
}

/// A line that vanishes when it is dropped.
pub struct Progress(Option<ProgressBar>);

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
