//! Tests, intervals and verdicts from integers made by hand.

use std::f64::consts::LN_2;

use half::{bf16, f16};
use rankece::backend::{NeighbourSums, SegmentSums, Ties};
use rankece::inference::intervals::{self, IntervalName};
use rankece::inference::tests_of_calibration::{self, TestName};
use rankece::inference::{decision_risk::decision_risk, gate, normal};
use rankece::predictions::{Batch, Rows};
use rankece::results::{Interval, TestResult, Verdict};
use rankece::statistic::log_loss::{LogLossSums, log_loss};
use statrs::distribution::{ContinuousCDF, Normal};

#[track_caller]
fn assert_close(actual: f64, expected: f64, tolerance: f64) {
    assert!(
        (actual - expected).abs() <= tolerance,
        "{actual} is not within {tolerance} of {expected}"
    );
}

fn q(value: f64, bits: i32) -> i128 {
    (value * 2f64.powi(bits)).round() as i128
}

/// The example of the ECE article: residuals 0.45, -0.65, 0.15, 0.05, so n·rankECE = -0.2925 -
/// 0.0975 + 0.0075, and v = 0.2475, 0.2275, 0.1275, 0.0475.
fn article() -> SegmentSums {
    SegmentSums {
        rows: 4,
        positives: 3,
        distinct: 4,
        rank_ece: q(-0.3825, 60),
        null_squares: q(0.131525, 66) as u128,
        null_odd: q(0.0563_0625 + 0.0060_5625, 66) as u128,
        null_even: q(0.0290_0625, 66) as u128,
        null_conditional: q(0.09136875, 66) as u128,
        ..SegmentSums::default()
    }
}

fn run(name: TestName, sums: &SegmentSums, ties: Ties, alpha: f64) -> TestResult {
    let results = tests_of_calibration::run(&[name], sums, &[], None, ties, alpha);
    assert_eq!(results.len(), 1);
    let [result] = <[TestResult; 1]>::try_from(results).unwrap();
    assert_eq!(result.name, name.as_str());
    let numbers = [result.statistic, result.threshold, result.p_value];
    // Either all numbers or a reason, and nothing that is not a number.
    assert!(
        numbers
            .iter()
            .all(|number| number.is_some() != result.undefined.is_some())
    );
    assert_eq!(result.reject.is_some(), result.statistic.is_some());
    assert!(numbers.iter().flatten().all(|number| number.is_finite()));
    result
}

/// To 16 digits from 60-digit arithmetic; Wichura publishes those of 0.25, 0.001 and 1e-20.
#[test]
fn normal_quantiles() {
    for (tail, quantile) in [
        (0.25, 0.674_489_750_196_081_7),
        (0.05, 1.644_853_626_951_472_7),
        (0.025, 1.959_963_984_540_054_2),
        (0.001, 3.090_232_306_167_813_5),
        (1e-20, 9.262_340_089_798_408),
        (1e-300, 37.047_096_299_361_2),
    ] {
        let actual = normal::upper_quantile(tail);
        assert_close(actual / quantile, 1.0, 1e-14);
    }
    assert_eq!(normal::upper_quantile(0.5), 0.0);
    assert_eq!(normal::upper_quantile(0.75), -normal::upper_quantile(0.25));
    assert_close(normal::upper_quantile(0.95), -1.6448536269514722, 1e-14);
    assert_eq!(normal::upper_quantile(0.0), f64::INFINITY);
    assert_eq!(normal::upper_quantile(1.0), f64::NEG_INFINITY);
    assert!(normal::upper_quantile(-0.1).is_nan());
    assert!(normal::upper_quantile(1.1).is_nan());
}

/// From 60-digit arithmetic.
#[test]
fn normal_tails() {
    for (x, tail) in [
        (-8.5, 1.0),
        (-3.0, 0.9986501019683699),
        (-1.25, 0.8943502263331448),
        (0.1, 0.460172162722971),
        (0.544, 0.2932207364238605),
        (1.0, 0.15865525393145705),
        (1.6448536269514726, 0.05000000000000001),
        (2.5, 0.006209665325776135),
        (5.0, 2.866515718791939e-07),
        (10.3, 3.5230650789264124e-25),
        (19.7, 1.0781002863662308e-86),
        (30.1, 2.4226672179857586e-199),
        (37.3, 8.205494844930773e-305),
    ] {
        assert_close(normal::upper_tail(x) / tail, 1.0, 1e-14);
    }
    assert_eq!(normal::upper_tail(0.0), 0.5);
    assert_eq!(normal::upper_tail(50.0), 0.0);
    assert_eq!(normal::upper_tail(-50.0), 1.0);
    assert_eq!(normal::upper_tail(f64::INFINITY), 0.0);
    assert_eq!(normal::upper_tail(f64::NEG_INFINITY), 1.0);
}

