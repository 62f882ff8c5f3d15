//! Pieces: consecutive sorted rows of a segment, cut between runs of equal confidence. Most segments
//! are one piece; one that is too large for a device is several.

use std::ops::AddAssign;

use super::terms::{RowSums, RunSums};
use super::{BinSums, SegmentSums};

/// Where a piece lies in its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rank, from 0, of its first row.
    pub first_rank: u32,
    /// The number of rows of the whole segment.
    pub segment_rows: u32,
}

/// The number of positives and Σ z in Q30 of some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    pub positives: u64,
    pub confidence: u64,
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.positives += other.positives;
        self.confidence += other.confidence;
    }
}

/// The sums of a piece, without what it shares with the pieces beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PieceSums {
    pub rows: u64,
    pub totals: Totals,
    pub runs: RunSums,
    /// Sums in the order of rows, where ties are not averaged.
    pub ordered: Option<RowSums>,
    /// Sums under the placement of the neighbour interval, if asked for.
    pub neighbours: Option<RowSums>,
    pub binned: Vec<Vec<BinSums>>,
}

impl PieceSums {
    /// Adds a piece of the same segment and request. What lies across the cut between them is added
    /// to `runs`, `ordered` and `neighbours` by itself.
    pub fn absorb(&mut self, other: PieceSums) {
        self.rows += other.rows;
        self.totals += other.totals;
        self.runs += other.runs;
        add_option(&mut self.ordered, other.ordered);
        add_option(&mut self.neighbours, other.neighbours);
        if self.binned.is_empty() {
            self.binned = other.binned;
            return;
        }
        for (own, others) in std::iter::zip(&mut self.binned, other.binned) {
            for (bin, other) in std::iter::zip(own, others) {
                bin.absorb(other);
            }
        }
    }

    /// The sums of a segment that this piece is all of.
    pub fn into_segment(self) -> SegmentSums {
        SegmentSums {
            rows: self.rows,
            positives: self.totals.positives,
            confidence: self.totals.confidence,
            distinct: self.runs.distinct,
            tied_rows: self.runs.tied_rows,
            rank_ece: self
                .ordered
                .map_or(self.runs.rank_ece, |sums| sums.adjacent),
            null_squares: self.runs.null_squares,
            null_odd: self.runs.null_odd,
            null_even: self.runs.null_even,
            null_conditional: self.runs.null_conditional,
            brier: self.runs.brier,
            neighbours: self.neighbours.map(|sums| sums.neighbours),
            binned: self.binned,
        }
    }
}

fn add_option(own: &mut Option<RowSums>, other: Option<RowSums>) {
    if let Some(other) = other {
        *own.get_or_insert_default() += other;
    }
}

impl BinSums {
    /// Adds the rows of a bin that lie in another piece.
    fn absorb(&mut self, other: BinSums) {
        if other.rows == 0 {
            return;
        }
        if self.rows == 0 {
            *self = other;
            return;
        }
        self.rows += other.rows;
        self.positives += other.positives;
        self.confidence += other.confidence;
        self.smallest = self.smallest.min(other.smallest);
        self.largest = self.largest.max(other.largest);
    }
}
