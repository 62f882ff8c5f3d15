//! The rows of a simulated replicate in the order drawn.

use crate::backend::cpu::draw::draw;
use crate::backend::replicates::{Replicates, replicate_key};

/// Confidences in Q30 with their labels: row i has both words of its own call of Threefry.
pub fn drawn_rows(replicates: &Replicates<'_>, replicate: u64) -> Vec<(u32, bool)> {
    let rows = replicates.rows as usize;
    let (mut uniform, mut label) = (vec![0; rows], vec![0; rows]);
    let key = replicate_key(replicates.key, replicate);
    draw(key, replicate as u32, &mut uniform, &mut label);
    let row = |(uniform, label): (u32, u32)| {
        let confidence = replicates.quantile.q30(uniform);
        (confidence, label >> 2 < replicates.response.q30(confidence))
    };
    std::iter::zip(uniform, label).map(row).collect()
}
