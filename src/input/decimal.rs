//! Short decimals, which almost all confidences in text files are, read quickly.

/// The powers of ten that f64 holds exactly, as far as they are needed.
const POWERS_OF_TEN: [f64; 19] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18,
];

/// The largest whole number up to which f64 holds all.
const LARGEST_EXACT: u64 = 1 << 53;

/// The number that a text such as `0.25` is: a digit, a point, and up to 18 digits that make, without
/// the point, a whole number up to 2⁵³. Of other texts nothing is said.
///
/// This is what the standard library reads. The whole number and the power of ten are exact, so that
/// one division rounds their quotient once (W. D. Clinger, How to read floating point numbers
/// accurately, PLDI 1990).
#[inline]
pub(super) fn short_decimal(text: &[u8]) -> Option<f64> {
    let (&[whole, b'.'], digits) = text.split_first_chunk::<2>()? else {
        return None;
    };
    if digits.is_empty() || digits.len() >= POWERS_OF_TEN.len() {
        return None;
    }
    // 19 digits fit 64 bits, so nothing wraps.
    let mut number = digit(whole)?;
    let (eights, rest) = digits.as_chunks::<8>();
    for &eight in eights {
        number = number
            .wrapping_mul(100_000_000)
            .wrapping_add(eight_digits(eight)?);
    }
    for &byte in rest {
        number = number.wrapping_mul(10).wrapping_add(digit(byte)?);
    }
    (number <= LARGEST_EXACT).then(|| number as f64 / POWERS_OF_TEN[digits.len()])
}

#[inline]
fn digit(byte: u8) -> Option<u64> {
    let value = byte.wrapping_sub(b'0');
    (value < 10).then_some(u64::from(value))
}

/// The number of eight digits: pairs of neighbours are put together, then pairs of pairs, then both
/// halves, all of a kind in one multiplication.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    const HIGH_HALVES: u64 = 0xF0F0_F0F0_F0F0_F0F0;
    // The first digit is the lowest byte.
    let word = u64::from_le_bytes(text);
    // Bytes 0x30 to 0x39: those that begin with 3, and with 6 added still do. No sum of two bytes that
    // begin with 3 reaches the next byte.
    let past_nine = word.wrapping_add(0x0606_0606_0606_0606);
    if word & HIGH_HALVES != ZEROS || past_nine & HIGH_HALVES != ZEROS {
        return None;
    }
    let digits = word ^ ZEROS;
    let pairs = (digits.wrapping_mul(10) + (digits >> 8)) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs.wrapping_mul(100) + (pairs >> 16)) & 0x0000_FFFF_0000_FFFF;
    Some((fours.wrapping_mul(10_000) + (fours >> 32)) & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    #[test]
    fn every_pair_of_bytes_is_digits_or_not() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                let mut text = *b"12345678";
                (text[2], text[5]) = (first, second);
                let expected = std::str::from_utf8(&text)
                    .ok()
                    .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
                    .and_then(|text| text.parse().ok());
                assert_eq!(eight_digits(text), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn only_short_decimals_are_read() {
        for text in [
            "", "0", "0.", ".5", "+0.5", "1e-3", "0.5 ", " 0.5", "0.5e1", "00.5", "0,5",
        ] {
            assert_eq!(short_decimal(text.as_bytes()), None, "{text}");
        }
        // 2⁵³ and one more, which f64 lacks.
        assert_eq!(short_decimal(b"9.007199254740992"), Some(9.007199254740992));
        assert_eq!(short_decimal(b"9.007199254740993"), None);
        assert_eq!(short_decimal(b"0.000000000000000001"), Some(1e-18));
        assert_eq!(short_decimal(b"0.0000000000000000001"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 10_000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn short_decimals_are_what_the_standard_library_reads(
            whole in 0u64..10, places in 1usize..20, digits in any::<u64>(), value in 0.0f64..1.0,
        ) {
            let digits = digits % 10u64.pow(places as u32);
            for text in [format!("{whole}.{digits:0places$}"), format!("{value}")] {
                if let Some(read) = short_decimal(text.as_bytes()) {
                    prop_assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{}", text);
                }
            }
        }
    }
}
