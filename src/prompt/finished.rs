//! Finished texts as prompts: the paper's, under the keys of JSON objects, and plain ones.

use super::error::PromptError;
use super::plain::{Plain, QUESTION};
use super::problems::quoted;
use crate::types::text::{closest, is_chinese};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A finished prompt text: one of the paper's, used byte for byte, or a plain one, whose placeholders are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedText {
    /// `FILE.json#KEY` or `FILE.txt`, as it was named.
    pub spec: String,
    /// The file's text; of a key, directly after that of the instruction file.
    pub text: String,
    /// A plain text by its placeholders.
    pub(super) plain: Option<Plain>,
}

impl FinishedText {
    /// Whether it is a plain text, which fits conversations too.
    pub fn is_plain(&self) -> bool {
        self.plain.is_some()
    }

    /// Whether it says itself where the question stands.
    pub fn has_question(&self) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.slotted.has(QUESTION))
    }

    /// A plain text in Chinese characters counts as Chinese, everything else as English.
    pub(super) fn language(&self) -> &'static str {
        if self.is_plain() && is_chinese(&self.text) { "zh" } else { "en" }
    }
}

/// Reads the text under `key` from the JSON object `json`; `file` names it in messages.
pub(super) fn finished_text(file: &str, json: &str, key: &str) -> Result<String, PromptError> {
    let file_name = || file.to_owned();
    let value: Value = serde_json::from_str(json).map_err(|error| PromptError::NotJson {
        file: file_name(),
        line: error.line(),
        reason: reason_without_place(&error),
    })?;
    let Value::Object(mut texts) = value else {
        return Err(PromptError::NotAnObject(file_name(), type_of(&value)));
    };
    match texts.get_mut(key).map(Value::take) {
        Some(Value::String(text)) if text.is_empty() => Err(PromptError::EmptyKey(file_name(), quoted(key))),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(PromptError::NotText { file: file_name(), key: quoted(key), found: type_of(&other) }),
        None => Err(PromptError::NoSuchKey {
            file: file_name(),
            key: quoted(key),
            available: listed(texts.keys()),
            suggestion: closest(key, texts.keys().map(String::as_str)).map(quoted),
        }),
    }
}

/// The entry of `key` as an object of its own, its value written as it is in the file.
pub(super) fn finished_entry(file: &str, json: &str, key: &str) -> Result<String, PromptError> {
    finished_text(file, json, key)?;
    // What was read once reads again; of a repeated key, both take the last.
    let raw: HashMap<String, Box<RawValue>> = serde_json::from_str(json).unwrap_or_default();
    let text = raw.get(key).map_or("", |value| value.get());
    Ok(format!("{{{}: {text}}}\n", Value::from(key)))
}

/// At most twenty keys, as a message lists them.
fn listed<'a>(keys: impl ExactSizeIterator<Item = &'a String>) -> String {
    let count = keys.len();
    let text = keys.take(20).map(|key| quoted(key)).collect::<Vec<_>>().join(", ");
    match count {
        0 => "none".into(),
        1..=20 => text,
        _ => format!("{text} and {} more", count - 20),
    }
}

/// `serde_json` ends its messages with the place, which ours name already.
fn reason_without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    quoted(text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
