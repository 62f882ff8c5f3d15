//! Labels that are drawn, and the residuals of their rows.

use super::{Group, Ties, WORD};

/// Lanes that are worked on together, so that their sums stay in registers.
pub const BLOCK: usize = 16;

/// A block of lanes.
#[inline(always)]
pub fn of_block<T, const LANES: usize>(lanes: &[T; LANES], block: usize) -> &[T; BLOCK] {
    &lanes.as_chunks::<BLOCK>().0[block]
}

/// Resamples whose labels are drawn.
pub struct Drawn<'a, const LANES: usize> {
    /// The confidence of each row, Q30.
    pub confidence: &'a [u32],
    /// Their sums before each row and of all rows.
    pub before: &'a [u64],
    /// The labels of each word's rows, as bits; 0 beyond the last row.
    pub labels: &'a [[u16; LANES]],
    /// How many labels are 1.
    pub positives: &'a [u32; LANES],
}

impl<const LANES: usize> Drawn<'_, LANES> {
    /// V of a row in a block of lanes.
    #[inline(always)]
    fn residual(&self, row: usize, block: usize) -> [i32; BLOCK] {
        let (word, bit) = (of_block(&self.labels[row / WORD], block), row % WORD);
        let confidence = self.confidence[row] as i32;
        let mut residual = [0; BLOCK];
        for lane in 0..BLOCK {
            let label = i32::from(word[lane] >> bit & 1);
            residual[lane] = (label << 30).wrapping_sub(confidence);
        }
        residual
    }

    /// W of a row in a block of lanes; `positives` tells of its group and those before.
    #[inline(always)]
    fn mean_residual(
        &self,
        ties: &Ties,
        row: usize,
        positives: &[[u16; LANES]],
        block: usize,
    ) -> [i32; BLOCK] {
        let Some(place) = ties.group_of[row].checked_sub(1) else {
            return self.residual(row, block);
        };
        let group = &ties.groups[place as usize];
        let mut residual = group.fraction(of_block(&positives[place as usize], block));
        for residual in &mut residual {
            *residual = residual.wrapping_sub(group.confidence as i32);
        }
        residual
    }

    /// V_{t+L+1} - W_{t-L} of a row t in a block of lanes, rows beyond both ends being 0.
    #[inline(always)]
    pub(super) fn difference(
        &self,
        ties: &Ties,
        row: usize,
        width: usize,
        positives: &[[u16; LANES]],
        block: usize,
    ) -> [i32; BLOCK] {
        let ahead = row + width + 1;
        let mut difference = [0; BLOCK];
        if ahead < self.confidence.len() {
            difference = self.residual(ahead, block);
        }
        if let Some(behind) = row.checked_sub(width) {
            let behind = self.mean_residual(ties, behind, positives, block);
            for lane in 0..BLOCK {
                // Residuals are below 2³⁰ in size, as a label is q where q is 0 or 1.
                difference[lane] = difference[lane].wrapping_sub(behind[lane]);
            }
        }
        difference
    }

    /// The positives of a group.
    #[inline(always)]
    pub(super) fn positives_of(&self, group: &Group) -> [u16; LANES] {
        let mut positives = [0u16; LANES];
        for row in group.first..group.end() {
            let word = &self.labels[row / WORD];
            for lane in 0..LANES {
                positives[lane] = positives[lane].wrapping_add(word[lane] >> (row % WORD) & 1);
            }
        }
        positives
    }

    /// The positives before each word, and in all.
    #[inline(always)]
    pub(super) fn positives_before(&self, before: &mut Vec<[u32; LANES]>) {
        before.clear();
        let mut sum = [0u32; LANES];
        before.push(sum);
        for word in self.labels {
            for lane in 0..LANES {
                sum[lane] = sum[lane].wrapping_add(ones(word[lane]).into());
            }
            before.push(sum);
        }
    }

    /// ΣV before a row.
    #[inline(always)]
    pub(super) fn sum_before(&self, row: usize, positives_before: &[[u32; LANES]]) -> [i64; LANES] {
        let (word, bit) = (row / WORD, row % WORD);
        // There is no word after the last row where that ends a word.
        let labels = self.labels.get(word).unwrap_or(&[0; LANES]);
        let (positives_before, before) = (&positives_before[word], self.before[row] as i64);
        let earlier = (1u16 << bit) - 1;
        let mut sum = [0; LANES];
        for lane in 0..LANES {
            let here = ones(labels[lane] & earlier);
            let positives = positives_before[lane].wrapping_add(here.into());
            sum[lane] = (i64::from(positives) << 30).wrapping_sub(before);
        }
        sum
    }
}

/// How many bits are 1; in steps that vectors have, as few have a count of bits.
#[inline(always)]
fn ones(word: u16) -> u16 {
    let pairs = word.wrapping_sub(word >> 1 & 0x5555);
    let fours = (pairs & 0x3333).wrapping_add(pairs >> 2 & 0x3333);
    let eights = fours.wrapping_add(fours >> 4) & 0x0F0F;
    eights.wrapping_add(eights >> 8) & 0x1F
}
