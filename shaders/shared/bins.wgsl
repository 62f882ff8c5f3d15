// Bins of a replicate, by uniform words. The kernel defines word_at(base, row), the sorted uniform word
// of a row of the replicate that begins at `base`.

#import wide

struct BinEdges {
    // The least word of the bin, and that of the next one.
    lower: u32,
    upper: u32,
    // 1: the bin has no lower, or no upper, neighbour.
    first: u32,
    last: u32,
}

struct BinSums {
    rows: u32,
    padding: u32,
    // Sum of residuals, Q30, 64 bits of two's complement.
    residual: vec2<u32>,
}

fn add_residual(sum: vec2<u32>, residual: i32) -> vec2<u32> {
    return add_64(sum, vec2<u32>(u32(residual), u32(residual >> 31u)));
}

// The first row of a replicate whose word is not below `word`.
fn rows_below(params: Params, base: u32, word: u32) -> u32 {
    var low = 0u;
    var high = params.rows;
    while low < high {
        let middle = (low + high) / 2u;
        if word_at(base, middle) < word {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}
