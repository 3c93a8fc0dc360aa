//! How Python writes values, for systems that show `repr` or `json.dumps` to the model.

use crate::base::python::is_python_space;
use serde_json::Value;
use std::fmt::Write as _;

/// `text.strip()`.
pub(super) fn strip(text: &str) -> &str {
    text.trim_matches(is_python_space)
}

/// `json.dumps(value, ensure_ascii=False)`: JSON with a space after every comma and colon.
pub(super) fn dumps(value: &Value) -> String {
    let mut text = String::new();
    push_json(&mut text, value, false);
    text
}

/// `json.dumps(value)`.
pub(super) fn dumps_ascii(value: &Value) -> String {
    let mut text = String::new();
    push_json(&mut text, value, true);
    text
}

fn push_json(text: &mut String, value: &Value, ascii: bool) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (n, item) in items.iter().enumerate() {
                text.push_str(if n > 0 { ", " } else { "" });
                push_json(text, item, ascii);
            }
            text.push(']');
        }
        Value::Object(map) => {
            text.push('{');
            for (n, (key, value)) in map.iter().enumerate() {
                text.push_str(if n > 0 { ", " } else { "" });
                push_text(text, key, ascii);
                text.push_str(": ");
                push_json(text, value, ascii);
            }
            text.push('}');
        }
        Value::String(string) => push_text(text, string, ascii),
        other => text.push_str(&other.to_string()),
    }
}

fn push_text(text: &mut String, string: &str, ascii: bool) {
    for c in Value::from(string).to_string().chars() {
        if ascii && !(' '..='~').contains(&c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
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
mod tests {
    use super::{dumps, dumps_ascii, float_repr, set_repr};
    use crate::prompting::protocol::model_json::repr_value;
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
