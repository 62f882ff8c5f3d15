//! NumPy arrays, read block by block.

use std::io::{Cursor, Read, Seek, SeekFrom};

use bytemuck::AnyBitPattern;
use half::f16;
use npyz::{AutoSerialize, DType, Deserialize, NpyHeader, Order, TypeRead};

use super::InputError;
use super::cell::Cell;
use super::contain::contain;
use super::door::{OTHER_LABEL, number};
use super::source::{ReadSeek, Store};

/// The longest header that is read, in bytes. Those of plain arrays have 118.
const LONGEST_HEADER: usize = 1 << 20;

/// The deepest nesting of a header that is read.
const DEEPEST_HEADER: usize = 32;

/// The widest matrix that is read, in columns.
const WIDEST: u64 = 1 << 24;

/// Bytes read at a time.
const BLOCK: usize = 1 << 16;

/// Bytes read at a time of an array in Fortran order, where each column is another place.
const FORTRAN_BLOCK: usize = 1 << 22;

/// The bytes of an array's elements.
pub(super) enum Bytes<'a> {
    /// In their order.
    Stream(Box<dyn Read + 'a>),
    /// From this place on, in any order.
    Seek(Box<dyn ReadSeek + 'a>, u64),
}

/// An array of one or two dimensions, read block by block.
pub(super) struct Array<'a> {
    pub(super) file: &'a str,
    /// Its name in an archive.
    pub(super) name: String,
    bytes: Bytes<'a>,
    pub(super) dtype: DType,
    order: Order,
    pub(super) shape: Vec<u64>,
    pub(super) rows: u64,
    pub(super) width: usize,
    /// Bytes of an element.
    pub(super) size: usize,
    /// Rows read so far.
    next: u64,
    block: Vec<u8>,
}

impl<'a> Array<'a> {
    /// Opens a `.npy` file.
    pub(super) fn open(file: &'a str, store: &Store) -> Result<Self, InputError> {
        let failed = |error| InputError::io(file, &error);
        let mut source = store.open().map_err(failed)?;
        let (header, start) = header(file, "", &mut source)?;
        let end = source.seek(SeekFrom::End(0)).map_err(failed)?;
        source.seek(SeekFrom::Start(start)).map_err(failed)?;
        let array = Array::new(file, "", &header, Bytes::Seek(source, start))?;
        array.check_length(end - start)?;
        Ok(array)
    }

    /// An array behind its header, a member of an archive if it has a name.
    pub(super) fn new(
        file: &'a str,
        name: &str,
        header: &NpyHeader,
        bytes: Bytes<'a>,
    ) -> Result<Self, InputError> {
        let wrong = |problem: String| InputError::new(file, problem).column(name);
        if header.uses_pickled_array() {
            return Err(
                wrong("a pickled array of Python objects cannot be read".to_owned())
                    .remedy("Save it as numbers: np.save(file, np.asarray(values, dtype=float))"),
            );
        }
        let (rows, width) = match *header.shape() {
            [rows] => (rows, 1),
            [rows, width] if width > 0 && width <= WIDEST => (rows, width),
            _ => {
                return Err(wrong(format!(
                    "its shape {:?} is not that of a column or a matrix",
                    header.shape()
                ))
                .remedy(
                    "Save [n] confidences, [n, 2] confidences with labels, or [n, k] probabilities \
                     of k classes: np.reshape makes one of them.",
                ));
            }
        };
        let dtype = header.dtype();
        let size = match &dtype {
            DType::Plain(plain) => plain.num_bytes(),
            _ => {
                return Err(wrong("a structured array cannot be read".to_owned())
                    .remedy("Save its fields as arrays of their own."));
            }
        };
        let size = size
            .filter(|size| (1..=16).contains(size))
            .ok_or_else(|| unreadable(file, name, &dtype))?;
        Ok(Array {
            file,
            name: name.to_owned(),
            bytes,
            order: header.order(),
            shape: header.shape().to_vec(),
            dtype,
            rows,
            width: width as usize,
            size,
            next: 0,
            block: Vec::new(),
        })
    }

