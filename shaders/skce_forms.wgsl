// Parts of the quadratic forms of the kernel in 128 vectors, one task in each workgroup. Twin of `forms`
// in src/backend/cpu/skce/tiled.rs: a tile of the kernel is computed once and serves all vectors.

#import dispatch
#import pair_kernel

// Rows of a task, and columns of a tile.
const ROWS: u32 = 64u;
const COLUMNS: u32 = 16u;
// Threads in two dimensions: four rows for each of the first, a block of eight vectors, two at four
// lanes, for each of the second.
const SIDE: u32 = 16u;

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> tasks: array<Task>;
// Vectors are blocks of eight side by side, one block after the other: params.rows groups in each block
// of the rows' vectors, params.count in the columns'.
@group(0) @binding(2) var<storage, read> row_places: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> row_vectors: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> column_places: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> column_vectors: array<vec4<f32>>;
// 128 numbers for each task: lanes 0 to 3 of all blocks, then lanes 4 to 7.
@group(0) @binding(6) var<storage, read_write> parts: array<vec4<f32>>;

// Four rows of one column each; and for each column both halves of all blocks.
var<workgroup> kernels: array<vec4<f32>, 256>;
var<workgroup> weights: array<vec4<f32>, 512>;

fn row_place(row: u32, end: u32) -> vec2<u32> {
    // Rows beyond the end have weight 0.
    return row_places[min(row, end - 1u)];
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
    let task = tasks[index];
    let gaussian = task.gaussian == 1u;
    let minor = thread % SIDE;
    let major = thread / SIDE;

    // The thread's four rows and its column in the making of tiles.
    let made_row = task.first_row + 4u * minor;
    let place_0 = row_place(made_row, task.end_row);
    let place_1 = row_place(made_row + 1u, task.end_row);
    let place_2 = row_place(made_row + 2u, task.end_row);
    let place_3 = row_place(made_row + 3u, task.end_row);

    // Kernel times vectors, of the rows 4 major to 4 major + 3 and block `minor`.
    var low_0 = vec4<f32>(0.0);
    var low_1 = vec4<f32>(0.0);
    var low_2 = vec4<f32>(0.0);
    var low_3 = vec4<f32>(0.0);
    var high_0 = vec4<f32>(0.0);
    var high_1 = vec4<f32>(0.0);
    var high_2 = vec4<f32>(0.0);
    var high_3 = vec4<f32>(0.0);
    for (var first = task.first_column; first < task.end_column; first += COLUMNS) {
        workgroupBarrier();
        let made = first + major;
        var kernel = vec4<f32>(0.0);
        if made < task.end_column {
            let place = column_places[made];
            kernel = vec4<f32>(
                pair_kernel(place_0, place, gaussian),
                pair_kernel(place_1, place, gaussian),
                pair_kernel(place_2, place, gaussian),
                pair_kernel(place_3, place, gaussian),
            );
        }
        kernels[major * SIDE + minor] = kernel;
        // Neighbouring threads load neighbouring columns of one block.
        let loaded = first + minor;
        var low = vec4<f32>(0.0);
        var high = vec4<f32>(0.0);
        if loaded < task.end_column {
            let at = 2u * (major * params.count + loaded);
            low = column_vectors[at];
            high = column_vectors[at + 1u];
        }
        weights[minor * 2u * SIDE + major] = low;
        weights[minor * 2u * SIDE + SIDE + major] = high;
        workgroupBarrier();
        for (var column = 0u; column < COLUMNS; column++) {
            let k = kernels[column * SIDE + major];
            let a = weights[column * 2u * SIDE + minor];
            let b = weights[column * 2u * SIDE + SIDE + minor];
            low_0 += k.x * a;
            low_1 += k.y * a;
            low_2 += k.z * a;
            low_3 += k.w * a;
            high_0 += k.x * b;
            high_1 += k.y * b;
            high_2 += k.z * b;
            high_3 += k.w * b;
        }
    }

    var low_sum = vec4<f32>(0.0);
    var high_sum = vec4<f32>(0.0);
    let row = task.first_row + 4u * major;
    let at = 2u * (minor * params.rows + row);
    if row < task.end_row {
        low_sum += row_vectors[at] * low_0;
        high_sum += row_vectors[at + 1u] * high_0;
    }
    if row + 1u < task.end_row {
        low_sum += row_vectors[at + 2u] * low_1;
        high_sum += row_vectors[at + 3u] * high_1;
    }
    if row + 2u < task.end_row {
        low_sum += row_vectors[at + 4u] * low_2;
        high_sum += row_vectors[at + 5u] * high_2;
    }
    if row + 3u < task.end_row {
        low_sum += row_vectors[at + 6u] * low_3;
        high_sum += row_vectors[at + 7u] * high_3;
    }
    workgroupBarrier();
    weights[major * 2u * SIDE + minor] = low_sum;
    weights[major * 2u * SIDE + SIDE + minor] = high_sum;
    workgroupBarrier();
    if thread < 2u * SIDE {
        var total = vec4<f32>(0.0);
        for (var own = 0u; own < SIDE; own++) {
            total += weights[own * 2u * SIDE + thread];
        }
        parts[index * 2u * SIDE + thread] = total;
    }
}
