//! Character references as Python's `html.parser` resolves them.

use html5ever::data::NAMED_ENTITIES;

/// The characters of Windows-1252 from 0x80 to 0x9f, which pages use in numeric references; 0 where it has none.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017d, 0, 0,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0, 0x017e, 0x0178,
];

/// The numeric reference at the start of `bytes` (`&#`), and its length.
///
/// The next character must not be a hexadecimal digit, so `&#160a` is not a reference. A semicolon counts in the length.
pub(super) fn numeric_reference(bytes: &[u8]) -> Option<(char, usize)> {
    let (start, radix) = if matches!(bytes.get(2), Some(b'x' | b'X')) { (3, 16) } else { (2, 10) };
    let digits = bytes[start.min(bytes.len())..].iter().take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let end = start + digits;
    let next = bytes.get(end)?;
    if digits == 0 || next.is_ascii_hexdigit() {
        return None;
    }
    let value = bytes[start..end].iter().fold(0_u32, |value, &byte| {
        value.saturating_mul(radix).saturating_add(char::from(byte).to_digit(radix).unwrap_or(0))
    });
    Some((reference_character(value), end + usize::from(*next == b';')))
}

/// "Numeric character reference end state" of the HTML standard.
fn reference_character(value: u32) -> char {
    let value = match value {
        0 => 0xfffd,
        0x80..=0x9f => match WINDOWS_1252[(value - 0x80) as usize] {
            0 => value,
            mapped => u32::from(mapped),
        },
        _ => value,
    };
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// The name of the reference at the start of `text` (`&` and a letter), and the length of the whole reference.
///
/// Hyphens and full stops belong to a name unless the text ends there. `None` if the name reaches the end of the text.
pub(super) fn reference_name(text: &str) -> Option<(&str, usize)> {
    let bytes = text.as_bytes();
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
    let mut end = 1 + bytes[1..].iter().take_while(|byte| in_name(byte)).count();
    if end == bytes.len() {
        end = bytes[2..].iter().rposition(|byte| matches!(byte, b'-' | b'.'))? + 2;
    }
    Some((&text[1..end], end + usize::from(bytes[end] == b';')))
}

/// The text of a named reference. The standard's table has some names with a semicolon only.
pub(super) fn named_reference(name: &str) -> Option<String> {
    /// The longest name in the table, semicolon included.
    const LONGEST: usize = 33;
    if name.len() >= LONGEST {
        return None;
    }
    let found = |name: &str| NAMED_ENTITIES.get(name).filter(|(first, _)| *first != 0);
    let (first, second) = found(&format!("{name};")).or_else(|| found(name))?;
    Some([*first, *second].into_iter().filter(|&point| point != 0).filter_map(char::from_u32).collect())
}

#[cfg(test)]
mod tests {
    use super::{named_reference, numeric_reference, reference_name};

    #[test]
    fn numbers_need_a_character_after_them() {
        assert_eq!(numeric_reference(b"&#160;"), Some(('\u{a0}', 6)));
        assert_eq!(numeric_reference(b"&#x201C "), Some(('\u{201c}', 7)));
        assert_eq!(numeric_reference(b"&#150;"), Some(('\u{2013}', 6)));
        assert_eq!(numeric_reference(b"&#129;"), Some(('\u{81}', 6)));
        assert_eq!(numeric_reference(b"&#99999999999;"), Some(('\u{fffd}', 14)));
        for text in [&b"&#160a "[..], b"&#160", b"&#;", b"&#x;", b"&#"] {
            assert_eq!(numeric_reference(text), None, "{text:?}");
        }
    }

    #[test]
    fn names_end_as_the_parser_ends_them() {
        assert_eq!(reference_name("&amp; x"), Some(("amp", 5)));
        assert_eq!(reference_name("&amp x"), Some(("amp", 4)));
        assert_eq!(reference_name("&T-b c"), Some(("T-b", 4)));
        assert_eq!(reference_name("&T-b"), Some(("T", 2)));
        assert_eq!(reference_name("&T"), None);
        assert_eq!(named_reference("amp").as_deref(), Some("&"));
        assert_eq!(named_reference("nbsp").as_deref(), Some("\u{a0}"));
        assert_eq!(named_reference("NotEqualTilde").as_deref(), Some("\u{2242}\u{338}"));
        assert_eq!(named_reference("notit"), None);
        assert_eq!(named_reference("hel"), None);
    }
}