    fn check_length(&self, bytes: u64) -> Result<(), InputError> {
        // The header was found to multiply without overflow.
        let expected = self.rows * self.width as u64 * self.size as u64;
        if bytes == expected {
            return Ok(());
        }
        let problem = format!(
            "shape {:?} takes {expected} bytes, but there are {bytes}",
            self.shape
        );
        Err(self.wrong(problem).remedy(if bytes < expected {
            "The file seems to be cut off; write or copy it again."
        } else {
            "A file holds one array; save each array to a file of its own, or all to an .npz file."
        }))
    }

    pub(super) fn wrong(&self, problem: String) -> InputError {
        InputError::new(self.file, problem).column(self.name.as_str())
    }

    /// How many rows are read at a time.
    fn block_rows(&self) -> usize {
        let bytes = match self.order {
            Order::Fortran if self.width > 1 => FORTRAN_BLOCK,
            _ => BLOCK,
        };
        (bytes / (self.width * self.size)).max(1)
    }

    /// The elements of the next rows, row after row; none after the last.
    pub(super) fn next_block(&mut self) -> Result<Option<&[u8]>, InputError> {
        let rows = (self.rows - self.next).min(self.block_rows() as u64) as usize;
        if rows == 0 {
            return Ok(None);
        }
        let (size, width) = (self.size, self.width);
        self.block.resize(rows * width * size, 0);
        let block = &mut self.block;
        let read = match (&mut self.bytes, self.order) {
            (Bytes::Seek(source, start), Order::Fortran) if width > 1 => {
                let mut column = vec![0; rows * size];
                (0..width).try_for_each(|place| {
                    let element = place as u64 * self.rows + self.next;
                    source.seek(SeekFrom::Start(*start + element * size as u64))?;
                    source.read_exact(&mut column)?;
                    for (row, element) in column.chunks_exact(size).enumerate() {
                        let at = (row * width + place) * size;
                        block[at..at + size].copy_from_slice(element);
                    }
                    Ok(())
                })
            }
            (Bytes::Seek(source, _), _) => source.read_exact(block),
            (Bytes::Stream(source), _) => {
                contain(|| source.read_exact(block)).map_err(std::io::Error::other)
            }
        };
        if let Err(error) = read {
            return Err(InputError::io(self.file, &error).column(self.name.as_str()));
        }
        self.next += rows as u64;
        Ok(Some(&self.block))
    }

    /// After the last row: whether the bytes end there.
    pub(super) fn check_end(&mut self) -> Result<(), InputError> {
        let Bytes::Stream(source) = &mut self.bytes else {
            return Ok(());
        };
        match contain(|| source.read(&mut [0])) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self
                .wrong("more bytes than its shape takes".to_owned())
                .remedy("The file may be damaged; write or copy it again.")),
            Err(reason) => {
                Err(InputError::damaged(self.file, "NumPy", reason).column(self.name.as_str()))
            }
        }
    }

    /// Decodes the array as labels, which must be numbers or booleans in one column.
    pub(super) fn into_labels(self) -> Result<ArrayLabels<'a>, InputError> {
        if self.width != 1 {
            let problem = format!(
                "its shape {:?} is not that of one column of labels",
                self.shape
            );
            return Err(self.wrong(problem).remedy(
                "Save the labels as [n], one for each row: labels.ravel() or .argmax(axis=1).",
            ));
        }
        match cells(&self.dtype).zip(numbers(&self.dtype)) {
            Some((decode, decode_numbers)) => Ok(ArrayLabels {
                array: self,
                decode,
                decode_numbers,
                cells: Vec::new(),
                numbers: Vec::new(),
                next: 0,
            }),
            None => Err(unreadable(self.file, &self.name, &self.dtype)),
        }
    }
}

