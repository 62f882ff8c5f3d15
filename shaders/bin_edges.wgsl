// Where bins begin in sorted rows, with the number of positives and the sum of confidences before
// that. Twin of src/backend/cpu/bin_edges.rs. One thread a query.

#import dispatch
#import rows
#import items

// What `kind` says to look for among a piece's rows: the rows not above the edge (0), those below it
// (1), the equal-mass boundary (2), or row `operand.x` of the records (3).
struct Query {
    piece: u32,
    kind: u32,
    // Bits of an edge; or, of an equal-mass boundary, the rank that decides.
    operand: vec2<u32>,
    // The least sum of the run's first rank and end for which the boundary is before the run.
    threshold: vec2<u32>,
}

struct Answer {
    // Rows of the records before the boundary.
    row: u32,
    // Positives among them.
    positives: u32,
    // Sum of their confidences, Q30.
    confidence: vec2<u32>,
    // The confidences on both sides of the boundary, where there are rows.
    below: vec2<u32>,
    above: vec2<u32>,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read> tile_positives: array<u32>;
@group(0) @binding(3) var<storage, read> tile_confidence: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> pieces: array<Piece>;
@group(0) @binding(5) var<storage, read> queries: array<Query>;
@group(0) @binding(6) var<storage, read_write> answers: array<Answer>;

// Twin of mass_boundary in src/backend/edges.rs.
fn mass_boundary(piece: Piece, query: Query) -> u32 {
    let row = piece.start + (query.operand.x - piece.first_rank);
    let first = lower_bound(piece.start, row, confidence_bits(row));
    let end = run_end(row, piece.end);
    let sum = add_64(
        vec2<u32>(piece.first_rank + (first - piece.start), 0u),
        vec2<u32>(piece.first_rank + (end - piece.start), 0u),
    );
    if less_bits(sum, query.threshold) {
        return end;
    }
    return first;
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
    let query = queries[index];
    let piece = pieces[query.piece];
    var row = query.operand.x;
    if query.kind == 0u {
        row = upper_bound(piece.start, piece.end, query.operand);
    } else if query.kind == 1u {
        row = lower_bound(piece.start, piece.end, query.operand);
    } else if query.kind == 2u {
        row = mass_boundary(piece, query);
    }

    var answer: Answer;
    answer.row = row;
    let tile = row / TILE_ROWS;
    answer.positives = tile_positives[tile];
    answer.confidence = tile_confidence[tile];
    for (var r = tile * TILE_ROWS; r < row; r++) {
        answer.positives += label_of(r);
        answer.confidence = add_64(
            answer.confidence,
            vec2<u32>(confidence_q30(confidence_bits(r)), 0u),
        );
    }
    if row > piece.start {
        answer.below = confidence_bits(row - 1u);
    }
    if row < piece.end {
        answer.above = confidence_bits(row);
    }
    answers[index] = answer;
}
