//! The bytes of a text that may part its fields and records, found eight at a time.

/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The places of all bytes up to a bound, ascending. Line ends, tabs, quotes and commas come before
/// digits, points and letters, so that few others are among them.
pub(super) struct LowBytes<'a> {
    text: &'a [u8],
    /// What each byte is combined with (exclusive or) before it is held against the bound.
    mask: u64,
    /// What puts a byte above the bound past 127.
    offset: u64,
    /// Where the eight bytes at hand begin.
    start: usize,
    /// Those of them that are low and were not given yet, by their highest bits.
    low: u64,
}

impl<'a> LowBytes<'a> {
    /// The bound is an ASCII character.
    pub(super) fn new(text: &'a [u8], bound: u8) -> Self {
        LowBytes::masked(text, 0, bound)
    }

    /// The places of one ASCII character alone.
    pub(super) fn equal(text: &'a [u8], byte: u8) -> Self {
        LowBytes::masked(text, byte & 0x7F, 0)
    }

    fn masked(text: &'a [u8], mask: u8, bound: u8) -> Self {
        let mut bytes = LowBytes {
            text,
            mask: ONES.wrapping_mul(u64::from(mask)),
            offset: ONES.wrapping_mul(u64::from(0x7F - (bound & 0x7F))),
            start: 0,
            low: 0,
        };
        bytes.find();
        bytes
    }

    /// Looks at the eight bytes at `start` together.
    #[inline]
    fn find(&mut self) {
        let rest = &self.text[self.start..];
        let word = match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                // Bytes past the end are not low.
                let mut bytes = [u8::MAX; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(bytes)
            }
        };
        let word = word ^ self.mask;
        // The sums stay below 256, so no byte reaches its neighbour.
        let others = (word & !HIGH).wrapping_add(self.offset) | word;
        self.low = !others & HIGH;
    }
}

impl Iterator for LowBytes<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.low == 0 {
            self.start += 8;
            if self.start >= self.text.len() {
                return None;
            }
            self.find();
        }
        let place = self.start + self.low.trailing_zeros() as usize / 8;
        self.low &= self.low - 1;
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_told() {
        for bound in [0, b'\n', b'\r', b'"', b',', 0x7F] {
            for byte in 0..=u8::MAX {
                for length in 1..20 {
                    for place in 0..length {
                        let mut text = vec![0xC3; length];
                        text[place] = byte;
                        let found: Vec<usize> = LowBytes::new(&text, bound).collect();
                        assert_eq!(found, if byte <= bound { vec![place] } else { vec![] });
                        let found: Vec<usize> = LowBytes::equal(&text, bound).collect();
                        assert_eq!(found, if byte == bound { vec![place] } else { vec![] });
                    }
                }
            }
        }
        let found: Vec<usize> = LowBytes::new(b"\xFF,,\r\n0.25,,-\x00\n", b',').collect();
        assert_eq!(found, [1, 2, 3, 4, 9, 10, 12, 13]);
        assert_eq!(LowBytes::new(b"", b',').next(), None);
    }
}
