// How often each digit of eight bits occurs in each tile of 2,048 records.

#import dispatch

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
// Digit by digit, so that a scan of it gives where each tile's records of a digit go.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

const ROWS_PER_THREAD: u32 = 8u;

// Four copies of 256 counters, so that equal digits do not all wait for one counter.
var<workgroup> digits: array<atomic<u32>, 1024>;

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
    for (var copy = 0u; copy < 4u; copy++) {
        atomicStore(&digits[copy * 256u + thread], 0u);
    }
    workgroupBarrier();
    for (var i = 0u; i < ROWS_PER_THREAD; i++) {
        let row = (tile * ROWS_PER_THREAD + i) * 256u + thread;
        if row < params.count {
            let digit = (records[row * STRIDE + params.word] >> params.shift) & 255u;
            atomicAdd(&digits[(thread & 3u) * 256u + digit], 1u);
        }
    }
    workgroupBarrier();
    var count = 0u;
    for (var copy = 0u; copy < 4u; copy++) {
        count += atomicLoad(&digits[copy * 256u + thread]);
    }
    counts[thread * params.tiles + tile] = count;
}
