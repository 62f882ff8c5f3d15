//! Rows by group.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use crate::predictions::Word;

/// How many keys are found without the map.
const RECENT: usize = 256;

/// The groups of a file, met row by row. Without group columns all rows are of one group.
#[derive(Clone, Debug)]
pub(super) struct Groups {
    columns: Vec<String>,
    /// The values of the row at hand, each behind its length.
    key: Vec<u8>,
    values_in_key: usize,
    numbers: HashMap<Box<[u8]>, u32>,
    /// Some keys with their numbers, each at the place that [`slot`] gives it: that of a group met
    /// shortly before is found here without the map.
    recent: Vec<(Vec<u8>, u32)>,
    /// Rows left out, by group number.
    skipped: Vec<u64>,
    /// The group numbers of the rows kept; empty without group columns.
    rows: Vec<u32>,
}

/// Groups in the order of their values.
pub(super) struct Ordered {
    /// The values of the group columns.
    pub(super) values: Vec<Option<BTreeMap<String, String>>>,
    /// Rows left out.
    pub(super) skipped: Vec<u64>,
    /// Rows kept.
    pub(super) sizes: Vec<usize>,
    /// For each row kept, its group in this order; empty without group columns.
    rows: Vec<u32>,
}

impl Groups {
    pub(super) fn new(columns: Vec<String>) -> Self {
        let without = columns.is_empty();
        Groups {
            columns,
            key: Vec::new(),
            values_in_key: 0,
            numbers: HashMap::new(),
            recent: vec![Default::default(); if without { 0 } else { RECENT }],
            skipped: if without { vec![0] } else { Vec::new() },
            rows: Vec::new(),
        }
    }

    /// Whether all rows are of one group, for want of group columns.
    #[inline]
    pub(super) fn is_single(&self) -> bool {
        self.columns.is_empty()
    }

    /// The column whose value comes next.
    pub(super) fn next_column(&self) -> &str {
        self.columns
            .get(self.values_in_key)
            .map_or("", String::as_str)
    }

    /// One more value of the row at hand.
    pub(super) fn push(&mut self, value: &str) {
        self.key.extend_from_slice(&value.len().to_le_bytes());
        self.key.extend_from_slice(value.as_bytes());
        self.values_in_key += 1;
    }

    /// The same columns without any rows, with room for so many.
    pub(super) fn part(&self, rows: usize) -> Self {
        let mut part = Groups::new(self.columns.clone());
        part.rows.reserve(if self.is_single() { 0 } else { rows });
        part
    }

    /// Adds the rows of the part of the file that comes next.
    pub(super) fn take_over(&mut self, part: Self) {
        if self.is_single() {
            self.skipped[0] += part.skipped[0];
            return;
        }
        let mut keys: Vec<(Box<[u8]>, u32)> = part.numbers.into_iter().collect();
        keys.sort_unstable_by_key(|(_, number)| *number);
        let mut numbers = Vec::with_capacity(keys.len());
        for ((key, _), skipped) in std::iter::zip(keys, part.skipped) {
            let number = self.number_of(&key);
            self.skipped[number as usize] += skipped;
            numbers.push(number);
        }
        let rows = part.rows.iter().map(|&row| numbers[row as usize]);
        self.rows.extend(rows);
    }

    /// [`Groups::number_of`], quick if the group was met shortly before.
    fn recent_number_of(&mut self, key: &[u8]) -> u32 {
        let slot = slot(key);
        let (recent, number) = &self.recent[slot];
        // No key is empty, so that an empty place is none's.
        if recent == key {
            return *number;
        }
        let number = self.number_of(key);
        let recent = &mut self.recent[slot];
        recent.0.clear();
        recent.0.extend_from_slice(key);
        recent.1 = number;
        number
    }

    /// The number of a group, a new one if it was not met before.
    fn number_of(&mut self, key: &[u8]) -> u32 {
        if let Some(&number) = self.numbers.get(key) {
            return number;
        }
        // Memory ends long before 2³² groups do.
        let number = self.numbers.len() as u32;
        self.numbers.insert(key.into(), number);
        self.skipped.push(0);
        number
    }

    /// The group number of the row at hand, all of whose values were pushed.
    pub(super) fn number(&mut self) -> u32 {
        if self.is_single() {
            return 0;
        }
        let key = std::mem::take(&mut self.key);
        let number = self.recent_number_of(&key);
        self.key = key;
        self.key.clear();
        self.values_in_key = 0;
        number
    }

    /// The row at hand is kept.
    pub(super) fn keep(&mut self, number: u32) {
        if !self.is_single() {
            self.rows.push(number);
        }
    }

    /// The row at hand is left out.
    pub(super) fn skip(&mut self, number: u32) {
        self.skipped[number as usize] += 1;
    }

    /// How many rows were left out.
    pub(super) fn skipped(&self) -> u64 {
        self.skipped.iter().sum()
    }

