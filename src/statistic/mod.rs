//! From exact integer sums to estimates.

mod binned;
mod bins_rule;
pub mod log_loss;
pub mod skce;

pub use binned::{BinnedEstimates, binned, ece_l2_of_bins};
pub(crate) use bins_rule::integer_cube_root;
pub use bins_rule::{BinsRule, MOST_BINS, TooManyBins};
