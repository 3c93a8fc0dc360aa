//! What differs between providers: how requests are encoded and answers decoded.

use super::refusal::Refusal;
use crate::base::{Decoding, FunctionCall, Message, Request, RequestOption, RequestOptions, Usage, Verbatim};
use crate::models::Unsupported;
use crate::net::{Answer, Credential};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::time::Duration;

#[derive(Debug)]
pub(in crate::models) struct EncodedRequest {
    pub(in crate::models) body: Vec<u8>,
    /// The options in it that servers may refuse.
    pub(in crate::models) sent: RequestOptions,
    /// The end of the prompt, if it is sent as the beginning of the model's own answer.
    pub(in crate::models) label: String,
}

pub(in crate::models) type EncodeResult = serde_json::Result<EncodedRequest>;

/// How much of a model's reasoning is kept, in bytes.
const MAX_REASONING: usize = 64 << 10;

/// A completion as the server sent it, and what it took.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::models) struct Decoded {
    pub(in crate::models) text: String,
    pub(in crate::models) calls: Vec<FunctionCall>,
    /// The reply as it was written, where that has to be sent back.
    pub(in crate::models) verbatim: Option<Verbatim>,
    pub(in crate::models) finish_reason: Option<String>,
    pub(in crate::models) usage: Option<Usage>,
    pub(in crate::models) model: Option<String>,
    pub(in crate::models) reasoning: Option<Reasoning>,
    /// Requests sent for it, and the time that they took.
    pub(in crate::models) attempts: u32,
    pub(in crate::models) elapsed: Duration,
    pub(in crate::models) at_limit: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::models) struct Reasoning {
    /// Where it was: a field's name, or `<think>`.
    pub(in crate::models) place: &'static str,
    /// As much of it as is kept; empty if the server does not show it.
    pub(in crate::models) text: String,
}

impl Reasoning {
    pub(in crate::models) fn push(&mut self, piece: &str) {
        let room = MAX_REASONING.saturating_sub(self.text.len());
        self.text.push_str(&piece[..piece.floor_char_boundary(room)]);
    }
}

impl Decoded {
    /// Notes that the model reasoned, and a piece of what it thought.
    pub(in crate::models) fn reasoned(&mut self, place: &'static str, piece: &str) {
        let reasoning = self.reasoning.get_or_insert_with(|| Reasoning { place, text: String::new() });
        if reasoning.text.is_empty() {
            reasoning.place = if piece.is_empty() { reasoning.place } else { place };
        }
        reasoning.push(piece);
    }

    /// Notes that the model reasoned if the server counts tokens of that in `usage`.
    pub(in crate::models) fn counted_reasoning(&mut self, usage: &Value, name: &'static str) {
        if usage.get(name).and_then(Value::as_f64).is_some_and(|tokens| tokens > 0.0) {
            self.reasoned(name, "");
        }
    }
}

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is noted by another event, in any order")]
pub(in crate::models) struct Progress {
    /// Whether a piece of a completion has arrived, even an empty one.
    pub(in crate::models) started: bool,
    /// The number of the choice whose pieces are read, where there are several.
    pub(in crate::models) choice: Option<u64>,
    pub(in crate::models) ended: bool,
    pub(in crate::models) refused: bool,
    /// Whether a piece of the text has arrived, from servers that send the whole at the end once more.
    pub(in crate::models) has_text: bool,
    /// What was counted of the prompt, from servers that count it first.
    pub(in crate::models) prompt: Option<Usage>,
    /// The blocks of the content so far, from servers that send them in pieces.
    pub(in crate::models) blocks: Vec<Value>,
    /// The server's index of each call so far, if it gives any.
    pub(in crate::models) indices: Vec<Option<u64>>,
    pub(in crate::models) rest: Decoded,
}

impl Progress {
    pub(in crate::models) fn whole(&self) -> bool {
        self.ended || self.rest.finish_reason.is_some()
    }
}

/// Why a 2xx answer is not a completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::models) enum Fault {
    /// It is malformed; another attempt may succeed.
    Broken(String),
    /// The provider withholds the answer to this request.
    Withheld(String),
    /// It reports an error in place of a completion.
    Reported(Refusal),
    /// It is empty, and its reason for that is not known; another attempt may say more.
    Unexplained(String),
}

impl Fault {
    pub(in crate::models) fn reported(body: &[u8]) -> Self {
        Self::Reported(Refusal::read(body))
    }
}

impl<S: Into<String>> From<S> for Fault {
    fn from(reason: S) -> Self {
        Self::Broken(reason.into())
    }
}

