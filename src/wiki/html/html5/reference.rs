//! Character references as the HTML standard resolves them.

use crate::wiki::html::entities::character;
use markup5ever::data::NAMED_ENTITIES;
use memchr::memchr2;

/// The longest name of a character, semicolon included.
const LONGEST: usize = 32;

/// The text that the reference at the start of `text` (`&`) stands for, and the length of the reference.
pub(super) fn resolve(text: &str, in_attribute: bool) -> Option<(String, usize)> {
    if text[1..].starts_with('#') { numeric(text.as_bytes()) } else { named(text, in_attribute) }
}

fn numeric(bytes: &[u8]) -> Option<(String, usize)> {
    let (start, radix) = if matches!(bytes.get(2), Some(b'x' | b'X')) { (3, 16) } else { (2, 10) };
    let digits = bytes.get(start..)?.iter().map_while(|byte| char::from(*byte).to_digit(radix));
    let (mut value, mut end) = (0_u32, start);
    for digit in digits {
        value = value.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    let closed = bytes.get(end) == Some(&b';');
    (end > start).then(|| (character(value).to_string(), end + usize::from(closed)))
}

/// The longest name counts. In attributes it is none before a letter, a digit or `=`, unless it has its semicolon.
fn named(text: &str, in_attribute: bool) -> Option<(String, usize)> {
    let bytes = text.as_bytes();
    let letters = bytes[1..].iter().take(LONGEST).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let closed = 1 + letters + usize::from(bytes.get(1 + letters) == Some(&b';'));
    let (end, (first, second)) = (2..=closed).rev().find_map(|end| {
        let points = NAMED_ENTITIES.get(&text[1..end])?;
        (points.0 != 0).then_some((end, *points))
    })?;
    let goes_on = bytes.get(end).is_some_and(|next| *next == b'=' || next.is_ascii_alphanumeric());
    if in_attribute && goes_on && bytes[end - 1] != b';' {
        return None;
    }
    let points = [first, second].into_iter().filter(|point| *point != 0);
    Some((points.filter_map(char::from_u32).collect(), end))
}

/// An attribute's value with its references resolved and its null characters replaced; nothing where it has none.
pub(super) fn decoded(value: &str) -> Option<String> {
    let next = |from: usize| memchr2(b'&', 0, &value.as_bytes()[from..]).map(|found| from + found);
    let mut found = next(0)?;
    let (mut decoded, mut at) = (String::with_capacity(value.len()), 0);
    loop {
        decoded.push_str(&value[at..found]);
        let rest = &value[found..];
        at = found + 1;
        if rest.starts_with('\0') {
            decoded.push(char::REPLACEMENT_CHARACTER);
        } else if let Some((text, length)) = resolve(rest, true) {
            decoded.push_str(&text);
            at = found + length;
        } else {
            decoded.push('&');
        }
        let Some(further) = next(at) else { break };
        found = further;
    }
    decoded.push_str(&value[at..]);
    Some(decoded)
}