#[test]
fn normal_agrees_with_statrs() {
    let normal = Normal::standard();
    for step in 1..2000 {
        let tail = f64::from(step) / 2000.0;
        let expected = -normal.inverse_cdf(tail);
        assert_close(normal::upper_quantile(tail), expected, 1e-13);
        let x = f64::from(step - 1000) / 100.0;
        let expected = normal.sf(x);
        // statrs gives ten digits of its tails.
        assert_close(normal::upper_tail(x) / expected, 1.0, 1e-9);
    }
}

#[test]
fn quantile_and_tail_are_inverse() {
    for step in 1..300 {
        let tail = 10f64.powi(-step);
        let back = normal::upper_tail(normal::upper_quantile(tail));
        // An error of one part in 2⁵³ of x is x² parts in the tail.
        assert_close(back / tail, 1.0, 1e-12);
    }
}

#[test]
fn article_example() {
    let sums = article();
    for ties in [Ties::Average, Ties::Random, Ties::Stable] {
        let result = run(TestName::Asymptotic, &sums, ties, 0.05);
        assert_close(result.statistic.unwrap(), -1.054696, 5e-7);
        assert_close(result.threshold.unwrap(), 1.6448536269514722, 1e-14);
        assert_eq!(result.reject, Some(false));
        assert_eq!(result.note, None);
        // -0.3825/√0.09136875.
        let result = run(TestName::Conditional, &sums, ties, 0.05);
        assert_close(result.statistic.unwrap(), -1.265414, 5e-7);
        let result = run(TestName::FiniteSample, &sums, ties, 0.05);
        assert_close(result.statistic.unwrap(), -0.3825, 1e-15);
        assert_close(result.threshold.unwrap(), 5.177326, 5e-7);
        assert_eq!(result.p_value, Some(1.0));
        assert_eq!(result.reject, Some(false));
    }
    // Half of erfc(1.0546959/√2).
    let p = run(TestName::Asymptotic, &sums, Ties::Average, 0.05).p_value;
    assert_close(p.unwrap(), 0.854218, 5e-7);
}

#[test]
fn names_are_those_of_the_command_line() {
    use clap::ValueEnum;
    for name in TestName::ALL {
        assert_eq!(TestName::from_str(name.as_str(), false), Ok(name));
        assert_eq!(name.to_string(), name.as_str());
    }
    assert_eq!(TestName::ALL.as_slice(), TestName::value_variants());
    let sums = article();
    let names = [TestName::FiniteSample, TestName::Asymptotic];
    let results = tests_of_calibration::run(&names, &sums, &[], None, Ties::Average, 0.05);
    let order: Vec<&str> = results.iter().map(|result| result.name).collect();
    assert_eq!(order, ["finite-sample", "asymptotic"]);
    for name in IntervalName::ALL {
        assert_eq!(name.as_str().parse(), Ok(name));
        assert_eq!(name.to_string(), name.as_str());
    }
}

#[test]
fn too_few_rows() {
    for rows in [0, 1] {
        let sums = SegmentSums { rows, ..article() };
        for name in TestName::OF_SUMS {
            let reason = run(name, &sums, Ties::Average, 0.05).undefined.unwrap();
            assert_eq!(
                reason,
                format!("needs at least 2 rows, but there are {rows}")
            );
        }
    }
}

/// Confidences 0, 1, 0, 1: nothing could vary.
#[test]
fn no_null_variance() {
    let sums = SegmentSums {
        rows: 4,
        ..SegmentSums::default()
    };
    for name in TestName::OF_SUMS {
        for ties in [Ties::Average, Ties::Random, Ties::Stable] {
            let reason = run(name, &sums, ties, 0.05).undefined.unwrap();
            assert!(reason.contains("no null variance"), "{reason}");
        }
    }
    // Confidences 0, 0.5, 1: only the variance that asymptotic assumes does not vanish.
    let sums = SegmentSums {
        rows: 3,
        null_squares: q(0.0625, 66) as u128,
        ..SegmentSums::default()
    };
    let result = run(TestName::Asymptotic, &sums, Ties::Average, 0.05);
    assert_eq!(result.undefined, None);
    for name in [TestName::Conditional, TestName::FiniteSample] {
        let reason = run(name, &sums, Ties::Average, 0.05).undefined.unwrap();
        assert!(reason.contains("strictly between 0 and 1"), "{reason}");
    }
}

