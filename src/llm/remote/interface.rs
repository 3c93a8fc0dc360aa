//! What each provider's interface has of its own: how requests are put, and what answers say.

use super::answer::{Decoded, Fault, Progress};
use super::refusal::Refusal;
use crate::net::{Answer, Credential};
use crate::types::{Decoding, Message, Request};
use secrecy::SecretString;

/// A request, ready to be sent.
#[derive(Debug)]
pub(in crate::llm) struct EncodedRequest {
    /// The JSON.
    pub(in crate::llm) body: Vec<u8>,
    /// What is in it that servers may refuse.
    pub(in crate::llm) sent: SentOptions,
    /// The end of the prompt, if the model is given it as the beginning of its own answer.
    pub(in crate::llm) label: String,
}

/// What is in a request that servers may refuse.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::llm) struct SentOptions {
    /// Stops.
    pub(in crate::llm) stop: bool,
    /// A limit of the length, under its older name.
    pub(in crate::llm) max_tokens: bool,
    /// The wish for an answer in pieces.
    pub(in crate::llm) stream: bool,
    /// The wish for a count of tokens along with them.
    pub(in crate::llm) stream_usage: bool,
}

/// One provider's interface.
pub(in crate::llm) trait Interface: Send + Sync {
    /// The name under which it is stored.
    fn endpoint(&self) -> &'static str;
    /// How the key travels.
    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k>;
    /// Headers of every request.
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    /// Where a model is asked, below a base URL.
    fn address(&self, base: &str, model: &str, stream: bool) -> String;
    /// Why a model cannot be asked with these settings, if so.
    fn unsupported(&self, _decoding: &Decoding) -> Option<String> {
        None
    }
    /// The request as it is sent, after all that the server has refused so far. `watched` if somebody watches the text
    /// come.
    fn encode(&self, model: &str, request: &Request, watched: bool) -> EncodedRequest;
    /// Takes note of what the server refuses in what was sent; whether it is worth sending the request again.
    fn learn(&self, _sent: SentOptions, _status: u16, _refusal: &Refusal) -> bool {
        false
    }
    /// Reads a whole answer.
    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault>;
    /// Reads one event of a stream: takes note of what it says, and gives the piece of the text in it.
    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault>;
    /// Whether a model's reasoning may stand in its text, between `<think>` and `</think>`.
    fn thinks_in_text(&self) -> bool {
        false
    }
    /// Whether the server has refused stops so far.
    fn refuses_stop(&self) -> bool {
        false
    }
    /// The name under which the length is limited.
    fn limit_name(&self) -> &'static str;
    /// Settings of a request that the provider does not know, and is not sent.
    fn left_out(&self) -> &'static [&'static str] {
        &[]
    }
}

/// An address with `tail` below `base`; one that ends in one of the tails in `known` already is taken at its word. A
/// query of the base is kept.
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

/// Adds a message to a text: on a new line, for which one newline is added where the text does not end in one.
pub(in crate::llm) fn add_line(text: &mut String, content: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(content);
}

/// The contents in their order, each on a new line.
pub(in crate::llm) fn lines<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    for message in messages {
        add_line(&mut text, &message.content);
    }
    text
}
