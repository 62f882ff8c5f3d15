//! What tests of calibration cost: their run time over n.
//!
//! A measured call takes the rows of one sample, in memory and in random order, to the decision of one
//! test: it sorts, sums, draws resamples, all of it. Nothing is read or written.

mod measured;
mod sample;
mod slope;
mod spec;

use serde::Serialize;

use super::journal::{AdapterUsed, ComputedBy};
use super::point::{Point, Source};
use super::sampler::SourceError;
use crate::backend::{Backend, DeviceError};
use crate::model::Model;
pub use measured::Measured;
use measured::measured;
use sample::Sample;
pub use slope::CostSlope;
use slope::slopes;
pub use spec::CostSpec;

/// Measurements of a row end after this many seconds, with at least one of them; a first call that
/// takes longer is the only one.
pub const ENOUGH: f64 = sample::ENOUGH;

/// The time of a test at one n.
#[derive(Clone, Debug, Serialize)]
pub struct CostRow {
    /// The test.
    #[serde(flatten)]
    pub measured: Measured,
    /// Rows of the sample.
    pub n: u32,
    /// Null resamples, of a test that draws them.
    pub resamples: Option<u32>,
    /// The median time of a call.
    pub seconds: f64,
    /// The shortest.
    pub least: f64,
    /// The longest.
    pub most: f64,
    /// How many measurements these are of: fewer than asked for where one takes long.
    pub runs: u32,
}

/// Run times.
#[derive(Clone, Debug, Serialize)]
pub struct CostReport {
    /// Version of the shape of the JSON.
    pub schema: u32,
    /// Version of rankece.
    pub version: String,
    /// `cpu`, or `gpu` where that was measured beside it.
    pub backend: String,
    /// The adapter, if one was measured.
    pub adapter: Option<AdapterUsed>,
    /// What was asked for.
    pub spec: CostSpec,
    /// The times.
    pub rows: Vec<CostRow>,
    /// How they grow.
    pub slopes: Vec<CostSlope>,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum CostError {
    /// The law or curve.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The device.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The samples.
    #[error(transparent)]
    Batch(#[from] crate::predictions::BatchError),
}

/// Measures every test at every n, on the CPU and on `gpu` where a test runs there. `tell` is told of
/// each row before it is measured.
///
/// # Errors
/// If the law or curve cannot be used, or the device fails.
pub fn cost(
    spec: &CostSpec,
    source: &Source,
    by: &ComputedBy,
    gpu: Option<&dyn Backend>,
    tell: &dyn Fn(&Measured, u32),
) -> Result<CostReport, CostError> {
    let Source::Model { law, curve } = source else {
        return Ok(report(spec, by, Vec::new()));
    };
    let model = Model::new(law.clone(), curve.clone(), spec.seed).map_err(SourceError::from)?;
    let mut rows = Vec::new();
    for &n in &spec.n {
        let point = Point {
            source: source.clone(),
            rows: n,
        };
        let sample = Sample::new(&model, &point, spec.seed)?;
        for measured in measured(&spec.tests, gpu.is_some()) {
            tell(&measured, n);
            let times = sample.times(&measured, spec, gpu)?;
            rows.push(CostRow {
                measured,
                n,
                resamples: spec.resamples(measured.test, n),
                seconds: median(&times),
                least: times[0],
                most: times[times.len() - 1],
                runs: times.len() as u32,
            });
        }
    }
    rows.sort_by_key(|row| {
        let all = measured(&spec.tests, gpu.is_some());
        (all.iter().position(|one| *one == row.measured), row.n)
    });
    Ok(report(spec, by, rows))
}

fn report(spec: &CostSpec, by: &ComputedBy, rows: Vec<CostRow>) -> CostReport {
    CostReport {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        backend: by.backend.clone(),
        adapter: by.adapter.clone(),
        spec: spec.clone(),
        slopes: slopes(&rows),
        rows,
    }
}

fn median(ascending: &[f64]) -> f64 {
    let middle = ascending.len() / 2;
    if ascending.len() % 2 == 1 {
        ascending[middle]
    } else {
        0.5 * (ascending[middle - 1] + ascending[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[1.0, 2.0, 4.0]), 2.0);
        assert_eq!(median(&[1.0, 2.0, 4.0, 9.0]), 3.0);
    }
}
