//! The reference against closed forms, enumeration, and numbers that others computed.

use half::{bf16, f16};
use rankece::backend::Closed;
use rankece::predictions::Dtype;
use rankece::random::{Key, Stream};
use rankece::reference::sample::Row;
use rankece::reference::{
    Sample, binned, bins, intervals, null, rank_ece, scores, tests_of_calibration as tests,
};

fn sample(confidences: &[f64], labels: &[u8]) -> Sample {
    let labels: Vec<bool> = labels.iter().map(|&label| label == 1).collect();
    Sample::new(confidences, &labels).unwrap()
}

#[track_caller]
fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not within {tolerance} of {expected}"
    );
}

/// Confidences and labels of a CSV file whose first two columns they are.
fn file(path: &str) -> Sample {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let (mut confidences, mut labels) = (Vec::new(), Vec::new());
    for record in csv::Reader::from_path(path).unwrap().records() {
        let record = record.unwrap();
        confidences.push(record[0].parse().unwrap());
        labels.push(&record[1] == "1");
    }
    Sample::new(&confidences, &labels).unwrap()
}

/// The example of the ECE article.
fn article() -> Sample {
    sample(&[0.55, 0.65, 0.85, 0.95], &[1, 0, 1, 1])
}

#[test]
fn article_example() {
    let sample = article();
    let estimate = rank_ece::average(&sample).unwrap();
    // Residuals 0.45, -0.65, 0.15, 0.05: (-0.2925 - 0.0975 + 0.0075)/4.
    assert_close(estimate, -0.095625, 1e-15);
    assert_close(rank_ece::stable(&sample).unwrap(), -0.095625, 1e-15);
    let bins = |k| bins::equal_width(&sample, Dtype::F64, k, Closed::Right);
    assert_close(binned::ece_l1(&bins(1)).unwrap(), 0.0, 1e-15);
    assert_close(
        tests::asymptotic(&sample, estimate).unwrap(),
        -1.054696,
        5e-7,
    );
    let threshold = tests::finite_sample_threshold(&sample, 0.05);
    assert_close(threshold, 5.177326, 5e-7);
    assert_eq!(tests::finite_sample_p_value(&sample, estimate), 1.0);
    // (0.45² + 0.65² + 0.15² + 0.05²)/4, -(ln 0.55 + ln 0.35 + ln 0.85 + ln 0.95)/4.
    assert_close(scores::brier(&sample).unwrap(), 0.1625, 1e-15);
    assert_close(
        scores::log_loss(&sample).unwrap(),
        -(0.55f64 * 0.35 * 0.85 * 0.95).ln() / 4.0,
        1e-15,
    );
    assert_eq!(scores::base_rate(&sample), Some(0.75));
    assert_close(scores::mean_confidence(&sample).unwrap(), 0.75, 1e-15);
    assert_close(
        intervals::decision_risk(estimate, 4, 1).unwrap(),
        2.0,
        1e-15,
    );
}

/// The cases that other packages got wrong, each with its expected numbers.
#[test]
fn cases_of_other_packages() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("cases.json")).unwrap();
    let mut checked = 0;
    for case in cases.as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let input = match case.get("input") {
            Some(input) => input,
            None => case,
        };
        let numbers = |key: &str| -> Option<Vec<f64>> {
            let list = input.get(key)?.as_array()?;
            list.iter().map(|value| value.as_f64()).collect()
        };
        let expect = |key: &str| case["expect"].get(key).and_then(|value| value.as_f64());
        let (Some(confidences), Some(labels)) = (numbers("confidences"), numbers("labels")) else {
            continue;
        };
        let labels: Vec<bool> = labels.iter().map(|&label| label == 1.0).collect();
        if expect("exit").is_some() {
            // The file is refused: by this door too, or because its labels are not binary.
            assert!(Sample::new(&confidences, &labels).is_none() || id == "swapped");
            continue;
        }
        let sample = Sample::new(&confidences, &labels).unwrap();
        let bins = match id {
            "mass-bins-keep-ties" => bins::equal_mass(&sample, 5),
            "mass-bins-sorted" => bins::equal_mass(&sample, 4),
            "last-bin-skipped" => bins::equal_mass(&sample, 2),
            _ => {
                let closed = match case["closed"].as_str().unwrap() {
                    "right" => Closed::Right,
                    "left" => Closed::Left,
                    other => panic!("{id}: closed {other}"),
                };
                let number = case["bins"].as_u64().unwrap() as u32;
                bins::equal_width(&sample, Dtype::F64, number, closed)
            }
        };
        for (key, actual) in [
            ("ece_l1", binned::ece_l1(&bins)),
            ("ece_l2", binned::ece_l2(&bins)),
            ("mce", binned::mce(&bins)),
            ("rank_ece_average", rank_ece::average(&sample)),
        ] {
            if let Some(expected) = expect(key) {
                assert!((actual.unwrap() - expected).abs() < 1e-12, "{id}: {key}");
            }
        }
        if let Some(counts) = case["expect"]
            .get("counts")
            .and_then(|list| list.as_array())
        {
            let actual: Vec<usize> = bins.iter().map(|bin| bin.rows).collect();
            let expected: Vec<usize> = counts
                .iter()
                .map(|count| count.as_u64().unwrap() as usize)
                .collect();
            assert_eq!(actual, expected, "{id}");
        }
        if let Some(expected) = expect("effective_bins") {
            assert_eq!(binned::effective_bins(&bins), expected as usize, "{id}");
        }
        if id == "debiased" {
            assert_close(
                binned::ece_l2_debiased(&bins).unwrap(),
                -0.101666666667,
                1e-12,
            );
        }
        checked += 1;
    }
    assert_eq!(checked, 18);
}

