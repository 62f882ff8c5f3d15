//! Exact sums of 64-bit products in vectors.

/// Σ of up to 2³² terms of 64 bits, as two sums of 64 bits that add without carries between them.
#[derive(Clone, Copy, Debug, Default)]
pub struct WideSum {
    /// Of the terms, modulo 2⁶⁴.
    low: u64,
    /// Of the terms' high words.
    high: i64,
}

impl WideSum {
    #[inline(always)]
    pub fn add(&mut self, term: i64) {
        self.low = self.low.wrapping_add(term as u64);
        self.high = self.high.wrapping_add(term >> 32);
    }

    /// The sum. That of the low words is below 2⁶⁴, so that it is known from its remainder.
    pub fn total(self) -> i128 {
        let low_words = self.low.wrapping_sub((self.high << 32) as u64);
        (i128::from(self.high) << 32) + i128::from(low_words)
    }
}

/// A [`WideSum`] in each lane.
#[derive(Clone, Copy, Debug)]
pub struct WideSums<const LANES: usize> {
    low: [u64; LANES],
    high: [i64; LANES],
}

impl<const LANES: usize> Default for WideSums<LANES> {
    fn default() -> Self {
        WideSums {
            low: [0; LANES],
            high: [0; LANES],
        }
    }
}

impl<const LANES: usize> WideSums<LANES> {
    #[inline(always)]
    pub fn add(&mut self, lane: usize, term: i64) {
        self.low[lane] = self.low[lane].wrapping_add(term as u64);
        self.high[lane] = self.high[lane].wrapping_add(term >> 32);
    }

    /// Adds a term of up to 64 bits that is not negative.
    #[inline(always)]
    pub fn add_unsigned(&mut self, lane: usize, term: u64) {
        self.low[lane] = self.low[lane].wrapping_add(term);
        self.high[lane] = self.high[lane].wrapping_add((term >> 32) as i64);
    }

    /// Adds the sums of a block of lanes.
    #[inline(always)]
    pub fn add_block<const BLOCK: usize>(&mut self, block: usize, sums: &WideSums<BLOCK>) {
        let low = &mut self.low.as_chunks_mut::<BLOCK>().0[block];
        let high = &mut self.high.as_chunks_mut::<BLOCK>().0[block];
        for lane in 0..BLOCK {
            low[lane] = low[lane].wrapping_add(sums.low[lane]);
            high[lane] = high[lane].wrapping_add(sums.high[lane]);
        }
    }

    /// The sum of a lane.
    pub fn total(&self, lane: usize) -> i128 {
        let sum = WideSum {
            low: self.low[lane],
            high: self.high[lane],
        };
        sum.total()
    }
}

/// The product of two words that are below 2³² and whose product is below 2⁶³.
#[inline(always)]
pub fn product(a: u32, b: u32) -> i64 {
    u64::from(a).wrapping_mul(u64::from(b)) as i64
}

/// The product of two residuals, Q60.
#[inline(always)]
pub fn signed_product(a: i32, b: i32) -> i64 {
    i64::from(a).wrapping_mul(i64::from(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_what_128_bits_would() {
        let terms = [
            i64::MAX,
            i64::MIN,
            -1,
            0,
            1,
            1 << 32,
            -(1 << 32),
            0x1234_5678_9ABC_DEF0,
        ];
        let mut sum = WideSum::default();
        let mut expected = 0i128;
        for round in 0..1000 {
            for term in terms {
                let term = term >> (round % 3);
                sum.add(term);
                expected += i128::from(term);
                assert_eq!(sum.total(), expected);
            }
        }
    }
}
