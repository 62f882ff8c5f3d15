//! Pieces of a file read side by side, with the outcome of reading them one after the other.

use std::io::Read;

use rayon::prelude::*;

use super::InputError;
use super::blocks::{Block, Blocks};
use super::cell::Element;
use super::door::Door;

/// The least bytes that a row of a text usually takes.
const BYTES_PER_ROW: usize = 16;

/// Pieces that follow each other and are read side by side.
pub(super) trait Round: Send + Sync {
    /// How many pieces there are.
    fn pieces(&self) -> usize;

    /// About how many rows a piece has.
    fn rows(&self, piece: usize) -> usize;
}

impl Round for Block {
    fn pieces(&self) -> usize {
        self.pieces()
    }

    fn rows(&self, piece: usize) -> usize {
        self.piece(piece).len() / BYTES_PER_ROW
    }
}

/// The pieces of a round, each admitted by a door of its own; no door where something is wrong.
type Begun<'a, C, R> = (R, Vec<Option<Door<'a, C>>>);

/// Admits all pieces of the rounds that `next` gives. `admit` admits those of one piece at a door.
///
/// Every piece first enters by a door of its own, while the next round is read and the rows of the round
/// before are taken over, in order. Where something is wrong with a piece, by itself or beside those
/// before it, the piece is read again at the true door, so that errors are those of a reader that goes
/// from row to row.
pub(super) fn admit_rounds<C: Element, R: Round>(
    door: &mut Door<'_, C>,
    mut next: impl FnMut() -> Option<R> + Send,
    admit: impl Fn(&R, usize, &mut Door<'_, C>) -> Result<(), InputError> + Sync,
) -> Result<(), InputError> {
    let template = door.part(0);
    let mut begun = None;
    let mut following = next();
    while let Some(round) = following {
        if round.pieces() < 2 || rayon::current_num_threads() == 1 {
            // A small file is read before another thread would have woken up.
            take_over(door, begun.take(), &admit)?;
            for piece in 0..round.pieces() {
                admit(&round, piece, door)?;
            }
            following = next();
            continue;
        }
        // After a failure nothing is taken over.
        let sound = door.is_sound();
        let begin = |piece: usize| {
            let mut part = sound.then(|| template.part(round.rows(piece)))?;
            admit(&round, piece, &mut part).ok()?;
            Some(part)
        };
        let pieces = (0..round.pieces()).into_par_iter().with_max_len(1);
        let (taken, (after, parts)) = rayon::join(
            || take_over(door, begun.take(), &admit),
            || rayon::join(&mut next, || pieces.map(begin).collect()),
        );
        taken?;
        begun = Some((round, parts));
        following = after;
    }
    take_over(door, begun, &admit)
}

/// Admits the rows of a round.
fn take_over<'a, C: Element, R: Round>(
    door: &mut Door<'a, C>,
    begun: Option<Begun<'a, C, R>>,
    admit: impl Fn(&R, usize, &mut Door<'a, C>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let Some((round, parts)) = begun else {
        return Ok(());
    };
    for (piece, part) in parts.into_iter().enumerate() {
        if !part.is_some_and(|part| door.take_over(part)) {
            admit(&round, piece, door)?;
        }
    }
    Ok(())
}

/// Admits all records of `first` and of the blocks after it. `admit` admits those of one piece at a
/// door.
pub(super) fn admit_pieces<C: Element>(
    file: &str,
    door: &mut Door<'_, C>,
    first: Block,
    blocks: &mut Blocks<impl Read + Send>,
    admit: impl Fn(&[u8], &mut Door<'_, C>) -> Result<(), InputError> + Sync,
) -> Result<(), InputError> {
    let mut first = Some(first);
    let next = || first.take().or_else(|| blocks.next());
    admit_rounds(door, next, |block, piece, door| {
        admit(block.piece(piece), door)
    })?;
    match blocks.take_failure() {
        Some(error) => Err(InputError::io(file, &error)),
        None => Ok(()),
    }
}