#[test]
fn real_files() {
    let nfl = file("examples/data/nfl.csv");
    assert_eq!(nfl.rows().len(), 1882);
    let estimate = rank_ece::average(&nfl).unwrap();
    assert_close(estimate, 0.0027161, 5e-8);
    assert_close(tests::asymptotic(&nfl, estimate).unwrap(), 0.544, 5e-4);
    let bins = bins::equal_width(&nfl, Dtype::F64, 10, Closed::Right);
    assert_close(binned::ece_l1(&bins).unwrap(), 0.03230, 5e-6);

    let stated = file("tests/data/llm_stated.csv");
    assert_eq!(stated.rows().len(), 72_185);
    let estimate = rank_ece::average(&stated).unwrap();
    assert_close(estimate, 0.0161605, 5e-8);
    assert_close(tests::asymptotic(&stated, estimate).unwrap(), 46.0, 0.5);
    let variance = null::conditional_average(&stated);
    let conditional = tests::conditional(&stated, estimate, variance).unwrap();
    assert_close(conditional, 478.0, 0.5);
    let bins = bins::equal_width(&stated, Dtype::F64, 10, Closed::Right);
    assert_close(binned::ece_l1(&bins).unwrap(), 0.1128, 5e-5);
    // 186 rows of confidence 0 with label 1 and 2,213 of confidence 1 with label 0.
    assert_eq!(scores::log_loss_clamped(&stated), 186 + 2213);

    let cancer = file("tests/data/breast_cancer.csv");
    let estimate = rank_ece::average(&cancer).unwrap();
    assert_close(estimate, 0.0026639, 5e-8);
    assert_close(tests::asymptotic(&cancer, estimate).unwrap(), 1.696, 5e-4);
}

/// All orders of the elements of `items`.
fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for index in 0..items.len() {
        let mut rest = items.to_vec();
        let first = rest.remove(index);
        for mut order in permutations(&rest) {
            order.insert(0, first.clone());
            all.push(order);
        }
    }
    all
}

/// (2.1) is averaged over every order of the rows that sorts the confidences, the mean of all
/// permutations within each tied group.
#[test]
fn average_is_the_expectation_over_all_tie_breakings() {
    for (confidences, labels) in [
        (vec![0.3; 4], vec![0, 1, 1, 0]),
        (vec![0.2, 0.2, 0.2, 0.7, 0.7], vec![1, 0, 0, 1, 0]),
        (
            vec![0.1, 0.4, 0.4, 0.4, 0.9, 0.9, 1.0],
            vec![0, 1, 1, 0, 1, 0, 1],
        ),
        (vec![0.0, 0.0, 0.5, 0.5, 0.5, 0.5], vec![0, 1, 1, 1, 1, 0]),
        (vec![0.25, 0.5, 0.625], vec![1, 0, 1]),
    ] {
        let sample = sample(&confidences, &labels);
        let sorted: Vec<Vec<Row>> = permutations(sample.rows())
            .into_iter()
            .filter(|rows| rows.is_sorted_by_key(|row| row.confidence))
            .collect();
        let total: f64 = sorted
            .iter()
            .map(|rows| rank_ece::of_ordered(rows).unwrap())
            .sum();
        let expected = total / sorted.len() as f64;
        assert_close(rank_ece::average(&sample).unwrap(), expected, 1e-14);
    }
}

