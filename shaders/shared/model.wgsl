// Twin of src/model: from a uniform word to a confidence, from a confidence to a chance, from both to
// a residual. The host defines one of AFFINE, NODES and EMPIRICAL, and CELLS unless the curve is the
// diagonal. The kernel binds `quantile` and `response`.

#import fixed_point
#import threefry

// Nodes of an octave, and the last node.
const NODES_PER_OCTAVE: u32 = 128u;
const LAST_NODE: u32 = 7938u;

// The high word of a product, rounded half up by its low word.
fn mul_rounded(a: u32, b: u32) -> u32 {
    let product = mul_wide(a, b);
    return product.y + (product.x >> 31u);
}

// Twin of Scores::index.
fn score_index(params: Params, word: u32) -> u32 {
    return mul_wide(word, params.scores).y;
}

// Twin of Quantile::q30.
fn quantile_q30(params: Params, word: u32) -> u32 {
#ifdef AFFINE
    return params.start + mul_rounded(params.width, word);
#endif
#ifdef EMPIRICAL
    return quantile[score_index(params, word)];
#endif
#ifdef NODES
    let upper = word > 0x80000000u;
    var w = word;
    if upper {
        w = 0u - word;
    }
    if w == 0u {
        return quantile[0];
    }
    let zeros = countLeadingZeros(w);
    let m = w << zeros;
    let node = 1u + NODES_PER_OCTAVE * (31u - zeros) + ((m >> 24u) & 127u);
    let fraction = m << 8u;
    if upper {
        let mirrored = LAST_NODE - node;
        let value = quantile[mirrored];
        return value - mul_rounded(value - quantile[mirrored - 1u], fraction);
    }
    let value = quantile[node];
    return value + mul_rounded(quantile[node + 1u] - value, fraction);
#endif
}

// Twin of Response::q30.
fn response_q30(params: Params, confidence: u32) -> u32 {
#ifdef CELLS
    if confidence == ONE_Q30 {
        return response[params.cells - 1u].y;
    }
    let place = mul_wide(confidence << 2u, params.cells);
    let limits = response[place.y];
    if limits.y >= limits.x {
        return limits.x + mul_rounded(limits.y - limits.x, place.x);
    }
    return limits.x - mul_rounded(limits.x - limits.y, place.x);
#else
    return confidence;
#endif
}

// The residual of a row from its uniform word and the label word of its sorted position.
fn residual_of(params: Params, word: u32, label: u32) -> i32 {
    let confidence = quantile_q30(params, word);
    return residual_q30((label >> 2u) < response_q30(params, confidence), confidence);
}

// The residual of the row at a sorted position of a replicate, whose uniform word is `word`.
fn row_residual(params: Params, replicate: u32, position: u32, word: u32) -> i32 {
    return residual_of(params, word, threefry(params.key, vec2<u32>(position, replicate)).y);
}

// The null variance of a row from its residual: z or 1 - z is its magnitude, which is all that the
// variance depends on.
fn residual_variance(residual: i32) -> u32 {
    return null_variance_q33(u32(abs(residual)));
}
