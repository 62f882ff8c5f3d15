// Sums over the sorted rows of large replicates. One thread an item of consecutive rows of one
// replicate; params.tiles items a replicate, params.item_rows rows an item.

#import dispatch
#import model
#import terms
#import score_runs

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> quantile: array<u32>;
@group(0) @binding(2) var<storage, read> response: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> score_runs: array<u32>;
// params.rows sorted words a replicate.
@group(0) @binding(4) var<storage, read> words: array<u32>;
// Five numbers an item: n rankECE, squares, odd, even, conditional.
@group(0) @binding(5) var<storage, read_write> partial: array<vec4<u32>>;

fn word_at(base: u32, row: u32) -> u32 {
    return words[base + row];
}

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
    let number = index / params.tiles;
    let replicate = params.replicate + number;
    let base = number * params.rows;
    let first = (index % params.tiles) * params.item_rows;
    let end = min(first + params.item_rows, params.rows);

    var rank_ece = vec4<u32>(0u, 0u, 0u, 0u);
    var squares = rank_ece;
    var odd = rank_ece;
    var even = rank_ece;
    var conditional = rank_ece;
#ifdef EMPIRICAL
    var sums: RunSums;
    for (var row = first; row < end; row++) {
        if begins_run(params, base, row) {
            let run = run_at(params, replicate, base, row);
            add_run(&sums, run);
            if row + run.size < params.rows {
                add_boundary(&sums, run, run_at(params, replicate, base, row + run.size));
            }
        }
    }
    rank_ece = sums.rank_ece;
    squares = sums.null_squares;
    odd = sums.null_odd;
    even = sums.null_even;
    conditional = sums.null_conditional;
#else
    if first < end {
        var residual = row_residual(params, replicate, first, words[base + first]);
        var variance = residual_variance(residual);
        for (var row = first; row < end; row++) {
            squares = add_128(squares, extend_64(mul_wide(variance, variance)));
            if row + 1u < params.rows {
                let next = row_residual(params, replicate, row + 1u, words[base + row + 1u]);
                let next_variance = residual_variance(next);
                rank_ece = add_128(rank_ece, mul_signed(residual, next));
                let product = extend_64(mul_wide(variance, next_variance));
                if (row & 1u) == 0u {
                    odd = add_128(odd, product);
                } else {
                    even = add_128(even, product);
                }
                residual = next;
                variance = next_variance;
            }
        }
        conditional = add_128(odd, even);
    }
#endif
    partial[index * 5u] = rank_ece;
    partial[index * 5u + 1u] = squares;
    partial[index * 5u + 2u] = odd;
    partial[index * 5u + 3u] = even;
    partial[index * 5u + 4u] = conditional;
}