#[test]
fn a_level_that_is_none() {
    for alpha in [0.0, 1.0, -0.05, 5.0, f64::NAN, f64::INFINITY] {
        for name in TestName::OF_SUMS {
            let reason = run(name, &article(), Ties::Average, alpha).undefined;
            assert!(reason.unwrap().contains("alpha"));
        }
        for interval in intervals::run(&IntervalName::ALL, &article(), None, Ties::Average, alpha) {
            assert!(interval.undefined.unwrap().contains("alpha"));
            assert_eq!(interval.lower, None);
        }
    }
}

/// One group of 1,000 rows of confidence 0.5: Σ v² = 62.5, one order has 999/16, the average
/// 2 · 999/1000 / 16.
fn one_group() -> SegmentSums {
    SegmentSums {
        rows: 1000,
        positives: 600,
        distinct: 1,
        tied_rows: 1000,
        // 999 · 0.01 - 0.24.
        rank_ece: q(9.75, 60),
        null_squares: q(62.5, 66) as u128,
        null_odd: q(31.25, 66) as u128,
        null_even: q(31.1875, 66) as u128,
        null_conditional: q(0.124875, 66) as u128,
        ..SegmentSums::default()
    }
}

#[test]
fn ties_decide_the_conditional_variance() {
    let sums = one_group();
    let averaged = run(TestName::Conditional, &sums, Ties::Average, 0.05);
    assert_close(
        averaged.statistic.unwrap(),
        9.75 / 0.124875f64.sqrt(),
        1e-12,
    );
    for ties in [Ties::Random, Ties::Stable] {
        let ordered = run(TestName::Conditional, &sums, ties, 0.05);
        assert_close(ordered.statistic.unwrap(), 9.75 / 62.4375f64.sqrt(), 1e-12);
    }
}

#[test]
fn a_note_when_ties_make_the_asymptotic_test_conservative() {
    let sums = one_group();
    let note = run(TestName::Asymptotic, &sums, Ties::Average, 0.05).note;
    let note = note.unwrap();
    for part in ["1000 of 1000 rows", "1.249e-1", "6.250e1", "`conditional`"] {
        assert!(note.contains(part), "{note}");
    }
    for ties in [Ties::Random, Ties::Stable] {
        assert_eq!(run(TestName::Asymptotic, &sums, ties, 0.05).note, None);
    }
    // Confidences 0.001, 0.001, 0.5: Σ v² is far above the conditional variance, but only since n
    // is small; a single order of the ties has no larger one.
    let sums = SegmentSums {
        rows: 3,
        tied_rows: 2,
        null_squares: q(0.0625, 66) as u128,
        null_odd: q(1e-6, 66) as u128,
        null_even: q(2.5e-4, 66) as u128,
        null_conditional: q(1.26e-4, 66) as u128,
        ..SegmentSums::default()
    };
    assert_eq!(
        run(TestName::Asymptotic, &sums, Ties::Average, 0.05).note,
        None
    );
}

/// With s_2 = 0 and an s_1 of 2⁻⁶⁶ the threshold is 4L/3: p = 2 exp(-3/4 · statistic).
#[test]
fn finite_sample_p_value_in_closed_form() {
    for statistic in [0.5, 1.0, 2.0, 7.25, 100.0, 700.0] {
        let sums = SegmentSums {
            rows: 1 << 20,
            rank_ece: q(statistic, 60),
            null_odd: 1,
            ..SegmentSums::default()
        };
        let p = run(TestName::FiniteSample, &sums, Ties::Average, 1e-3).p_value;
        let expected = (2.0 * (-0.75 * statistic).exp()).min(1.0);
        assert_close(p.unwrap() / expected, 1.0, 1e-12);
    }
    // s_1 = s_2 = s: L/3 + √(L²/9 + 2sL) = S/2 gives L = (S/2)²/(2s + S/3).
    let sums = SegmentSums {
        rows: 1 << 20,
        rank_ece: q(300.0, 60),
        null_odd: q(900.0, 66) as u128,
        null_even: q(900.0, 66) as u128,
        ..SegmentSums::default()
    };
    let p = run(TestName::FiniteSample, &sums, Ties::Average, 0.05).p_value;
    let l: f64 = 150.0 * 150.0 / (1800.0 + 100.0);
    assert_close(p.unwrap() / (2.0 * (-l).exp()), 1.0, 1e-12);
}

