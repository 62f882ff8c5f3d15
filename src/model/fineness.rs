//! Whether a table is fine enough for its curve, where the law draws.

use super::{Curve, Law, Quantile, Response};

/// Draws that the table is compared on.
const DRAWS: u32 = 4096;

/// How far the table may be off, as the root of the mean square.
const MOST: f64 = 0.005;

/// A line for the user if the table of a curve is off by more than a little. What is simulated, and held to
/// be true, is the table.
pub(super) fn remark(
    law: &Law,
    curve: &Curve,
    quantile: &Quantile,
    response: &Response,
    seed: u64,
) -> Option<String> {
    let Response::Cells { cells, .. } = response else {
        return None;
    };
    let curve_at = curve.function(seed);
    let unit = f64::from(1u32 << 30);
    // Multiples of the golden ratio are even without a period that a curve could share; from no round
    // number on, as curves have their jumps at such.
    let words = (0..DRAWS).map(|draw| draw.wrapping_mul(0x9E37_79B9).wrapping_add(0x5851_F42D));
    let squares: f64 = words
        .map(|word| {
            let confidence = quantile.q30(word);
            let exact = curve_at(f64::from(confidence) / unit).clamp(0.0, 1.0);
            let off = f64::from(response.q30(confidence)) / unit - exact;
            off * off
        })
        .sum();
    let off = (squares / f64::from(DRAWS)).sqrt();
    (off > MOST).then(|| {
        format!(
            "{law}, {curve}: the curve changes within the {cells} cells of its table, which is off by \
             {off:.3} (root of the mean square); the table is what is simulated. Stretch the curve, or \
             spread the law."
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::model::Model;

    fn notes(law: &str, curve: &str) -> Vec<String> {
        let (law, curve) = (law.parse().expect("a law"), curve.parse().expect("a curve"));
        Model::new(law, curve, 1).expect("a model").notes
    }

    /// A sine of 0.2 that the table cannot see is off by 0.2/√2; a line that it sees is not.
    #[test]
    fn regression_curves_too_fine_for_their_table_are_remarked_on() {
        for (law, curve) in [
            ("uniform", "z + 0.2*sin(2*pi*10240*z)"),
            ("uniform:0.5,0.5001", "z + 0.2*sin(2*pi*20000*z)"),
            ("uniform:0,0.00002", "z^0.25"),
        ] {
            assert_eq!(notes(law, curve).len(), 1, "{law} {curve}");
        }
        let sine = &notes("uniform", "0.5 + 0.2*sin(2*pi*10240*z)")[0];
        assert!(sine.contains("is off by 0.14"), "{sine}");
    }

    #[test]
    fn named_curves_have_fine_tables() {
        for curve in [
            "calibrated",
            "quadratic",
            "increasing-frequency",
            "linear",
            "staircase",
            "gaussian",
            "sawtooth",
            "quartic",
            "power-15",
            "square-wave",
            "spikes",
            "random-fourier",
            "weierstrass",
            "oscillating",
            "sqrt(z)",
        ] {
            for law in ["uniform", "beta:0.5,0.5", "beta:2,30"] {
                assert_eq!(notes(law, curve), [] as [String; 0], "{law} {curve}");
            }
        }
    }
}
