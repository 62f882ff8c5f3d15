//! Tables for people.

use rankece::report::Format;

use super::samples::{article, article_result, groups, nothing, test, wavy, with_bins};
use super::scripts::written;

fn table(evaluation: &rankece::evaluation::Evaluation) -> String {
    written(Format::Table, evaluation)
}

#[test]
fn show() {
    println!("{}", table(&article()));
    println!("{}", table(&with_bins(wavy(50, 1_000_000_000))));
    println!("{}", table(&groups(25)));
    println!("{}", table(&nothing()));
}
