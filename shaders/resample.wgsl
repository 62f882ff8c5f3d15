// Null resamples, one in each workgroup. Twin of src/backend/cpu/resample.rs.

#import dispatch
#import threefry
#import fixed_point
#import workgroup_sum

const WORKERS: u32 = 256u;
const WINDOWS: u32 = 2u;

struct Sample {
    // Where its tied groups begin, and how many there are.
    first_group: u32,
    groups: u32,
    rows: u32,
    // The number of widths of windows.
    widths: u32,
    key: vec2<u32>,
    // Which sums are asked for.
    statistics: u32,
    padding: u32,
}

struct TiedGroup {
    confidence: u32,
    size: u32,
    // The rank of its first row, from 0.
    first_row: u32,
    padding: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read> tied_groups: array<TiedGroup>;
// The sum of the mean residuals before each row, and after the last; params.rows numbers a resample.
@group(0) @binding(3) var<storage, read_write> before: array<vec2<u32>>;
// params.bins numbers of 128 bits a resample: n rankECE; lowest and highest of the walk, 64 bits each;
// a sum for each width.
@group(0) @binding(4) var<storage, read_write> sums: array<vec4<u32>>;

// Of each thread: the sum of its residuals, its walk's end, lowest and highest, and its first and last
// residual.
var<workgroup> residual_sums: array<vec2<u32>, 256>;
var<workgroup> ends: array<vec2<u32>, 256>;
var<workgroup> lowest_of: array<vec2<u32>, 256>;
var<workgroup> highest_of: array<vec2<u32>, 256>;
var<workgroup> edges: array<vec2<i32>, 256>;

fn negate_64(a: vec2<u32>) -> vec2<u32> {
    return add_64(~a, vec2<u32>(1u, 0u));
}

fn less_64(a: vec2<u32>, b: vec2<u32>) -> bool {
    return i32(a.y) < i32(b.y) || (a.y == b.y && a.x < b.x);
}

fn min_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if less_64(b, a) {
        return b;
    }
    return a;
}

fn max_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    if less_64(a, b) {
        return b;
    }
    return a;
}

fn extend_signed(a: i32) -> vec2<u32> {
    return vec2<u32>(u32(a), u32(a >> 31u));
}

// A residual as often as there are rows of a group.
fn repeated(residual: i32, size: u32) -> vec2<u32> {
    let magnitude = mul_wide(u32(abs(residual)), size);
    if residual < 0 {
        return negate_64(magnitude);
    }
    return magnitude;
}

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
    let pair = params.start + number;
    let sample = samples[pair / params.count];
    let resample = params.replicate + pair % params.count;
    let base = number * params.rows;
    let out = number * params.bins;
    let chunk = (sample.groups + WORKERS - 1u) / WORKERS;
    let first = min(thread * chunk, sample.groups);
    let end = min(first + chunk, sample.groups);
    let windows = (sample.statistics & WINDOWS) != 0u;

    var rank_ece = vec4<u32>(0u, 0u, 0u, 0u);
    var sum = vec2<u32>(0u, 0u);
    var at = sum;
    // Of the ends of the thread's own groups, without its start.
    var lowest = vec2<u32>(0xffffffffu, 0x7fffffffu);
    var highest = vec2<u32>(0u, 0x80000000u);
    var edge = vec2<i32>(0, 0);
    for (var g = first; g < end; g++) {
        let tied = tied_groups[sample.first_group + g];
        var positives = 0u;
        for (var i = 0u; i < tied.size; i++) {
            let word = threefry(sample.key, vec2<u32>(tied.first_row + i, resample)).y;
            positives += u32((word >> 2u) < tied.confidence);
        }
        let expected = negate_64(mul_wide(tied.confidence, tied.size));
        at = add_64(at, add_64(mul_wide(positives, ONE_Q30), expected));
        lowest = min_64(lowest, at);
        highest = max_64(highest, at);

        var fraction = positives << 30u;
        if tied.size > 1u {
            fraction = fraction_q30(positives, tied.size);
        }
        let residual = i32(fraction) - i32(tied.confidence);
        if g == first {
            edge.x = residual;
        } else {
            rank_ece = add_128(rank_ece, mul_signed(edge.y, residual));
        }
        edge.y = residual;
        if tied.size > 1u {
            let size = u32(abs(residual));
            rank_ece = add_128(rank_ece, scale_64(mul_wide(size, size), tied.size - 1u));
            let variance = extend_64(mul_wide(fraction, ONE_Q30 - fraction));
            rank_ece = add_128(rank_ece, negate_128(variance));
        }
        sum = add_64(sum, repeated(residual, tied.size));
        if windows {
            // Until the sum before the thread's first row is known.
            for (var i = 0u; i < tied.size; i++) {
                before[base + tied.first_row + i + 1u] = extend_signed(residual);
            }
        }
    }
    residual_sums[thread] = sum;
    ends[thread] = at;
    lowest_of[thread] = lowest;
    highest_of[thread] = highest;
    edges[thread] = edge;
    workgroupBarrier();
    if thread == 0u {
        sum = vec2<u32>(0u, 0u);
        at = sum;
        lowest = sum;
        highest = sum;
        // Threads that have groups are the first ones.
        let busy = (sample.groups + max(chunk, 1u) - 1u) / max(chunk, 1u);
        for (var t = 0u; t < busy; t++) {
            let own = residual_sums[t];
            residual_sums[t] = sum;
            sum = add_64(sum, own);
            lowest = min_64(lowest, add_64(at, lowest_of[t]));
            highest = max_64(highest, add_64(at, highest_of[t]));
            at = add_64(at, ends[t]);
            if t > 0u {
                rank_ece = add_128(rank_ece, mul_signed(edges[t - 1u].y, edges[t].x));
            }
        }
        sums[out + 1u] = vec4<u32>(lowest, highest);
        if windows {
            before[base] = vec2<u32>(0u, 0u);
        }
    }
    let total_rank_ece = workgroup_sum(rank_ece, thread);
    if thread == 0u {
        sums[out] = total_rank_ece;
    }
    if !windows {
        return;
    }

    sum = residual_sums[thread];
    for (var g = first; g < end; g++) {
        let tied = tied_groups[sample.first_group + g];
        for (var i = 0u; i < tied.size; i++) {
            let row = base + tied.first_row + i + 1u;
            sum = add_64(sum, before[row]);
            before[row] = sum;
        }
    }
    storageBarrier();
    workgroupBarrier();
    for (var w = 0u; w < sample.widths; w++) {
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
            sums[out + 2u + w] = total;
        }
    }
}
