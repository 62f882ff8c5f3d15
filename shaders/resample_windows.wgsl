// Sums over windows of ranks of null resamples, from the sums before rows that resample left: one width
// of one resample in each workgroup. Twin of src/backend/cpu/resample/group_windows.rs.

#import dispatch
#import samples
#import workgroup_sum

const WORKERS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> sums: array<vec4<u32>>;

// The product of a signed number of 64 bits and a signed word.
fn mul_signed_64(a: vec2<u32>, b: i32) -> vec4<u32> {
    let negative = i32(a.y) < 0;
    var magnitude = a;
    if negative {
        magnitude = negate_64(a);
    }
    let product = scale_64(magnitude, u32(abs(b)));
    if negative != (b < 0) {
        return negate_128(product);
    }
    return product;
}

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
    // A resample has two numbers before those of widths.
    let widths = params.bins - 2u;
    let resample = number / widths;
    let w = number % widths;
    let sample = samples[(params.start + resample) / params.count];
    if w >= sample.widths {
        return;
    }
    let base = resample * params.rows;
    // 1, 2, 4, … below the number of rows, and one less than it.
    let width = min(1u << w, sample.rows - 1u);
    var products = vec4<u32>(0u, 0u, 0u, 0u);
    for (var row = thread; row < sample.rows; row += WORKERS) {
        let here = before[base + row];
        let residual = i32(before[base + row + 1u].x - here.x);
        let start = before[base + row - min(row, width)];
        let window = add_64(here, negate_64(start));
        products = add_128(products, mul_signed_64(window, residual));
    }
    let total = workgroup_sum(products, thread);
    if thread == 0u {
        sums[resample * params.bins + 2u + w] = total;
    }
}
