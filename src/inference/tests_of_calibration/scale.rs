//! At which scale an error lives, from the profile of `adaptive`.

use std::fmt;

use crate::results::WindowSum;

/// Over how many ranks residuals have one sign: where the standardised window sums are largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorScale {
    /// Windows of less than 1/32 of all ranks.
    Local,
    /// Windows of 1/32 to 1/4 of all ranks.
    Regional,
    /// Windows of more.
    InTheLarge,
}

impl ErrorScale {
    /// The scale, and the width of the windows whose sum stands out most, of a sample of `n` rows.
    /// None if the profile is empty.
    pub fn of_profile(profile: &[WindowSum], n: u64) -> Option<(Self, u32)> {
        let sums = profile.iter();
        let (window, _) = sums
            .filter_map(|sum| Some((sum.window, sum.standardised?)))
            .reduce(|best, next| if next.1 > best.1 { next } else { best })?;
        let width = u64::from(window);
        let scale = if width * 32 < n {
            ErrorScale::Local
        } else if width * 4 < n {
            ErrorScale::Regional
        } else {
            ErrorScale::InTheLarge
        };
        Some((scale, window))
    }
}

impl fmt::Display for ErrorScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ErrorScale::Local => "local",
            ErrorScale::Regional => "regional",
            ErrorScale::InTheLarge => "in the large",
        })
    }
}
