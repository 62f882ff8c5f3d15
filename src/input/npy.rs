//! `.npy` files: arrays of confidences, with labels in them or beside them.

use half::f16;
use npyz::{DType, TypeChar};

use super::array::{Array, Decoder, decoder, doubles, unreadable};
use super::cell::{Cell, Element, Reading};
use super::columns::Columns;
use super::door::{Door, number};
use super::labels_file::LabelSource;
use super::source::Store;
use super::{InputError, Loaded, Options};

/// Reads an array of shape \[n, 2\] as confidence and label; or, with a file of labels, one of
/// shape \[n\] as confidences and one of shape \[n, k\] as probabilities of k classes. Confidences
/// without labels come in any of these shapes.
pub(super) fn read(file: &str, store: &Store, options: &Options) -> Result<Loaded, InputError> {
    if let Some(flag) = options.names_columns() {
        return Err(InputError::new(
            file,
            format!("{flag} names a column, but an array has none"),
        )
        .remedy("Write the data as CSV, Parquet, Arrow or JSON Lines."));
    }
    let array = Array::open(file, store)?;
    let mut notes = Vec::new();
    match &options.labels_file {
        Some(path) => {
            let mut labels = LabelSource::open(path, options)?;
            if array.width == 2 {
                notes.push(
                    "with --labels its two columns are read as the probabilities of two classes"
                        .to_owned(),
                );
            }
            array.load(Some(&mut labels), options, notes)
        }
        None if array.width == 2 || options.confidences_only => array.load(None, options, notes),
        None => Err(array
            .wrong(format!("its shape {:?} holds no labels", array.shape))
            .remedy("Name the file of labels with --labels FILE.")),
    }
}

impl Array<'_> {
    /// Reads the array as confidences; with labels of its own if there are no others.
    pub(super) fn load(
        self,
        labels: Option<&mut LabelSource<'_>>,
        options: &Options,
        notes: Vec<String>,
    ) -> Result<Loaded, InputError> {
        let DType::Plain(plain) = &self.dtype else {
            return Err(unreadable(self.file, &self.name, &self.dtype));
        };
        match (plain.type_char(), self.size) {
            (TypeChar::Float, 2) => {
                let decode = decoder(&self.dtype, |value: f16| value);
                self.load_as(decode, labels, options, notes)
            }
            (TypeChar::Float, 4) => {
                let decode = decoder(&self.dtype, |value: f32| value);
                self.load_as(decode, labels, options, notes)
            }
            _ => {
                let decode = doubles(&self.dtype);
                self.load_as(decode, labels, options, notes)
            }
        }
    }

    fn load_as<C: Element>(
        mut self,
        decode: Option<Decoder<C>>,
        labels: Option<&mut LabelSource<'_>>,
        options: &Options,
        notes: Vec<String>,
    ) -> Result<Loaded, InputError> {
        let decode = decode.ok_or_else(|| unreadable(self.file, &self.name, &self.dtype))?;
        let columns = Columns {
            confidence: 0,
            label: Some(1),
            groups: Vec::new(),
        };
        let confidence = match self.name.as_str() {
            "" if labels.is_none() => "0",
            name => name,
        };
        let label = labels.as_ref().map_or("1", |labels| labels.name());
        let names = [confidence.to_owned(), label.to_owned()];
        let width = self.width;
        let file = self.file;
        let mut door = Door::<C>::new(file, options, &columns, &names, self.rows);
        let mut values: Vec<C> = Vec::new();
        let Some(labels) = labels else {
            let (mut confidences, mut numbers) = (Vec::new(), Vec::new());
            while let Some(block) = self.next_block()? {
                decode(block, &mut values);
                if width == 2 && self.name.is_empty() && !options.confidences_only {
                    let (pairs, _) = values.as_chunks::<2>();
                    confidences.clear();
                    confidences.extend(pairs.iter().map(|[value, _]| *value));
                    numbers.clear();
                    numbers.extend(
                        pairs
                            .iter()
                            .map(|[_, label]| number(label.to_f64(), 0.0, 1.0)),
                    );
                    if door.admit_block(&confidences, &numbers) {
                        continue;
                    }
                }
                for row in values.chunks_exact(width) {
                    match row {
                        [value] => door.admit(Reading::Number(*value), Cell::Missing),
                        [value, _] if self.name.is_empty() && options.confidences_only => {
                            door.admit(Reading::Number(*value), Cell::Missing);
                        }
                        // An array of an archive has its labels beside it, never inside.
                        [value, label] if self.name.is_empty() => {
                            door.admit(Reading::Number(*value), Cell::element(*label));
                        }
                        row => door.admit_vector(Some(row), Cell::Missing),
                    }
                }
            }
            self.check_end()?;
            return door.finish(notes);
        };
        while let Some(block) = self.next_block()? {
            decode(block, &mut values);
            let mut rest = values.as_slice();
            while !rest.is_empty() {
                let mut count = rest.len();
                if width == 1 {
                    let numbers = labels.numbers()?;
                    if !numbers.is_empty() {
                        count = count.min(numbers.len());
                        if door.admit_block(&rest[..count], &numbers[..count]) {
                            labels.skip(count);
                            rest = &rest[count..];
                            continue;
                        }
                    }
                }
                for row in rest[..count].chunks_exact(width) {
                    let Some(label) = labels.next()? else {
                        let given = door.row() - 1;
                        return Err(differ(&self, given, labels.name()));
                    };
                    match row {
                        [value] => door.admit(Reading::Number(*value), label),
                        row => door.admit_vector(Some(row), label),
                    }
                }
                rest = &rest[count..];
            }
        }
        self.check_end()?;
        let mut given = self.rows;
        while labels.next()?.is_some() {
            given += 1;
        }
        if given > self.rows {
            return Err(differ(&self, given, labels.name()));
        }
        door.finish(notes)
    }
}

fn differ(array: &Array<'_>, labels: u64, name: &str) -> InputError {
    array
        .wrong(format!(
            "{} rows of confidences, but {labels} labels in {name}",
            array.rows
        ))
        .remedy("There must be one label for each row.")
}
