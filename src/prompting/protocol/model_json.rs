//! JSON in model output: values that distinguish what Python's `json` does, read strictly or leniently.

use crate::base::python::{is_word, repr};
use serde::Serialize;
use serde::ser::{Error as _, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt::Write as _;

/// A value. Written as JSON it keeps integers whole, and numbers that JSON lacks become null. Recursion is bounded: the reader
/// refuses deep nesting.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Item {
    Null,
    Bool(bool),
    /// Decimal digits, with a minus for negative numbers: Python's integers have no bounds.
    Int(#[serde(serialize_with = "as_number")] String),
    Float(f64),
    Text(String),
    List(Vec<Item>),
    Dict(Dict),
}

/// The entries of an object, each key once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Dict(pub(super) Vec<(String, Item)>);

impl Dict {
    pub(super) fn get(&self, key: &str) -> Option<&Item> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// The entries as a JSON object; integers beyond 64 bits become floats.
    pub fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(object)) => object,
            _ => Map::new(),
        }
    }
}

impl From<Map<String, Value>> for Dict {
    fn from(object: Map<String, Value>) -> Self {
        match value(&Value::Object(object).to_string()) {
            Some(Item::Dict(dict)) => dict,
            _ => Self::default(),
        }
    }
}

impl Item {
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn as_dict(&self) -> Option<&Dict> {
        match self {
            Self::Dict(dict) => Some(dict),
            _ => None,
        }
    }
}

impl Serialize for Dict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, item)| (key, item)))
    }
}

