//! Where bytes come from: files and standard input.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

/// Bytes read ahead to recognise a format.
const PREFIX: u64 = 1 << 16;

/// Size of read buffers in bytes.
const BUFFER: usize = 1 << 18;

/// Bytes in their order, the first of them read ahead.
pub(super) struct Stream {
    prefix: Vec<u8>,
    rest: Box<dyn Read + Send>,
    /// The file, if these are its bytes as they lie there.
    path: Option<PathBuf>,
}

impl Stream {
    /// Opens a file, or standard input if the path is `-`.
    pub(super) fn open(path: &str) -> io::Result<Self> {
        if path == "-" {
            return Stream::new(Box::new(io::stdin()), None);
        }
        let file = File::open(path)?;
        // A pipe has a path as well, but can be read only once.
        let regular = file.metadata()?.is_file();
        Stream::new(Box::new(file), regular.then(|| path.into()))
    }

    fn new(mut rest: Box<dyn Read + Send>, path: Option<PathBuf>) -> io::Result<Self> {
        let mut prefix = Vec::new();
        rest.by_ref().take(PREFIX).read_to_end(&mut prefix)?;
        Ok(Stream { prefix, rest, path })
    }

    /// The first bytes, up to 64 KiB.
    pub(super) fn prefix(&self) -> &[u8] {
        &self.prefix
    }

    /// The bytes that these are the gzip compression of.
    pub(super) fn gunzip(self) -> io::Result<Self> {
        Stream::new(Box::new(MultiGzDecoder::new(self.into_reader())), None)
    }

    /// All the bytes.
    pub(super) fn into_reader(self) -> impl BufRead + Send {
        BufReader::with_capacity(BUFFER, Cursor::new(self.prefix).chain(self.rest))
    }

    /// All the bytes, to be read in any order: those of a file stay there.
    pub(super) fn into_store(mut self) -> io::Result<Store> {
        if let Some(path) = self.path {
            return Ok(Store::File(path));
        }
        self.rest.read_to_end(&mut self.prefix)?;
        Ok(Store::Memory(Memory(Arc::new(self.prefix))))
    }
}

/// Bytes that can be read in any order, by several readers.
pub(super) enum Store {
    /// A file.
    File(PathBuf),
    /// Bytes in memory.
    Memory(Memory),
}

/// Shared bytes in memory.
#[derive(Clone)]
pub(super) struct Memory(Arc<Vec<u8>>);

impl Memory {
    /// The bytes, copied only if they are shared.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        Arc::unwrap_or_clone(self.0)
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A reader that can go anywhere.
pub(super) trait ReadSeek: Read + Seek {}

impl<R: Read + Seek> ReadSeek for R {}

impl Store {
    /// A reader at the first byte.
    pub(super) fn open(&self) -> io::Result<Box<dyn ReadSeek>> {
        Ok(match self {
            Store::File(path) => Box::new(File::open(path)?),
            Store::Memory(bytes) => Box::new(Cursor::new(bytes.clone())),
        })
    }
}
