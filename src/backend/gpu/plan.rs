//! Every number that a device's limits decide, tested without a device.

use std::ops::Range;

/// The limits of a device that the plan keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest storage binding, in bytes.
    pub binding_bytes: u64,
    /// The largest buffer, in bytes.
    pub buffer_bytes: u64,
    /// The most workgroups in one dimension of a dispatch.
    pub groups_per_dimension: u32,
    /// The memory that a workgroup shares, in bytes.
    pub workgroup_bytes: u32,
    /// The most rows at a time, lower than the device's own limits to test what comes past them.
    pub rows: usize,
}

/// Records that a tile of the radix sort holds.
pub const SORT_TILE: usize = 2048;
/// Bits of a digit of the radix sort, and its values.
const DIGIT_BITS: u32 = 8;
pub const DIGITS: usize = 1 << DIGIT_BITS;
/// Rows of a tile of prefix sums (TILE_ROWS in `shaders/shared/rows.wgsl`).
pub const ROW_TILE: usize = 256;
/// Entries that a workgroup scans.
pub const SCAN_BLOCK: usize = 2048;
/// Items, pieces or queries of one launch at most: their records stay far below every binding.
pub const MOST_ITEMS: usize = 1 << 19;
/// The fewest rows of an item.
const LEAST_ITEM_ROWS: usize = 64;
/// Items that one span adds up.
pub const SPAN_ITEMS: usize = 64;
/// A buffer of 4 GiB or more is never made (wgpu#10305), nor a binding of 2 GiB (wgpu#8105).
const MOST_BUFFER_BYTES: u64 = (4 << 30) - 4;
const MOST_BINDING_BYTES: u64 = (2 << 30) - 4;

impl Limits {
    /// Rows whose records of `stride` words fit one binding.
    pub fn capacity(&self, stride: u32) -> usize {
        let bytes = self
            .binding_bytes
            .min(MOST_BINDING_BYTES)
            .min(self.buffer_bytes)
            .min(MOST_BUFFER_BYTES);
        // Row numbers, doubled, stay below 2³¹ everywhere in the shaders.
        let rows = (bytes / 4 / u64::from(stride)).min(1 << 30) as usize;
        rows.min(self.rows)
    }

    /// The two dimensions of a dispatch of at least `groups` workgroups.
    pub fn grid(&self, groups: u32) -> (u32, u32) {
        let x = groups.min(self.groups_per_dimension).max(1);
        (x, groups.div_ceil(x).max(1))
    }
}

/// Segments that one launch works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Whole segments.
    Whole(Range<usize>),
    /// One segment that is too large, in parts.
    Parts(usize),
}

/// Packs segments, in order, into units. `single` rows fit if they are one segment, `several` if
/// records also carry the number of their segment.
pub fn units(offsets: &[usize], single: usize, several: usize) -> Vec<Unit> {
    let mut units = Vec::new();
    let segments = offsets.len() - 1;
    let mut start = 0;
    while start < segments {
        let mut end = start;
        while end < segments
            && end - start < MOST_ITEMS / 2
            && offsets[end + 1] - offsets[start] <= several
        {
            end += 1;
        }
        if end > start {
            units.push(Unit::Whole(start..end));
            start = end;
            continue;
        }
        units.push(if offsets[start + 1] - offsets[start] <= single {
            Unit::Whole(start..start + 1)
        } else {
            Unit::Parts(start)
        });
        start += 1;
    }
    units
}

/// Consecutive rows of one piece for one thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Item {
    pub start: u32,
    pub end: u32,
    pub piece: u32,
    pub padding: u32,
}

/// Consecutive items of one piece.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Span {
    pub first_item: u32,
    pub items: u32,
}

/// Cuts pieces, given by their sizes, into items, and items into spans. The third list tells which
/// piece a span belongs to.
pub fn items(sizes: &[u32]) -> (Vec<Item>, Vec<Span>, Vec<u32>) {
    let rows: usize = sizes.iter().map(|&size| size as usize).sum();
    let item_rows = rows.div_ceil(MOST_ITEMS / 2).max(LEAST_ITEM_ROWS);
    let mut items = Vec::new();
    let mut spans = Vec::new();
    let mut owners = Vec::new();
    let mut piece_start = 0u32;
    for (piece, &size) in sizes.iter().enumerate() {
        let first_item = items.len();
        let piece_end = piece_start + size;
        for start in (piece_start..piece_end).step_by(item_rows) {
            items.push(Item {
                start,
                end: piece_end.min(start + item_rows as u32),
                piece: piece as u32,
                padding: 0,
            });
        }
        for first in (first_item..items.len()).step_by(SPAN_ITEMS) {
            spans.push(Span {
                first_item: first as u32,
                items: SPAN_ITEMS.min(items.len() - first) as u32,
            });
            owners.push(piece as u32);
        }
        piece_start = piece_end;
    }
    (items, spans, owners)
}

