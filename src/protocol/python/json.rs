//! The decoder of Python's `json` module: what it takes, what it refuses, and how far it reads.
//!
//! It takes `NaN` and the infinities, lone halves of surrogate pairs, and a key twice (the last value counts); it
//! refuses control characters in strings, a byte order mark, and anything after the value.

use serde_json::{Map, Number, Value};

/// Nesting beyond which a text is refused. Python itself gives up near a thousand levels.
const MAX_DEPTH: usize = 128;
/// Digits beyond which Python refuses to make an integer of them.
const MAX_DIGITS: usize = 4300;

/// Why a text is not a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// `JSONDecodeError`.
    Syntax,
    /// `RecursionError`.
    Depth,
    /// `ValueError` of an integer with too many digits.
    Digits,
}

impl JsonError {
    /// The exception that Python raises, as `Type: message` where it has one.
    pub(crate) fn exception(self) -> &'static str {
        match self {
            Self::Syntax => "JSONDecodeError",
            Self::Depth => "RecursionError: maximum recursion depth exceeded while decoding a JSON document",
            Self::Digits => "ValueError: Exceeds the limit (4300 digits) for integer string conversion",
        }
    }
}

/// `json.loads(text)`.
pub(crate) fn loads(text: &str) -> Result<Value, JsonError> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.white_space();
    let value = scanner.value(0)?;
    scanner.white_space();
    if scanner.at == text.len() { Ok(value) } else { Err(JsonError::Syntax) }
}