/// An array of labels, one after the other.
pub(super) struct ArrayLabels<'a> {
    array: Array<'a>,
    decode: Decoder<Cell<'static>>,
    decode_numbers: Decoder<u8>,
    /// The labels of the block at hand; empty until one of them is asked for.
    cells: Vec<Cell<'static>>,
    /// The same, as [`super::door::Door::admit_block`] takes them.
    numbers: Vec<u8>,
    next: usize,
}

impl ArrayLabels<'_> {
    /// The next label; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<Cell<'static>>, InputError> {
        if self.numbers()?.is_empty() {
            return Ok(None);
        }
        if self.cells.is_empty() {
            (self.decode)(&self.array.block, &mut self.cells);
        }
        self.next += 1;
        Ok(Some(self.cells[self.next - 1]))
    }

    /// The next labels as numbers 0 and 1, with [`OTHER_LABEL`] for others; none after the last.
    pub(super) fn numbers(&mut self) -> Result<&[u8], InputError> {
        if self.next == self.numbers.len() {
            self.cells.clear();
            self.numbers.clear();
            self.next = 0;
            match self.array.next_block()? {
                Some(block) => (self.decode_numbers)(block, &mut self.numbers),
                None => self.array.check_end()?,
            }
        }
        Ok(&self.numbers[self.next..])
    }

    /// Passes over labels that were taken as numbers.
    pub(super) fn skip(&mut self, labels: usize) {
        self.next += labels;
    }
}

/// Turns the bytes of a block into values.
pub(super) type Decoder<T> = Box<dyn Fn(&[u8], &mut Vec<T>)>;

/// A decoder of elements of type `E`, if that is what `dtype` holds.
pub(super) fn decoder<E: Deserialize + AutoSerialize + AnyBitPattern, T: 'static>(
    dtype: &DType,
    convert: impl Fn(E) -> T + 'static,
) -> Option<Decoder<T>>
where
    E::TypeReader: 'static,
{
    if *dtype == E::default_dtype() {
        // As this machine keeps them.
        return Some(Box::new(move |block, values| {
            values.clear();
            let elements = block.chunks_exact(size_of::<E>());
            values.extend(elements.map(|e| convert(bytemuck::pod_read_unaligned(e))));
        }));
    }
    foreign_decoder(dtype, convert)
}

/// [`decoder`] for any order of bytes.
fn foreign_decoder<E: Deserialize + 'static, T: 'static>(
    dtype: &DType,
    convert: impl Fn(E) -> T + 'static,
) -> Option<Decoder<T>>
where
    E::TypeReader: 'static,
{
    let reader = E::reader(dtype).ok()?;
    let size = dtype.num_bytes()?;
    Some(Box::new(move |block, values| {
        values.clear();
        // A block holds whole elements, so none fails to be read.
        let elements = block
            .chunks_exact(size)
            .map_while(|e| reader.read_one(e).ok());
        values.extend(elements.map(&convert));
    }))
}

/// A decoder of any numbers as f64.
pub(super) fn doubles(dtype: &DType) -> Option<Decoder<f64>> {
    decoder(dtype, |value: f64| value)
        .or_else(|| decoder(dtype, |value: u8| f64::from(value)))
        .or_else(|| decoder(dtype, |value: i8| f64::from(value)))
        .or_else(|| decoder(dtype, |value: u16| f64::from(value)))
        .or_else(|| decoder(dtype, |value: i16| f64::from(value)))
        .or_else(|| decoder(dtype, |value: u32| f64::from(value)))
        .or_else(|| decoder(dtype, |value: i32| f64::from(value)))
        .or_else(|| decoder(dtype, |value: u64| value as f64))
        .or_else(|| decoder(dtype, |value: i64| value as f64))
}

