//! Where text without markup ends: in titles, styles, scripts and the like.

use memchr::{memchr2, memmem};

/// The position of the closing tag `</name` at or after `from`.
pub(super) fn end(bytes: &[u8], from: usize, name: &[u8]) -> Option<usize> {
    memmem::find_iter(&bytes[from..], b"</").map(|found| from + found).find(|&at| closes(bytes, at, name))
}

/// Whether a closing tag of this name stands at `at`.
fn closes(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    bytes[at..].starts_with(b"</") && word_at(bytes, at + 2, name)
}

/// Whether `word` stands at `at` in any case, and something that ends a tag's name behind it.
fn word_at(bytes: &[u8], at: usize, word: &[u8]) -> bool {
    let end = at + word.len();
    bytes.get(at..end).is_some_and(|found| found.eq_ignore_ascii_case(word))
        && matches!(bytes.get(end), Some(b'\t' | b'\n' | 0x0c | b' ' | b'/' | b'>'))
}

/// How far scripts are commented out: `<!--` hides closing tags of scripts that open behind it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escaped {
    No,
    /// Behind `<!--`.
    Once,
    /// In a script behind `<!--`.
    Twice,
}

/// The position of the closing tag of a script whose text is at `from`: the standard's states of script data.
pub(super) fn script_end(bytes: &[u8], from: usize) -> Option<usize> {
    const SCRIPT: &[u8] = b"script";
    let (mut at, mut escaped) = (from, Escaped::No);
    loop {
        at += memchr2(b'<', b'-', &bytes[at..])?;
        let rest = &bytes[at..];
        if rest[0] == b'-' {
            let dashes = rest.iter().take_while(|byte| **byte == b'-').count();
            at += dashes;
            if dashes >= 2 && bytes.get(at) == Some(&b'>') {
                escaped = Escaped::No;
            }
            continue;
        }
        match escaped {
            Escaped::No | Escaped::Once if closes(bytes, at, SCRIPT) => return Some(at),
            // The dashes may be those that end it.
            Escaped::No if rest.starts_with(b"<!--") => escaped = Escaped::Once,
            Escaped::Once if word_at(bytes, at + 1, SCRIPT) => escaped = Escaped::Twice,
            Escaped::Twice if closes(bytes, at, SCRIPT) => escaped = Escaped::Once,
            _ => {}
        }
        at += 1;
    }
}
