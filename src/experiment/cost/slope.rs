//! How times grow with n.

use serde::Serialize;

use super::{CostRow, Measured};

/// Sizes that a slope needs at least: a line through two points fits them whatever they are.
const LEAST_SIZES: usize = 3;
/// From this n on a slope is fitted if there are enough sizes: below it fixed costs of a call flatten
/// the growth.
const LARGE: u32 = 1000;

/// How a time grows: seconds are proportional to n to the power `slope`, by least squares on logarithms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostSlope {
    /// The test.
    #[serde(flatten)]
    pub measured: Measured,
    /// The power; none with fewer than three sizes.
    pub slope: Option<f64>,
    /// The smallest n of the fit.
    pub from: u32,
    /// The largest.
    pub to: u32,
    /// How many n it is fitted to.
    pub sizes: usize,
    /// Why there is no slope.
    pub undefined: Option<String>,
}

/// A slope for each test, over the n from 1,000 on if there are three of them, else over all.
pub(super) fn slopes(rows: &[CostRow]) -> Vec<CostSlope> {
    rows.chunk_by(|a, b| a.measured == b.measured)
        .map(slope)
        .collect()
}

/// The slope of a test, whose rows are in ascending order of n, one at least.
fn slope(own: &[CostRow]) -> CostSlope {
    let small = own.partition_point(|row| row.n < LARGE);
    let used = match &own[small..] {
        large if large.len() >= LEAST_SIZES => large,
        _ => own,
    };
    let undefined = (used.len() < LEAST_SIZES).then(|| {
        format!(
            "a slope needs at least {LEAST_SIZES} sizes, but there {}; give more of them to --n",
            match used.len() {
                1 => "is 1".to_owned(),
                sizes => format!("are {sizes}"),
            }
        )
    });
    CostSlope {
        measured: own[0].measured,
        slope: undefined.is_none().then(|| least_squares(used)),
        from: used[0].n,
        to: used[used.len() - 1].n,
        sizes: used.len(),
        undefined,
    }
}

/// The slope of ln seconds on ln n, over rows of different n.
fn least_squares(rows: &[CostRow]) -> f64 {
    let points: Vec<(f64, f64)> = rows
        .iter()
        // A clock may say 0.
        .map(|row| (libm::log(row.n.into()), libm::log(row.seconds.max(1e-12))))
        .collect();
    let number = points.len() as f64;
    let mean_x = points.iter().map(|point| point.0).sum::<f64>() / number;
    let mean_y = points.iter().map(|point| point.1).sum::<f64>() / number;
    let spread: f64 = points.iter().map(|point| (point.0 - mean_x).powi(2)).sum();
    let common: f64 = points
        .iter()
        .map(|point| (point.0 - mean_x) * (point.1 - mean_y))
        .sum();
    common / spread
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::cost::measured::measured;
    use crate::inference::tests_of_calibration::TestName;

    /// A row of n^power nanoseconds.
    fn row(n: u32, power: i32) -> CostRow {
        CostRow {
            measured: measured(&[TestName::Asymptotic], false)[0],
            resamples: None,
            n,
            seconds: 1e-9 * f64::from(n).powi(power),
            least: 0.0,
            most: 0.0,
            runs: 1,
        }
    }

    #[test]
    fn slopes_of_exact_powers() {
        let rows = [row(100, 1), row(1000, 2), row(10_000, 2), row(100_000, 2)];
        let large = &slopes(&rows)[0];
        assert_eq!((large.from, large.to, large.sizes), (1000, 100_000, 3));
        assert!((large.slope.expect("three sizes") - 2.0).abs() < 1e-12);
        let all = &slopes(&[row(10, 1), row(100, 1), row(10_000, 1)])[0];
        assert_eq!((all.from, all.to), (10, 10_000));
        assert!((all.slope.expect("three sizes") - 1.0).abs() < 1e-12);
    }

    #[test]
    fn two_sizes_have_no_slope() {
        for (rows, words) in [
            (vec![row(1000, 2)], "there is 1"),
            (vec![row(1000, 2), row(2000, 2)], "there are 2"),
        ] {
            let slope = &slopes(&rows)[0];
            assert_eq!(slope.slope, None);
            let why = slope.undefined.as_deref().expect("a reason");
            assert!(
                why.contains("at least 3 sizes") && why.contains(words),
                "{why}"
            );
        }
    }
}
