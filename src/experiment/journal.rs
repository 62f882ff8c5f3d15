//! What a run has finished so far, in a file that survives being killed.
//!
//! Lines of text, appended one by one, each with the CRC-32 of what follows it in front:
//!
//! ```text
//! 1c291ca3 rankece-run {"schema":1,"version":"0.1.0","shard":null,"spec":{…},"checksums":{…}}
//! 5d41402a backend {"backend":"cpu","adapter":null}
//! 9e107d9d unit 0 17 379214 0 813 0
//! ```
//!
//! A unit line names the grid point and the unit, both from 0, and its sums. With `--solve-n` the
//! point is n itself. A line that was torn by a kill or a full disk is dropped, and its unit
//! computed again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::measure::Tally;
use super::shard::Shard;
use super::spec::Spec;

/// The version of the form of these files.
const SCHEMA: u32 = 1;
/// How much work a crash of the whole machine may cost.
const SYNC: Duration = Duration::from_secs(1);

/// What a run is: only runs of equal headers are parts of one whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version of the form of the file.
    pub schema: u32,
    /// The version of rankece.
    pub version: String,
    /// The part of the run that the file holds; none: all of it.
    pub shard: Option<Shard>,
    /// What was asked for.
    pub spec: Spec,
    /// Checksums of tables and files, by "law|curve" or "population:FILE".
    pub checksums: BTreeMap<String, String>,
}

impl Header {
    /// The header of a run by this version.
    pub fn new(spec: Spec, shard: Option<Shard>, checksums: BTreeMap<String, String>) -> Self {
        Header {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            shard,
            spec,
            checksums,
        }
    }

    /// The first difference to another header, in words; none if they are the same.
    pub fn difference(&self, other: &Header) -> Option<String> {
        let [own, others] = [self, other].map(|header| serde_json::to_value(header).ok());
        match (own?, others?) {
            (own, others) if own == others => None,
            (own, others) => difference("", &own, &others),
        }
    }
}

fn difference(name: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    if a == b {
        return None;
    }
    if let (Value::Object(a), Value::Object(b)) = (a, b) {
        let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
        return keys.into_iter().find_map(|key| {
            let [a, b] = [a, b].map(|map| map.get(key).unwrap_or(&Value::Null));
            difference(key, a, b)
        });
    }
    Some(format!("{name} is {b} there and {a} here"))
}

/// What computed a part of a run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ComputedBy {
    /// `cpu` or `gpu`.
    pub backend: String,
    /// The adapter, on the GPU.
    pub adapter: Option<AdapterUsed>,
}

/// A graphics adapter that computed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct AdapterUsed {
    /// Its name.
    pub name: String,
    /// Its driver, with version.
    pub driver: String,
    /// What kind it is.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Why the file of a run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// It cannot be read or written.
    #[error("{path}: {source}{}", if *.kept { "; what was finished is kept there" } else { "" })]
    Io {
        /// The file.
        path: String,
        /// Why not.
        source: io::Error,
        /// Whether finished work lies in it.
        kept: bool,
    },
    /// Another process writes it.
    #[error("{0} is being written by another run; wait until that ends, or name another --output")]
    Busy(String),
    /// It is something else.
    #[error(
        "{path} is not the state of a run or a part of one{why}; those are written by --output with \
         --shard, and as OUTPUT.partial"
    )]
    Foreign {
        /// The file.
        path: String,
        /// What was found.
        why: String,
    },
    /// It belongs to another run.
    #[error(
        "{path} belongs to another run: {difference}; give the flags of that run, or remove the file \
         to begin anew"
    )]
    Different {
        /// The file.
        path: String,
        /// The first difference.
        difference: String,
    },
}

/// What a file holds.
#[derive(Clone, Debug)]
pub struct Contents {
    /// What run it is.
    pub header: Header,
    /// What computed it, each once.
    pub computed_by: Vec<ComputedBy>,
    /// Finished units, by point and unit.
    pub units: BTreeMap<(u64, u64), Tally>,
    /// The number, from 1, of a line that is torn or damaged; it and all after it are ignored.
    pub damaged: Option<usize>,
    /// Bytes of the whole lines.
    length: u64,
}

impl Contents {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or does not begin with the header of a run.
    pub fn read(path: &Path) -> Result<Self, JournalError> {
        let bytes = fs::read(path).map_err(|source| io_error(path, source, false))?;
        let foreign = |why: &str| JournalError::Foreign {
            path: path.display().to_string(),
            why: why.to_owned(),
        };
        let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
        let first = lines.next().ok_or_else(|| foreign(": it is empty"))?;
        let json = checked(first)
            .and_then(|text| text.strip_prefix("rankece-run "))
            .ok_or_else(|| foreign(""))?;
        let header: Header = serde_json::from_str(json)
            .map_err(|error| foreign(&format!(" of this version: {error}")))?;
        let mut contents = Contents {
            header,
            computed_by: Vec::new(),
            units: BTreeMap::new(),
            damaged: None,
            length: first.len() as u64,
        };
        for (index, line) in lines.enumerate() {
            if checked(line).and_then(|text| contents.add(text)).is_none() {
                contents.damaged = Some(index + 2);
                break;
            }
            contents.length += line.len() as u64;
        }
        Ok(contents)
    }

