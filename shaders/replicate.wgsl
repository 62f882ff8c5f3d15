// A whole replicate in the memory of one workgroup: drawn, sorted, summed. Twin of
// src/backend/cpu/replicate.rs. The host defines CAPACITY, a power of two of at least params.rows.

#import dispatch
#import model
#import terms
#import bins
#import even_sort
#import score_runs
#import workgroup_sum

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> quantile: array<u32>;
@group(0) @binding(2) var<storage, read> response: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> score_runs: array<u32>;
@group(0) @binding(4) var<storage, read> edges: array<BinEdges>;
// Five numbers of 128 bits a replicate: n rankECE, squares, odd, even, conditional.
@group(0) @binding(5) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> bins: array<BinSums>;

// Words are uniform, so that their leading bits are.
fn bucket_of(params: Params, word: u32) -> u32 {
    return word / (0xffffffffu / BUCKETS + 1u);
}

// The words of the workgroup are those of one replicate, until the residuals take their places.
fn word_at(base: u32, row: u32) -> u32 {
    return words[base + row];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
#ifdef SUBGROUP
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) lanes: u32,
#endif
) {
#ifndef SUBGROUP
    let lane = 0u;
    let lanes = 1u;
#endif
    let number = group_number(params, group, groups);
    if number >= params.end_group {
        return;
    }
    let replicate = params.replicate + number;

    var uniform_words: array<u32, PER_THREAD>;
    // A row's label word belongs to the sorted position of its number, which is this thread's too.
    var label_words: array<u32, PER_THREAD>;
    for (var i = 0u; i < PER_THREAD; i++) {
        let row = i * THREADS + thread;
        if row < params.rows {
            let drawn = threefry(params.key, vec2<u32>(row, replicate));
            uniform_words[i] = drawn.x;
            label_words[i] = drawn.y;
        }
    }
    even_sort(params, &uniform_words, params.rows, thread, lane, lanes);

    // Where bins begin and end, kept in the output until their sums take its place.
    let bin_base = number * params.bins;
    for (var bin = thread; bin < params.bins; bin += THREADS) {
        let edge = edges[bin];
        var start = 0u;
        if edge.first == 0u {
            start = rows_below(params, 0u, edge.lower);
        }
        var end = params.rows;
        if edge.last == 0u {
            end = rows_below(params, 0u, edge.upper);
        }
        bins[bin_base + bin] = BinSums(start, end, vec2<u32>(0u, 0u));
    }

    var rank_ece = vec4<u32>(0u, 0u, 0u, 0u);
    var squares = rank_ece;
    var odd = rank_ece;
    var even = rank_ece;
#ifdef EMPIRICAL
    var run_sums: RunSums;
    for (var row = thread; row < params.rows; row += THREADS) {
        if begins_run(params, 0u, row) {
            let run = run_at(params, replicate, 0u, row);
            add_run(&run_sums, run);
            if row + run.size < params.rows {
                add_boundary(&run_sums, run, run_at(params, replicate, 0u, row + run.size));
            }
        }
    }
    rank_ece = run_sums.rank_ece;
    squares = run_sums.null_squares;
    odd = run_sums.null_odd;
    even = run_sums.null_even;
    let conditional = run_sums.null_conditional;
#endif

    workgroupBarrier();
    for (var i = 0u; i < PER_THREAD; i++) {
        let row = i * THREADS + thread;
        if row < params.rows {
            words[row] = u32(residual_of(params, words[row], label_words[i]));
        }
    }
    workgroupBarrier();
#ifndef EMPIRICAL
    for (var row = thread; row < params.rows; row += THREADS) {
        let residual = i32(words[row]);
        let variance = residual_variance(residual);
        squares = add_128(squares, extend_64(mul_wide(variance, variance)));
        if row + 1u < params.rows {
            let next = i32(words[row + 1u]);
            rank_ece = add_128(rank_ece, mul_signed(residual, next));
            let product = extend_64(mul_wide(variance, residual_variance(next)));
            if (row & 1u) == 0u {
                odd = add_128(odd, product);
            } else {
                even = add_128(even, product);
            }
        }
    }
#endif

    for (var bin = thread; bin < params.bins; bin += THREADS) {
        let start = bins[bin_base + bin].rows;
        let end = bins[bin_base + bin].padding;
        var residual = vec2<u32>(0u, 0u);
        for (var row = start; row < end; row++) {
            residual = add_residual(residual, i32(words[row]));
        }
        bins[bin_base + bin] = BinSums(end - start, 0u, residual);
    }

    let base = number * 5u;
    let total_rank_ece = workgroup_sum(rank_ece, thread);
    if thread == 0u {
        sums[base] = total_rank_ece;
    }
    let total_squares = workgroup_sum(squares, thread);
    if thread == 0u {
        sums[base + 1u] = total_squares;
    }
    let total_odd = workgroup_sum(odd, thread);
    if thread == 0u {
        sums[base + 2u] = total_odd;
    }
    let total_even = workgroup_sum(even, thread);
    if thread == 0u {
        sums[base + 3u] = total_even;
    }
#ifdef EMPIRICAL
    let total_conditional = workgroup_sum(conditional, thread);
#else
    let total_conditional = add_128(total_odd, total_even);
#endif
    if thread == 0u {
        sums[base + 4u] = total_conditional;
    }
}
