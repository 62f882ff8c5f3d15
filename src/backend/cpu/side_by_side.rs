//! Sixteen simulated replicates side by side, one in each lane: their rows are drawn, sorted and
//! multiplied with their neighbours without a branch and without crossing lanes.

use super::draw::{ROWS_TOGETHER, draw_side_by_side};
use super::residuals::{Cells, residuals};
use super::sort_lanes::{LANES, Row, padded, sort_lanes};
use super::wide_sum::{WideSums, product, signed_product};
use crate::backend::replicates::{ReplicateSums, Replicates, replicate_key};

/// Rows of a replicate up to which this is the faster way (measured, Zen 4).
pub const MOST_ROWS: usize = 16384;

/// Rows whose residuals are held at a time. Even, so that odd terms stay odd.
const BLOCK: usize = 64;

/// What a thread keeps from replicates to replicates.
pub struct SideBySide {
    uniform: Vec<Row>,
    label: Vec<Row>,
    /// The last row of the block before, and the rows of a block.
    residual: Vec<[i32; LANES]>,
    variance: Vec<[u32; LANES]>,
}

impl SideBySide {
    /// For replicates of `rows` rows.
    pub fn new(rows: usize) -> Self {
        SideBySide {
            uniform: vec![Row::PAST; padded(rows)],
            label: vec![Row::PAST; padded(rows)],
            residual: vec![[0; LANES]; BLOCK + 1],
            variance: vec![[0; LANES]; BLOCK + 1],
        }
    }

    /// Draws and sorts replicates `first..first + 16`. The high words of their numbers must be equal.
    pub fn draw_and_sort(&mut self, replicates: &Replicates<'_>, first: u64) {
        debug_assert_eq!(first >> 32, (first + LANES as u64 - 1) >> 32);
        let rows = replicates.rows as usize;
        // There is room for those too many, as the padded number is a multiple too.
        let drawn = rows.next_multiple_of(ROWS_TOGETHER);
        draw_side_by_side(
            replicate_key(replicates.key, first),
            first as u32,
            &mut self.uniform[..drawn],
            &mut self.label[..drawn],
        );
        self.uniform[rows..drawn].fill(Row::PAST);
        sort_lanes(&mut self.uniform, rows);
    }

    /// One replicate's sorted uniform words and its label words.
    pub fn copy_lane(&self, lane: usize, uniform: &mut [u32], label: &mut [u32]) {
        for (target, row) in uniform.iter_mut().zip(&self.uniform) {
            *target = row.0[lane];
        }
        for (target, row) in label.iter_mut().zip(&self.label) {
            *target = row.0[lane];
        }
    }

    /// The sums of the replicates, which have no ties and no bins.
    pub fn sums(
        &mut self,
        replicates: &Replicates<'_>,
        cells: Option<&Cells>,
    ) -> [ReplicateSums; LANES] {
        let rows = replicates.rows as usize;
        let mut products = Products::default();
        // A row of zeros before the first adds nothing.
        self.residual[0] = [0; LANES];
        self.variance[0] = [0; LANES];
        for first in (0..rows).step_by(BLOCK) {
            let rows = first..rows.min(first + BLOCK);
            let count = rows.len();
            residuals(
                replicates.quantile,
                cells,
                bytemuck::cast_slice(&self.uniform[rows.clone()]),
                bytemuck::cast_slice(&self.label[rows]),
                self.residual[1..=count].as_flattened_mut(),
                self.variance[1..=count].as_flattened_mut(),
            );
            add_products(
                &self.residual[..=count],
                &self.variance[..=count],
                &mut products,
            );
            self.residual[0] = self.residual[count];
            self.variance[0] = self.variance[count];
        }
        std::array::from_fn(|lane| products.sums(lane))
    }
}

/// Sums of products, lane by lane.
#[derive(Clone, Copy, Default)]
struct Products {
    residuals: WideSums<LANES>,
    squares: WideSums<LANES>,
    odd: WideSums<LANES>,
    even: WideSums<LANES>,
}

impl Products {
    fn sums(&self, lane: usize) -> ReplicateSums {
        // Products of variances are not negative.
        let [squares, odd, even] =
            [&self.squares, &self.odd, &self.even].map(|sum| sum.total(lane) as u128);
        ReplicateSums {
            rank_ece: self.residuals.total(lane),
            null_squares: squares,
            null_odd: odd,
            null_even: even,
            null_conditional: odd + even,
            bins: Vec::new(),
        }
    }
}

/// Rows whose products are added before they join the sums. A product of residuals is at most 2⁶⁰ in
/// size and one of null variances at most 2⁶², so that 64 bits hold four of the former and two of the
/// latter.
const TOGETHER: usize = 4;

/// Adds the products of rows 1, 2, … with the row before; rows 1, 3, … complete even terms.
fn add_products(residual: &[[i32; LANES]], variance: &[[u32; LANES]], products: &mut Products) {
    crate::simd::dispatch!(add_products_body(
        residual: &[[i32; LANES]],
        variance: &[[u32; LANES]],
        products: &mut Products
    ) -> ())
}

#[inline(always)]
fn add_products_body(
    residual: &[[i32; LANES]],
    variance: &[[u32; LANES]],
    products: &mut Products,
) {
    // By value, so that the sums stay in registers.
    let mut sums = *products;
    let rows = residual.len() - 1;
    let together = rows - rows % TOGETHER;
    for row in (0..together).step_by(TOGETHER) {
        let (r, v) = (&residual[row..][..=TOGETHER], &variance[row..][..=TOGETHER]);
        for lane in 0..LANES {
            let [r0, r1, r2, r3, r4] = [0, 1, 2, 3, 4].map(|row| r[row][lane]);
            let [v0, v1, v2, v3, v4] = [0, 1, 2, 3, 4].map(|row| v[row][lane]);
            let first = signed_product(r0, r1).wrapping_add(signed_product(r1, r2));
            let second = signed_product(r2, r3).wrapping_add(signed_product(r3, r4));
            sums.residuals.add(lane, first.wrapping_add(second));
            let two = |a, b, c, d| product(a, b).wrapping_add(product(c, d)) as u64;
            sums.squares.add_unsigned(lane, two(v1, v1, v2, v2));
            sums.squares.add_unsigned(lane, two(v3, v3, v4, v4));
            sums.even.add_unsigned(lane, two(v0, v1, v2, v3));
            sums.odd.add_unsigned(lane, two(v1, v2, v3, v4));
        }
    }
    for row in together + 1..=rows {
        let (a, b) = (&residual[row - 1], &residual[row]);
        let (v, w) = (&variance[row - 1], &variance[row]);
        let neighbours = if row % 2 == 0 {
            &mut sums.odd
        } else {
            &mut sums.even
        };
        for lane in 0..LANES {
            sums.residuals.add(lane, signed_product(a[lane], b[lane]));
            sums.squares.add(lane, product(w[lane], w[lane]));
            neighbours.add(lane, product(v[lane], w[lane]));
        }
    }
    *products = sums;
}
