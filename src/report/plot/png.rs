//! SVG to PNG.

use resvg::{tiny_skia, usvg};

use super::{PlotError, font};

/// Pixels of the PNG for each pixel of the SVG.
const SCALE: f32 = 2.0;

/// Renders an SVG at twice its size in pixels, with the bundled font and no other.
///
/// # Errors
/// If the text is not SVG, or the picture does not fit into memory.
pub fn png(svg: &str) -> Result<Vec<u8>, PlotError> {
    let tree = usvg::Tree::from_str(svg, &font::options())
        .map_err(|error| PlotError::Drawing(error.to_string()))?;
    let size = tree.size();
    let pixels = |length: f32| (length * SCALE).ceil() as u32;
    let (width, height) = (pixels(size.width()), pixels(size.height()));
    let mut picture = tiny_skia::Pixmap::new(width, height)
        .ok_or_else(|| PlotError::Drawing(format!("no picture of {width} x {height} pixels")))?;
    let transform = tiny_skia::Transform::from_scale(SCALE, SCALE);
    resvg::render(&tree, transform, &mut picture.as_mut());
    picture
        .encode_png()
        .map_err(|error| PlotError::Drawing(error.to_string()))
}
