//! Files that are refused: the file, the row, the column, the value, and what to do are named.

use super::program::Files;

/// Asserts that a file `p.csv` of these contents is refused with all of `parts`.
#[track_caller]
fn refused(contents: impl AsRef<[u8]>, flags: &str, parts: &[&str]) {
    let files = Files::with("p.csv", contents);
    let mut all = vec!["error: p.csv"];
    all.extend(parts);
    files.evaluate(&format!("p.csv {flags}")).refused(&all);
}

#[test]
fn confidences_outside_the_unit_interval() {
    for value in ["1.0000001", "-0.0000001", "1e300", "inf", "-inf", "-1e-320"] {
        refused(
            format!("p,y\n0.5,1\n{value},0\n"),
            "",
            &["row 2", "column `p`", value, "not in [0, 1]"],
        );
    }
}

#[test]
fn a_hint_names_logits_and_percentages() {
    refused(
        "p,y\n-3.5,1\n4.25,0\n",
        "",
        &["row 1", "-3.5", "logits", "sigmoid"],
    );
    refused(
        "p,y\n90,1\n80,0\n",
        "",
        &["row 1", "90", "percentages", "divide by 100"],
    );
    refused(
        "p,y\n0.5,1\n1.0000002,0\n",
        "",
        &["row 2", "1.0000002", "rounding", "never clipped"],
    );
}

#[test]
fn missing_confidences() {
    for value in ["", "nan", "NaN", "-nan", "NA", "null"] {
        // "-nan" is what C prints for a NaN whose sign bit is set.
        refused(
            format!("p,y\n0.5,1\n{value},0\n"),
            "",
            &["row 2", "column `p`"],
        );
    }
    refused("p,y\n0.5,1\n,0\n", "", &["missing", "--skip-missing"]);
}

#[test]
fn missing_labels() {
    refused(
        "p,y\n0.5,1\n0.5,\n",
        "",
        &["row 2", "column `y`", "missing", "--skip-missing"],
    );
}

#[test]
fn labels_that_are_not_binary() {
    refused(
        "p,y\n0.5,1\n0.5,2\n",
        "",
        &["row 2", "column `y`", "`2`", "--positive"],
    );
    refused(
        "p,y\n0.5,cat\n0.5,dog\n",
        "",
        &["row 1", "column `y`", "`cat`", "--positive"],
    );
    refused("p,y\n0.5,0.5\n", "", &["row 1", "column `y`", "0.5"]);
    refused(
        "p,y\n0.5,1\n0.5,-1\n0.5,0\n",
        "",
        &["row 3", "column `y`", "-1 and 0"],
    );
}

#[test]
fn a_positive_value_that_no_label_has() {
    refused(
        "p,y\n0.5,cat\n0.5,dog\n",
        "--positive horse",
        &["column `y`", "`horse`", "--positive", "`cat`", "`dog`"],
    );
}

#[test]
fn columns_of_different_length() {
    refused("p,y\n0.5,1\n0.5\n", "", &["row 2", "1 field ", "2"]);
    refused("p,y\n0.5,1,9\n", "", &["row 1", "3 fields", "2"]);
}

#[test]
fn files_without_rows() {
    refused("", "", &["empty"]);
    refused("p,y\n", "", &["no rows"]);
    refused(
        "p,y\nnan,1\n0.5,\n",
        "--skip-missing",
        &["every one of the 2 rows"],
    );
}

#[test]
fn two_candidates_and_no_flag() {
    refused(
        "p,prob,y\n0.5,0.5,1\n",
        "",
        &["`p`", "`prob`", "--confidence"],
    );
    refused("p,y,label\n0.5,1,1\n", "", &["`y`", "`label`", "--label"]);
}

#[test]
fn no_candidate() {
    refused("foo,y\n0.5,1\n", "", &["--confidence", "`foo`"]);
    refused("p,bar\n0.5,1\n", "", &["--label", "`bar`"]);
}

#[test]
fn columns_of_one_name() {
    refused("p,y,p\n0.5,1,0.6\n", "", &["`p`"]);
}

#[test]
fn no_header() {
    refused("0.5,1\n0.6,0\n", "", &["header", "confidence,label"]);
}

