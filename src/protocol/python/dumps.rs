//! `json.dumps`: JSON with a space after every comma and colon.

use serde_json::Value;
use std::fmt::Write as _;

/// `json.dumps(value, ensure_ascii=False)`.
pub(crate) fn dumps(value: &Value) -> String {
    let mut text = String::new();
    push_json(&mut text, value, false);
    text
}

/// `json.dumps(value)`.
pub(crate) fn dumps_ascii(value: &Value) -> String {
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

#[cfg(test)]
mod tests {
    use super::{dumps, dumps_ascii};
    use serde_json::json;

    #[test]
    fn separators_and_escapes_are_python_s() {
        let value = json!({"a": [1, "é😀\u{7f}\n\u{1}\""], "b": {}, "c": [], "d": null});
        assert_eq!(dumps(&value), "{\"a\": [1, \"é😀\u{7f}\\n\\u0001\\\"\"], \"b\": {}, \"c\": [], \"d\": null}");
        assert_eq!(dumps_ascii(&json!("é😀\u{7f}")), "\"\\u00e9\\ud83d\\ude00\\u007f\"");
    }
}