fn as_number<S: Serializer>(digits: &str, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(digits.to_owned()).map_err(S::Error::custom)?.serialize(serializer)
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

// The reader: Python's `json`, and beyond it what models write.
//
// Both readings take `NaN` and the infinities, and the last value of a key that comes twice; half of a surrogate pair
// becomes U+FFFD. The lenient one, after the Python package `dirtyjson`, also takes single quotes, keys without
// quotes, comments, trailing commas, control characters in strings, hexadecimal integers, and numbers that begin with a
// plus sign, several signs or a point. Neither takes `True`, `None`, words without quotes as values, numbers with leading
// zeros, or sums.

/// Levels of nesting beyond which a text is refused.
const MAX_DEPTH: usize = 128;
/// Digits of the longest integer that is read: longer ones are not finite as floats either.
const MAX_DIGITS: usize = 300;

/// The value that `text` holds, read as Python's `json.loads` does.
pub(super) fn value(text: &str) -> Option<Item> {
    let mut reader = Reader { text, at: 0, depth: 0, lenient: false };
    reader.skip_space()?;
    let item = reader.value()?;
    reader.skip_space()?;
    reader.rest().is_empty().then_some(item)
}

/// The object with which `text` begins, read as Python's `json` does, and its length in bytes.
pub(super) fn first_object(text: &str) -> Option<(Dict, usize)> {
    first(text, false)
}

/// The object with which `text` begins, read leniently.
pub(super) fn lenient_object(text: &str) -> Option<Dict> {
    first(text, true).map(|(dict, _)| dict)
}

fn first(text: &str, lenient: bool) -> Option<(Dict, usize)> {
    let mut reader = Reader { text, at: 0, depth: 0, lenient };
    match reader.value()? {
        Item::Dict(dict) => Some((dict, reader.at)),
        _ => None,
    }
}

/// Reads from front to back; `at` is always on a character boundary.
struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    lenient: bool,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn takes(&mut self, word: &str) -> bool {
        let found = self.rest().starts_with(word);
        self.at += if found { word.len() } else { 0 };
        found
    }

    fn run(&mut self, is: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let run = &rest[..rest.len() - rest.trim_start_matches(is).len()];
        self.at += run.len();
        run
    }

    /// Skips white space and, where they are allowed, comments. A comment must end, also at the end of the text.
    fn skip_space(&mut self) -> Option<()> {
        loop {
            self.run(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            let end = match self.rest() {
                rest if self.lenient && rest.starts_with("//") => "\n",
                rest if self.lenient && rest.starts_with("/*") => "*/",
                _ => return Some(()),
            };
            self.at += self.rest().find(end)? + end.len();
        }
    }

    fn value(&mut self) -> Option<Item> {
        if let Some(quote) = self.quote() {
            return self.string(quote).map(Item::Text);
        }
        if self.takes("{") {
            return self.items("}", Self::entry).map(|entries| Item::Dict(Dict(last_values(entries))));
        }
        if self.takes("[") {
            return self.items("]", Self::value).map(Item::List);
        }
        let words = [
            ("null", Item::Null),
            ("true", Item::Bool(true)),
            ("false", Item::Bool(false)),
            ("NaN", Item::Float(f64::NAN)),
            ("Infinity", Item::Float(f64::INFINITY)),
            ("-Infinity", Item::Float(f64::NEG_INFINITY)),
        ];
        let word = words.into_iter().find(|(word, _)| self.takes(word));
        word.map(|(_, item)| item).or_else(|| self.number())
    }

    fn items<T>(&mut self, close: &str, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let mut items = Vec::new();
        loop {
            self.skip_space()?;
            if (items.is_empty() || self.lenient) && self.takes(close) {
                break;
            }
            items.push(read(self)?);
            self.skip_space()?;
            if self.takes(close) {
                break;
            }
            if !self.takes(",") {
                return None;
            }
        }
        self.depth -= 1;
        Some(items)
    }

    fn entry(&mut self) -> Option<(String, Item)> {
        let key = match self.quote() {
            Some(quote) => self.string(quote)?,
            None if self.lenient => {
                Some(self.run(|c| is_word(c) || c == '$')).filter(|word| !word.is_empty())?.to_owned()
            }
            None => return None,
        };
        self.skip_space()?;
        if !self.takes(":") {
            return None;
        }
        self.skip_space()?;
        Some((key, self.value()?))
    }

    fn quote(&mut self) -> Option<char> {
        let quote = self.rest().chars().next().filter(|c| *c == '"' || self.lenient && *c == '\'')?;
        self.at += 1;
        Some(quote)
    }

    fn string(&mut self, quote: char) -> Option<String> {
        let mut string = String::new();
        loop {
            let lenient = self.lenient;
            let plain = self.run(|c| c != quote && c != '\\' && (lenient || c >= ' '));
            string.push_str(plain);
            let mut following = self.rest().chars();
            let c = following.next().filter(|c| *c == quote || *c == '\\')?;
            self.at += 1;
            if c == quote {
                return Some(string);
            }
            let escaped = following.next()?;
            self.at += escaped.len_utf8();
            string.push(match escaped {
                '"' | '\\' | '/' => escaped,
                '\'' if self.lenient => escaped,
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.unicode()?,
                _ => return None,
            });
        }
    }

    /// The character behind `\u`; two halves of a surrogate pair are one.
    fn unicode(&mut self) -> Option<char> {
        let first = self.code_unit()?;
        let mut units = vec![first];
        let before = self.at;
        if (0xd800..0xdc00).contains(&first) && self.takes("\\u") {
            units.push(self.code_unit()?);
        }
        let c = char::decode_utf16(units.iter().copied()).next()?;
        if c.is_err() {
            self.at = before;
        }
        Some(c.unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn code_unit(&mut self) -> Option<u16> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.at += 4;
        u16::from_str_radix(digits, 16).ok()
    }

    fn number(&mut self) -> Option<Item> {
        let unsigned = self.rest().strip_prefix('-').unwrap_or(self.rest());
        if self.lenient && unsigned.starts_with(['+', '-', '.']) {
            return self.literal();
        }
        let start = self.at;
        let sign = if self.takes("-") { "-" } else { "" };
        if self.lenient && self.takes("0x") {
            let number = u128::from_str_radix(self.run(|c| c.is_ascii_hexdigit()), 16).ok()?;
            return Some(integer(!sign.is_empty(), &number.to_string()));
        }
        let whole = self.digits()?;
        if whole.len() > MAX_DIGITS || whole.len() > 1 && whole.starts_with('0') {
            return None;
        }
        let end = self.at;
        if self.takes(".") {
            self.digits()?;
        }
        if self.takes("e") || self.takes("E") {
            let _ = self.takes("+") || self.takes("-");
            self.digits()?;
        }
        if self.at > end {
            return self.text[start..self.at].parse().map(Item::Float).ok();
        }
        Some(integer(!sign.is_empty(), whole))
    }

    /// A number as Python writes it, behind any signs. `dirtyjson` hands the longest run of certain characters to Python, in
    /// which there is nothing else here: the rest would be a sum.
    fn literal(&mut self) -> Option<Item> {
        let front = self.run(|c| c.is_ascii_digit() || "+-.".contains(c));
        let back = self.run(|c| c.is_ascii_digit() || "+-*/()[eEx&|".contains(c));
        let taken = format!("{front}{back}");
        // Without a second part, the first gives back the points at its end.
        let kept = if back.is_empty() { taken.trim_end_matches('.') } else { &taken };
        self.at -= taken.len() - kept.len();
        let number = kept.trim_start_matches(['+', '-']);
        let minus = kept[..kept.len() - number.len()].bytes().filter(|sign| *sign == b'-').count() % 2 == 1;
        if let Some(digits) = number.strip_prefix("0x") {
            let number = u128::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'))?;
            return Some(integer(minus, &number.to_string()));
        }
        if !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()) {
            let zeros = number.bytes().all(|digit| digit == b'0');
            let is_read = zeros || number.len() <= MAX_DIGITS && !number.starts_with('0');
            return is_read.then(|| integer(minus, if zeros { "0" } else { number }));
        }
        // Rust would read more signs, and words.
        let begins = number.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        let value: f64 = number.parse().ok().filter(|_| begins)?;
        Some(Item::Float(if minus { -value } else { value }))
    }

    fn digits(&mut self) -> Option<&'a str> {
        Some(self.run(|c| c.is_ascii_digit())).filter(|digits| !digits.is_empty())
    }
}

/// A whole number by its digits; zero has no sign.
fn integer(minus: bool, digits: &str) -> Item {
    Item::Int(if minus && digits != "0" { format!("-{digits}") } else { digits.to_owned() })
}

