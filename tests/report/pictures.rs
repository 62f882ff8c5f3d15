//! Reliability diagrams.

use std::path::PathBuf;

use rankece::evaluation::Evaluation;
use rankece::report::plot;

use super::samples::{article, groups, nothing, wavy, with_bins};

fn pictures() -> Vec<(String, Evaluation)> {
    let mut pictures = vec![
        ("article".to_owned(), article()),
        ("nothing".to_owned(), nothing()),
    ];
    for bins in [3, 10, 20, 50, 1000] {
        pictures.push((format!("bins-{bins}"), with_bins(wavy(bins, 12_345))));
    }
    let mut long = with_bins(wavy(20, 1_000_000_000));
    long.results[0].source = "/data/<&>/".to_owned() + &"very/long/".repeat(20) + "name.csv";
    let mut group = groups(1).results.remove(0).group;
    group
        .as_mut()
        .unwrap()
        .insert("x".to_owned(), "long ".repeat(40));
    long.results[0].group = group;
    pictures.push(("long".to_owned(), long));
    for panels in [2, 5, 25] {
        pictures.push((format!("groups-{panels}"), groups(panels)));
    }
    pictures
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn every_picture_is_written() {
    for (name, evaluation) in pictures() {
        for extension in ["svg", "png", "html"] {
            let path = folder().join(format!("{name}.{extension}"));
            plot::write(&path, &evaluation).unwrap();
        }
    }
}
