//! The one font of all pictures, bundled, so that they look the same everywhere.

use std::sync::{Arc, LazyLock};

use resvg::usvg::{self, fontdb};

/// What SVG viewers are asked for: the bundled font, or one of the same widths, or any.
pub const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

/// DejaVu Sans, reduced to the scripts named in `assets/DejaVuSans-LICENSE.txt`.
const DATA: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

static DATABASE: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut database = fontdb::Database::new();
    database.load_font_data(DATA.to_vec());
    Arc::new(database)
});

/// How SVG is read: with the bundled font and no other.
pub fn options() -> usvg::Options<'static> {
    usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: DATABASE.clone(),
        ..usvg::Options::default()
    }
}

/// The width of a text in units of its font size.
pub fn width(text: &str) -> f64 {
    // Measured at a large size, so that nothing is lost to rounding.
    const SIZE: f64 = 100.0;
    let mut svg = String::from(r#"<svg xmlns="http://www.w3.org/2000/svg"><text "#);
    svg.push_str(&format!(r#"font-family="{FAMILY}" font-size="{SIZE}">"#));
    push_escaped(&mut svg, text);
    svg.push_str("</text></svg>");
    let measured = match usvg::Tree::from_str(&svg, &options()) {
        Ok(tree) => f64::from(tree.root().abs_bounding_box().width()) / SIZE,
        Err(_) => 0.0,
    };
    // Characters that the bundled font lacks: viewers draw them in another one, up to 1 em wide.
    let foreign = text
        .chars()
        .filter(|&c| c >= '\u{590}' && !('\u{1E00}'..'\u{2600}').contains(&c));
    measured + 0.4 * foreign.count() as f64
}

/// Appends text to SVG or HTML.
pub fn push_escaped(markup: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '<' => markup.push_str("&lt;"),
            '>' => markup.push_str("&gt;"),
            '&' => markup.push_str("&amp;"),
            '"' => markup.push_str("&quot;"),
            '\'' => markup.push_str("&#39;"),
            other => markup.push(other),
        }
    }
}
