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

/// How much of a file there is at a time.
#[derive(Clone, Copy)]
struct Sizes {
    /// The most rows of a piece: what one thread reads at a time.
    piece: usize,
    /// Rows for each thread that are in memory at a time, twice, but for the rest of a record batch.
    rows: usize,
    /// The same in bytes, as they are in the file.
    bytes: usize,
}

const USUAL: Sizes = Sizes {
    piece: 1 << 16,
    rows: 1 << 18,
    bytes: 1 << 22,
};

/// Reads an Arrow IPC file, which is a stream with a footer.
pub(super) fn read_file(
    file: &str,
    source: impl Read + Send,
    options: &Options,
) -> Result<Loaded, InputError> {
    let opened = Messages::open_file(source);
    let (mut messages, loaded) = read_messages(file, opened, options, USUAL)?;
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
    let (messages, mut loaded) = read_messages(file, Messages::open(source), options, USUAL)?;
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
    sizes: Sizes,
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
    let mut has_failed = false;
    let rounds = || {
        // Behind a message that cannot be read nothing has a meaning.
        if has_failed {
            return None;
        }
        let batches = next_round(&mut messages, sizes);
        has_failed = batches.iter().any(Result::is_err);
        if batches.is_empty() {
            return None;
        }
        let decoded = batches
            .into_par_iter()
            .with_max_len(1)
            .map(|batch| batch?.decode(&places))
            .collect::<Vec<_>>();
        let pieces = decoded
            .into_iter()
            .flat_map(|batch| cut(batch, sizes.piece));
        Some(pieces.collect())
    };
    let loaded = frame.read(&schema, rounds, options, notes)?;
    Ok((messages, loaded))
}

/// The next record batches, a share for each thread, up to one that cannot be read; none after the last.
fn next_round(messages: &mut Messages<impl Read>, sizes: Sizes) -> Vec<Result<Encoded, String>> {
    let threads = rayon::current_num_threads();
    let (mut rows, mut bytes) = (0, 0);
    let mut round = Vec::new();
    while rows < threads.saturating_mul(sizes.rows) && bytes < threads.saturating_mul(sizes.bytes) {
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

/// A record batch in pieces of at most so many rows.
fn cut(batch: Decoded, rows: usize) -> Vec<Decoded> {
    match batch {
        Ok(batch)
            if batch
                .columns()
                .iter()
                .all(|column| is_flat(column.data_type())) =>
        {
            let starts = (0..batch.num_rows()).step_by(rows);
            let length = |start| rows.min(batch.num_rows() - start);
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use arrow_ipc::CompressionType;
    use arrow_ipc::reader::StreamReader;
    use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::frame::samples::{options, pools, read_in_order, table};
    use super::*;

    /// A file or a stream of record batches of these numbers of rows, the last one of those left.
    fn write(
        table: &RecordBatch,
        rows: &[usize],
        compression: Option<CompressionType>,
        stream: bool,
    ) -> Vec<u8> {
        let options = IpcWriteOptions::default()
            .try_with_compression(compression)
            .unwrap();
        let mut start = 0;
        let mut batches = Vec::new();
        for &rows in rows {
            let rows = rows.min(table.num_rows() - start);
            batches.push(table.slice(start, rows));
            start += rows;
        }
        batches.push(table.slice(start, table.num_rows() - start));
        let (mut bytes, schema) = (Vec::new(), table.schema());
        if stream {
            let mut writer =
                StreamWriter::try_new_with_options(&mut bytes, &schema, options).unwrap();
            batches
                .iter()
                .for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        } else {
            let mut writer =
                FileWriter::try_new_with_options(&mut bytes, &schema, options).unwrap();
            batches
                .iter()
                .for_each(|batch| writer.write(batch).unwrap());
            writer.finish().unwrap();
        }
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 500,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn record_batches_side_by_side_read_as_one_after_the_other(
            table in table(true),
            options in options(),
            rows in prop::collection::vec(0usize..40, 0..8),
            compression in prop::sample::select(vec![
                None,
                Some(CompressionType::LZ4_FRAME),
                Some(CompressionType::ZSTD),
            ]),
            stream: bool,
            // A byte that is changed, and to what.
            damage in prop::option::weighted(0.2, (any::<prop::sample::Index>(), 1u8..)),
            (piece, share_rows, bytes) in (1usize..50, 1usize..100, 1usize..4000),
        ) {
            let mut bytes_of_file = write(&table, &rows, compression, stream);
            let plain = write(&table, &rows, None, true);
            let expected = StreamReader::try_new(plain.as_slice(), None).unwrap();
            let expected = read_in_order("f", FORMAT, &table.schema(), expected, &options);
            if let Some((place, change)) = damage {
                let place = place.index(bytes_of_file.len());
                bytes_of_file[place] ^= change;
            }
            let sizes = Sizes { piece, rows: share_rows, bytes };
            let read = |sizes| {
                let source = bytes_of_file.as_slice();
                if stream {
                    read_messages("f", Messages::open(source), &options, sizes)
                } else {
                    read_messages("f", Messages::open_file(source), &options, sizes)
                }
            };
            let mut outcomes = HashMap::new();
            for pool in pools() {
                for sizes in [sizes, USUAL] {
                    let read = pool.install(|| read(sizes).map(|(_, loaded)| loaded));
                    if damage.is_none() {
                        prop_assert_eq!(&read, &expected);
                    }
                    // What is damaged is the same on any number of threads.
                    let read = format!("{read:?}");
                    *outcomes.entry(read).or_insert(0) += 1;
                }
            }
            prop_assert_eq!(outcomes.len(), 1, "{:?}", outcomes);
        }
    }
}
