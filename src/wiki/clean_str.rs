//! The paper's `clean_str`: `text.encode().decode("unicode-escape").encode("latin1").decode("utf-8")`, faults included.
//!
//! The trip was meant to mend mis-decoded text. What it does is interpret backslash escapes: `\times` in a formula
//! becomes a tab and `imes`, and `\xi` raises. The exceptions are Python's, to the letter of their messages.

mod escape;

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
    let points = escape::decode_unicode_escape(text.as_bytes())?;
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