    fn add(&mut self, line: &str) -> Option<()> {
        if let Some(json) = line.strip_prefix("backend ") {
            let computed_by = serde_json::from_str(json).ok()?;
            if !self.computed_by.contains(&computed_by) {
                self.computed_by.push(computed_by);
            }
            return Some(());
        }
        let mut words = line.strip_prefix("unit ")?.split(' ');
        let point = words.next()?.parse().ok()?;
        let unit = words.next()?.parse().ok()?;
        let sums = words.map(str::parse).collect::<Result<_, _>>().ok()?;
        self.units.insert((point, unit), Tally(sums));
        Some(())
    }
}

/// The text of a whole line whose checksum is right.
fn checked(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (crc, text) = text.split_once(' ')?;
    let crc = u32::from_str_radix(crc, 16).ok()?;
    (crc == crc32fast::hash(text.as_bytes())).then_some(text)
}

/// A file that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    synced: Instant,
    has_units: bool,
}

impl Journal {
    /// Begins a new file, which must not be there yet.
    ///
    /// # Errors
    /// If it is there, or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let mut options = OpenOptions::new();
        let file = options.write(true).read(true).create_new(true).open(path);
        let file = file.map_err(|source| io_error(path, source, false))?;
        let mut journal = Journal::locked(path, file)?;
        let json = serde_json::to_string(header)
            .map_err(|error| io_error(path, io::Error::other(error), false))?;
        journal.append(&format!("rankece-run {json}"))?;
        journal.sync()?;
        Ok(journal)
    }

    /// Continues a file of the same run, less a torn last line.
    ///
    /// # Errors
    /// If it is of another run, or cannot be read or written.
    pub fn resume(path: &Path, header: &Header) -> Result<(Self, Contents), JournalError> {
        let file = OpenOptions::new().write(true).read(true).open(path);
        let file = file.map_err(|source| io_error(path, source, false))?;
        let mut journal = Journal::locked(path, file)?;
        let contents = Contents::read(path)?;
        if let Some(difference) = header.difference(&contents.header) {
            return Err(JournalError::Different {
                path: path.display().to_string(),
                difference,
            });
        }
        journal.has_units = !contents.units.is_empty();
        let cut = journal
            .file
            .set_len(contents.length)
            .and_then(|()| journal.file.seek(SeekFrom::End(0)));
        cut.map_err(|source| journal.error(source))?;
        Ok((journal, contents))
    }

    fn locked(path: &Path, file: File) -> Result<Self, JournalError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(JournalError::Busy(path.display().to_string()));
            }
            // Some network file systems have no locks; the run is none the worse.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        Ok(Journal {
            path: path.to_owned(),
            file,
            synced: Instant::now(),
            has_units: false,
        })
    }

    /// Notes what computes from here on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn computed_by(&mut self, by: &ComputedBy) -> Result<(), JournalError> {
        let json =
            serde_json::to_string(by).map_err(|error| self.error(io::Error::other(error)))?;
        self.append(&format!("backend {json}"))
    }

    /// Keeps a finished unit.
    ///
    /// # Errors
    /// If it cannot be written; what was kept before is unharmed.
    pub fn unit(&mut self, point: u64, unit: u64, tally: &Tally) -> Result<(), JournalError> {
        let sums: Vec<String> = tally.0.iter().map(i128::to_string).collect();
        self.append(&format!("unit {point} {unit} {}", sums.join(" ")))?;
        self.has_units = true;
        if self.synced.elapsed() >= SYNC {
            self.sync()?;
        }
        Ok(())
    }

    /// Waits until everything is on the disk.
    ///
    /// # Errors
    /// If it cannot be written there.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.synced = Instant::now();
        self.file.sync_data().map_err(|source| self.error(source))
    }

    fn append(&mut self, text: &str) -> Result<(), JournalError> {
        let line = format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        self.file
            .write_all(line.as_bytes())
            .map_err(|source| self.error(source))
    }

    fn error(&self, source: io::Error) -> JournalError {
        io_error(&self.path, source, self.has_units)
    }
}

fn io_error(path: &Path, source: io::Error, kept: bool) -> JournalError {
    JournalError::Io {
        path: path.display().to_string(),
        source,
        kept,
    }
}
