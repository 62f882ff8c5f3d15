//! Backends: batches of segments in, exact integer sums out.
//!
//! A backend knows nothing of estimates, p-values or files. What it returns is the same integers
//! whatever it runs on; [`crate::statistic`] and [`crate::inference`] turn them into numbers.

pub mod bootstrap;
pub mod cpu;
pub(crate) mod edges;
pub mod gpu;
pub mod kernels;
mod piece;
pub mod replicates;
pub mod resamples;
pub mod resilient;
pub mod stages;
pub mod subsamples;
mod terms;

use crate::predictions::Batch;
use crate::random::Key;

/// How rows of equal confidence are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Ties {
    /// The expectation over random tie-breaking: the result depends on nothing but the data.
    #[default]
    Average,
    /// Uniformly at random, from the seed.
    Random,
    /// In the order of the input.
    Stable,
}

/// How the edges of bins are laid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Scheme {
    /// Edges at j/K.
    #[default]
    EqualWidth,
    /// As many rows in each bin as ties allow.
    EqualMass,
}

/// Which end of an equal-width bin belongs to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Closed {
    /// ((j-1)/K, j/K], 0 in the first.
    #[default]
    Right,
    /// [(j-1)/K, j/K), 1 in the last.
    Left,
}

/// One way of binning a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binning {
    /// How edges are laid.
    pub scheme: Scheme,
    /// Which end is inside (equal-width).
    pub closed: Closed,
    /// The number of bins of each segment, at least 1.
    pub bins: Vec<u32>,
}

/// What to compute of each segment of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// How ties are ordered in the sum of adjacent residual products.
    pub ties: Ties,
    /// The key of random tie-breaking ([`crate::random::Stream::Ties`]).
    pub ties_key: Key,
    /// The key under which tied labels are placed for [`NeighbourSums`]; none: they are not asked
    /// for.
    pub neighbour_key: Option<Key>,
    /// Ways of binning.
    pub binnings: Vec<Binning>,
}

/// The integer sums of one segment (specification, section 6). With n rows, z the confidences, y the
/// labels:
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SegmentSums {
    /// n, the number of rows.
    pub rows: u64,
    /// The number of rows of label 1.
    pub positives: u64,
    /// Σ z, Q30.
    pub confidence: u64,
    /// The number of distinct confidences.
    pub distinct: u64,
    /// The number of rows that share their confidence with another row.
    pub tied_rows: u64,
    /// n · rankECE under the requested tie-breaking, Q60.
    pub rank_ece: i128,
    /// Σ v², Q66, where v = z(1-z).
    pub null_squares: u128,
    /// Σ v_(i) v_(i+1) over odd i (the first row is number 1), Q66.
    pub null_odd: u128,
    /// Σ v_(i) v_(i+1) over even i, Q66.
    pub null_even: u128,
    /// Null variance of n · rankECE given the confidences, tie-averaged, Q66.
    pub null_conditional: u128,
    /// Σ (y-z)², Q60.
    pub brier: u128,
    /// Moments for the neighbour interval, if asked for.
    pub neighbours: Option<NeighbourSums>,
    /// The bins of each requested binning.
    pub binned: Vec<Vec<BinSums>>,
}

/// Sums over the n-3 runs of four neighbours in confidence (specification, section 4), Q58; 0 if
/// n < 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NeighbourSums {
    /// Σ abcd, estimates E r⁴.
    pub r4: i128,
    /// Σ of the six h(a,b)cd, …, estimates 6 E r²s².
    pub r2s2: i128,
    /// Σ of the three h(a,b)h(c,d), …, estimates 3 E s⁴.
    pub s4: i128,
}

/// One bin of a segment. An empty bin is all zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinSums {
    /// The number of rows in the bin.
    pub rows: u64,
    /// The number of them of label 1.
    pub positives: u64,
    /// Σ z over them, Q30.
    pub confidence: u64,
    /// The bits of the smallest confidence in the bin.
    pub smallest: u64,
    /// The bits of the largest confidence in the bin.
    pub largest: u64,
}

/// A device that did not do its work. The rows are unharmed and can go to another backend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    /// No adapter fits.
    #[error("no usable GPU adapter: {0}")]
    NoAdapter(String),
    /// The device went away.
    #[error("the device was lost: {0}")]
    Lost(String),
    /// The device has too little memory.
    #[error("the device ran out of memory: {0}")]
    OutOfMemory(String),
    /// The device did not answer in time.
    #[error("the device did not finish within {0} seconds")]
    Timeout(u64),
    /// The device or its driver reported a fault.
    #[error("the device reported a fault: {0}")]
    Fault(String),
    /// The device's own check gave other integers than the CPU.
    #[error("the device computes wrong numbers: {0}")]
    WrongNumbers(String),
}

/// Something that turns batches into sums.
pub trait Backend: resamples::Resampler + subsamples::Subsampler + bootstrap::Bootstrapper {
    /// The sums of every segment, in order.
    ///
    /// Rows may be left in another order within their segments; with [`Ties::Stable`] call it once.
    ///
    /// # Errors
    /// If the device fails; the rows are then still those of the batch.
    fn sums(&self, batch: &mut Batch, request: &Request) -> Result<Vec<SegmentSums>, DeviceError>;
}
