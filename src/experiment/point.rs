//! Points of a grid, and the units of work that they are cut into.

use std::fmt;
use std::ops::Range;

use crate::model::{Curve, Law};
use crate::random::{Key, Stream};

/// Where replicates come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A law of the confidence and a curve.
    Model {
        /// The law.
        law: Law,
        /// The curve.
        curve: Curve,
    },
    /// Rows of a file, without replacement.
    Population {
        /// The file.
        file: String,
        /// Where its confidences and labels are.
        columns: Columns,
    },
}

/// Where the confidences and labels of a population are, as for `evaluate`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    /// The column or array of confidences; else it is guessed.
    pub confidence: Option<String>,
    /// The column or array of labels; else it is guessed.
    pub label: Option<String>,
    /// The label that counts as 1; else labels are 0/1, true/false or -1/1.
    pub positive: Option<String>,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Model { law, curve } => write!(f, "{law}|{curve}"),
            Source::Population { file, .. } => write!(f, "population:{file}|"),
        }
    }
}

/// A point of a grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// Where replicates come from.
    pub source: Source,
    /// n, the rows of a replicate.
    pub rows: u32,
}

impl Point {
    /// The key of its random numbers, of CRC-32 of "law|curve|n": it does not depend on the other
    /// points of the grid.
    pub fn key(&self, seed: u64) -> Key {
        let stream = match self.source {
            Source::Model { .. } => Stream::Replicates,
            Source::Population { .. } => Stream::Subsample,
        };
        self.stream_key(seed, stream)
    }

    /// The key of one stream at this point.
    pub fn stream_key(&self, seed: u64, stream: Stream) -> Key {
        // The number of a point is the CRC-32 of "law|curve|n".
        let name = format!("{}|{}", self.source, self.rows);
        Key::for_stream(seed, stream, crc32fast::hash(name.as_bytes()))
    }

    /// How `replicates` replicates are cut into units, by what is asked for alone and never by the
    /// machine, so that shards and resumed runs agree. `bins` are those of a replicate, `resamples` its
    /// null resamples of labels, and `pairs` the pairs of rows whose kernels it takes.
    pub fn units(&self, replicates: u64, bins: usize, resamples: u32, pairs: u64) -> Units {
        // Some 100 ms of a core, and at most some 100 MB of bins.
        const ROWS: u64 = 1 << 23;
        let rows = u64::from(self.rows) * (1 + u64::from(resamples)) + bins as u64;
        let words = rows.saturating_add(pairs);
        Units {
            replicates,
            size: (ROWS / words).max(1),
        }
    }
}

/// Consecutive replicates, cut into units of one size; the last may be smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    replicates: u64,
    size: u64,
}

impl Units {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.replicates.div_ceil(self.size)
    }

    /// The replicates of a unit.
    pub fn replicates(&self, unit: u64) -> Range<u64> {
        unit * self.size..self.replicates.min((unit + 1) * self.size)
    }
}