#[test]
fn average_without_ties_is_the_adjacent_formula() {
    let confidences: Vec<f64> = (0..200).map(|i| f64::from(i * 37 % 200) / 211.0).collect();
    let labels: Vec<u8> = (0..200).map(|i| u8::from(i * i % 7 < 3)).collect();
    let sample = sample(&confidences, &labels);
    assert_eq!(sample.tied_rows(), 0);
    let adjacent = rank_ece::stable(&sample).unwrap();
    assert_close(rank_ece::average(&sample).unwrap(), adjacent, 1e-14);
    let key = Key::for_stream(1, Stream::Ties, 0);
    assert_eq!(rank_ece::random(&sample, key), Some(adjacent));
}

/// One draw depends neither on the order of rows nor on which rows are positive, and the mean over
/// many keys is the average: the standard error of 4,000 draws here is about 0.0011.
#[test]
fn random_ties_average_out() {
    let confidences = [0.4, 0.4, 0.4, 0.4, 0.4, 0.7, 0.7, 0.7];
    let forwards = sample(&confidences, &[1, 1, 1, 0, 0, 1, 0, 0]);
    let backwards = sample(&confidences, &[0, 0, 1, 1, 1, 0, 0, 1]);
    let draws = 4000;
    let mut total = 0.0;
    for seed in 0..draws {
        let key = Key::for_stream(seed, Stream::Ties, 0);
        let value = rank_ece::random(&forwards, key).unwrap();
        assert_eq!(rank_ece::random(&backwards, key), Some(value));
        total += value;
    }
    let average = rank_ece::average(&forwards).unwrap();
    assert_close(total / draws as f64, average, 0.006);
}

/// Mean and variance of `statistic` under H0, over all label vectors.
fn null_moments(confidences: &[f64], statistic: impl Fn(&Sample) -> f64) -> (f64, f64) {
    let (mut mean, mut square) = (0.0, 0.0);
    for vector in 0..1u32 << confidences.len() {
        let labels: Vec<bool> = (0..confidences.len())
            .map(|i| vector >> i & 1 == 1)
            .collect();
        let probability: f64 = std::iter::zip(confidences, &labels)
            .map(|(&z, &label)| if label { z } else { 1.0 - z })
            .product();
        let value = statistic(&Sample::new(confidences, &labels).unwrap());
        mean += probability * value;
        square += probability * value * value;
    }
    (mean, square - mean * mean)
}

#[test]
fn conditional_variance_is_that_of_all_label_vectors() {
    for confidences in [
        vec![0.1, 0.3, 0.3, 0.3, 0.55, 0.7, 0.7, 0.95],
        vec![0.2; 7],
        vec![0.0, 0.5, 0.5, 1.0, 1.0],
        vec![0.15, 0.35, 0.65, 0.75, 0.85, 0.9],
    ] {
        let n = confidences.len() as f64;
        let example = sample(&confidences, &vec![0; confidences.len()]);
        let (mean, variance) = null_moments(&confidences, |s| n * rank_ece::average(s).unwrap());
        assert_close(mean, 0.0, 1e-14);
        assert_close(variance, null::conditional_average(&example), 1e-14);
        let (mean, variance) = null_moments(&confidences, |s| n * rank_ece::stable(s).unwrap());
        assert_close(mean, 0.0, 1e-14);
        assert_close(variance, null::conditional_ordered(&example), 1e-14);
    }
}

/// The exact probability of rejection under H0, over all label vectors, is at most the level.
#[test]
fn finite_sample_test_keeps_its_level() {
    let confidences = [0.05, 0.3, 0.3, 0.3, 0.6, 0.7, 0.7, 0.95, 0.99, 1.0];
    let n = confidences.len() as f64;
    for alpha in [0.5, 0.9] {
        let (level, _) = null_moments(&confidences, |s| {
            let statistic = n * rank_ece::average(s).unwrap();
            f64::from(u8::from(
                statistic > tests::finite_sample_threshold(s, alpha),
            ))
        });
        assert!(level <= alpha);
    }
}

