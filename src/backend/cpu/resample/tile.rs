//! What the resamples of a tile, side by side, add up to.

/// The sums of the resamples of a tile.
pub struct TileSums<const LANES: usize> {
    pub rank_ece: [i128; LANES],
    /// One for each width.
    pub windows: Vec<[i128; LANES]>,
    pub lowest: [i64; LANES],
    pub highest: [i64; LANES],
}

impl<const LANES: usize> TileSums<LANES> {
    /// Of no rows, with sums for some widths.
    pub fn new(widths: usize) -> Self {
        TileSums {
            rank_ece: [0; LANES],
            windows: vec![[0; LANES]; widths],
            lowest: [0; LANES],
            highest: [0; LANES],
        }
    }
}

/// Samples whose labels are counted must have fewer rows than this: a linear term is below 2³¹ n, and those of a span's rows
/// are added in 63 bits.
pub const MOST_ROWS: u32 = 1 << 26;

/// The mean label of a tied group of fewer than 2²⁰ rows, Q30, of which `step` is that of one positive
/// row. It is `fraction_q30`: the f64 nearest to 2³⁰k/m lies on the same side of every half as 2³⁰k/m
/// itself, which is at least 1/(2m) away if it is none, while three roundings move it by less than 2⁻²¹.
///
/// # Safety
/// There are at most as many positives as rows.
#[inline(always)]
pub unsafe fn fraction(positives: i32, step: f64) -> i32 {
    // SAFETY: from 0 to 2³⁰ + 1.
    unsafe { (f64::from(positives) * step + 0.5).to_int_unchecked::<i32>() }
}
