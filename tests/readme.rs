//! README.md does not lie: its commands are run, and what it shows of their output is what they print.
#![cfg(unix)] // its commands are those of a POSIX shell

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const README: &str = include_str!("../README.md");
const LIBRARY: &str = include_str!("../src/lib.rs");

/// Commands that are not run here, and why.
const NOT_RUN: [(&str, &str); 1] = [("./test.sh", "this test is a part of it")];

/// Commands whose output depends on the machine: they are run, and must succeed.
const OUTPUT_DEPENDS_ON_MACHINE: [&str; 2] = ["rankece devices", "rankece selfcheck"];

/// A line of README that stands for any number of lines.
const LEFT_OUT: &str = "...";

struct Shown {
    command: String,
    output: Vec<String>,
}

/// The lines of the fenced blocks of one language.
fn blocks(language: &str) -> Vec<Vec<&'static str>> {
    let mut blocks = Vec::new();
    let mut block: Option<(bool, Vec<&str>)> = None;
    for line in README.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(opened)) => block = Some((opened == language, Vec::new())),
            (Some((_, lines)), None) => lines.push(line),
            (Some((wanted, lines)), Some(_)) => {
                if *wanted {
                    blocks.push(std::mem::take(lines));
                }
                block = None;
            }
            (None, None) => {}
        }
    }
    assert!(block.is_none(), "a block is not closed");
    blocks
}

/// The commands of all `console` blocks, each with the output that is shown below it.
fn shown() -> Vec<Shown> {
    let mut shown: Vec<Shown> = Vec::new();
    for block in blocks("console") {
        assert!(block[0].starts_with("$ "), "a block begins with a command");
        for line in block {
            match line.strip_prefix("$ ") {
                Some(command) => shown.push(Shown {
                    command: command.to_owned(),
                    output: Vec::new(),
                }),
                None => {
                    let last = shown.last_mut().expect("a block begins with a command");
                    last.output.push(line.to_owned());
                }
            }
        }
    }
    shown
}

/// Runs a command in a shell that finds `rankece`; the CPU computes, so that the output does not
/// name an adapter. The result is all that a terminal would show.
fn run(command: &str, folder: &Path) -> (bool, Vec<String>) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_rankece"));
    let programs = program.parent().expect("a program lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let command = command
        .replace("cargo run --release --", "rankece")
        .replace("rankece evaluate", "rankece evaluate --backend cpu");
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env_remove("RANKECE_FAULT")
        .output()
        .expect("there is a shell");
    let text = String::from_utf8(output.stdout).expect("the output is UTF-8");
    (
        output.status.success(),
        text.lines().map(str::to_owned).collect(),
    )
}

/// Whether `shown` is `printed`, where [`LEFT_OUT`] fits any lines, none too.
fn fits(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line == LEFT_OUT => {
            (0..=printed.len()).any(|skipped| fits(rest, &printed[skipped..]))
        }
        Some((line, rest)) => printed
            .split_first()
            .is_some_and(|(first, after)| line == first && fits(rest, after)),
    }
}

#[test]
fn commands_print_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("examples/data")).unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    fs::copy(
        "examples/data/nfl.csv",
        folder.path().join("examples/data/nfl.csv"),
    )
    .unwrap();

    let shown = shown();
    assert!(shown.len() > 10, "the commands of README are found");
    for Shown { command, output } in &shown {
        if NOT_RUN.iter().any(|(other, _)| other == command) {
            assert!(output.is_empty(), "{command}: nothing can be shown of it");
            continue;
        }
        let (success, printed) = run(command, folder.path());
        if OUTPUT_DEPENDS_ON_MACHINE.contains(&command.as_str()) {
            assert!(success, "{command}:\n{}", printed.join("\n"));
            assert!(output.is_empty(), "{command}: other machines print others");
            continue;
        }
        assert!(
            fits(output, &printed),
            "$ {command}\n{}\n\nREADME shows:\n{}",
            printed.join("\n"),
            output.join("\n")
        );
    }

    let picture = |folder: &Path| fs::read_to_string(folder.join("docs/nfl.svg")).unwrap();
    assert!(
        picture(folder.path()) == picture(Path::new("")),
        "docs/nfl.svg is not what README's command draws"
    );
}

#[test]
fn the_library_example_is_the_one_that_is_tested() {
    let documented: Vec<&str> = LIBRARY
        .lines()
        .skip_while(|line| *line != "//! ```")
        .skip(1)
        .take_while(|line| *line != "//! ```")
        .map(|line| line.trim_start_matches("//!").trim_start())
        .filter(|line| !line.starts_with("# "))
        .collect();
    let [example] = &blocks("rust")[..] else {
        panic!("one example");
    };
    let example: Vec<&str> = example.iter().map(|line| line.trim_start()).collect();
    assert_eq!(example, documented);
}

#[test]
fn links_lead_to_files() {
    for link in README.split("](").skip(1) {
        let target = link.split(')').next().unwrap_or_default();
        if !target.starts_with("https://") {
            assert!(Path::new(target).is_file(), "{target}");
        }
    }
}

#[test]
fn left_out_lines_fit_any_number_of_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (shown, fitting) in [
        ("a\nb", true),
        ("...", true),
        ("a\n...\nb", true),
        ("...\nb", true),
        ("a\n...\na\n...", false),
        ("a", false),
        ("...\na", false),
        ("", false),
    ] {
        assert_eq!(fits(&lines(shown), &lines("a\nb")), fitting, "{shown:?}");
    }
}
