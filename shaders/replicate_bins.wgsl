// Bins of large replicates, from their sorted words: one bin of a replicate in each workgroup.

#import dispatch
#import model
#import bins
#import workgroup_sum

const WORKERS: u32 = 256u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> quantile: array<u32>;
@group(0) @binding(2) var<storage, read> response: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> words: array<u32>;
@group(0) @binding(4) var<storage, read> edges: array<BinEdges>;
@group(0) @binding(5) var<storage, read_write> bins: array<BinSums>;

fn word_at(base: u32, row: u32) -> u32 {
    return words[base + row];
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group_number(params, group, groups);
    if index >= params.end_group {
        return;
    }
    let number = index / params.bins;
    let edge = edges[index % params.bins];
    let base = number * params.rows;
    var start = 0u;
    if edge.first == 0u {
        start = rows_below(params, base, edge.lower);
    }
    var end = params.rows;
    if edge.last == 0u {
        end = rows_below(params, base, edge.upper);
    }
    var residual = vec2<u32>(0u, 0u);
    for (var row = start + thread; row < end; row += WORKERS) {
        let own = row_residual(params, params.replicate + number, row, words[base + row]);
        residual = add_residual(residual, own);
    }
    // What carries leave above 64 bits is not read.
    let total = workgroup_sum(extend_64(residual), thread);
    if thread == 0u {
        bins[index] = BinSums(end - start, 0u, total.xy);
    }
}
