//! A specification in the making: from a file and flags to what is followed.

use std::collections::{BTreeMap, BTreeSet};

use super::range::expand;
use super::spec::{Command, FEWEST_ROWS, MOST_REPLICATES, MOST_ROWS, Spec, SpecError};
use crate::backend::kernels::{Kernel, SkceNull};
use crate::inference::tests_of_calibration::TestName;
use crate::input::nearest_first;
use crate::model::{Curve, Law};
use crate::statistic::BinsRule;
use crate::statistic::skce::{self, Bandwidth};

/// The most null resamples of a replicate.
const MOST_RESAMPLES: u32 = 1 << 31;
/// Null resamples of a replicate unless another number is asked for: so many that the power hardly
/// grows with more, as 200 divides levels of 0.05 and 0.01 into whole numbers.
const DEFAULT_RESAMPLES: u64 = 199;
/// The rows at one n of a search, unless a number of replicates is asked for: a second or so of two
/// cores.
const MOST_ROWS_AT_ONE_N: u64 = 250_000_000;
/// The most grid points.
const MOST_POINTS: usize = 1_000_000;

/// A specification in the making: texts by key, as they were given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    values: BTreeMap<&'static str, Vec<String>>,
    /// The keys whose values are those of flags; the others are those of the file.
    by_flag: BTreeSet<&'static str>,
}

impl Draft {
    /// Reads a TOML file: a key for each flag (`solve_n` for `--solve-n`), its value a string, a
    /// number, or a list of them.
    ///
    /// # Errors
    /// If it is not TOML, or a key is not one of `command`, with the nearest one named.
    pub fn from_toml(command: Command, text: &str) -> Result<Self, SpecError> {
        Draft::of_keys(command.name(), command.keys(), text)
    }

