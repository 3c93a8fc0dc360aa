//! Text as Python 3.11 sees it: `str.lower`, the `\w` of `re`, on the tables of Unicode 14.
//!
//! The official scorers are Python scripts, and their results are reproduced to the last bit. Rust's own tables
//! are newer, so characters that Unicode 14 had not assigned are set apart here and treated as Python treats
//! them: no letter, no case, no decomposition.

use std::borrow::Cow;
use unicode_general_category::{GeneralCategory as Category, get_general_category};

/// Runs of code points that Unicode 14 had not assigned and in which Unicode 15 to 17 placed characters whose
/// class, case or decomposition matters to a scorer.
const UNASSIGNED_IN_14: [(u32, u32); 36] = [
    (0x5C8, 0x5CF),
    (0x892, 0x897),
    (0xECE, 0xECF),
    (0x1ACF, 0x1AFF),
    (0x1C89, 0x1C8F),
    (0xA7CB, 0xA7CF),
    (0xA7D2, 0xA7D2),
    (0xA7D4, 0xA7D4),
    (0xA7DA, 0xA7F1),
    (0x105BD, 0x105FF),
    (0x10D3A, 0x10E5F),
    (0x10EB2, 0x10EFF),
    (0x1123F, 0x1127F),
    (0x11375, 0x113FF),
    (0x116CA, 0x116FF),
    (0x11AF9, 0x11BFF),
    (0x11DAA, 0x11EDF),
    (0x11EF9, 0x11FAF),
    (0x1342F, 0x1342F),
    (0x13439, 0x143FF),
    (0x14647, 0x167FF),
    (0x16B90, 0x16E3F),
    (0x16E9B, 0x16EFF),
    (0x16FF2, 0x16FFF),
    (0x18CD6, 0x18CFF),
    (0x1B123, 0x1B14F),
    (0x1B153, 0x1B163),
    (0x1BCA4, 0x1CEFF),
    (0x1D127, 0x1D128),
    (0x1D246, 0x1D2DF),
    (0x1DF1F, 0x1DFFF),
    (0x1E02B, 0x1E0FF),
    (0x1E300, 0x1E7DF),
    (0x2B739, 0x2B73F),
    (0x2EBE1, 0x2F7FF),
    (0x3134B, 0xE0000),
];

/// Whether `c` was assigned only after Unicode 14, so that Python 3.11 knows nothing of it.
pub(crate) fn is_newer_than_python(c: char) -> bool {
    let code = u32::from(c);
    // Most text is below the first run and most of the rest far from any.
    code >= 0x5C8 && {
        let run = UNASSIGNED_IN_14.partition_point(|&(_, last)| last < code);
        UNASSIGNED_IN_14.get(run).is_some_and(|&(first, _)| first <= code)
    }
}

/// Python's `\w` in a `str` pattern: categories L and N, and `_`.
///
/// Rust's `char::is_alphanumeric` and the `\w` of its regex crate add marks and further symbols.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric() || c == '_';
    }
    let in_class = matches!(
        get_general_category(c),
        Category::UppercaseLetter
            | Category::LowercaseLetter
            | Category::TitlecaseLetter
            | Category::ModifierLetter
            | Category::OtherLetter
            | Category::DecimalNumber
            | Category::LetterNumber
            | Category::OtherNumber
    );
    in_class && !is_newer_than_python(c)
}

/// The `\w` of Python's `regex` package: alphabetic characters, marks, decimal digits, connectors such as `_`, and
/// the two joiners. The package carries tables of its own, as new as Rust's.
pub(crate) fn is_regex_word(c: char) -> bool {
    if c.is_ascii() {
        return is_word(c);
    }
    c.is_alphabetic()
        || matches!(c, '\u{200C}' | '\u{200D}')
        || matches!(
            get_general_category(c),
            Category::NonspacingMark
                | Category::SpacingMark
                | Category::EnclosingMark
                | Category::DecimalNumber
                | Category::ConnectorPunctuation
        )
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

#[cfg(test)]
mod tests {
    mod shared {
        include!("../../../tests/it/common/shared.rs");
    }

    use super::{is_newer_than_python, is_word, lower};
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct WordRanges {
        ranges: Vec<(u32, u32)>,
    }

    #[test]
    fn word_characters_are_those_of_python_over_all_of_unicode() {
        let Some(text) = shared::text("golden/scoring/py311_word_ranges.json") else { return };
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
}
