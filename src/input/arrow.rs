//! Arrow IPC files and streams.

use std::io::Read;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::arrow_messages::{Encoded, Messages};
use super::frame::{Frame, Piece, choose, is_text};
use super::{InputError, Loaded, Options};

/// The format, for messages.
const FORMAT: &str = "Arrow";

/// The most rows of a piece.
const PIECE_ROWS: usize = 1 << 16;

/// How many rows and bytes of a file are in memory at a time for each thread, twice, but for the rest of
/// a record batch.
const SHARE_ROWS: usize = 1 << 18;
const SHARE_BYTES: usize = 1 << 22;

/// Reads an Arrow IPC file, which is a stream with a footer.
pub(super) fn read_file(
    file: &str,
    source: impl Read + Send,
    options: &Options,
) -> Result<Loaded, InputError> {
    let (mut messages, loaded) = read_messages(file, Messages::open_file(source), options)?;
    messages
        .check_footer()
        .map_err(|reason| InputError::damaged(file, FORMAT, reason))?;
    Ok(loaded)
}

/// Reads an Arrow IPC stream.
pub(super) fn read_stream(
    file: &str,
    source: impl Read + Send,
    options: &Options,
) -> Result<Loaded, InputError> {
    let (messages, mut loaded) = read_messages(file, Messages::open(source), options)?;
    if !messages.has_end_marker() {
        loaded
            .notes
            .push("the Arrow stream has no end marker; it may be cut off".to_owned());
    }
    Ok(loaded)
}

fn read_messages<R: Read + Send>(
    file: &str,
    opened: Result<Messages<R>, String>,
    options: &Options,
) -> Result<(Messages<R>, Loaded), InputError> {
    let damaged = |reason| InputError::damaged(file, FORMAT, reason);
    let mut messages = opened.map_err(damaged)?;
    let schema = messages.schema();
    let mut notes = Vec::new();
    let (places, columns) = choose(file, &schema, options, &mut notes)?.alone();
    let schema = schema
        .project(&places)
        .map_err(|error| damaged(error.to_string()))?;
    let frame = Frame {
        file,
        format: FORMAT,
        columns,
        rows: 0,
    };
    let rounds = || {
        let batches = next_round(&mut messages);
        let decoded = batches
            .into_par_iter()
            .with_max_len(1)
            .map(|batch| batch?.decode(&places))
            .collect::<Vec<_>>();
        let pieces = decoded.into_iter().flat_map(cut).collect::<Vec<_>>();
        (!pieces.is_empty()).then_some(pieces)
    };
    let loaded = frame.read(&schema, rounds, options, notes)?;
    Ok((messages, loaded))
}

/// The next record batches, a share for each thread; none after the last, or after one that cannot be
/// read.
fn next_round(messages: &mut Messages<impl Read>) -> Vec<Result<Encoded, String>> {
    let threads = rayon::current_num_threads();
    let (mut rows, mut bytes) = (0, 0);
    let mut round = Vec::new();
    while rows < threads.saturating_mul(SHARE_ROWS) && bytes < threads.saturating_mul(SHARE_BYTES) {
        let Some(batch) = messages.next().transpose() else {
            break;
        };
        if let Ok(batch) = &batch {
            rows = batch.rows().saturating_add(rows);
            bytes += batch.bytes();
        }
        let failed = batch.is_err();
        round.push(batch);
        if failed {
            break;
        }
    }
    round
}

/// A record batch or a part of one, or why there is none.
type Decoded = Result<RecordBatch, String>;

impl Piece for Decoded {
    fn rows(&self) -> usize {
        self.as_ref().map_or(0, RecordBatch::num_rows)
    }

    fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, String>> {
        std::iter::once(self.clone())
    }
}

/// A record batch in pieces.
fn cut(batch: Decoded) -> Vec<Decoded> {
    match batch {
        Ok(batch)
            if batch
                .columns()
                .iter()
                .all(|column| is_flat(column.data_type())) =>
        {
            let starts = (0..batch.num_rows()).step_by(PIECE_ROWS);
            let length = |start| PIECE_ROWS.min(batch.num_rows() - start);
            starts
                .map(|start| Ok(batch.slice(start, length(start))))
                .collect()
        }
        whole => vec![whole],
    }
}

/// Whether the cost of converting a slice of such a column is that of its rows. A slice of lists
/// keeps the values of all of them.
fn is_flat(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_flat(values),
        DataType::Boolean | DataType::Null => true,
        other => other.is_primitive() || is_text(other),
    }
}
