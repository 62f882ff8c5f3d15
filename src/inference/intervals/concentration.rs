//! The interval of a concentration inequality.

use super::{IntervalName, interval};
use crate::backend::SegmentSums;
use crate::inference::{n_rank_ece, wrong_level};
use crate::results::Interval;

/// rankECE ± √(81 log(2/α) / (32 n)). \[CB26 Prop. 2.1\]
///
/// |rankECE - E rankECE| stays within this width with probability 1 - `alpha` at least, whatever
/// the law and n. Undefined without rows.
pub fn concentration(sums: &SegmentSums, alpha: f64) -> Interval {
    interval(
        IntervalName::Concentration.as_str(),
        alpha,
        ends(sums, alpha),
    )
}

fn ends(sums: &SegmentSums, alpha: f64) -> Result<(f64, f64), String> {
    if let Some(reason) = wrong_level(alpha) {
        return Err(reason);
    }
    if sums.rows == 0 {
        return Err("there are no rows".into());
    }
    let n = sums.rows as f64;
    let half_width = (81.0 * libm::log(2.0 / alpha) / (32.0 * n)).sqrt();
    let estimate = n_rank_ece(sums.rank_ece) / n;
    Ok((estimate - half_width, estimate + half_width))
}
