//! What differs between providers: how requests are encoded and answers decoded.

use super::answer::{Decoded, Fault, Progress};
use super::refusal::Refusal;
use crate::net::{Answer, Credential};
use crate::types::{Decoding, Message, Request};
use secrecy::SecretString;

#[derive(Debug)]
pub(in crate::llm) struct EncodedRequest {
    pub(in crate::llm) body: Vec<u8>,
    /// The options in it that servers may refuse.
    pub(in crate::llm) sent: SentOptions,
    /// The end of the prompt, if it is sent as the beginning of the model's own answer.
    pub(in crate::llm) label: String,
}

#[expect(clippy::struct_excessive_bools, reason = "each is an independent option")]
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::llm) struct SentOptions {
    pub(in crate::llm) stop: bool,
    /// `max_tokens`, the older name of the length limit.
    pub(in crate::llm) max_tokens: bool,
    pub(in crate::llm) stream: bool,
    /// `stream_options` with a count of tokens.
    pub(in crate::llm) stream_usage: bool,
}

pub(in crate::llm) trait Interface: Send + Sync {
    /// The name under which manifests and recordings store it.
    fn endpoint(&self) -> &'static str;
    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k>;
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// The URL of a model below a base URL.
    fn address(&self, base: &str, model: &str, stream: bool) -> String;
    /// Why every request with these settings would fail, if so.
    fn unsupported(&self, _decoding: &Decoding) -> Option<String> {
        None
    }
    /// Encodes a request without the options that the server has refused so far. `watched` if somebody listens to the
    /// stream.
    fn encode(&self, model: &str, request: &Request, watched: bool) -> serde_json::Result<EncodedRequest>;
    /// Notes which of the sent options the server refuses. Returns whether to send the request again without it.
    fn learn(&self, _sent: SentOptions, _status: u16, _refusal: &Refusal) -> bool {
        false
    }
    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault>;
    /// Decodes one event of a stream into `progress`, and returns its piece of the text.
    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault>;
    /// Whether the text may contain the model's reasoning, between `<think>` and `</think>`.
    fn thinks_in_text(&self) -> bool {
        false
    }
    /// Whether the server has refused stops so far.
    fn refuses_stop(&self) -> bool {
        false
    }
    /// The name of the setting that limits the length.
    fn limit_name(&self) -> &'static str;
    /// Settings that the provider does not support and that are not sent.
    fn left_out(&self) -> &'static [&'static str] {
        &[]
    }
}

/// The URL of `tail` below `base`, from which a `known` tail is removed first. A query of the base is kept.
pub(in crate::llm) fn join(base: &str, known: &[&str], tail: &str) -> String {
    let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    let mut path = path.trim().trim_end_matches('/');
    for known in known {
        path = path.strip_suffix(known).unwrap_or(path);
    }
    match (query, tail.contains('?')) {
        (None, _) => format!("{path}/{tail}"),
        (Some(query), false) => format!("{path}/{tail}?{query}"),
        (Some(query), true) => format!("{path}/{tail}&{query}"),
    }
}

/// Appends a message to a text, on a new line.
pub(in crate::llm) fn add_line(text: &mut String, content: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(content);
}

/// The contents of the messages, each on a new line.
pub(in crate::llm) fn lines<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    for message in messages {
        add_line(&mut text, &message.content);
    }
    text
}
