// Twin of src/random.rs: Threefry2x32 with 20 rounds.

fn rotate_left(x: u32, bits: u32) -> u32 {
    return (x << bits) | (x >> (32u - bits));
}

fn threefry_rounds(x: vec2<u32>, r: vec4<u32>) -> vec2<u32> {
    var a = x.x;
    var b = x.y;
    a += b; b = rotate_left(b, r.x) ^ a;
    a += b; b = rotate_left(b, r.y) ^ a;
    a += b; b = rotate_left(b, r.z) ^ a;
    a += b; b = rotate_left(b, r.w) ^ a;
    return vec2<u32>(a, b);
}

fn threefry(key: vec2<u32>, counter: vec2<u32>) -> vec2<u32> {
    let even = vec4<u32>(13u, 15u, 26u, 6u);
    let odd = vec4<u32>(17u, 29u, 16u, 24u);
    let parity = 0x1bd11bdau ^ key.x ^ key.y;
    var x = counter + key;
    x = threefry_rounds(x, even) + vec2<u32>(key.y, parity + 1u);
    x = threefry_rounds(x, odd) + vec2<u32>(parity, key.x + 2u);
    x = threefry_rounds(x, even) + vec2<u32>(key.x, key.y + 3u);
    x = threefry_rounds(x, odd) + vec2<u32>(key.y, parity + 4u);
    return threefry_rounds(x, even) + vec2<u32>(parity, key.x + 5u);
}

fn child(key: vec2<u32>, a: u32, b: u32) -> vec2<u32> {
    return threefry(key, vec2<u32>(a, b));
}
