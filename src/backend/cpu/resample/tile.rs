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