/// For every test: p falls as the statistic grows, and is below alpha exactly when the test rejects,
/// on a grid that meets the threshold to the last digit.
#[test]
fn p_values_agree_with_decisions() {
    for name in TestName::OF_SUMS {
        for alpha in [1e-300, 1e-12, 0.001, 0.05, 0.1, 0.5, 0.9, 1.0 - 1e-12] {
            let template = SegmentSums {
                rows: 5000,
                null_squares: q(100.0, 66) as u128,
                null_odd: q(30.0, 66) as u128,
                null_even: q(25.0, 66) as u128,
                null_conditional: q(40.0, 66) as u128,
                ..SegmentSums::default()
            };
            let at = |rank_ece: i128| {
                let sums = SegmentSums {
                    rank_ece,
                    ..template.clone()
                };
                run(name, &sums, Ties::Average, alpha)
            };
            // n·rankECE at the threshold.
            let scale = match name {
                TestName::Asymptotic => 10.0,
                TestName::Conditional => 40f64.sqrt(),
                _ => 1.0,
            };
            let edge = q(at(0).threshold.unwrap() * scale, 60);
            let steps = [
                0,
                1,
                2,
                100,
                1000,
                1 << 12,
                1 << 20,
                1 << 40,
                1 << 58,
                1 << 60,
                1 << 62,
            ];
            let mut values: Vec<i128> = steps.iter().flat_map(|s| [edge - s, edge + s]).collect();
            values.sort_unstable();
            let mut previous = 1.0;
            for value in values {
                let result = at(value);
                let p = result.p_value.unwrap();
                assert!((0.0..=1.0).contains(&p));
                assert_eq!(result.reject, Some(p < alpha), "{name} {alpha} {value}");
                let above = result.statistic > result.threshold;
                assert_eq!(result.reject, Some(above));
                assert!(
                    p <= previous,
                    "{name} {alpha} {value}: {p} after {previous}"
                );
                previous = p;
            }
        }
    }
}

/// The largest and smallest sums there are.
#[test]
fn extreme_sums() {
    let rows = u64::from(u32::MAX);
    let largest = SegmentSums {
        rows,
        rank_ece: i128::from(rows) << 60,
        null_squares: u128::from(rows) << 62,
        null_odd: u128::from(rows) << 61,
        null_even: u128::from(rows) << 61,
        null_conditional: u128::from(rows) << 62,
        neighbours: Some(NeighbourSums {
            r4: i128::from(rows) << 58,
            r2s2: i128::from(rows) << 58,
            s4: i128::from(rows) << 58,
        }),
        ..SegmentSums::default()
    };
    let smallest = SegmentSums {
        rows,
        rank_ece: 1,
        null_squares: 64,
        null_odd: 64,
        null_even: 0,
        null_conditional: 64,
        ..SegmentSums::default()
    };
    for sums in [largest, smallest] {
        for sign in [1, -1] {
            let sums = SegmentSums {
                rank_ece: sign * sums.rank_ece,
                ..sums.clone()
            };
            for name in TestName::OF_SUMS {
                let result = run(name, &sums, Ties::Average, 0.05);
                assert!(result.statistic.is_some());
            }
            for interval in intervals::run(&IntervalName::ALL, &sums, None, Ties::Average, 0.05) {
                assert!(interval.lower.is_none_or(f64::is_finite));
                assert!(interval.upper.is_none_or(f64::is_finite));
            }
        }
    }
}

