//! Record batches at the door: those of Arrow IPC and of Parquet.

#[cfg(test)]
pub(super) mod samples;
mod values;

use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};

use super::cell::{Element, Reading};
use super::columns::Columns;
use super::door::Door;
use super::pieces::{Round, admit_rounds};
use super::{InputError, Loaded, Options};
pub(super) use values::is_text;
use values::{Confidences, Groups, Labels, cast, label_type, unpacked};

/// The columns of a schema that are read.
pub(super) fn choose(
    file: &str,
    schema: &Schema,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Columns, InputError> {
    Columns::choose(file, &names(schema), options, notes)
}

fn names(schema: &Schema) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

/// A file of record batches.
pub(super) struct Frame<'a> {
    pub(super) file: &'a str,
    pub(super) format: &'a str,
    /// Columns by their places in the record batches.
    pub(super) columns: Columns,
    /// How many rows will come, 0 if that is unknown.
    pub(super) rows: u64,
}

/// How a column of confidences is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Numbers,
    Texts,
    Vectors,
}

/// A piece of a file of record batches.
pub(super) trait Piece: Send + Sync {
    /// About how many rows it has.
    fn rows(&self) -> usize;

    /// Its record batches, one after the other, up to the first that cannot be decoded.
    fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, String>>;
}

impl<P: Piece> Round for Vec<P> {
    fn pieces(&self) -> usize {
        self.len()
    }

    fn rows(&self, piece: usize) -> usize {
        self[piece].rows()
    }
}

impl Frame<'_> {
    /// Reads record batches of the given schema, on all threads: `next` gives the pieces that are
    /// read side by side, and those after them when it is called again. Confidences keep their floating-point type;
    /// whole numbers, booleans and decimals are read as f64.
    pub(super) fn read<P: Piece>(
        &self,
        schema: &Schema,
        next: impl FnMut() -> Option<Vec<P>> + Send,
        options: &Options,
        notes: Vec<String>,
    ) -> Result<Loaded, InputError> {
        let field = schema.field(self.columns.confidence);
        let (shape, element) = match unpacked(field.data_type()) {
            DataType::List(item)
            | DataType::LargeList(item)
            | DataType::FixedSizeList(item, _)
            | DataType::ListView(item)
            | DataType::LargeListView(item) => (Shape::Vectors, unpacked(item.data_type())),
            other => (Shape::Numbers, other),
        };
        let (shape, element) = match element {
            DataType::Float16 | DataType::Float32 | DataType::Float64 => (shape, element.clone()),
            DataType::Boolean | DataType::Null => (shape, DataType::Float64),
            other if other.is_integer() => (shape, DataType::Float64),
            // Decimals go through their digits, which is the one way to round them once.
            other if shape == Shape::Numbers && (is_text(other) || other.is_decimal()) => {
                (Shape::Texts, DataType::Float64)
            }
            _ => {
                return Err(InputError::new(
                    self.file,
                    format!("confidences of type {} cannot be read", field.data_type()),
                )
                .column(field.name().as_str())
                .remedy("Store them as f16, f32 or f64, or as lists of these."));
            }
        };
        match element {
            DataType::Float16 => self.admit::<Float16Type, P>(schema, shape, next, options, notes),
            DataType::Float32 => self.admit::<Float32Type, P>(schema, shape, next, options, notes),
            _ => self.admit::<Float64Type, P>(schema, shape, next, options, notes),
        }
    }

    fn admit<T, P: Piece>(
        &self,
        schema: &Schema,
        shape: Shape,
        next: impl FnMut() -> Option<Vec<P>> + Send,
        options: &Options,
        notes: Vec<String>,
    ) -> Result<Loaded, InputError>
    where
        T: ArrowPrimitiveType,
        T::Native: Element,
    {
        let names = names(schema);
        let mut door = Door::<T::Native>::new(self.file, options, &self.columns, &names, self.rows);
        admit_rounds(&mut door, next, |round, piece, door| {
            round[piece].batches().try_for_each(|batch| {
                let batch =
                    batch.map_err(|reason| InputError::damaged(self.file, self.format, reason))?;
                self.admit_batch::<T>(&batch, &names, shape, door)
            })
        })?;
        door.finish(notes)
    }

    /// Admits the rows of a record batch with columns of these names.
    fn admit_batch<T>(
        &self,
        batch: &RecordBatch,
        names: &[String],
        shape: Shape,
        door: &mut Door<'_, T::Native>,
    ) -> Result<(), InputError>
    where
        T: ArrowPrimitiveType,
        T::Native: Element,
    {
        let target = match shape {
            Shape::Numbers => T::DATA_TYPE,
            Shape::Texts => DataType::Utf8,
            Shape::Vectors => DataType::LargeList(Field::new_list_field(T::DATA_TYPE, true).into()),
        };
        let unconverted = |place: usize, reason: String| {
            InputError::new(self.file, format!("values cannot be converted: {reason}"))
                .column(names[place].as_str())
                .remedy("Store labels and groups as numbers or texts.")
        };
        let cast = |place: usize, target: &DataType| {
            cast(batch.column(place), target).map_err(|reason| unconverted(place, reason))
        };
        let confidences = Confidences::<T>::new(shape, cast(self.columns.confidence, &target)?);
        let labels = match self.columns.label {
            Some(place) => Labels::new(cast(place, &label_type(batch.column(place).data_type()))?),
            None => Labels::None,
        };
        let groups = self
            .columns
            .groups
            .iter()
            .map(|&place| {
                Groups::new(batch.column(place)).map_err(|reason| unconverted(place, reason))
            })
            .collect::<Result<Vec<_>, InputError>>()?;
        if let Confidences::Numbers(array) = &confidences
            && array.null_count() == 0
            && groups.is_empty()
            && let Some(labels) = labels.numbers()
            && door.admit_block(array.values(), &labels)
        {
            return Ok(());
        }
        for row in 0..batch.num_rows() {
            for group in &groups {
                door.group(group.value(row));
            }
            let label = labels.cell(row);
            match &confidences {
                Confidences::Numbers(array) if array.is_valid(row) => {
                    door.admit(Reading::Number(array.value(row)), label);
                }
                Confidences::Texts(array) if array.is_valid(row) => {
                    door.admit(Reading::Text(array.value(row)), label);
                }
                Confidences::Vectors(vectors) => door.admit_vector(vectors.row(row), label),
                _ => door.admit(Reading::Missing, label),
            }
        }
        Ok(())
    }
}