/// The digits of eight bits that a sort of records needs: word and shift, least significant first.
/// `varying` has, for each word, the bits in which records differ.
pub fn digits(varying: &[u32]) -> Vec<(u32, u32)> {
    let mut digits = Vec::new();
    for (word, &bits) in varying.iter().enumerate() {
        let mut rest = bits;
        while rest != 0 {
            // A digit that begins at the lowest bit left; bits that do not vary do no harm.
            let shift = rest.trailing_zeros();
            digits.push((word as u32, shift));
            rest &= u32::MAX.checked_shl(shift + DIGIT_BITS).unwrap_or(0);
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        binding_bytes: 128 << 20,
        buffer_bytes: 4 << 30,
        groups_per_dimension: 65_535,
        workgroup_bytes: 32 << 10,
        rows: usize::MAX,
    };

    #[test]
    fn a_binding_of_128_mib_holds_this_many_rows() {
        assert_eq!(LIMITS.capacity(1), 1 << 25);
        assert_eq!(LIMITS.capacity(2), 1 << 24);
        let large = Limits {
            binding_bytes: 1 << 40,
            buffer_bytes: 1 << 40,
            ..LIMITS
        };
        assert!(large.capacity(1) as u64 * 4 < 2 << 30);
    }

    #[test]
    fn grids_hold_their_groups() {
        for groups in [
            0,
            1,
            2,
            65_534,
            65_535,
            65_536,
            65_537,
            131_070,
            131_071,
            1 << 26,
        ] {
            let (x, y) = LIMITS.grid(groups);
            assert!(x <= 65_535 && y <= 65_535);
            assert!(u64::from(x) * u64::from(y) >= u64::from(groups));
        }
        assert_eq!(LIMITS.grid(65_535), (65_535, 1));
        assert_eq!(LIMITS.grid(65_536), (65_535, 2));
    }

    #[test]
    fn units_hold_every_segment_once() {
        use Unit::{Parts, Whole};
        let offsets = [0, 3, 3, 10, 12, 30, 31, 32];
        assert_eq!(
            units(&offsets, 9, 8),
            [Whole(0..2), Whole(2..3), Whole(3..4), Parts(4), Whole(5..7)]
        );
        assert_eq!(units(&[0, 9], 9, 8), [Whole(0..1)]);
        assert_eq!(units(&[0, 10], 9, 8), [Parts(0)]);
        assert_eq!(units(&[0], 9, 8), []);
        let many = vec![0; 3 * MOST_ITEMS / 2 + 1];
        let packed = units(&many, 9, 8);
        assert_eq!(packed.len(), 3);
        assert_eq!(packed[2], Whole(MOST_ITEMS..3 * MOST_ITEMS / 2));
    }

    #[test]
    fn items_cover_every_row_once() {
        for sizes in [
            vec![],
            vec![1],
            vec![64, 65, 0, 1],
            vec![1 << 26],
            vec![5000; 300],
        ] {
            let (items, spans, owners) = items(&sizes);
            assert!(items.len() <= MOST_ITEMS);
            let mut row = 0;
            for item in &items {
                assert_eq!(item.start, row);
                assert!(item.end > item.start);
                row = item.end;
            }
            assert_eq!(
                u64::from(row),
                sizes.iter().map(|&s| u64::from(s)).sum::<u64>()
            );
            let mut next = 0;
            for (span, &owner) in std::iter::zip(&spans, &owners) {
                assert_eq!(span.first_item, next);
                for item in next..next + span.items {
                    assert_eq!(items[item as usize].piece, owner);
                }
                next += span.items;
            }
            assert_eq!(next as usize, items.len());
        }
    }

    #[test]
    fn digits_cover_every_varying_bit() {
        assert_eq!(digits(&[0, 0]), []);
        assert_eq!(digits(&[0b10]), [(0, 1)]);
        assert_eq!(digits(&[1 << 31, 0b1_0000_0001]), [(0, 31), (1, 0), (1, 8)]);
        let all = digits(&[!1, u32::MAX]);
        assert_eq!(all.len(), 8);
        assert_eq!(all[0], (0, 1));
        // The 30 bits of an f32 in [0, 1], above its label.
        assert_eq!(digits(&[0x7FFF_FFFE]).len(), 4);
    }
}
