//! Results to standard output or a file, all at once or not at all.

use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::failure::Failure;

/// Writes finished results: to `path`, or to standard output. A reader of standard output that went
/// away (`| head`) is no error.
///
/// # Errors
/// If they cannot be written.
pub fn write(path: Option<&Path>, contents: &[u8]) -> Result<(), Failure> {
    let Some(path) = path else {
        let mut stdout = io::stdout().lock();
        return match stdout.write_all(contents).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::input(format!(
                "cannot write to standard output: {error}"
            ))),
            _ => Ok(()),
        };
    };
    // A name of its own first: a full disk must not leave half a file where a whole one was.
    let partial = partial_name(path);
    let written = fs::write(&partial, contents).and_then(|()| fs::rename(&partial, path));
    written.map_err(|error| {
        // Nothing more can be done if this fails too.
        let _ = fs::remove_file(&partial);
        Failure::input(format!("--output {}: {error}", path.display()))
    })
}

fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Refuses to write over a file that is read.
///
/// # Errors
/// If `path`, given to `flag`, is one of `inputs`.
pub fn spare_inputs(flag: &str, path: &Path, inputs: &[String]) -> Result<(), Failure> {
    let Ok(target) = fs::canonicalize(path) else {
        // What does not exist cannot be overwritten.
        return Ok(());
    };
    let same = |input: &&String| fs::canonicalize(input).is_ok_and(|input| input == target);
    match inputs.iter().find(same) {
        Some(input) => Err(Failure::input(format!(
            "{flag} {}: this is the input {input}, which would be lost; give another name",
            path.display()
        ))),
        None => Ok(()),
    }
}
