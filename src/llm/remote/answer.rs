//! What an answer comes to, whatever the provider, and how its JSON is read.

use super::refusal::Refusal;
use crate::net::Answer;
use crate::types::Usage;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// More tokens than this are a lie, and would overflow a sum.
const MAX_TOKENS: u64 = 1 << 40;

/// A completion as the server sent it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::llm) struct Decoded {
    /// The text, not cut yet.
    pub(in crate::llm) text: String,
    /// Why the server stopped.
    pub(in crate::llm) finish_reason: Option<String>,
    /// Tokens used.
    pub(in crate::llm) usage: Option<Usage>,
    /// The model that the server says it used.
    pub(in crate::llm) model: Option<String>,
    /// Where the model's reasoning came, which is no part of the text.
    pub(in crate::llm) reasoning: Option<&'static str>,
}

/// What is known of an answer that comes in pieces.
#[derive(Debug, Default)]
pub(in crate::llm) struct Progress {
    /// Whether a piece of a completion has come, be it empty.
    pub(in crate::llm) started: bool,
    /// Whether the server has said that the stream is over.
    pub(in crate::llm) ended: bool,
    /// Tokens of the prompt, from servers that count them before all else.
    pub(in crate::llm) prompt_tokens: Option<u64>,
    /// All but the text.
    pub(in crate::llm) rest: Decoded,
}

impl Progress {
    /// Whether the completion is whole.
    pub(in crate::llm) fn whole(&self) -> bool {
        self.ended || self.rest.finish_reason.is_some()
    }
}

/// Why a 2xx answer is no completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::llm) enum Fault {
    /// It is not what it should be; another attempt may do better.
    Broken(String),
    /// The server will not answer this request.
    Refused(String),
}

impl From<String> for Fault {
    fn from(reason: String) -> Self {
        Self::Broken(reason)
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Self {
        Self::Broken(reason.to_owned())
    }
}

/// Reads a whole answer; the error says in words why it is no completion.
pub(in crate::llm) fn read<T: DeserializeOwned>(answer: &Answer) -> Result<T, String> {
    parse(&answer.body).map_err(|e| {
        if answer.body.trim_ascii().is_empty() {
            return "the body is empty".to_owned();
        }
        if is_html(answer) {
            return format!("it is a web page: {}", Refusal::read(&answer.body).message);
        }
        format!("it is not a completion in JSON: {e}")
    })
}

fn is_html(answer: &Answer) -> bool {
    answer.content_type.as_deref().is_some_and(|kind| kind.to_ascii_lowercase().contains("html"))
        || answer.body.trim_ascii_start().starts_with(b"<")
}

/// Reads JSON; where it is broken only in its characters, these are replaced.
pub(in crate::llm) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(body).or_else(|error| {
        let text = String::from_utf8_lossy(body);
        let mended = without_half_pairs(&text);
        if mended == text && matches!(text, std::borrow::Cow::Borrowed(_)) {
            Err(error)
        } else {
            serde_json::from_str(&mended)
        }
    })
}

/// Replaces `\ud83d` without its second half (and a second half without its first): servers write them where a
/// text is cut in the middle of a character, and JSON readers refuse them.
fn without_half_pairs(text: &str) -> String {
    let unit = |at: usize| -> Option<u16> {
        let escape = text.get(at..at + 6)?;
        u16::from_str_radix(escape.strip_prefix("\\u")?, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = text[at..].find('\\') {
        out.push_str(&text[at..at + found]);
        at += found;
        let (keep, length) = match unit(at) {
            Some(0xd800..=0xdbff) if matches!(unit(at + 6), Some(0xdc00..=0xdfff)) => (true, 12),
            Some(0xd800..=0xdfff) => (false, 6),
            // An escaped backslash is skipped whole, so that what follows it is not taken for an escape.
            _ => (true, 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        out.push_str(if keep { &text[at..at + length] } else { "\\ufffd" });
        at += length;
    }
    out.push_str(&text[at..]);
    out
}

/// A text of a length that can be stored, if there is one.
pub(in crate::llm) fn string(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| text.chars().take(200).collect())
}

/// The counts of these names, as far as they are numbers; none if neither is.
pub(in crate::llm) fn usage(value: &Value, prompt: &str, completion: &str) -> Option<Usage> {
    let (prompt, completion) = (count(value, prompt), count(value, completion));
    let both = prompt.or(completion).is_some();
    both.then(|| Usage { prompt_tokens: prompt.unwrap_or(0), completion_tokens: completion.unwrap_or(0) })
}

/// The count of this name, if it is a number.
pub(in crate::llm) fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64).map(|n| n.min(MAX_TOKENS))
}
