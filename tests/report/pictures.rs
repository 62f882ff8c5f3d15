//! Reliability diagrams.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankece::backend::Scheme;
use rankece::report::plot::{self, PlotError};
use rankece::results::Evaluation;
use resvg::tiny_skia::Pixmap;
use resvg::usvg::{self, Node, Rect};

use super::samples::{article, bin, groups, nothing, wavy, with_bins};

fn pictures() -> Vec<(String, Evaluation)> {
    let mut pictures = vec![
        ("article".to_owned(), article()),
        ("nothing".to_owned(), nothing()),
    ];
    for bins in [1, 3, 10, 20, 50, 1000] {
        pictures.push((format!("bins-{bins}"), with_bins(wavy(bins, 12_345))));
    }
    let mut long = with_bins(wavy(20, 4_294_967_295));
    long.results[0].source = "/data/<&>/".to_owned() + &"very/long/".repeat(20) + "name.csv";
    let mut group = groups(1).results.remove(0).group;
    let columns = group.as_mut().unwrap();
    columns.insert("x".to_owned(), "long ".repeat(40));
    columns.insert("y".to_owned(), "中文".repeat(40));
    long.results[0].group = group;
    pictures.push(("long".to_owned(), long));
    let mut one = with_bins(wavy(3, 1));
    one.results[0].binned[0].table[2] = bin(0.75, 1.0, 4_294_967_295, 1.0, 1.0);
    pictures.push(("one".to_owned(), one));
    let mut mass = with_bins(wavy(15, 1000));
    let binned = &mut mass.results[0].binned[0];
    (binned.scheme, binned.closed) = (Scheme::EqualMass, None);
    binned.table = (0..15)
        .map(|j| {
            let lower = (f64::from(j) / 15.0).powi(4);
            let upper = (f64::from(j + 1) / 15.0).powi(4) - 1e-3 * lower;
            bin(
                lower,
                upper,
                66,
                f64::midpoint(lower, upper),
                upper.sqrt() * 0.9,
            )
        })
        .collect();
    pictures.push(("equal-mass".to_owned(), mass));
    for panels in [2, 5, 12, 25] {
        pictures.push((format!("groups-{panels}"), groups(panels)));
    }
    let mut files = groups(3);
    for (number, result) in files.results.iter_mut().enumerate() {
        result.source = format!("{}/file-{number}.csv", "folder/".repeat(9));
        result.rank_ece.estimate = Some(-1.234567e-10);
    }
    pictures.push(("files".to_owned(), files));
    pictures
}

/// Opened with the bundled font and no other.
fn open(svg: &str) -> usvg::Tree {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../../assets/DejaVuSans-subset.ttf").to_vec());
    let options = usvg::Options {
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    usvg::Tree::from_str(svg, &options).unwrap()
}

/// The boxes of all texts, with what they say.
fn texts(group: &usvg::Group, found: &mut Vec<(String, Rect)>) {
    for node in group.children() {
        match node {
            Node::Group(group) => texts(group, found),
            Node::Text(text) => {
                let says: String = text.chunks().iter().map(|chunk| chunk.text()).collect();
                found.push((says, text.abs_bounding_box()));
            }
            _ => {}
        }
    }
}

#[test]
fn no_text_overlaps_another_or_leaves_the_picture() {
    for (name, evaluation) in pictures() {
        let tree = open(&plot::svg(&evaluation).unwrap());
        let mut found = Vec::new();
        texts(tree.root(), &mut found);
        assert!(found.len() > 10, "{name} has hardly any text");
        let (width, height) = (tree.size().width(), tree.size().height());
        for (place, (says, area)) in found.iter().enumerate() {
            assert!(
                area.left() >= 4.0
                    && area.top() >= 4.0
                    && area.right() <= width - 2.0
                    && area.bottom() <= height - 4.0,
                "{name}: {says:?} at {area:?} leaves the {width} x {height} picture"
            );
            for (other, other_area) in &found[..place] {
                let apart = area.left() >= other_area.right()
                    || other_area.left() >= area.right()
                    || area.top() >= other_area.bottom()
                    || other_area.top() >= area.bottom();
                // Boxes of lines are as tall as the tallest letters of the font; a hair of overlap
                // between lines is no overlap of letters.
                let hair =
                    (area.bottom().min(other_area.bottom())) - (area.top().max(other_area.top()));
                assert!(apart || hair < 1.0, "{name}: {says:?} overlaps {other:?}");
            }
        }
    }
}

#[test]
fn pictures_are_well_formed_and_say_their_numbers() {
    for (name, evaluation) in pictures() {
        let svg = plot::svg(&evaluation).unwrap();
        let document = roxmltree::Document::parse(&svg).unwrap();
        let says: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("text"))
            .filter_map(|node| node.text())
            .flat_map(str::split_whitespace)
            .collect();
        let says = says.join(" ");
        assert!(says.contains("rankece 0.1.0, backend"), "{name}: {says}");
        assert!(says.contains("seed 1, alpha 0.05"), "{name}: {says}");
        assert!(!says.to_lowercase().contains("nan"), "{name}: {says}");
    }
    let svg = plot::svg(&article()).unwrap().replace('\n', " ");
    for expected in [
        "rank_ece -0.095625",
        "ece_l1 0.1 with 4 equal-width",
        "p = 0.8542",
        "4 rows (f64)",
    ] {
        assert!(svg.contains(expected), "{expected} is missing");
    }
    assert!(
        plot::svg(&groups(25))
            .unwrap()
            .contains("13 more results left out")
    );
}

