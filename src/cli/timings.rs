//! How long the parts of an evaluation took (`--timings`).

use std::time::{Duration, Instant};

/// The part whose stages are told as well.
const COMPUTED: &str = "computed";

/// Times of parts that come one after the other.
pub struct Timings {
    start: Instant,
    /// When the part at hand began.
    part: Instant,
    parts: Vec<Part>,
}

struct Part {
    name: &'static str,
    /// Rows that it worked on, if it works on rows.
    rows: Option<u64>,
    time: Duration,
}

impl Default for Timings {
    fn default() -> Self {
        let start = Instant::now();
        Timings {
            start,
            part: start,
            parts: Vec::new(),
        }
    }
}

impl Timings {
    /// The part at hand ends, and the next begins.
    pub fn end(&mut self, name: &'static str, rows: Option<u64>) {
        let now = Instant::now();
        let time = now - self.part;
        self.parts.push(Part { name, rows, time });
        self.part = now;
    }

    /// Writes a line for each part to standard error, below what was computed one for each of its
    /// `stages`, and below these one for each of the backend's own, which are inside of them.
    pub fn tell(&self, stages: &[(&'static str, Duration)], backend: &[(&'static str, Duration)]) {
        for part in &self.parts {
            line(part.name, part.rows, part.time);
            if part.name != COMPUTED {
                continue;
            }
            let told: Duration = stages.iter().map(|(_, time)| *time).sum();
            for (stage, time) in stages {
                line(&format!("  {stage}"), part.rows, *time);
            }
            line("  the rest", part.rows, part.time.saturating_sub(told));
            for (stage, time) in backend {
                line(&format!("    {stage}"), part.rows, *time);
            }
        }
        line("total", None, self.start.elapsed());
    }
}

fn line(name: &str, rows: Option<u64>, time: Duration) {
    let seconds = time.as_secs_f64();
    match rows {
        Some(rows) => eprintln!(
            "{name} {rows} rows in {seconds:.6} s, {:.3} million rows/s",
            rows as f64 / seconds.max(1e-9) / 1e6
        ),
        None => eprintln!("{name} in {seconds:.6} s"),
    }
}