/// The p-value is the smallest level that rejects: at any larger one the test rejects, at any
/// smaller one it does not.
#[test]
fn finite_sample_p_value_is_the_smallest_level_that_rejects() {
    // Confidences around a half, every label 1: n·rankECE is about n/4, far above the threshold.
    for n in [12, 40, 200, 1000] {
        let confidences: Vec<f64> = (0..n).map(|i| 0.4 + 0.2 * f64::from(i) / 1000.0).collect();
        let sample = sample(&confidences, &vec![1; n as usize]);
        let estimate = rank_ece::average(&sample).unwrap();
        let p = tests::finite_sample_p_value(&sample, estimate);
        assert!(p > 0.0 && p <= 1.0);
        let rejects =
            |alpha: f64| f64::from(n) * estimate > tests::finite_sample_threshold(&sample, alpha);
        assert!(!rejects(p * (1.0 - 1e-9)), "{n}");
        assert!(p == 1.0 || rejects(p * (1.0 + 1e-9)), "{n}");
    }
}

/// With s_1 = s_2 = 0 the threshold is 4L/3, so that p = 2 exp(-3/4 · n·rankECE).
#[test]
fn finite_sample_p_value_in_closed_form() {
    let sample = sample(&[0.0; 9], &[1; 9]);
    // Eight products of 1.
    let estimate = rank_ece::stable(&sample).unwrap();
    assert_close(9.0 * estimate, 8.0, 1e-15);
    let p = tests::finite_sample_p_value(&sample, estimate);
    assert_close(p, 2.0 * (-6f64).exp(), 1e-15);
}

#[test]
fn null_sums_by_hand() {
    // v = 0.25, 0.1875, 0.1875, 0.
    let sample = sample(&[0.75, 0.5, 0.75, 1.0], &[1, 0, 1, 1]);
    assert_eq!(null::squares(&sample), 0.0625 + 2.0 * 0.03515625);
    assert_eq!(null::odd(&sample), 0.046875);
    assert_eq!(null::even(&sample), 0.03515625);
    // One group of two, v² · 2(m-1)/m, and 0.25 · 0.1875/2 between groups.
    assert_eq!(null::conditional_average(&sample), 0.03515625 + 0.0234375);
}

#[test]
fn tests_are_undefined_without_null_variance() {
    let sample = sample(&[0.0, 1.0, 0.0, 1.0], &[0, 1, 0, 1]);
    assert_eq!(rank_ece::average(&sample), Some(0.0));
    assert_eq!(tests::asymptotic(&sample, 0.0), None);
    assert_eq!(
        tests::conditional(&sample, 0.0, null::conditional_average(&sample)),
        None
    );
}

#[test]
fn neighbour_moments_by_hand() {
    let key = Key::for_stream(1, Stream::Neighbour, 0);
    let moments = |confidences: &[f64], labels: &[u8]| {
        intervals::neighbour_moments(&sample(confidences, labels), key)
    };
    let one = moments(&[0.0, 0.25, 0.5, 0.75], &[1, 0, 1, 1]).unwrap();
    // Residuals 1, -1/4, 1/2, 1/4; h = 25/32 (ab), 1/8 (ac), 9/32 (ad), 9/32 (bc), 1/8 (bd),
    // 1/32 (cd); xy = -1/4 (ab), 1/2 (ac), 1/4 (ad), -1/8 (bc), -1/16 (bd), 1/8 (cd).
    assert_close(one.r4, -1.0 / 32.0, 1e-15);
    let r2s2 = 25.0 / 256.0 - 1.0 / 128.0 - 9.0 / 256.0 + 9.0 / 128.0 + 1.0 / 16.0 - 1.0 / 128.0;
    assert_close(one.r2s2, r2s2 / 6.0, 1e-15);
    let s4 = 25.0 / 1024.0 + 1.0 / 64.0 + 81.0 / 1024.0;
    assert_close(one.s4, s4 / 3.0, 1e-15);
    assert_eq!(moments(&[0.1, 0.2, 0.3], &[1, 0, 1]), None);
    // z_0.975 = 1.959963984540054.
    let sample = sample(&[0.0, 0.25, 0.5, 0.75], &[1, 0, 1, 1]);
    let estimate = rank_ece::average(&sample).unwrap();
    let (lower, upper) = intervals::neighbour(&sample, estimate, key, 0.05).unwrap();
    let sigma = (4.0 * r2s2 / 6.0 + s4 / 3.0).sqrt();
    // As the estimate is negative, the variance grows with the slope 4/3: the upper end solves a
    // quadratic equation.
    let q = 1.959963984540054f64.powi(2) / 4.0;
    let half = estimate + q * 2.0 / 3.0;
    let root = (half * half - (1.0 + q) * (estimate * estimate - q * s4 / 3.0)).sqrt();
    assert_close(upper, (half + root) / (1.0 + q), 1e-12);
    assert_close(estimate - lower, 1.959963984540054 * sigma / 2.0, 1e-14);
    // Every residual is 0.
    let perfect = Sample::new(&[1.0; 5], &[true; 5]).unwrap();
    assert_eq!(intervals::neighbour(&perfect, 0.0, key, 0.05), None);
}

