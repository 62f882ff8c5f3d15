//! Spiegelhalter's test.

use super::Undefined;
use crate::backend::resamples::TiedGroups;
use crate::fixed_point::null_variance_q33;

/// One unit of a sum in Q93.
const Q93: f64 = 1.0 / (1u128 << 93) as f64;

/// Z = Σ (Y-Z)(1-2Z) / √(Σ (1-2Z)² Z(1-Z)), standard normal under H0 for large n: the Brier score less
/// its null mean, over its null standard deviation, with the sign turned.
///
/// Source: Spiegelhalter, "Probabilistic prediction in patient management and clinical trials",
/// Statistics in Medicine 5 (1986).
///
/// # Errors
/// If n < 2 or the variance is 0.
pub fn spiegelhalter(groups: &TiedGroups, positives: &[u32]) -> Result<f64, Undefined> {
    if groups.rows < 2 {
        return Err(Undefined::Rows(groups.rows.into()));
    }
    let (mut sum, mut variance) = (0i128, 0u128);
    let sized = groups.confidence.iter().zip(&groups.size);
    for ((&confidence, &size), &positives) in sized.zip(positives) {
        let weight = (1i64 << 30) - 2 * i64::from(confidence);
        let residual = (i64::from(positives) << 30) - i64::from(size) * i64::from(confidence);
        sum += i128::from(residual) * i128::from(weight);
        // At most 2⁸⁹ for each of fewer than 2³² rows, as (1-2z)² z(1-z) <= 1/16.
        variance += u128::from(size)
            * u128::from((weight * weight) as u64)
            * u128::from(null_variance_q33(confidence));
    }
    if variance == 0 {
        return Err(Undefined::NoBrierVariance);
    }
    Ok(sum as f64 / (1u64 << 60) as f64 / (variance as f64 * Q93).sqrt())
}
