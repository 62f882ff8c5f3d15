//! Parquet files.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
    RowSelectionPolicy, RowSelector,
};
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::ChunkReader;

use super::contain::contain;
use super::frame::{Frame, Piece, choose};
use super::source::Store;
use super::{InputError, Loaded, Options};

/// Rows that are decoded at a time.
const BATCH_ROWS: usize = 1 << 14;

/// How a file is cut into the pieces that one thread reads at a time. A row group is one. Where there are
/// few of them, or large ones, each is several, but no more than needed: pages may be large, and every
/// piece has to pass over those before its own, and over the rows before its own in the first of them.
#[derive(Clone, Copy)]
struct Sizes {
    /// Pieces for each thread that are read side by side.
    pieces: usize,
    /// The least rows of a piece of a row group, but for the last one.
    least: u64,
    /// The most rows of a piece.
    most: u64,
}

const USUAL: Sizes = Sizes {
    pieces: 2,
    least: 1 << 17,
    most: 1 << 22,
};

/// Reads a Parquet file, none but the columns that are needed.
pub(super) fn read(file: &str, store: Store, options: &Options) -> Result<Loaded, InputError> {
    match store {
        Store::File(path) => {
            let disk = Disk::new(path).map_err(|error| InputError::io(file, &error))?;
            read_cut(file, &disk, options, USUAL)
        }
        Store::Memory(bytes) => {
            let memory = Memory::new(bytes.into_bytes(), File::get_bytes);
            read_cut(file, &memory, options, USUAL)
        }
    }
}

/// What can be read by several threads.
trait Source: Send + Sync {
    type Reader: ChunkReader + 'static;

    /// A reader of its own for one thread.
    fn open(&self) -> io::Result<Self::Reader>;
}

/// A file. Readers of one that is open would share its position.
struct Disk {
    path: PathBuf,
    length: u64,
    modified: Option<SystemTime>,
}

impl Disk {
    fn new(path: PathBuf) -> io::Result<Self> {
        let metadata = std::fs::metadata(&path)?;
        Ok(Disk {
            length: metadata.len(),
            // Some systems have no such time.
            modified: metadata.modified().ok(),
            path,
        })
    }
}

impl Source for Disk {
    type Reader = File;

    fn open(&self) -> io::Result<File> {
        let file = File::open(&self.path)?;
        let metadata = file.metadata()?;
        if metadata.len() != self.length || metadata.modified().ok() != self.modified {
            return Err(io::Error::other("it was changed while it was read"));
        }
        Ok(file)
    }
}

/// Bytes in memory as `B`, the type that any chunk of a file has.
struct Memory<B>(B);

impl<B: From<Vec<u8>>> Memory<B> {
    /// The type is named by a function that returns it, because its crate is no dependency of this one.
    fn new(bytes: Vec<u8>, _type: fn(&File, u64, usize) -> ParquetResult<B>) -> Self {
        Memory(B::from(bytes))
    }
}

impl<B: ChunkReader + Clone + 'static> Source for Memory<B> {
    type Reader = B;

    fn open(&self) -> io::Result<B> {
        Ok(self.0.clone())
    }
}

fn read_cut<S: Source>(
    file: &str,
    source: &S,
    options: &Options,
    sizes: Sizes,
) -> Result<Loaded, InputError> {
    let damaged = |reason| InputError::damaged(file, "Parquet", reason);
    let reader = source
        .open()
        .map_err(|error| InputError::io(file, &error))?;
    let metadata =
        contain(|| ArrowReaderMetadata::load(&reader, Default::default())).map_err(damaged)?;
    let mut notes = Vec::new();
    let (places, columns) = choose(file, metadata.schema(), options, &mut notes)?.alone();
    let schema = metadata
        .schema()
        .project(&places)
        .map_err(|error| damaged(error.to_string()))?;
    let rows = metadata.metadata().file_metadata().num_rows();
    let frame = Frame {
        file,
        format: "Parquet",
        columns,
        rows: u64::try_from(rows).unwrap_or(0),
    };
    let groups = Groups {
        source,
        mask: ProjectionMask::roots(metadata.parquet_schema(), places),
        metadata: &metadata,
    };
    let at_once = rayon::current_num_threads().saturating_mul(sizes.pieces);
    let mut pieces = groups.pieces(at_once, sizes);
    let rounds = || {
        let round: Vec<_> = pieces.by_ref().take(at_once).collect();
        (!round.is_empty()).then_some(round)
    };
    frame.read(&schema, rounds, options, notes)
}

