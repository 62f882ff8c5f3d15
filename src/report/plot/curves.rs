//! placeholder
use super::PlotError;
use crate::experiment::{ApproxReport, PowerReport};
use std::path::Path;
pub fn write_power(_: &Path, _: &PowerReport) -> Result<(), PlotError> {
    Err(PlotError::NoResults)
}
pub fn write_approx(_: &Path, _: &ApproxReport) -> Result<(), PlotError> {
    Err(PlotError::NoResults)
}
