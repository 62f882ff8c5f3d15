//! Confidences of exactly 0 and 1, and labels that contradict them: what no test can tell is undefined
//! with its reason, and what calibration rules out is counted.

use half::{bf16, f16};
use rankece::backend::kernels::{Kernel, SkceNull};
use rankece::inference::tests_of_calibration::TestName;
use rankece::predictions::Confidence;
use rankece::reference::sample::Row;
use rankece::reference::{Sample, rank_ece, resampling, skce};
use rankece::results::{Evaluated, TestResult};
use rankece::statistic::skce::{Bandwidth, SkceOptions};
use rankece::{Options, evaluate_slices};

const NULLS: [SkceNull; 3] = [SkceNull::Multinomial, SkceNull::Wild, SkceNull::MonteCarlo];
const BANDWIDTH: f64 = 0.5;

fn evaluated<C: Confidence>(z: &[C], y: &[bool], null: SkceNull, resamples: u32) -> Evaluated {
    let options = Options {
        tests: TestName::ALL.to_vec(),
        resamples: Some(resamples),
        skce_options: SkceOptions {
            kernel: Kernel::Laplace,
            bandwidth: Bandwidth::Number(BANDWIDTH),
            null,
            resamples,
            ..SkceOptions::default()
        },
        ..Options::default()
    };
    evaluate_slices(z, y, &options).expect("the CPU")
}

fn test_of(result: &Evaluated, name: TestName) -> &TestResult {
    let mut tests = result.tests.iter();
    tests
        .find(|test| test.name == name.as_str())
        .expect("asked for")
}

/// Lists of `length` numbers below `values`.
fn lists(length: u32, values: usize) -> impl Iterator<Item = Vec<usize>> {
    (0..values.pow(length)).map(move |code| {
        (0..length)
            .map(|place| code / values.pow(place) % values)
            .collect()
    })
}

fn labels(bits: &[usize]) -> Vec<bool> {
    bits.iter().map(|&bit| bit == 1).collect()
}

/// Every outcome of labels that calibration gives a probability, with it.
fn outcomes(z: &[f64]) -> Vec<(Vec<bool>, f64)> {
    let weighed = lists(z.len() as u32, 2).map(|bits| {
        let y = labels(&bits);
        let chance = |(&z, &y): (&f64, &bool)| if y { z } else { 1.0 - z };
        let probability: f64 = std::iter::zip(z, &y).map(chance).product();
        (y, probability)
    });
    weighed
        .filter(|(_, probability)| *probability > 0.0)
        .collect()
}

fn vary(values: impl IntoIterator<Item = f64>) -> bool {
    let values: Vec<f64> = values.into_iter().collect();
    values.iter().any(|value| (value - values[0]).abs() > 1e-9)
}

fn sample(z: &[f64], y: &[bool]) -> Sample {
    Sample::new(z, y).expect("confidences")
}

/// Whether a statistic of the formulas takes several values under calibration.
fn null_varies(z: &[f64], statistic: impl Fn(&Sample) -> f64) -> bool {
    vary(outcomes(z).iter().map(|(y, _)| statistic(&sample(z, y))))
}

/// Whether the null statistic of `skce-u` takes several values, over all resamples there are.
fn skce_null_varies(z: &[f64], y: &[bool], null: SkceNull) -> bool {
    let rows = |y: &[bool]| -> Vec<Row> {
        let rows = std::iter::zip(z, y);
        rows.map(|(&confidence, &label)| Row { confidence, label })
            .collect()
    };
    let h = |y: &[bool]| skce::matrix(&rows(y), Kernel::Laplace, BANDWIDTH);
    let n = z.len();
    match null {
        SkceNull::Multinomial => vary(lists(n as u32, n).map(|draws| {
            let mut counts = vec![0.0; n];
            draws.iter().for_each(|&row| counts[row] += 1.0);
            skce::multinomial_statistic(&h(y), &counts)
        })),
        SkceNull::Wild => vary(lists(n as u32, 2).map(|bits| {
            let signs: Vec<f64> = bits.iter().map(|&bit| 2.0 * bit as f64 - 1.0).collect();
            skce::wild_statistic(&h(y), &signs)
        })),
        SkceNull::MonteCarlo => vary(outcomes(z).iter().map(|(y, _)| skce::unbiased(&h(y)))),
    }
}

