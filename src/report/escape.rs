//! Escapes text of models and pages for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// `text` with control characters and marks that change the direction of writing escaped, as in `\u{1b}`. Line breaks
/// are kept, and a tab becomes a space.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => shown.push(' '),
            c if is_control(c) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "{}", c.escape_default());
            }
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same on one line, cut after `limit` characters.
pub fn visible_line(text: &str, limit: usize) -> String {
    let cut: String = text.chars().take(limit).map(|c| if c == '\n' { ' ' } else { c }).collect();
    let dots = if text.chars().nth(limit).is_some() { "…" } else { "" };
    format!("{}{dots}", visible(&cut))
}

fn is_control(c: char) -> bool {
    let directs = matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let breaks = matches!(c, '\u{2028}' | '\u{2029}');
    directs || breaks || (c.is_control() && c != '\n')
}

#[cfg(test)]
mod tests {
    use super::{visible, visible_line};

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(visible("a\tb\nc\rd"), "a b\nc\\rd");
        assert_eq!(visible("\u{1b}]0;x\u{7}\u{9b}31m\0\u{7f}"), "\\u{1b}]0;x\\u{7}\\u{9b}31m\\u{0}\\u{7f}");
        assert_eq!(visible("\u{202e}evil\u{2066}\u{2028}"), "\\u{202e}evil\\u{2066}\\u{2028}");
        assert_eq!(visible("Ærø 東京 é"), "Ærø 東京 é");
    }

    #[test]
    fn a_line_is_cut_by_characters() {
        assert_eq!(visible_line("ab\ncd", 3), "ab …");
        assert_eq!(visible_line("ab\n", 3), "ab ");
    }
}
