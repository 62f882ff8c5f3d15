//! What the rounding of mean residuals changes in the sums of pairs that are far apart.

use super::drawn::Drawn;
use super::{CHUNK, Group, Ties};

/// How the sum of the other rows is cut in two for multiplication.
const LOW_BITS: u32 = 29;
const LOW_MASK: i64 = (1 << LOW_BITS) - 1;

/// r = mP - 2³⁰k of a group.
#[inline(always)]
pub fn rounding<const LANES: usize>(
    group: &Group,
    positives: &[u16; LANES],
    fraction: &[i32; LANES],
) -> [i32; LANES] {
    let mut rounding = [0; LANES];
    for lane in 0..LANES {
        // At most m/2, so that its low word is all of it.
        let sum = fraction[lane].wrapping_mul(group.size as i32);
        rounding[lane] = sum.wrapping_sub(i32::from(positives[lane]) << 30);
    }
    rounding
}

/// What a thread keeps from tile to tile.
pub struct Scratch<const LANES: usize> {
    /// The positives before each word.
    before: Vec<[u32; LANES]>,
    /// Σ r before each group whose mean is rounded, and of all.
    rounding_before: Vec<[i32; LANES]>,
}

impl<const LANES: usize> Scratch<LANES> {
    pub fn new() -> Self {
        Scratch {
            before: Vec::new(),
            rounding_before: Vec::new(),
        }
    }
}

/// Resamples with what is known of their groups.
#[derive(Clone, Copy)]
struct Resampled<'a, const LANES: usize> {
    ties: &'a Ties,
    drawn: &'a Drawn<'a, LANES>,
    /// The positives of each group.
    positives: &'a [[u16; LANES]],
}

impl<const LANES: usize> Resampled<'_, LANES> {
    /// r of a group.
    #[inline(always)]
    fn rounding(&self, place: u32) -> [i32; LANES] {
        let group = &self.ties.groups[place as usize];
        let positives = &self.positives[place as usize];
        rounding(group, positives, &group.fraction(positives))
    }

    /// The group that a row is inside of, and its positives.
    #[inline(always)]
    fn inside(&self, row: usize) -> Option<(&Group, &[u16; LANES])> {
        let place = self.ties.group_of[row.checked_sub(1)?].checked_sub(1)? as usize;
        let group = &self.ties.groups[place];
        (group.end() > row).then(|| (group, &self.positives[place]))
    }

    /// ΣW before a row: ΣV before it, or before the group that it is inside of, what was rounded in
    /// earlier groups, and W for each row of that group.
    #[inline(always)]
    fn sum_before(
        &self,
        row: usize,
        before: &[[u32; LANES]],
        rounding_before: &[i32; LANES],
    ) -> [i64; LANES] {
        let inside = self.inside(row);
        let start = inside.map_or(row, |(group, _)| group.first);
        let mut sum = self.drawn.sum_before(start, before);
        for lane in 0..LANES {
            sum[lane] = sum[lane].wrapping_add(rounding_before[lane].into());
        }
        if let Some((group, positives)) = inside {
            let (fraction, rows) = (group.fraction(positives), (row - start) as i64);
            for lane in 0..LANES {
                let residual = i64::from(fraction[lane]).wrapping_sub(group.confidence.into());
                sum[lane] = sum[lane].wrapping_add(residual.wrapping_mul(rows));
            }
        }
        sum
    }
}

/// Σ_g r_g (Σ_{k<=e-L-1} W_k + Σ_{i>e+L} V_i) for each width L.
#[inline(always)]
pub fn rounding_sums<const LANES: usize>(
    ties: &Ties,
    drawn: &Drawn<'_, LANES>,
    positives: &[[u16; LANES]],
    widths: &[(u32, u128)],
    scratch: &mut Scratch<LANES>,
) -> Vec<[i128; LANES]> {
    if ties.rounded.is_empty() {
        return vec![[0; LANES]; widths.len()];
    }
    let resampled = Resampled {
        ties,
        drawn,
        positives,
    };
    let Scratch {
        before,
        rounding_before,
    } = scratch;
    drawn.positives_before(before);
    let rows = drawn.confidence.len();
    let all = drawn.sum_before(rows, before);
    let mut sum = [0i32; LANES];
    rounding_before.clear();
    for &place in &ties.rounded {
        rounding_before.push(sum);
        let rounding = resampled.rounding(place);
        for lane in 0..LANES {
            sum[lane] = sum[lane].wrapping_add(rounding[lane]);
        }
    }
    rounding_before.push(sum);
    let end_of = |place: u32| ties.groups[place as usize].end();
    let mut parts = vec![([0i64; LANES], [0i64; LANES]); widths.len()];
    // For each width, how many groups ended before the row that it has come to.
    let mut ended = vec![0; widths.len()];
    let mut rounding = Vec::with_capacity(CHUNK);
    for places in ties.rounded.chunks(CHUNK) {
        rounding.clear();
        for &place in places {
            rounding.push(resampled.rounding(place));
        }
        for (((width, _), parts), ended) in widths.iter().zip(&mut parts).zip(&mut ended) {
            let width = *width as usize;
            for (&place, rounding) in places.iter().zip(&rounding) {
                let end = end_of(place);
                let row = end.saturating_sub(width + 1);
                while *ended < ties.rounded.len() && end_of(ties.rounded[*ended]) <= row {
                    *ended += 1;
                }
                let earlier = resampled.sum_before(row, before, &rounding_before[*ended]);
                let later = drawn.sum_before(rows.min(end + width), before);
                for lane in 0..LANES {
                    // Below 2⁵⁸ with fewer than 2²⁶ rows; all |r| add up to half the rows at most.
                    let others = earlier[lane].wrapping_add(all[lane].wrapping_sub(later[lane]));
                    let (low, high) = ((others & LOW_MASK) as i32, (others >> LOW_BITS) as i32);
                    let rounding = i64::from(rounding[lane]);
                    parts.0[lane] = parts.0[lane].wrapping_add(rounding.wrapping_mul(low.into()));
                    parts.1[lane] = parts.1[lane].wrapping_add(rounding.wrapping_mul(high.into()));
                }
            }
        }
    }
    let total = |(low, high): ([i64; LANES], [i64; LANES])| {
        std::array::from_fn(|lane| (i128::from(high[lane]) << LOW_BITS) + i128::from(low[lane]))
    };
    parts.into_iter().map(total).collect()
}
