//! The bandwidth of a kernel: a number, or the median distance of confidences.

use std::fmt;
use std::str::FromStr;

use crate::backend::kernels::{Scaled, SortedRows};

/// What `--bandwidth` asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Bandwidth {
    /// The median of |Z_i - Z_j| over i < j; an even count averages the two middle ones.
    #[default]
    Median,
    /// A number, in units of probability.
    Number(f64),
}

/// The largest bandwidth: at this one every kernel value is 1 to the last bit.
const LARGEST: f64 = 1e100;

impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "median" {
            return Ok(Bandwidth::Median);
        }
        match text.parse::<f64>() {
            Ok(number) if (Scaled::LEAST_BANDWIDTH..=LARGEST).contains(&number) => {
                Ok(Bandwidth::Number(number))
            }
            _ => Err(format!(
                "`{text}` is no bandwidth: `median`, or a number above 0 such as 0.2 (at least \
                 {:e}, at most {LARGEST:e})",
                Scaled::LEAST_BANDWIDTH
            )),
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bandwidth::Median => f.write_str("median"),
            Bandwidth::Number(number) => write!(f, "{number:?}"),
        }
    }
}

/// Why there is no bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NoBandwidth {
    /// Fewer than two rows have no distance.
    Rows(u64),
    /// The median distance is 0, or too small to divide by.
    TooSmall(f64),
}

impl fmt::Display for NoBandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoBandwidth::Rows(rows) => write!(f, "needs at least 2 rows, but there are {rows}"),
            NoBandwidth::TooSmall(distance) => write!(
                f,
                "the bandwidth would be the median distance between two confidences, which is \
                 {distance:?}; give a number to --bandwidth"
            ),
        }
    }
}

impl Bandwidth {
    /// The number for a sample.
    ///
    /// # Errors
    /// If the median distance is asked for and there is none, or it is 0.
    pub fn of(self, rows: &SortedRows) -> Result<f64, NoBandwidth> {
        match self {
            Bandwidth::Number(number) => Ok(number),
            Bandwidth::Median => match median_distance(rows) {
                None => Err(NoBandwidth::Rows(rows.rows() as u64)),
                Some(distance) if distance < Scaled::LEAST_BANDWIDTH => {
                    Err(NoBandwidth::TooSmall(distance))
                }
                Some(distance) => Ok(distance),
            },
        }
    }
}

/// The median of |Z_i - Z_j| over i < j, differences rounded to f64; none with fewer than two rows.
///
/// Selection without listing pairs: a bisection over the bits of the answer, at most 62 steps, each of
/// which counts the pairs within a distance by two pointers in O(n).
pub fn median_distance(rows: &SortedRows) -> Option<f64> {
    let n = rows.rows() as u64;
    let pairs = n.checked_sub(1)? * n / 2;
    if pairs == 0 {
        return None;
    }
    let lower = smallest_with(rows, pairs.div_ceil(2));
    if pairs % 2 == 1 {
        return Some(lower);
    }
    let upper = if pairs_within(rows, lower) > pairs / 2 {
        lower
    } else {
        smallest_with(rows, pairs / 2 + 1)
    };
    Some(lower + (upper - lower) / 2.0)
}

/// The smallest distance within which `wanted` pairs lie.
fn smallest_with(rows: &SortedRows, wanted: u64) -> f64 {
    // Bits of non-negative floats sort as the floats do.
    let (mut low, mut high) = (0, 1f64.to_bits());
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_within(rows, f64::from_bits(middle)) >= wanted {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    f64::from_bits(low)
}

/// How many pairs of rows have a distance of at most `distance`.
fn pairs_within(rows: &SortedRows, distance: f64) -> u64 {
    let (z, size) = (&rows.confidence, &rows.size);
    let mut pairs = 0;
    // `before` counts the rows of the groups from `first` up to this one, exclusive. Rounding keeps
    // differences in order, so `first` never goes back.
    let (mut first, mut before) = (0, 0u64);
    for (&confidence, &rows) in std::iter::zip(z, size) {
        while confidence - z[first] > distance {
            before -= u64::from(size[first]);
            first += 1;
        }
        let own = u64::from(rows);
        pairs += own * before + own * (own - 1) / 2;
        before += own;
    }
    pairs
}