/// Confidences 0, 0.25, 0.5, 0.75, labels 1, 0, 1, 1, so residuals 1, -1/4, 1/2, 1/4 and
/// n·rankECE = -1/4 - 1/8 + 1/8; h is 25/32, 1/8, 9/32, 9/32, 1/8, 1/32 for the pairs ab, ac, ad,
/// bc, bd, cd.
#[test]
fn neighbour_interval_by_hand() {
    let r2s2 = 25.0 / 256.0 - 1.0 / 128.0 - 9.0 / 256.0 + 9.0 / 128.0 + 1.0 / 16.0 - 1.0 / 128.0;
    let s4 = 25.0 / 1024.0 + 1.0 / 64.0 + 81.0 / 1024.0;
    let sums = SegmentSums {
        rows: 4,
        rank_ece: q(-0.25, 60),
        neighbours: Some(NeighbourSums {
            r4: q(-1.0 / 32.0, 58),
            r2s2: q(r2s2, 58),
            s4: q(s4, 58),
        }),
        ..SegmentSums::default()
    };
    let interval = intervals::neighbour(&sums, 0.05);
    assert_eq!(interval.method, "neighbour");
    assert_eq!(interval.level, 0.95);
    // E r⁴ is negative and counts as 0.
    let half_width = 1.959963984540054 * ((4.0 * r2s2 / 6.0 + s4 / 3.0) / 4.0f64).sqrt();
    assert_close(interval.lower.unwrap(), -0.0625 - half_width, 1e-14);
    // The estimate is negative, so the variance grows with the slope 4/3: the upper end x solves
    // (x - estimate)² = (z²/4) (E s⁴ + 4x/3 - x²), and is the larger solution.
    let upper = interval.upper.unwrap();
    assert!(upper > -0.0625 + half_width);
    let q = 1.959963984540054f64.powi(2) / 4.0;
    let variance = s4 / 3.0 + 4.0 / 3.0 * upper - upper * upper;
    assert_close((upper + 0.0625).powi(2), q * variance, 1e-13);
    assert!(2.0 * (upper + 0.0625) > q * (4.0 / 3.0 - 2.0 * upper));

    let undefined = |sums: SegmentSums, part: &str| {
        let interval = intervals::neighbour(&sums, 0.05);
        assert_eq!((interval.lower, interval.upper), (None, None));
        let reason = interval.undefined.unwrap();
        assert!(reason.contains(part), "{reason}");
    };
    undefined(
        SegmentSums {
            rows: 3,
            ..sums.clone()
        },
        "at least 4 rows, but there are 3",
    );
    undefined(
        SegmentSums {
            neighbours: None,
            ..sums.clone()
        },
        "not computed",
    );
    undefined(
        SegmentSums {
            rank_ece: 0,
            neighbours: Some(NeighbourSums::default()),
            ..sums
        },
        "variance of rankECE is 0",
    );
}

#[test]
fn concentration_interval_by_hand() {
    // 81 · 3.688879454 / 3200 = 0.093374761, whose root is 0.305572841.
    let sums = SegmentSums {
        rows: 100,
        rank_ece: q(1.0, 60),
        ..SegmentSums::default()
    };
    let interval = intervals::concentration(&sums, 0.05);
    assert_eq!(interval.method, "concentration");
    assert_close(interval.lower.unwrap(), 0.01 - 0.305572841, 5e-10);
    assert_close(interval.upper.unwrap(), 0.01 + 0.305572841, 5e-10);
    let interval = intervals::concentration(&SegmentSums::default(), 0.05);
    assert_eq!(interval.undefined.as_deref(), Some("there are no rows"));
}

#[test]
fn the_bootstrap_is_refused_with_its_reason() {
    let error = "bootstrap".parse::<IntervalName>().unwrap_err();
    let message = error.to_string();
    for part in [
        "its own neighbour",
        "squared residual",
        "`neighbour`",
        "`subsample`",
        "0 %",
    ] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!("subsample".parse(), Ok(IntervalName::Subsample));
    let unknown = "wald".parse::<IntervalName>().unwrap_err();
    assert!(unknown.to_string().contains("`wald`"));
}

#[test]
fn decision_risk_by_hand() {
    assert_eq!(decision_risk(0.09, 100), Some(0.5));
    assert_eq!(decision_risk(-0.09, 100), Some(0.4));
    assert_eq!(decision_risk(0.0, 0), None);
}