/// The row groups of a file.
struct Groups<'a, S> {
    source: &'a S,
    metadata: &'a ArrowReaderMetadata,
    /// The columns that are read.
    mask: ProjectionMask,
}

impl<S: Source> Groups<'_, S> {
    /// The file in pieces, so many of them if it has the rows.
    fn pieces(&self, wanted: usize, sizes: Sizes) -> impl Iterator<Item = Rows<'_, S>> + Send {
        let groups = self.metadata.metadata().row_groups();
        let of_group = wanted.div_ceil(groups.len().max(1)) as u64;
        let mut leaves = self.metadata.parquet_schema().columns().iter().enumerate();
        // A page of lists cannot be passed over undecoded.
        let flat = leaves
            .all(|(leaf, column)| !self.mask.leaf_included(leaf) || column.max_rep_level() == 0);
        (0..groups.len()).flat_map(move |group| {
            // Below zero only if the file is damaged; then it holds more than it says.
            let rows = u64::try_from(groups[group].num_rows()).unwrap_or(0);
            let size = if flat {
                rows.div_ceil(of_group).clamp(sizes.least, sizes.most)
            } else {
                u64::MAX
            };
            // A row group without rows is looked at as well.
            let pieces = rows.div_ceil(size).max(1);
            (0..pieces).map(move |piece| Rows {
                groups: self,
                group,
                before: piece * size,
                rows: size.min(rows - piece * size),
                to_end: piece + 1 == pieces,
            })
        })
    }
}

/// Rows of a row group.
struct Rows<'a, S> {
    groups: &'a Groups<'a, S>,
    /// The row group, from 0.
    group: usize,
    /// Rows of the row group before these.
    before: u64,
    /// How many rows these are, as the file says.
    rows: u64,
    /// Whether these are all that are left of the row group.
    to_end: bool,
}

impl<S: Source> Rows<'_, S> {
    fn reader(&self) -> Result<ParquetRecordBatchReader, String> {
        let source = self
            .groups
            .source
            .open()
            .map_err(|error| error.to_string())?;
        let too_many = |_| "more rows than this machine can count".to_owned();
        let before = usize::try_from(self.before).map_err(too_many)?;
        let rows = usize::try_from(self.rows).map_err(too_many)?;
        contain(|| {
            let metadata = self.groups.metadata.clone();
            let mut builder = ParquetRecordBatchReaderBuilder::new_with_metadata(source, metadata)
                .with_projection(self.groups.mask.clone())
                .with_row_groups(vec![self.group])
                .with_batch_size(BATCH_ROWS);
            if self.to_end && before > 0 {
                // An offset would end with the rows that the row group says it has. One more is asked for,
                // which there must not be.
                let rest = vec![
                    RowSelector::skip(before),
                    RowSelector::select(rows.saturating_add(1)),
                ];
                builder = builder
                    .with_row_selection(rest.into())
                    .with_row_selection_policy(RowSelectionPolicy::Selectors);
            } else if before > 0 {
                builder = builder.with_offset(before);
            }
            if !self.to_end {
                builder = builder.with_limit(rows);
            }
            builder.build()
        })
    }
}

