//! Tables for tests, and how they are read from row to row.

use std::fmt::Display;
use std::sync::{Arc, LazyLock};

use arrow_array::builder::{Float32Builder, ListBuilder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Float32Array, Float64Array, Int64Array, RecordBatch,
    StringArray, UInt8Array,
};
use arrow_schema::Schema;
use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Frame, Piece, choose};
use crate::input::{InputError, Loaded, Options, Reduce};

/// Pools of one thread and of more.
pub(in crate::input) fn pools() -> &'static [ThreadPool] {
    static POOLS: LazyLock<Vec<ThreadPool>> = LazyLock::new(|| {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
        [1, 2, 3].map(|threads| pool(threads).unwrap()).into()
    });
    &POOLS
}

/// All record batches, read by one decoder through one door.
pub(in crate::input) fn read_in_order<E: Display>(
    file: &str,
    format: &str,
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, E>>,
    options: &Options,
) -> Result<Loaded, InputError> {
    struct All(Vec<Result<RecordBatch, String>>);
    impl Piece for All {
        fn rows(&self) -> usize {
            0
        }
        fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, String>> {
            self.0.iter().cloned()
        }
    }
    let mut notes = Vec::new();
    let frame = Frame {
        file,
        format,
        columns: choose(file, schema, options, &mut notes)?,
        rows: 0,
    };
    let batches = batches.map(|batch| batch.map_err(|error| error.to_string()));
    // One piece is admitted by the door itself.
    let mut piece = Some(vec![All(batches.collect())]);
    frame.read(schema, || piece.take(), options, notes)
}

prop_compose! {
    pub(in crate::input) fn options()(
        grouped: bool,
        skip_missing in prop::bool::weighted(0.7),
        class_wise: bool,
        positive in prop::option::weighted(0.2, prop::sample::select(vec!["1", "2"])),
    ) -> Options {
        Options {
            group_by: grouped.then(|| "g".to_owned()).into_iter().collect(),
            skip_missing,
            reduce: if class_wise { Reduce::ClassWise } else { Reduce::TopLabel },
            positive: positive.map(str::to_owned),
            ..Options::default()
        }
    }
}

prop_compose! {
    /// A table of groups `g`, confidences `p`, labels `y` and notes, of which so many rows in a hundred
    /// are odd: missing, or not what their column should hold. Lists of probabilities only if asked for.
    pub(in crate::input) fn table(lists: bool)(
        odd_in_hundred in prop::sample::select(vec![0u8, 0, 1, 5, 50]),
        confidence in 0..if lists { 4 } else { 3 },
        label in 0..4,
        dictionary: bool,
        minus_one in prop::bool::weighted(0.2),
        rows in prop::collection::vec(any::<[u8; 6]>(), 0..200),
    ) -> RecordBatch {
        let odd = |row: &[u8; 6], column| row[0] % 100 < odd_in_hundred && row[1] % 3 == column;
        let groups = rows.iter().map(|row| match row[2] % 8 {
            _ if odd(row, 0) => None,
            group @ 0..4 => Some(["a", "b", "10", "9"][usize::from(group)]),
            _ => Some("a"),
        });
        let groups: ArrayRef = if dictionary {
            Arc::new(groups.collect::<DictionaryArray<Int8Type>>())
        } else {
            Arc::new(groups.collect::<StringArray>())
        };
        let value = |row: &[u8; 6]| match row[3] % 4 {
            0 if odd(row, 1) => None,
            1 if odd(row, 1) => Some(1.5),
            2 if odd(row, 1) => Some(f64::NAN),
            _ => Some(f64::from(row[4]) / 255.0),
        };
        let values = rows.iter().map(value);
        let single = |value: Option<f64>| value.map(|value| value as f32);
        let confidences: ArrayRef = match confidence {
            0 => Arc::new(values.collect::<Float64Array>()),
            1 => Arc::new(values.map(single).collect::<Float32Array>()),
            2 => Arc::new(values.map(|value| Some(value?.to_string())).collect::<StringArray>()),
            _ => {
                let mut lists = ListBuilder::new(Float32Builder::new());
                for (row, value) in std::iter::zip(&rows, values) {
                    lists.values().append_option(single(value));
                    lists.values().append_option(single(value.map(|value| 1.0 - value)));
                    if odd(row, 2) && row[3].is_multiple_of(5) {
                        lists.values().append_value(0.0);
                    }
                    lists.append(!odd(row, 2) || row[3] % 5 != 1);
                }
                Arc::new(lists.finish())
            }
        };
        let other = |row: &[u8; 6]| odd(row, 2) && row[3].is_multiple_of(3);
        let labels = rows.iter().map(|row| match row[5] % 2 {
            _ if other(row) => None,
            _ if odd(row, 2) => Some(2),
            0 if minus_one => Some(-1),
            label => Some(i64::from(label)),
        });
        let labels: ArrayRef = match label {
            0 => Arc::new(labels.collect::<Int64Array>()),
            1 => Arc::new(labels.map(|label| Some(label? != 0)).collect::<BooleanArray>()),
            2 => Arc::new(labels.map(|label| Some(label? as u8)).collect::<UInt8Array>()),
            _ => Arc::new(labels.map(|label| Some(label?.to_string())).collect::<StringArray>()),
        };
        let notes: ArrayRef = Arc::new(StringArray::from(vec!["note"; rows.len()]));
        let columns = [("n", notes), ("g", groups), ("p", confidences), ("y", labels)];
        let columns = columns.map(|(name, array)| (name, array, true));
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }
}
