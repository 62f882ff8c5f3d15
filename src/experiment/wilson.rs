//! The Wilson score interval of a proportion.

/// The level of all intervals of simulated rates.
pub const LEVEL: f64 = 0.95;

/// z of [`LEVEL`], two-sided: what a standard normal variable exceeds with probability 0.025.
const Z: f64 = 1.959_963_984_540_054;

/// The interval for a probability of which `successes` in `trials` were seen; none without trials.
///
/// Source: Wilson, "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22
/// (1927). At 0 and at `trials` successes its ends are exactly 0 and 1.
pub fn interval(successes: u64, trials: u64) -> Option<(f64, f64)> {
    interval_at(Z, successes, trials)
}

/// The same for another z: the interval misses the probability about as often as a standard normal
/// variable is larger than `z` in magnitude.
pub fn interval_at(z: f64, successes: u64, trials: u64) -> Option<(f64, f64)> {
    if trials == 0 {
        return None;
    }
    let n = trials as f64;
    let rate = successes as f64 / n;
    let square = z * z;
    let centre = (rate + square / (2.0 * n)) / (1.0 + square / n);
    let variance = rate * (1.0 - rate) / n + square / (4.0 * n * n);
    let half_width = z * variance.sqrt() / (1.0 + square / n);
    let lower = if successes == 0 {
        0.0
    } else {
        (centre - half_width).max(0.0)
    };
    let upper = if successes >= trials {
        1.0
    } else {
        (centre + half_width).min(1.0)
    };
    Some((lower, upper))
}
