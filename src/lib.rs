//! Measures whether predicted probabilities can be trusted.
//!
//! A *confidence* Z in \[0, 1\] is a predicted probability, a *label* Y in {0, 1} is what happened.
//! Predictions are *calibrated* if E\[Y|Z\] = Z: of everything that is given 70 %, 70 % happens. How
//! far they are from it is ℓ2-ECE = E\[(E\[Y|Z\] - Z)²\], and [rankECE](inference) estimates it
//! without bins or any other choice.
//!
//! ```
//! use rankece::{Options, evaluate_slices};
//!
//! let confidences = [0.55, 0.65, 0.85, 0.95];
//! let labels = [true, false, true, true];
//! let result = evaluate_slices(&confidences, &labels, &Options::default())?;
//!
//! // (1/4) (0.45·(-0.65) + (-0.65)·0.15 + 0.15·0.05), the products of neighbouring residuals.
//! let rank_ece = result.rank_ece.estimate.expect("there are rows");
//! assert!((rank_ece - -0.095625).abs() < 1e-8);
//!
//! let asymptotic = &result.tests[0];
//! assert_eq!((asymptotic.name, asymptotic.reject), ("asymptotic", Some(false)));
//! # Ok::<(), rankece::EvaluateError>(())
//! ```
//!
//! # The way of the data
//!
//! ```text
//! file ─ input ─▶ Batch ─ backend (cpu | gpu) ─▶ integer sums ─ statistic, inference ─▶ results ─ report
//! ```
//!
//! One direction, one duty for each part:
//!
//! 1. [`input`] reads files and refuses, with file, row and column, what is not a confidence with
//!    its label. Its result is a [`Batch`], whose rows are valid from then on.
//! 2. A [`backend`] sorts rows and returns a few sums for each segment. Sums are exact integers
//!    ([`fixed_point`]), so that no order of summation, and hence no device and no number of
//!    threads, can change a bit of any result; sums of a kernel alone are in floats
//!    ([`backend::kernels::PairSummer`] says what they promise). What is random ([`random`],
//!    [`placement`]) depends on a seed and a counter, never on the order of rows.
//! 3. [`statistic`] and [`inference`] turn the sums into estimates, tests and intervals in f64: one
//!    piece of code for all backends.
//! 4. [`results`] is the shape of what was found, and [`report`] writes it: tables, JSON, CSV and
//!    reliability diagrams.
//!
//! `docs/specification.md` has all formulas and contracts; comments name its sections.
//! [`reference`](mod@reference) holds the formulas a second time, written out in f64 as in the
//! papers; it serves to check the rest, in the tests and on the user's machine ([`selfcheck`]).
//! [`cli`] is the command line.
//!
//! # On a GPU
//!
//! [`evaluate()`](fn@evaluate) takes any [`Backend`](backend::Backend). `examples/evaluate.rs` opens
//! an adapter, puts the CPU behind it ([`Resilient`](backend::resilient::Resilient)) and evaluates
//! several segments at once.
//!
//! # `unsafe`
//!
//! Five places, each with its reason beside it: vector instructions that the processor was asked
//! about (`simd`), tables that vectors read without checks of bounds (`backend::cpu::residuals`), the
//! scatter of the radix sort, whose threads write to interleaved places of one slice
//! (`backend::cpu::radix_sort`), this crate's own shaders without run-time checks
//! (`backend::gpu::device`), and an environment variable that the program sets before it has a second
//! thread (`main`).

#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

pub mod backend;
pub mod cli;
pub mod evaluate;
pub mod experiment;
pub mod fixed_point;
pub mod inference;
pub mod input;
pub mod model;
pub mod placement;
pub mod predictions;
pub mod random;
pub mod reference;
pub mod report;
pub mod resampling;
pub mod results;
mod row_resampling;
pub mod selfcheck;
mod simd;
pub mod statistic;

pub use evaluate::{EvaluateError, Options, evaluate, evaluate_slices};
pub use predictions::Batch;
