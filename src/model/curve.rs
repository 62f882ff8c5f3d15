//! Curves g(z) = E\[Y | Z = z\], by name or as an expression.

use std::f64::consts::{PI, TAU};
use std::fmt;
use std::str::FromStr;

use super::expression::{self, Expression};
use super::response::CELLS;
use crate::inference::normal::upper_quantile;
use crate::input::nearest_first;
use crate::random::{Key, Stream, threefry};

/// The probability of a positive label as a function of the confidence, before it is clipped to
/// \[0, 1\].
///
/// Parsed from a name of the table in the spec, section 5, or from an expression in z, and shown as the
/// name, or as the expression with spaces and parentheses in one fixed way.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A curve that is an expression itself; its place in [`EXPRESSIONS`].
    Named(&'static str, Expression),
    Spikes,
    RandomFourier,
    Weierstrass,
    /// z ± c, with m periods between c and 1-c.
    Oscillating {
        c: f64,
        m: f64,
    },
    Expression(Expression),
}

/// Named curves that are expressions. Source: Chatterjee & Barber, sections 5.1.1, 5.2, A.1, A.3.
const EXPRESSIONS: [(&str, &str); 10] = [
    ("calibrated", "z"),
    ("quadratic", "0.8*z^2 - 0.2*z + 0.2"),
    ("increasing-frequency", "0.15 + 0.7*z + 0.5*sin(40*pi*z^2)"),
    ("linear", "0.5*z + 0.3"),
    ("staircase", "floor(10*z)/11 + 0.05"),
    // The normal density of mean and standard deviation 1/2.
    ("gaussian", "exp(-2*(z - 0.5)^2)*sqrt(2/pi)"),
    ("sawtooth", "0.75*(frac(10*z) + 0.1)"),
    ("quartic", "z - z^4"),
    ("power-15", "z - z^15"),
    ("square-wave", "z + 0.25*sign(sin(10*pi*z))"),
];

/// Named curves that are sums, or take parameters.
const OTHERS: [&str; 4] = ["spikes", "random-fourier", "weierstrass", "oscillating:c,m"];

/// The most cells of a table.
const MOST_CELLS: u32 = (1 << 15) - 1;

/// Why a text is no curve. Shows the text with a mark under the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct CurveError {
    /// The text.
    pub text: String,
    /// The place in an expression, in characters from 0; none where the whole text is meant.
    pub position: Option<usize>,
    /// What is wrong, and what was expected.
    pub problem: String,
}

impl fmt::Display for CurveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(position) = self.position else {
            return write!(f, "`{}` is not a curve: {}", self.text, self.problem);
        };
        // One column for each character, so that the mark stands under the place.
        let line: String = self
            .text
            .chars()
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .collect();
        writeln!(f, "{}", self.problem)?;
        writeln!(f, "  {line}")?;
        write!(f, "  {:position$}^", "")
    }
}

impl FromStr for Curve {
    type Err = CurveError;

    fn from_str(text: &str) -> Result<Self, CurveError> {
        let text = text.trim();
        let whole = |problem: String| CurveError {
            text: text.to_owned(),
            position: None,
            problem,
        };
        if let Some((name, formula)) = EXPRESSIONS.iter().find(|(name, _)| *name == text) {
            // Every formula of the table is an expression, as a test makes sure.
            let expression = expression::parse(formula).map_err(|error| whole(error.problem))?;
            return Ok(Curve(Kind::Named(name, expression)));
        }
        match text {
            "" => {
                return Err(whole(format!(
                    "known are {}; or an expression in z",
                    names("")
                )));
            }
            "spikes" => return Ok(Curve(Kind::Spikes)),
            "random-fourier" => return Ok(Curve(Kind::RandomFourier)),
            "weierstrass" => return Ok(Curve(Kind::Weierstrass)),
            "oscillating" => return Ok(Curve(Kind::Oscillating { c: 0.2, m: 100.0 })),
            _ => {}
        }
        if let Some(parameters) = text.strip_prefix("oscillating:") {
            return oscillating(parameters).map(Curve).map_err(whole);
        }
        match expression::parse(text) {
            Ok(expression) => Ok(Curve(Kind::Expression(expression))),
            Err(error) if error.unknown_name && looks_like_a_name(text) => Err(whole(format!(
                "known are {}; or an expression in z",
                names(text)
            ))),
            Err(error) => Err(CurveError {
                text: text.to_owned(),
                position: Some(error.position),
                problem: error.problem,
            }),
        }
    }
}

impl fmt::Display for Curve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Named(name, _) => f.write_str(name),
            Kind::Spikes => f.write_str("spikes"),
            Kind::RandomFourier => f.write_str("random-fourier"),
            Kind::Weierstrass => f.write_str("weierstrass"),
            Kind::Oscillating { c, m } => write!(f, "oscillating:{c},{m}"),
            Kind::Expression(expression) => expression.fmt(f),
        }
    }
}

/// A word of letters, digits and hyphens, with or without parameters behind a colon, that is no
/// difference with z: what a misspelt name looks like.
fn looks_like_a_name(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    let first = name.split('-').next().unwrap_or_default();
    first.starts_with(|c: char| c.is_alphabetic())
        && !["z", "e", "pi"].contains(&first)
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || "-_".contains(c))
}

