// Sums over pairs and windows of four neighbours that begin in an item's rows. Twin of
// src/backend/cpu/reduce_rows.rs. One thread an item.

#import dispatch
#import rows
#import terms
#import items
#import placement

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read> tile_positives: array<u32>;
@group(0) @binding(3) var<storage, read> pieces: array<Piece>;
@group(0) @binding(4) var<storage, read> items: array<Item>;
@group(0) @binding(5) var<storage, read_write> partial: array<RowSums>;

// The residuals of a piece's rows in order.
struct Residuals {
    row: u32,
    run_start: u32,
    run_end: u32,
    confidence: u32,
    // Whether the run's labels are placed.
    tied: bool,
    labels: TiedLabels,
}

fn enter_run(residuals: ptr<function, Residuals>, piece: Piece, first: bool) {
    let row = (*residuals).row;
    let bits = confidence_bits(row);
    (*residuals).confidence = confidence_q30(bits);
    (*residuals).run_start = row;
    (*residuals).run_end = row + 1u;
    (*residuals).tied = false;
    if params.placed == 0u {
        return;
    }
    // Only the first row asked for can lie inside a run; the others begin one.
    if first {
        (*residuals).run_start = lower_bound(piece.start, row, bits);
    }
    (*residuals).run_end = run_end(row, piece.end);
    let size = (*residuals).run_end - (*residuals).run_start;
    if size > 1u {
        (*residuals).tied = true;
        (*residuals).labels = tied_labels(
            params.key,
            piece.first_rank + ((*residuals).run_start - piece.start),
            size,
            positives_between((*residuals).run_start, (*residuals).run_end),
        );
    }
}

fn next_residual(residuals: ptr<function, Residuals>, piece: Piece, first: bool) -> i32 {
    let row = (*residuals).row;
    if first || row >= (*residuals).run_end {
        enter_run(residuals, piece, first);
    }
    var label = label_of(row) == 1u;
    if (*residuals).tied {
        label = is_positive((*residuals).labels, row - (*residuals).run_start);
    }
    (*residuals).row = row + 1u;
    return residual_q30(label, (*residuals).confidence);
}

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group_number(params, group, groups) * 64u + thread;
    if index >= params.count {
        return;
    }
    let item = items[index];
    let piece = pieces[item.piece];
    var sums: RowSums;
    var residuals: Residuals;
    residuals.row = item.start;

    // A window reaches three rows beyond its own.
    let end = item.end + min(3u, piece.end - item.end);
    var a = 0;
    var b = 0;
    var c = 0;
    for (var row = item.start; row < end; row++) {
        let d = next_residual(&residuals, piece, row == item.start);
        let seen = row - item.start;
        if seen >= 1u && row <= item.end {
            add_pair(&sums, c, d);
        }
        if seen >= 3u {
            add_window(&sums, a, b, c, d);
        }
        a = b;
        b = c;
        c = d;
    }
    partial[index] = sums;
}