pub(in crate::models) trait Interface: Send + Sync {
    /// The name under which manifests and recordings store it.
    fn endpoint(&self) -> &'static str;
    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k>;
    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }
    fn address(&self, base: &str, model: &str, stream: bool) -> String;
    /// Why every request with these settings would fail, if so; `forced` where a function must be called.
    fn unsupported(&self, _decoding: &Decoding, _forced: bool) -> Option<Unsupported> {
        None
    }
    /// Options that cannot be sent together with these settings.
    fn left_out(&self, _decoding: &Decoding) -> RequestOptions {
        RequestOptions::default()
    }
    fn takes_functions(&self) -> bool {
        true
    }
    fn known_refusals(&self) -> RequestOptions {
        RequestOptions::default()
    }
    /// Encodes a request without the `refused` options. `watched` if somebody listens to the stream.
    fn encode(&self, model: &str, request: &Request, refused: RequestOptions, watched: bool) -> EncodeResult;
    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault>;
    /// Decodes one event of a stream into `progress`, and returns its piece of the text.
    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault>;
    /// Whether a stream that has come this far may end with `[DONE]` alone, without a reason.
    fn ends_with_done(&self, _progress: &Progress) -> bool {
        false
    }
    /// Whether the text may contain the model's reasoning, between `<think>` and `</think>`.
    fn thinks_in_text(&self) -> bool {
        false
    }
    /// The limit of tokens that a request has; nothing if it has none.
    fn limit(&self, decoding: &Decoding, _refused: RequestOptions) -> Option<u32> {
        Some(decoding.max_total_tokens())
    }
    fn limit_name(&self, refused: RequestOptions) -> &'static str;
}

/// Whether to ask for a stream: if somebody listens, or if not all stops can be sent, so that the client ends the answer at
/// the others.
pub(in crate::models) fn streams(watched: bool, stops: usize, request: &Request, refused: RequestOptions) -> bool {
    let wanted = watched || stops < request.stop.len() || refused.contains(RequestOption::Whole);
    wanted && !refused.contains(RequestOption::Stream)
}

pub(in crate::models) fn temperature(decoding: &Decoding, refused: RequestOptions) -> Option<f64> {
    Some(decoding.temperature).filter(|_| !refused.contains(RequestOption::Temperature))
}

/// The `top_p` to send, if any: not where it means nothing, which is at a temperature of 0, or where the server does the
/// same without it, unless a person has set it.
pub(in crate::models) fn top_p(decoding: &Decoding, usual: Option<f64>, refused: RequestOptions) -> Option<f64> {
    let means = decoding.temperature > 0.0 && usual != Some(decoding.top_p);
    let wanted = means || decoding.top_p < 1.0 || decoding.typed.contains(RequestOption::TopP);
    Some(decoding.top_p).filter(|_| wanted && !refused.contains(RequestOption::TopP))
}

pub(in crate::models) fn seed(decoding: &Decoding, refused: RequestOptions) -> Option<u64> {
    decoding.seed.filter(|_| !refused.contains(RequestOption::Seed))
}

/// What is wrong if a model is to reason, and to continue what is given as the beginning of its answer.
pub(in crate::models) fn no_prefill(both: bool) -> Option<Unsupported> {
    both.then(|| Unsupported {
        reason: "a model that reasons first does not continue the beginning of an answer".to_owned(),
        hint: "leave out --prefill, or use --reasoning off".to_owned(),
    })
}

/// The URL of `tail` below `base`, from which a `known` tail is removed first. A query of the base is kept.
pub(in crate::models) fn join(base: &str, known: &[&str], tail: &str) -> String {
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

/// The fields of an object that are not null, in its order.
pub(in crate::models) fn set_fields(object: Value) -> Map<String, Value> {
    let Value::Object(mut fields) = object else { return Map::new() };
    fields.retain(|_, value| !value.is_null());
    fields
}

pub(in crate::models) fn add_line(text: &mut String, content: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(content);
}

pub(in crate::models) fn lines<'m>(messages: impl IntoIterator<Item = &'m Message>) -> String {
    let mut text = String::new();
    for message in messages {
        add_line(&mut text, &message.content);
    }
    text
}

// Adds fields to the body of a request.

/// The settings of Gemini, which are added to one by one, as everything is by Google's own client.
const CONFIG: &str = "generationConfig";

/// The body with these fields, which replace those of the same name, as by the clients of `OpenAI` and Anthropic.
pub(super) fn with_extra_fields(body: Vec<u8>, extra: &Map<String, Value>) -> serde_json::Result<Vec<u8>> {
    if extra.is_empty() {
        return Ok(body);
    }
    let mut fields: Map<String, Value> = serde_json::from_slice(&body)?;
    for (name, value) in extra {
        match (fields.get_mut(name), value) {
            (Some(Value::Object(old)), Value::Object(new)) if name == CONFIG => old.extend(new.clone()),
            _ => drop(fields.insert(name.clone(), value.clone())),
        }
    }
    serde_json::to_vec(&fields)
}

#[cfg(test)]
mod tests {
    use super::with_extra_fields;
    use serde_json::json;

    #[test]
    fn fields_replace_those_of_the_same_name() {
        let body = br#"{"model":"m","thinking":{"type":"adaptive","display":"x"},"temperature":0.0,"generationConfig":{"a":1,"b":2}}"#;
        let extra = json!({"thinking": {"type": "disabled"}, "generationConfig": {"b": 3}, "top_k": 5});
        let both = with_extra_fields(body.to_vec(), extra.as_object().expect("an object")).expect("JSON");
        assert_eq!(
            String::from_utf8(both).expect("text"),
            r#"{"model":"m","thinking":{"type":"disabled"},"temperature":0.0,"generationConfig":{"a":1,"b":3},"top_k":5}"#
        );
        assert_eq!(with_extra_fields(body.to_vec(), &serde_json::Map::new()).expect("JSON"), body);
    }
}
