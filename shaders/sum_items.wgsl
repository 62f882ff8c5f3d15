// Adds up the sums of consecutive items of one piece, field by field. One thread a field of a span.

#import dispatch
#import wide

struct Span {
    first_item: u32,
    items: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> spans: array<Span>;
// FIELDS numbers of 128 bits an item.
@group(0) @binding(2) var<storage, read> partial: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group_number(params, group, groups) * 64u + thread;
    if index >= params.count {
        return;
    }
    let span = spans[index / FIELDS];
    let field = index % FIELDS;
    var sum = vec4<u32>(0u, 0u, 0u, 0u);
    for (var i = 0u; i < span.items; i++) {
        sum = add_128(sum, partial[(span.first_item + i) * FIELDS + field]);
    }
    sums[index] = sum;
}
