// What a thread works on: consecutive rows of one piece. A piece is a segment, or a part of one too
// large for the device, cut between two runs.

struct Piece {
    // Its rows among the records.
    start: u32,
    end: u32,
    // The rank, in its segment, of its first row.
    first_rank: u32,
    padding: u32,
}

struct Item {
    start: u32,
    end: u32,
    piece: u32,
    padding: u32,
}
