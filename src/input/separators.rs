//! Where the fields and records of a text without quotes end.

/// The highest bit of each byte.
const HIGH: u64 = 0x8080_8080_8080_8080;
/// One in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The places of delimiters, line feeds and carriage returns in a text, ascending.
pub(super) struct Separators<'a> {
    text: &'a [u8],
    delimiter: u8,
    /// What puts a byte that is no candidate past 127.
    offset: u64,
    /// Where the word at hand begins.
    start: usize,
    /// The candidates of the word at hand that were not looked at, by the highest bits of their bytes.
    candidates: u64,
}

impl<'a> Separators<'a> {
    /// The delimiter is an ASCII character.
    pub(super) fn new(text: &'a [u8], delimiter: u8) -> Self {
        let mut separators = Separators {
            text,
            delimiter,
            offset: ONES.wrapping_mul(u64::from(0x7F - delimiter.max(b'\r'))),
            start: 0,
            candidates: 0,
        };
        separators.find_candidates();
        separators
    }

    /// Looks at the eight bytes at `start` together. Candidates are those up to the delimiter and the
    /// carriage return: in numbers these are separators only.
    #[inline]
    fn find_candidates(&mut self) {
        let rest = &self.text[self.start..];
        let word = match rest.first_chunk() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                // Bytes past the end are no candidates.
                let mut bytes = [u8::MAX; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(bytes)
            }
        };
        // The sums stay below 256, so no byte reaches its neighbour.
        let others = (word & !HIGH).wrapping_add(self.offset) | word;
        self.candidates = !others & HIGH;
    }
}

impl Iterator for Separators<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        loop {
            while self.candidates == 0 {
                self.start += 8;
                if self.start >= self.text.len() {
                    return None;
                }
                self.find_candidates();
            }
            let place = self.start + self.candidates.trailing_zeros() as usize / 8;
            self.candidates &= self.candidates - 1;
            let byte = self.text[place];
            if byte == self.delimiter || byte == b'\n' || byte == b'\r' {
                return Some(place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_at_every_place_is_told() {
        for delimiter in [b',', b'\t'] {
            for byte in 0..=u8::MAX {
                for length in 1..20 {
                    for place in 0..length {
                        let mut text = vec![b'5'; length];
                        text[place] = byte;
                        let found: Vec<usize> = Separators::new(&text, delimiter).collect();
                        let is_one = byte == delimiter || byte == b'\n' || byte == b'\r';
                        assert_eq!(found, if is_one { vec![place] } else { vec![] });
                    }
                }
            }
        }
        let found: Vec<usize> = Separators::new(b"\xFF,,\r\n0.25,,,\x00\n", b',').collect();
        assert_eq!(found, [1, 2, 3, 4, 9, 10, 11, 13]);
        assert_eq!(Separators::new(b"", b',').next(), None);
    }
}