#[test]
fn concentration_by_hand() {
    // 81 · 3.688879454 / 3200 = 0.093374761, whose root is 0.305572841.
    let (lower, upper) = intervals::concentration(100, 0.01, 0.05).unwrap();
    let half_width = (81.0 * 40f64.ln() / 3200.0).sqrt();
    assert_close(half_width, 0.305_572_841, 5e-10);
    assert_close(lower, 0.01 - half_width, 1e-15);
    assert_close(upper, 0.01 + half_width, 1e-15);
    assert_eq!(intervals::concentration(0, 0.0, 0.05), None);
}

/// `value` at the nearest multiple of its last place, ties to even, for a type of `digits`
/// significant bits whose smallest binade starts at 2^`smallest`.
fn round_to(value: f64, digits: i32, smallest: i32) -> f64 {
    let exponent = (value.to_bits() >> 52) as i32 - 1023;
    let place = 2f64.powi(exponent.max(smallest) - digits + 1);
    (value / place).round_ties_even() * place
}

/// In f64 and f32 the division of two exact numbers rounds correctly. An f64 quotient rounds on to
/// the narrow types as the exact one does: a quotient that is not halfway between two values of
/// theirs is at least 1/K · 2⁻¹² away from there, which for these K is far more than f64 loses.
#[test]
fn edges_are_correctly_rounded() {
    for k in (1u32..=300).chain([1000, 1024, 4095, 4097, 65_537]) {
        for j in 0..=k {
            assert_eq!(bins::edge(Dtype::F64, j, k), f64::from(j) / f64::from(k));
            // Whole numbers below 2²⁴ are exact.
            let single = j as f32 / k as f32;
            assert_eq!(bins::edge(Dtype::F32, j, k), f64::from(single));
            let quotient = f64::from(j) / f64::from(k);
            let half = round_to(quotient, 11, -14);
            assert_eq!(bins::edge(Dtype::F16, j, k), half, "{j}/{k}");
            let brain = round_to(quotient, 8, -126);
            assert_eq!(bins::edge(Dtype::Bf16, j, k), brain, "{j}/{k}");
        }
    }
    let most = u32::MAX;
    for j in [1, 2, most / 3, most / 2, most - 1, most] {
        assert_eq!(
            bins::edge(Dtype::F64, j, most),
            f64::from(j) / f64::from(most)
        );
    }
    assert_eq!(bins::edge(Dtype::F16, 1, most), 0.0);
    for dtype in [Dtype::F16, Dtype::Bf16, Dtype::F32, Dtype::F64] {
        assert_eq!(bins::edge(dtype, 0, 7), 0.0);
        assert_eq!(bins::edge(dtype, 7, 7), 1.0);
    }
    // Halfway between 0.5 and the next f16 or bf16: to even, downwards; the next halfway: upwards.
    assert_eq!(bins::edge(Dtype::F16, 2049, 4096), 0.5);
    assert_eq!(bins::edge(Dtype::F16, 2051, 4096), 1026.0 / 2048.0);
    assert_eq!(bins::edge(Dtype::Bf16, 257, 512), 0.5);
    assert_eq!(bins::edge(Dtype::Bf16, 259, 512), 130.0 / 256.0);
}

/// A confidence written as 0.3 sits on the edge 3/10 whatever its type.
#[test]
fn three_tenths_sits_on_its_edge() {
    for (dtype, z) in [
        (Dtype::F16, f16::from_f64(0.3).to_f64()),
        (Dtype::Bf16, bf16::from_f64(0.3).to_f64()),
        (Dtype::F32, f64::from(0.3f32)),
        (Dtype::F64, 0.3),
    ] {
        let sample = sample(&[z], &[1]);
        let right = bins::equal_width(&sample, dtype, 10, Closed::Right);
        assert_eq!(right[2].rows, 1, "{dtype}");
        let left = bins::equal_width(&sample, dtype, 10, Closed::Left);
        assert_eq!(left[3].rows, 1, "{dtype}");
    }
}

