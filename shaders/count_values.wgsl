// How often each word of 16 bits occurs, two words to an entry. One thread an entry.

#import dispatch

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> packed: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let number = group_number(params, group, groups);
    if number >= params.end_group {
        return;
    }
    let row = (number * 256u + thread) * 2u;
    if row < params.count {
        let pair = packed[row / 2u];
        atomicAdd(&counts[pair & 0xffffu], 1u);
        if row + 1u < params.count {
            atomicAdd(&counts[pair >> 16u], 1u);
        }
    }
}
