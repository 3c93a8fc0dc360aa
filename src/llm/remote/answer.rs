//! A decoded answer, whatever the provider, and helpers that read its JSON.

use super::refusal::Refusal;
use crate::net::Answer;
use crate::types::{FunctionCall, Usage, Verbatim};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Larger token counts are capped, so that sums cannot overflow.
const MAX_TOKENS: u64 = 1 << 40;

/// How much of a call that a provider cannot read is kept, in bytes.
pub(in crate::llm) const MAX_MALFORMED: usize = 64 << 10;

/// How much of a model's reasoning is kept, in bytes.
const MAX_REASONING: usize = 64 << 10;

/// A completion as the server sent it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::llm) struct Decoded {
    /// The text, not yet cut at stops.
    pub(in crate::llm) text: String,
    /// The functions that the model calls, in order.
    pub(in crate::llm) calls: Vec<FunctionCall>,
    /// The reply as it was written, where that has to be sent back.
    pub(in crate::llm) verbatim: Option<Verbatim>,
    pub(in crate::llm) finish_reason: Option<String>,
    pub(in crate::llm) usage: Option<Usage>,
    /// The model that the server says it used.
    pub(in crate::llm) model: Option<String>,
    /// The model's reasoning, which is not part of the text.
    pub(in crate::llm) reasoning: Option<Reasoning>,
}

/// Reasoning that came with a completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::llm) struct Reasoning {
    /// Where it was: a field's name, or `<think>`.
    pub(in crate::llm) place: &'static str,
    /// As much of it as is kept; empty if the server does not show it.
    pub(in crate::llm) text: String,
}

impl Reasoning {
    pub(in crate::llm) fn new(place: &'static str) -> Self {
        Self { place, text: String::new() }
    }

    /// Adds a piece, up to the most that is kept.
    pub(in crate::llm) fn push(&mut self, piece: &str) {
        let room = MAX_REASONING.saturating_sub(self.text.len());
        self.text.push_str(&piece[..piece.floor_char_boundary(room)]);
    }
}

impl Decoded {
    /// Notes that the model reasoned, and a piece of what it thought.
    pub(in crate::llm) fn reasoned(&mut self, place: &'static str, piece: &str) {
        let reasoning = self.reasoning.get_or_insert_with(|| Reasoning::new(place));
        if reasoning.text.is_empty() {
            reasoning.place = if piece.is_empty() { reasoning.place } else { place };
        }
        reasoning.push(piece);
    }

    /// Notes that the model reasoned if the server counts tokens of that in `usage`.
    pub(in crate::llm) fn counted_reasoning(&mut self, usage: &Value, name: &'static str) {
        if count(usage, name).is_some_and(|tokens| tokens > 0) {
            self.reasoned(name, "");
        }
    }
}

/// What is known so far about a streamed answer.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is noted by another event, in any order")]
pub(in crate::llm) struct Progress {
    /// Whether a piece of a completion has arrived, even an empty one.
    pub(in crate::llm) started: bool,
    pub(in crate::llm) ended: bool,
    /// Whether the model declined to answer.
    pub(in crate::llm) refused: bool,
    /// Whether a piece of the text has arrived, from servers that send the whole at the end once more.
    pub(in crate::llm) has_text: bool,
    /// What was counted of the prompt, from servers that count it first.
    pub(in crate::llm) prompt: Option<Usage>,
    /// The blocks of the content so far, from servers that send them in pieces.
    pub(in crate::llm) blocks: Vec<Value>,
    /// The server's index of each call so far, if it gives any.
    pub(in crate::llm) indices: Vec<Option<u64>>,
    /// Everything except the text.
    pub(in crate::llm) rest: Decoded,
}

impl Progress {
    pub(in crate::llm) fn whole(&self) -> bool {
        self.ended || self.rest.finish_reason.is_some()
    }
}

/// Why a 2xx answer is not a completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::llm) enum Fault {
    /// It is malformed; another attempt may succeed.
    Broken(String),
    /// The provider withholds the answer to this request.
    Withheld(String),
    /// It reports an error in place of a completion.
    Reported(Refusal),
    /// It is empty, and its reason for that is not known; another attempt may say more.
    Unexplained(String),
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

/// Parses a whole answer; the error says why it is not a completion.
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

/// Parses JSON; invalid characters are replaced.
pub(in crate::llm) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(body).or_else(|error| {
        let text = String::from_utf8_lossy(body);
        let repaired = replace_unpaired_surrogates(&text);
        if repaired == text && matches!(text, std::borrow::Cow::Borrowed(_)) {
            Err(error)
        } else {
            serde_json::from_str(&repaired)
        }
    })
}

/// Replaces unpaired surrogates such as `\ud83d`: servers write them where a text is cut inside a character, and JSON
/// parsers refuse them.
fn replace_unpaired_surrogates(text: &str) -> String {
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
            // Skip an escaped backslash as a whole, so that what follows it is not read as an escape.
            _ => (true, 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8)),
        };
        out.push_str(if keep { &text[at..at + length] } else { "\\ufffd" });
        at += length;
    }
    out.push_str(&text[at..]);
    out
}

/// Whether the value of a field `error` says that there is one: some servers send an empty one with every answer.
pub(in crate::llm) fn is_error(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(is_error) => *is_error,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Number(_) => true,
    }
}

/// A non-empty string, cut to 200 characters.
pub(in crate::llm) fn string(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| text.chars().take(200).collect())
}

/// The counts in these two fields; `None` if neither is a number.
pub(in crate::llm) fn usage(value: &Value, prompt: &str, completion: &str) -> Option<Usage> {
    let (prompt, completion) = (count(value, prompt), count(value, completion));
    let both = prompt.or(completion).is_some();
    both.then(|| Usage::new(prompt.unwrap_or(0), completion.unwrap_or(0)))
}

/// The count in this field, if it is a number.
pub(in crate::llm) fn count(value: &Value, name: &str) -> Option<u64> {
    value.get(name).and_then(Value::as_u64).map(|n| n.min(MAX_TOKENS))
}
