//! The argument of an action: where its bracket closes, and what counts of it.

use super::super::python::strip;
use super::repair::{self, Repairs};

/// A pair of brackets around an argument, in all widths: one kind closes what another opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bracket {
    Square,
    Round,
}

impl Bracket {
    /// The kind that `c` opens.
    pub(super) fn opened_by(c: char) -> Option<Self> {
        match c {
            '[' | '［' | '【' => Some(Self::Square),
            '(' | '（' => Some(Self::Round),
            _ => None,
        }
    }

    fn change(self, c: char) -> i32 {
        match (self, c) {
            (Self::Square, '[' | '［' | '【') | (Self::Round, '(' | '（') => 1,
            (Self::Square, ']' | '］' | '】') | (Self::Round, ')' | '）') => -1,
            _ => 0,
        }
    }

    /// Where the bracket closes that was opened `depth` times before `text`: the closing character's begin and end.
    /// Otherwise how deep the end of `text` is.
    pub(super) fn close(self, text: &str, mut depth: i32) -> Result<(usize, usize), i32> {
        for (at, c) in text.char_indices() {
            depth += self.change(c);
            if depth == 0 {
                return Ok((at, at + c.len_utf8()));
            }
        }
        Err(depth)
    }
}

/// Quotes by their opening character.
const QUOTES: [(char, char); 8] =
    [('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』'), ('«', '»')];

/// The character that closes the quote that `c` opens.
pub(super) fn closing_quote(c: char) -> Option<char> {
    QUOTES.iter().find(|(open, _)| *open == c).map(|(_, close)| *close)
}

/// Fences, quotes and brackets around an argument that are taken off; each takes a pass over the text.
const LAYERS: usize = 8;

/// The argument as it counts: one line, trimmed, without fences, quotes or brackets around the whole.
pub(super) fn clean(raw: &str, repairs: &mut Repairs) -> String {
    let mut text = strip(raw);
    for _ in 0..LAYERS {
        let (inner, kind) = match (unfenced(text), unquoted(text), unbracketed(text)) {
            (Some(inner), ..) => (inner, repair::FENCE),
            (_, Some(inner), _) => (inner, repair::ARGUMENT_QUOTES),
            (.., Some(inner)) => (inner, repair::DOUBLED_BRACKETS),
            _ => break,
        };
        repairs.note(kind);
        text = strip(inner);
    }
    if !text.contains(is_line_break) {
        return text.to_owned();
    }
    repairs.note(repair::ARGUMENT_LINES);
    one_line(text)
}

/// The lines of a text, trimmed and joined by spaces; empty ones are left out.
pub(super) fn one_line(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for line in text.split(is_line_break).map(strip) {
        if !line.is_empty() {
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(line);
        }
    }
    joined
}

fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The text between the marks of a code fence around the whole, without the language behind the first.
fn unfenced(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let Some((language, block)) = inner.split_once('\n') else { return Some(inner) };
    Some(if language.chars().all(char::is_alphanumeric) { block } else { inner })
}

/// The text in square brackets around the whole; brackets that close and open again inside are not such.
fn unbracketed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(['[', '［', '【'])?;
    let (close, end) = Bracket::Square.close(inner, 1).ok()?;
    (end == inner.len()).then(|| &inner[..close])
}

/// The text inside quotes around the whole; quotes that close and open again inside are not such.
fn unquoted(text: &str) -> Option<&str> {
    let open = text.chars().next()?;
    let close = closing_quote(open)?;
    let inner = text[open.len_utf8()..].strip_suffix(close)?;
    (!inner.contains([open, close])).then_some(inner)
}
