//! Quantile functions as tables of integers.

use super::beta::Beta;
use super::{Law, ModelError, Scores};
use crate::fixed_point::{ONE_Q30, confidence_q30};
use crate::predictions::Dtype;

/// The nodes of one octave of the word.
pub(crate) const NODES_PER_OCTAVE: usize = 128;

/// The node at the middle: one at word 0, and those of the octaves 2⁰ to 2³⁰, lie before it.
pub(super) const MIDDLE: usize = 1 + 31 * NODES_PER_OCTAVE;

/// The last node, at word 2³².
pub(crate) const LAST: usize = 2 * MIDDLE;

/// The number of nodes.
pub(crate) const NODES: usize = LAST + 1;

/// The quantile function of a law: a word u, uniform below 2³², to the confidence at u/2³², in Q30.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantile {
    /// Uniform: start + width · u/2³², rounded half up.
    Affine {
        /// The smallest confidence, Q30.
        start: u32,
        /// Largest less smallest confidence, Q30.
        width: u32,
    },
    /// Interpolated between 7,939 nodes, 128 for each octave of u, mirrored at 1/2.
    ///
    /// With w = min(u, 2³² - u), the distance from the nearer end, and e = ⌊log₂ w⌋, in words:
    /// - nodes lie at w = 0 (number 0) and at w = 2ᵉ(1 + j/128) (number 1 + 128e + j, 0 <= j < 128);
    ///   the upper half has them mirrored, number i at 7938 - i; the middle, w = 2³¹, is 3969;
    /// - m = w << (31 - e) has its highest bit set; j = (m >> 24) & 127, and the fraction of the way
    ///   to the next node is f = m << 8, modulo 2³², in units of 2⁻³²; word 0 is node 0;
    /// - from node to node the confidence moves by (|difference| · f + 2³¹) >> 32, which is the high
    ///   word of the product plus the highest bit of its low word: up from node i for u <= 2³¹, down
    ///   from node 7938 - i otherwise.
    ///
    /// So a law that is symmetric about 1/2 keeps its symmetry to the last bit. Nodes ascend, and
    /// with them the confidence in u.
    ///
    /// Against the true quantile the error is below 5.4e-6 for Beta(ρ, 1-ρ), ρ = 0.05, …, 0.95.
    Nodes(Vec<u32>),
    /// Scores as they are: score number ⌊u · N/2³²⌋ of N in ascending order.
    Empirical(Scores),
}

impl Quantile {
    /// The table of a law, and what the user should know of how it was made.
    pub(super) fn new(law: &Law) -> Result<(Self, Vec<String>), ModelError> {
        let quantile = match law {
            Law::Uniform { lower, upper } => {
                let start = q30(*lower);
                let width = q30(*upper) - start;
                Quantile::Affine { start, width }
            }
            Law::Beta { a, b } => Quantile::Nodes(beta_nodes(Beta::new(*a, *b))),
            Law::Empirical { file, column } => {
                let (scores, notes) = Scores::read(file, column.as_deref())?;
                return Ok((Quantile::Empirical(scores), notes));
            }
        };
        Ok((quantile, Vec::new()))
    }

    /// Whether rows are tied as scores are; otherwise no two rows of a replicate count as tied.
    pub fn has_ties(&self) -> bool {
        matches!(self, Quantile::Empirical(_))
    }

    /// The confidence of word `u`, in Q30.
    #[inline]
    pub fn q30(&self, u: u32) -> u32 {
        match self {
            Quantile::Affine { start, width } => {
                start + ((u64::from(*width) * u64::from(u) + (1 << 31)) >> 32) as u32
            }
            Quantile::Nodes(nodes) => between_nodes(nodes, u),
            Quantile::Empirical(scores) => scores.q30[scores.index(u)],
        }
    }
}

#[inline]
fn between_nodes(nodes: &[u32], u: u32) -> u32 {
    let upper = u > 1 << 31;
    let w = if upper { u.wrapping_neg() } else { u };
    if w == 0 {
        return nodes[0];
    }
    let zeros = w.leading_zeros();
    let m = w << zeros;
    let node = 1 + NODES_PER_OCTAVE * (31 - zeros as usize) + ((m >> 24) & 127) as usize;
    let fraction = m << 8;
    let part =
        |difference: u32| ((u64::from(difference) * u64::from(fraction) + (1 << 31)) >> 32) as u32;
    if upper {
        let node = LAST - node;
        nodes[node] - part(nodes[node] - nodes[node - 1])
    } else {
        nodes[node] + part(nodes[node + 1] - nodes[node])
    }
}

/// Where node number `node` lies, as a word: from 0 to 2³², a fraction in the lowest octaves.
pub(super) fn node_word(node: usize) -> f64 {
    if node > MIDDLE {
        return (1u64 << 32) as f64 - node_word(LAST - node);
    }
    match node.checked_sub(1) {
        None => 0.0,
        Some(place) => {
            let octave = (1u64 << (place / NODES_PER_OCTAVE)) as f64;
            octave * (1.0 + (place % NODES_PER_OCTAVE) as f64 / NODES_PER_OCTAVE as f64)
        }
    }
}

/// The quantiles of a beta law at the nodes, in Q30.
fn beta_nodes(law: Beta) -> Vec<u32> {
    let lower = lower_quantiles(law, MIDDLE);
    let mut upper = lower_quantiles(law.mirrored(), MIDDLE - 1);
    upper.reverse();
    let nodes = lower
        .into_iter()
        .chain(upper.into_iter().map(|q| ONE_Q30 - q));
    // Ascending, whatever the last bits of the roots.
    let mut largest = 0;
    nodes
        .map(|node| {
            largest = node.max(largest);
            largest
        })
        .collect()
}

/// The quantiles at the nodes from 0 to `last`, which is at most the middle.
fn lower_quantiles(law: Beta, last: usize) -> Vec<u32> {
    // What is nearer to an end than half a unit of Q30 is that end.
    let half_unit = 0.5 / f64::from(ONE_Q30);
    let (mut low, high) = (half_unit, 1.0 - half_unit);
    let (least, most) = (law.distribution(low), law.distribution(high));
    (0..=last)
        .map(|node| {
            let probability = node_word(node) / (1u64 << 32) as f64;
            if probability < least {
                0
            } else if probability >= most {
                ONE_Q30
            } else {
                low = law.root(probability, low, high);
                q30(low)
            }
        })
        .collect()
}

/// A confidence in Q30, rounded half up.
pub(super) fn q30(confidence: f64) -> u32 {
    let (significand, exponent) = Dtype::F64.decompose(confidence.to_bits());
    confidence_q30(significand, exponent)
}
