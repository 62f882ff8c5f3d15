// Null resamples, one in each workgroup: labels, walk and n rankECE; resample_windows goes on from here.
// Twin of src/backend/cpu/resample.
//
// A thread draws the labels of consecutive rows. A tied group belongs to the thread of its first row,
// which hears from the threads after it how many of their rows of the group are positive.

#import dispatch
#import threefry
#import fixed_point
#import samples
#import workgroup_sum

const WORKERS: u32 = 256u;
const WINDOWS: u32 = 2u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> samples: array<Sample>;
@group(0) @binding(2) var<storage, read> tied_groups: array<TiedGroup>;
// The sum of the mean residuals before each row, and after the last; params.rows numbers a resample.
@group(0) @binding(3) var<storage, read_write> before: array<vec2<u32>>;
// params.bins numbers of 128 bits a resample: n rankECE; lowest and highest of the walk, 64 bits each;
// a sum for each width.
@group(0) @binding(4) var<storage, read_write> sums: array<vec4<u32>>;

// Of each thread: the sum of the residuals of its rows; of its own groups the walk's end, lowest and
// highest, and the first and last residual.
var<workgroup> residual_sums: array<vec2<u32>, 256>;
var<workgroup> ends: array<vec2<u32>, 256>;
var<workgroup> lowest_of: array<vec2<u32>, 256>;
var<workgroup> highest_of: array<vec2<u32>, 256>;
var<workgroup> edges: array<vec2<i32>, 256>;
// The positive ones of its rows whose group an earlier thread owns; later, how many groups it owns.
var<workgroup> counts: array<u32, 256>;

