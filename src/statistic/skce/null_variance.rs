//! Whether the null resamples of `skce-u` can differ from each other.

use crate::backend::kernels::{SkceNull, SortedRows};
use crate::fixed_point::{ONE_Q30, value_q30};

/// Whether T* has a variance, given the rows; a kernel is never 0.
///
/// - multinomial: T* is a form in the centred matrix h̃, which is 0 exactly when wᵀhw = 0 for all w of
///   sum 0. The kernel is strictly positive definite, so the sums of w_i D_i over each tied group must
///   be 0 for all such w: all D are 0, or there is one tied group and all its D are equal.
/// - wild: T* is a sum of ±h_ij over i ≠ j, which needs two residuals that are not 0.
/// - Monte Carlo: the same, and a residual of confidence 0 or 1 (in Q30) is always 0.
pub fn varies(null: SkceNull, rows: &SortedRows) -> bool {
    match null {
        SkceNull::Multinomial => {
            let all_equal =
                rows.confidence.len() == 1 && rows.label.windows(2).all(|pair| pair[0] == pair[1]);
            nonzero_residuals(rows) > 0 && !all_equal
        }
        SkceNull::Wild => nonzero_residuals(rows) > 1,
        SkceNull::MonteCarlo => {
            let sized = std::iter::zip(&rows.confidence, &rows.size);
            let varying = sized.filter(|&(&z, _)| 0 < value_q30(z) && value_q30(z) < ONE_Q30);
            varying.map(|(_, &size)| u64::from(size)).sum::<u64>() > 1
        }
    }
}

/// The number of rows whose residual is not 0.
fn nonzero_residuals(rows: &SortedRows) -> usize {
    let sized = std::iter::zip(&rows.confidence, &rows.size);
    let of_rows = sized.flat_map(|(&z, &size)| std::iter::repeat_n(z, size as usize));
    std::iter::zip(of_rows, &rows.label)
        .filter(|&(z, &label)| z != f64::from(u8::from(label)))
        .count()
}
