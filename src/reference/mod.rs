//! The formulas of this crate, written out in f64: slow, plain, and used only to check the rest.
//!
//! Every fast result must lie within 2e-9 of the one computed here. So that a fault cannot hide in
//! both, this module shares no code with the integer arithmetic, the statistics or the inference it
//! checks. Two things are common by design, because they are part of the contract and not of a
//! computation: the types of confidences ([`Dtype`](crate::predictions::Dtype)), whose values are
//! what a bin's edge is rounded to, and what is drawn from a seed
//! ([`TiedLabels`](crate::placement::TiedLabels), [`Permutation`](crate::placement::Permutation),
//! [`threefry`](crate::random::threefry)).
//!
//! Everything starts from a [`Sample`]. Sources: \[CB26\] Chatterjee & Barber, "A Ranking Approach
//! for Measuring Calibration", arXiv 2609.13100; \[G17\] Guo et al., "On Calibration of Modern
//! Neural Networks", section 2.
//!
//! ```
//! use rankece::reference::{Sample, rank_ece};
//!
//! let sample = Sample::new(&[0.55, 0.65, 0.85, 0.95], &[true, false, true, true]).unwrap();
//! assert!((rank_ece::average(&sample).unwrap() - -0.095625).abs() < 1e-15);
//! ```

pub mod binned;
pub mod bins;
pub mod intervals;
pub mod null;
pub mod rank_ece;
pub mod resampling;
pub mod sample;
pub mod scores;
pub mod skce;
pub mod tests_of_calibration;

pub use sample::{Group, Sample};
