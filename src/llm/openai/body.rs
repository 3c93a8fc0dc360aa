//! The JSON that a request becomes.
//!
//! Messages for a text endpoint are joined by this rule: contents in their order without the roles' names, each
//! message on a new line (one newline is added where the text before does not end in one), and a newline after the
//! last message too, unless it is the model's own, which is then continued. Protocols write labels such as
//! `Question:` into their messages, so the text reads like a few-shot prompt.
//!
//! With prefill, a text prompt for a chat whose last line is a label travels as two messages: all before the label is
//! the user's, the label is the beginning of the model's own, and the server is told to continue it. So it is told to
//! continue messages that end in one of the model's own.

use super::Endpoint;
use crate::llm::capability::Prefill;
use crate::llm::remote::interface::{Pair, lines};
use crate::llm::remote::label;
use crate::types::{Message, Prompt, Request, Role};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// How a request is put.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Which interface.
    pub(super) endpoint: Endpoint,
    /// How many stops are sent.
    pub(super) stops: usize,
    /// Whether the length is limited by `max_tokens`, or by its newer name.
    pub(super) max_tokens: bool,
    /// Whether the server takes a `top_p` of 1.
    pub(super) full_top_p: bool,
    /// Whether the answer is to come in pieces.
    pub(super) stream: bool,
    /// Whether the last piece is to count the tokens.
    pub(super) stream_usage: bool,
    /// How the server is told to continue the last message, if it is to.
    pub(super) prefill: Option<Prefill>,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    add_generation_prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continue_final_message: Option<bool>,
    temperature: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// The request as the bytes to send.
pub(super) fn bytes(model: &str, request: &Request, form: Form) -> Vec<u8> {
    let decoding = &request.decoding;
    let chat = form.endpoint == Endpoint::Chat;
    let messages = Messages::new(&request.prompt, form);
    let flags = messages.continued == Some(Prefill::Flags);
    let body = Body {
        model,
        messages: chat.then_some(messages),
        prompt: (!chat).then_some(Text(&request.prompt)),
        add_generation_prompt: flags.then_some(false),
        continue_final_message: flags.then_some(true),
        temperature: decoding.temperature,
        top_p: Some(decoding.top_p).filter(|top_p| form.full_top_p || *top_p < 1.0),
        max_tokens: form.max_tokens.then_some(decoding.max_tokens),
        max_completion_tokens: (!form.max_tokens).then_some(decoding.max_tokens),
        seed: decoding.seed,
        stop: &request.stop[..form.stops.min(request.stop.len())],
        stream: form.stream,
        stream_options: form.stream_usage.then_some(StreamOptions { include_usage: true }),
    };
    // Strings and numbers always serialise.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// The label that the model is given to continue; empty if there is none.
pub(super) fn label(prompt: &Prompt, form: Form) -> &str {
    match (prompt, Messages::new(prompt, form).label) {
        (Prompt::Text { rest, .. }, Some(at)) => &rest[at..],
        _ => "",
    }
}

/// A prompt as messages.
struct Messages<'a> {
    prompt: &'a Prompt,
    /// Where in the rest of a text prompt the label begins that the model continues.
    label: Option<usize>,
    /// How the server is told to continue the last message, if that is the model's.
    continued: Option<Prefill>,
}

impl<'a> Messages<'a> {
    fn new(prompt: &'a Prompt, form: Form) -> Self {
        let (label, own) = match prompt {
            Prompt::Text { prefix, rest } => {
                let label = form.prefill.and_then(|_| label::at(prefix, rest));
                (label, label.is_some())
            }
            Prompt::Messages(messages) => (None, messages.last().is_some_and(|last| last.role == Role::Assistant)),
        };
        Self { prompt, label, continued: form.prefill.filter(|_| own) }
    }
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let one = |role, content| One { role, content, field: None };
        let mut all: Vec<One<'_>> = match self.prompt {
            Prompt::Messages(messages) => messages.iter().map(|m| one(m.role, Pair(&m.content, ""))).collect(),
            Prompt::Text { prefix, rest } => {
                let (before, label) = rest.split_at(self.label.unwrap_or(rest.len()));
                let label = self.label.map(|_| one(Role::Assistant, Pair(label, "")));
                std::iter::once(one(Role::User, Pair(prefix, before))).chain(label).collect()
            }
        };
        if let (Some(last), Some(Prefill::Field(name))) = (all.last_mut(), self.continued) {
            last.field = Some(name);
        }
        serializer.collect_seq(all)
    }
}

/// One message, with the field that has it continued, if there is one.
struct One<'a> {
    role: Role,
    content: Pair<'a>,
    field: Option<&'static str>,
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", &self.role)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(field) = self.field {
            map.serialize_entry(field, &true)?;
        }
        map.end()
    }
}

/// A prompt as one text.
struct Text<'a>(&'a Prompt);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Prompt::Text { prefix, rest } => Pair(prefix, rest).serialize(serializer),
            Prompt::Messages(messages) => serializer.serialize_str(&joined(messages)),
        }
    }
}

fn joined(messages: &[Message]) -> String {
    let mut text = lines(messages);
    if messages.last().is_some_and(|last| last.role != Role::Assistant) && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
