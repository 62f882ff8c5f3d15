//! Sums over windows of ranks, S_L = Σ_{1<=i-k<=L} W_i W_k, from tied group to tied group.
//!
//! Inside a group W is constant, so F_t, the sum of W over the rows before t, is linear there, and Φ_t,
//! the sum of F before t, is quadratic. Of the pairs that are more than L apart, the rows [s, e) of a
//! group have W (Φ_{e-L} - Φ_{s-L}), so that a group costs as much as a row:
//!
//! S_L = ((Σ W)² - Σ W²)/2 - Σ_groups W (Φ_{e-L} - Φ_{s-L}).
//!
//! Φ is kept modulo 2⁶⁴: differences over few enough rows are below that, and larger groups are cut.

use crate::backend::cpu::wide_sum::WideSums;

/// The bytes kept of a resample with so many groups.
pub fn bytes_of_resample(groups: usize) -> usize {
    20 * (groups + 1)
}

/// The mean residuals of tied groups, in each lane.
pub struct GroupWindows<const LANES: usize> {
    /// The row after the last of each group.
    end: Vec<u32>,
    /// W, Q30.
    residual: Vec<[i32; LANES]>,
    /// F before each group, and after the last.
    sum: Vec<[i64; LANES]>,
    /// Φ before each group, and after the last, modulo 2⁶⁴.
    double_sum: Vec<[i64; LANES]>,
    /// Σ W² over rows, by low and high words of W²; there are fewer than 2³² rows.
    square_low: [u64; LANES],
    square_high: [u64; LANES],
}

/// d(d-1)/2 modulo 2⁶⁴, exact for numbers of rows.
#[inline(always)]
fn pairs(rows: u32) -> i64 {
    let rows = i64::from(rows);
    rows.wrapping_mul(rows.wrapping_sub(1)) >> 1
}

impl<const LANES: usize> GroupWindows<LANES> {
    pub fn new() -> Self {
        GroupWindows {
            end: Vec::new(),
            residual: Vec::new(),
            sum: Vec::new(),
            double_sum: Vec::new(),
            square_low: [0; LANES],
            square_high: [0; LANES],
        }
    }

    /// Forgets all groups.
    pub fn clear(&mut self) {
        self.end.clear();
        self.residual.clear();
        self.sum.clear();
        self.sum.push([0; LANES]);
        self.double_sum.clear();
        self.double_sum.push([0; LANES]);
        self.square_low = [0; LANES];
        self.square_high = [0; LANES];
    }

    /// Appends groups of some sizes.
    #[inline(always)]
    pub fn push(&mut self, size: &[u32], residual: &[[i32; LANES]]) {
        self.residual.extend_from_slice(residual);
        let mut end = self.end.last().copied().unwrap_or(0);
        let (mut sum, mut double_sum) = (
            self.sum.last().copied().unwrap_or([0; LANES]),
            self.double_sum.last().copied().unwrap_or([0; LANES]),
        );
        for (&size, residual) in size.iter().zip(residual) {
            end = end.wrapping_add(size);
            self.end.push(end);
            let (rows, pairs) = (i64::from(size), pairs(size));
            for lane in 0..LANES {
                let residual = i64::from(residual[lane]);
                if size == 1 {
                    double_sum[lane] = double_sum[lane].wrapping_add(sum[lane]);
                    sum[lane] = sum[lane].wrapping_add(residual);
                } else {
                    double_sum[lane] = double_sum[lane]
                        .wrapping_add(sum[lane].wrapping_mul(rows))
                        .wrapping_add(residual.wrapping_mul(pairs));
                    sum[lane] = sum[lane].wrapping_add(residual.wrapping_mul(rows));
                }
                let square = residual.wrapping_mul(residual) as u64;
                let (low, high) = (square & 0xFFFF_FFFF, square >> 32);
                let rows = u64::from(size);
                self.square_low[lane] = self.square_low[lane].wrapping_add(low.wrapping_mul(rows));
                self.square_high[lane] =
                    self.square_high[lane].wrapping_add(high.wrapping_mul(rows));
            }
            self.sum.push(sum);
            self.double_sum.push(double_sum);
        }
    }

