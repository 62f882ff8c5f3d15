// Moves each record of a tile of 2,048 to its place by the current digit, keeping the order of equal
// digits.

#import dispatch
#import scan

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
// The exclusive scan of what radix_count counted.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<u32>;

const ROWS_PER_THREAD: u32 = 8u;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
#ifdef SUBGROUP
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
#endif
) {
#ifndef SUBGROUP
    let lane = 0u;
    let lanes = 1u;
#endif
    let tile = group_number(params, group, groups);
    if tile >= params.end_group {
        return;
    }
    // A thread takes consecutive rows, so that the order of threads is the order of rows.
    let first = (tile * 256u + thread) * ROWS_PER_THREAD;
    var end = first;
    if first < params.count {
        end = first + min(ROWS_PER_THREAD, params.count - first);
    }

    // Counters of four bits for sixteen digits: a thread's eight rows cannot overflow one.
    var own = vec2<u32>(0u, 0u);
    for (var row = first; row < end; row++) {
        let digit = (records[row * STRIDE + params.word] >> params.shift) & 15u;
        let one = 1u << ((digit & 7u) * 4u);
        if digit < 8u {
            own.x += one;
        } else {
            own.y += one;
        }
    }

    // Two digits a word: a tile's 2,048 rows fit 16 bits.
    var before: array<u32, 8>;
    for (var pair = 0u; pair < 8u; pair++) {
        var word = own.x;
        if pair >= 4u {
            word = own.y;
        }
        let bits = word >> ((pair & 3u) * 8u);
        let counts = (bits & 15u) | ((bits & 0xf0u) << 12u);
        before[pair] = workgroup_exclusive_scan(counts, thread, lane, lanes);
    }

    for (var row = first; row < end; row++) {
        let digit = (records[row * STRIDE + params.word] >> params.shift) & 15u;
        let pair = digit >> 1u;
        let half = (digit & 1u) * 16u;
        let rank = (before[pair] >> half) & 0xffffu;
        before[pair] += 1u << half;
        let place = starts[digit * params.tiles + tile] + rank;
        for (var word = 0u; word < STRIDE; word++) {
            sorted[place * STRIDE + word] = records[row * STRIDE + word];
        }
    }
}
