// Parts of a quadratic form of the kernel, one task in each workgroup. Twin of `form` in
// src/backend/cpu/skce/tiled.rs.

#import dispatch
#import pair_kernel

const SIDE: u32 = 64u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
@group(0) @binding(2) var<storage, read> row_places: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> row_vector: array<f32>;
@group(0) @binding(4) var<storage, read> column_places: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> column_vector: array<f32>;
// A number for each task.
@group(0) @binding(6) var<storage, read_write> parts: array<f32>;

var<workgroup> places: array<vec2<u32>, SIDE>;
var<workgroup> weights: array<f32, SIDE>;
var<workgroup> row_sums: array<f32, SIDE>;

@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = group_number(params, group, groups);
    if index >= params.end_group {
        return;
    }
    let task = tasks[index];
    let gaussian = task.gaussian == 1u;
    let row = task.first_row + thread;
    var place = vec2<u32>(0u, 0u);
    var weight = 0.0;
    if row < task.end_row {
        place = row_places[row];
        weight = row_vector[row];
    }
    var sum = 0.0;
    for (var first = task.first_column; first < task.end_column; first += SIDE) {
        workgroupBarrier();
        let column = first + thread;
        places[thread] = vec2<u32>(0u, 0u);
        weights[thread] = 0.0;
        if column < task.end_column {
            places[thread] = column_places[column];
            weights[thread] = column_vector[column];
        }
        workgroupBarrier();
        // A sum of its own for each tile: short chains of additions round less.
        var tile_sum = 0.0;
        for (var own = 0u; own < SIDE; own++) {
            tile_sum += pair_kernel(place, places[own], gaussian) * weights[own];
        }
        sum += tile_sum;
    }
    row_sums[thread] = weight * sum;
    workgroupBarrier();
    if thread == 0u {
        var total = 0.0;
        for (var own = 0u; own < SIDE; own++) {
            total += row_sums[own];
        }
        parts[index] = total;
    }
}
