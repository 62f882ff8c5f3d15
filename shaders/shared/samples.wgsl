// What the kernels of null resamples share: their bindings' types, and signed numbers of 64 bits.

#import wide

struct Sample {
    // Where its tied groups begin, and how many there are.
    first_group: u32,
    groups: u32,
    rows: u32,
    // The number of widths of windows.
    widths: u32,
    key: vec2<u32>,
    // Which sums are asked for.
    statistics: u32,
    padding: u32,
}

struct TiedGroup {
    confidence: u32,
    size: u32,
    // The rank of its first row, from 0.
    first_row: u32,
    padding: u32,
}

fn negate_64(a: vec2<u32>) -> vec2<u32> {
    return add_64(~a, vec2<u32>(1u, 0u));
}
