//! Residuals and null variances of sorted uniform words. Twin of `shaders/shared/model.wgsl`.

use crate::model::quantile::{LAST, NODES, NODES_PER_OCTAVE};
use crate::model::{NearbyPolynomial, Quantile, Response};

/// A curve as the hot loop reads it: left limit below and right limit above in each word, and a last
/// word for confidence 1, so that no row is a special case.
pub(super) struct Cells {
    count: u32,
    limits: Vec<u64>,
    nearby: Option<NearbyPolynomial>,
}

impl Cells {
    pub(super) fn new(response: &Response) -> Option<Self> {
        let Response::Cells {
            cells,
            limits,
            nearby,
        } = response
        else {
            return None;
        };
        assert_eq!(limits.len(), *cells as usize, "a cell has its limits");
        let pack = |left: u32, right: u32| u64::from(left) | u64::from(right) << 32;
        let last = limits.last().map_or(0, |limits| limits[1]);
        let packed = limits.iter().map(|limits| pack(limits[0], limits[1]));
        Some(Cells {
            count: *cells,
            limits: packed.chain([pack(last, last)]).collect(),
            nearby: *nearby,
        })
    }

    /// [`Response::q30`] without branches.
    #[inline(always)]
    fn q30(&self, confidence: u32) -> u32 {
        let place = u64::from(confidence).wrapping_mul(u64::from(self.count));
        let cell = (place >> 30).min(u64::from(self.count)) as usize;
        // SAFETY: `new` has made sure that there are `count` + 1 words. A check would keep this from being
        // vectorised.
        let limits = unsafe { *self.limits.get_unchecked(cell) };
        let left = limits as u32;
        let difference = ((limits >> 32) as u32).wrapping_sub(left) as i32;
        let fraction = (place as u32) << 2;
        left.wrapping_add(part(difference, fraction))
    }
}

/// Residuals, Q30, and null variances, Q33, of rows whose uniform words and label words are given.
pub(super) fn residuals(
    quantile: &Quantile,
    cells: Option<&Cells>,
    uniform: &[u32],
    label: &[u32],
    residual: &mut [i32],
    variance: &mut [u32],
) {
    crate::simd::dispatch!(residuals_body(
        quantile: &Quantile,
        cells: Option<&Cells>,
        uniform: &[u32],
        label: &[u32],
        residual: &mut [i32],
        variance: &mut [u32]
    ) -> ())
}

#[inline(always)]
fn residuals_body(
    quantile: &Quantile,
    cells: Option<&Cells>,
    uniform: &[u32],
    label: &[u32],
    residual: &mut [i32],
    variance: &mut [u32],
) {
    let rows = uniform.len();
    let (label, residual, variance) =
        (&label[..rows], &mut residual[..rows], &mut variance[..rows]);
    // Confidences stay in `variance` until the last loop.
    match quantile {
        Quantile::Affine { start, width } => {
            for row in 0..rows {
                let product = u64::from(*width).wrapping_mul(u64::from(uniform[row]));
                variance[row] = start.wrapping_add((product.wrapping_add(1 << 31) >> 32) as u32);
            }
        }
        Quantile::Nodes(nodes) => {
            // What reads them without checks relies on their number.
            let nodes: &[u32; NODES] = nodes.as_slice().try_into().expect("all nodes");
            for row in 0..rows {
                variance[row] = between_nodes(nodes, uniform[row]);
            }
        }
        quantile => {
            for row in 0..rows {
                variance[row] = quantile.q30(uniform[row]);
            }
        }
    }
    match cells {
        None => {
            for row in 0..rows {
                residual[row] = of_label(label[row], variance[row], variance[row]);
            }
        }
        Some(cells) => {
            for first in (0..rows).step_by(DECIDED) {
                let block = first..rows.min(first + DECIDED);
                of_cells(
                    cells,
                    &variance[block.clone()],
                    &label[block.clone()],
                    &mut residual[block],
                );
            }
        }
    }
    for confidence in variance {
        let product = u64::from(*confidence)
            .wrapping_mul(u64::from((1u32 << 30).wrapping_sub(*confidence)))
            .wrapping_add(1 << 26);
        *confidence = (product >> 27) as u32;
    }
}

