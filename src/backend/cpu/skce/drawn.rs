//! What resamples draw, eight of them in four bytes of each row.

use super::LANES;

/// What a block of resamples draws of each row: how often the row is drawn, its sign, or its label.
///
/// Bits 4l to 4l + 3 of a row's word are the number of lane l. All resamples of a block are so held in
/// 4 bytes a row, where their vectors in f64 take 64; vectors are made of them tile by tile
/// ([`super::resampling::Resampling::vectors`]).
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    words: Vec<u32>,
    /// Rows that a lane drew more often than 15 times, once for each further time: hardly ever any, as
    /// of as many draws as there are rows.
    further: Vec<(u32, u8)>,
}

/// The largest number of four bits.
const MOST: u32 = 15;

impl Drawn {
    /// Nothing drawn of some rows.
    pub fn clear(&mut self, rows: usize) {
        self.words.clear();
        self.words.resize(rows, 0);
        self.further.clear();
    }

    /// Draws a row once more.
    #[inline(always)]
    pub fn count(&mut self, row: usize, lane: usize) {
        let word = &mut self.words[row];
        if *word >> (4 * lane) & MOST < MOST {
            // No carry into the next lane.
            *word = word.wrapping_add(1 << (4 * lane));
        } else {
            self.count_further(row, lane);
        }
    }

    #[cold]
    fn count_further(&mut self, row: usize, lane: usize) {
        // Fewer than 2³² rows, and 8 lanes.
        self.further.push((row as u32, lane as u8));
    }

    /// Sets bits of a lane from a row on, which are 0 so far.
    #[inline(always)]
    pub fn set(&mut self, first: usize, lane: usize, bits: impl Iterator<Item = bool>) {
        for (word, bit) in std::iter::zip(&mut self.words[first..], bits) {
            *word |= u32::from(bit) << (4 * lane);
        }
    }

    /// The words of all rows.
    #[inline(always)]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The numbers of a word, as far as they fit in it.
    #[inline(always)]
    pub fn numbers(word: u32) -> [f64; LANES] {
        // Through i32, from which all vector instructions convert.
        std::array::from_fn(|lane| f64::from((word >> (4 * lane) & MOST) as i32))
    }

    /// Rows that were drawn more often than fits in a word, and the lanes that drew them.
    #[inline(always)]
    pub fn further(&self) -> &[(u32, u8)] {
        &self.further
    }

    /// The numbers of a row.
    #[inline(always)]
    pub fn of_row(&self, row: usize) -> [f64; LANES] {
        let mut numbers = Drawn::numbers(self.words[row]);
        if !self.further.is_empty() {
            self.add_further(row, &mut numbers);
        }
        numbers
    }

    #[cold]
    fn add_further(&self, row: usize, numbers: &mut [f64; LANES]) {
        for &(_, lane) in self.further.iter().filter(|(own, _)| *own as usize == row) {
            numbers[usize::from(lane)] += 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_all_sizes() {
        let mut drawn = Drawn::default();
        drawn.clear(3);
        for times in [1, 14, 1, 5] {
            for _ in 0..times {
                drawn.count(1, 3);
            }
        }
        drawn.count(1, 2);
        drawn.count(1, 4);
        assert_eq!(drawn.of_row(1), [0.0, 0.0, 1.0, 21.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(drawn.of_row(0), [0.0; LANES]);
        assert_eq!(drawn.of_row(2), [0.0; LANES]);
        assert_eq!(drawn.further().len(), 6);
        drawn.clear(2);
        drawn.set(1, 7, [true].into_iter());
        assert_eq!((drawn.of_row(0)[7], drawn.of_row(1)[7]), (0.0, 1.0));
    }
}