/// All names, those most like `text` first.
fn names(text: &str) -> String {
    let named = EXPRESSIONS.iter().map(|(name, _)| *name);
    let all: Vec<String> = named.chain(OTHERS).map(str::to_owned).collect();
    nearest_first(text, &all)
}

fn oscillating(parameters: &str) -> Result<Kind, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    };
    let parsed = parameters
        .split_once(',')
        .map(|(c, m)| (number(c), number(m)));
    let Some((Some(c), Some(m))) = parsed else {
        return Err("oscillating takes two numbers: oscillating:c,m".to_owned());
    };
    if !(0.0 < c && c < 0.5) {
        return Err("the amplitude c needs 0 < c < 0.5".to_owned());
    }
    if !(0.0 < m && m <= 1e6) {
        return Err("the number of periods m needs 0 < m <= 1000000".to_owned());
    }
    Ok(Kind::Oscillating { c, m })
}

impl Curve {
    /// Whether it is z itself.
    pub(super) fn is_calibrated(&self) -> bool {
        match &self.0 {
            Kind::Named(_, expression) | Kind::Expression(expression) => expression.is_variable(),
            _ => false,
        }
    }

    /// The curve as a function of z, not clipped. `seed` decides the coefficients of
    /// `random-fourier`.
    pub(super) fn function(&self, seed: u64) -> Box<dyn Fn(f64) -> f64 + '_> {
        match &self.0 {
            Kind::Named(_, expression) | Kind::Expression(expression) => {
                Box::new(|z| expression.value(z))
            }
            Kind::Spikes => Box::new(spikes),
            Kind::RandomFourier => {
                let coefficients = fourier_coefficients(seed);
                Box::new(move |z| random_fourier(&coefficients, z))
            }
            Kind::Weierstrass => Box::new(weierstrass),
            &Kind::Oscillating { c, m } => Box::new(move |z| {
                let sine = libm::sin(TAU * m * (z - c) / (1.0 - 2.0 * c));
                z + if sine == 0.0 { 0.0 } else { c.copysign(sine) }
            }),
        }
    }

    /// The number of cells of its table: such that jumps fall on edges, where the curve's jumps are
    /// known to need another number than usual.
    pub(super) fn cells(&self) -> u32 {
        let Kind::Oscillating { c, m } = self.0 else {
            return CELLS;
        };
        // Jumps lie at c and at every half period from there.
        let half_period = (1.0 - 2.0 * c) / (2.0 * m);
        let whole = |value: f64| value > 0.5 && (value - value.round()).abs() < 1e-9 * value;
        let fits = |cells: &u32| {
            let cells = f64::from(*cells);
            whole(cells * c) && whole(cells * half_period)
        };
        let finer = (CELLS..=MOST_CELLS).find(fits);
        finer
            .or_else(|| (1..CELLS).rev().find(fits))
            .unwrap_or(CELLS)
    }
}

/// z + Σ ±0.3 exp(-(z-c_i)²/(2·0.02²)), ten peaks of alternating sign. Source: ibid., 5.1.1.
fn spikes(z: f64) -> f64 {
    let peaks = (0..10).map(|i| {
        let height = if i % 2 == 0 { 0.3 } else { -0.3 };
        let distance = (z - (0.01 + 0.98 * f64::from(i) / 9.0)) / 0.02;
        height * libm::exp(-distance * distance / 2.0)
    });
    z + peaks.sum::<f64>()
}

/// 0.15 + 0.5z + 0.25 Σ 2⁻ᵏ cos(3ᵏπz), k = 0, …, 9. Source: ibid., A.1.
fn weierstrass(z: f64) -> f64 {
    let (mut amplitude, mut frequency, mut sum) = (1.0, 1.0, 0.0);
    for _ in 0..10 {
        sum += amplitude * libm::cos(frequency * PI * z);
        amplitude /= 2.0;
        frequency *= 3.0;
    }
    0.15 + 0.5 * z + 0.25 * sum
}

/// a_k and b_k for k = 1, …, 10: independent, normal, of mean 0 and variance 1/k².
///
/// The words of counter (k, 0) under the seed's key, as midpoints of 2³² equal parts of \[0, 1\],
/// are mapped by the normal quantile function.
fn fourier_coefficients(seed: u64) -> [[f64; 2]; 10] {
    let key = Key::for_stream(seed, Stream::Curve, 0);
    std::array::from_fn(|place| {
        let k = place as u32 + 1;
        threefry(key, [k, 0]).map(|word| {
            let level = (f64::from(word) + 0.5) / (1u64 << 32) as f64;
            -upper_quantile(level) / f64::from(k)
        })
    })
}

/// 0.5 + 0.25 Σ (a_k sin 2πkz + b_k cos 2πkz). Source: ibid., A.1.
fn random_fourier(coefficients: &[[f64; 2]; 10], z: f64) -> f64 {
    let terms = (1u32..).zip(coefficients).map(|(k, [a, b])| {
        let (sin, cos) = libm::sincos(TAU * f64::from(k) * z);
        a * sin + b * cos
    });
    0.5 + 0.25 * terms.sum::<f64>()
}
