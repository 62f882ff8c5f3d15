//! Parquet files.

use std::fs::File;

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder};
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::ChunkReader;

use super::arrow::{Frame, choose};
use super::columns::Columns;
use super::contain::contain;
use super::source::Store;
use super::{InputError, Loaded, Options};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 14;

/// Reads a Parquet file, none but the columns that are needed.
pub(super) fn read(file: &str, store: Store, options: &Options) -> Result<Loaded, InputError> {
    let mut notes = Vec::new();
    let opened = match store {
        Store::File(path) => {
            let source = File::open(path).map_err(|error| InputError::io(file, &error))?;
            open(file, source, options, &mut notes)?
        }
        Store::Memory(bytes) => in_memory(
            file,
            bytes.into_bytes(),
            File::get_bytes,
            options,
            &mut notes,
        )?,
    };
    let Opened {
        mut reader,
        columns,
        rows,
    } = opened;
    let schema = arrow_array::RecordBatchReader::schema(&reader);
    let batches = std::iter::from_fn(|| contain(|| reader.next().transpose()).transpose());
    let frame = Frame {
        file,
        format: "Parquet",
        columns,
        rows,
    };
    frame.read(&schema, batches, options, notes)
}

struct Opened {
    reader: ParquetRecordBatchReader,
    columns: Columns,
    rows: u64,
}

/// Opens bytes in memory as `B`, the type that any chunk of a file has. It is named by a function
/// that returns it, because its crate is no dependency of this one.
fn in_memory<B: ChunkReader + From<Vec<u8>> + 'static>(
    file: &str,
    bytes: Vec<u8>,
    _type: fn(&File, u64, usize) -> ParquetResult<B>,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Opened, InputError> {
    open(file, B::from(bytes), options, notes)
}

fn open<S: ChunkReader + 'static>(
    file: &str,
    source: S,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<Opened, InputError> {
    let damaged = |reason| InputError::damaged(file, "Parquet", reason);
    let builder = contain(|| ParquetRecordBatchReaderBuilder::try_new(source)).map_err(damaged)?;
    let columns = choose(file, builder.schema(), options, notes)?;
    // Column places among those read: they keep their order.
    let mut places = columns.groups.clone();
    places.push(columns.confidence);
    places.extend(columns.label);
    places.sort_unstable();
    places.dedup();
    let mask = ProjectionMask::roots(builder.parquet_schema(), places.iter().copied());
    let place = |column: usize| places.partition_point(|&place| place < column);
    let rows = builder.metadata().file_metadata().num_rows();
    let reader = contain(|| {
        builder
            .with_projection(mask)
            .with_batch_size(BATCH_ROWS)
            .build()
    })
    .map_err(damaged)?;
    Ok(Opened {
        reader,
        columns: Columns {
            confidence: place(columns.confidence),
            label: columns.label.map(place),
            groups: columns.groups.iter().map(|&column| place(column)).collect(),
        },
        rows: u64::try_from(rows).unwrap_or(0),
    })
}