impl<S: Source> Piece for Rows<'_, S> {
    fn rows(&self) -> usize {
        usize::try_from(self.rows).unwrap_or(usize::MAX)
    }

    fn batches(&self) -> impl Iterator<Item = Result<RecordBatch, String>> {
        let mut reader = Some(self.reader());
        let mut read = 0;
        std::iter::from_fn(move || {
            let next = match reader.as_mut()? {
                Ok(reader) => contain(|| reader.next().transpose()),
                Err(reason) => Err(reason.clone()),
            };
            match next {
                Ok(Some(batch)) => {
                    read += batch.num_rows() as u64;
                    Some(Ok(batch))
                }
                Ok(None) if read == self.rows => None,
                // After this nothing is read.
                failed => {
                    reader = None;
                    Some(Err(failed.err().unwrap_or_else(|| {
                        format!(
                            "row group {} says that it holds {} rows behind the first {}, but it holds {read}",
                            self.group + 1, self.rows, self.before
                        )
                    })))
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, UInt8Array};
    use parquet::arrow::ArrowWriter;
    use parquet::basic::{Compression, ZstdLevel};
    use parquet::file::metadata::ParquetMetaDataWriter;
    use parquet::file::properties::{WriterProperties, WriterVersion};
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::frame::samples::{options, pools, read_in_order, table};
    use super::*;

    fn in_order<B: ChunkReader + 'static>(
        source: B,
        options: &Options,
    ) -> Result<Loaded, InputError> {
        let reader = ParquetRecordBatchReaderBuilder::try_new(source).unwrap();
        let schema = reader.schema().clone();
        read_in_order("f", "Parquet", &schema, reader.build().unwrap(), options)
    }

    /// A row group that holds more rows than it says, or fewer, is refused, however it is cut.
    #[test]
    fn row_groups_hold_the_rows_they_say() {
        let confidences = Float64Array::from_iter_values((0..1000).map(|row| f64::from(row) / 1e3));
        let labels = UInt8Array::from_iter_values((0..1000).map(|row| (row % 2) as u8));
        let columns: [(&str, ArrayRef); 2] =
            [("p", Arc::new(confidences)), ("y", Arc::new(labels))];
        let table = RecordBatch::try_from_iter(columns).unwrap();
        let mut bytes = Vec::new();
        let properties = WriterProperties::builder().set_data_page_row_count_limit(64);
        let properties = properties.set_write_batch_size(64).build();
        let mut writer =
            ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties)).unwrap();
        writer.write(&table).unwrap();
        let metadata = writer.close().unwrap();
        let end = bytes.len() - 8;
        let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
        let options = Options {
            confidence: Some("p".into()),
            label: Some("y".into()),
            ..Options::default()
        };
        for rows in [1000, 999, 900, 1001] {
            let group = metadata.row_group(0).clone().into_builder();
            let group = group.set_num_rows(rows).build().unwrap();
            let changed = metadata
                .clone()
                .into_builder()
                .set_row_groups(vec![group])
                .build();
            let mut changed_bytes = bytes[..end - footer].to_vec();
            ParquetMetaDataWriter::new(&mut changed_bytes, &changed)
                .finish()
                .unwrap();
            let memory = Memory::new(changed_bytes, File::get_bytes);
            for pool in pools() {
                for least in [1, 1 << 17] {
                    let sizes = Sizes { least, ..USUAL };
                    let read = pool.install(|| read_cut("f", &memory, &options, sizes));
                    match read {
                        Ok(loaded) => assert_eq!((rows, loaded.batch.rows().len()), (1000, 1000)),
                        Err(error) => assert!(
                            rows != 1000 && error.to_string().contains("it holds"),
                            "{rows}: {error}"
                        ),
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 500,
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn row_groups_side_by_side_read_as_one_after_the_other(
            table in table(true),
            options in options(),
            (group, page) in (1usize..100, 1usize..40),
            dictionary: bool,
            version in prop::sample::select(vec![
                WriterVersion::PARQUET_1_0,
                WriterVersion::PARQUET_2_0,
            ]),
            compression in prop::sample::select(vec![
                Compression::UNCOMPRESSED,
                Compression::SNAPPY,
                Compression::ZSTD(ZstdLevel::default()),
            ]),
            (pieces, least, most) in (1usize..5, 1u64..20, 20u64..60),
        ) {
            let properties = WriterProperties::builder()
                .set_max_row_group_row_count(Some(group))
                .set_data_page_row_count_limit(page)
                .set_write_batch_size(page)
                .set_dictionary_enabled(dictionary)
                .set_writer_version(version)
                .set_compression(compression)
                .build();
            let mut bytes = Vec::new();
            let mut writer =
                ArrowWriter::try_new(&mut bytes, table.schema(), Some(properties)).unwrap();
            writer.write(&table).unwrap();
            writer.close().unwrap();
            let memory = Memory::new(bytes, File::get_bytes);
            let expected = in_order(memory.0.clone(), &options);
            for pool in pools() {
                for sizes in [Sizes { pieces, least, most }, USUAL] {
                    let read = pool.install(|| read_cut("f", &memory, &options, sizes));
                    prop_assert_eq!(&read, &expected);
                }
            }
        }
    }
}
