//! Runs of the program, and a directory of files for them.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use tempfile::TempDir;

/// Real predictions, by their names from the root of the package.
pub const NFL: &str = "examples/data/nfl.csv";
pub const LLM_STATED: &str = "tests/data/llm_stated.csv";
pub const BREAST_CANCER: &str = "tests/data/breast_cancer.csv";
pub const CIFAR10: &str = "tests/data/cifar10_lenet.npz";
pub const FLIGHTS: &str = "tests/data/flights.parquet";
pub const FLIGHTS_F32: &str = "tests/data/flights_f32.parquet";

/// A run to be.
pub struct Run {
    command: Command,
    input: Vec<u8>,
}

/// What a run left.
#[derive(Debug)]
pub struct Outcome {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

/// The program with these arguments, in the root of the package.
pub fn rankece<'a>(arguments: impl IntoIterator<Item = &'a str>) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rankece"));
    command
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("RANKECE_FAULT");
    Run {
        command,
        input: Vec::new(),
    }
}

/// `rankece evaluate` with these arguments, parted by spaces.
pub fn evaluate(arguments: &str) -> Run {
    rankece(["evaluate"].into_iter().chain(arguments.split_whitespace()))
}

impl Run {
    pub fn argument(mut self, argument: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    pub fn directory(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    /// Hides every adapter of this machine from the program.
    pub fn without_adapters(self) -> Self {
        self.environment("VK_DRIVER_FILES", "/nonexistent.json")
            .environment("VK_ICD_FILENAMES", "/nonexistent.json")
    }

    /// The command itself, for what this builder does not do.
    pub fn into_command(self) -> Command {
        self.command
    }

    pub fn outcome(mut self) -> Outcome {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe was asked for");
        let input = self.input;
        let writer = std::thread::spawn(move || {
            // The program may have ended without reading it.
            let _ = stdin.write_all(&input);
        });
        let output = child.wait_with_output().expect("the program ends");
        writer.join().expect("the writer ends");
        Outcome {
            status: output.status.code().expect("ended by itself"),
            stdout: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }

    /// The outcome of a run that does what it is asked for.
    pub fn done(self) -> Outcome {
        let outcome = self.outcome();
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome
    }

    /// Asserts that the run is refused: status 2, nothing on standard output, and one error on
    /// standard error that says all of `parts`.
    pub fn refused(self, parts: &[&str]) {
        let outcome = self.outcome();
        outcome.failed(2, parts);
    }
}

impl Outcome {
    /// Asserts a failure: this status, nothing on standard output, and one error that says all of
    /// `parts`.
    pub fn failed(&self, status: i32, parts: &[&str]) {
        assert_eq!(self.status, status, "{}", self.stderr);
        assert!(self.stdout.is_empty(), "{}", self.stdout);
        let errors = self.stderr.lines().filter(|l| l.starts_with("error: "));
        assert_eq!(errors.count(), 1, "{}", self.stderr);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        for part in parts {
            assert!(
                self.stderr.contains(part),
                "no {part:?} in:\n{}",
                self.stderr
            );
        }
    }

    /// Standard output as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).expect("JSON on standard output")
    }

    /// The warnings on standard error, but for that of a software adapter.
    pub fn warnings(&self) -> Vec<&str> {
        self.stderr
            .lines()
            .filter(|line| line.starts_with("warning: ") && !line.contains(" is software on "))
            .collect()
    }
}

/// A directory of files that is removed in the end.
pub struct Files(TempDir);

impl Files {
    pub fn new() -> Self {
        Files(TempDir::new().expect("a temporary directory"))
    }

    /// A directory with one file.
    pub fn with(name: &str, contents: impl AsRef<[u8]>) -> Self {
        let files = Files::new();
        files.write(name, contents);
        files
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), contents).expect("a file is written");
    }

    pub fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("a file is read")
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("a file of text")
    }

    /// Every name in the directory, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.0.path())
            .expect("the directory is read")
            .map(|entry| {
                let name = entry.expect("an entry").file_name();
                name.into_string().expect("a name in UTF-8")
            })
            .collect();
        names.sort();
        names
    }

    /// `rankece evaluate` in this directory.
    pub fn evaluate(&self, arguments: &str) -> Run {
        evaluate(arguments).directory(self.0.path())
    }
}

/// Whether this machine has an adapter, a software one counted. Without one says so, or fails if
/// `RANKECE_REQUIRE_GPU` is 1.
pub fn has_adapter() -> bool {
    static ADAPTER: LazyLock<bool> = LazyLock::new(find_adapter);
    *ADAPTER
}

fn find_adapter() -> bool {
    let list = rankece(["devices", "--format", "json"]).done().json();
    let adapters = list["adapters"].as_array().expect("a list of adapters");
    if adapters.is_empty() {
        assert!(
            std::env::var_os("RANKECE_REQUIRE_GPU").is_none_or(|value| value != "1"),
            "RANKECE_REQUIRE_GPU=1, but this machine has no adapter"
        );
        println!("skipped: this machine has no adapter");
    }
    !adapters.is_empty()
}

/// A number in JSON, within `tolerance` of what it should be.
#[track_caller]
pub fn assert_close(value: &Value, expected: f64, tolerance: f64) {
    let value = value.as_f64().expect("a number");
    assert!(
        (value - expected).abs() <= tolerance,
        "{value} is not {expected}"
    );
}
