// Twin of src/placement.rs: random places, of labels inside a tied group and of rows in a population.

#import threefry

const ROUNDS: u32 = 6u;
const ROUNDS_SMALL: u32 = 16u;

struct Permutation {
    key: vec2<u32>,
    size: u32,
    half_bits: u32,
}

struct TiedLabels {
    permutation: Permutation,
    positives: u32,
}

fn permutation(key: vec2<u32>, size: u32) -> Permutation {
    let bits = 32u - countLeadingZeros(size - 1u);
    return Permutation(key, size, max((bits + 1u) / 2u, 1u));
}

fn tied_labels(stream: vec2<u32>, first_rank: u32, size: u32, positives: u32) -> TiedLabels {
    let key = child(child(stream, first_rank, 0u), size, positives);
    return TiedLabels(permutation(key, size), positives);
}

fn mix(key: vec2<u32>, round: u32, value: u32) -> u32 {
    var half = key.x;
    if (round & 1u) == 1u {
        half = key.y;
    }
    var x = value * 0x9e3779b1u + half + round * 0x7f4a7c15u;
    x ^= x >> 16u;
    x *= 0x85ebca6bu;
    x ^= x >> 13u;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16u);
}

fn network(permutation: Permutation, value: u32) -> u32 {
    let mask = (1u << permutation.half_bits) - 1u;
    var left = value >> permutation.half_bits;
    var right = value & mask;
    var rounds = ROUNDS;
    if permutation.half_bits < 3u {
        rounds = ROUNDS_SMALL;
    }
    for (var round = 0u; round < rounds; round++) {
        let next = left ^ (mix(permutation.key, round, right) & mask);
        left = right;
        right = next;
    }
    return (left << permutation.half_bits) | right;
}

// Where `index` goes.
fn place_at(permutation: Permutation, index: u32) -> u32 {
    var place = network(permutation, index);
    // The walk stays on the cycle of index, so it comes back inside.
    while place >= permutation.size {
        place = network(permutation, place);
    }
    return place;
}

fn is_positive(labels: TiedLabels, index: u32) -> bool {
    if labels.positives == 0u {
        return false;
    }
    if labels.positives == labels.permutation.size {
        return true;
    }
    return place_at(labels.permutation, index) < labels.positives;
}
