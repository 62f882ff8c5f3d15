// Adds to each block of 2,048 entries the scanned total of the blocks before it. With WIDE, entries
// are 64 bits.

#import dispatch
#import wide

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(2) var<storage, read> totals: array<Entry>;

#ifdef WIDE
alias Entry = vec2<u32>;
fn plus(a: Entry, b: Entry) -> Entry {
    return add_64(a, b);
}
#else
alias Entry = u32;
fn plus(a: Entry, b: Entry) -> Entry {
    return a + b;
}
#endif

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let block = group_number(params, group, groups);
    if block >= params.end_group {
        return;
    }
    let total = totals[block];
    for (var i = 0u; i < 8u; i++) {
        let entry = (block * 8u + i) * 256u + thread;
        if entry < params.count {
            entries[entry] = plus(total, entries[entry]);
        }
    }
}
