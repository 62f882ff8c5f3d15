//! Laws of the confidence, by name.

use std::fmt;
use std::str::FromStr;

use crate::input::nearest_first;

/// A law of the confidence Z.
///
/// Parsed from `uniform`, `uniform:a,b`, `beta:a,b`, `beta:ρ` (which is Beta(ρ, 1-ρ)) and
/// `empirical:FILE[:COLUMN]`, and shown in the same form.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Uniform between two confidences, 0 <= lower < upper <= 1.
    Uniform {
        /// The smallest confidence.
        lower: f64,
        /// The largest confidence.
        upper: f64,
    },
    /// Beta(a, b).
    Beta {
        /// The first parameter, in [`BETA_PARAMETERS`].
        a: f64,
        /// The second parameter, in [`BETA_PARAMETERS`].
        b: f64,
    },
    /// The scores of a file, each as likely as the others.
    Empirical {
        /// The file.
        file: String,
        /// The column or array of the scores; else it is guessed.
        column: Option<String>,
    },
}

/// The parameters that a beta law may have: between these its quantiles are accurate to the last bit of
/// Q30.
pub const BETA_PARAMETERS: std::ops::RangeInclusive<f64> = 1e-6..=1e6;

/// The least width of a uniform law.
const NARROWEST: f64 = 1e-6;

/// Why a text is no law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a law: {problem}")]
pub struct LawError {
    /// The text.
    pub text: String,
    /// What is wrong with it, and what to write instead.
    pub problem: String,
}

impl FromStr for Law {
    type Err = LawError;

    fn from_str(text: &str) -> Result<Self, LawError> {
        let text = text.trim();
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name.trim(), Some(parameters.trim())),
            None => (text, None),
        };
        let law = match (name, parameters) {
            ("uniform", None) => Ok(Law::Uniform {
                lower: 0.0,
                upper: 1.0,
            }),
            ("uniform", Some(parameters)) => uniform(parameters),
            ("beta", Some(parameters)) => beta(parameters),
            ("beta", None) => {
                Err("it lacks its parameters: beta:a,b, or beta:ρ for Beta(ρ, 1-ρ)".to_owned())
            }
            ("empirical", Some(source)) if !source.is_empty() => Ok(empirical(source)),
            ("empirical", _) => {
                Err("it lacks its file: empirical:FILE or empirical:FILE:COLUMN".to_owned())
            }
            _ => {
                let known = ["uniform", "beta", "empirical"].map(str::to_owned);
                Err(format!("known are {}", nearest_first(name, &known)))
            }
        };
        let law = law.map_err(|problem| LawError {
            text: text.to_owned(),
            problem,
        })?;
        law.check()?;
        Ok(law)
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Uniform { lower, upper } if (*lower, *upper) == (0.0, 1.0) => {
                f.write_str("uniform")
            }
            Law::Uniform { lower, upper } => write!(f, "uniform:{lower},{upper}"),
            Law::Beta { a, b } => write!(f, "beta:{a},{b}"),
            Law::Empirical { file, column } => {
                write!(f, "empirical:{file}")?;
                match column {
                    Some(column) => write!(f, ":{column}"),
                    None => Ok(()),
                }
            }
        }
    }
}

fn uniform(parameters: &str) -> Result<Law, String> {
    let [lower, upper] = numbers(parameters)?[..] else {
        return Err("uniform takes two numbers: uniform:a,b".to_owned());
    };
    // Adding 0 turns -0 into 0.
    let lower = lower + 0.0;
    Ok(Law::Uniform { lower, upper })
}

fn beta(parameters: &str) -> Result<Law, String> {
    match numbers(parameters)?[..] {
        [a, b] => Ok(Law::Beta { a, b }),
        [rho] if 0.0 < rho && rho < 1.0 => Ok(Law::Beta {
            a: rho,
            b: complement(rho),
        }),
        [_] => Err("beta:ρ is Beta(ρ, 1-ρ) and needs 0 < ρ < 1".to_owned()),
        _ => Err("beta takes two numbers, beta:a,b, or one, beta:ρ for Beta(ρ, 1-ρ)".to_owned()),
    }
}

impl Law {
    /// Whether the parameters are in range.
    pub(super) fn check(&self) -> Result<(), LawError> {
        self.problem().map_or(Ok(()), |problem| {
            Err(LawError {
                text: self.to_string(),
                problem,
            })
        })
    }

    fn problem(&self) -> Option<String> {
        match *self {
            Law::Uniform { lower, upper } => {
                if !(0.0 <= lower && lower < upper && upper <= 1.0) {
                    Some("confidences need 0 <= a < b <= 1".to_owned())
                } else if upper - lower < NARROWEST {
                    Some(format!(
                        "a and b must differ by {NARROWEST:e} at least: confidences are counted in \
                         steps of 2^-30"
                    ))
                } else {
                    None
                }
            }
            Law::Beta { a, b } => {
                let in_range = BETA_PARAMETERS.contains(&a) && BETA_PARAMETERS.contains(&b);
                (!in_range).then(|| {
                    let (least, most) = (BETA_PARAMETERS.start(), BETA_PARAMETERS.end());
                    format!("parameters must lie between {least} and {most}")
                })
            }
            Law::Empirical { .. } => None,
        }
    }
}

/// 1 - ρ in decimal: 0.1 for 0.9, where the difference of floats is 0.09999999999999998.
fn complement(rho: f64) -> f64 {
    let exact = 1.0 - rho;
    let decimals = rho.to_string().split_once('.').map_or(0, |(_, d)| d.len());
    if decimals > 15 {
        return exact;
    }
    // What `format!` writes of a finite number is a number.
    format!("{exact:.decimals$}").parse().unwrap_or(exact)
}

fn numbers(parameters: &str) -> Result<Vec<f64>, String> {
    parameters
        .split(',')
        .map(|text| {
            let text = text.trim();
            match text.parse::<f64>() {
                Ok(value) if value.is_finite() => Ok(value),
                _ => Err(format!("`{text}` is not a number")),
            }
        })
        .collect()
}

/// A file, and a column behind its last colon. A colon before a `/` or `\` belongs to the file, as in
/// `C:\scores.csv`.
fn empirical(source: &str) -> Law {
    let (file, column) = match source.rsplit_once(':') {
        Some((file, column))
            if !file.is_empty() && !column.is_empty() && !column.contains(['/', '\\']) =>
        {
            (file, Some(column.to_owned()))
        }
        _ => (source, None),
    };
    Law::Empirical {
        file: file.to_owned(),
        column,
    }
}
