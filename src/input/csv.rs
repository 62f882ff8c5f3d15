//! Comma- and tab-separated files with a header line.

#[cfg(test)]
mod tests;

use std::io::Read;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::blocks::{Blocks, Ends, Sizes};
use super::cell::{Cell, Reading};
use super::columns::Columns;
use super::decimal::short_decimal;
use super::door::Door;
use super::low_bytes::LowBytes;
use super::pieces::admit_pieces;
use super::quotes::{OddQuote, Records};
use super::{InputError, Loaded, Options};
use crate::predictions::Confidence;

/// Reads a file whose fields stand between `delimiter`s, on all threads. Confidences are read as f64.
pub(super) fn read(
    file: &str,
    source: impl Read + Send,
    delimiter: u8,
    options: &Options,
    sizes: Sizes,
) -> Result<Loaded, InputError> {
    let mut blocks = Blocks::new(source, Ends::Csv(delimiter), sizes);
    let (header, first) = loop {
        let Some(mut block) = blocks.next() else {
            return Err(match blocks.take_failure() {
                Some(error) => InputError::io(file, &error),
                None => InputError::empty(file),
            });
        };
        // A block of nothing but empty lines has no header.
        if let Some((header, length)) = Header::read(file, block.text(), delimiter)? {
            block.pass(length);
            break (header, block);
        }
    };
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &header.names, options, &mut notes)
        .map_err(|error| header.explain(error))?;
    let mut door = Door::<f64>::new(file, options, &columns, &header.names, 0);
    admit_pieces(file, &mut door, first, &mut blocks, |piece, door| {
        if piece.contains(&b'"') {
            admit_quoted(piece, &header, &columns, door)
        } else {
            admit_plain(piece, &header, &columns, door)
        }
    })?;
    door.finish(notes)
}

/// Admits the records of a text without quotes, where every line is a record and every delimiter
/// stands between fields. An empty line is no record.
fn admit_plain(
    text: &[u8],
    header: &Header<'_>,
    columns: &Columns,
    door: &mut Door<'_, f64>,
) -> Result<(), InputError> {
    let mut ends = Vec::with_capacity(header.names.len());
    let mut start = 0;
    // The last line may end with the text.
    for end in LowBytes::new(text, header.delimiter.max(b'\r')).chain([text.len()]) {
        match text.get(end) {
            Some(&byte) if byte == header.delimiter => {
                ends.push(end);
                continue;
            }
            None | Some(b'\n' | b'\r') => {}
            Some(_) => continue,
        }
        if end > start {
            ends.push(end);
            let field = |place: usize| {
                let start = place
                    .checked_sub(1)
                    .map_or(start, |before| ends[before] + 1);
                &text[start..ends[place]]
            };
            admit_record(ends.len(), field, header, columns, door)?;
            ends.clear();
        }
        start = end + 1;
    }
    Ok(())
}

/// Admits the records of a text with quotes.
fn admit_quoted(
    text: &[u8],
    header: &Header<'_>,
    columns: &Columns,
    door: &mut Door<'_, f64>,
) -> Result<(), InputError> {
    let mut records = Records::new(text, header.delimiter);
    while records
        .next()
        .map_err(|quote| header.odd_quote(door.row(), quote))?
    {
        let field = |place| records.field(place);
        admit_record(records.fields(), field, header, columns, door)?;
    }
    Ok(())
}

/// Admits a record of so many fields.
#[inline]
fn admit_record<'t>(
    fields: usize,
    field: impl Fn(usize) -> &'t [u8],
    header: &Header<'_>,
    columns: &Columns,
    door: &mut Door<'_, f64>,
) -> Result<(), InputError> {
    let row = door.row();
    if fields != header.names.len() {
        return Err(header.ragged(row, fields));
    }
    let text = |place| header.text(row, place, field(place));
    for &place in &columns.groups {
        door.group(Some(text(place)?));
    }
    let label = match columns.label {
        None => Cell::Missing,
        Some(place) => match field(place) {
            // Almost every label.
            b"0" => Cell::Integer(0),
            b"1" => Cell::Integer(1),
            _ => Cell::text(text(place)?),
        },
    };
    let confidence = match short_decimal(field(columns.confidence)) {
        Some(value) if value.is_valid() => Reading::Number(value),
        _ => {
            let text = text(columns.confidence)?;
            match text.parse::<f64>() {
                Ok(value) if value.is_valid() => Reading::Number(value),
                // For a message that shows it as it is written.
                _ => Reading::Text(text),
            }
        }
    };
    door.admit(confidence, label);
    Ok(())
}

/// What the first record says.
pub(super) struct Header<'a> {
    file: &'a str,
    delimiter: u8,
    pub(super) names: Vec<String>,
}