    /// The same for a command by its name and keys.
    ///
    /// # Errors
    /// As above.
    pub fn of_keys(
        command: &str,
        keys: &'static [&'static str],
        text: &str,
    ) -> Result<Self, SpecError> {
        let table: toml::Table = text
            .parse()
            .map_err(|error| SpecError::new(format!("not TOML: {error}")))?;
        let mut draft = Draft::default();
        for (key, value) in table {
            let Some(known) = keys.iter().find(|known| **known == key) else {
                let names: Vec<String> = keys.iter().map(|&key| key.to_owned()).collect();
                return Err(SpecError::new(format!(
                    "`{key}` is no key of {command}; known are {}",
                    nearest_first(&key, &names)
                )));
            };
            let values = match value {
                toml::Value::Array(values) => values,
                value => vec![value],
            };
            let texts = values.into_iter().map(|value| match value {
                toml::Value::String(text) => Ok(text),
                toml::Value::Integer(number) => Ok(number.to_string()),
                toml::Value::Float(number) => Ok(number.to_string()),
                other => Err(SpecError::new(format!(
                    "`{key}` takes strings and numbers, or a list of them, not a {}",
                    other.type_str()
                ))),
            });
            draft.values.insert(known, texts.collect::<Result<_, _>>()?);
        }
        Ok(draft)
    }

    /// Gives a key new values, if there are any: what flags do to a file.
    pub fn set(&mut self, key: &'static str, values: Vec<String>) {
        if !values.is_empty() {
            self.values.insert(key, values);
            self.by_flag.insert(key);
        }
    }

    /// Whether a flag gave a key its value.
    pub(super) fn is_by_flag(&self, key: &str) -> bool {
        self.by_flag.contains(key)
    }

    /// Takes the value away that the file gave a key. False if it gave none, or a flag took precedence.
    pub(super) fn remove_of_file(&mut self, key: &str) -> bool {
        !self.is_by_flag(key) && self.values.remove(key).is_some()
    }

    /// Gives a key that has no value one.
    pub(super) fn set_default(&mut self, key: &'static str, value: &str) {
        self.values
            .entry(key)
            .or_insert_with(|| vec![value.to_owned()]);
    }

    /// Whether a key has a value.
    pub(super) fn gives(&self, key: &str) -> bool {
        !self.values(key).is_empty()
    }

    /// The laws in their canonical form, ranges written out.
    pub(super) fn laws(&self) -> Result<Vec<String>, SpecError> {
        self.expanded("law", |text| {
            // Names of files are taken as they are.
            let is_file = text.trim().starts_with("empirical");
            let texts = if is_file {
                vec![text.to_owned()]
            } else {
                expand(text)?
            };
            canonical::<Law>(&texts)
        })
    }

    /// The curves in their canonical form, ranges written out.
    pub(super) fn curves(&self) -> Result<Vec<String>, SpecError> {
        self.expanded("curve", |text| canonical::<Curve>(&expand(text)?))
    }

    /// The effective specification.
    ///
    /// # Errors
    /// The first thing that is missing or wrong, and what to write instead.
    pub fn finish(&self, command: Command) -> Result<Spec, SpecError> {
        let mut law = self.laws()?;
        let curve = self.curves()?;
        let population = distinct(self.values("population").to_vec());
        if population.is_empty() && law.is_empty() {
            law.push("uniform".to_owned());
        }
        if curve.is_empty() && !law.is_empty() {
            return Err(SpecError::new(
                "a curve is missing: --curve quadratic, or an expression for E[Y|Z=z] such as \
                 --curve 'z - z^4' or, for scores 5 points too high, --curve 'z - 0.05'",
            ));
        }
        if law.is_empty() && !curve.is_empty() {
            return Err(SpecError::new(
                "a population file brings its own labels and takes no curve; name a law beside it \
                 (--law) or leave --curve out",
            ));
        }
        let [confidence, label, positive] =
            ["confidence", "label", "positive"].map(|key| match self.values(key) {
                [] => Ok(None),
                [_] if population.is_empty() => Err(SpecError(format!(
                    "{key} says how --population FILE is read, and there is no population; leave it out"
                ))),
                [one] => Ok(Some(one.clone())),
                several => Err(one_of_several(key, several.len())),
            });
        let solve_n = self.solve_n()?;
        let tests = self.tests(command, solve_n.is_some())?;
        let unbiased = tests.contains(&TestName::SkceU);
        let any = tests.iter().any(|test| test.uses_kernel());
        let kernel: Option<Kernel> = self.kernel_value("kernel", any, |text| {
            <Kernel as clap::ValueEnum>::from_str(text, false)
                .map_err(|_| format!("no kernel is named `{text}`; there are gaussian and laplace"))
        })?;
        let bandwidth: Option<Bandwidth> = self.kernel_value("bandwidth", any, str::parse)?;
        let null: Option<SkceNull> = self.kernel_value("skce_null", unbiased, |text| {
            <SkceNull as clap::ValueEnum>::from_str(text, false)
                .map_err(|_| format!("`{text}` is none of multinomial, wild and monte-carlo"))
        })?;
        let spec = Spec {
            command,
            law,
            curve,
            confidence: confidence?,
            label: label?,
            positive: positive?,
            population,
            n: self.rows(solve_n.is_some())?,
            replicates: self.whole("replicates", 10_000, 1..=MOST_REPLICATES)?,
            resamples: self.resamples(&tests)?,
            tests,
            kernel: any.then(|| kernel.unwrap_or_default()),
            bandwidth: any.then(|| bandwidth.unwrap_or_default().to_string()),
            skce_null: unbiased.then(|| null.unwrap_or_default()),
            alpha: self.alpha(command)?,
            bins: self.bins(command)?,
            seed: self.whole("seed", 1, 0..=u64::MAX)?,
            solve_n,
            most_rows: (solve_n.is_some() && self.values("replicates").is_empty())
                .then_some(MOST_ROWS_AT_ONE_N),
        };
        if spec.solve_n.is_some() {
            one_of_each(&spec)?;
        }
        let sources = spec.law.len().saturating_mul(spec.curve.len()) + spec.population.len();
        if sources.saturating_mul(spec.n.len()) > MOST_POINTS {
            return Err(SpecError::new(format!(
                "a grid of more than {MOST_POINTS} points; give fewer laws, curves or n"
            )));
        }
        Ok(spec)
    }

    fn values(&self, key: &str) -> &[String] {
        self.values.get(key).map_or(&[], Vec::as_slice)
    }

    /// The values of a key, each mapped to what it stands for, every one once.
    fn expanded<T: PartialEq>(
        &self,
        key: &str,
        expand: impl Fn(&str) -> Result<Vec<T>, String>,
    ) -> Result<Vec<T>, SpecError> {
        let mut all = Vec::new();
        for text in self.values(key) {
            let named = |problem| SpecError(format!("{key}: {problem}"));
            all.extend(expand(text).map_err(named)?);
        }
        Ok(distinct(all))
    }

    /// As [`Draft::expanded`], for texts that are lists.
    fn listed<T: PartialEq>(
        &self,
        key: &str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<T>, SpecError> {
        self.expanded(key, |text| {
            let mut items = Vec::new();
            for item in text.split(',') {
                for value in expand(item.trim())? {
                    items.push(parse(&value)?);
                }
            }
            Ok(items)
        })
    }

    /// The numbers of rows, in the order given; none are given if they are looked for.
    pub(super) fn rows(&self, solving: bool) -> Result<Vec<u32>, SpecError> {
        let rows = self.listed("n", |text| {
            text.parse::<u32>()
                .ok()
                .filter(|rows| (FEWEST_ROWS..=MOST_ROWS).contains(rows))
                .ok_or_else(|| {
                    format!(
                        "`{text}` is no number of rows: whole, from {FEWEST_ROWS} to {MOST_ROWS}"
                    )
                })
        })?;
        match (rows.is_empty(), solving) {
            (false, true) => Err(SpecError::new("--solve-n looks for n; leave --n out")),
            (true, false) => Err(SpecError::new(
                "the numbers of rows are missing: --n 100,200,500 or --n 100..1000/100",
            )),
            _ => Ok(rows),
        }
    }

    /// The tests that are named, each once.
    pub(super) fn named_tests(&self) -> Result<Vec<TestName>, SpecError> {
        let names: Vec<String> = TestName::ALL.map(|name| name.to_string()).to_vec();
        let tests = self.listed("tests", |text| match text {
            "all" => Ok(TestName::ALL.to_vec()),
            _ => TestName::ALL
                .into_iter()
                .find(|name| name.as_str() == text)
                .map(|name| vec![name])
                .ok_or_else(|| {
                    format!(
                        "no test is named `{text}`; there are {}, and `all`",
                        nearest_first(text, &names)
                    )
                }),
        })?;
        Ok(distinct(tests.concat()))
    }

    fn tests(&self, command: Command, solving: bool) -> Result<Vec<TestName>, SpecError> {
        let tests = self.named_tests()?;
        Ok(match command {
            Command::Power if tests.is_empty() && solving => vec![TestName::Conditional],
            Command::Power if tests.is_empty() => TestName::OF_SUMS.to_vec(),
            _ => tests,
        })
    }

    /// Refuses a number of resamples where no test draws any.
    pub(super) fn check_resampling(&self, tests: &[TestName]) -> Result<(), SpecError> {
        if self.gives("resamples") && !tests.iter().any(|test| test.draws_null_resamples()) {
            return Err(SpecError::new(
                "resamples has no meaning for these tests; leave it out, or name a test that \
                 resamples (monte-carlo, adaptive, ks, kuiper, skce-u)",
            ));
        }
        Ok(())
    }

    /// Null resamples, of tests that need them.
    fn resamples(&self, tests: &[TestName]) -> Result<Option<u32>, SpecError> {
        self.check_resampling(tests)?;
        let of_labels = tests.iter().any(|test| test.resamples_labels());
        let needed = of_labels || tests.contains(&TestName::SkceU);
        let default = if of_labels {
            DEFAULT_RESAMPLES
        } else {
            skce::RESAMPLES.into()
        };
        let resamples = self.whole("resamples", default, 1..=MOST_RESAMPLES.into())?;
        Ok(needed.then_some(resamples as u32))
    }

    /// The one value of a key that only tests with a kernel read; `read` says whether one does.
    fn kernel_value<T: PartialEq>(
        &self,
        key: &str,
        read: bool,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Option<T>, SpecError> {
        let mut values = Vec::new();
        for text in self.values(key) {
            values.push(parse(text.trim()).map_err(|error| SpecError(format!("{key}: {error}")))?);
        }
        match values.len() {
            0 => Ok(None),
            1 if read => Ok(values.pop()),
            1 => Err(SpecError(format!(
                "{key} is for tests with a kernel; add --tests skce-u,skce-l or leave it out"
            ))),
            several => Err(one_of_several(key, several)),
        }
    }

    fn alpha(&self, command: Command) -> Result<Vec<f64>, SpecError> {
        let alpha = self.listed("alpha", |text| match text.parse::<f64>() {
            Ok(alpha) if alpha > 0.0 && alpha < 1.0 => Ok(alpha),
            _ => Err(format!(
                "`{text}` is no level of a test: a number between 0 and 1, both excluded"
            )),
        })?;
        Ok(match command {
            Command::Power if alpha.is_empty() => vec![0.05],
            _ => alpha,
        })
    }

    fn bins(&self, command: Command) -> Result<Vec<BinsRule>, SpecError> {
        let bins = self.listed("bins", str::parse)?;
        if command == Command::Power || !bins.is_empty() {
            return Ok(bins);
        }
        let default = ["10", "sqrt", "cbrt", "n/20", "n/10"];
        let rules: Result<Vec<BinsRule>, String> =
            default.iter().map(|rule| rule.parse()).collect();
        rules.map_err(SpecError)
    }

    fn solve_n(&self) -> Result<Option<f64>, SpecError> {
        let targets = self.listed("solve_n", |text| match text.parse::<f64>() {
            Ok(target) if target > 0.0 && target < 1.0 => Ok(target),
            _ => Err(format!(
                "`{text}` is no power: a number between 0 and 1, both excluded, such as 0.8"
            )),
        })?;
        match targets[..] {
            [] => Ok(None),
            [target] => Ok(Some(target)),
            ref several => Err(one_of_several("solve_n", several.len())),
        }
    }

    /// The one whole number of a key.
    pub(super) fn whole(
        &self,
        key: &str,
        default: u64,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<u64, SpecError> {
        match self.values(key) {
            [] => Ok(default),
            [text] => text
                .trim()
                .parse()
                .ok()
                .filter(|value| range.contains(value))
                .ok_or_else(|| {
                    SpecError(format!(
                        "{key}: `{text}` is not a whole number from {} to {}",
                        range.start(),
                        range.end()
                    ))
                }),
            several => Err(one_of_several(key, several.len())),
        }
    }
}

/// The error for a list where one value is asked for.
fn one_of_several(key: &str, several: usize) -> SpecError {
    SpecError(format!(
        "{key} takes one value, but there are {several}; leave one"
    ))
}

/// Refuses to look for one n in several places at once.
fn one_of_each(spec: &Spec) -> Result<(), SpecError> {
    for (key, count) in [
        ("law", spec.law.len()),
        ("curve", spec.curve.len()),
        ("test", spec.tests.len()),
        ("alpha", spec.alpha.len()),
    ] {
        if count != 1 {
            return Err(SpecError(format!(
                "--solve-n finds n for one {key}, but there are {count}; name one"
            )));
        }
    }
    Ok(())
}

/// Texts in the one form that a law or curve is shown in.
fn canonical<T>(texts: &[String]) -> Result<Vec<String>, String>
where
    T: std::str::FromStr + std::fmt::Display,
    T::Err: std::fmt::Display,
{
    let parse = |text: &String| text.parse::<T>().map_err(|error| error.to_string());
    texts
        .iter()
        .map(|text| Ok(parse(text)?.to_string()))
        .collect()
}

/// Each item once, in order.
fn distinct<T: PartialEq>(items: Vec<T>) -> Vec<T> {
    items.into_iter().fold(Vec::new(), |mut seen, item| {
        if !seen.contains(&item) {
            seen.push(item);
        }
        seen
    })
}