    /// The groups in the order of their values, whatever the order of rows: column by column, as
    /// numbers if all values of the column are, else as text. `kept` is the number of rows kept.
    pub(super) fn order(self, kept: usize) -> Ordered {
        if self.is_single() {
            return Ordered {
                values: vec![None],
                skipped: self.skipped,
                sizes: vec![kept],
                rows: Vec::new(),
            };
        }
        let mut groups: Vec<(Vec<Sortable>, u32)> = self
            .numbers
            .into_iter()
            .map(|(key, number)| (values_of(&key), number))
            .collect();
        for column in 0..self.columns.len() {
            let numeric = groups
                .iter()
                .all(|(values, _)| values[column].number.is_some_and(f64::is_finite));
            if !numeric {
                for (values, _) in &mut groups {
                    values[column].number = None;
                }
            }
        }
        groups.sort_unstable_by(|(a, _), (b, _)| {
            std::iter::zip(a, b)
                .map(|(a, b)| a.compare(b))
                .find(|order| order.is_ne())
                .unwrap_or(Ordering::Equal)
        });

        let mut place = vec![0u32; groups.len()];
        for (at, (_, number)) in groups.iter().enumerate() {
            place[*number as usize] = at as u32;
        }
        let mut rows = self.rows;
        let mut sizes = vec![0; groups.len()];
        for row in &mut rows {
            *row = place[*row as usize];
            sizes[*row as usize] += 1;
        }
        Ordered {
            skipped: groups
                .iter()
                .map(|(_, number)| self.skipped[*number as usize])
                .collect(),
            values: groups
                .into_iter()
                .map(|(values, _)| {
                    let texts = values.into_iter().map(|value| value.text);
                    Some(std::iter::zip(self.columns.iter().cloned(), texts).collect())
                })
                .collect(),
            sizes,
            rows,
        }
    }
}

impl Ordered {
    /// The words of the rows kept, group after group, in their order within each.
    pub(super) fn scatter<W: Word>(&self, words: Vec<W>) -> Vec<W> {
        if self.rows.is_empty() {
            return words;
        }
        let mut next = Vec::with_capacity(self.sizes.len());
        let mut end = 0;
        for size in &self.sizes {
            next.push(end);
            end += size;
        }
        let mut scattered = vec![W::from_u64(0); words.len()];
        for (word, &group) in std::iter::zip(words, &self.rows) {
            let place = &mut next[group as usize];
            scattered[*place] = word;
            *place += 1;
        }
        scattered
    }
}

/// The place of a key among [`RECENT`].
fn slot(key: &[u8]) -> usize {
    /// Odd, without a pattern: 2⁶⁴ by the golden ratio.
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |mixed: u64, word: u64| (mixed.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    let (words, rest) = key.as_chunks();
    let words = words.iter().map(|bytes| u64::from_le_bytes(*bytes));
    let rest = rest
        .iter()
        .fold(0, |word, &byte| word << 8 | u64::from(byte));
    let mixed = mix(words.fold(0, mix), rest);
    (mixed >> 32) as usize % RECENT
}

/// A value of a group column, and the number that it spells.
struct Sortable {
    text: String,
    number: Option<f64>,
}

impl Sortable {
    fn compare(&self, other: &Self) -> Ordering {
        match (self.number, other.number) {
            (Some(a), Some(b)) => a.total_cmp(&b).then_with(|| self.text.cmp(&other.text)),
            _ => self.text.cmp(&other.text),
        }
    }
}

fn values_of(mut key: &[u8]) -> Vec<Sortable> {
    let mut values = Vec::new();
    while let Some((length, rest)) = key.split_first_chunk() {
        let (text, rest) = rest.split_at(usize::from_le_bytes(*length));
        let text = String::from_utf8_lossy(text).into_owned();
        let number = text.trim().parse().ok();
        values.push(Sortable { text, number });
        key = rest;
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(rows: &[&str]) -> (Vec<String>, Vec<u32>) {
        let mut groups = Groups::new(vec!["g".to_owned()]);
        for row in rows {
            groups.push(row);
            let number = groups.number();
            groups.keep(number);
        }
        let ordered = groups.order(rows.len());
        let names = ordered
            .values
            .iter()
            .flatten()
            .map(|group| group["g"].clone());
        (
            names.collect(),
            ordered.scatter((0..rows.len() as u32).collect()),
        )
    }

    #[test]
    fn groups_sort_as_numbers_or_as_text_and_rows_stay_in_order() {
        let (names, rows) = order(&["10", "9", "10", "-1", "9"]);
        assert_eq!(names, ["-1", "9", "10"]);
        assert_eq!(rows, [3, 1, 4, 0, 2]);
        let (names, _) = order(&["10", "9", "a"]);
        assert_eq!(names, ["10", "9", "a"]);
        let (names, _) = order(&["1.0", "1", "01"]);
        assert_eq!(names, ["01", "1", "1.0"]);
    }

    #[test]
    fn values_never_run_together() {
        let mut groups = Groups::new(vec!["a".to_owned(), "b".to_owned()]);
        let mut numbers = Vec::new();
        for (a, b) in [("x", "yz"), ("xy", "z"), ("x", "yz"), ("", "")] {
            groups.push(a);
            groups.push(b);
            numbers.push(groups.number());
        }
        assert_eq!(numbers, [0, 1, 0, 2]);
    }
}
