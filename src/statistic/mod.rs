//! From exact integer sums to estimates.

pub mod log_loss;
