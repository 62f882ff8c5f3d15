// Draws the rows of large replicates and counts them by the leading bits of their uniform words. One
// thread a row.

#import dispatch
#import threefry

@group(0) @binding(0) var<uniform> params: Params;
// One counter for each part of each replicate; params.shift leaves a word's leading bits.
@group(0) @binding(1) var<storage, read_write> counts: array<atomic<u32>>;

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
    let replicate = number / params.tiles;
    let row = (number % params.tiles) * 256u + thread;
    if row < params.rows {
        let word = threefry(params.key, vec2<u32>(row, params.replicate + replicate)).x;
        let part = replicate * params.parts + (word >> params.shift);
        atomicAdd(&counts[part], 1u);
    }
}
