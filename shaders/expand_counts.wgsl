// The sorted words that were counted: row r is the word with starts[word] <= r < starts[word + 1].
// One thread a row.

#import dispatch

@group(0) @binding(0) var<uniform> params: Params;
// The exclusive scan of the counts; entry params.tiles is the number of rows.
@group(0) @binding(1) var<storage, read> starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sorted: array<u32>;

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let row = group_number(params, group, groups) * 256u + thread;
    if row >= params.count {
        return;
    }
    // The last word that starts at or before the row.
    var low = 0u;
    var high = params.tiles;
    while high - low > 1u {
        let middle = (low + high) / 2u;
        if starts[middle] <= row {
            low = middle;
        } else {
            high = middle;
        }
    }
    sorted[row] = low;
}
