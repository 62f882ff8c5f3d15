//! Long simulations: the power of tests, the accuracy of estimates, and the figures of the paper.
//!
//! A [`Spec`] says what is asked for, put together in a [`Draft`]; a [`Plan`] is its grid of points, each with what replicates
//! are drawn from; a [`Runner`] works through the plan in units of consecutive replicates and keeps
//! each finished unit as a few integers, in memory or in a [`journal`] that survives being killed.
//! Sums of integers do not depend on who added them up: a resumed run, and shards put together,
//! give the bytes of an unbroken run.

pub mod cost;
mod draft;
pub mod figures;
mod forecast;
mod job;
pub mod journal;
mod kernel;
mod measure;
mod plan;
mod point;
mod range;
mod results;
mod runner;
mod sampler;
mod shard;
mod solve;
mod spec;
mod unused;
pub mod wilson;

pub use draft::Draft;
pub use job::{Job, KernelJob};
pub use kernel::KernelTests;
pub use measure::{Measure, Tally, mean_and_sd};
pub use plan::{Missing, Plan, PlanError};
pub use point::{Columns, Point, Source, Units};
pub use range::expand;
pub use results::{
    ApproxCurve, ApproxReport, Bins, Computed, Estimator, PowerCurve, PowerReport, PowerTruth,
    Solved, TestPower, Truth,
};
pub use runner::{Halt, Runner};
pub use sampler::{Population, Sampler, SourceError};
pub use shard::Shard;
pub use solve::{LARGEST, check_solvable, name_computed, solve};
pub use spec::{Command, FEWEST_ROWS, MOST_ROWS, Spec, SpecError};