// `repr()` of the values, as Python writes them.

/// `repr()` of a plain dictionary. Dictionaries inside it are of the reader's own class, whose `repr()` names it.
pub(super) fn dict_repr(dict: &Dict) -> String {
    plain_repr(dict, false)
}

/// `repr(json.loads(value))`.
pub(super) fn repr_value(json: &Value) -> String {
    value(&json.to_string()).map_or_else(String::new, |item| item_repr(&item, true))
}

fn plain_repr(dict: &Dict, inside: bool) -> String {
    let entries = dict.0.iter().map(|(key, item)| format!("{}: {}", repr(key), item_repr(item, inside)));
    format!("{{{}}}", joined(entries))
}

/// The same of an item; `plain` if its dictionaries are. Recursion is bounded: the reader refuses deep nesting.
fn item_repr(item: &Item, plain: bool) -> String {
    match item {
        Item::Null => "None".to_owned(),
        Item::Bool(true) => "True".to_owned(),
        Item::Bool(false) => "False".to_owned(),
        Item::Int(digits) => digits.clone(),
        Item::Float(number) => float_repr(*number),
        Item::Text(text) => repr(text),
        Item::List(items) => format!("[{}]", joined(items.iter().map(|item| item_repr(item, plain)))),
        Item::Dict(dict) if plain => plain_repr(dict, true),
        Item::Dict(dict) if dict.0.is_empty() => "AttributedDict()".to_owned(),
        Item::Dict(dict) => {
            let entries = dict.0.iter().map(|(key, item)| format!("({}, {})", repr(key), item_repr(item, false)));
            format!("AttributedDict([{}])", joined(entries))
        }
    }
}

/// `json.dumps(value, ensure_ascii=False)`: JSON with a space after every comma and colon.
pub(super) fn dumps(value: &Value) -> String {
    json_text(value, false)
}

/// `json.dumps(value)`.
pub(super) fn dumps_ascii(value: &Value) -> String {
    json_text(value, true)
}

fn json_text(value: &Value, ascii: bool) -> String {
    match value {
        Value::Array(items) => format!("[{}]", joined(items.iter().map(|item| json_text(item, ascii)))),
        Value::Object(map) => {
            let entry = |(key, value): (&String, &Value)| {
                format!("{}: {}", json_text(&Value::from(key.as_str()), ascii), json_text(value, ascii))
            };
            format!("{{{}}}", joined(map.iter().map(entry)))
        }
        Value::String(_) if ascii => in_ascii(&value.to_string()),
        other => other.to_string(),
    }
}

fn in_ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if (' '..='~').contains(&c) {
            text.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\\u{unit:04x}");
        }
    }
    text
}

/// `repr(number)`: the shortest digits that give the number back; with an exponent below 1e-4 and from 1e16 on.
pub(super) fn float_repr(number: f64) -> String {
    if number.is_nan() {
        return "nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let scientific = format!("{number:e}");
    let Some((digits, Ok(exponent))) = scientific.split_once('e').map(|(d, e)| (d, e.parse::<i32>())) else {
        return scientific;
    };
    if (-4..16).contains(&exponent) {
        return format!("{number:?}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.abs())
}

/// `repr` of a set, given that of its elements, in their order: Python's order differs in every process.
pub(super) fn set_repr(elements: impl IntoIterator<Item = String>) -> String {
    let mut seen = std::collections::HashSet::new();
    format!("{{{}}}", joined(elements.into_iter().filter(|element| seen.insert(element.clone()))))
}

/// Parts separated by commas, as in every Python collection.
pub(super) fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod literal_tests {
    use super::{dumps, dumps_ascii, float_repr, repr_value, set_repr};
    use serde_json::json;

    #[test]
    fn values_are_written_as_python_writes_them() {
        let value = json!({"a": [1, "é😀\u{7f}\n\u{1}\""], "b": {}, "c": [], "d": null});
        assert_eq!(dumps(&value), "{\"a\": [1, \"é😀\u{7f}\\n\\u0001\\\"\"], \"b\": {}, \"c\": [], \"d\": null}");
        assert_eq!(dumps_ascii(&json!("é😀\u{7f}")), "\"\\u00e9\\ud83d\\ude00\\u007f\"");
        let value = json!({"a": [1, 1.5, 1e16, null, true], "b": "x"});
        assert_eq!(repr_value(&value), "{'a': [1, 1.5, 1e+16, None, True], 'b': 'x'}");
        assert_eq!(set_repr(["'q'", "'r'", "'q'"].map(str::to_owned)), "{'q', 'r'}");
    }

    #[test]
    fn floats_are_as_short_as_python_s() {
        let numbers = [1.0, -0.0, 0.0001, 0.000_01, 1.25e-7, 1e15, 1e16, 1.5e300, f64::NEG_INFINITY, f64::NAN];
        let shown = "1.0 -0.0 0.0001 1e-05 1.25e-07 1000000000000000.0 1e+16 1.5e+300 -inf nan";
        assert_eq!(numbers.map(float_repr).join(" "), shown);
    }
}
