//! The columns of a record batch, converted to the few types that are read.

use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::DataType;

use super::Shape;
use crate::input::cell::{Cell, Element};
use crate::input::contain::contain;
use crate::input::door::number;

/// A column of confidences.
pub(super) enum Confidences<T: ArrowPrimitiveType> {
    Numbers(PrimitiveArray<T>),
    Texts(StringArray),
    Vectors(Vectors<T::Native>),
}

impl<T: ArrowPrimitiveType> Confidences<T>
where
    T::Native: Element,
{
    /// A column that was converted to the type of its shape.
    pub(super) fn new(shape: Shape, array: ArrayRef) -> Self {
        match shape {
            Shape::Numbers => Confidences::Numbers(array.as_primitive().clone()),
            Shape::Texts => Confidences::Texts(array.as_string().clone()),
            Shape::Vectors => Confidences::Vectors(Vectors::new::<T>(&array)),
        }
    }
}

/// A column of labels.
pub(super) enum Labels {
    None,
    Booleans(BooleanArray),
    Integers(PrimitiveArray<Int64Type>),
    Singles(PrimitiveArray<Float32Type>),
    Doubles(PrimitiveArray<Float64Type>),
    Texts(StringArray),
}

/// The type that a column of labels is converted to.
pub(super) fn label_type(data_type: &DataType) -> DataType {
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
    pub(super) fn new(array: ArrayRef) -> Self {
        match array.data_type() {
            DataType::Boolean => Labels::Booleans(array.as_boolean().clone()),
            DataType::Int64 => Labels::Integers(array.as_primitive().clone()),
            DataType::Float32 => Labels::Singles(array.as_primitive().clone()),
            DataType::Float64 => Labels::Doubles(array.as_primitive().clone()),
            _ => Labels::Texts(array.as_string().clone()),
        }
    }

    /// All of them, as [`Door::admit_block`] takes them; nothing if some are missing or texts.
    pub(super) fn numbers(&self) -> Option<Vec<u8>> {
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

    pub(super) fn cell(&self, row: usize) -> Cell<'_> {
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

/// A column of groups, as texts.
pub(super) struct Groups {
    texts: StringArray,
    /// Whether they were numbers with a point, of which NaN is none.
    floats: bool,
}

impl Groups {
    pub(super) fn new(array: &ArrayRef) -> Result<Self, String> {
        let (floats, array) = match unpacked(array.data_type()) {
            // Of these only f32 and f64 are written with their point.
            DataType::Float16 => (true, &cast(array, &DataType::Float32)?),
            DataType::Float32 | DataType::Float64 => (true, array),
            _ => (false, array),
        };
        let texts = cast(array, &DataType::Utf8)?.as_string().clone();
        Ok(Groups { texts, floats })
    }

    /// That of a row; none if it is missing.
    pub(super) fn value(&self, row: usize) -> Option<&str> {
        let text = self.texts.is_valid(row).then(|| self.texts.value(row))?;
        (!(self.floats && text == "NaN")).then_some(text)
    }
}

/// A column of lists of probabilities.
pub(super) struct Vectors<C> {
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

    pub(super) fn row(&self, row: usize) -> Option<&[C]> {
        // The decoder checks that offsets ascend and stay inside the values.
        let range = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.lists.is_valid(row).then(|| &self.values[range])
    }
}

/// The type of the values of a dictionary, or the type itself.
pub(super) fn unpacked(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => unpacked(values),
        DataType::RunEndEncoded(_, values) => unpacked(values.data_type()),
        other => other,
    }
}

pub(in crate::input) fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// A conversion that fails where it would otherwise make values missing.
pub(super) fn cast(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, String> {
    if array.data_type() == target {
        return Ok(array.clone());
    }
    let options = CastOptions {
        safe: false,
        ..CastOptions::default()
    };
    contain(|| cast_with_options(array, target, &options))
}
