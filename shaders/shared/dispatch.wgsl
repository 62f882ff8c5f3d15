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
    // Rows of a replicate.
    rows: u32,
    key: vec2<u32>,
    // The first replicate of the launch, its low word.
    replicate: u32,
    // Bins of a replicate, all binnings together.
    bins: u32,
    // The model: start and width of a uniform law, cells of the curve, scores of an empirical law.
    start: u32,
    width: u32,
    cells: u32,
    scores: u32,
    // Parts of a large replicate, and rows of an item.
    parts: u32,
    item_rows: u32,
    padding: vec2<u32>,
}

fn group_number(params: Params, group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return params.first_group + group.y * groups.x + group.x;
}
