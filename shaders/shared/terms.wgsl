// Twin of src/backend/terms.rs: the integer terms of runs and of rows.

#import fixed_point

struct Run {
    // The rank of its first row in its segment, from 0.
    first_rank: u32,
    confidence: u32,
    size: u32,
    positives: u32,
}

// Seven sums of 128 bits; `counts` holds distinct runs in its first word and tied rows in its third.
struct RunSums {
    rank_ece: vec4<u32>,
    null_squares: vec4<u32>,
    null_odd: vec4<u32>,
    null_even: vec4<u32>,
    null_conditional: vec4<u32>,
    brier: vec4<u32>,
    counts: vec4<u32>,
}

fn mean_residual(run: Run) -> i32 {
    return i32(fraction_q30(run.positives, run.size)) - i32(run.confidence);
}

fn add_run(sums: ptr<function, RunSums>, run: Run) {
    let variance = null_variance_q33(run.confidence);
    let square = mul_wide(variance, variance);
    let complement = ONE_Q30 - run.confidence;
    (*sums).null_squares = add_128((*sums).null_squares, scale_64(square, run.size));
    (*sums).brier = add_128(
        (*sums).brier,
        add_128(
            scale_64(mul_wide(complement, complement), run.positives),
            scale_64(mul_wide(run.confidence, run.confidence), run.size - run.positives),
        ),
    );
    (*sums).counts.x += 1u;
    if run.size == 1u {
        return;
    }

    (*sums).counts.z += run.size;
    let fraction = fraction_q30(run.positives, run.size);
    let magnitude = u32(abs(i32(fraction) - i32(run.confidence)));
    (*sums).rank_ece = add_128(
        (*sums).rank_ece,
        add_128(
            scale_64(mul_wide(magnitude, magnitude), run.size - 1u),
            negate_128(extend_64(mul_wide(fraction, ONE_Q30 - fraction))),
        ),
    );
    // The pairs inside the run are numbered from first_rank + 1 on.
    let pairs = run.size - 1u;
    let odd = pairs / 2u + (pairs & 1u & (~run.first_rank));
    (*sums).null_odd = add_128((*sums).null_odd, scale_64(square, odd));
    (*sums).null_even = add_128((*sums).null_even, scale_64(square, pairs - odd));
    let mean_variance = mean_variance_q33(variance, run.size);
    let half = mul_wide(variance, variance - mean_variance);
    (*sums).null_conditional = add_128((*sums).null_conditional, scale_64(half, 2u));
}

fn add_boundary(sums: ptr<function, RunSums>, run: Run, next: Run) {
    (*sums).rank_ece = add_128(
        (*sums).rank_ece,
        mul_signed(mean_residual(run), mean_residual(next)),
    );
    let variance = null_variance_q33(run.confidence);
    let next_variance = null_variance_q33(next.confidence);
    let product = extend_64(mul_wide(variance, next_variance));
    // The pair's number is the rank, from 1, of the run's last row.
    if (next.first_rank & 1u) == 1u {
        (*sums).null_odd = add_128((*sums).null_odd, product);
    } else {
        (*sums).null_even = add_128((*sums).null_even, product);
    }
    (*sums).null_conditional = add_128(
        (*sums).null_conditional,
        extend_64(mul_wide(
            mean_variance_q33(variance, run.size),
            mean_variance_q33(next_variance, next.size),
        )),
    );
}

struct RowSums {
    adjacent: vec4<u32>,
    r4: vec4<u32>,
    r2s2: vec4<u32>,
    s4: vec4<u32>,
}

fn add_pair(sums: ptr<function, RowSums>, a: i32, b: i32) {
    (*sums).adjacent = add_128((*sums).adjacent, mul_signed(a, b));
}

fn add_window(sums: ptr<function, RowSums>, a: i32, b: i32, c: i32, d: i32) {
    let ab = product_q29(a, b);
    let ac = product_q29(a, c);
    let ad = product_q29(a, d);
    let bc = product_q29(b, c);
    let bd = product_q29(b, d);
    let cd = product_q29(c, d);
    let h_ab = half_square_q29(a, b);
    let h_ac = half_square_q29(a, c);
    let h_ad = half_square_q29(a, d);
    let h_bc = half_square_q29(b, c);
    let h_bd = half_square_q29(b, d);
    let h_cd = half_square_q29(c, d);
    (*sums).r4 = add_128((*sums).r4, mul_signed(ab, cd));
    var r2s2 = mul_signed(h_ab, cd);
    r2s2 = add_128(r2s2, mul_signed(h_ac, bd));
    r2s2 = add_128(r2s2, mul_signed(h_ad, bc));
    r2s2 = add_128(r2s2, mul_signed(h_bc, ad));
    r2s2 = add_128(r2s2, mul_signed(h_bd, ac));
    r2s2 = add_128(r2s2, mul_signed(h_cd, ab));
    (*sums).r2s2 = add_128((*sums).r2s2, r2s2);
    var s4 = mul_signed(h_ab, h_cd);
    s4 = add_128(s4, mul_signed(h_ac, h_bd));
    s4 = add_128(s4, mul_signed(h_ad, h_bc));
    (*sums).s4 = add_128((*sums).s4, s4);
}
