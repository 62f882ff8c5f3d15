//! Pieces of a text read side by side, with the outcome of reading them one after the other.

use std::io::Read;

use rayon::prelude::*;

use super::InputError;
use super::blocks::{Block, Blocks};
use super::cell::Element;
use super::door::Door;

/// Admits all records of `first` and of the blocks after it. `admit` admits those of one piece at a
/// door.
///
/// Every piece first enters by a door of its own, while the next block is read. Its rows are then
/// taken over, in order. Where something is wrong with a piece, by itself or beside those before it,
/// the piece is read again at the true door, so that errors are those of a reader that goes from row
/// to row.
pub(super) fn admit_pieces<C: Element>(
    file: &str,
    door: &mut Door<'_, C>,
    first: Block,
    blocks: &mut Blocks<impl Read + Send>,
    admit: impl Fn(&[u8], &mut Door<'_, C>) -> Result<(), InputError> + Sync,
) -> Result<(), InputError> {
    let mut next = Some(first);
    while let Some(block) = next {
        let pieces = block.pieces();
        if let [piece] = pieces[..] {
            // A small file is read before another thread would have woken up.
            admit(piece, door)?;
            next = blocks.next();
            continue;
        }
        let begin = |piece: &&[u8]| {
            // After a failure nothing is taken over.
            let mut part = door.is_sound().then(|| door.part(piece.len()))?;
            admit(piece, &mut part).ok()?;
            Some(part)
        };
        let (following, parts): (_, Vec<_>) =
            rayon::join(|| blocks.next(), || pieces.par_iter().map(begin).collect());
        for (piece, part) in std::iter::zip(pieces, parts) {
            if !part.is_some_and(|part| door.take_over(part)) {
                admit(piece, door)?;
            }
        }
        next = following;
    }
    match blocks.take_failure() {
        Some(error) => Err(InputError::io(file, &error)),
        None => Ok(()),
    }
}
