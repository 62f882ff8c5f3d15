//! Numbers for people. Scripts read JSON and CSV, where nothing is rounded.

/// What stands for a number that does not exist.
pub const ABSENT: &str = "-";

/// Six significant digits; scientific below 10⁻⁴ and from 10⁶ on; trailing zeros left out.
pub fn significant(value: f64) -> String {
    with_digits(value, 6)
}

/// As [`significant`], with another number of significant digits, at least 1.
pub fn with_digits(value: f64, digits: usize) -> String {
    if value == 0.0 {
        // Also -0.0: a sign in front of nothing says nothing.
        return "0".to_owned();
    }
    if !value.is_finite() {
        return ABSENT.to_owned();
    }
    // Rounded first, so that 0.9999996 is written as 1 and 999,999.7 as 1e6.
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific
        .split_once('e')
        .expect("the format e always writes an e");
    let exponent: i32 = exponent
        .parse()
        .expect("the format e writes a whole exponent");
    if (-4..6).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
    } else {
        format!("{}e{exponent}", without_trailing_zeros(mantissa))
    }
}

/// As [`significant`]; [`ABSENT`] for nothing.
pub fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), significant)
}

/// The largest gap of a bin that rounding of confidences (to 2⁻³⁰) can make of none, a little rounded up.
pub const ROUNDING: f64 = 5e-10;

/// As [`optional`], of a mean or root of gaps; `<5e-10` where rounding alone can make it.
pub fn of_gaps(value: Option<f64>) -> String {
    above(value, ROUNDING)
}

/// As [`of_gaps`], of a mean of squared gaps.
pub fn of_squared_gaps(value: Option<f64>) -> String {
    above(value, ROUNDING * ROUNDING)
}

fn above(value: Option<f64>, rounding: f64) -> String {
    match value {
        Some(value) if value > 0.0 && value <= rounding => format!("<{}", significant(rounding)),
        value => optional(value),
    }
}

/// The gap of a bin with its sign; 0 where rounding alone can make it.
pub fn gap(value: Option<f64>, digits: usize) -> String {
    let text = |value: f64| match value.abs() <= ROUNDING {
        true => signed(0.0, digits),
        false => signed(value, digits),
    };
    value.map_or(ABSENT.to_owned(), text)
}

/// With its sign, `+` included.
pub fn signed(value: f64, digits: usize) -> String {
    let text = with_digits(value, digits);
    if value > 0.0 {
        format!("+{text}")
    } else {
        text
    }
}

/// A p-value, four significant digits. A p-value of 0 is one that was too small for its formula;
/// what is certain is only that it is below 10⁻¹⁶.
pub fn p_value(p: f64) -> String {
    if p == 0.0 {
        "<1e-16".to_owned()
    } else {
        with_digits(p, 4)
    }
}

/// `p = 0.29`, or `p < 1e-16`.
pub fn p_equals(p: f64) -> String {
    let text = p_value(p);
    match text.strip_prefix('<') {
        Some(floor) => format!("p < {floor}"),
        None => format!("p = {text}"),
    }
}

/// A probability as a percentage: 0.95 is `95 %`.
pub fn percent(probability: f64) -> String {
    format!("{} %", with_digits(probability * 100.0, 6))
}

/// A number of things, thousands apart: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things with their name: `1 row`, `2,000 rows`.
pub fn counted(n: u64, singular: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {singular}{plural}", count(n))
}

fn without_trailing_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_significant_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (-0.095625, "-0.095625"),
            (-1.0546961234, "-1.0547"),
            (5.177326123, "5.17733"),
            (1.0, "1"),
            (100.0, "100"),
            (0.99999999, "1"),
            (999_999.7, "1e6"),
            (123_456.7, "123457"),
            (0.0001, "0.0001"),
            (0.00009999999, "0.0001"),
            (0.0000123456789, "1.23457e-5"),
            (-1.5e-300, "-1.5e-300"),
            (5e-324, "4.94066e-324"),
            (f64::MAX, "1.79769e308"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(significant(value), text, "{value:e}");
        }
    }

    #[test]
    fn p_values_have_a_floor_only_at_zero() {
        assert_eq!(p_value(0.0), "<1e-16");
        assert_eq!(p_value(1e-300), "1e-300");
        assert_eq!(p_value(0.854_213_9), "0.8542");
        assert_eq!(p_value(1.0), "1");
        assert_eq!(p_equals(0.0), "p < 1e-16");
        assert_eq!(p_equals(0.05), "p = 0.05");
    }

    #[test]
    fn what_rounding_can_make_is_told_as_such() {
        for (value, text, square) in [
            (0.0, "0", "0"),
            (3.7e-10, "<5e-10", "3.7e-10"),
            (6e-10, "6e-10", "6e-10"),
            (2e-19, "<5e-10", "<2.5e-19"),
            (0.05, "0.05", "0.05"),
        ] {
            assert_eq!(of_gaps(Some(value)), text);
            assert_eq!(of_squared_gaps(Some(value)), square);
        }
        assert_eq!(
            (of_gaps(None), of_squared_gaps(None)),
            ("-".to_owned(), "-".to_owned())
        );
        let gaps = [Some(3.7e-10), Some(-3.7e-10), Some(-6e-10), None].map(|value| gap(value, 4));
        assert_eq!(gaps, ["0", "0", "-6e-10", "-"]);
    }

    #[test]
    fn counts_are_grouped() {
        for (n, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (12_345, "12,345"),
            (1_000_000_000, "1,000,000,000"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(count(n), text);
        }
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
    }

    #[test]
    fn signs_and_percentages() {
        assert_eq!(signed(0.25, 4), "+0.25");
        assert_eq!(signed(-0.25, 4), "-0.25");
        assert_eq!(signed(0.0, 4), "0");
        assert_eq!(percent(0.95), "95 %");
        assert_eq!(percent(1.0 - 0.05), "95 %");
        assert_eq!(percent(0.999), "99.9 %");
    }
}
