// Every kernel's parameters, and the number of the workgroup in a dispatch of two dimensions.

struct Params {
    // The workgroups of this dispatch are numbered from first_group on; those from end_group on have
    // nothing to do.
    first_group: u32,
    end_group: u32,
    // The number of elements: rows, entries, items or queries, whichever the kernel works on.
    count: u32,
    // The number of tiles that the elements are cut into.
    tiles: u32,
    // The word of a record and the shift in it where a digit lies.
    word: u32,
    shift: u32,
    // 1: the labels of tied rows are placed by the key; 0: they stand as they are.
    placed: u32,
    // Keeps the key on a boundary of 8 bytes.
    padding: u32,
    key: vec2<u32>,
}

fn group_number(params: Params, group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return params.first_group + group.y * groups.x + group.x;
}
