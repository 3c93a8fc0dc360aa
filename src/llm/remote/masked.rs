//! Masks secrets in what a server sends beside its text: calls, and replies that are sent back as they came.

use super::redactor::redacted;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The same without secrets, in strings of any length. JSON inside a string is searched as it reads once it is decoded,
/// as a call's arguments are. Nothing if it is not the same kind of thing without them.
pub(super) fn masked<T: Serialize + DeserializeOwned>(value: &T, secrets: &[&str]) -> Option<T> {
    let mut json = serde_json::to_value(value).ok()?;
    mask_value(&mut json, secrets);
    serde_json::from_value(json).ok()
}

fn mask_value(value: &mut Value, secrets: &[&str]) {
    match value {
        Value::String(text) => *text = masked_text(std::mem::take(text), secrets),
        Value::Array(items) => items.iter_mut().for_each(|item| mask_value(item, secrets)),
        Value::Object(fields) => {
            for (name, mut inner) in std::mem::take(fields) {
                mask_value(&mut inner, secrets);
                fields.insert(masked_text(name, secrets), inner);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn masked_text(text: String, secrets: &[&str]) -> String {
    let text = redacted(text, &[], secrets);
    if !text.contains('\\') || secrets.is_empty() {
        return text;
    }
    if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str::<Value>(&text) {
        let mut clean = inner.clone();
        mask_value(&mut clean, secrets);
        return if clean == inner { text } else { clean.to_string() };
    }
    // Broken JSON is recorded, too.
    let plain = unescaped(&text);
    let clean = redacted(plain.clone(), &[], secrets);
    if clean == plain { text } else { clean }
}

/// The text with the escapes of JSON decoded, as far as they are some.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('\\') {
        out.push_str(before);
        let code =
            after.strip_prefix('u').and_then(|hex| hex.get(..4)).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        if let Some(c) = code.and_then(char::from_u32) {
            out.push(c);
            rest = &after[5..];
        } else {
            // Of `\/`, `\"` and `\\` the second character; others cannot be part of a secret.
            let length = after.chars().next().map_or(0, char::len_utf8);
            out.push_str(&after[..length]);
            rest = &after[length..];
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::masked;
    use crate::types::FunctionCall;
    use serde_json::{Value, json};

    fn call(arguments: &str, secret: &str) -> String {
        let call = FunctionCall { id: "1".to_owned(), name: "search".to_owned(), arguments: arguments.to_owned() };
        masked(&call, &[secret]).expect("a call").arguments
    }

    #[test]
    fn secrets_are_masked_in_whatever_way_json_writes_them() {
        let secret = "tok/01234567\"89";
        for (arguments, kept) in [
            (r#"{"query":"tok/01234567\"89"}"#, r#"{"query":"***"}"#),
            (r#"{"query":"\u0074ok\/01234567\u002289"}"#, r#"{"query":"***"}"#),
            (r#"{"tok\/01234567\"89":["a tok\/01234567\"89"]}"#, r#"{"***":["a ***"]}"#),
            (r#"{"query":"{\"a\":\"tok/01234567\\\"89\"}"}"#, r#"{"query":"{\"a\":\"***\"}"}"#),
            (r#"{"query": "tok\/01234567\u002289"#, r#"{"query": "***"#),
            (r#"{"query":"tok/01234567"}"#, r#"{"query":"tok/01234567"}"#),
            (r#"{"query": "\u00e9t\u00e9"}"#, r#"{"query": "\u00e9t\u00e9"}"#),
            (r"\", r"\"),
            (r"\u12", r"\u12"),
        ] {
            assert_eq!(call(arguments, secret), kept, "{arguments}");
        }
    }

    #[test]
    fn length_makes_no_difference_and_pieces_of_a_secret_are_not_masked() {
        let long = format!("{}sk-copenhagen-0001", "x".repeat(1 << 20));
        assert_eq!(call(&long, "sk-copenhagen-0001").len(), (1 << 20) + 3);
        assert_eq!(call(r#"{"query":"Copenhagen"}"#, "sk-copenhagen-0001"), r#"{"query":"Copenhagen"}"#);
        let reply = json!([{ "signature": "s".repeat(5000), "thinking": "of sk-copenhagen-0001" }]);
        let kept: Value = masked(&reply, &["sk-copenhagen-0001"]).expect("a reply");
        assert_eq!((kept[0]["signature"].as_str().map(str::len), &kept[0]["thinking"]), (Some(5000), &json!("of ***")));
    }
}
