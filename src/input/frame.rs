//! Record batches at the door: those of Arrow IPC and of Parquet.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float16Type, Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, RecordBatch, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field, Schema};

use super::cell::{Cell, Element, Reading};
use super::columns::Columns;
use super::contain::contain;
use super::door::{Door, number};
use super::pieces::admit_round;
use super::{InputError, Loaded, Options};

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
        mut next: impl FnMut() -> Option<Vec<P>> + Send,
        options: &Options,
        notes: Vec<String>,
    ) -> Result<Loaded, InputError>
    where
        T: ArrowPrimitiveType,
        T::Native: Element,
    {
        let names = names(schema);
        let mut door = Door::<T::Native>::new(self.file, options, &self.columns, &names, self.rows);
        let mut pieces = next();
        while let Some(round) = pieces {
            pieces = admit_round(&mut door, &round, P::rows, &mut next, |piece, door| {
                piece.batches().try_for_each(|batch| {
                    let batch = batch
                        .map_err(|reason| InputError::damaged(self.file, self.format, reason))?;
                    self.admit_batch::<T>(&batch, &names, shape, door)
                })
            })?;
        }
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
        let cast = |place: usize, target: &DataType| {
            cast(batch.column(place), target).map_err(|reason| {
                InputError::new(self.file, format!("values cannot be converted: {reason}"))
                    .column(names[place].as_str())
            })
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
            .map(|&place| cast(place, &DataType::Utf8))
            .collect::<Result<Vec<_>, _>>()?;
        let groups: Vec<&StringArray> = groups.iter().map(|group| group.as_string()).collect();
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
                door.group(group.is_valid(row).then(|| group.value(row)));
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

/// A column of confidences.
enum Confidences<T: ArrowPrimitiveType> {
    Numbers(PrimitiveArray<T>),
    Texts(StringArray),
    Vectors(Vectors<T::Native>),
}

impl<T: ArrowPrimitiveType> Confidences<T>
where
    T::Native: Element,
{
    /// A column that was converted to the type of its shape.
    fn new(shape: Shape, array: ArrayRef) -> Self {
        match shape {
            Shape::Numbers => Confidences::Numbers(array.as_primitive().clone()),
            Shape::Texts => Confidences::Texts(array.as_string().clone()),
            Shape::Vectors => Confidences::Vectors(Vectors::new::<T>(&array)),
        }
    }
}

/// A column of labels.
enum Labels {
    None,
    Booleans(BooleanArray),
    Integers(PrimitiveArray<Int64Type>),
    Singles(PrimitiveArray<Float32Type>),
    Doubles(PrimitiveArray<Float64Type>),
    Texts(StringArray),
}

/// The type that a column of labels is converted to.
fn label_type(data_type: &DataType) -> DataType {
    match unpacked(data_type) {
        DataType::Boolean => DataType::Boolean,
        DataType::UInt64 => DataType::Float64,
        other if other.is_integer() => DataType::Int64,
        DataType::Float16 | DataType::Float32 => DataType::Float32,
        DataType::Float64 => DataType::Float64,
        _ => DataType::Utf8,
    }
}

impl Labels {
    /// A column that was converted to its [`label_type`].
    fn new(array: ArrayRef) -> Self {
        match array.data_type() {
            DataType::Boolean => Labels::Booleans(array.as_boolean().clone()),
            DataType::Int64 => Labels::Integers(array.as_primitive().clone()),
            DataType::Float32 => Labels::Singles(array.as_primitive().clone()),
            DataType::Float64 => Labels::Doubles(array.as_primitive().clone()),
            _ => Labels::Texts(array.as_string().clone()),
        }
    }

    /// All of them, as [`Door::admit_block`] takes them; nothing if some are missing or texts.
    fn numbers(&self) -> Option<Vec<u8>> {
        let values: Vec<u8> = match self {
            Labels::Booleans(array) if array.null_count() == 0 => {
                array.values().iter().map(u8::from).collect()
            }
            Labels::Integers(array) if array.null_count() == 0 => {
                array.values().iter().map(|&v| number(v, 0, 1)).collect()
            }
            Labels::Singles(array) if array.null_count() == 0 => array
                .values()
                .iter()
                .map(|&v| number(v, 0.0, 1.0))
                .collect(),
            Labels::Doubles(array) if array.null_count() == 0 => array
                .values()
                .iter()
                .map(|&v| number(v, 0.0, 1.0))
                .collect(),
            _ => return None,
        };
        Some(values)
    }

    fn cell(&self, row: usize) -> Cell<'_> {
        match self {
            Labels::Booleans(array) if array.is_valid(row) => Cell::Boolean(array.value(row)),
            Labels::Integers(array) if array.is_valid(row) => Cell::Integer(array.value(row)),
            Labels::Singles(array) if array.is_valid(row) => Cell::element(array.value(row)),
            Labels::Doubles(array) if array.is_valid(row) => Cell::float(array.value(row)),
            Labels::Texts(array) if array.is_valid(row) => Cell::text(array.value(row)),
            _ => Cell::Missing,
        }
    }
}

/// A column of lists of probabilities.
struct Vectors<C> {
    values: Vec<C>,
    offsets: Vec<i64>,
    lists: ArrayRef,
}

impl<C: Element> Vectors<C> {
    fn new<T: ArrowPrimitiveType<Native = C>>(array: &ArrayRef) -> Self {
        let lists = array.as_list::<i64>();
        let values = lists.values().as_primitive::<T>().iter();
        Vectors {
            values: values.map(|value| value.unwrap_or(C::NAN)).collect(),
            offsets: lists.value_offsets().to_vec(),
            lists: array.clone(),
        }
    }

    fn row(&self, row: usize) -> Option<&[C]> {
        // The decoder checks that offsets ascend and stay inside the values.
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.lists.is_valid(row).then(|| &self.values[range])
    }
}

/// The type of the values of a dictionary, or the type itself.
fn unpacked(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => unpacked(values),
        DataType::RunEndEncoded(_, values) => unpacked(values.data_type()),
        other => other,
    }
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// A conversion that fails where it would otherwise make values missing.
fn cast(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, String> {
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    contain(|| cast_with_options(array, target, &options))
}