/// `json.JSONDecoder().raw_decode(text)`: the value with which the text begins, and its length in bytes.
pub(crate) fn first_value(text: &str) -> Result<(Value, usize), JsonError> {
    let mut scanner = Scanner { text, at: 0 };
    let value = scanner.value(0)?;
    Ok((value, scanner.at))
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl Scanner<'_> {
    fn rest(&self) -> &[u8] {
        &self.text.as_bytes()[self.at..]
    }

    fn byte(&self) -> Option<u8> {
        self.rest().first().copied()
    }

    fn white_space(&mut self) {
        self.at += count(self.rest(), |b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word.as_bytes());
        if found {
            self.at += word.len();
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > MAX_DEPTH {
            return Err(JsonError::Depth);
        }
        if self.takes("\"") {
            return self.string().map(Value::String);
        }
        if self.takes("{") {
            return self.object(depth);
        }
        if self.takes("[") {
            return self.array(depth);
        }
        let words = [
            ("null", Value::Null),
            ("true", Value::Bool(true)),
            ("false", Value::Bool(false)),
            // There is no number for these three; nothing that a tool takes is one either.
            ("NaN", Value::Null),
            ("Infinity", Value::Null),
            ("-Infinity", Value::Null),
        ];
        match words.into_iter().find(|(word, _)| self.takes(word)) {
            Some((_, value)) => Ok(value),
            None => self.number(),
        }
    }

    /// After the opening brace.
    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut map = Map::new();
        self.white_space();
        if self.takes("}") {
            return Ok(Value::Object(map));
        }
        loop {
            if !self.takes("\"") {
                return Err(JsonError::Syntax);
            }
            let key = self.string()?;
            self.white_space();
            if !self.takes(":") {
                return Err(JsonError::Syntax);
            }
            self.white_space();
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            self.white_space();
            if self.takes("}") {
                return Ok(Value::Object(map));
            }
            if !self.takes(",") {
                return Err(JsonError::Syntax);
            }
            self.white_space();
        }
    }

    /// After the opening bracket.
    fn array(&mut self, depth: usize) -> Result<Value, JsonError> {
        let mut items = Vec::new();
        self.white_space();
        if self.takes("]") {
            return Ok(Value::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.white_space();
            if self.takes("]") {
                return Ok(Value::Array(items));
            }
            if !self.takes(",") {
                return Err(JsonError::Syntax);
            }
            self.white_space();
        }
    }

    /// After the opening quote.
    fn string(&mut self) -> Result<String, JsonError> {
        let mut text = String::new();
        loop {
            let plain = count(self.rest(), |b| !matches!(b, b'"' | b'\\' | ..=0x1f));
            // Both ends stand before an ASCII character, so they are boundaries.
            text.push_str(&self.text[self.at..self.at + plain]);
            self.at += plain;
            if self.takes("\"") {
                return Ok(text);
            }
            if !self.takes("\\") {
                return Err(JsonError::Syntax);
            }
            let escape = self.byte().ok_or(JsonError::Syntax)?;
            self.at += usize::from(escape.is_ascii());
            text.push(match escape {
                b'"' | b'\\' | b'/' => char::from(escape),
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.escaped()?,
                _ => return Err(JsonError::Syntax),
            });
        }
    }

    /// After `\u`: one character, from a pair of escapes where they are a pair. A lone half becomes the
    /// replacement character, since a Rust string cannot hold it.
    fn escaped(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex4()?;
            if (0xdc00..0xe000).contains(&second) {
                let point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn hex4(&mut self) -> Result<u32, JsonError> {
        let digits = self.rest().get(..4).ok_or(JsonError::Syntax)?;
        let mut point = 0;
        for digit in digits {
            point = point * 16 + char::from(*digit).to_digit(16).ok_or(JsonError::Syntax)?;
        }
        self.at += 4;
        Ok(point)
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        self.takes("-");
        let digits = match self.byte() {
            Some(b'0') => 1,
            _ => count(self.rest(), |b| b.is_ascii_digit()),
        };
        if digits == 0 {
            return Err(JsonError::Syntax);
        }
        self.at += digits;
        let whole = self.at;
        self.fraction();
        self.exponent();
        let text = &self.text[start..self.at];
        if self.at > whole {
            return Ok(float(text));
        }
        if digits > MAX_DIGITS {
            return Err(JsonError::Digits);
        }
        let number = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
        Ok(number.map_or_else(|_| float(text), Value::Number))
    }

    fn fraction(&mut self) {
        let digits = match self.rest() {
            [b'.', rest @ ..] => count(rest, |b| b.is_ascii_digit()),
            _ => 0,
        };
        if digits > 0 {
            self.at += 1 + digits;
        }
    }

    fn exponent(&mut self) {
        let (mark, rest) = match self.rest() {
            [b'e' | b'E', b'+' | b'-', rest @ ..] => (2, rest),
            [b'e' | b'E', rest @ ..] => (1, rest),
            _ => return,
        };
        let digits = count(rest, |b| b.is_ascii_digit());
        if digits > 0 {
            self.at += mark + digits;
        }
    }
}

fn count(bytes: &[u8], is: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| is(**b)).count()
}

/// A floating-point number; nothing for an infinity, as for `Infinity` itself.
fn float(text: &str) -> Value {
    text.parse().ok().and_then(Number::from_f64).map_or(Value::Null, Value::Number)
}

#[cfg(test)]
mod tests {
    use super::{JsonError, first_value, loads};
    use serde_json::json;

    #[test]
    fn what_python_takes() {
        for (text, value) in [
            (" {\"a\": [1, -2.50, 1e3], \"a\": {}}\n", json!({"a": {}})),
            ("{\"b\": 1, \"a\": 2, \"b\": 3}", json!({"b": 3, "a": 2})),
            ("[NaN, Infinity, -Infinity, 1e999]", json!([null, null, null, null])),
            ("\"\\ud83d\\ude00 \\u4e2d \\/ \\\" \u{7f}\"", json!("😀 中 / \" \u{7f}")),
            ("\"\\ud800\\u0041\"", json!("\u{fffd}A")),
            ("\"\\ud800\"", json!("\u{fffd}")),
            ("18446744073709551615", json!(u64::MAX)),
            ("123456789012345678901234567890", json!(1.234_567_890_123_456_8e29)),
            ("[-0, 0.0, true, false, null]", json!([0, 0.0, true, false, null])),
        ] {
            assert_eq!(loads(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_python_refuses() {
        for text in [
            "",
            "{",
            "{\"a\": 1,}",
            "[1,]",
            "{'a': 1}",
            "{a: 1}",
            "\u{feff}{}",
            "{} x",
            "01",
            "1.",
            ".5",
            "+1",
            "-",
            "\"a\nb\"",
            "\"\\x41\"",
            "\"\\u12\"",
            "\"\\ud800\\u12\"",
            "\"\\é\"",
            "\u{a0}1",
            "nul",
            "{\"a\" 1}",
            "[1 2]",
            "\"",
            "\"\\",
        ] {
            assert_eq!(loads(text), Err(JsonError::Syntax), "{text:?}");
        }
        assert_eq!(loads(&"[".repeat(1_000_000)), Err(JsonError::Depth));
        assert_eq!(loads(&"{\"a\":".repeat(1_000_000)), Err(JsonError::Depth));
        assert_eq!(loads(&"1".repeat(4301)), Err(JsonError::Digits));
        assert!(loads(&"1".repeat(4300)).is_ok());
    }

    #[test]
    fn the_first_value_ends_where_it_ends() {
        assert_eq!(first_value("{\"a\": 1} {\"b\": 2}"), Ok((json!({"a": 1}), 8)));
        assert_eq!(first_value(" {}"), Err(JsonError::Syntax));
    }
}
