// Sums over the runs of equal confidence that begin in an item's rows, each with its boundary to the
// run after it. Twin of src/backend/cpu/reduce_runs.rs. One thread an item.

#import dispatch
#import rows
#import terms
#import items

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read> tile_positives: array<u32>;
@group(0) @binding(3) var<storage, read> pieces: array<Piece>;
@group(0) @binding(4) var<storage, read> items: array<Item>;
@group(0) @binding(5) var<storage, read_write> partial: array<RunSums>;

// The run that begins at `row`.
fn run_at(piece: Piece, row: u32) -> Run {
    let end = run_end(row, piece.end);
    return Run(
        piece.first_rank + (row - piece.start),
        confidence_q30(confidence_bits(row)),
        end - row,
        positives_between(row, end),
    );
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
    var sums: RunSums;

    var row = item.start;
    if row > piece.start && row < item.end {
        let bits = confidence_bits(row);
        if same_bits(bits, confidence_bits(row - 1u)) {
            row = run_end(row, piece.end);
        }
    }
    if row < item.end {
        var run = run_at(piece, row);
        loop {
            add_run(&sums, run);
            row += run.size;
            if row >= piece.end {
                break;
            }
            let next = run_at(piece, row);
            add_boundary(&sums, run, next);
            if row >= item.end {
                break;
            }
            run = next;
        }
    }
    partial[index] = sums;
}
