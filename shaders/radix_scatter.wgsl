// Moves each record of a tile of 2,048 to its place by the current digit of eight bits, keeping the
// order of equal digits. The tile is first sorted in the workgroup's memory, by one half of the digit
// after the other, so that records of equal digits, which go side by side, are written side by side.

#import dispatch
#import scan_vectors

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
// The exclusive scan of what radix_count counted.
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted: array<u32>;

const ROWS_PER_THREAD: u32 = 8u;
const TILE: u32 = 2048u;

// Of each row of the tile its number in it, and above that its digit.
var<workgroup> rows: array<u32, TILE>;
// From the place of a row in the sorted tile to its place among all, for each digit.
var<workgroup> offsets: array<u32, 256>;

// Counters of four bits for eight digits, as eight of sixteen bits: a tile's 2,048 rows fit.
fn spread(counters: u32) -> vec4<u32> {
    let bits = vec4<u32>(counters, counters >> 8u, counters >> 16u, counters >> 24u);
    return (bits & vec4<u32>(15u)) | ((bits & vec4<u32>(0xf0u)) << vec4<u32>(12u));
}

// Sorts the tile by four bits from `shift` on, keeping the order of equal ones.
fn split(shift: u32, thread: u32, lane: u32, lanes: u32) {
    // A thread takes consecutive rows, so that the order of threads is the order of rows.
    var own: array<u32, 8>;
    var counters = vec2<u32>(0u, 0u);
    for (var i = 0u; i < ROWS_PER_THREAD; i++) {
        let row = rows[thread * ROWS_PER_THREAD + i];
        own[i] = row;
        // A thread's eight rows cannot overflow four bits.
        let digit = (row >> shift) & 15u;
        let one = 1u << ((digit & 7u) * 4u);
        if digit < 8u {
            counters.x += one;
        } else {
            counters.y += one;
        }
    }
    let low = scan_vectors(spread(counters.x), thread, lane, lanes);
    let low_total = vectors_total;
    workgroupBarrier();
    let high = scan_vectors(spread(counters.y), thread, lane, lanes);
    let high_total = vectors_total;

    // Two digits a word: where the thread's next row of each goes.
    var next = array<u32, 8>(low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
    let totals = array<u32, 8>(
        low_total.x, low_total.y, low_total.z, low_total.w,
        high_total.x, high_total.y, high_total.z, high_total.w,
    );
    var start = 0u;
    for (var pair = 0u; pair < 8u; pair++) {
        let first = totals[pair] & 0xffffu;
        next[pair] += start | ((start + first) << 16u);
        start += first + (totals[pair] >> 16u);
    }
    for (var i = 0u; i < ROWS_PER_THREAD; i++) {
        let digit = (own[i] >> shift) & 15u;
        let pair = digit >> 1u;
        let half = (digit & 1u) * 16u;
        rows[(next[pair] >> half) & 0xffffu] = own[i];
        next[pair] += 1u << half;
    }
    workgroupBarrier();
}

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
    let first = tile * TILE;
    let count = min(TILE, params.count - first);
    for (var i = 0u; i < ROWS_PER_THREAD; i++) {
        let row = i * 256u + thread;
        // Of the last tile, rows beyond the end: they stay behind all others.
        var digit = 255u;
        if row < count {
            digit = (records[(first + row) * STRIDE + params.word] >> params.shift) & 255u;
        }
        rows[row] = (digit << 16u) | row;
    }
    workgroupBarrier();
    split(16u, thread, lane, lanes);
    split(20u, thread, lane, lanes);

    for (var place = thread; place < count; place += 256u) {
        let digit = rows[place] >> 16u;
        var begins = place == 0u;
        if !begins {
            begins = (rows[place - 1u] >> 16u) != digit;
        }
        if begins {
            offsets[digit] = starts[digit * params.tiles + tile] - place;
        }
    }
    workgroupBarrier();
    for (var place = thread; place < count; place += 256u) {
        let row = rows[place];
        let target_row = offsets[row >> 16u] + place;
        let source = first + (row & 0xffffu);
        for (var word = 0u; word < STRIDE; word++) {
            sorted[target_row * STRIDE + word] = records[source * STRIDE + word];
        }
    }
}
