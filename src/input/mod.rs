//! Files of predictions become validated [`Batch`]es.
//!
//! CSV and TSV, JSON Lines (all three also in gzip), Parquet, Arrow IPC files and streams, `.npy`
//! and `.npz` are told apart by their contents, so that standard input works for each. Every value
//! is looked at once, here; what is wrong is an [`InputError`] that says where, and nothing is
//! dropped, clipped or reinterpreted.

mod array;
mod arrow;
mod arrow_messages;
mod blocks;
mod cell;
mod columns;
mod contain;
mod csv;
mod decimal;
mod door;
mod error;
mod frame;
mod group;
mod json_line;
mod jsonl;
mod label;
mod labels_file;
mod low_bytes;
mod merge;
mod npy;
mod npz;
mod parquet;
mod pieces;
mod quotes;
mod sniff;
mod source;

use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) use columns::nearest_first;
pub use error::InputError;
pub use merge::{Merged, merge};

use crate::predictions::{Batch, Reduction};
use blocks::Sizes;
use sniff::{Format, sniff};
use source::Stream;

/// How a row of a probability matrix becomes a confidence (specification, section 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Reduce {
    /// The largest probability, of the lowest class on equality, and whether its class is right.
    #[default]
    TopLabel,
    /// Each class against the rest: one result for each.
    ClassWise,
}

/// What to read of a file, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The column or array of confidences; else it is guessed.
    pub confidence: Option<String>,
    /// The column or array of labels; else it is guessed.
    pub label: Option<String>,
    /// Columns by whose values the rows are cut into groups.
    pub group_by: Vec<String>,
    /// What becomes of probability matrices.
    pub reduce: Reduce,
    /// The label that counts as 1, every other as 0; else labels are 0/1, true/false or -1/1.
    pub positive: Option<String>,
    /// The file of labels, for arrays without their own.
    pub labels_file: Option<PathBuf>,
    /// Whether rows without a confidence or a label are left out and counted, and no error.
    pub skip_missing: bool,
    /// Whether labels are neither looked for nor read; every row then has label 0.
    pub confidences_only: bool,
}

impl Options {
    /// A flag that names a column of the file itself.
    fn names_columns(&self) -> Option<&'static str> {
        if self.confidence.is_some() {
            Some(self.confidence_flag())
        } else if !self.group_by.is_empty() {
            Some("--group-by")
        } else if self.label.is_some() && self.labels_file.is_none() {
            Some("--label")
        } else {
            None
        }
    }

    /// What names the column of confidences.
    fn confidence_flag(&self) -> &'static str {
        if self.confidences_only {
            "empirical:FILE:COLUMN"
        } else {
            "--confidence"
        }
    }
}

/// What a segment of a batch is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// The file, as it was given.
    pub source: String,
    /// The group: column and value.
    pub group: Option<BTreeMap<String, String>>,
    /// How predictions became confidences.
    pub reduction: Reduction,
    /// The class, from 0, with class-wise reduction.
    pub class: Option<usize>,
    /// Rows left out because their confidence or label was missing.
    pub skipped: u64,
}

/// What was read from one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// The rows, group after group in the order of the groups' values, and within a group class
    /// after class.
    pub batch: Batch,
    /// What each segment is.
    pub segments: Vec<SegmentInfo>,
    /// What the user should know, one line each: columns that were guessed, rows whose
    /// probabilities do not sum to 1.
    pub notes: Vec<String>,
}

/// Reads a file; `-` is standard input.
///
/// # Errors
/// If the file cannot be read, has no known format, or holds anything that is not a confidence
/// in \[0, 1\] with its label.
pub fn read(path: &str, options: &Options) -> Result<Loaded, InputError> {
    let failed = |error| InputError::io(path, &error);
    let mut stream = Stream::open(path).map_err(failed)?;
    let mut format = sniff(path, stream.prefix());
    if format == Format::Gzip {
        stream = stream.gunzip().map_err(failed)?;
        let inner = path.strip_suffix(".gz").unwrap_or(path);
        format = sniff(inner, stream.prefix());
    }
    let is_array = matches!(format, Format::Npy | Format::Npz);
    if options.labels_file.is_some() && !is_array && format != Format::Empty {
        return Err(InputError::new(
            path,
            "--labels is for .npy and .npz files; this one has columns",
        )
        .remedy("Name its column of labels with --label."));
    }
    let read = match format {
        Format::Csv(delimiter) => csv::read(
            path,
            stream.into_reader(),
            delimiter,
            options,
            Sizes::usual(),
        ),
        Format::JsonLines => jsonl::read(path, stream.into_reader(), options, Sizes::usual()),
        Format::ArrowStream => arrow::read_stream(path, stream.into_reader(), options),
        Format::ArrowFile => arrow::read_file(path, stream.into_reader(), options),
        Format::Parquet => parquet::read(path, stream.into_store().map_err(failed)?, options),
        Format::Npy => npy::read(path, &stream.into_store().map_err(failed)?, options),
        Format::Npz => npz::read(path, &stream.into_store().map_err(failed)?, options),
        Format::Empty => Err(InputError::empty(path)),
        Format::Gzip => Err(InputError::new(path, "compressed with gzip twice")
            .remedy("Decompress it once, with gunzip.")),
        Format::Unknown(what) => Err(InputError::new(
            path,
            format!("not a readable format: {what}"),
        )
        .remedy("Readable: CSV, TSV, JSON Lines, Parquet, Arrow IPC, .npy, .npz.")),
    };
    read.map(|mut loaded| {
        for note in &mut loaded.notes {
            *note = format!("{}: {note}", error::shown(path));
        }
        loaded
    })
}

/// Reads the confidences of a file as [`read`] does, but no labels. The column is guessed unless it is
/// named.
///
/// # Errors
/// If the file cannot be read, has no known format, or holds anything that is not a confidence
/// in \[0, 1\].
pub fn read_confidences(path: &str, column: Option<&str>) -> Result<Loaded, InputError> {
    let options = Options {
        confidence: column.map(str::to_owned),
        confidences_only: true,
        ..Options::default()
    };
    read(path, &options)
}
