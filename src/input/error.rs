//! What is wrong with a file of predictions.

use std::fmt;

/// Why predictions were refused: where, what, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct InputError {
    /// The file, as it was given; `-` is standard input.
    pub file: String,
    /// The row, from 1, a header not counted.
    pub row: Option<u64>,
    /// The column or array.
    pub column: Option<Box<str>>,
    /// The value, as it was written.
    pub value: Option<Box<str>>,
    /// What is wrong.
    pub problem: String,
    /// What to do about it; may be empty.
    pub remedy: String,
}

/// What to do about a missing value, where rows may be left out.
pub(super) const FILL_IN_OR_SKIP: &str = "Fill it in, or leave such rows out with --skip-missing.";

/// What to do about a missing value, where there is no flag to leave rows out.
pub(super) const FILL_IN_OR_REMOVE: &str = "Fill it in, or remove the row from the file.";

impl InputError {
    /// The error for a command that has no `--skip-missing`.
    pub(crate) fn without_skipping(mut self) -> Self {
        if self.remedy == FILL_IN_OR_SKIP {
            self.remedy = FILL_IN_OR_REMOVE.to_owned();
        }
        self
    }

    pub(super) fn new(file: &str, problem: impl Into<String>) -> Self {
        InputError {
            file: file.to_owned(),
            row: None,
            column: None,
            value: None,
            problem: problem.into(),
            remedy: String::new(),
        }
    }

    pub(super) fn row(mut self, row: u64) -> Self {
        self.row = Some(row);
        self
    }

    /// The column; an empty name is that of an array without one.
    pub(super) fn column(mut self, column: impl Into<Box<str>>) -> Self {
        self.column = Some(column.into()).filter(|column| !column.is_empty());
        self
    }

    pub(super) fn value(mut self, value: impl Into<Box<str>>) -> Self {
        self.value = Some(value.into());
        self
    }

    pub(super) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = remedy.into();
        self
    }

    /// One more sentence about what to do.
    pub(super) fn also(mut self, sentence: &str) -> Self {
        if !self.remedy.is_empty() {
            self.remedy.push(' ');
        }
        self.remedy.push_str(sentence);
        self
    }

    /// A file without anything in it.
    pub(super) fn empty(file: &str) -> Self {
        InputError::new(file, "the file is empty")
            .remedy("Was it written to the end? A file of predictions has at least one confidence.")
    }

    /// A failure to read at all.
    pub(super) fn io(file: &str, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => {
                InputError::new(file, "the file ends too early; it seems to be cut off")
                    .remedy("Write or copy it again.")
            }
            _ => InputError::new(file, format!("cannot be read: {error}")),
        }
    }

    /// Contents that the format's decoder refuses.
    pub(super) fn damaged(file: &str, format: &str, reason: impl fmt::Display) -> Self {
        InputError::new(file, format!("not a readable {format} file: {reason}"))
            .remedy("The file may be damaged or cut off; write or copy it again.")
    }
}

/// A file's name for messages.
pub(super) fn shown(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(shown(&self.file))?;
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        if let Some(column) = &self.column {
            write!(f, ", column `{column}`")?;
        }
        write!(f, ": {}", self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "\n{}", self.remedy)?;
        }
        Ok(())
    }
}