#[test]
fn points_lie_where_the_bins_say() {
    let svg = plot::svg(&article()).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let number =
        |node: &roxmltree::Node, name| node.attribute(name).unwrap().parse::<f64>().unwrap();
    // The frame of the axes is drawn as its longest vertical lines.
    let lines: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name("line"))
        .collect();
    let long = lines
        .iter()
        .filter(|n| (number(n, "y1") - number(n, "y2")).abs() > 5000.0)
        .map(|n| {
            (
                number(n, "x1"),
                number(n, "y1").min(number(n, "y2")),
                number(n, "y1").max(number(n, "y2")),
            )
        });
    let (mut left, mut right, mut top, mut bottom) = (f64::MAX, 0.0f64, f64::MAX, 0.0f64);
    for (x, high, low) in long {
        (left, right) = (left.min(x), right.max(x));
        (top, bottom) = (top.min(high), bottom.max(low));
    }
    assert_eq!(right - left, bottom - top, "the axes are square");
    let points: Vec<(f64, f64)> = document
        .descendants()
        .filter(|node| node.has_tag_name("circle"))
        .map(|node| {
            (
                (number(&node, "cx") - left) / (right - left),
                (bottom - number(&node, "cy")) / (bottom - top),
            )
        })
        .collect();
    for (confidence, label) in [(0.6, 0.5), (0.9, 1.0)] {
        assert!(
            points
                .iter()
                .any(|p| (p.0 - confidence).abs() < 1e-3 && (p.1 - label).abs() < 1e-3),
            "no point at {confidence}, {label} in {points:?}"
        );
    }
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

#[test]
fn the_name_of_the_file_chooses_the_format() {
    for (name, evaluation) in pictures() {
        for extension in ["svg", "png", "html"] {
            let path = folder().join(format!("{name}.{extension}"));
            plot::write(&path, &evaluation).unwrap();
            let bytes = std::fs::read(&path).unwrap();
            match extension {
                "png" => {
                    let picture = Pixmap::decode_png(&bytes).unwrap();
                    let tree = open(&plot::svg(&evaluation).unwrap());
                    assert_eq!(picture.width(), (2.0 * tree.size().width()).ceil() as u32);
                    assert_eq!(picture.height(), (2.0 * tree.size().height()).ceil() as u32);
                    let dark = picture.pixels().iter().filter(|p| p.red() < 128).count();
                    assert!(dark > 1000, "{name} is blank");
                }
                "svg" => assert!(bytes.starts_with(b"<svg ")),
                _ => assert_is_self_contained(std::str::from_utf8(&bytes).unwrap()),
            }
        }
    }
}

fn assert_is_self_contained(page: &str) {
    assert!(page.starts_with("<!DOCTYPE html>"));
    for reference in [
        "<script", "src=", "href=", "@import", "url(", "<link", "<iframe",
    ] {
        assert!(!page.contains(reference), "{reference} in {page}");
    }
    let addresses = page.matches("http").count();
    assert_eq!(
        addresses,
        page.matches("xmlns=\"http://www.w3.org/2000/svg\"").count()
    );
    assert!(page.contains("<table>") && page.contains("rank_ece"));
}

#[test]
fn markup_in_names_is_text() {
    let mut evaluation = article();
    evaluation.results[0].source = "<script>alert(1)</script> & \"x\".csv".to_owned();
    let svg = plot::svg(&evaluation).unwrap();
    roxmltree::Document::parse(&svg).unwrap();
    let page = plot::html(&evaluation, &svg);
    assert!(!page.contains("<script"));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;x&quot;.csv"));
    evaluation.results[0].source = "a\u{1}\u{FFFF}\u{1b}\n.csv".to_owned();
    roxmltree::Document::parse(&plot::svg(&evaluation).unwrap()).unwrap();
}

#[test]
fn what_cannot_be_plotted_is_refused() {
    for name in ["plot", "plot.pdf", "svg"] {
        let error = plot::write(Path::new(name), &article()).unwrap_err();
        assert!(matches!(error, PlotError::UnknownExtension(_)));
        assert!(error.to_string().contains(".svg, .png or .html"), "{error}");
    }
    let mut evaluation = article();
    evaluation.results[0].binned.clear();
    let path = folder().join("refused.svg");
    let error = plot::write(&path, &evaluation).unwrap_err();
    assert!(error.to_string().contains("needs bins"), "{error}");
    evaluation.results.clear();
    assert!(matches!(plot::svg(&evaluation), Err(PlotError::NoResults)));
    let error = plot::write(&folder().join("no/such/folder.svg"), &article()).unwrap_err();
    assert!(matches!(error, PlotError::Write { .. }));
}
