// Sorts each part of large replicates in the memory of one workgroup. The host defines CAPACITY, a
// power of two.

#import dispatch
#import bitonic

@group(0) @binding(0) var<uniform> params: Params;
// Where each part ends.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read_write> parts: array<u32>;
// Not 0 if a part was too large, which for uniform words all but never happens; nothing is sorted then.
@group(0) @binding(3) var<storage, read_write> overflow: atomic<u32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
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
    // Only as much of the network as the part needs.
    var needed = 2u;
    while needed < count {
        needed *= 2u;
    }
    for (var row = thread; row < needed; row += THREADS) {
        var word = 0xffffffffu;
        if row < count {
            word = parts[start + row];
        }
        words[row] = word;
    }
    bitonic_sort(needed, thread);
    for (var row = thread; row < count; row += THREADS) {
        parts[start + row] = words[row];
    }
}