/// All samples of two and three rows with confidences 0, 1/4, 1/2 and 1: whether null statistics vary
/// is found by going through all that the null can give.
#[test]
fn regression_a_test_is_undefined_exactly_where_its_null_has_no_variance() {
    let mut undefined = 0;
    for n in [2, 3] {
        for (places, bits) in lists(n, 4).flat_map(|z| lists(n, 2).map(move |y| (z.clone(), y))) {
            let z: Vec<f64> = places.iter().map(|&p| [0.0, 0.25, 0.5, 1.0][p]).collect();
            let y = labels(&bits);
            let rank = null_varies(&z, |s| rank_ece::average(s).expect("rows"));
            // What ks and kuiper divide by is the standard deviation of the walk's end.
            let walk = null_varies(&z, |s| s.rows().iter().map(|row| row.residual()).sum());
            let windows =
                (1..z.len()).any(|width| null_varies(&z, |s| resampling::window_sum(s, width)));
            let brier = null_varies(&z, |s| {
                let rows = s.rows().iter();
                rows.map(|r| r.residual() * (1.0 - 2.0 * r.confidence))
                    .sum()
            });
            let impossible = std::iter::zip(&z, &y)
                .filter(|&(&z, &y)| z == f64::from(u8::from(!y)))
                .count();
            for null in NULLS {
                let result = evaluated(&z, &y, null, 99);
                assert_eq!(result.impossible_labels, impossible as u64);
                let kernel = skce_null_varies(&z, &y, null);
                for (name, varies) in [
                    // Its own variance is Σ v², which stands for that of large n.
                    (TestName::Asymptotic, walk),
                    (TestName::Conditional, rank),
                    (TestName::FiniteSample, rank),
                    (TestName::MonteCarlo, rank),
                    (TestName::Adaptive, windows),
                    (TestName::Ks, walk),
                    (TestName::Kuiper, walk),
                    (TestName::Spiegelhalter, brier),
                    (TestName::SkceU, kernel),
                ] {
                    let test = test_of(&result, name);
                    let what = format!("{name} {z:?} {y:?} {null:?}: {:?}", test.undefined);
                    assert_eq!(test.undefined.is_none(), varies, "{what}");
                    assert_eq!(test.p_value.is_some(), varies, "{what}");
                    let Some(why) = &test.undefined else { continue };
                    undefined += 1;
                    assert!(why.contains("no null variance"), "{what}");
                    assert_eq!(why.contains("impossible labels"), impossible > 0, "{what}");
                }
            }
        }
    }
    assert!(undefined > 1000);
}

/// `0,1` and `1,0`: Monte Carlo and adaptive once gave p = 1/(B+1) for a law without variance, and
/// finite-sample p = 1.
#[test]
fn regression_contradicted_certainty_has_no_p_value() {
    let (z, y) = (
        [0.0, 1.0, 0.0, 1.0, 0.0, 1.0],
        [true, false, false, true, true, false],
    );
    let result = evaluated(&z, &y, SkceNull::MonteCarlo, 99);
    assert_eq!(result.impossible_labels, 4);
    for test in result.tests.iter().filter(|test| test.name != "skce-l") {
        assert_eq!((test.p_value, test.reject), (None, None), "{}", test.name);
        let why = test.undefined.as_ref().expect("a reason");
        assert!(why.ends_with("ruled out by impossible labels"), "{why}");
    }
}

