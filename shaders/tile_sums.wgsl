// The number of positives and the sum of confidences of each tile of 256 sorted rows.

#import dispatch
#import rows
#import scan

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> records: array<u32>;
@group(0) @binding(2) var<storage, read_write> tile_positives: array<u32>;
// Q30, 64 bits.
@group(0) @binding(3) var<storage, read_write> tile_confidence: array<vec2<u32>>;

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
    let tile = group_number(params, group, groups);
    if tile >= params.end_group {
        return;
    }
    let row = tile * TILE_ROWS + thread;
    var label = 0u;
    var confidence = 0u;
    if row < params.count {
        label = label_of(row);
        confidence = confidence_q30(confidence_bits(row));
    }
    // Labels above, the low 15 bits of confidences below: 256 of each sum to at most 2^8 and 2^23.
    workgroup_exclusive_scan((label << 23u) | (confidence & 0x7fffu), thread, lane, lanes);
    let low = scan_total;
    workgroupBarrier();
    workgroup_exclusive_scan(confidence >> 15u, thread, lane, lanes);
    if thread == 0u {
        let high = scan_total;
        tile_positives[tile] = low >> 23u;
        let sum = add_64(
            vec2<u32>(low & 0x7fffffu, 0u),
            vec2<u32>(high << 15u, high >> 17u),
        );
        tile_confidence[tile] = sum;
    }
}
