// Twin of src/fixed_point.rs: numbers as integers.

#import wide

const ONE_Q30: u32 = 1u << 30u;

// positives/size, rounded half up, by long division: 64-bit division is not everywhere. Rows without a
// tie need none.
fn fraction_q30(positives: u32, size: u32) -> u32 {
    if positives == 0u {
        return 0u;
    }
    if positives == size {
        return ONE_Q30;
    }
    var rest = positives;
    var quotient = 0u;
    for (var bit = 0u; bit < 30u; bit++) {
        let carry = rest >> 31u;
        rest = rest << 1u;
        quotient = quotient << 1u;
        if carry == 1u || rest >= size {
            rest -= size;
            quotient |= 1u;
        }
    }
    let carry = rest >> 31u;
    return quotient + u32(carry == 1u || (rest << 1u) >= size);
}

fn null_variance_q33(confidence: u32) -> u32 {
    let product = add_64(mul_wide(confidence, ONE_Q30 - confidence), vec2<u32>(1u << 26u, 0u));
    return (product.x >> 27u) | (product.y << 5u);
}

fn mean_variance_q33(variance: u32, size: u32) -> u32 {
    return (variance + size / 2u) / size;
}

fn residual_q30(label: bool, confidence: u32) -> i32 {
    if label {
        return i32(ONE_Q30) - i32(confidence);
    }
    return -i32(confidence);
}

// Of the magnitude, (m + 2^30) >> 31 rounds half up; of a negative product half goes towards zero.
fn product_q29(x: i32, y: i32) -> i32 {
    let magnitude = mul_wide(u32(abs(x)), u32(abs(y)));
    if (x < 0) != (y < 0) {
        let rounded = add_64(magnitude, vec2<u32>((1u << 30u) - 1u, 0u));
        return -i32((rounded.x >> 31u) | (rounded.y << 1u));
    }
    let rounded = add_64(magnitude, vec2<u32>(1u << 30u, 0u));
    return i32((rounded.x >> 31u) | (rounded.y << 1u));
}

fn half_square_q29(x: i32, y: i32) -> i32 {
    var difference = u32(x) - u32(y);
    if x < y {
        difference = u32(y) - u32(x);
    }
    return i32(add_64(mul_wide(difference, difference), vec2<u32>(1u << 31u, 0u)).y);
}
