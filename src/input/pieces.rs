//! Pieces of a file read side by side, with the outcome of reading them one after the other.

use std::io::Read;

use rayon::prelude::*;

use super::InputError;
use super::blocks::{Block, Blocks};
use super::cell::Element;
use super::door::Door;

/// The least bytes that a row of a text usually takes.
const BYTES_PER_ROW: usize = 16;

/// Admits pieces that follow each other, while `meanwhile` runs, and returns what it returned. `rows`
/// tells about how many rows a piece has, and `admit` admits those of one piece at a door.
///
/// Every piece first enters by a door of its own. Its rows are then taken over, in order. Where
/// something is wrong with a piece, by itself or beside those before it, the piece is read again at the
/// true door, so that errors are those of a reader that goes from row to row.
pub(super) fn admit_round<C: Element, P: Sync, N: Send>(
    door: &mut Door<'_, C>,
    pieces: &[P],
    rows: impl Fn(&P) -> usize + Sync,
    meanwhile: impl FnOnce() -> N + Send,
    admit: impl Fn(&P, &mut Door<'_, C>) -> Result<(), InputError> + Sync,
) -> Result<N, InputError> {
    if pieces.len() < 2 || rayon::current_num_threads() == 1 {
        // A small file is read before another thread would have woken up.
        for piece in pieces {
            admit(piece, door)?;
        }
        return Ok(meanwhile());
    }
    let begin = |piece: &P| {
        // After a failure nothing is taken over.
        let mut part = door.is_sound().then(|| door.part(rows(piece)))?;
        admit(piece, &mut part).ok()?;
        Some(part)
    };
    let (next, parts): (_, Vec<_>) = rayon::join(meanwhile, || {
        pieces.par_iter().with_max_len(1).map(begin).collect()
    });
    for (piece, part) in std::iter::zip(pieces, parts) {
        if !part.is_some_and(|part| door.take_over(part)) {
            admit(piece, door)?;
        }
    }
    Ok(next)
}

/// Admits all records of `first` and of the blocks after it, each read while those of the block before
/// it are admitted. `admit` admits those of one piece at a door.
pub(super) fn admit_pieces<C: Element>(
    file: &str,
    door: &mut Door<'_, C>,
    first: Block,
    blocks: &mut Blocks<impl Read + Send>,
    admit: impl Fn(&[u8], &mut Door<'_, C>) -> Result<(), InputError> + Sync,
) -> Result<(), InputError> {
    let mut next = Some(first);
    while let Some(block) = next {
        next = admit_round(
            door,
            &block.pieces(),
            |piece| piece.len() / BYTES_PER_ROW,
            || blocks.next(),
            |piece, door| admit(piece, door),
        )?;
    }
    match blocks.take_failure() {
        Some(error) => Err(InputError::io(file, &error)),
        None => Ok(()),
    }
}
