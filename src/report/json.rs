//! JSON for scripts: the shape of [`Evaluation`], nothing rounded.

use std::io::{self, Write};

use crate::results::Evaluation;

/// Writes one JSON document, indented, with a newline at its end.
///
/// Numbers read back to the same `f64`; what is undefined is `null`. JSON has no NaN and no
/// infinity: should one turn up, it is written as `null` too.
///
/// # Errors
/// If writing fails.
pub fn write(evaluation: &Evaluation, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, evaluation)?;
    writeln!(out)
}
