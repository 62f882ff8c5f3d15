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
/// Selection without listing all pairs, in O(n log n): halve an interval that the middle ranks lie in,
/// counting the pairs below by two pointers in O(n), until O(n) pairs are left in it; sort those.
pub fn median_distance(rows: &SortedRows) -> Option<f64> {
    let n = rows.rows() as u64;
    let pairs = n.checked_sub(1)? * n / 2;
    if pairs == 0 {
        return None;
    }
    // The middle ranks, from 1; one and the same for an odd count.
    let (lower, upper) = (pairs.div_ceil(2), pairs / 2 + 1);
    let enough = 4 * rows.confidence.len() as u64 + 64;
    // Fewer than `lower` pairs lie within `low`, and at least `upper` within `high`.
    let mut low = Edge::BELOW_ALL;
    let mut high = Edge::at(rows, 1.0);
    while high.group_pairs - low.group_pairs > enough {
        // From the start on 0 is an edge of its own: all pairs within tied groups lie there.
        let middle = if low.distance < 0.0 {
            0.0
        } else {
            low.distance + (high.distance - low.distance) / 2.0
        };
        if middle >= high.distance || middle <= low.distance {
            // No number lies between: all pairs left have one distance.
            break;
        }
        let edge = Edge::at(rows, middle);
        if edge.pairs >= upper {
            high = edge;
        } else if edge.pairs < lower {
            low = edge;
        } else {
            // The middle ranks lie on either side.
            let (below, above) = neighbours(rows, middle);
            return Some(below + (above - below) / 2.0);
        }
    }
    if high.group_pairs - low.group_pairs > enough {
        return Some(high.distance);
    }
    let left = listed(rows, low.distance, high.distance);
    let at = |rank: u64| {
        let mut before = low.pairs;
        let found = left.iter().find(|(_, pairs)| {
            before += pairs;
            before >= rank
        });
        // The ranks lie in the interval; its upper end is the answer of last resort.
        found.map_or(high.distance, |(distance, _)| *distance)
    };
    let (below, above) = (at(lower), at(upper));
    Some(below + (above - below) / 2.0)
}

/// A distance with what lies within it.
#[derive(Clone, Copy, Debug)]
struct Edge {
    distance: f64,
    /// Pairs of rows of at most this distance.
    pairs: u64,
    /// Pairs of groups, each with itself among them.
    group_pairs: u64,
}

impl Edge {
    const BELOW_ALL: Edge = Edge {
        distance: -1.0,
        pairs: 0,
        group_pairs: 0,
    };

    fn at(rows: &SortedRows, distance: f64) -> Edge {
        let (z, size) = (&rows.confidence, &rows.size);
        let (mut pairs, mut group_pairs) = (0, 0);
        // `before` counts the rows of the groups from `first` up to this one, exclusive. Rounding keeps
        // differences in order, so `first` never goes back.
        let (mut first, mut before) = (0, 0u64);
        for (place, (&confidence, &rows)) in std::iter::zip(z, size).enumerate() {
            while confidence - z[first] > distance {
                before -= u64::from(size[first]);
                first += 1;
            }
            let own = u64::from(rows);
            pairs += own * before + own * (own - 1) / 2;
            group_pairs += (place - first) as u64 + 1;
            before += own;
        }
        Edge {
            distance,
            pairs,
            group_pairs,
        }
    }
}

/// The largest distance of at most `distance`, and the smallest above it.
fn neighbours(rows: &SortedRows, distance: f64) -> (f64, f64) {
    let z = &rows.confidence;
    let (mut below, mut above) = (0f64, 1f64);
    let mut first = 0;
    for &confidence in z {
        while confidence - z[first] > distance {
            first += 1;
        }
        below = below.max(confidence - z[first]);
        if first > 0 {
            above = above.min(confidence - z[first - 1]);
        }
    }
    (below, above)
}

/// The distances above `low` and up to `high`, ascending, each with the number of its pairs of rows.
fn listed(rows: &SortedRows, low: f64, high: f64) -> Vec<(f64, u64)> {
    let (z, size) = (&rows.confidence, &rows.size);
    let mut all = Vec::new();
    let mut first = 0;
    for (place, &confidence) in z.iter().enumerate() {
        while confidence - z[first] > high {
            first += 1;
        }
        for other in first..=place {
            let distance = confidence - z[other];
            if distance <= low {
                break;
            }
            let own = u64::from(size[place]);
            let pairs = if other == place {
                own * (own - 1) / 2
            } else {
                own * u64::from(size[other])
            };
            all.push((distance, pairs));
        }
    }
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    all
}
