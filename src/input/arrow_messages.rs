//! The messages of an Arrow stream, one after the other.
//!
//! `arrow-ipc` decodes each message. Its own loop over them is not used for three reasons: it
//! reserves the size that a compressed buffer claims to have, and a damaged claim ends the
//! process; it takes a stream of the other byte order for one of this; and it does not tell a
//! stream that ends from one that is cut off between messages.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::{read_dictionary, read_record_batch};
use arrow_ipc::{CompressionType, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use rayon::prelude::*;

use super::contain::contain;

/// Before the length of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// What an Arrow IPC file begins with, before its stream, and ends with, after its footer.
const MAGIC: &[u8] = b"ARROW1";

/// The most words of padding after the magic bytes.
const LONGEST_PADDING: usize = 64;

/// The most bytes that one byte of an LZ4 frame can stand for.
const LZ4_RATIO: usize = 255;

/// The most bytes that one byte of a Zstandard frame can stand for: a block of 128 KiB in 4 bytes.
const ZSTD_RATIO: usize = 1 << 15;

/// An Arrow stream: a schema, then dictionaries and record batches.
pub(super) struct Messages<R> {
    source: R,
    /// The first word of the first message, which is read before the others.
    first: Option<Vec<u8>>,
    schema: SchemaRef,
    /// Shared with the record batches that came before any others.
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
    batches: usize,
    end_marker: bool,
}

impl<R: Read> Messages<R> {
    /// Reads the schema of the stream within a file.
    pub(super) fn open_file(mut source: R) -> Result<Self, String> {
        let start = exactly(&mut source, 8)?;
        if !start.starts_with(MAGIC) {
            return Err("it does not begin as an Arrow file".to_owned());
        }
        // Zeros fill up the line of the magic bytes, to a multiple of 8 or of 64.
        let mut word = exactly(&mut source, 4)?;
        for _ in 0..LONGEST_PADDING {
            if word != [0; 4] {
                break;
            }
            word = exactly(&mut source, 4)?;
        }
        Messages::start(word, source)
    }

    /// Reads the schema.
    pub(super) fn open(mut source: R) -> Result<Self, String> {
        let word = exactly(&mut source, 4)?;
        Messages::start(word, source)
    }

    /// Reads the schema, after the first word of its message.
    fn start(word: Vec<u8>, source: R) -> Result<Self, String> {
        let mut messages = Messages {
            first: Some(word),
            source,
            schema: Arc::new(Schema::empty()),
            dictionaries: Arc::default(),
            batches: 0,
            end_marker: false,
        };
        let Message { metadata, .. } = messages.next_message()?.ok_or("there is no schema")?;
        let message = root_as_message(&metadata).map_err(|error| error.to_string())?;
        let schema = message.header_as_schema().ok_or("there is no schema")?;
        if !schema.endianness().equals_to_target_endianness() {
            return Err("its byte order is not that of this machine".to_owned());
        }
        messages.schema = Arc::new(contain(|| try_fb_to_schema(schema))?);
        Ok(messages)
    }

    /// The schema of the record batches.
    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// The next record batch; none after the last.
    pub(super) fn next(&mut self) -> Result<Option<Encoded>, String> {
        while let Some(Message { metadata, body }) = self.next_message()? {
            let message = root_as_message(&metadata).map_err(|error| error.to_string())?;
            if let Some(batch) = message.header_as_record_batch() {
                check_sizes(&batch, &body)?;
                self.batches += 1;
                return Ok(Some(Encoded {
                    rows: usize::try_from(batch.length()).unwrap_or(0),
                    metadata,
                    body,
                    schema: self.schema.clone(),
                    dictionaries: self.dictionaries.clone(),
                }));
            }
            let version = message.version();
            let dictionary = message
                .header_as_dictionary_batch()
                .ok_or_else(|| format!("an unexpected message: {:?}", message.header_type()))?;
            if let Some(batch) = dictionary.data() {
                check_sizes(&batch, &body)?;
            }
            let (body, schema) = (body.into(), &self.schema);
            let known = Arc::make_mut(&mut self.dictionaries);
            contain(|| read_dictionary(&body, dictionary, schema, known, &version))?;
        }
        Ok(None)
    }

    /// After the last record batch: whether the stream has a marker there. It may end without.
    pub(super) fn has_end_marker(&self) -> bool {
        self.end_marker
    }

    /// After the last record batch of a file: whether its footer lists as many as were read.
    pub(super) fn check_footer(&mut self) -> Result<(), String> {
        let mut footer = Vec::new();
        read_all(&mut self.source, &mut footer)?;
        let cut_off = || "its footer is missing or cut off".to_owned();
        let rest = footer.strip_suffix(MAGIC).ok_or_else(cut_off)?;
        let (rest, length) = rest.split_last_chunk().ok_or_else(cut_off)?;
        let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| cut_off())?;
        let start = rest.len().checked_sub(length).ok_or_else(cut_off)?;
        let footer = root_as_footer(&rest[start..]).map_err(|error| error.to_string())?;
        let listed = footer.recordBatches().map_or(0, |blocks| blocks.len());
        if listed != self.batches {
            return Err(format!(
                "its footer lists {listed} record batches, but {} were read",
                self.batches
            ));
        }
        Ok(())
    }

    /// The next message; none after the last.
    fn next_message(&mut self) -> Result<Option<Message>, String> {
        if self.end_marker {
            // What follows is the footer of a file.
            return Ok(None);
        }
        let mut word = Vec::new();
        match self.first.take() {
            Some(first) => word = first,
            None => {
                let source = self.source.by_ref().take(4);
                read_all(source, &mut word)?;
            }
        }
        if word.is_empty() {
            return Ok(None);
        }
        let cut_off = |_| "it ends in the middle of a message".to_owned();
        let mut length: [u8; 4] = word.try_into().map_err(cut_off)?;
        if length == CONTINUATION {
            length = exactly(&mut self.source, 4)?.try_into().map_err(cut_off)?;
        }
        let length = i32::from_le_bytes(length);
        if length == 0 {
            self.end_marker = true;
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| "a message of negative length")?;
        let metadata = exactly(&mut self.source, length)?;
        let message = root_as_message(&metadata).map_err(|error| error.to_string())?;
        if message.header_type() == MessageHeader::NONE {
            return Err("a message of no type".to_owned());
        }
        let length =
            usize::try_from(message.bodyLength()).map_err(|_| "a body of negative length")?;
        let body = exactly(&mut self.source, length)?;
        Ok(Some(Message { metadata, body }))
    }
}

