//! Several files of one type become one batch, so that a device gets all their groups together.

use super::{Loaded, SegmentInfo};
use crate::predictions::{Batch, Rows};

/// Segments of one or more files whose confidences have the same type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merged {
    /// The rows.
    pub batch: Batch,
    /// What each segment is.
    pub segments: Vec<SegmentInfo>,
    /// For each segment its place among the segments of all files, in the order of the files.
    pub places: Vec<usize>,
}

/// Merges files by the type of their confidences, without copying the rows of the first file of
/// each type. Their notes are left behind: print them before.
pub fn merge(files: Vec<Loaded>) -> Vec<Merged> {
    struct Part {
        rows: Rows,
        sizes: Vec<usize>,
        segments: Vec<SegmentInfo>,
        places: Vec<usize>,
    }
    let mut parts: Vec<Part> = Vec::new();
    let mut place = 0;
    for mut file in files {
        let end = place + file.segments.len();
        let ends = file.batch.offsets().windows(2);
        let sizes: Vec<usize> = ends.map(|ends| ends[1] - ends[0]).collect();
        let rows = std::mem::replace(file.batch.rows_mut().0, Rows::F64(Vec::new()));
        let same = parts
            .iter_mut()
            .find(|part| part.rows.dtype() == rows.dtype());
        match same {
            Some(part) => {
                append(&mut part.rows, rows);
                part.sizes.extend(sizes);
                part.segments.append(&mut file.segments);
                part.places.extend(place..end);
            }
            None => parts.push(Part {
                rows,
                sizes,
                segments: file.segments,
                places: (place..end).collect(),
            }),
        }
        place = end;
    }
    parts
        .into_iter()
        .map(|part| Merged {
            // Each size was that of a segment of a batch, and together they are all its rows.
            batch: Batch::new(part.rows, &part.sizes).expect("segments of valid batches"),
            segments: part.segments,
            places: part.places,
        })
        .collect()
}

/// Puts rows behind others of the same type.
fn append(rows: &mut Rows, more: Rows) {
    match (rows, more) {
        (Rows::F16(rows), Rows::F16(more)) | (Rows::Bf16(rows), Rows::Bf16(more)) => {
            rows.extend_from_slice(&more);
        }
        (Rows::F32(rows), Rows::F32(more)) => rows.extend_from_slice(&more),
        (Rows::F64(rows), Rows::F64(more)) => rows.extend_from_slice(&more),
        _ => unreachable!("the caller compares the types"),
    }
}
