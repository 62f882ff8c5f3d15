// Exclusive scan inside each block of 2,048 entries, and the total of each block. With WIDE, entries
// are 64 bits.

#import dispatch
#import scan
#import wide

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(2) var<storage, read_write> totals: array<Entry>;

const ENTRIES_PER_THREAD: u32 = 8u;

#ifdef WIDE
alias Entry = vec2<u32>;
const ZERO: vec2<u32> = vec2<u32>(0u, 0u);
fn plus(a: Entry, b: Entry) -> Entry {
    return add_64(a, b);
}
#else
alias Entry = u32;
const ZERO: u32 = 0u;
fn plus(a: Entry, b: Entry) -> Entry {
    return a + b;
}
#endif

var<workgroup> sums: array<Entry, 256>;

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
    let first = (block * 256u + thread) * ENTRIES_PER_THREAD;
    var end = first;
    if first < params.count {
        end = first + min(ENTRIES_PER_THREAD, params.count - first);
    }
    var own = ZERO;
    for (var i = first; i < end; i++) {
        own = plus(own, entries[i]);
    }

    var sum = own;
    sums[thread] = sum;
    workgroupBarrier();
    for (var step = 1u; step < 256u; step *= 2u) {
        var before = ZERO;
        if thread >= step {
            before = sums[thread - step];
        }
        workgroupBarrier();
        sum = plus(sum, before);
        sums[thread] = sum;
        workgroupBarrier();
    }
    if thread == 255u {
        totals[block] = sum;
    }

    var running = ZERO;
    if thread > 0u {
        running = sums[thread - 1u];
    }
    for (var i = first; i < end; i++) {
        let entry = entries[i];
        entries[i] = running;
        running = plus(running, entry);
    }
}
