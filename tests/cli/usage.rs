//! Arguments that cannot be used: status 2, nothing on standard output, one error.

use super::program::{Files, NFL, evaluate, rankece};

/// Asserts that flags beside a good file are refused with all of `parts`.
#[track_caller]
fn refused(flags: &str, parts: &[&str]) {
    evaluate(&format!("{NFL} {flags}")).refused(parts);
}

#[test]
fn a_file_is_needed() {
    rankece(["evaluate"]).refused(&["<FILE>", "--help"]);
}

#[test]
fn a_command_is_needed() {
    let outcome = rankece([]).outcome();
    assert_eq!(outcome.status, 2);
    assert!(outcome.stdout.is_empty());
    assert!(outcome.stderr.contains("evaluate") && outcome.stderr.contains("selfcheck"));
}

#[test]
fn unknown_commands_and_flags_are_named() {
    rankece(["frobnicate"]).refused(&["frobnicate"]);
    refused("--frobnicate", &["--frobnicate"]);
    refused("--no-such=1", &["--no-such"]);
}

#[test]
fn unknown_names_are_refused_with_the_known_ones() {
    for (flags, parts) in [
        (
            "--tests chi-square",
            &[
                "chi-square",
                "--tests",
                "asymptotic, conditional, finite-sample, monte-carlo, adaptive, ks, kuiper, spiegelhalter, skce-u, skce-l, and all",
            ] as &[_],
        ),
        ("--tests asymptotic,ks2", &["ks2", "--tests"]),
        (
            "--interval wald",
            &["wald", "--interval", "neighbour", "concentration"],
        ),
        ("--backend tpu", &["tpu", "--backend", "auto, gpu, cpu"]),
        (
            "--bin-scheme quantile",
            &["quantile", "--bin-scheme", "equal-width, equal-mass"],
        ),
        ("--closed both", &["both", "--closed", "right, left"]),
        (
            "--ties break",
            &["break", "--ties", "average, random, stable"],
        ),
        (
            "--reduce max",
            &["max", "--reduce", "top-label, class-wise"],
        ),
        ("--format xml", &["xml", "--format", "table, json, csv"]),
    ] {
        refused(flags, parts);
    }
}

#[test]
fn numbers_of_bins_are_whole_and_positive() {
    for bins in ["0", "-3", "2.5", "ten", "n/0", "n", "99999999999", "10,,20"] {
        refused(
            &format!("--bins {bins}"),
            &["--bins", "whole number from 1", "sqrt", "n/20"],
        );
    }
}

#[test]
fn levels_lie_between_0_and_1() {
    for alpha in ["0", "1", "nan", "inf", "-0.1", "1.5", "5%", "1e-400"] {
        refused(
            &format!("--alpha {alpha}"),
            &[alpha, "--alpha", "between 0 and 1, both excluded"],
        );
    }
}

#[test]
fn a_gate_is_a_number_that_is_not_negative() {
    for limit in ["-1", "-1e-9", "nan", "inf", "-inf", "low"] {
        refused(
            &format!("--max-rank-ece {limit}"),
            &[limit, "--max-rank-ece", "not negative"],
        );
    }
}

#[test]
fn the_bootstrap_is_refused_with_a_reason_and_a_way_out() {
    refused(
        "--interval bootstrap",
        &[
            "bootstrap",
            "--interval",
            "its own neighbour",
            "`neighbour`",
            "`subsample`",
        ],
    );
    refused(
        "--interval bootstrap,bootstrap",
        &["its own neighbour", "`neighbour,bootstrap`"],
    );
}

#[test]
fn none_stands_alone() {
    refused("--interval none,neighbour", &["--interval none", "alone"]);
    refused("--interval bootstrap,none", &["--interval none", "alone"]);
    refused("--tests none,ks", &["--tests none", "alone"]);
    refused("--tests all,none", &["--tests none", "alone"]);
    refused(
        "--interval none --max-rank-ece 0.1",
        &["--max-rank-ece 0.1", "--interval none", "neighbour"],
    );
}

#[test]
fn seeds_and_threads_are_whole_numbers() {
    for seed in ["-1", "1.5", "18446744073709551616"] {
        refused(&format!("--seed {seed}"), &[seed, "--seed"]);
    }
    for threads in ["-1", "1.5", "many", "1025"] {
        refused(
            &format!("--threads {threads}"),
            &[threads, "--threads", "0 (as many as cores) to 1024"],
        );
    }
}

#[test]
fn an_adapter_has_no_meaning_on_the_cpu() {
    refused(
        "--backend cpu --adapter 0",
        &["--adapter 0", "--backend cpu"],
    );
}

#[test]
fn an_adapter_that_is_not_there_is_refused() {
    refused("--adapter 99", &["--adapter 99"]);
    refused("--adapter voodoo", &["--adapter", "voodoo"]);
}

#[test]
fn standard_input_is_read_once() {
    evaluate("- -")
        .input("p,y\n0.5,1\n")
        .refused(&["standard input", "once"]);
}

#[test]
fn an_output_does_not_replace_an_input() {
    let csv = "p,y\n0.5,1\n";
    let files = Files::with("p.csv", csv);
    std::fs::create_dir(files.path("sub")).expect("a directory");
    for output in ["p.csv", "./p.csv", "sub/../p.csv"] {
        files
            .evaluate(&format!("p.csv --output {output}"))
            .refused(&["--output", output, "p.csv", "another name"]);
    }
    files.write("p.svg", csv);
    files
        .evaluate("p.svg --plot p.svg")
        .refused(&["--plot", "p.svg", "another name"]);
    assert_eq!(files.read("p.csv"), csv.as_bytes());
    assert_eq!(files.read("p.svg"), csv.as_bytes());
}

