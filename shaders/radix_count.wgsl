// How often each digit occurs in each tile of 2,048 records.

#import dispatch

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
// Digit by digit, so that a scan of it gives where each tile's records of a digit go.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

const ROWS_PER_THREAD: u32 = 8u;

// Sixteen copies of sixteen counters, so that equal digits do not all wait for one counter.
var<workgroup> digits: array<atomic<u32>, 256>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let tile = group_number(params, group, groups);
    if tile >= params.end_group {
        return;
    }
    atomicStore(&digits[thread], 0u);
    workgroupBarrier();
    for (var i = 0u; i < ROWS_PER_THREAD; i++) {
        let row = (tile * ROWS_PER_THREAD + i) * 256u + thread;
        if row < params.count {
            let digit = (records[row * STRIDE + params.word] >> params.shift) & 15u;
            atomicAdd(&digits[(thread & 15u) * 16u + digit], 1u);
        }
    }
    workgroupBarrier();
    if thread < 16u {
        var count = 0u;
        for (var copy = 0u; copy < 16u; copy++) {
            count += atomicLoad(&digits[copy * 16u + thread]);
        }
        counts[thread * params.tiles + tile] = count;
    }
}
