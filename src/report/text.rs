//! Text of any origin on lines of a known width.

use std::borrow::Cow;
use std::io::{self, Write};

/// The widest line that reports write, in columns.
pub const LINE: usize = 98;

/// Text that is safe to print: control characters, which could break a line or command a terminal,
/// are written as escapes.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hazard) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hazard(character) {
            safe.extend(character.escape_default());
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// Control characters, line and paragraph separators, marks that reverse the direction of text, and
/// the two code points that XML does not allow.
fn is_hazard(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FFFE}' | '\u{FFFF}'
        )
}

/// Columns that a character takes on a terminal: 2 for East Asian wide characters and emoji, 0 for
/// combining marks. An approximation of Unicode's annex 11 by blocks.
pub fn columns_of(character: char) -> usize {
    match u32::from(character) {
        0x300..=0x36F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1F64F
        | 0x1F900..=0x1F9FF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// Columns that a text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The text, or its beginning and end around `…`, in at most `limit` columns.
pub fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    shorten_to(text, |candidate| width(candidate) <= limit)
}

/// The text if it fits; else the longest of its shortenings in the middle that does.
///
/// `fits` must hold for every shortening of a text that it holds for. If nothing fits, `…` is left.
pub fn shorten_to(text: &str, fits: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if fits(text) {
        return Cow::Borrowed(text);
    }
    let characters: Vec<char> = text.chars().collect();
    let keeping = |kept: usize| -> String {
        // The end of a path tells more than its beginning.
        let head = kept / 2;
        let tail = characters.len() - (kept - head);
        let mut shortened: String = characters[..head].iter().collect();
        shortened.push('…');
        shortened.extend(&characters[tail..]);
        shortened
    };
    // Bisection: `fewest` fits (or nothing does), `most` does not.
    let (mut fewest, mut most) = (0, characters.len());
    while most - fewest > 1 {
        let middle = fewest.midpoint(most);
        if fits(&keeping(middle)) {
            fewest = middle;
        } else {
            most = middle;
        }
    }
    Cow::Owned(keeping(fewest))
}

/// Breaks a text at spaces into lines of at most `limit` columns; a longer word has its own line.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > limit {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A name in front, then a text over as many lines as it needs, each beginning below the first.
pub(super) fn write_wrapped(name: &str, text: &str, out: &mut impl Write) -> io::Result<()> {
    let indent = width(name);
    let mut lines = wrap(text, LINE.saturating_sub(indent)).into_iter();
    writeln!(out, "{name}{}", lines.next().unwrap_or_default())?;
    for line in lines {
        writeln!(out, "{:indent$}{line}", "")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a\\u{1b}[31mb\\nc");
        assert_eq!(printable("señor λ 中"), "señor λ 中");
        assert_eq!(printable("a\u{202e}b"), "a\\u{202e}b");
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(shorten("abcdef", 6), "abcdef");
        assert_eq!(shorten("abcdefgh", 5), "ab…gh");
        assert_eq!(shorten("abcdefgh", 6), "ab…fgh");
        assert_eq!(shorten("abcdefgh", 1), "…");
        assert_eq!(shorten("abcdefgh", 0), "…");
        assert_eq!(shorten("中中中中", 5), "中…中");
        assert_eq!(shorten("", 0), "");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("extraordinary one", 5), ["extraordinary", "one"]);
        assert!(wrap("  ", 5).is_empty());
    }
}
