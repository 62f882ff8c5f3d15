//! A sample in the order of its confidences.

use crate::placement::TiedLabels;
use crate::random::Key;

/// Confidences with their labels, sorted by confidence; rows of equal confidence in input order.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    rows: Vec<Row>,
    groups: Vec<Group>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The predicted probability Z, in \[0, 1\].
    pub confidence: f64,
    /// The outcome Y.
    pub label: bool,
}

impl Row {
    /// The residual D = Y - Z.
    pub fn residual(self) -> f64 {
        f64::from(u8::from(self.label)) - self.confidence
    }
}

/// All rows of one confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// z, the confidence.
    pub confidence: f64,
    /// m, the number of rows.
    pub rows: usize,
    /// k, the number of them of label 1.
    pub positives: usize,
    /// The number of rows of smaller confidence.
    pub first_rank: usize,
}

impl Group {
    /// p = k/m, the mean label.
    pub fn mean_label(&self) -> f64 {
        self.positives as f64 / self.rows as f64
    }

    /// W = p - z, the mean residual.
    pub fn mean_residual(&self) -> f64 {
        self.mean_label() - self.confidence
    }
}

impl Sample {
    /// The sample of these confidences and labels, given in input order. Confidences narrower than
    /// f64 are given by their exact values.
    ///
    /// None if there are not as many labels as confidences, if a confidence is not in \[0, 1\], or
    /// if there are 2³² rows or more.
    pub fn new(confidences: &[f64], labels: &[bool]) -> Option<Self> {
        let allowed = confidences.len() == labels.len()
            && u32::try_from(labels.len()).is_ok()
            && confidences.iter().all(|z| (0.0..=1.0).contains(z));
        if !allowed {
            return None;
        }
        let mut rows: Vec<Row> = std::iter::zip(confidences, labels)
            .map(|(&confidence, &label)| Row { confidence, label })
            .collect();
        // `sort_by` is stable. Adding 0.0 turns -0.0 into 0.0, so that the two are tied.
        for row in &mut rows {
            row.confidence += 0.0;
        }
        rows.sort_by(|a, b| a.confidence.total_cmp(&b.confidence));
        let mut groups: Vec<Group> = Vec::new();
        for (rank, row) in rows.iter().enumerate() {
            match groups.last_mut() {
                Some(group) if group.confidence == row.confidence => {
                    group.rows += 1;
                    group.positives += usize::from(row.label);
                }
                _ => groups.push(Group {
                    confidence: row.confidence,
                    rows: 1,
                    positives: usize::from(row.label),
                    first_rank: rank,
                }),
            }
        }
        Some(Sample { rows, groups })
    }

    /// The rows in the order of their confidences, ties in input order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The distinct confidences, ascending.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The number of rows that share their confidence with another row.
    pub fn tied_rows(&self) -> usize {
        let sizes = self.groups.iter().map(|group| group.rows);
        sizes.filter(|&rows| rows > 1).sum()
    }

    /// The rows with the positives of each tied group placed anew by a seeded draw, which names a
    /// group by the rank of its first row.
    pub fn placed(&self, stream: Key) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.rows.len());
        for group in &self.groups {
            // All three are below 2³²: see `new`.
            let size = group.rows as u32;
            let draw = TiedLabels::new(
                stream,
                group.first_rank as u32,
                size,
                group.positives as u32,
            );
            rows.extend((0..size).map(|index| Row {
                confidence: group.confidence,
                label: draw.is_positive(index),
            }));
        }
        rows
    }
}

/// The sum of `terms`, compensated (Neumaier), so that its error does not grow with their number.
pub(super) fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0);
    for term in terms {
        let next = total + term;
        lost += if total.abs() >= term.abs() {
            (total - next) + term
        } else {
            (term - next) + total
        };
        total = next;
    }
    total + lost
}