/// [`Quantile::q30`] of nodes, without branches.
#[inline(always)]
fn between_nodes(nodes: &[u32; NODES], u: u32) -> u32 {
    let is_upper = u > 1 << 31;
    let w = if is_upper { u.wrapping_neg() } else { u };
    // Word 0 is node 0, and otherwise as word 1: on a node.
    let is_zero = u32::from(w == 0);
    let w = w | is_zero;
    let zeros = w.leading_zeros();
    let m = w.wrapping_shl(zeros);
    let octave = (NODES_PER_OCTAVE as u32).wrapping_mul(31u32.wrapping_sub(zeros));
    let node = octave
        .wrapping_add((m >> 24) & 127)
        .wrapping_add(1)
        .wrapping_sub(is_zero);
    let (from, to) = if is_upper {
        let mirrored = (LAST as u32).wrapping_sub(node);
        (mirrored, mirrored.wrapping_sub(1))
    } else {
        (node, node.wrapping_add(1))
    };
    // SAFETY: w is at most 2³¹, so `node` is at most the middle one, number (NODES - 1)/2; and in the
    // upper half w is below 2³¹ and above 0, so that `mirrored` lies above the middle. Both have a
    // neighbour. Checks would keep this from being vectorised.
    let [from, to] = unsafe { [from, to].map(|node| *nodes.get_unchecked(node as usize)) };
    let difference = to.wrapping_sub(from) as i32;
    from.wrapping_add(part(difference, m << 8))
}

/// |`difference`| times a fraction in units of 2⁻³², rounded half up, with the sign of the difference.
#[inline(always)]
fn part(difference: i32, fraction: u32) -> u32 {
    let size = u64::from(difference.unsigned_abs()).wrapping_mul(u64::from(fraction));
    let part = (size.wrapping_add(1 << 31) >> 32) as u32;
    let sign = (difference >> 31) as u32;
    (part ^ sign).wrapping_sub(sign)
}

/// Rows whose labels are decided together: few enough that seldom one of them needs the table.
const DECIDED: usize = 512;

/// The residuals of rows with these confidences, of a curve's table.
#[inline(always)]
fn of_cells(cells: &Cells, confidence: &[u32], label: &[u32], residual: &mut [i32]) {
    let rows = confidence.len();
    let (label, residual) = (&label[..rows], &mut residual[..rows]);
    if let Some(nearby) = &cells.nearby {
        let mut undecided = 0u32;
        for row in 0..rows {
            let excess = nearby.excess(confidence[row], label[row]);
            undecided |= u32::from(excess.abs() <= nearby.distance());
            let label = if excess > 0.0 { 1i32 << 30 } else { 0 };
            residual[row] = label.wrapping_sub(confidence[row] as i32);
        }
        if undecided == 0 {
            return;
        }
    }
    for row in 0..rows {
        residual[row] = of_label(label[row], cells.q30(confidence[row]), confidence[row]);
    }
}

/// The residual of a row: its label is 1 when the label word's upper 30 bits are below the chance.
#[inline(always)]
fn of_label(word: u32, chance: u32, confidence: u32) -> i32 {
    let label = if (word >> 2) < chance { 1i32 << 30 } else { 0 };
    label.wrapping_sub(confidence as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The specification's way, with branches, at every kind of word.
    #[test]
    fn confidences_between_nodes_are_those_of_the_quantile() {
        // Any ascending nodes will do; these also meet differences of 0.
        let node = |number: u32| (u64::from(number).pow(3) >> 9).min(1 << 30) as u32;
        let nodes: Vec<u32> = (0..NODES as u32).map(node).collect();
        let quantile = Quantile::Nodes(nodes.clone());
        let edges = (0..32).flat_map(|bit| {
            let power = 1u32 << bit;
            [power.wrapping_sub(1), power, power + 1]
        });
        let spread = (0..200_000u32).map(|step| step.wrapping_mul(0x9E37_79B9));
        let words: Vec<u32> = edges
            .chain(spread)
            .flat_map(|u| [u, u.wrapping_neg()])
            .collect();
        let (mut residual, mut variance) = (vec![0; words.len()], vec![0; words.len()]);
        // No label is 1, so that a residual is the confidence's negative.
        let labels = vec![u32::MAX; words.len()];
        residuals(
            &quantile,
            None,
            &words,
            &labels,
            &mut residual,
            &mut variance,
        );
        for (u, residual) in std::iter::zip(words, residual) {
            let expected = quantile.q30(u) as i32;
            // Label 1 is certain at confidence 1.
            let label = if expected == 1 << 30 { 1 << 30 } else { 0 };
            assert_eq!(residual, label - expected, "{u:#x}");
        }
    }
}
