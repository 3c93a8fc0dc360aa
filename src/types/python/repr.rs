//! `repr` of a Python `str`.

use std::fmt::Write as _;
use unicode_general_category::get_general_category;

/// `repr(text)` of a string.
pub fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push(quote);
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if c == quote => shown.extend(['\\', c]),
            _ if is_printable(c) => shown.push(c),
            _ => push_escape(&mut shown, u32::from(c)),
        }
    }
    shown.push(quote);
    shown
}

/// The strings of a list that [`repr`] wrote, without its brackets; nothing if it is not such a list.
pub fn unrepr_list(shown: &str) -> Option<Vec<String>> {
    let (mut strings, mut rest) = (Vec::new(), shown);
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut text = String::new();
        let mut chars = rest[1..].char_indices();
        let end = loop {
            match chars.next()? {
                (at, c) if c == quote => break at + 2,
                (_, '\\') => text.push(unescaped(chars.next()?.1, &mut chars)?),
                (_, c) => text.push(c),
            }
        };
        strings.push(text);
        rest = &rest[end..];
        if !rest.is_empty() {
            rest = rest.strip_prefix(", ").filter(|rest| !rest.is_empty())?;
        }
    }
    Some(strings)
}

/// The character that an escape means, by what follows the backslash.
fn unescaped(escape: char, rest: &mut std::str::CharIndices<'_>) -> Option<char> {
    let digits = match escape {
        'n' => return Some('\n'),
        'r' => return Some('\r'),
        't' => return Some('\t'),
        '\\' | '\'' | '"' => return Some(escape),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let hex: String = rest.take(digits).map(|(_, c)| c).collect();
    char::from_u32(u32::from_str_radix(&hex, 16).ok()?)
}

fn push_escape(shown: &mut String, point: u32) {
    // Writing to a `String` cannot fail.
    let _ = match point {
        ..=0xff => write!(shown, "\\x{point:02x}"),
        0x100..=0xffff => write!(shown, "\\u{point:04x}"),
        _ => write!(shown, "\\U{point:08x}"),
    };
}

/// `str.isprintable` of one character: neither a separator but the space, nor in a category "other".
fn is_printable(c: char) -> bool {
    matches!(c, ' '..='~') || !get_general_category(c).abbreviation().starts_with(['C', 'Z'])
}

#[cfg(test)]
mod tests {
    use super::repr;

    #[test]
    fn strings_are_quoted_as_python_quotes_them() {
        for (text, shown) in [
            ("a", "'a'"),
            ("it's", "\"it's\""),
            ("it's \"x\"", "'it\\'s \"x\"'"),
            ("a\\\n\t", "'a\\\\\\n\\t'"),
            ("\u{a0}é\u{200b}\u{e0001}", "'\\xa0é\\u200b\\U000e0001'"),
            ("\u{7}\u{e000}\u{1f600}", "'\\x07\\ue000😀'"),
        ] {
            assert_eq!(repr(text), shown);
        }
    }
}