fn read_all(mut source: impl Read, bytes: &mut Vec<u8>) -> Result<(), String> {
    let read = source.read_to_end(bytes);
    read.map(|_| ()).map_err(|error| error.to_string())
}

/// A message as it is in the stream.
struct Message {
    metadata: Vec<u8>,
    body: Vec<u8>,
}

/// A record batch as it is in the stream, with what is needed to decode it.
pub(super) struct Encoded {
    rows: usize,
    metadata: Vec<u8>,
    body: Vec<u8>,
    schema: SchemaRef,
    dictionaries: Arc<HashMap<i64, ArrayRef>>,
}

impl Encoded {
    /// How many rows it claims to have.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.body.len()
    }

    /// Its columns at these places, side by side.
    pub(super) fn decode(self, places: &[usize]) -> Result<RecordBatch, String> {
        let Encoded {
            metadata,
            body,
            schema,
            dictionaries,
            ..
        } = self;
        let body = body.into();
        let column = |place: &usize| {
            let message = root_as_message(&metadata).map_err(|error| error.to_string())?;
            let batch = message
                .header_as_record_batch()
                .ok_or("not a record batch")?;
            let (schema, place) = (schema.clone(), std::slice::from_ref(place));
            let version = message.version();
            contain(|| {
                read_record_batch(&body, batch, schema, &dictionaries, Some(place), &version)
            })
        };
        let columns: Vec<Result<RecordBatch, String>> = places.par_iter().map(column).collect();
        let mut arrays = Vec::with_capacity(columns.len());
        // In their order, so that of several errors it is always the same one that is told.
        for column in columns {
            arrays.extend_from_slice(column?.columns());
        }
        let schema = schema.project(places).map_err(|error| error.to_string())?;
        RecordBatch::try_new(schema.into(), arrays).map_err(|error| error.to_string())
    }
}

/// So many bytes. Memory is taken as they come, not as a damaged length claims.
fn exactly(source: &mut impl Read, length: usize) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    read_all(source.take(length as u64), &mut bytes)?;
    if bytes.len() < length {
        return Err("it ends in the middle of a message".to_owned());
    }
    Ok(bytes)
}

/// Whether the sizes that compressed buffers claim to have are possible.
fn check_sizes(batch: &arrow_ipc::RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
    let ratio = match batch.compression().map(|compression| compression.codec()) {
        None => return Ok(()),
        Some(CompressionType::ZSTD) => ZSTD_RATIO,
        Some(_) => LZ4_RATIO,
    };
    for buffer in batch.buffers().into_iter().flatten() {
        let start = usize::try_from(buffer.offset()).unwrap_or(usize::MAX);
        let length = usize::try_from(buffer.length()).unwrap_or(usize::MAX);
        let bytes = start
            .checked_add(length)
            .and_then(|end| body.get(start..end))
            .ok_or("a buffer outside its message")?;
        // The size before compression, in 8 bytes; -1 says that there is none.
        let Some((size, compressed)) = bytes.split_first_chunk() else {
            continue;
        };
        let size = i64::from_le_bytes(*size);
        let most = compressed.len().saturating_mul(ratio);
        if size != -1 && usize::try_from(size).is_ok_and(|size| size > most) {
            return Err(format!("a compressed buffer claims to hold {size} bytes"));
        }
    }
    Ok(())
}
