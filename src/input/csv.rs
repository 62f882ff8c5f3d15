//! Comma- and tab-separated files with a header line.

use std::io::Read;

use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};

use super::cell::{Cell, Reading};
use super::columns::Columns;
use super::door::Door;
use super::{InputError, Loaded, Options};

/// Reads a file whose fields stand between `delimiter`s. Confidences are read as f64.
pub(super) fn read(
    file: &str,
    source: impl Read,
    delimiter: u8,
    options: &Options,
) -> Result<Loaded, InputError> {
    let mut table = Table::open(file, source, delimiter)?;
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &table.names, options, &mut notes)
        .map_err(|error| table.explain(error))?;
    let mut door = Door::<f64>::new(file, options, &columns, &table.names, 0);
    while table.next()? {
        for &place in &columns.groups {
            door.group(Some(table.field(place)?));
        }
        let label = match columns.label {
            Some(place) => Cell::text(table.field(place)?),
            None => Cell::Missing,
        };
        door.admit(Reading::Text(table.field(columns.confidence)?), label);
    }
    door.finish(notes)
}

/// A table with a header, read record by record.
pub(super) struct Table<'a, R> {
    file: &'a str,
    delimiter: u8,
    reader: Reader<R>,
    pub(super) names: Vec<String>,
    record: ByteRecord,
    row: u64,
}

impl<'a, R: Read> Table<'a, R> {
    /// Reads the header.
    pub(super) fn open(file: &'a str, source: R, delimiter: u8) -> Result<Self, InputError> {
        // Records of another length are reported here, with more to say than the decoder has.
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter)
            .flexible(true)
            .has_headers(false)
            .from_reader(source);
        let mut record = ByteRecord::new();
        if !reader
            .read_byte_record(&mut record)
            .map_err(|error| failed(file, &error))?
        {
            return Err(InputError::new(file, "the file is empty"));
        }
        let mut names = Vec::with_capacity(record.len());
        for name in &record {
            let name = std::str::from_utf8(name).map_err(|_| {
                InputError::new(file, "the header is not UTF-8").remedy("Save the file as UTF-8.")
            })?;
            names.push(name.trim().to_owned());
        }
        Ok(Table {
            file,
            delimiter,
            reader,
            names,
            record,
            row: 0,
        })
    }

    /// Goes to the next record; false after the last.
    pub(super) fn next(&mut self) -> Result<bool, InputError> {
        let more = self
            .reader
            .read_byte_record(&mut self.record)
            .map_err(|error| failed(self.file, &error))?;
        self.row += u64::from(more);
        if more && self.record.len() != self.names.len() {
            return Err(self.ragged());
        }
        Ok(more)
    }

    /// A field of the record at hand.
    pub(super) fn field(&self, place: usize) -> Result<&str, InputError> {
        std::str::from_utf8(&self.record[place]).map_err(|_| {
            InputError::new(self.file, "the text is not UTF-8")
                .row(self.row)
                .column(self.names[place].as_str())
                .value(String::from_utf8_lossy(&self.record[place]))
                .remedy("Save the file as UTF-8.")
        })
    }

    fn ragged(&self) -> InputError {
        let (fields, columns) = (self.record.len(), self.names.len());
        let error = InputError::new(
            self.file,
            format!("{fields} fields where the header has {columns}"),
        )
        .row(self.row);
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

fn failed(file: &str, error: &csv::Error) -> InputError {
    match error.kind() {
        ErrorKind::Io(error) => InputError::io(file, error),
        _ => InputError::damaged(file, "CSV", error),
    }
}
