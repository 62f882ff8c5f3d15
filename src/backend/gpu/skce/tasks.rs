//! The kernel matrix cut into tasks, one for each workgroup.

use std::ops::Range;

/// Rows of a task (ROWS in `shaders/skce_forms.wgsl`, SIDE in `shaders/skce_form.wgsl`).
const ROWS: u32 = 64;
/// Columns of a task at most: so many are added up in f32 before f64 takes over.
const MOST_COLUMNS: u32 = 1024;

/// `Task` of `shaders/shared/pair_kernel.wgsl`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Task {
    pub first_row: u32,
    pub end_row: u32,
    pub first_column: u32,
    pub end_column: u32,
    pub gaussian: u32,
    pub padding: [u32; 3],
}

/// A task, with what the device need not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owned {
    pub task: Task,
    /// The sample it belongs to.
    pub sample: u32,
    /// The matrix is symmetric: what lies beyond the diagonal counts twice.
    pub twice: bool,
}

/// Columns of a task of a sample of `groups` distinct confidences: a small sample keeps a device busy
/// only in many small tasks.
pub fn columns(groups: usize) -> u32 {
    // Below the limit the cast is exact.
    let wanted = (groups / 16).min(MOST_COLUMNS as usize) as u32;
    wanted.next_multiple_of(ROWS).max(ROWS)
}

/// The tasks of rows and columns `range`, everything from the diagonal on.
pub fn triangle(range: Range<u32>, columns: u32, gaussian: bool, sample: u32) -> Vec<Owned> {
    let mut tasks = Vec::new();
    for rows in pieces(range.clone(), ROWS) {
        // The square on the diagonal holds every pair twice already.
        tasks.push(owned(rows.clone(), rows.clone(), gaussian, sample, false));
        for beyond in pieces(rows.end..range.end, columns) {
            tasks.push(owned(rows.clone(), beyond, gaussian, sample, true));
        }
    }
    tasks
}

/// The tasks of rows and columns that share none.
pub fn rectangle(
    rows: Range<u32>,
    columns: Range<u32>,
    width: u32,
    gaussian: bool,
    sample: u32,
) -> Vec<Owned> {
    let mut tasks = Vec::new();
    for rows in pieces(rows, ROWS) {
        for columns in pieces(columns.clone(), width) {
            tasks.push(owned(rows.clone(), columns, gaussian, sample, true));
        }
    }
    tasks
}

fn owned(rows: Range<u32>, columns: Range<u32>, gaussian: bool, sample: u32, twice: bool) -> Owned {
    Owned {
        task: Task {
            first_row: rows.start,
            end_row: rows.end,
            first_column: columns.start,
            end_column: columns.end,
            gaussian: u32::from(gaussian),
            padding: [0; 3],
        },
        sample,
        twice,
    }
}

fn pieces(range: Range<u32>, size: u32) -> impl Iterator<Item = Range<u32>> {
    let end = range.end;
    range
        .step_by(size as usize)
        .map(move |first| first..end.min(first.saturating_add(size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often tasks count each pair, (i, j) and (j, i) together.
    fn counts(tasks: &[Owned], size: usize) -> Vec<Vec<u32>> {
        let mut counts = vec![vec![0; size]; size];
        for Owned { task, twice, .. } in tasks {
            for row in task.first_row..task.end_row {
                for column in task.first_column..task.end_column {
                    let (row, column) = (row as usize, column as usize);
                    counts[row.min(column)][row.max(column)] += 1 + u32::from(*twice);
                }
            }
        }
        counts
    }

    #[test]
    fn every_pair_is_counted_both_ways_round() {
        for size in [1, 2, 63, 64, 65, 127, 128, 129, 300] {
            let all = triangle(0..size, columns(size as usize), true, 0);
            let cut = size / 2;
            let mut halves = triangle(0..cut, 64, true, 0);
            halves.extend(rectangle(0..cut, cut..size, 128, true, 0));
            halves.extend(triangle(cut..size, 64, true, 0));
            for tasks in [all, halves] {
                for (row, counts) in counts(&tasks, size as usize).iter().enumerate() {
                    for (column, &count) in counts.iter().enumerate() {
                        let expected = match row.cmp(&column) {
                            std::cmp::Ordering::Less => 2,
                            std::cmp::Ordering::Equal => 1,
                            std::cmp::Ordering::Greater => 0,
                        };
                        assert_eq!(count, expected, "{size} rows, pair {row}, {column}");
                    }
                }
            }
        }
        assert!(triangle(0..0, 64, true, 0).is_empty());
    }

    #[test]
    fn tasks_are_whole_tiles_wide() {
        for groups in [0, 1, 64, 1_000, 1_025, 16_384, 1 << 30] {
            let columns = columns(groups);
            assert!(columns.is_multiple_of(ROWS) && (ROWS..=MOST_COLUMNS).contains(&columns));
        }
    }
}
