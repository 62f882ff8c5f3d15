// A subsample without replacement in the memory of one workgroup. Twin of
// src/backend/cpu/subsample.rs. The host defines CAPACITY, a power of two of at least params.rows.

#import dispatch
#import placement
#import terms
#import even_sort
#import workgroup_sum

@group(0) @binding(0) var<uniform> params: Params;
// The rows of the population, params.count of them, in ascending order.
@group(0) @binding(1) var<storage, read> confidence: array<u32>;
// The number of the row's tied run, and in the lowest bit its label.
@group(0) @binding(2) var<storage, read> runs: array<u32>;
// Five numbers of 128 bits a subsample: n rankECE, squares, odd, even, conditional.
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;

// Places are even over the population; params.width is BUCKETS/params.count, in units of 2^-32.
fn bucket_of(params: Params, place: u32) -> u32 {
    return mul_wide(place, params.width).y;
}

fn run_number(row: u32) -> u32 {
    return runs[words[row]] >> 1u;
}

// The tied run of the subsample that begins at `row`.
fn run_at(row: u32) -> Run {
    let number = run_number(row);
    var end = row;
    var positives = 0u;
    while end < params.rows && run_number(end) == number {
        positives += runs[words[end]] & 1u;
        end++;
    }
    return Run(row, confidence[words[row]], end - row, positives);
}

fn begins_run(row: u32) -> bool {
    if row == 0u {
        return true;
    }
    return run_number(row) != run_number(row - 1u);
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
    let number = group_number(params, group, groups);
    if number >= params.end_group {
        return;
    }
    // The number of the subsample has its high word in params.start.
    let key = child(params.key, params.replicate + number, params.start);
    let places = permutation(key, params.count);
    var own_places: array<u32, PER_THREAD>;
    for (var i = 0u; i < PER_THREAD; i++) {
        let row = i * THREADS + thread;
        if row < params.rows {
            own_places[i] = place_at(places, row);
        }
    }
    even_sort(params, &own_places, params.rows, thread, lane, lanes);

    var own: RunSums;
    for (var row = thread; row < params.rows; row += THREADS) {
        if begins_run(row) {
            let run = run_at(row);
            add_run(&own, run);
            if row + run.size < params.rows {
                add_boundary(&own, run, run_at(row + run.size));
            }
        }
    }
    let base = number * 5u;
    let rank_ece = workgroup_sum(own.rank_ece, thread);
    let squares = workgroup_sum(own.null_squares, thread);
    let odd = workgroup_sum(own.null_odd, thread);
    let even = workgroup_sum(own.null_even, thread);
    let conditional = workgroup_sum(own.null_conditional, thread);
    if thread == 0u {
        sums[base] = rank_ece;
        sums[base + 1u] = squares;
        sums[base + 2u] = odd;
        sums[base + 3u] = even;
        sums[base + 4u] = conditional;
    }
}
