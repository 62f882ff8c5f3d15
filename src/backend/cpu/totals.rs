//! Sums that do not depend on the order of rows.

use crate::backend::piece::Totals;
use crate::predictions::{Dtype, Word, with_known_dtype};

/// The number of positives, and Σ z in Q30. There are fewer than 2³² rows.
pub fn totals<W: Word>(dtype: Dtype, rows: &[W]) -> Totals {
    crate::simd::dispatch!(totals_body<W: Word>(dtype: Dtype, rows: &[W]) -> Totals)
}

#[inline(always)]
fn totals_body<W: Word>(dtype: Dtype, rows: &[W]) -> Totals {
    let mut totals = Totals::default();
    with_known_dtype!(dtype, dtype => for word in rows {
        // Checks would keep this from being vectorised; a sum is below 2³² · 2³⁰.
        totals.positives = totals.positives.wrapping_add(word.to_u64() & 1);
        let confidence = u64::from(dtype.q30(word.confidence_bits()));
        totals.confidence = totals.confidence.wrapping_add(confidence);
    });
    totals
}
