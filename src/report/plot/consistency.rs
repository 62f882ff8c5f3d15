//! Where a bin's mean label would lie if the probabilities were calibrated.

/// The central range of the mean of `n` labels that are 1 with probability `confidence`, at level
/// 1 - `alpha`: the α/2 and 1-α/2 quantiles of Binomial(n, confidence), over n.
///
/// Given the confidences of a bin, the number of its positives is a sum of Bernoulli variables of
/// different probabilities; the binomial law of their mean has at least the same variance
/// (Hoeffding 1956), so the range errs to the wide side.
///
/// Nothing if `n` is 0. The quantiles are exact: probabilities are summed outwards from the mode,
/// in time proportional to √n. (Continued fractions of the incomplete beta function do not
/// converge in a fixed number of steps for large n.)
pub fn consistency_range(n: u64, confidence: f64, alpha: f64) -> Option<(f64, f64)> {
    if n == 0 || !(0.0..=1.0).contains(&confidence) {
        return None;
    }
    let rows = n as f64;
    if confidence == 0.0 || confidence == 1.0 {
        return Some((confidence, confidence));
    }
    let odds = confidence / (1.0 - confidence);
    let mode = ((rows + 1.0) * confidence).floor().min(rows);
    // Probabilities relative to the mode's, and only those that a double can tell from nothing.
    let negligible = 1e-18;
    let mut below = Vec::new();
    let (mut k, mut weight) = (mode, 1.0);
    while k > 0.0 && weight > negligible {
        weight *= k / ((rows - k + 1.0) * odds);
        k -= 1.0;
        below.push(weight);
    }
    let mut above = Vec::new();
    let (mut k, mut weight) = (mode, 1.0);
    while k < rows && weight > negligible {
        weight *= (rows - k) * odds / (k + 1.0);
        k += 1.0;
        above.push(weight);
    }
    let smallest = mode - below.len() as f64;
    let weights: Vec<f64> = below.into_iter().rev().chain([1.0]).chain(above).collect();
    let tail = weights.iter().sum::<f64>() * alpha / 2.0;
    // The α/2 quantile is the first k with P(X <= k) >= α/2; the other, from above, the first k
    // with P(X > k) <= α/2.
    let lower = first_beyond(weights.iter(), |sum| sum >= tail);
    let upper = weights.len() - 1 - first_beyond(weights.iter().rev(), |sum| sum > tail);
    let mean = |place: usize| (smallest + place as f64) / rows;
    Some((mean(lower), mean(upper)))
}

/// The first place at which the running sum is beyond a bound; the last one if it never is.
fn first_beyond<'a>(
    weights: impl ExactSizeIterator<Item = &'a f64>,
    beyond: impl Fn(f64) -> bool,
) -> usize {
    let last = weights.len().saturating_sub(1);
    let sums = weights.scan(0.0, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    sums.take(last).position(beyond).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Binomial, DiscreteCDF};

    use super::*;

    #[test]
    fn quantiles_of_small_samples_by_hand() {
        // Binomial(3, 1/2): P(X <= 0) = 1/8, P(X <= 1) = 1/2, P(X <= 2) = 7/8.
        assert_eq!(consistency_range(3, 0.5, 0.2), Some((0.0, 1.0)));
        assert_eq!(consistency_range(3, 0.5, 0.3), Some((1.0 / 3.0, 2.0 / 3.0)));
        assert_eq!(consistency_range(1, 0.01, 0.05), Some((0.0, 0.0)));
        assert_eq!(consistency_range(1, 0.5, 0.05), Some((0.0, 1.0)));
        assert_eq!(consistency_range(7, 0.0, 0.05), Some((0.0, 0.0)));
        assert_eq!(consistency_range(7, 1.0, 0.05), Some((1.0, 1.0)));
        assert_eq!(consistency_range(0, 0.5, 0.05), None);
    }

    #[test]
    fn quantiles_agree_with_the_distribution_function() {
        for n in [1, 2, 5, 13, 100, 2_000] {
            for confidence in [1e-6, 0.003, 0.2, 0.5, 0.77, 0.999] {
                // No level at which a quantile hangs on the last bit.
                for alpha in [0.31, 0.05, 0.001] {
                    let binomial = Binomial::new(confidence, n).unwrap();
                    let quantile = |p: f64| (0..=n).find(|&k| binomial.cdf(k) >= p).unwrap();
                    let survives = |p: f64| (0..=n).find(|&k| binomial.sf(k) <= p).unwrap();
                    let expected = (
                        quantile(alpha / 2.0) as f64 / n as f64,
                        survives(alpha / 2.0) as f64 / n as f64,
                    );
                    assert_eq!(
                        consistency_range(n, confidence, alpha),
                        Some(expected),
                        "{n} {confidence} {alpha}"
                    );
                }
            }
        }
    }

    #[test]
    fn large_samples_follow_the_cornish_fisher_expansion() {
        // k = np + zσ + (1-2p)(z²-1)/6, off by less than a row or so.
        let z = 1.959_963_984_540_054;
        for (n, p) in [
            (1_000_000_000, 0.3),
            (4_000_000_000, 0.5),
            (1_000_000, 0.01),
        ] {
            let rows = n as f64;
            let sigma = (rows * p * (1.0 - p)).sqrt();
            let skew = (1.0 - 2.0 * p) * (z * z - 1.0) / 6.0;
            let (lower, upper) = consistency_range(n, p, 0.05).unwrap();
            assert!((lower * rows - (rows * p - z * sigma + skew)).abs() < 1.5);
            assert!((upper * rows - (rows * p + z * sigma + skew)).abs() < 1.5);
        }
    }
}