// What a thread adds up over its own groups, in order.
struct Groups {
    count: u32,
    rank_ece: vec4<u32>,
    at: vec2<u32>,
    lowest: vec2<u32>,
    highest: vec2<u32>,
    // The first and the last residual.
    edge: vec2<i32>,
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

// The tied group of a row: the last one that begins no later.
fn group_of(sample: Sample, row: u32) -> u32 {
    if sample.groups == sample.rows {
        return row;
    }
    var low = 0u;
    var high = sample.groups;
    while high - low > 1u {
        let middle = low + (high - low) / 2u;
        if tied_groups[sample.first_group + middle].first_row <= row {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// How many of the rows from start to end, which share a confidence, are positive.
fn positives_of(key: vec2<u32>, resample: u32, start: u32, end: u32, confidence: u32) -> u32 {
    var positives = 0u;
    for (var row = start; row < end; row++) {
        let word = threefry(key, vec2<u32>(row, resample)).y;
        positives += u32((word >> 2u) < confidence);
    }
    return positives;
}

// Adds the thread's next group; its mean residual.
fn add_group(groups: ptr<function, Groups>, tied: TiedGroup, positives: u32) -> i32 {
    let expected = negate_64(mul_wide(tied.confidence, tied.size));
    let at = add_64((*groups).at, add_64(mul_wide(positives, ONE_Q30), expected));
    (*groups).at = at;
    (*groups).lowest = min_64((*groups).lowest, at);
    (*groups).highest = max_64((*groups).highest, at);

    var fraction = positives << 30u;
    if tied.size > 1u {
        fraction = fraction_q30(positives, tied.size);
    }
    let residual = i32(fraction) - i32(tied.confidence);
    var rank_ece = (*groups).rank_ece;
    if (*groups).count == 0u {
        (*groups).edge.x = residual;
    } else {
        rank_ece = add_128(rank_ece, mul_signed((*groups).edge.y, residual));
    }
    if tied.size > 1u {
        let size = u32(abs(residual));
        rank_ece = add_128(rank_ece, scale_64(mul_wide(size, size), tied.size - 1u));
        let variance = extend_64(mul_wide(fraction, ONE_Q30 - fraction));
        rank_ece = add_128(rank_ece, negate_128(variance));
    }
    (*groups).rank_ece = rank_ece;
    (*groups).edge.y = residual;
    (*groups).count += 1u;
    return residual;
}

// Writes the residual of rows behind them, until the sum before the thread's first row is known.
fn write_residual(base: u32, start: u32, end: u32, residual: i32) {
    for (var row = start; row < end; row++) {
        before[base + row + 1u] = extend_signed(residual);
    }
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
    let windows = (sample.statistics & WINDOWS) != 0u;
    let chunk = max((sample.rows + WORKERS - 1u) / WORKERS, 1u);
    let first = min(thread * chunk, sample.rows);
    let end = min(first + chunk, sample.rows);

    var own: Groups;
    own.lowest = vec2<u32>(0xffffffffu, 0x7fffffffu);
    own.highest = vec2<u32>(0u, 0x80000000u);
    var sum = vec2<u32>(0u, 0u);

    // Rows of a group that began before, if there are any, up to head_end.
    var head_end = first;
    var owner = thread;
    var g = 0u;
    counts[thread] = 0u;
    if first < end {
        g = group_of(sample, first);
        let tied = tied_groups[sample.first_group + g];
        if tied.first_row < first {
            head_end = min(tied.first_row + tied.size, end);
            owner = tied.first_row / chunk;
            counts[thread] = positives_of(sample.key, resample, first, head_end, tied.confidence);
            g++;
        }
    }
    // Whole groups, and from `open` on rows of one that ends later.
    var open = head_end;
    var open_positives = 0u;
    while open < end {
        let tied = tied_groups[sample.first_group + g];
        let group_end = tied.first_row + tied.size;
        let last = min(group_end, end);
        let positives = positives_of(sample.key, resample, open, last, tied.confidence);
        if group_end > end {
            open_positives = positives;
            break;
        }
        let residual = add_group(&own, tied, positives);
        sum = add_64(sum, repeated(residual, tied.size));
        if windows {
            write_residual(base, open, last, residual);
        }
        open = last;
        g++;
    }
    workgroupBarrier();
    if open < end {
        let tied = tied_groups[sample.first_group + g];
        let last = (tied.first_row + tied.size - 1u) / chunk;
        for (var t = thread + 1u; t <= last; t++) {
            open_positives += counts[t];
        }
        let residual = add_group(&own, tied, open_positives);
        sum = add_64(sum, repeated(residual, end - open));
        if windows {
            write_residual(base, open, end, residual);
        }
    }
    ends[thread] = own.at;
    lowest_of[thread] = own.lowest;
    highest_of[thread] = own.highest;
    edges[thread] = own.edge;
    workgroupBarrier();
    counts[thread] = own.count;
    if first < head_end {
        let residual = edges[owner].y;
        sum = add_64(sum, repeated(residual, head_end - first));
        if windows {
            write_residual(base, first, head_end, residual);
        }
    }
    residual_sums[thread] = sum;
    workgroupBarrier();
    var rank_ece = own.rank_ece;
    if thread == 0u {
        sum = vec2<u32>(0u, 0u);
        var at = sum;
        var lowest = sum;
        var highest = sum;
        // Row 0 is the first thread's, so a group before the first one never counts.
        var last_residual = 0;
        for (var t = 0u; t < WORKERS; t++) {
            let rows_sum = residual_sums[t];
            residual_sums[t] = sum;
            sum = add_64(sum, rows_sum);
            if counts[t] > 0u {
                lowest = min_64(lowest, add_64(at, lowest_of[t]));
                highest = max_64(highest, add_64(at, highest_of[t]));
                at = add_64(at, ends[t]);
                rank_ece = add_128(rank_ece, mul_signed(last_residual, edges[t].x));
                last_residual = edges[t].y;
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
    if windows {
        sum = residual_sums[thread];
        for (var row = base + first + 1u; row <= base + end; row++) {
            sum = add_64(sum, before[row]);
            before[row] = sum;
        }
    }
}
