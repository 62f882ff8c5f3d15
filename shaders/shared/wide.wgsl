// Whole numbers of 64 bits (two words, low first) and 128 bits (four words, two's complement).

fn mul_wide(a: u32, b: u32) -> vec2<u32> {
#ifdef INT64
    let product = u64(a) * u64(b);
    return vec2<u32>(u32(product), u32(product >> 32u));
#else
    let a0 = a & 0xffffu;
    let a1 = a >> 16u;
    let b0 = b & 0xffffu;
    let b1 = b >> 16u;
    let low = a0 * b0;
    // At most (2^16-1)^2 + 2^16-1 and twice that less, so neither sum overflows.
    let middle = a1 * b0 + (low >> 16u);
    let rest = a0 * b1 + (middle & 0xffffu);
    return vec2<u32>((rest << 16u) | (low & 0xffffu), a1 * b1 + (middle >> 16u) + (rest >> 16u));
#endif
}

fn add_64(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + u32(low < a.x));
}

fn add_128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
    let low = add_64(a.xy, b.xy);
    let carry = u32(low.y < a.y || (low.y == a.y && low.x < a.x));
    let high = add_64(a.zw, add_64(b.zw, vec2<u32>(carry, 0u)));
    return vec4<u32>(low, high);
}

fn negate_128(a: vec4<u32>) -> vec4<u32> {
    return add_128(~a, vec4<u32>(1u, 0u, 0u, 0u));
}

fn extend_64(a: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(a, 0u, 0u);
}

// The product of 64 and 32 bits.
fn scale_64(a: vec2<u32>, factor: u32) -> vec4<u32> {
    let low = mul_wide(a.x, factor);
    let high = mul_wide(a.y, factor);
    let middle = low.y + high.x;
    return vec4<u32>(low.x, middle, high.y + u32(middle < low.y), 0u);
}

// The product of two signed words, as 128 bits.
fn mul_signed(a: i32, b: i32) -> vec4<u32> {
    let magnitude = extend_64(mul_wide(u32(abs(a)), u32(abs(b))));
    if (a < 0) != (b < 0) {
        return negate_128(magnitude);
    }
    return magnitude;
}
