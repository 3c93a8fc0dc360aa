//! JSON as models write it: the first value of a text, read as the Python package `dirtyjson` reads it.
//!
//! Beyond JSON it takes keys and strings in single quotes, keys without quotes, comments, trailing commas, raw
//! control characters in strings, hexadecimal and octal integers, and sums of numbers. What follows the first value
//! is ignored. It does not take `True`, `None`, or words without quotes as values.
//!
//! Four things are kept otherwise: nesting deeper than [`MAX_DEPTH`] is a fault (the original runs into Python's
//! recursion limit, at some hundreds), integers beyond 128 bits are read in decimal only, half of a surrogate
//! pair becomes U+FFFD, and `\u` takes four digits and nothing else (the original takes what Python's `int` does,
//! white space and underscores included).

mod repr;
mod sum;
#[cfg(test)]
mod tests;

pub(super) use repr::dict_repr;

use crate::types::python::is_word;
use serde_json::{Map, Number, Value};
use std::collections::HashMap;

/// Dictionaries and lists inside one another.
const MAX_DEPTH: usize = 128;
/// Digits up to which Python turns a text into an integer.
const MAX_DIGITS: usize = 4300;

/// A value, with the distinctions that Python makes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item {
    None,
    Bool(bool),
    /// Decimal digits, with a minus for negative numbers: integers have no bounds.
    Int(String),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    /// A key given twice stands at its first place with its last value.
    Dict(Vec<(String, Item)>),
}

/// The text is not even leniently JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fault;

/// The first value of a text.
pub(super) fn first_value(text: &str) -> Result<Item, Fault> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    reader.skip_space_and_comments()?;
    reader.value()
}

/// Entries in order of first appearance, each with its last value.
pub(super) fn last_values<V>(entries: Vec<(String, V)>) -> Vec<(String, V)> {
    let mut places: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut kept: Vec<(String, V)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        if let Some(&place) = places.get(&key) {
            kept[place].1 = value;
        } else {
            places.insert(key.clone(), kept.len());
            kept.push((key, value));
        }
    }
    kept
}

/// Entries as a JSON object.
pub(super) fn to_json(entries: &[(String, Item)]) -> Map<String, Value> {
    entries.iter().map(|(key, value)| (key.clone(), value.to_json())).collect()
}

/// An object as JSON text, integers digit by digit.
pub(super) fn to_text(entries: &[(String, Item)]) -> String {
    let mut out = String::new();
    push_object(&mut out, entries);
    out
}

fn push_object(out: &mut String, entries: &[(String, Item)]) {
    out.push('{');
    for (i, (key, value)) in entries.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        out.push_str(&Value::from(key.as_str()).to_string());
        out.push_str(": ");
        value.push_text(out);
    }
    out.push('}');
}

impl Item {
    /// Recursion is bounded: the reader refuses deep nesting.
    fn push_text(&self, out: &mut String) {
        match self {
            Self::Int(digits) => out.push_str(digits),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    item.push_text(out);
                }
                out.push(']');
            }
            Self::Dict(entries) => push_object(out, entries),
            simple => out.push_str(&simple.to_json().to_string()),
        }
    }

    /// The nearest JSON: integers beyond 64 bits become floats, what is not a finite number becomes null.
    fn to_json(&self) -> Value {
        match self {
            Self::None => Value::Null,
            Self::Bool(yes) => Value::Bool(*yes),
            Self::Int(digits) => {
                let number = digits.parse().map(Number::from_i128).ok().flatten();
                number.or_else(|| Number::from_f64(digits.parse().ok()?)).map_or(Value::Null, Value::Number)
            }
            Self::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
            Self::Text(text) => Value::String(text.clone()),
            Self::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Self::Dict(entries) => Value::Object(to_json(entries)),
        }
    }
}

