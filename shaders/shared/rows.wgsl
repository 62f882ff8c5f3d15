// Sorted rows: their words, confidences and labels, and the runs of equal confidence they form.
// The host defines STRIDE (words of a record), FRACTION_BITS and EXPONENT_OFFSET of the type of the
// confidences, and DOUBLE for f64. The kernel binds `records` and `tile_positives`.

#import wide

// Rows of a tile of tile_positives: the number of positives before each tile.
const TILE_ROWS: u32 = 256u;

// The bits of a row's confidence, low word first.
fn confidence_bits(row: u32) -> vec2<u32> {
#ifdef DOUBLE
    let low = records[row * STRIDE];
    let high = records[row * STRIDE + 1u];
    return vec2<u32>((low >> 1u) | (high << 31u), high >> 1u);
#else
    return vec2<u32>(records[row * STRIDE] >> 1u, 0u);
#endif
}

fn label_of(row: u32) -> u32 {
    return records[row * STRIDE] & 1u;
}

fn same_bits(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x == b.x && a.y == b.y;
}

fn less_bits(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.y < b.y || (a.y == b.y && a.x < b.x);
}

// The confidence of these bits in Q30, rounded half up. Twin of Dtype::q30.
fn confidence_q30(bits: vec2<u32>) -> u32 {
#ifdef DOUBLE
    let field = bits.y >> 20u;
    let significand = vec2<u32>(bits.x, (bits.y & 0xfffffu) | (u32(field > 0u) << 20u));
    // field is at most 1023, so the shift is 22 or more.
    let shift = 1045u - max(field, 1u);
    if shift > 53u {
        return 0u;
    }
    if shift < 33u {
        let sum = add_64(significand, vec2<u32>(1u << (shift - 1u), 0u));
        if shift == 32u {
            return sum.y;
        }
        return (sum.x >> shift) | (sum.y << (32u - shift));
    }
    return (significand.y + (1u << (shift - 33u))) >> (shift - 32u);
#else
    let field = bits.x >> FRACTION_BITS;
    let significand = (bits.x & ((1u << FRACTION_BITS) - 1u)) | (u32(field > 0u) << FRACTION_BITS);
    let shift = i32(max(field, 1u)) + EXPONENT_OFFSET;
    if shift >= 0 {
        return significand << u32(shift);
    }
    if shift < -31 {
        return 0u;
    }
    return (significand + (1u << u32(-shift - 1))) >> u32(-shift);
#endif
}

// The number of positives before a row, over all records.
fn positives_before(row: u32) -> u32 {
    let tile = row / TILE_ROWS;
    var positives = tile_positives[tile];
    for (var r = tile * TILE_ROWS; r < row; r++) {
        positives += label_of(r);
    }
    return positives;
}

// The number of positives of the rows from start to end.
fn positives_between(start: u32, end: u32) -> u32 {
    if end - start > TILE_ROWS {
        return positives_before(end) - positives_before(start);
    }
    var positives = 0u;
    for (var r = start; r < end; r++) {
        positives += label_of(r);
    }
    return positives;
}

// The first row, from start to end, whose confidence is not below `bits`.
fn lower_bound(start: u32, end: u32, bits: vec2<u32>) -> u32 {
    var low = start;
    var high = end;
    while low < high {
        let middle = low + (high - low) / 2u;
        if less_bits(confidence_bits(middle), bits) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// The first row, from start to end, whose confidence is above `bits`.
fn upper_bound(start: u32, end: u32, bits: vec2<u32>) -> u32 {
    var low = start;
    var high = end;
    while low < high {
        let middle = low + (high - low) / 2u;
        if less_bits(bits, confidence_bits(middle)) {
            high = middle;
        } else {
            low = middle + 1u;
        }
    }
    return low;
}

// The end of the run that `row` lies in, before `end`, by steps that double.
fn run_end(row: u32, end: u32) -> u32 {
    let bits = confidence_bits(row);
    var known = row + 1u;
    var step = 1u;
    while step <= end - known && same_bits(confidence_bits(known + step - 1u), bits) {
        known += step;
        step *= 2u;
    }
    return upper_bound(known, min(end, known + min(step, end - known)), bits);
}
