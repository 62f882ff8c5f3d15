//! Comma- and tab-separated files with a header line.

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
                None => InputError::new(file, "the file is empty"),
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
            .ok_or_else(|| InputError::new(file, "the file is empty"))?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// The first quote of a text that cannot be meant, and its place, byte by byte.
    fn odd_quote(text: &[u8], delimiter: u8) -> Option<(usize, OddQuote)> {
        let mut quoted = false;
        // Where a quote opens: at the beginning of a field, and right behind a quote that closed.
        let (mut field, mut behind) = (0, 0);
        let mut opened = 0;
        for (place, &byte) in text.iter().enumerate() {
            if byte == b'"' && quoted {
                quoted = false;
                behind = place + 1;
                let mut after = text[behind..].iter();
                let after = after.find(|&&byte| byte == delimiter || !b" \t".contains(&byte));
                if !after.is_none_or(|&after| after == delimiter || b"\"\n\r".contains(&after)) {
                    return Some((place, OddQuote::TextBehind));
                }
            } else if byte == b'"' {
                quoted = place == field || place == behind;
                opened = place;
            } else if !quoted && (byte == delimiter || b"\n\r".contains(&byte)) {
                field = place + 1;
            }
        }
        quoted.then_some((opened, OddQuote::Unclosed))
    }

    /// From record to record through one decoder and one door.
    fn read_in_order(
        file: &str,
        text: &[u8],
        delimiter: u8,
        options: &Options,
    ) -> Result<Loaded, InputError> {
        let mut table = Table::open(file, text, delimiter)?;
        let mut notes = Vec::new();
        let columns = Columns::choose(file, &table.header.names, options, &mut notes)
            .map_err(|error| table.header.explain(error))?;
        let mut door = Door::<f64>::new(file, options, &columns, &table.header.names, 0);
        let odd = odd_quote(text, delimiter);
        loop {
            let more = table.next();
            if let Some((place, quote)) = odd
                && table.reader.position().byte() > place as u64
            {
                return Err(table.header.odd_quote(table.row, quote));
            }
            if !more? {
                break;
            }
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

    const CONFIDENCES: [&[u8]; 8] = [
        b"0.5",
        b"0.25",
        b"1",
        b"-0.0",
        b"0.8729068260068235",
        b"1e-3",
        b" .75 ",
        b"0.12345678901234567890",
    ];
    const ODD_CONFIDENCES: [&[u8]; 16] = [
        b"",
        b"NA",
        b"nan",
        b"1.5",
        b"-3",
        b"inf",
        b"x",
        b"0,5",
        b"50%",
        b"\"0.5\"",
        b"\"0.5\n\"",
        b"\"\"\"",
        b"0.5\"",
        b"\xef\xbb\xbf0.5",
        b"\xff",
        b"\"",
    ];
    const LABELS: [[&[u8]; 4]; 3] = [
        [b"0", b"1", b"1.0", b"true"],
        [b"1", b"-1", b"1", b"-1"],
        [b"spam", b"ham", b"eggs", b"0"],
    ];
    const ODD_LABELS: [&[u8]; 8] = [b"", b"2", b"-1", b"NaN", b"\"1\"", b"1\"\"", b"\xff", b"0,"];
    const GROUPS: [&[u8]; 4] = [b"a", b"b", b"10", b"9"];
    const ODD_GROUPS: [&[u8]; 8] = [
        b"",
        b"\"x\r\ny\"",
        b"\"a,\tb\"",
        b"a\"b",
        b"\"a\"\"b\"c",
        b"a b",
        b"\xef\xbb\xbfa",
        b"\xff",
    ];
    const LINE_ENDS: [&[u8]; 4] = [b"\n", b"\r\n", b"\r", b"\n\r\n\n"];

    prop_compose! {
        /// A file of which so many rows in a hundred are odd.
        fn file()(
            odd_in_hundred in prop::sample::select(vec![0u8, 2, 10, 50]),
            labels in prop::sample::select(LABELS.to_vec()),
            line_end in prop::sample::select(vec![0, 0, 0, 1, 2, 3]),
            delimiter in prop::sample::select(b",\t".to_vec()),
            byte_order_mark in prop::bool::weighted(0.1),
            ends in prop::bool::ANY,
            rows in prop::collection::vec(any::<[u8; 6]>(), 0..60),
        ) -> (Vec<u8>, u8) {
            let mut text = Vec::new();
            if byte_order_mark {
                text.extend(b"\xef\xbb\xbf");
            }
            text.extend([b"g".as_slice(), b"p", b"y"].join(&delimiter));
            for [odd, column, group, confidence, label, end] in rows {
                let odd = odd % 100 < odd_in_hundred;
                let pick = |of: usize, usual: &[&'static [u8]], others: &[&'static [u8]], at: u8| {
                    let from = if odd && usize::from(column) % 4 == of { others } else { usual };
                    from[usize::from(at) % from.len()]
                };
                let fields = [
                    pick(0, &GROUPS, &ODD_GROUPS, group),
                    pick(1, &CONFIDENCES, &ODD_CONFIDENCES, confidence),
                    pick(2, &labels, &ODD_LABELS, label),
                ];
                text.extend(pick(3, &LINE_ENDS[line_end..=line_end], &LINE_ENDS, end));
                text.extend(fields.join(&delimiter));
            }
            if ends {
                text.extend(LINE_ENDS[line_end]);
            }
            (text, delimiter)
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn pieces_of_any_size_read_as_the_whole(
            (text, delimiter) in file(),
            skip_missing: bool,
            grouped: bool,
            positive in prop::option::weighted(0.3, prop::sample::select(vec!["spam", "1", "2"])),
            block in 1usize..300,
            piece in 1usize..100,
        ) {
            let options = Options {
                group_by: grouped.then(|| "g".to_owned()).into_iter().collect(),
                positive: positive.map(str::to_owned),
                skip_missing,
                ..Options::default()
            };
            let expected = read_in_order("f.csv", &text, delimiter, &options);
            for sizes in [Sizes { block, piece }, Sizes::usual()] {
                let read = read("f.csv", text.as_slice(), delimiter, &options, sizes);
                prop_assert_eq!(&read, &expected, "{}", String::from_utf8_lossy(&text));
            }
        }
    }
}
