//! Bootstrap resamples of SKCE: rows drawn with replacement, and sums of the kernel over their pairs.

use rayon::prelude::*;

use super::drawn::Drawn;
use super::resampling::{Law, Resampling};
use super::{Forms, LANES, Lanes, at_once};
use crate::backend::kernels::{SkceBootstrap, SkceBootstrapSums};
use crate::backend::resamples::resample_key;

/// The sums of each resample. Memory is O(n); time is that of the forms of as many vectors.
pub fn bootstrap_sums(bootstrap: &SkceBootstrap<'_>) -> Vec<SkceBootstrapSums> {
    let rows = bootstrap.rows;
    if rows.confidence.is_empty() {
        return vec![SkceBootstrapSums::default(); bootstrap.count as usize];
    }
    let forms = Forms::new(bootstrap.scaled, bootstrap.method, &rows.confidence);
    let resampling = Resampling::new(rows, Law::Bootstrap, resample_key(bootstrap.key));
    let resamples: Vec<u32> = (0..bootstrap.count).collect();
    let mut sums = Vec::with_capacity(resamples.len());
    for which in at_once(rows.rows(), &resamples) {
        let (drawn, of_a_row): (Vec<Drawn>, Vec<(Lanes, Lanes)>) = which
            .par_chunks(LANES)
            .map(|own| {
                let mut drawn = Drawn::default();
                resampling.draw(own, &mut drawn);
                let of_a_row = resampling.pairs_of_a_row(&drawn);
                (drawn, of_a_row)
            })
            .unzip();
        let all = forms.of_many(&resampling, &drawn);
        let blocks = std::iter::zip(all, of_a_row).flat_map(|(all, (same_row, pairs))| {
            (0..LANES).map(move |lane| SkceBootstrapSums {
                all: all[lane],
                same_row: same_row[lane],
                same_row_pairs: pairs[lane],
            })
        });
        // The last block may have lanes without a resample.
        sums.extend(blocks.take(which.len()));
    }
    sums
}