/// A decoder of any numbers or booleans as labels.
fn cells(dtype: &DType) -> Option<Decoder<Cell<'static>>> {
    foreign_decoder(dtype, Cell::Boolean)
        .or_else(|| decoder(dtype, |value: u8| Cell::Integer(value.into())))
        .or_else(|| decoder(dtype, |value: i8| Cell::Integer(value.into())))
        .or_else(|| decoder(dtype, |value: u16| Cell::Integer(value.into())))
        .or_else(|| decoder(dtype, |value: i16| Cell::Integer(value.into())))
        .or_else(|| decoder(dtype, |value: u32| Cell::Integer(value.into())))
        .or_else(|| decoder(dtype, |value: i32| Cell::Integer(value.into())))
        .or_else(|| {
            decoder(dtype, |value: u64| match i64::try_from(value) {
                Ok(value) => Cell::Integer(value),
                Err(_) => Cell::Float(value as f64),
            })
        })
        .or_else(|| decoder(dtype, Cell::Integer))
        .or_else(|| decoder(dtype, |value: f16| Cell::element(value)))
        .or_else(|| decoder(dtype, |value: f32| Cell::element(value)))
        .or_else(|| decoder(dtype, |value: f64| Cell::element(value)))
}

/// A decoder of any numbers or booleans as the numbers 0 and 1, with [`OTHER_LABEL`] for others.
fn numbers(dtype: &DType) -> Option<Decoder<u8>> {
    foreign_decoder(dtype, |value: bool| u8::from(value))
        .or_else(|| decoder(dtype, |value: u8| value.min(OTHER_LABEL)))
        .or_else(|| decoder(dtype, |value: i8| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: u16| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: i16| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: u32| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: i32| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: u64| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: i64| number(value, 0, 1)))
        .or_else(|| decoder(dtype, |value: f16| number(value, f16::ZERO, f16::ONE)))
        .or_else(|| decoder(dtype, |value: f32| number(value, 0.0, 1.0)))
        .or_else(|| decoder(dtype, |value: f64| number(value, 0.0, 1.0)))
}

pub(super) fn unreadable(file: &str, name: &str, dtype: &DType) -> InputError {
    InputError::new(
        file,
        format!("elements of type {} cannot be read here", dtype.descr()),
    )
    .column(name)
    .remedy("Confidences are f2, f4 or f8; labels are integers, booleans or floats.")
}

/// Reads the header of an array. Returns its length in bytes as well.
pub(super) fn header(
    file: &str,
    name: &str,
    source: &mut dyn Read,
) -> Result<(NpyHeader, u64), InputError> {
    let damaged = |reason: String| InputError::damaged(file, "NumPy", reason).column(name);
    let mut bytes = Vec::new();
    let take = |source: &mut dyn Read, bytes: &mut Vec<u8>, count: usize| {
        let start = bytes.len();
        bytes.resize(start + count, 0);
        contain(|| source.read_exact(&mut bytes[start..])).map_err(damaged)
    };
    take(source, &mut bytes, 10)?;
    let mut length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    if bytes[6] > 1 {
        // Later versions have a length of four bytes.
        take(source, &mut bytes, 2)?;
        length |= usize::from(u16::from_le_bytes([bytes[10], bytes[11]])) << 16;
    }
    if length > LONGEST_HEADER {
        return Err(damaged(format!("a header of {length} bytes")));
    }
    let text = bytes.len();
    take(source, &mut bytes, length)?;
    if !multiplies(&bytes[text..]) || nesting(&bytes[text..]) > DEEPEST_HEADER {
        return Err(damaged("a header that no array has".to_owned()));
    }
    let start = bytes.len() as u64;
    let header = contain(|| NpyHeader::from_reader(Cursor::new(bytes))).map_err(damaged)?;
    Ok((header, start))
}

/// Whether the product of all numbers of a header is below 2⁶⁴, so that the size of the array,
/// which is a product of some of them, is too.
fn multiplies(header: &[u8]) -> bool {
    header
        .split(|byte| !byte.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .try_fold(1u64, |product, digits| {
            let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
            product.checked_mul(number.max(1))
        })
        .is_some()
}

/// How deep a header's brackets are nested.
fn nesting(header: &[u8]) -> usize {
    let mut depth = 0usize;
    let mut deepest = 0;
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}
