//! Results to standard output or a file, all at once or not at all.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// Writes finished results: to `path`, or to standard output if there is none or it is `-`. A reader of standard output that went
/// away (`| head`) is no error.
///
/// # Errors
/// If they cannot be written.
pub fn write(path: Option<&Path>, contents: &[u8]) -> Result<(), Failure> {
    let Some(path) = path.filter(|path| *path != Path::new("-")) else {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(contents).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::input(format!(
                "cannot write to standard output: {error}"
            ))),
            _ => Ok(()),
        };
    };
    // A link is followed, so that it stays one.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let written = match fs::metadata(&target) {
        // A pipe or a device is written to and never replaced; a directory says that it is one.
        Ok(metadata) if !metadata.is_file() => fs::write(&target, contents),
        _ => replace(&target, contents),
    };
    written.map_err(|error| Failure::input(format!("--output {}: {error}", path.display())))
}

/// Writes under a name of its own first: a full disk must not leave half a file where a whole one
/// was. A file that has that name already is spared.
fn replace(target: &Path, contents: &[u8]) -> io::Result<()> {
    let partial = partial_name(target);
    let mut file = File::create_new(&partial)?;
    let written = file
        .write_all(contents)
        .and_then(|()| fs::rename(&partial, target));
    if written.is_err() {
        // Nothing more can be done if this fails too.
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Refuses a file that cannot be written, before time is spent on what should go there.
///
/// # Errors
/// If `path`, given to `flag`, is a directory, or no file can be made beside it.
pub fn check_writable(flag: &str, path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(());
    }
    let failed = |error: &dyn std::fmt::Display| {
        Failure::input(format!("{flag} {}: {error}", path.display()))
    };
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(failed(&"this is a directory; name a file in it"));
        }
        // To open a pipe may wait for its reader.
        Ok(metadata) if !metadata.is_file() => return Ok(()),
        Ok(_) => {
            let opened = fs::OpenOptions::new().append(true).open(&target);
            opened.map_err(|error| failed(&error))?;
        }
        Err(_) => {}
    }
    let partial = partial_name(&target);
    let made = File::create_new(&partial).and_then(|_| fs::remove_file(&partial));
    made.map_err(|error| {
        let missing = target
            .parent()
            .filter(|parent| error.kind() == ErrorKind::NotFound && !parent.as_os_str().is_empty());
        match missing {
            Some(parent) => failed(&format!(
                "there is no directory {}; make it first",
                parent.display()
            )),
            None => failed(&error),
        }
    })
}

/// The name under which a file is written first.
fn partial_name(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    PathBuf::from(name)
}

/// Refuses to write over a file that is read.
///
/// # Errors
/// If `path`, given to `flag`, is one of `inputs`.
pub fn spare_inputs(flag: &str, path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    match inputs.iter().find(|input| same_file(path, input)) {
        Some(input) => Err(Failure::input(format!(
            "{flag} {}: this is the input {}, which would be lost; give another name",
            path.display(),
            input.display()
        ))),
        None => Ok(()),
    }
}

/// Whether two names lead to one file, which need not exist yet. Pipes and devices hold nothing that
/// could be lost.
pub fn same_file(a: &Path, b: &Path) -> bool {
    fn resolve(path: &Path) -> Option<PathBuf> {
        if let Ok(metadata) = fs::metadata(path) {
            return metadata
                .is_file()
                .then(|| fs::canonicalize(path).ok())
                .flatten();
        }
        let directory = match path.parent()? {
            parent if parent.as_os_str().is_empty() => Path::new("."),
            parent => parent,
        };
        Some(fs::canonicalize(directory).ok()?.join(path.file_name()?))
    }
    matches!((resolve(a), resolve(b)), (Some(a), Some(b)) if a == b)
}
