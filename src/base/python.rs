//! Text as Python sees and shows it.
//!
//! The original agents, environments and scorers are Python programs; what they take for white space or for a word, and
//! how they print a string, decides what a model is shown and what is counted as right.
//!
//! `str.lower` and the `\w` of `re` are those of Python 3.11, on the tables of Unicode 14, as the official scorers' results
//! are reproduced to the last bit. Rust's own tables are newer, so characters that Unicode 14 had not assigned are set apart
//! here and treated as Python treats them: no letter, no case, no decomposition.

use std::borrow::Cow;
use std::fmt::Write as _;
use unicode_general_category::get_general_category;

/// White space as Python's `str.strip` and `str.split` see it: Unicode's, and the separators U+001C to U+001F.
pub fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

/// `text[:1].lower() + text[1:]`.
pub(crate) fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

/// Where runs of code points begin and end (the first behind it, in turn) that Unicode 14 had not assigned and in which
/// Unicode 15 to 17 placed characters whose class, case or decomposition matters to a scorer.
const UNASSIGNED_IN_14: [u32; 72] = [
    0x5C8, 0x5D0, 0x892, 0x898, 0xECE, 0xED0, 0x1ACF, 0x1B00, 0x1C89, 0x1C90, 0xA7CB, 0xA7D0, 0xA7D2, 0xA7D3, 0xA7D4,
    0xA7D5, 0xA7DA, 0xA7F2, 0x105BD, 0x10600, 0x10D3A, 0x10E60, 0x10EB2, 0x10F00, 0x1123F, 0x11280, 0x11375, 0x11400,
    0x116CA, 0x11700, 0x11AF9, 0x11C00, 0x11DAA, 0x11EE0, 0x11EF9, 0x11FB0, 0x1342F, 0x13430, 0x13439, 0x14400,
    0x14647, 0x16800, 0x16B90, 0x16E40, 0x16E9B, 0x16F00, 0x16FF2, 0x17000, 0x18CD6, 0x18D00, 0x1B123, 0x1B150,
    0x1B153, 0x1B164, 0x1BCA4, 0x1CF00, 0x1D127, 0x1D129, 0x1D246, 0x1D2E0, 0x1DF1F, 0x1E000, 0x1E02B, 0x1E100,
    0x1E300, 0x1E7E0, 0x2B739, 0x2B740, 0x2EBE1, 0x2F800, 0x3134B, 0xE0001,
];

/// Whether `c` was assigned only after Unicode 14, so that Python 3.11 knows nothing of it.
pub(crate) fn is_newer_than_python(c: char) -> bool {
    let code = u32::from(c);
    // Most text is below the first run. Behind a begin the number of bounds is odd, behind an end it is even.
    code >= UNASSIGNED_IN_14[0] && UNASSIGNED_IN_14.partition_point(|bound| *bound <= code) % 2 == 1
}

/// Python's `\w` in a `str` pattern: categories L and N, and `_`.
///
/// Rust's `char::is_alphanumeric` and the `\w` of its regex crate add marks and further symbols.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    get_general_category(c).abbreviation().starts_with(['L', 'N']) && !is_newer_than_python(c)
}

/// The `\w` of Python's `regex` package: alphabetic characters, marks, decimal digits, connectors such as `_`, and
/// the two joiners. The package carries tables of its own, as new as Rust's.
pub(crate) fn is_regex_word(c: char) -> bool {
    if c.is_ascii() {
        return is_word(c);
    }
    c.is_alphabetic()
        || matches!(c, '\u{200C}' | '\u{200D}')
        || matches!(get_general_category(c).abbreviation(), "Mn" | "Mc" | "Me" | "Nd" | "Pc")
}

/// Python's `str.lower`, the rule for the final sigma included.
pub(crate) fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|b| b.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    if text.chars().all(|c| stand_in(c).is_none()) {
        return Cow::Owned(text.to_lowercase());
    }
    Cow::Owned(lower_with_stand_ins(text))
}

/// A character that Rust's tables treat as Python's treat `c`, where the two disagree about `c` itself.
fn stand_in(c: char) -> Option<char> {
    match c {
        // A cased letter for Python; uncased since Unicode 15.1.
        '\u{295}' => Some('\u{250}'),
        // Ignored around a sigma by Python; a spacing mark since Unicode 15.1.
        '\u{1171E}' => Some('\u{300}'),
        // Neither cased nor ignored nor lowered.
        c if is_newer_than_python(c) => Some('1'),
        _ => None,
    }
}