#[test]
fn what_is_no_number() {
    refused(
        "p,y\nhigh,1\n",
        "",
        &["row 1", "column `p`", "`high`", "not a number"],
    );
    refused("p,y\n\"0,5\",1\n", "", &["row 1", "`0,5`", "point"]);
    refused("p,y\n50%,1\n", "", &["row 1", "`50%`", "divide by 100"]);
    refused("p,y\n0x1p-3,1\n", "", &["row 1", "`0x1p-3`"]);
}

#[test]
fn groups_without_a_value() {
    refused(
        "p,y,g\n0.5,1,a\n0.5,1,\n",
        "--group-by g",
        &["row 2", "column `g`", "missing"],
    );
}

#[test]
fn columns_that_look_swapped() {
    refused(
        "p,y\n0,0.1\n1,0.9\n",
        "",
        &["row 1", "column `y`", "0.1", "swapped"],
    );
}

#[test]
fn what_has_no_known_format() {
    refused([0u8, 159, 146, 150, 7, 255, 0, 0], "", &["format"]);
    refused(b"PAR1 this is not Parquet", "", &[]);
    refused(b"\x93NUMPY\x01\x00\xff\xff{", "", &[]);
    refused(b"PK\x03\x04nothing", "", &[]);
    refused(b"\x1f\x8b\x08\x00nothing", "", &[]);
    refused(b"ARROW1\0\0\xff\xff\xff\xff\x10\0\0\0", "", &[]);
    refused(b"{\"p\": 0.5, \"y\": 1}\n{\"p\": 0.5", "", &["row 2"]);
}

#[test]
fn the_second_of_two_files_is_named() {
    let files = Files::with("good.csv", "p,y\n0.5,1\n");
    files.write("bad.csv", "p,y\n0.5,1\n0.7,x\n");
    files
        .evaluate("good.csv bad.csv")
        .refused(&["bad.csv, row 2, column `y`", "`x`"]);
}

#[test]
fn standard_input_is_named() {
    Files::new()
        .evaluate("-")
        .input("p,y\n0.5,1\n2,0\n")
        .refused(&["standard input, row 2, column `p`", "2"]);
    Files::new()
        .evaluate("-")
        .refused(&["standard input", "empty"]);
}

#[test]
fn rows_are_counted_without_the_header() {
    let mut csv = "p,y\n".to_owned();
    csv.push_str(&"0.5,1\n".repeat(70_000));
    csv.push_str("7,1\n");
    refused(csv, "", &["row 70001", "column `p`"]);
}

/// A flag that takes a column which another was guessed to be gave an error that contradicted itself.
#[test]
fn regression_flags_that_want_one_column() {
    let file = "confidence,label,g\n0.5,1,a\n0.25,0,b\n";
    let columns = "Columns: `confidence`, `label`, `g`.";
    refused(
        file,
        "--label confidence",
        &[
            "--label names column `confidence`",
            "usual for confidences",
            "with --confidence",
            columns,
        ],
    );
    refused(
        file,
        "--confidence label",
        &[
            "--confidence names column `label`",
            "usual for labels",
            "with --label",
            columns,
        ],
    );
    refused(
        file,
        "--confidence g --label g",
        &["--confidence and --label both name column `g`", columns],
    );
    refused(
        file,
        "--group-by g,confidence",
        &[
            "--group-by names column `confidence`, which holds the confidences",
            "--confidence",
        ],
    );
    refused(
        file,
        "--group-by label",
        &[
            "--group-by names column `label`, which holds the labels",
            "--label",
        ],
    );
    refused(
        file,
        "--group-by g,g",
        &["--group-by names column `g` twice", "once"],
    );
    // A name that is taken leaves the others to be found.
    let files = Files::with("p.csv", "p,score,y\n1,0.5,0.25\n0,0.5,0.75\n");
    let told = files
        .evaluate("p.csv --label p --confidence y")
        .done()
        .stderr;
    assert_eq!(told, "");
    let told = files.evaluate("p.csv --label p").done().stderr;
    assert!(
        told.contains("column `score` is read as the confidences"),
        "{told}"
    );
}
