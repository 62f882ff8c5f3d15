//! How many bins: a number, or a rule in the number of rows (specification, section 2).

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// The most bins of one binning; their table would take about a gigabyte.
pub const MOST_BINS: u32 = 1 << 24;

/// A rule for the number of bins K of n rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinsRule {
    /// K itself.
    Number(NonZeroU32),
    /// ⌊√n⌋.
    SquareRoot,
    /// ⌊n^{1/3}⌋.
    CubeRoot,
    /// ⌊n/C⌋.
    RowsOver(NonZeroU32),
}

impl Default for BinsRule {
    /// Ten bins.
    fn default() -> Self {
        BinsRule::Number(NonZeroU32::MIN.saturating_add(9))
    }
}

impl BinsRule {
    /// The number of bins of `rows` rows, at least 1.
    ///
    /// # Errors
    /// If it is more than [`MOST_BINS`].
    pub fn bins(self, rows: u64) -> Result<u32, TooManyBins> {
        let bins = match self {
            BinsRule::Number(number) => u64::from(number.get()),
            BinsRule::SquareRoot => rows.isqrt(),
            BinsRule::CubeRoot => integer_cube_root(rows),
            BinsRule::RowsOver(divisor) => rows / u64::from(divisor.get()),
        };
        match u32::try_from(bins) {
            Ok(bins) if bins <= MOST_BINS => Ok(bins.max(1)),
            _ => Err(TooManyBins {
                rule: self,
                rows,
                bins,
            }),
        }
    }
}

/// The largest integer whose cube is at most `n`.
pub fn integer_cube_root(n: u64) -> u64 {
    // The float is off by less than one; cubes of its neighbours decide.
    let guess = libm::cbrt(n as f64) as u64;
    let fits = |root: &u64| u128::from(*root).pow(3) <= u128::from(n);
    (guess.saturating_sub(1)..=guess + 1)
        .rev()
        .find(fits)
        .unwrap_or(0)
}

impl fmt::Display for BinsRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BinsRule::Number(number) => write!(f, "{number}"),
            BinsRule::SquareRoot => f.write_str("sqrt"),
            BinsRule::CubeRoot => f.write_str("cbrt"),
            BinsRule::RowsOver(divisor) => write!(f, "n/{divisor}"),
        }
    }
}

impl FromStr for BinsRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| digits.parse::<NonZeroU32>().ok();
        match text {
            "sqrt" => Some(BinsRule::SquareRoot),
            "cbrt" => Some(BinsRule::CubeRoot),
            _ => match text.strip_prefix("n/") {
                Some(divisor) => number(divisor).map(BinsRule::RowsOver),
                None => number(text)
                    .filter(|number| number.get() <= MOST_BINS)
                    .map(BinsRule::Number),
            },
        }
        .ok_or_else(|| {
            format!(
                "\"{text}\" is no number of bins: give a whole number from 1 to {MOST_BINS}, sqrt, \
                 cbrt, or n/C with a whole number C (n/20: one bin for every 20 rows)"
            )
        })
    }
}

/// A rule gave too many bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "--bins {rule} asks for {bins} bins of {rows} rows; the most is {MOST_BINS}; ask for fewer"
)]
pub struct TooManyBins {
    /// The rule.
    pub rule: BinsRule,
    /// The rows.
    pub rows: u64,
    /// What it gave.
    pub bins: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_whole() {
        for root in [1u64, 2, 3, 10, 999, 1624, 1625, 65_535, 65_536, 2_642_245] {
            let cube = root.pow(3);
            assert_eq!(integer_cube_root(cube), root);
            assert_eq!(integer_cube_root(cube - 1), root - 1);
            assert_eq!(integer_cube_root(cube.saturating_add(1)), root);
        }
        assert_eq!(integer_cube_root(0), 0);
        assert_eq!(integer_cube_root(u64::MAX), 2_642_245);
        assert_eq!(BinsRule::SquareRoot.bins(99), Ok(9));
        assert_eq!(BinsRule::SquareRoot.bins(100), Ok(10));
    }

    #[test]
    fn rules_round_down_to_at_least_one() {
        let twentieth: BinsRule = "n/20".parse().expect("a rule");
        assert_eq!(twentieth.bins(0), Ok(1));
        assert_eq!(twentieth.bins(19), Ok(1));
        assert_eq!(twentieth.bins(59), Ok(2));
        assert!(BinsRule::RowsOver(NonZeroU32::MIN).bins(1 << 30).is_err());
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for text in ["0", "-1", "n/0", "n/", "ten", "1e3", "2.5", "", "16777217"] {
            let error = text.parse::<BinsRule>().expect_err(text);
            assert!(error.contains(&format!("\"{text}\"")) && error.contains("sqrt"));
        }
        for text in ["1", "16777216", "sqrt", "cbrt", "n/7"] {
            assert_eq!(text.parse::<BinsRule>().expect(text).to_string(), text);
        }
    }
}
