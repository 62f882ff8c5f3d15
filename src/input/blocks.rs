//! Text in blocks of whole records, so that pieces of a block can be read side by side.

use std::io::{self, Read};

use super::quotes::{cut_quoted, ends_record};

/// Where records end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ends {
    /// At every line feed.
    Lines,
    /// At every line feed or carriage return outside of quotes. The fields of a record stand between
    /// these bytes.
    Csv(u8),
}

/// How much text there is at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Bytes of a block: what is in memory at a time, twice.
    pub(super) block: usize,
    /// Bytes of a piece: what one thread reads at a time.
    pub(super) piece: usize,
}

impl Sizes {
    /// Pieces small enough for a core's cache, and some of them for each thread.
    pub(super) fn usual() -> Self {
        let piece = 1 << 18;
        Sizes {
            block: piece * 4 * rayon::current_num_threads(),
            piece,
        }
    }
}

/// A text, block after block.
pub(super) struct Blocks<R> {
    source: R,
    ends: Ends,
    sizes: Sizes,
    /// The beginning of a record that has not ended yet.
    rest: Vec<u8>,
    ended: bool,
    failure: Option<io::Error>,
}

/// Whole records, one after the other.
pub(super) struct Block {
    text: Vec<u8>,
    start: usize,
    /// Where pieces end, ascending.
    cuts: Vec<usize>,
}

impl<R: Read> Blocks<R> {
    pub(super) fn new(source: R, ends: Ends, sizes: Sizes) -> Self {
        Blocks {
            source,
            ends,
            sizes,
            rest: Vec::new(),
            ended: false,
            failure: None,
        }
    }

    /// The next block, of at least one record; none after the last. A record that ends neither by
    /// itself nor with the text, because reading failed, is in no block.
    pub(super) fn next(&mut self) -> Option<Block> {
        let mut text = std::mem::take(&mut self.rest);
        let mut size = self.sizes.block;
        while !self.ended {
            let missing = size.saturating_sub(text.len()) as u64;
            match self.source.by_ref().take(missing).read_to_end(&mut text) {
                Ok(read) => self.ended = (read as u64) < missing,
                // What was read before the error is in the text.
                Err(error) => {
                    self.failure = Some(error);
                    self.ended = true;
                }
            }
            let mut cuts = cut(&text, self.ends, self.sizes.piece);
            let mut end = cuts.last().copied().unwrap_or(0);
            if self.ended && self.failure.is_none() && end < text.len() {
                end = text.len();
                cuts.push(end);
            }
            if end > 0 {
                self.rest = text.split_off(end);
                return Some(Block {
                    text,
                    start: 0,
                    cuts,
                });
            }
            // A record longer than a block. Twice as much at a time, so that the search for its end
            // stays linear.
            size = text.len().saturating_mul(2).max(size);
        }
        None
    }

    /// After the last block: why there are no more, if the text did not end.
    pub(super) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}

impl Block {
    /// All records, but for those passed over.
    pub(super) fn text(&self) -> &[u8] {
        &self.text[self.start..]
    }

    /// Passes over the first bytes of the text, which are whole records.
    pub(super) fn pass(&mut self, bytes: usize) {
        self.start += bytes;
        self.cuts.retain(|&end| end > self.start);
    }

    /// In how many pieces of whole records it is.
    pub(super) fn pieces(&self) -> usize {
        self.cuts.len()
    }

    /// One of the pieces, from 0.
    pub(super) fn piece(&self, piece: usize) -> &[u8] {
        let start = piece
            .checked_sub(1)
            .map_or(self.start, |before| self.cuts[before]);
        &self.text[start..self.cuts[piece]]
    }
}

/// Ends of records that are `size` bytes or a little more apart, and the last one.
fn cut(text: &[u8], ends: Ends, size: usize) -> Vec<usize> {
    match ends {
        Ends::Csv(delimiter) if text.contains(&b'"') => cut_quoted(text, delimiter, size),
        Ends::Csv(_) => cut_where(text, size, ends_record),
        Ends::Lines => cut_where(text, size, |byte| byte == b'\n'),
    }
}

/// [`cut`] where every such byte ends a record.
fn cut_where(text: &[u8], size: usize, is_end: impl Fn(u8) -> bool) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut start = 0;
    while let Some(rest) = text.get(start + size..)
        && let Some(place) = rest.iter().position(|&byte| is_end(byte))
    {
        start += size + place + 1;
        cuts.push(start);
    }
    let rest = &text[start..];
    if let Some(place) = rest.iter().rposition(|&byte| is_end(byte)) {
        cuts.push(start + place + 1);
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, ends: Ends, block: usize, piece: usize) -> Vec<String> {
        let mut blocks = Blocks::new(text.as_bytes(), ends, Sizes { block, piece });
        let mut pieces = Vec::new();
        while let Some(block) = blocks.next() {
            let texts = (0..block.pieces()).map(|piece| block.piece(piece));
            pieces.extend(texts.map(|text| String::from_utf8_lossy(text).into_owned()));
        }
        pieces
    }

    #[test]
    fn pieces_end_where_records_end() {
        let csv = Ends::Csv(b',');
        assert_eq!(pieces("a\nb\nc", csv, 1, 1), ["a\n", "b\n", "c"]);
        assert_eq!(pieces("a\nbc\nd\n", csv, 100, 2), ["a\nbc\n", "d\n"]);
        assert_eq!(pieces("a\rb", csv, 2, 1), ["a\r", "b"]);
        assert_eq!(pieces("a\rb", Ends::Lines, 2, 1), ["a\rb"]);
        assert_eq!(pieces("", csv, 1, 1), Vec::<String>::new());
        let quoted = "\"a\n\"\"\n\",x\ny\"\n\"z\n";
        assert_eq!(
            pieces(quoted, csv, 3, 1),
            ["\"a\n\"\"\n\",x\n", "y\"\n", "\"z\n"]
        );
    }

    #[test]
    fn a_failure_comes_after_the_whole_records_before_it() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("on purpose"))
            }
        }
        let sizes = Sizes { block: 3, piece: 1 };
        let source = b"ab\ncd\ne".chain(Failing);
        let mut blocks = Blocks::new(source, Ends::Lines, sizes);
        let mut text = Vec::new();
        while let Some(block) = blocks.next() {
            text.extend_from_slice(block.text());
        }
        assert_eq!(text, b"ab\ncd\n");
        assert!(blocks.take_failure().is_some());
    }
}