impl<'a> Header<'a> {
    /// Reads the header of a text. Returns its length in bytes as well; none if there is no record.
    fn read(
        file: &'a str,
        text: &[u8],
        delimiter: u8,
    ) -> Result<Option<(Self, usize)>, InputError> {
        let mut reader = decoder(text, delimiter);
        let header = Header::read_from(file, &mut reader, delimiter)?;
        // The decoder read from memory, whose length fits.
        Ok(header.map(|header| (header, reader.position().byte() as usize)))
    }

    fn read_from(
        file: &'a str,
        reader: &mut Reader<impl Read>,
        delimiter: u8,
    ) -> Result<Option<Self>, InputError> {
        let mut record = ByteRecord::new();
        if !reader
            .read_byte_record(&mut record)
            .map_err(|error| failed(file, &error))?
        {
            return Ok(None);
        }
        let mut names = Vec::with_capacity(record.len());
        for name in &record {
            let name = std::str::from_utf8(name).map_err(|_| {
                InputError::new(file, "the header is not UTF-8").remedy("Save the file as UTF-8.")
            })?;
            names.push(name.trim().to_owned());
        }
        Ok(Some(Header {
            file,
            delimiter,
            names,
        }))
    }

    /// A field as text.
    #[inline]
    fn text<'t>(&self, row: u64, place: usize, field: &'t [u8]) -> Result<&'t str, InputError> {
        std::str::from_utf8(field).map_err(|_| {
            InputError::new(self.file, "the text is not UTF-8")
                .row(row)
                .column(self.names[place].as_str())
                .value(String::from_utf8_lossy(field))
                .remedy("Save the file as UTF-8.")
        })
    }

    /// Why a record with such a quote is refused: it may have swallowed the records after it.
    fn odd_quote(&self, row: u64, quote: OddQuote) -> InputError {
        let (what, remedy) = match quote {
            OddQuote::Unclosed => (
                "a quote opens a field and is never closed, so that all after it is one field",
                "Close it, or write the field as \"...\" with each quote inside of it twice.",
            ),
            OddQuote::TextBehind => (
                "text stands behind a quote that closes a field",
                "Write a quote inside of a field twice, and the field as \"...\"; or an earlier \
                 quote is not meant to open this field.",
            ),
        };
        InputError::new(self.file, what).row(row).remedy(remedy)
    }

    /// Why a record of so many fields is refused.
    fn ragged(&self, row: u64, fields: usize) -> InputError {
        let columns = self.names.len();
        let error = InputError::new(
            self.file,
            format!(
                "{fields} {} where the header has {columns}",
                if fields == 1 { "field" } else { "fields" }
            ),
        )
        .row(row);
        if fields > columns && self.delimiter == b',' {
            error.remedy("If decimals are written with a comma, write them with a point.")
        } else {
            error.remedy("Mend the row; it may be cut off.")
        }
    }

    /// What may be the reason that no columns were found in the header.
    fn explain(&self, error: InputError) -> InputError {
        if self.names.iter().any(|name| name.parse::<f64>().is_ok()) {
            return InputError::new(
                self.file,
                "the first line is not a header: it holds numbers",
            )
            .value(
                self.names
                    .join(char::from(self.delimiter).to_string().as_str()),
            )
            .remedy("Add a first line that names the columns, such as: confidence,label");
        }
        if self.names.len() == 1 && self.names[0].contains(';') {
            return InputError::new(self.file, "the fields stand between semicolons")
                .remedy("Write the file with commas or tabs, and decimals with a point.");
        }
        error
    }
}

/// A table with a header, read record by record.
pub(super) struct Table<'a, R> {
    pub(super) header: Header<'a>,
    reader: Reader<R>,
    record: ByteRecord,
    row: u64,
}

impl<'a, R: Read> Table<'a, R> {
    /// Reads the header.
    pub(super) fn open(file: &'a str, source: R, delimiter: u8) -> Result<Self, InputError> {
        let mut reader = decoder(source, delimiter);
        let header = Header::read_from(file, &mut reader, delimiter)?
            .ok_or_else(|| InputError::empty(file))?;
        Ok(Table {
            header,
            reader,
            record: ByteRecord::new(),
            row: 0,
        })
    }

    /// Goes to the next record; false after the last.
    pub(super) fn next(&mut self) -> Result<bool, InputError> {
        let more = self
            .reader
            .read_byte_record(&mut self.record)
            .map_err(|error| failed(self.header.file, &error))?;
        self.row += u64::from(more);
        if more && self.record.len() != self.header.names.len() {
            return Err(self.header.ragged(self.row, self.record.len()));
        }
        Ok(more)
    }

    /// A field of the record at hand.
    pub(super) fn field(&self, place: usize) -> Result<&str, InputError> {
        self.header.text(self.row, place, &self.record[place])
    }
}

/// The decoder of records, whatever their lengths: those are reported here, with more to say than it
/// has.
fn decoder<R: Read>(source: R, delimiter: u8) -> Reader<R> {
    ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(source)
}

fn failed(file: &str, error: &csv::Error) -> InputError {
    match error.kind() {
        ErrorKind::Io(error) => InputError::io(file, error),
        _ => InputError::damaged(file, "CSV", error),
    }
}
