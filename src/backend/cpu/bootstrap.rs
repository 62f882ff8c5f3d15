//! Bootstrap resamples: how often each row is drawn, then sums over cells of rows.

use rayon::prelude::*;

use super::Cpu;
use super::draw::threefry_lanes;
use crate::backend::DeviceError;
use crate::backend::bootstrap::{Bootstrap, Bootstrapper, CellSums};
use crate::backend::resamples::resample_key;
use crate::random::Key;

/// Draws that are made side by side, in the lanes of vectors.
const LANES: usize = 16;

impl Bootstrapper for Cpu {
    fn bootstrap(
        &self,
        bootstrap: &Bootstrap<'_>,
        first: u32,
        count: u32,
    ) -> Result<Vec<CellSums>, DeviceError> {
        let rows = &bootstrap.rows.words;
        let key = resample_key(bootstrap.key);
        let cells = bootstrap.ends.len();
        let mut sums = vec![CellSums::default(); cells * count as usize];
        // A task of some tenths of a millisecond.
        let shortest = (1 << 16) / rows.len().max(1) + 1;
        sums.par_chunks_mut(cells.max(1))
            .enumerate()
            .with_min_len(shortest)
            .for_each_init(Draws::default, |draws, (resample, cells)| {
                draws.draw(key, first.wrapping_add(resample as u32), rows.len() as u32);
                draws.sum_up(rows, bootstrap.ends, cells);
            });
        Ok(sums)
    }
}

/// How often each row was drawn.
#[derive(Default)]
struct Draws {
    /// Up to 255 times for each row: a byte, so that those of a million rows stay in a near cache.
    times: Vec<u8>,
    /// Rows that were drawn more often, once for each further time.
    further: Vec<u32>,
}

impl Draws {
    fn draw(&mut self, key: Key, resample: u32, size: u32) {
        self.times.clear();
        self.times.resize(size as usize, 0);
        self.further.clear();
        count_draws(key, resample, &mut self.times, &mut self.further);
    }

    fn sum_up(&self, rows: &[u32], ends: &[u32], cells: &mut [CellSums]) {
        let mut start = 0;
        for (&end, cell) in ends.iter().zip(&mut *cells) {
            let inside = start..end as usize;
            *cell = cell_sums(&rows[inside.clone()], &self.times[inside]);
            start = end as usize;
        }
        for &rank in &self.further {
            let cell = ends.partition_point(|&end| end <= rank);
            let word = rows[rank as usize];
            cells[cell].rows += 1;
            cells[cell].positives += u64::from(word >> 31);
            cells[cell].confidence += u64::from(word & 0x7FFF_FFFF);
        }
    }
}

/// Draws as many rows as `times` has and counts how often each comes.
fn count_draws(key: Key, resample: u32, times: &mut [u8], further: &mut Vec<u32>) {
    #[inline(always)]
    fn body(key: Key, resample: u32, times: &mut [u8], further: &mut Vec<u32>) {
        let size = times.len() as u64;
        let mut row = 0u64;
        while row < size {
            let mut ranks = first_words(key, row as u32, resample);
            for rank in &mut ranks {
                *rank = (u64::from(*rank).wrapping_mul(size) >> 32) as u32;
            }
            // Of the last rows some do not exist.
            let lanes = LANES.min((size - row) as usize);
            for &rank in &ranks[..lanes] {
                let times = &mut times[rank as usize];
                match times.checked_add(1) {
                    Some(more) => *times = more,
                    None => further.push(rank),
                }
            }
            row += LANES as u64;
        }
    }
    crate::simd::dispatch!(body(
        key: Key,
        resample: u32,
        times: &mut [u8],
        further: &mut Vec<u32>
    ) -> ())
}

/// The first words of [`crate::random::threefry`] of consecutive rows in one resample.
#[inline(always)]
fn first_words(key: Key, row: u32, resample: u32) -> [u32; LANES] {
    let mut first = std::array::from_fn(|lane| row.wrapping_add(lane as u32));
    let mut second = [resample; LANES];
    threefry_lanes(key, &mut first, &mut second);
    first
}

/// The sums of the rows of a cell, each as often as it was drawn.
fn cell_sums(rows: &[u32], times: &[u8]) -> CellSums {
    #[inline(always)]
    fn body(rows: &[u32], times: &[u8]) -> CellSums {
        let mut sums = CellSums::default();
        // No more than 2³² draws of at most 2³⁰ each.
        for (&word, &times) in rows.iter().zip(times) {
            let times = u64::from(times);
            let confidence = times.wrapping_mul(u64::from(word & 0x7FFF_FFFF));
            sums.rows = sums.rows.wrapping_add(times);
            sums.positives = sums
                .positives
                .wrapping_add(times.wrapping_mul(u64::from(word >> 31)));
            sums.confidence = sums.confidence.wrapping_add(confidence);
        }
        sums
    }
    crate::simd::dispatch!(body(rows: &[u32], times: &[u8]) -> CellSums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::bootstrap::SortedRows;
    use crate::random::threefry;

    /// Rows drawn one by one, as the specification says.
    fn expected(bootstrap: &Bootstrap<'_>, resample: u32) -> Vec<CellSums> {
        let rows = &bootstrap.rows.words;
        let mut cells = vec![CellSums::default(); bootstrap.ends.len()];
        for row in 0..rows.len() as u32 {
            let word = threefry(bootstrap.key.child(0, 2), [row, resample])[0];
            let rank = ((u128::from(word) * rows.len() as u128) >> 32) as usize;
            let cell = bootstrap.ends.iter().filter(|&&end| end as usize <= rank);
            let sums = &mut cells[cell.count()];
            sums.rows += 1;
            sums.positives += u64::from(rows[rank] >> 31);
            sums.confidence += u64::from(rows[rank] & (u32::MAX >> 1));
        }
        cells
    }

    #[test]
    fn resamples_agree_with_rows_drawn_one_by_one() {
        for size in [1u32, 2, 3, 15, 16, 17, 100, 1000] {
            let words = (0..size).map(|row| {
                let confidence = (u64::from(row) << 30).div_ceil(u64::from(size)) as u32;
                confidence | u32::from(row % 3 == 0) << 31
            });
            let rows = SortedRows {
                words: words.collect(),
            };
            let mut ends = vec![size.div_ceil(5), size.div_ceil(2), size];
            ends.dedup();
            let bootstrap = Bootstrap {
                rows: &rows,
                ends: &ends,
                key: Key([size, 7]),
            };
            let found = Cpu::default().bootstrap(&bootstrap, 5, 9).unwrap();
            let expected: Vec<CellSums> = (5..14).flat_map(|b| expected(&bootstrap, b)).collect();
            assert_eq!(found, expected, "{size} rows");
        }
    }

    /// A row cannot be drawn 300 times in practice, so the counts are made by hand.
    #[test]
    fn a_row_counts_beyond_a_byte() {
        let draws = Draws {
            times: vec![0, 255, 1],
            further: vec![1, 1],
        };
        let mut cells = [CellSums::default(); 2];
        draws.sum_up(&[1, 1 << 31 | 10, 100], &[2, 3], &mut cells);
        let of_first = CellSums {
            rows: 257,
            positives: 257,
            confidence: 2570,
        };
        let of_second = CellSums {
            rows: 1,
            positives: 0,
            confidence: 100,
        };
        assert_eq!(cells, [of_first, of_second]);
    }
}
