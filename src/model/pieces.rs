//! A model as pieces of u on which everything is linear: the tables' interpolation, taken exactly.

use super::poisson::Line;
use super::quantile::{self, node_word};
use super::{Quantile, Response};
use crate::fixed_point::ONE_Q30;

const WORDS: f64 = (1u64 << 32) as f64;

/// A piece of u, with confidence and response at its ends, as probabilities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    /// Where it begins, as a word.
    pub(super) start: f64,
    /// Its probability.
    pub(super) length: f64,
    pub(super) confidence: Line,
    pub(super) response: Line,
}

impl Piece {
    /// g(Z) - Z.
    pub(super) fn residual(&self) -> Line {
        Line {
            left: self.response.left - self.confidence.left,
            right: self.response.right - self.confidence.right,
        }
    }

    /// The mean of E (Y-Z)² = g - 2gZ + Z² over the piece.
    pub(super) fn mean_brier(&self) -> f64 {
        let (g, z) = (self.response, self.confidence);
        let product =
            (2.0 * (g.left * z.left + g.right * z.right) + g.left * z.right + g.right * z.left)
                / 6.0;
        g.mean() - 2.0 * product + z.mean_square()
    }
}

/// A stretch of words on which the confidence is linear: from where to where, and from which to which
/// confidence in Q30.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    words: [f64; 2],
    confidence: [f64; 2],
}

/// The pieces of a model, in order, cut at the words `cuts` (ascending) as well.
pub(super) fn pieces(
    quantile: &Quantile,
    response: &Response,
    cuts: &[u32],
) -> impl Iterator<Item = Piece> {
    let mut cuts = cuts.iter().map(|&word| f64::from(word)).peekable();
    let mut pieces = Vec::new();
    for stretch in stretches(quantile) {
        let [start, end] = stretch.words;
        let mut from = start;
        while let Some(cut) = cuts.next_if(|&cut| cut < end) {
            if cut > from {
                cells(stretch.between(from, cut), response, &mut pieces);
                from = cut;
            }
        }
        cells(stretch.between(from, end), response, &mut pieces);
    }
    pieces.into_iter()
}

impl Stretch {
    fn between(&self, from: f64, to: f64) -> Stretch {
        let [start, end] = self.words;
        let [low, high] = self.confidence;
        let at = |word: f64| {
            if word == end {
                high
            } else {
                low + (high - low) * ((word - start) / (end - start))
            }
        };
        Stretch {
            words: [from, to],
            confidence: [at(from), at(to)],
        }
    }
}

fn stretches(quantile: &Quantile) -> Vec<Stretch> {
    match quantile {
        Quantile::Affine { start, width } => vec![Stretch {
            words: [0.0, WORDS],
            confidence: [f64::from(*start), f64::from(start + width)],
        }],
        Quantile::Nodes(nodes) => (0..quantile::LAST)
            .map(|node| Stretch {
                words: [node_word(node), node_word(node + 1)],
                confidence: [f64::from(nodes[node]), f64::from(nodes[node + 1])],
            })
            .collect(),
        Quantile::Empirical(scores) => {
            let mut stretches = Vec::new();
            let mut start = 0;
            for run in scores.run.chunk_by(|a, b| a == b) {
                let end = start + run.len();
                let confidence = f64::from(scores.q30[start]);
                stretches.push(Stretch {
                    words: [scores.first_word(start), scores.first_word(end)]
                        .map(|word| word as f64),
                    confidence: [confidence; 2],
                });
                start = end;
            }
            stretches
        }
    }
}

/// Cuts a stretch where the confidence passes an edge of the response's cells.
fn cells(stretch: Stretch, response: &Response, pieces: &mut Vec<Piece>) {
    let [low, high] = stretch.confidence;
    let cells = match response {
        Response::Cells { cells, .. } if low < high => f64::from(*cells),
        _ => {
            let line = match response {
                // A constant confidence.
                Response::Cells { .. } => [f64::from(response.q30(low as u32)); 2],
                Response::Calibrated => stretch.confidence,
            };
            pieces.push(piece(stretch, line));
            return;
        }
    };
    let Response::Cells { limits, .. } = response else {
        return;
    };
    let one = f64::from(ONE_Q30);
    let [start, end] = stretch.words;
    let word = |confidence: f64| start + (end - start) * ((confidence - low) / (high - low));
    let first = (low * cells / one).floor();
    let (mut from, mut from_word) = (low, start);
    let mut cell = first;
    while from < high {
        let edge = (cell + 1.0) * one / cells;
        let (to, to_word) = if edge < high {
            (edge, word(edge))
        } else {
            (high, end)
        };
        if to > from {
            // `cell` is below the number of cells as from < high <= 2³⁰.
            let [left, right] = limits[cell as usize].map(f64::from);
            let at = |confidence: f64| left + (right - left) * (confidence * cells / one - cell);
            let part = Stretch {
                words: [from_word, to_word],
                confidence: [from, to],
            };
            pieces.push(piece(part, [at(from), at(to)]));
        }
        (from, from_word) = (to, to_word);
        cell += 1.0;
    }
}

fn piece(stretch: Stretch, response: [f64; 2]) -> Piece {
    let line = |[left, right]: [f64; 2]| Line {
        left: left / f64::from(ONE_Q30),
        right: right / f64::from(ONE_Q30),
    };
    let [start, end] = stretch.words;
    Piece {
        start,
        length: (end - start) / WORDS,
        confidence: line(stretch.confidence),
        response: line(response),
    }
}