/// Every row is in exactly one bin, also where edges coincide in a narrow type.
#[test]
fn equal_width_bins_partition_the_rows() {
    let values: Vec<f64> = (0..=Dtype::Bf16.one_bits())
        .step_by(37)
        .chain([Dtype::Bf16.one_bits()])
        .map(|bits| Dtype::Bf16.value(bits))
        .collect();
    let sample = sample(&values, &vec![1; values.len()]);
    for closed in [Closed::Right, Closed::Left] {
        for k in [1, 2, 3, 10, 1000] {
            let bins = bins::equal_width(&sample, Dtype::Bf16, k, closed);
            assert_eq!(bins.len(), k as usize);
            let rows: usize = bins.iter().map(|bin| bin.rows).sum();
            assert_eq!(rows, values.len());
        }
    }
}

#[test]
fn equal_mass_bins_hold_equal_numbers_without_ties() {
    let confidences: Vec<f64> = (0..23).map(|i| f64::from(i * 5 % 23) / 23.0).collect();
    let sample = sample(&confidences, &[0; 23]);
    let bins = bins::equal_mass(&sample, 5);
    let sizes: Vec<usize> = bins.iter().map(|bin| bin.rows).collect();
    // Rank a goes to bin ⌊5(2a-1)/46⌋: the first of bin j is the smallest a >= (46j/5 + 1)/2, that
    // is 1, 6, 10, 15, 19.
    assert_eq!(sizes, [5, 4, 5, 4, 5]);
    assert_eq!((bins[0].lower, bins[0].upper), (0.0, 4.0 / 23.0));
    assert_eq!(bins::equal_mass(&sample, 23).len(), 23);
    assert_eq!(bins::equal_mass(&sample, u32::MAX).len(), 23);
}

#[test]
fn rules_for_the_number_of_bins() {
    for (n, sqrt, cbrt, twentieth) in [
        (0, 1, 1, 1),
        (1, 1, 1, 1),
        (19, 4, 2, 1),
        (99, 9, 4, 4),
        (100, 10, 4, 5),
        (999, 31, 9, 49),
        (1000, 31, 10, 50),
        (1_000_000, 1000, 100, 50_000),
        (u32::MAX, 65_535, 1625, 214_748_364),
    ] {
        assert_eq!(bins::square_root(n), sqrt, "{n}");
        assert_eq!(bins::cube_root(n), cbrt, "{n}");
        assert_eq!(bins::quotient(n, 20), twentieth, "{n}");
    }
}

#[test]
fn log_loss_is_clamped_and_counted() {
    let below_one = 1.0 - f64::EPSILON / 2.0;
    let sample = sample(
        &[0.0, 1.0, 0.0, 1.0, below_one, 0.5, 1e-15],
        &[0, 1, 1, 0, 0, 1, 1],
    );
    assert_eq!(scores::log_loss_clamped(&sample), 3);
    assert_eq!(scores::impossible_labels(&sample), 2);
    let expected = (-4.0 * 1e-15f64.ln() + 2f64.ln()) / 7.0;
    assert_close(scores::log_loss(&sample).unwrap(), expected, 1e-12);
}

#[test]
fn few_rows() {
    let none = sample(&[], &[]);
    assert_eq!(rank_ece::average(&none), None);
    assert_eq!(scores::brier(&none), None);
    let bins = bins::equal_width(&none, Dtype::F32, 10, Closed::Right);
    assert_eq!(bins.len(), 10);
    assert_eq!(binned::ece_l1(&bins), None);
    assert_eq!(binned::mce(&bins), None);
    assert_eq!(bins::equal_mass(&none, 10), []);
    let one = sample(&[0.3], &[1]);
    assert_eq!(rank_ece::average(&one), Some(0.0));
    assert_eq!(tests::asymptotic(&one, 0.0), None);
    assert_eq!(Sample::new(&[0.5], &[]), None);
    assert_eq!(Sample::new(&[f64::NAN], &[true]), None);
    assert_eq!(Sample::new(&[1.1], &[true]), None);
    // -0.0 and 0.0 are one confidence.
    assert_eq!(sample(&[-0.0, 0.0], &[1, 0]).groups().len(), 1);
}
