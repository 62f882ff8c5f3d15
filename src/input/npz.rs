//! NumPy archives: `.npz` files.

use std::io::{BufReader, Cursor, Read};

use npyz::Order;
use npyz::npz::{NpzArchive, file_name_from_array_name};

use super::array::{Array, Bytes, header};
use super::columns::Columns;
use super::contain::contain;
use super::labels_file::LabelSource;
use super::source::{ReadSeek, Store};
use super::{InputError, Loaded, Options};

type Archive = NpzArchive<BufReader<Box<dyn ReadSeek>>>;

/// Reads one array as confidences or as a probability matrix, and another as labels.
pub(super) fn read(file: &str, store: &Store, options: &Options) -> Result<Loaded, InputError> {
    if !options.group_by.is_empty() {
        return Err(
            InputError::new(file, "--group-by names a column, but an array has none")
                .remedy("Write the data as CSV, Parquet, Arrow or JSON Lines."),
        );
    }
    let mut archive = open(file, store)?;
    let mut names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    names.sort();
    if names.is_empty() {
        return Err(InputError::new(file, "a zip archive without NumPy arrays")
            .remedy("An .npz file holds members named NAME.npy."));
    }
    let mut notes = Vec::new();
    let columns = Columns::choose(file, &names, options, &mut notes)?;
    let probabilities = member(file, &names[columns.confidence], &mut archive)?;
    if probabilities.width == 2 {
        notes.push(format!(
            "the two columns of `{}` are read as the probabilities of two classes",
            names[columns.confidence]
        ));
    }
    match (columns.label, &options.labels_file) {
        (Some(label), _) => {
            // Both arrays are read side by side, each through a reader of its own.
            let mut archive = open(file, store)?;
            let name = &names[label];
            let mut labels =
                LabelSource::array(name, member(file, name, &mut archive)?.into_labels()?);
            probabilities.load(Some(&mut labels), options, notes)
        }
        (None, Some(path)) => {
            let mut labels = LabelSource::open(path, options)?;
            probabilities.load(Some(&mut labels), options, notes)
        }
        (None, None) if options.confidences_only => probabilities.load(None, options, notes),
        // Without a file of labels a label column is chosen or it is an error.
        (None, None) => Err(InputError::new(file, "there are no labels")
            .remedy("Name an array of them with --label, or a file with --labels.")),
    }
}

fn open(file: &str, store: &Store) -> Result<Archive, InputError> {
    let source = store.open().map_err(|error| InputError::io(file, &error))?;
    contain(|| NpzArchive::new(BufReader::new(source)))
        .map_err(|reason| InputError::damaged(file, "npz", reason))
}

fn member<'a>(
    file: &'a str,
    name: &str,
    archive: &'a mut Archive,
) -> Result<Array<'a>, InputError> {
    let damaged = |reason: String| InputError::damaged(file, "npz", reason).column(name);
    let mut entry = contain(|| {
        archive
            .zip_archive()
            .by_name(&file_name_from_array_name(name))
    })
    .map_err(damaged)?;
    let (header, _) = header(file, name, &mut entry)?;
    let bytes = if header.order() == Order::Fortran && header.shape().len() > 1 {
        // Columns of a compressed array cannot be read side by side.
        let mut bytes = Vec::new();
        contain(|| entry.read_to_end(&mut bytes)).map_err(damaged)?;
        Bytes::Seek(Box::new(Cursor::new(bytes)), 0)
    } else {
        Bytes::Stream(Box::new(BufReader::new(entry)))
    };
    Array::new(file, name, &header, bytes)
}