/// Reads from front to back; the place is always a boundary between characters.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn next(&mut self) -> Result<char, Fault> {
        let c = self.rest().chars().next().ok_or(Fault)?;
        self.at += c.len_utf8();
        Ok(c)
    }

    /// The next character after white space. Comments are skipped only behind white space, so `1,// one` is a fault.
    fn next_after_space(&mut self) -> Result<char, Fault> {
        if self.rest().starts_with(is_space) {
            self.skip_space_and_comments()?;
        }
        self.next()
    }

    fn skip_space_and_comments(&mut self) -> Result<(), Fault> {
        loop {
            self.at = self.text.len() - self.rest().trim_start_matches(is_space).len();
            let end = match self.rest() {
                rest if rest.starts_with("//") => "\n",
                rest if rest.starts_with("/*") => "*/",
                _ => return Ok(()),
            };
            // A comment without an end is a fault, also at the end of the text.
            self.at += self.rest().find(end).ok_or(Fault)? + end.len();
        }
    }

    fn value(&mut self) -> Result<Item, Fault> {
        match self.rest().chars().next().ok_or(Fault)? {
            quote @ ('"' | '\'') => {
                self.at += 1;
                Ok(Item::Text(self.string(quote)?))
            }
            '{' => self.nested(Self::dict),
            '[' => self.nested(Self::list),
            _ => self.constant().map_or_else(|| self.number(), Ok),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Item, Fault>) -> Result<Item, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault);
        }
        self.at += 1;
        self.depth += 1;
        let item = read(self)?;
        self.depth -= 1;
        Ok(item)
    }

    fn dict(&mut self) -> Result<Item, Fault> {
        let mut entries = Vec::new();
        loop {
            let key = match self.next_after_space()? {
                '}' => break,
                quote @ ('"' | '\'') => self.string(quote)?,
                c if is_word(c) || c == '$' => {
                    let start = self.at - c.len_utf8();
                    let rest = &self.text[start..];
                    self.at = self.text.len() - rest.trim_start_matches(|c| is_word(c) || c == '$').len();
                    self.text[start..self.at].to_owned()
                }
                _ => return Err(Fault),
            };
            if self.next_after_space()? != ':' {
                return Err(Fault);
            }
            self.skip_space_and_comments()?;
            entries.push((key, self.value()?));
            match self.next_after_space()? {
                '}' => break,
                ',' => {}
                _ => return Err(Fault),
            }
        }
        Ok(Item::Dict(last_values(entries)))
    }

    fn list(&mut self) -> Result<Item, Fault> {
        let mut items = Vec::new();
        loop {
            let c = self.next_after_space()?;
            if c == ']' {
                break;
            }
            self.at -= c.len_utf8();
            items.push(self.value()?);
            match self.next_after_space()? {
                ']' => break,
                ',' => {}
                _ => return Err(Fault),
            }
        }
        Ok(Item::List(items))
    }

    /// The string behind its opening quote. Raw control characters are part of it.
    fn string(&mut self, quote: char) -> Result<String, Fault> {
        let mut string = String::new();
        loop {
            let plain = self.rest().find([quote, '\\']).ok_or(Fault)?;
            string.push_str(&self.rest()[..plain]);
            self.at += plain;
            if self.next()? == quote {
                return Ok(string);
            }
            string.push(match self.next()? {
                c @ ('"' | '\'' | '\\' | '/') => c,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.unicode()?,
                _ => return Err(Fault),
            });
        }
    }

    /// The character behind `\u`; two halves of a pair are one.
    fn unicode(&mut self) -> Result<char, Fault> {
        let first = self.four_digits()?;
        if (0xd800..0xdc00).contains(&first) && self.rest().starts_with("\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.four_digits()?;
            if (0xdc00..0xe000).contains(&second) {
                let point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn four_digits(&mut self) -> Result<u32, Fault> {
        let digits =
            self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit())).ok_or(Fault)?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| Fault)
    }

    fn constant(&mut self) -> Option<Item> {
        let constants = [
            ("null", Item::None),
            ("true", Item::Bool(true)),
            ("false", Item::Bool(false)),
            ("-Infinity", Item::Float(f64::NEG_INFINITY)),
            ("Infinity", Item::Float(f64::INFINITY)),
            ("NaN", Item::Float(f64::NAN)),
        ];
        let (word, item) = constants.into_iter().find(|(word, _)| self.rest().starts_with(word))?;
        self.at += word.len();
        Some(item)
    }

    /// A number, or a sum of numbers where an operator follows the first.
    fn number(&mut self) -> Result<Item, Fault> {
        let rest = self.rest();
        let Some(number) = NumberText::of(rest) else { return self.sum() };
        if rest[number.len..].starts_with(['+', '-', '/', '*', '(', ')']) {
            return self.sum();
        }
        self.at += number.len;
        if number.is_float {
            return rest[..number.len].parse().map(Item::Float).map_err(|_| Fault);
        }
        integer(&rest[..number.len])
    }

    fn sum(&mut self) -> Result<Item, Fault> {
        let text = sum::extent(self.rest()).ok_or(Fault)?;
        self.at += text.len();
        sum::evaluate(text)
    }
}

/// How far a number reaches: `-?(0x…|digits)(.digits)?(e±digits)?`.
struct NumberText {
    len: usize,
    is_float: bool,
}

impl NumberText {
    fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let run = |from: usize, is_digit: fn(&u8) -> bool| {
            from + bytes[from.min(bytes.len())..].iter().take_while(|byte| is_digit(byte)).count()
        };
        let start = usize::from(bytes.first() == Some(&b'-'));
        let hexadecimal = if bytes[start..].starts_with(b"0x") { run(start + 2, u8::is_ascii_hexdigit) } else { 0 };
        let whole = if hexadecimal > start + 2 { hexadecimal } else { run(start, u8::is_ascii_digit) };
        if whole == start {
            return None;
        }
        let mut len = whole;
        if bytes.get(len) == Some(&b'.') && run(len + 1, u8::is_ascii_digit) > len + 1 {
            len = run(len + 1, u8::is_ascii_digit);
        }
        if matches!(bytes.get(len), Some(b'e' | b'E')) {
            let digits = len + 1 + usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
            if run(digits, u8::is_ascii_digit) > digits {
                len = run(digits, u8::is_ascii_digit);
            }
        }
        Some(Self { len, is_float: len > whole })
    }
}

/// An integer as Python's `int(text, 0)` reads it; a leading zero, which that refuses, means octal.
fn integer(text: &str) -> Result<Item, Fault> {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let small = |digits: &str, radix| u128::from_str_radix(digits, radix).map(|n| n.to_string()).map_err(|_| Fault);
    let digits = match digits.strip_prefix("0x") {
        Some(digits) => small(digits, 16)?,
        None if digits.bytes().all(|b| b == b'0') => "0".to_owned(),
        None if digits.starts_with('0') && sign.is_empty() => small(&digits[1..], 8)?,
        None if digits.starts_with('0') || digits.len() > MAX_DIGITS => return Err(Fault),
        None => digits.to_owned(),
    };
    let sign = if digits == "0" { "" } else { sign };
    Ok(Item::Int(format!("{sign}{digits}")))
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}
