pub mod backend;
pub mod evaluation;
pub mod fixed_point;
pub mod placement;
pub mod predictions;
pub mod random;
pub mod report;
