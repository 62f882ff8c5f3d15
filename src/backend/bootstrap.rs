//! Bootstrap resamples: rows drawn with replacement (specification, section 4).
//!
//! Bins of a sorted sample are runs of rows, and a resample keeps their edges. So all there is to know
//! of a resample are sums over runs of sorted rows, each row as often as it was drawn.

use std::ops::Range;

use super::{BinSums, DeviceError};
use crate::predictions::{Dtype, Rows, Word};
use crate::random::Key;
use crate::with_words;

/// Rows in ascending order of confidence, those of one confidence in ascending order of label, so that
/// the order of the input does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SortedRows {
    /// The confidence in Q30, which takes 31 bits, and above it the label.
    pub words: Vec<u32>,
}

impl SortedRows {
    /// Some rows of a batch, in any order.
    ///
    /// # Panics
    /// If `range` is not one of rows.
    pub fn new(rows: &Rows, range: Range<usize>) -> Self {
        let dtype = rows.dtype();
        with_words!(rows, words => {
            let mut sorted = words[range].to_vec();
            sorted.sort_unstable();
            Self::of_sorted(dtype, &sorted)
        })
    }

    fn of_sorted<W: Word>(dtype: Dtype, sorted: &[W]) -> Self {
        let word = |row: &W| dtype.q30(row.confidence_bits()) | u32::from(row.label()) << 31;
        SortedRows {
            words: sorted.iter().map(word).collect(),
        }
    }
}

/// Resamples of one sample.
///
/// Row i of resample b, i from 0, is the row of rank ⌊U·n/2³²⌋ in the sample, where U is the first word
/// of the call of Threefry with counter (i, b) under [`super::resamples::resample_key`].
#[derive(Clone, Copy, Debug)]
pub struct Bootstrap<'a> {
    /// The sample: at least one row, and fewer than 2³².
    pub rows: &'a SortedRows,
    /// Where cells of rows end, ascending; the last is the number of rows. Cells are the parts into
    /// which all edges of all binnings together cut the rows.
    pub ends: &'a [u32],
    /// The key of the sample: that of its replicate under the point's key of stream 6.
    pub key: Key,
}

/// The rows of a resample in one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellSums {
    /// Their number.
    pub rows: u64,
    /// The number of them of label 1.
    pub positives: u64,
    /// Σ z over them, Q30.
    pub confidence: u64,
}

impl CellSums {
    /// Cells that make up a bin. Its smallest and largest confidence are not known, and 0.
    pub fn bin(cells: &[CellSums]) -> BinSums {
        let mut bin = BinSums::default();
        for cell in cells {
            bin.rows += cell.rows;
            bin.positives += cell.positives;
            bin.confidence += cell.confidence;
        }
        bin
    }
}

/// Something that draws bootstrap resamples.
pub trait Bootstrapper {
    /// The cells of resamples `first..first + count`: all of one, then all of the next.
    ///
    /// # Errors
    /// If the device fails.
    fn bootstrap(
        &self,
        bootstrap: &Bootstrap<'_>,
        first: u32,
        count: u32,
    ) -> Result<Vec<CellSums>, DeviceError>;
}