#[test]
fn verdicts() {
    let interval = |lower, upper| Interval {
        method: "neighbour",
        level: 0.95,
        lower,
        upper,
        undefined: None,
        resamples: None,
        subsample_rows: None,
    };
    for (lower, upper, limit, expected) in [
        (-0.1, 0.2, 0.2, Verdict::Within),
        (-0.1, 0.2, 0.19, Verdict::Undecided),
        (0.1, 0.2, 0.1, Verdict::Undecided),
        (0.1, 0.2, 0.09, Verdict::Exceeds),
        (0.1, 0.2, f64::NAN, Verdict::Undecided),
    ] {
        let interval = interval(Some(lower), Some(upper));
        assert_eq!(gate::verdict(&interval, limit), expected);
    }
    let undefined = interval(None, None);
    assert_eq!(gate::verdict(&undefined, 1.0), Verdict::Undecided);
    assert!(Verdict::Within < Verdict::Undecided && Verdict::Undecided < Verdict::Exceeds);
}

/// 0.5 costs ln 2 whatever the label and type, 1e-15 and less cost
/// 34.538776394910684, and 0 and 1 that are right cost nothing.
#[test]
fn log_loss_by_hand() {
    let ln2 = q(LN_2, 40) as u128;
    let most = q(34.538_776_394_910_684, 40) as u128;
    let below_one = 1.0 - f64::EPSILON / 2.0;
    let batch = Batch::from_slices(
        &[0.5, 0.5, 0.0, 1.0, 0.0, 1.0, below_one, 1e-15, 1e-16],
        &[true, false, false, true, true, false, false, true, true],
    )
    .unwrap();
    let sums = log_loss(&batch);
    let expected = LogLossSums {
        sum: 2 * ln2 + 5 * most,
        clamped: 4,
        impossible: 2,
    };
    assert_eq!(sums, [expected]);
    let mean = (2.0 * LN_2 + 5.0 * 34.538776394910684) / 9.0;
    assert_close(sums[0].mean(9).unwrap(), mean, 1e-11);
    assert_eq!(LogLossSums::default().mean(0), None);

    let labels = [true, false];
    for batch in [
        Batch::from_slices(&[f16::from_f32(0.5); 2], &labels),
        Batch::from_slices(&[bf16::from_f32(0.5); 2], &labels),
        Batch::from_slices(&[0.5f32; 2], &labels),
    ] {
        let expected = LogLossSums {
            sum: 2 * ln2,
            clamped: 0,
            impossible: 0,
        };
        assert_eq!(log_loss(&batch.unwrap()), [expected]);
    }
}

/// Many rows go through a table in half precision and over several tasks in all types; the sum is
/// that of the single rows.
#[test]
fn log_loss_of_many_rows_is_the_sum_of_single_rows() {
    let n = 100_000usize;
    let confidences: Vec<f32> = (0..n).map(|i| (i % 1025) as f32 / 1024.0).collect();
    let labels: Vec<bool> = (0..n).map(|i| i * i % 3 == 1).collect();
    let sizes = [0, 1, 40_000, 0, 59_999];
    let halves: Vec<f16> = confidences.iter().map(|&z| f16::from_f32(z)).collect();
    let singles = Batch::from_slices(&confidences, &labels).unwrap();
    let halves = Batch::from_slices(&halves, &labels).unwrap();
    let cut = |batch: &Batch| Batch::new(batch.rows().clone(), &sizes).unwrap();
    let sums = log_loss(&cut(&singles));
    assert_eq!(log_loss(&cut(&halves)), sums);
    let mut start = 0;
    for (size, sum) in std::iter::zip(sizes, sums) {
        let mut expected = LogLossSums::default();
        let mut exact = 0.0;
        for row in start..start + size {
            let z = f64::from(confidences[row]);
            let p = if labels[row] { z } else { 1.0 - z };
            exact -= p.max(1e-15).ln();
            expected.clamped += u64::from(p < 1e-15);
            expected.impossible += u64::from(p == 0.0);
            let one = Batch::from_slices(&confidences[row..=row], &labels[row..=row]);
            expected.sum += log_loss(&one.unwrap())[0].sum;
        }
        assert_eq!(sum, expected);
        if let Some(mean) = sum.mean(size as u64) {
            assert_close(mean, exact / size as f64, 1e-11);
        }
        start += size;
    }
}

#[test]
fn log_loss_of_nothing() {
    let batch = Batch::new(Rows::F32(Vec::new()), &[]).unwrap();
    assert_eq!(log_loss(&batch), []);
    let batch = Batch::new(Rows::F16(Vec::new()), &[0]).unwrap();
    assert_eq!(log_loss(&batch), [LogLossSums::default()]);
}
