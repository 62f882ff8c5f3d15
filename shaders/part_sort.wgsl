// Sorts each part of large replicates in the memory of one workgroup. The host defines CAPACITY, a
// power of two.

#import dispatch
#import even_sort

@group(0) @binding(0) var<uniform> params: Params;
// Where each part ends.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read_write> parts: array<u32>;
// Not 0 if a part was too large, which for uniform words all but never happens; nothing is sorted then.
@group(0) @binding(3) var<storage, read_write> overflow: atomic<u32>;

// By the bits after those that a part's words share.
fn bucket_of(params: Params, word: u32) -> u32 {
    return (word << (32u - params.shift)) / (0xffffffffu / BUCKETS + 1u);
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
    let part = group_number(params, group, groups);
    if part >= params.end_group {
        return;
    }
    var start = 0u;
    if part > 0u {
        start = ends[part - 1u];
    }
    let count = ends[part] - start;
    if count > CAPACITY {
        if thread == 0u {
            atomicAdd(&overflow, 1u);
        }
        return;
    }
    var own: array<u32, PER_THREAD>;
    for (var i = 0u; i < PER_THREAD; i++) {
        let row = i * THREADS + thread;
        if row < count {
            own[i] = parts[start + row];
        }
    }
    even_sort(params, &own, count, thread, lane, lanes);
    for (var row = thread; row < count; row += THREADS) {
        parts[start + row] = words[row];
    }
}
