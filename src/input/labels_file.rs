//! Labels in a file of their own (`--labels`), or in an array of their own.

use std::io::Read;
use std::path::Path;

use super::array::{Array, ArrayLabels};
use super::cell::Cell;
use super::columns::{is_label_name, list};
use super::csv::Table;
use super::sniff::{Format, sniff};
use super::source::Stream;
use super::{InputError, Options};

/// Labels, one after the other.
pub(super) struct LabelSource<'a> {
    name: String,
    kind: Kind<'a>,
}

enum Kind<'a> {
    Array(ArrayLabels<'a>),
    Table {
        table: Table<'a, Box<dyn Read>>,
        place: usize,
        /// The first line, if it is a label.
        first: bool,
    },
}

impl<'a> LabelSource<'a> {
    /// The labels of an array with a name.
    pub(super) fn array(name: &str, labels: ArrayLabels<'a>) -> Self {
        LabelSource {
            name: name.to_owned(),
            kind: Kind::Array(labels),
        }
    }

    /// Opens a file of labels: an array, or a text file with one label on each line and no
    /// header, or a table with a header.
    pub(super) fn open(path: &'a Path, options: &Options) -> Result<Self, InputError> {
        let Some(file) = path.to_str() else {
            return Err(InputError::new(
                &path.to_string_lossy(),
                "the name of the file is not UTF-8",
            )
            .remedy("Rename it, or link to it by another name."));
        };
        let failed = |error| InputError::io(file, &error);
        let mut stream = Stream::open(file).map_err(failed)?;
        let mut format = sniff(file, stream.prefix());
        if format == Format::Gzip {
            stream = stream.gunzip().map_err(failed)?;
            format = sniff(file.trim_end_matches(".gz"), stream.prefix());
        }
        let kind = match format {
            Format::Npy => {
                let store = stream.into_store().map_err(failed)?;
                Kind::Array(Array::open(file, &store)?.into_labels()?)
            }
            Format::Csv(delimiter) => {
                let source: Box<dyn Read> = Box::new(stream.into_reader());
                let table = Table::open(file, source, delimiter)?;
                let (place, first) = label_column(file, &table.header.names, options)?;
                Kind::Table {
                    table,
                    place,
                    first,
                }
            }
            Format::Empty => return Err(InputError::empty(file)),
            _ => {
                return Err(
                    InputError::new(file, "labels cannot be read from this format")
                        .remedy("Use an .npy array, or a text file with one label on each line."),
                );
            }
        };
        Ok(LabelSource {
            name: file.to_owned(),
            kind,
        })
    }

    /// The file or array, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The next label; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<Cell<'_>>, InputError> {
        match &mut self.kind {
            Kind::Array(labels) => labels.next(),
            Kind::Table {
                table,
                place,
                first,
            } => {
                if std::mem::take(first) {
                    return Ok(Some(Cell::text(&table.header.names[*place])));
                }
                Ok(if table.next()? {
                    Some(Cell::text(table.field(*place)?))
                } else {
                    None
                })
            }
        }
    }
}

impl LabelSource<'_> {
    /// The next labels of an array, as [`super::door::Door::admit_block`] takes them; none after the
    /// last, and of a table.
    pub(super) fn numbers(&mut self) -> Result<&[u8], InputError> {
        match &mut self.kind {
            Kind::Array(labels) => labels.numbers(),
            Kind::Table { .. } => Ok(&[]),
        }
    }

    /// Passes over labels that were taken as numbers.
    pub(super) fn skip(&mut self, count: usize) {
        if let Kind::Array(labels) = &mut self.kind {
            labels.skip(count);
        }
    }
}

/// The column of labels, and whether the first line is a label already. A single column has a
/// header if that is `--label` or a usual name; if a header is taken for a label, the numbers of
/// rows differ, and that is an error.
fn label_column(
    file: &str,
    names: &[String],
    options: &Options,
) -> Result<(usize, bool), InputError> {
    let named = |name: &String| match &options.label {
        Some(label) => name == label,
        None => is_label_name(name),
    };
    let mut places = (0..names.len()).filter(|&place| named(&names[place]));
    match (places.next(), places.next()) {
        (Some(place), None) => Ok((place, false)),
        (None, _) if names.len() == 1 => Ok((0, true)),
        _ => Err(
            InputError::new(file, "it is not clear which column holds the labels")
                .remedy(format!("Name it with --label. Columns: {}.", list(names))),
        ),
    }
}
