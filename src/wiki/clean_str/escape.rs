//! Python's `unicode-escape` decoding of bytes, with the positions and reasons of its exceptions.

use super::{PythonError, decode_error};

/// Decodes `bytes`; those that are part of no escape are read as Latin-1.
///
/// Gives code points, not characters, because `\ud800` is a legal escape for a lone surrogate.
pub(super) fn decode_unicode_escape(bytes: &[u8]) -> Result<Vec<u32>, PythonError> {
    let mut points = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'\\' {
            at = decode_one(bytes, at, &mut points)
                .map_err(|(end, reason)| decode_error("unicodeescape", bytes, at, end, reason))?;
        } else {
            points.push(u32::from(byte));
            at += 1;
        }
    }
    Ok(points)
}

/// Where a faulty escape ends, and what is wrong with it.
type EscapeFault = (usize, &'static str);

/// Decodes the escape whose backslash is at `start`, and gives the position after it.
fn decode_one(bytes: &[u8], start: usize, points: &mut Vec<u32>) -> Result<usize, EscapeFault> {
    let Some(&letter) = bytes.get(start + 1) else { return Err((bytes.len(), "\\ at end of string")) };
    let after = start + 2;
    let (point, end) = match letter {
        b'\n' => return Ok(after),
        b'\\' | b'\'' | b'"' => (u32::from(letter), after),
        b'b' => (8, after),
        b'f' => (12, after),
        b't' => (9, after),
        b'n' => (10, after),
        b'r' => (13, after),
        b'v' => (11, after),
        b'a' => (7, after),
        b'0'..=b'7' => octal(bytes, start + 1),
        // Python's messages show a pair of digits for each byte.
        b'x' => hexadecimal(bytes, after, 2, concat!("truncated \\x", "XX", " escape"))?,
        b'u' => hexadecimal(bytes, after, 4, concat!("truncated \\u", "XX", "XX", " escape"))?,
        b'U' => hexadecimal(bytes, after, 8, concat!("truncated \\U", "XX", "XX", "XX", "XX", " escape"))?,
        b'N' => named_escape(bytes, after)?,
        _ => {
            points.push(u32::from(b'\\'));
            (u32::from(letter), after)
        }
    };
    points.push(point);
    Ok(end)
}

/// Up to three octal digits from `start` on.
fn octal(bytes: &[u8], start: usize) -> (u32, usize) {
    let digits = bytes[start..].iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7'));
    digits.fold((0, start), |(value, end), digit| (value * 8 + u32::from(digit - b'0'), end + 1))
}

/// Exactly `count` hexadecimal digits from `start` on.
fn hexadecimal(bytes: &[u8], start: usize, count: usize, truncated: &'static str) -> Result<(u32, usize), EscapeFault> {
    let mut value = 0_u32;
    for at in start..start + count {
        let digit = bytes.get(at).and_then(|&byte| char::from(byte).to_digit(16)).ok_or((at, truncated))?;
        // Eight digits fill the 32 bits and no more.
        value = (value << 4) | digit;
    }
    if value > u32::from(char::MAX) {
        return Err((start + count, "illegal Unicode character"));
    }
    Ok((value, start + count))
}

/// `{NAME}` from `start` on.
fn named_escape(bytes: &[u8], start: usize) -> Result<(u32, usize), EscapeFault> {
    const MALFORMED: &str = "malformed \\N character escape";
    if bytes.get(start) != Some(&b'{') {
        return Err((start, MALFORMED));
    }
    let from = start + 1;
    let length = memchr::memchr(b'}', &bytes[from..]).ok_or((bytes.len(), MALFORMED))?;
    if length == 0 {
        return Err((from, MALFORMED));
    }
    let end = from + length + 1;
    let point = character_named(&bytes[from..from + length]).ok_or((end, "unknown Unicode character name"))?;
    Ok((point, end))
}

/// The character of a name in any case. The library also takes names with other spaces and hyphens; Python does not.
fn character_named(name: &[u8]) -> Option<u32> {
    /// No name is longer; a cap spares the look-up of hostile text.
    const LONGEST: usize = 120;
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= LONGEST && name.is_ascii())?;
    let character = unicode_names2::character(name)?;
    let official = unicode_names2::name(character).map(|name| name.to_string());
    // A name that is not the official one is an alias, which the library matches to the letter.
    let same = official.is_none_or(|official| official.eq_ignore_ascii_case(name) || !same_letters(&official, name));
    same.then_some(u32::from(character))
}

/// Whether two names differ in nothing but case, spaces, hyphens and underscores.
fn same_letters(a: &str, b: &str) -> bool {
    let letters = |text: &str| -> Vec<u8> {
        text.bytes().filter(u8::is_ascii_alphanumeric).map(|byte| byte.to_ascii_uppercase()).collect()
    };
    letters(a) == letters(b)
}