/// Tests by null resampling stay exact where some rows cannot vary: their p-values are those of
/// enumeration over the labels of the others, within 4 standard errors of 20,000 resamples.
#[test]
fn certain_rows_leave_p_values_exact() {
    const RESAMPLES: u32 = 20_000;
    let z = [0.0, 0.3, 0.4, 0.5, 0.6, 1.0];
    for y in [[1, 0, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1]] {
        let y = labels(&y);
        let result = evaluated(&z, &y, SkceNull::MonteCarlo, RESAMPLES);
        let at_least = |statistic: &dyn Fn(&Sample) -> f64| -> f64 {
            let observed = statistic(&sample(&z, &y));
            let reach = |(y, chance): &(Vec<bool>, f64)| {
                let reaches = statistic(&sample(&z, y)) >= observed - 1e-9;
                if reaches { *chance } else { 0.0 }
            };
            outcomes(&z).iter().map(reach).sum()
        };
        let rank: &dyn Fn(&Sample) -> f64 = &|s| rank_ece::average(s).expect("rows");
        let ks: &dyn Fn(&Sample) -> f64 = &|s| resampling::ks(s).expect("a variance");
        let kernel: &dyn Fn(&Sample) -> f64 =
            &|s| skce::unbiased(&skce::matrix(s.rows(), Kernel::Laplace, BANDWIDTH));
        for (name, statistic) in [
            (TestName::MonteCarlo, rank),
            (TestName::Ks, ks),
            (TestName::SkceU, kernel),
        ] {
            let p = test_of(&result, name).p_value.expect("defined");
            let exact = at_least(statistic);
            let error = (exact * (1.0 - exact) / f64::from(RESAMPLES)).sqrt();
            assert!(
                (p - exact).abs() <= 4.0 * error + 1.0 / f64::from(RESAMPLES),
                "{name}: {p}, by enumeration {exact}"
            );
        }
    }
}

/// Only a confidence of exactly 0 or 1, in its own type, makes a label impossible.
#[test]
fn impossible_labels_are_those_of_exact_zeros_and_ones() {
    fn counted<C: Confidence>(z: &[C], y: &[bool]) -> u64 {
        evaluated(z, y, SkceNull::Wild, 9).impossible_labels
    }
    let (low, high) = ([true; 3], [false; 2]);
    let y = [&low[..], &high].concat();
    // 0, the least number above it, the least normal one; 1, and the next below it.
    let f64s = [0.0, 5e-324, f64::MIN_POSITIVE, 1.0, 1.0f64.next_down()];
    assert_eq!(counted(&f64s, &y), 2);
    let f32s = [0.0, 1e-45, f32::MIN_POSITIVE, 1.0, 1.0f32.next_down()];
    assert_eq!(counted(&f32s, &y), 2);
    let bits = [0, 1, 0x0400, 0x3c00, 0x3bff].map(f16::from_bits);
    assert_eq!(counted(&bits, &y), 2);
    let bits = [0, 1, 0x0080, 0x3f80, 0x3f7f].map(bf16::from_bits);
    assert_eq!(counted(&bits, &y), 2);
    assert_eq!(counted(&[-0.0, 0.0], &[true, false]), 1);
    let agreeing: Vec<bool> = y.iter().map(|label| !label).collect();
    assert_eq!(counted(&f64s, &agreeing), 0);
}

/// Four pairs of one product in real arithmetic: 0.8·0.7·k(0.1). In f64 they differ in the last digits,
/// and skce-l once divided by that.
#[test]
fn regression_a_spread_of_rounding_is_none() {
    let z = [0.2, 0.3, 0.8, 0.7, 0.3, 0.2, 0.7, 0.8];
    let y = [true, true, false, false, true, true, false, false];
    let rows: Vec<Row> = std::iter::zip(z, y)
        .map(|(confidence, label)| Row { confidence, label })
        .collect();
    let terms = skce::linear_terms(&skce::matrix(&rows, Kernel::Laplace, BANDWIDTH));
    assert!(terms.iter().any(|&h| h != terms[0]) && !vary(terms));
    let result = evaluated(&z, &y, SkceNull::Wild, 9);
    let test = test_of(&result, TestName::SkceL);
    assert_eq!((test.statistic, test.p_value), (None, None));
    let why = test.undefined.as_ref().expect("a reason");
    assert!(why.contains("no standard deviation"), "{why}");
}