#[test]
fn plots_are_of_three_kinds() {
    for name in ["x.jpg", "x.pdf", "x", "svg"] {
        refused(
            &format!("--plot {name}"),
            &["--plot", name, ".svg", ".png", ".html"],
        );
    }
}

#[test]
fn a_missing_file_and_a_directory_are_named() {
    evaluate("nowhere/nothing.csv").refused(&["nowhere/nothing.csv", "cannot be read"]);
    evaluate("tests").refused(&["tests", "irectory"]);
    evaluate(&format!("{NFL} nothing.csv")).refused(&["nothing.csv"]);
}

#[test]
fn what_cannot_be_written_is_named() {
    refused(
        "--output nowhere/x.json",
        &["--output nowhere/x.json", "no directory nowhere"],
    );
    refused("--output tests", &["--output tests", "irectory"]);
    refused(
        "--plot nowhere/x.svg",
        &["--plot", "nowhere/x.svg", "no directory nowhere"],
    );
}

#[test]
fn labels_of_their_own_are_for_arrays() {
    refused(&format!("--labels {NFL}"), &["--labels", ".npy", "--label"]);
}

#[test]
fn columns_that_are_not_there_are_refused_with_those_that_are() {
    for flag in ["--confidence", "--label", "--group-by"] {
        refused(
            &format!("{flag} nothing"),
            &[NFL, "nothing", flag, "`confidence`", "`label`", "`group`"],
        );
    }
}

#[test]
fn errors_of_other_commands() {
    rankece(["devices", "--format", "csv"]).refused(&["csv", "--format", "table, json"]);
    rankece(["selfcheck", "--backend", "cpu", "--adapter", "0"]).refused(&["--adapter"]);
    rankece(["selfcheck", "extra"]).refused(&["extra"]);
}

#[test]
fn quiet_does_not_silence_errors() {
    evaluate("nothing.csv --quiet").refused(&["nothing.csv"]);
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in [["--help"].as_slice(), &["evaluate", "--help"]] {
        let outcome = rankece(arguments.iter().copied()).done();
        assert!(outcome.stdout.contains("Usage: rankece"));
    }
    let version = rankece(["--version"]).done();
    assert_eq!(
        version.stdout.trim(),
        concat!("rankece ", env!("CARGO_PKG_VERSION"))
    );
}

/// A flag cannot unset a key of the file: what the file says for other tests than those of the flags
/// was an error.
#[test]
fn regression_flags_leave_keys_of_the_file_unused() {
    let files = Files::with(
        "power.toml",
        "curve = \"quartic\"\nlaw = \"beta:0.15\"\nn = [50]\nreplicates = 100\n\
         tests = [\"adaptive\", \"skce-u\"]\nresamples = 19\nkernel = \"laplace\"\n\
         bandwidth = 0.2\nskce_null = \"wild\"\n",
    );
    let run = |arguments: &str| rankece(arguments.split_whitespace()).directory(&files.path("."));
    let told = run("power power.toml --tests conditional --backend cpu --format json").done();
    let notes: Vec<&str> = told.stderr.lines().collect();
    let keys = ["resamples", "kernel", "bandwidth", "skce_null"];
    assert_eq!(notes.len(), keys.len(), "{}", told.stderr);
    for (note, key) in notes.iter().zip(keys) {
        let expected = format!(
            "note: power.toml: `{key}` is not used: it is for other tests than those of --tests"
        );
        assert_eq!(*note, expected);
    }
    // The run is that without these keys.
    let flags = "power --law beta:0.15 --curve quartic --n 50 --replicates 100 --tests conditional";
    let alone = run(&format!("{flags} --backend cpu --format json")).done();
    assert_eq!((told.stdout, alone.stderr.as_str()), (alone.stdout, ""));

    // --solve-n looks for the n that the file gives, and --n gives one where the file has it looked for.
    let solved = run("power power.toml --tests conditional --solve-n 0.5 --backend cpu").done();
    assert!(
        solved
            .stderr
            .contains("`n` is not used: --solve-n looks for n"),
        "{}",
        solved.stderr
    );
    files.write(
        "solve.toml",
        "curve = \"quartic\"\nsolve_n = 0.5\nreplicates = 100\n",
    );
    let grid = run("power solve.toml --n 50 --backend cpu").done();
    assert!(
        grid.stderr.contains("`solve_n` is not used: --n gives"),
        "{}",
        grid.stderr
    );

    files.write("cost.toml", "n = [50]\nruns = 1\nresamples = 19\n");
    let cost = run("cost cost.toml --tests asymptotic --backend cpu").done();
    assert!(
        cost.stderr.contains("cost.toml: `resamples` is not used"),
        "{}",
        cost.stderr
    );

    // What flags contradict, and what a file contradicts by itself, are errors as before.
    run("power power.toml --tests conditional --resamples 9")
        .refused(&["resamples", "leave it out"]);
    files.write(
        "odd.toml",
        "curve = \"quartic\"\nn = [50]\nresamples = 19\n",
    );
    run("power odd.toml").refused(&["resamples", "leave it out"]);
}
