// Sums over a workgroup of 256 threads.

#import wide

var<workgroup> parts: array<vec4<u32>, 256>;

// The sum of a number over the workgroup, valid in thread 0.
fn workgroup_sum(value: vec4<u32>, thread: u32) -> vec4<u32> {
    workgroupBarrier();
    parts[thread] = value;
    for (var half = 128u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if thread < half {
            parts[thread] = add_128(parts[thread], parts[thread + half]);
        }
    }
    return parts[0];
}
