//! A reliability diagram of characters.

use std::io::{self, Write};

use crate::results::{Bin, Binned};

use super::columns::{Align, Columns};
use super::number::{ABSENT, count, gap, with_digits};
use super::text::LINE;

/// The most lines of bars.
const MOST_LINES: usize = 20;
/// Characters from 0 to 1.
const SCALE: usize = 32;

/// Writes one line for each bin: its range, rows, mean confidence, mean label, gap, and a bar of the
/// mean label with the mean confidence marked. More than twenty bins are merged into lines.
pub fn write(binned: &Binned, out: &mut impl Write) -> io::Result<()> {
    let merged = binned.table.len().div_ceil(MOST_LINES).max(1);
    let lines: Vec<Bin> = binned.table.chunks(merged).map(merge).collect();
    let mut columns = Columns::default();
    let mut push = |align, header: &str, cell: &dyn Fn(&Bin) -> String| {
        columns.push(align, header, lines.iter().map(cell).collect());
    };
    let number = |value: Option<f64>| value.map_or(ABSENT.to_owned(), |v| with_digits(v, 4));
    push(Align::Point, "from", &|b| with_digits(b.lower, 4));
    push(Align::Point, "to", &|b| with_digits(b.upper, 4));
    push(Align::Right, "n", &|b| count(b.n));
    push(Align::Point, "confidence", &|b| number(b.mean_confidence));
    push(Align::Point, "label", &|b| number(b.mean_label));
    push(Align::Point, "gap", &|b| gap(b.gap, 4));
    let scale = format!("0{:>SCALE$}", "1");
    push(Align::Left, &scale, &|b| {
        bar(b.mean_label, b.mean_confidence)
    });
    columns.write(out, 2, LINE)?;
    let each = if merged > 1 {
        format!("; each line is {merged} bins together")
    } else {
        String::new()
    };
    writeln!(
        out,
        "  bar: mean label, ┃: mean confidence, gap: label - confidence{each}"
    )
}

/// Several neighbouring bins as one. Means are weighted with the rows.
fn merge(bins: &[Bin]) -> Bin {
    if let [bin] = bins {
        return *bin;
    }
    let n = bins.iter().map(|bin| bin.n).sum::<u64>();
    let mean = |of: fn(&Bin) -> Option<f64>| {
        let sum: f64 = bins.iter().filter_map(|b| Some(of(b)? * b.n as f64)).sum();
        (n > 0).then(|| sum / n as f64)
    };
    let (mean_confidence, mean_label) = (mean(|b| b.mean_confidence), mean(|b| b.mean_label));
    Bin {
        lower: bins.first().map_or(0.0, |bin| bin.lower),
        upper: bins.last().map_or(1.0, |bin| bin.upper),
        n,
        mean_confidence,
        mean_label,
        gap: mean_label.zip(mean_confidence).map(|(y, z)| y - z),
    }
}

/// A bar from 0 to the mean label, in eighths of a character, with a mark at the mean confidence.
fn bar(mean_label: Option<f64>, mean_confidence: Option<f64>) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let Some((label, confidence)) = mean_label.zip(mean_confidence) else {
        return String::new();
    };
    let eighths = (label.clamp(0.0, 1.0) * (8 * SCALE) as f64).round() as usize;
    let mark = (confidence.clamp(0.0, 1.0) * SCALE as f64).round() as usize;
    let mut characters: Vec<char> = (0..=SCALE)
        .map(|place| match eighths.saturating_sub(8 * place) {
            8.. => '█',
            part => EIGHTHS[part],
        })
        .collect();
    characters[mark] = '┃';
    characters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_long_as_the_label_and_marked_at_the_confidence() {
        assert_eq!(
            bar(Some(0.5), Some(0.75)).trim_end(),
            format!("{}{}┃", "█".repeat(16), " ".repeat(8))
        );
        assert_eq!(bar(Some(1.0), Some(1.0)), format!("{}┃", "█".repeat(32)));
        assert_eq!(bar(Some(0.0), Some(0.0)).trim_end(), "┃");
        // 3/8 of a character.
        let label = 3.0 / (8.0 * 32.0);
        assert_eq!(bar(Some(label), Some(0.5)).chars().next(), Some('▍'));
        assert_eq!(bar(None, None), "");
    }

    #[test]
    fn merged_bins_weigh_their_rows() {
        let bin = |lower, n, z, y| Bin {
            lower,
            upper: lower + 0.25,
            n,
            mean_confidence: Some(z),
            mean_label: Some(y),
            gap: Some(y - z),
        };
        let empty = Bin {
            lower: 0.5,
            upper: 0.75,
            n: 0,
            mean_confidence: None,
            mean_label: None,
            gap: None,
        };
        let merged = merge(&[bin(0.0, 1, 0.125, 1.0), bin(0.25, 3, 0.375, 0.0), empty]);
        assert_eq!((merged.lower, merged.upper, merged.n), (0.0, 0.75, 4));
        assert_eq!(merged.mean_confidence, Some(0.3125));
        assert_eq!(merged.mean_label, Some(0.25));
        assert_eq!(merged.gap, Some(-0.0625));
        assert_eq!(merge(&[empty, empty]).mean_label, None);
    }
}
