//! A page with a figure and its numbers, which refers to nothing outside itself.

use super::super::font::push_escaped;
use super::super::html::{STYLE, push_table};
use super::figure::Figure;
use crate::report::number::significant;

/// The page: the picture and beneath it the numbers of every chart.
pub(super) fn page(figure: &Figure, svg: &str) -> String {
    let mut page = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n");
    page.push_str("<meta charset=\"utf-8\">\n");
    page.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.push_str("<title>");
    push_escaped(&mut page, &figure.title);
    page.push_str("</title>\n<style>");
    page.push_str(STYLE);
    page.push_str("</style>\n</head>\n<body>\n<figure>\n");
    page.push_str(svg);
    page.push_str("</figure>\n");
    for chart in figure
        .rows
        .iter()
        .flatten()
        .filter(|chart| !chart.series.is_empty())
    {
        let header = ["", &chart.x.name, &chart.y.name, "from", "to"];
        let rows = chart.series.iter().flat_map(|series| {
            let name = figure.legend.get(series.style).cloned().unwrap_or_default();
            series.marks.iter().map(move |mark| {
                let numbers = [mark.x, mark.y, mark.interval.0, mark.interval.1].map(significant);
                std::iter::once(name.clone()).chain(numbers).collect()
            })
        });
        push_table(&mut page, &chart.title, &header, rows);
    }
    page.push_str("</body>\n</html>\n");
    page
}
