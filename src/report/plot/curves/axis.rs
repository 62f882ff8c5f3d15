//! Scales and their ticks.

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithms; values must be positive.
    Log,
}

/// An axis with its ends.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows.
    pub name: String,
    /// How values are spread.
    pub scale: Scale,
    /// The ends, if they are not those of the data.
    pub range: Option<(f64, f64)>,
}

impl Axis {
    /// An axis whose ends are those of the data.
    pub fn new(name: impl Into<String>, scale: Scale) -> Self {
        Axis {
            name: name.into(),
            scale,
            range: None,
        }
    }

    /// With ends of its own.
    pub fn between(self, lower: f64, upper: f64) -> Self {
        Axis {
            range: Some((lower, upper)),
            ..self
        }
    }

    /// Maps values of the data to 0..1.
    pub(super) fn fit(&self, values: impl Iterator<Item = f64>) -> Fitted {
        let usable =
            |value: &f64| value.is_finite() && (self.scale == Scale::Linear || *value > 0.0);
        let data = values.filter(usable).fold(None, |ends, value| match ends {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        });
        let (low, high) = self.range.or(data).unwrap_or((0.0, 1.0));
        let forward = |value: f64| match self.scale {
            Scale::Linear => value,
            Scale::Log => libm::log10(value),
        };
        let (mut low, mut high) = (forward(low), forward(high));
        if high - low < 1e-12 * low.abs().max(1e-300) {
            let half = if self.scale == Scale::Log {
                0.5
            } else {
                0.5 * low.abs().max(1.0)
            };
            (low, high) = (low - half, high + half);
        } else if self.range.is_none() {
            let margin = 0.05 * (high - low);
            (low, high) = (low - margin, high + margin);
        }
        Fitted {
            scale: self.scale,
            low,
            high,
        }
    }
}

/// An axis whose ends are known; those of a log scale as logarithms.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fitted {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Fitted {
    /// Where a value lies, 0 at the lower end and 1 at the upper.
    pub(super) fn place(&self, value: f64) -> f64 {
        let value = match self.scale {
            Scale::Linear => value,
            Scale::Log => libm::log10(value),
        };
        (value - self.low) / (self.high - self.low)
    }

    /// Ticks with a number, and ticks without.
    pub(super) fn ticks(&self) -> (Vec<f64>, Vec<f64>) {
        match self.scale {
            Scale::Linear => (self.linear_ticks(), Vec::new()),
            Scale::Log => self.log_ticks(),
        }
    }

    /// At multiples of 1, 2 or 5 times a power of ten, three to six of them.
    fn linear_ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let power = libm::pow(10.0, libm::log10(span / 5.0).floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|factor| factor * power)
            .into_iter()
            .find(|step| span / step <= 5.5)
            .unwrap_or(10.0 * power);
        let (first, last) = ((self.low / step).ceil(), (self.high / step).floor());
        let count = (last - first).clamp(0.0, 20.0) as u32;
        (0..=count)
            .map(|i| (first + f64::from(i)) * step)
            // Nothing but rounding lies between the tick and the number that it is.
            .map(|tick| (tick / power * 10.0).round() * power / 10.0)
            .collect()
    }

    /// At powers of ten; where there are fewer than two, also at twice and five times them.
    fn log_ticks(&self) -> (Vec<f64>, Vec<f64>) {
        let inside = |value: &f64| (-1e-9..=1.0 + 1e-9).contains(&self.place(*value));
        let decades = (self.low.floor() as i32)..=(self.high.ceil() as i32);
        let all: Vec<(u32, f64)> = decades
            .take(40)
            .flat_map(|decade| (1..10).map(move |digit| (digit, decade)))
            .map(|(digit, decade)| (digit, f64::from(digit) * libm::pow(10.0, f64::from(decade))))
            .filter(|(_, value)| inside(value))
            .collect();
        let tens = all.iter().filter(|(digit, _)| *digit == 1).count();
        let numbered = |digit: u32| digit == 1 || (tens < 2 && [2, 5].contains(&digit));
        let (with, without): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(digit, _)| numbered(*digit));
        let values = |ticks: Vec<(u32, f64)>| ticks.into_iter().map(|(_, value)| value).collect();
        (values(with), values(without))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round() {
        let ticks = |low, high| {
            let axis = Axis::new("", Scale::Linear).between(low, high);
            axis.fit(std::iter::empty()).ticks().0
        };
        assert_eq!(ticks(0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]);
        assert_eq!(ticks(0.93, 1.31), [1.0, 1.1, 1.2, 1.3]);
        let axis = Axis::new("", Scale::Log).between(100.0, 10_000.0);
        let (with, without) = axis.fit(std::iter::empty()).ticks();
        assert_eq!(with, [100.0, 1000.0, 10_000.0]);
        assert_eq!(without.len(), 16);
    }
}