/// Lower-cases the text with its stand-ins in place, then puts the characters that were stood in for back.
fn lower_with_stand_ins(text: &str) -> String {
    let plain: String = text.chars().map(|c| stand_in(c).unwrap_or(c)).collect();
    let lowered = plain.to_lowercase();
    let mut lowered = lowered.chars();
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        // A stand-in lowers to itself alone; any other character to as many as its own mapping has.
        match stand_in(c) {
            Some(_) => {
                lowered.next();
                out.push(c);
            }
            None => out.extend(lowered.by_ref().take(c.to_lowercase().count())),
        }
    }
    out
}

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
#[cfg(any(feature = "index", test))]
pub fn unrepr_list(shown: &str) -> Option<Vec<String>> {
    let (mut strings, mut rest) = (Vec::new(), shown);
    while !rest.is_empty() {
        let (text, behind) = unrepr(rest)?;
        strings.push(text);
        rest = behind;
        if !rest.is_empty() {
            rest = rest.strip_prefix(", ").filter(|rest| !rest.is_empty())?;
        }
    }
    Some(strings)
}

/// The string that [`repr`] wrote at the beginning of `shown`, and what is behind it.
fn unrepr(shown: &str) -> Option<(String, &str)> {
    let quote = shown.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (mut text, mut chars) = (String::new(), shown[1..].char_indices());
    loop {
        match chars.next()? {
            (_, c) if c == quote => return Some((text, chars.as_str())),
            (_, '\\') => text.push(unescaped(chars.next()?.1, &mut chars)?),
            (_, c) => text.push(c),
        }
    }
}

/// What Python prints of a dictionary of strings, numbers, lists and the like as JSON, which is not checked.
pub(crate) fn printed_to_json(printed: &str) -> Option<String> {
    let (mut json, mut rest) = (String::with_capacity(printed.len()), printed);
    while let Some(c) = rest.chars().next() {
        let words = [("True", "true"), ("False", "false"), ("None", "null")];
        if matches!(c, '\'' | '"') {
            let (text, behind) = unrepr(rest)?;
            json.push_str(&serde_json::to_string(&text).ok()?);
            rest = behind;
        } else if let Some((word, name)) = words.into_iter().find(|(word, _)| rest.starts_with(word)) {
            json.push_str(name);
            rest = &rest[word.len()..];
        } else {
            json.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(json)
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
    use super::{is_newer_than_python, is_word, lower, printed_to_json, repr};
    use crate::tests::golden;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct WordRanges {
        ranges: Vec<(u32, u32)>,
    }

    #[test]
    fn word_characters_are_those_of_python_over_all_of_unicode() {
        let text = golden::text("scoring/py311_word_ranges.json");
        let table: WordRanges = serde_json::from_str(&text).expect("the table is JSON");
        let mut ranges = table.ranges.iter().peekable();
        let mut checked = 0;
        for c in '\0'..=char::MAX {
            let code = u32::from(c);
            while ranges.next_if(|range| range.1 < code).is_some() {}
            let expected = ranges.peek().is_some_and(|range| range.0 <= code);
            assert_eq!(is_word(c), expected, "U+{code:04X}");
            checked += 1;
        }
        assert_eq!(checked, 0x11_0000 - 0x800);
        golden::checked("scoring/py311_word_ranges.json, code points", checked);
    }

    #[test]
    fn final_sigma_follows_python() {
        for (text, expected) in [
            ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"),
            ("Σ", "σ"),
            ("AΣ\u{345}b", "aσ\u{345}b"),
            ("AΣ.b", "aσ.b"),
            ("AΣ b", "aς b"),
            ("A\u{301}Σ", "a\u{301}ς"),
            ("İ", "i\u{307}"),
            ("ẞ", "ß"),
            ("\u{212A}", "k"),
        ] {
            assert_eq!(lower(text), expected, "{text:?}");
        }
    }

    #[test]
    fn characters_newer_than_unicode_14_are_left_alone() {
        // Values from CPython 3.11.7.
        for (text, expected) in [
            ("A\u{A7CB}", "a\u{A7CB}"),
            ("\u{10D50}İB", "\u{10D50}i\u{307}b"),
            ("\u{295}Σ", "\u{295}ς"),
            ("A\u{1171E}Σ", "a\u{1171E}ς"),
            ("A\u{897}Σ", "a\u{897}σ"),
            ("AΣ\u{10D50}", "aς\u{10D50}"),
        ] {
            assert_eq!(lower(text), expected, "{text:?}");
        }
        assert!(is_newer_than_python('\u{A7CB}'));
        assert!(!is_newer_than_python('\u{A7CA}'));
        assert!(!is_newer_than_python('é'));
    }

    #[test]
    fn lower_borrows_what_needs_no_change() {
        assert!(matches!(lower("plain text"), std::borrow::Cow::Borrowed(_)));
    }

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

    #[test]
    fn what_python_prints_of_a_dictionary_is_read_as_json() {
        let printed = r#"{'steps': 2, "it's": 'a\n"b"\\\xe9', 'em': True, 'f1': 0.5, 'l': [None, False]}"#;
        let json = r#"{"steps": 2, "it's": "a\n\"b\"\\é", "em": true, "f1": 0.5, "l": [null, false]}"#;
        assert_eq!(printed_to_json(printed).as_deref(), Some(json));
        for broken in ["{'a", "{'a\\q'}", "{'\\x1"] {
            assert_eq!(printed_to_json(broken), None, "{broken}");
        }
    }
}
