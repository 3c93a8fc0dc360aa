//! The paper's `clean_str`: `text.encode().decode("unicode-escape").encode("latin1").decode("utf-8")`, faults included.
//!
//! The trip was meant to mend mis-decoded text. What it does is interpret backslash escapes: `\times` in a formula
//! becomes a tab and `imes`, and `\xi` raises. The exceptions are Python's, to the letter of their messages.

use std::borrow::Cow;
use std::fmt::Write as _;

/// An exception that the paper's environment would have raised.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{kind}`: {message}")]
pub struct PythonError {
    /// Name of the exception's class, such as `UnicodeDecodeError`.
    pub kind: &'static str,
    /// The text that `str(exception)` gives.
    pub message: String,
}

/// Sends `text` through the round trip. Text without a backslash comes back as it is.
pub fn clean_str(text: &str) -> Result<Cow<'_, str>, PythonError> {
    if memchr::memchr(b'\\', text.as_bytes()).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let points = decode_unicode_escape(text.as_bytes())?;
    let bytes = encode_latin1(&points)?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Cow::Owned(text)),
        Err(error) => Err(utf8_error(&error)),
    }
}

/// [`clean_str`] as the simplified Chinese script has it: text on which it raises stays as it is.
pub fn clean_str_or_keep(text: &str) -> Cow<'_, str> {
    clean_str(text).unwrap_or(Cow::Borrowed(text))
}

/// `str.encode("latin1")` over code points, which may be lone surrogates.
fn encode_latin1(points: &[u32]) -> Result<Vec<u8>, PythonError> {
    let bytes: Vec<u8> = points.iter().map_while(|&point| u8::try_from(point).ok()).collect();
    let start = bytes.len();
    if start == points.len() {
        return Ok(bytes);
    }
    let end = start + points[start..].iter().take_while(|&&point| point > 0xff).count();
    let mut message = String::from("'latin-1' codec can't encode ");
    // Writing to a String cannot fail.
    let _ = if end - start == 1 {
        let point = points[start];
        let escaped = if point > 0xffff { format!("\\U{point:08x}") } else { format!("\\u{point:04x}") };
        write!(message, "character '{escaped}' in position {start}: ")
    } else {
        write!(message, "characters in position {start}-{}: ", end - 1)
    };
    message.push_str("ordinal not in range(256)");
    Err(PythonError { kind: "UnicodeEncodeError", message })
}

fn utf8_error(error: &std::string::FromUtf8Error) -> PythonError {
    let bytes = error.as_bytes();
    let start = error.utf8_error().valid_up_to();
    let (end, reason) = match error.utf8_error().error_len() {
        None => (bytes.len(), "unexpected end of data"),
        Some(length) if matches!(bytes[start], 0x80..=0xc1 | 0xf5..) => (start + length, "invalid start byte"),
        Some(length) => (start + length, "invalid continuation byte"),
    };
    decode_error("utf-8", bytes, start, end, reason)
}

/// `UnicodeDecodeError` for `bytes[start..end]`, worded as Python does.
fn decode_error(codec: &str, bytes: &[u8], start: usize, end: usize, reason: &str) -> PythonError {
    let place = if end == start + 1 {
        format!("byte 0x{:02x} in position {start}", bytes[start])
    } else {
        format!("bytes in position {start}-{}", end - 1)
    };
    PythonError { kind: "UnicodeDecodeError", message: format!("'{codec}' codec can't decode {place}: {reason}") }
}

// Python's `unicode-escape` decoding of bytes, with the positions and reasons of its exceptions.

/// Decodes `bytes`; those that are part of no escape are read as Latin-1.
///
/// Gives code points, not characters, because `\ud800` is a legal escape for a lone surrogate.
fn decode_unicode_escape(bytes: &[u8]) -> Result<Vec<u32>, PythonError> {
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
    const MAX_LENGTH: usize = 120;
    let name = std::str::from_utf8(name).ok().filter(|name| name.len() <= MAX_LENGTH && name.is_ascii())?;
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

#[cfg(test)]
mod tests {
    use super::clean_str;

    #[test]
    fn escapes_are_interpreted_as_python_does() {
        for (text, cleaned) in [
            ("plain é 東", "plain é 東"),
            (r"a\tb\x41\101\N{LATIN SMALL LETTER A}", "a\tbAAa"),
            (r"\xc3\xa9\d \8", "é\\d \\8"),
            ("a\\\nb", "ab"),
        ] {
            assert_eq!(clean_str(text).expect("cleans"), cleaned, "{text:?}");
        }
    }

    #[test]
    fn exceptions_carry_pythons_class_and_words() {
        for (text, codec, place, reason) in [
            (r"é\xe9", "utf-8", "byte 0xe9 in position 2", "unexpected end of data"),
            (r"\xe9\x80", "utf-8", "bytes in position 0-1", "unexpected end of data"),
            (r"\xe9\x80x", "utf-8", "bytes in position 0-1", "invalid continuation byte"),
            (r"a\377", "utf-8", "byte 0xff in position 1", "invalid start byte"),
            (r"\U00110000", "unicodeescape", "bytes in position 0-9", "illegal Unicode character"),
            (r"\N{NO SUCH NAME}", "unicodeescape", "bytes in position 0-15", "unknown Unicode character name"),
            (r"\N{LATIN", "unicodeescape", "bytes in position 0-7", "malformed \\N character escape"),
            (r"\N{LATIN-SMALL-LETTER-A}", "unicodeescape", "bytes in position 0-23", "unknown Unicode character name"),
        ] {
            let error = format!("`UnicodeDecodeError`: '{codec}' codec can't decode {place}: {reason}");
            assert_eq!(clean_str(text).expect_err("raises").to_string(), error, "{text:?}");
        }
        assert_eq!(
            clean_str(r"\u03b1\u03b2").expect_err("raises").to_string(),
            "`UnicodeEncodeError`: 'latin-1' codec can't encode characters in position 0-1: ordinal not in range(256)"
        );
    }
}