    /// The sum over windows of a width, Q60.
    #[inline(always)]
    pub fn sum(&self, width: u32) -> [i128; LANES] {
        let far = self.far_pairs(width);
        let mut sums = [0; LANES];
        for lane in 0..LANES {
            let sum = i128::from(self.sum[self.end.len()][lane]);
            let squares =
                (i128::from(self.square_high[lane]) << 32) + i128::from(self.square_low[lane]);
            sums[lane] = (sum * sum - squares) / 2 - far[lane];
        }
        sums
    }

    /// Σ_{i-k>L} W_i W_k.
    #[inline(always)]
    fn far_pairs(&self, width: u32) -> [i128; LANES] {
        match LANES {
            16.. => self.far_pairs_in_blocks::<16>(width),
            4.. => self.far_pairs_in_blocks::<4>(width),
            _ => self.far_pairs_in_blocks::<1>(width),
        }
    }

    /// The same, a block of lanes after the other, so that its sums stay in registers. Blocks divide the
    /// lanes.
    #[inline(always)]
    fn far_pairs_in_blocks<const BLOCK: usize>(&self, width: u32) -> [i128; LANES] {
        const { assert!(LANES < BLOCK || LANES.is_multiple_of(BLOCK)) };
        let mut sums = [0; LANES];
        let blocks = sums.as_chunks_mut::<BLOCK>().0;
        for (block, sums) in blocks.iter_mut().enumerate() {
            *sums = self.far_pairs_of_block(block, width);
        }
        sums
    }

    /// The same of some lanes.
    #[inline(always)]
    fn far_pairs_of_block<const BLOCK: usize>(&self, block: usize, width: u32) -> [i128; BLOCK] {
        let rows = self.end.last().copied().unwrap_or(0);
        // F is below 2³⁰ times the rows, so that this many add up to less than 2⁶².
        let most = ((1u64 << 32) / u64::from(rows.max(1))).min(1 << 31) as u32;
        let (mut low, mut high) = (WideSums::<BLOCK>::default(), WideSums::<BLOCK>::default());
        let first = self.end.partition_point(|&end| end <= width);
        // The group that the row `width` rows before lies in, or ends with it.
        let mut place = 0;
        let mut start = 0u32;
        let mut last = [0i64; BLOCK];
        let mut row = width;
        for group in first..self.end.len() {
            let residual = &self.residual[group].as_chunks::<BLOCK>().0[block];
            let end = self.end[group];
            while row < end {
                row = if end - row > most { row + most } else { end };
                let behind = row - width;
                while self.end[place] < behind {
                    start = self.end[place];
                    place += 1;
                }
                let here = if self.end[place] == behind {
                    self.double_sum[place + 1].as_chunks::<BLOCK>().0[block]
                } else {
                    self.inside(block, place, behind - start)
                };
                for lane in 0..BLOCK {
                    let difference = here[lane].wrapping_sub(last[lane]);
                    let residual = i64::from(residual[lane]);
                    let low_part = i64::from((difference & 0x7FFF_FFFF) as i32);
                    let high_part = i64::from((difference >> 31) as i32);
                    low.add(lane, residual.wrapping_mul(low_part));
                    high.add(lane, residual.wrapping_mul(high_part));
                }
                last = here;
            }
        }
        std::array::from_fn(|lane| low.total(lane) + (high.total(lane) << 31))
    }

    /// Φ some rows after the start of a group, modulo 2⁶⁴.
    #[inline(always)]
    fn inside<const BLOCK: usize>(&self, block: usize, group: usize, rows: u32) -> [i64; BLOCK] {
        let (count, pairs) = (i64::from(rows), pairs(rows));
        let sum = &self.sum[group].as_chunks::<BLOCK>().0[block];
        let residual = &self.residual[group].as_chunks::<BLOCK>().0[block];
        let mut here = self.double_sum[group].as_chunks::<BLOCK>().0[block];
        for lane in 0..BLOCK {
            here[lane] = here[lane]
                .wrapping_add(sum[lane].wrapping_mul(count))
                .wrapping_add(i64::from(residual[lane]).wrapping_mul(pairs));
        }
        here
    }
}
