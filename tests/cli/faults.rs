//! Faults that the program once had.

use super::program::{Files, NFL, evaluate};

/// Starting a million threads took all memory.
#[test]
fn threads_without_bound() {
    evaluate(&format!("{NFL} --threads 1000000")).refused(&["--threads", "1000000", "1024"]);
}

/// `--alpha -0.1` was answered by "unexpected argument '-0'".
#[test]
fn negative_values_taken_for_flags() {
    for flags in ["--alpha -0.1", "--seed -1", "--threads -2", "--bins -10"] {
        let (flag, value) = flags.split_once(' ').expect("a flag and a value");
        evaluate(&format!("{NFL} {flags}")).refused(&["invalid value", flag, value]);
    }
}

/// The picture was overwritten by the results.
#[test]
fn plot_and_output_in_one_file() {
    let files = Files::with("p.csv", "p,y\n0.5,1\n");
    for output in ["x.svg", "./x.svg"] {
        files
            .evaluate(&format!("p.csv --plot x.svg --output {output}"))
            .refused(&["--plot x.svg", "--output"]);
    }
    assert_eq!(files.names(), ["p.csv"]);
}

/// Only the FILEs were spared, and not that of --labels.
#[test]
fn labels_overwritten() {
    let files = Files::with("p.csv", "p,y\n0.5,1\n");
    files.write("labels.txt", "1\n");
    files
        .evaluate("p.npy --labels labels.txt --output labels.txt")
        .refused(&["--output labels.txt", "would be lost"]);
    assert_eq!(files.read("labels.txt"), b"1\n");
}

/// The results were written under this name first, over whatever had it.
#[test]
fn file_with_the_name_of_a_partial_output_overwritten() {
    let files = Files::with("out.partial", "p,y\n0.5,1\n");
    files.evaluate("out.partial --output out").done();
    assert_eq!(files.read("out.partial"), b"p,y\n0.5,1\n");
}

/// A link was replaced by a file, and so would be a device.
#[cfg(unix)]
#[test]
fn links_and_pipes_replaced_by_output() {
    let files = Files::with("p.csv", "p,y\n0.5,1\n");
    files.write("target", "before");
    std::os::unix::fs::symlink("target", files.path("link")).expect("a link");
    files.evaluate("p.csv --output link --format csv").done();
    assert!(files.text("target").starts_with("# backend cpu\n"));
    let link = std::fs::symlink_metadata(files.path("link")).expect("the link");
    assert!(link.is_symlink());

    let printed = files
        .evaluate("p.csv --output /dev/stdout --format csv")
        .done();
    assert_eq!(printed.stdout, files.text("target"));
    let dashed = files.evaluate("p.csv --output - --format csv").done();
    assert_eq!(dashed.stdout, files.text("target"));
    assert_eq!(files.names(), ["link", "p.csv", "target"]);
}

/// The message began with a colon.
#[test]
fn empty_name_of_a_file() {
    evaluate("").argument("").refused(&["FILE is empty"]);
}

/// Bins without bound took all memory.
#[test]
fn bins_without_bound_over_many_groups() {
    let rows: String = (0..1000).map(|g| format!("0.5,1,{g}\n")).collect();
    let files = Files::with("p.csv", "p,y,g\n".to_owned() + &rows);
    files
        .evaluate("p.csv --group-by g --bins 16777216")
        .refused(&["--bins", "16777216000", "1000 results"]);
}
