// The kernel of two confidences, from their places in fixed point (src/backend/gpu/skce/places.rs).

#import wide

// What a task sums over: rows and columns of the kernel matrix, and whether the kernel is Gaussian.
struct Task {
    first_row: u32,
    end_row: u32,
    first_column: u32,
    end_column: u32,
    gaussian: u32,
    padding_0: u32,
    padding_1: u32,
    padding_2: u32,
}

// The exponent from which on 2^-e, too small for a normal f32, is 0.
const LEAST_EXPONENT_Q24: u32 = 126u << 24u;

// 2^-e. With k the whole number next to e, exp of the rest times -ln 2 is a Taylor polynomial; the
// first term left out is below 6e-9.
fn power_of_half(e_q24: u32) -> f32 {
    if e_q24 >= LEAST_EXPONENT_Q24 {
        return 0.0;
    }
    let k = (e_q24 + (1u << 23u)) >> 24u;
    // At most 2^23 in magnitude, so that f32 holds it as it is.
    let x = f32(i32((k << 24u) - e_q24)) * (0.6931471806 / 16777216.0);
    var sum = 0.0001984126984;
    sum = sum * x + 0.001388888889;
    sum = sum * x + 0.008333333333;
    sum = sum * x + 0.04166666667;
    sum = sum * x + 0.1666666667;
    sum = sum * x + 0.5;
    sum = sum * x + 1.0;
    sum = sum * x + 1.0;
    return sum * bitcast<f32>((127u - k) << 23u);
}

// Places are integers of 64 bits less than 2^63 apart. Their distance is the exponent of the Laplace
// kernel in Q24; its square in Q56 is that of the Gaussian. From 2^32 on both kernels are 0.
fn pair_kernel(a: vec2<u32>, b: vec2<u32>, gaussian: bool) -> f32 {
    var low = b.x - a.x;
    var high = b.y - a.y - u32(b.x < a.x);
    if (high >> 31u) == 1u {
        high = ~high + u32(low == 0u);
        low = 0u - low;
    }
    if high != 0u {
        return 0.0;
    }
    if gaussian {
        low = mul_wide(low, low).y;
    }
    return power_of_half(low);
}
