//! What a dialogue asks of a model, the part of the prompt that all questions share, and what comes back.

use super::digest::{Digester, sha256_hex};
use super::finish::{Cause, Ending, FinishReason};
use super::text::thousands;
use super::tool::{FunctionCall, Functions, ToolCall, Verbatim};
use super::{Decoding, is_default};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// One request to a model: the prompt, where to stop, and how to decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Prompt,
    /// Texts before which the completion ends; they are not part of it.
    pub stop: Vec<String>,
    pub decoding: Decoding,
    /// Functions that the model may call; absent in protocols of text.
    pub functions: Option<Arc<Functions>>,
    /// What the prompt is made of, for a model that is rules in this process; neither sent nor recorded.
    pub state: Option<Arc<EpisodeState>>,
    /// Set where another program wrote the request: the prompt is the whole body, and is sent as it is.
    pub forwarded: Option<Forwarded>,
}

/// A request of another program, whose answer is kept as the server wrote it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forwarded {
    pub stream: bool,
    /// Headers that say how the body is meant, such as `anthropic-beta`, in lower case.
    pub headers: Vec<(String, String)>,
}

/// A question and the steps since, each with its observation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EpisodeState {
    pub question: String,
    pub steps: Vec<(ToolCall, String)>,
}

impl Request {
    pub fn new(prompt: Prompt, stop: Vec<String>, decoding: Decoding) -> Self {
        Self { prompt, stop, decoding, functions: None, state: None, forwarded: None }
    }
}

/// What a model is shown: one text, or messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// A text to continue. The few-shot prefix is shared between all requests of a run.
    Text {
        prefix: Prefix,
        /// The question and what has happened since.
        rest: String,
    },
    Messages(Vec<Message>),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    /// What is said. Shared, because a conversation is sent again at every step.
    pub content: Arc<str>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<FunctionCall>,
    /// The id of the call that this message of a tool's answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The message as the model's provider wrote it. It is what the other fields say, and so not part of any digest.
    #[serde(skip)]
    pub verbatim: Option<Arc<Verbatim>>,
    /// Whether it ends what all questions share: the instructions and exemplars at the start of the messages. It says
    /// nothing to the model, and so is not part of any digest.
    #[serde(skip)]
    pub ends_shared: bool,
}

/// Messages are equal that say the same.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.role == other.role
            && self.content == other.content
            && self.answers == other.answers
            && self.calls == other.calls
            && self.verbatim == other.verbatim
    }
}

impl Eq for Message {}

impl Message {
    pub fn new(role: Role, content: impl Into<Arc<str>>) -> Self {
        Self { role, content: content.into(), calls: Vec::new(), answers: None, verbatim: None, ends_shared: false }
    }

    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self::new(Role::System, content)
    }

    /// A message of the user's, or of a tool's in protocols of text.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self::new(Role::User, content)
    }

    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of the call with this id.
    pub fn result(id: impl Into<String>, content: impl Into<Arc<str>>) -> Self {
        Self { answers: Some(id.into()), ..Self::new(Role::Tool, content) }
    }

    /// Length in bytes: the content, and the calls with their arguments.
    fn bytes(&self) -> usize {
        self.content.len() + self.calls.iter().map(|call| call.name.len() + call.arguments.len()).sum::<usize>()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// The user, and in protocols of text the tools.
    User,
    Assistant,
    /// The result of a function that the model called.
    Tool,
}

/// A model's answer to one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Completion {
    /// The text, cut before the first stop.
    pub text: String,
    /// The reasoning before the text, at most 64 KiB of it; empty if the server reasoned and does not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<String>,
    /// Why the server stopped (`stop`, `length`, …), where it says so.
    pub finish_reason: Option<String>,
    pub usage: Option<Usage>,
    /// Time from the first attempt's start to the last one's end, waiting included, in milliseconds.
    pub latency_ms: u64,
    /// How often the request was sent, 1 or more; 0 when it never left this process.
    pub attempts: u32,
    /// Whether the answer came from a store instead of a server.
    pub cached: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<FunctionCall>,
    /// The reply as its provider wrote it, where that has to be sent back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Verbatim>,
    /// Whether it has as many tokens as the limit allows, although the server says that it ended by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_limit: bool,
    /// Whether the model wrote a function call that its provider could not read. Completions of earlier versions never say so,
    /// whatever their reason for the end: they are read as before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub malformed: bool,
}

impl Completion {
    /// Why it is less than the model's whole answer, if it is.
    pub fn shortfall(&self) -> Option<Cause> {
        match &self.finish_reason {
            Some(reason) => Cause::of_finish(reason).filter(|cause| self.malformed || *cause != Cause::MalformedCall),
            None => (self.text.trim().is_empty() && self.calls.is_empty()).then_some(Cause::Empty),
        }
    }

    /// Whether it ended by a failure of the server, as only recordings and caches of earlier versions have completions.
    pub fn is_failure(&self) -> bool {
        self.finish_reason.as_deref().and_then(FinishReason::ending) == Some(Ending::Failed)
    }
}

/// Counted use of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[expect(clippy::struct_field_names, reason = "the names that records and servers use")]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// How many of the prompt's tokens the provider had kept from earlier requests; absent, like the next two, if it does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// How many of the prompt's tokens the provider kept for later requests, where it asks another price for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Tokens of which another program does not say whether they are of prompts or of completions; in neither of these.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsplit_tokens: u64,
}

/// Bytes that a token has on average, where nobody counts tokens: a rule of thumb for English, and about right for other
/// scripts with the tokenizers of newer models.
pub const BYTES_PER_TOKEN: usize = 4;

impl Usage {
    /// The counts that only some providers make, in words; nothing where none was made.
    pub fn details(self) -> Option<String> {
        let part = |tokens: Option<u64>, what: &str| {
            tokens.filter(|tokens| *tokens > 0).map(|tokens| format!("{} {what}", thousands(tokens)))
        };
        let parts = [
            part(self.cached_tokens, "cached"),
            part(self.cache_write_tokens, "into the cache"),
            part(self.reasoning_tokens, "of reasoning"),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }

    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self { prompt_tokens, completion_tokens, ..Self::default() }
    }

    /// The same without parts that are more than the whole: cached and written ones are tokens of the prompt, those of reasoning
    /// of the completion.
    #[must_use]
    pub fn without_impossible_parts(self) -> Self {
        let of_prompt = |tokens: Option<u64>| tokens.filter(|tokens| *tokens <= self.prompt_tokens);
        Self {
            cached_tokens: of_prompt(self.cached_tokens),
            cache_write_tokens: of_prompt(self.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.filter(|tokens| *tokens <= self.completion_tokens),
            ..self
        }
    }

    /// Tokens of texts of that many bytes, by [`BYTES_PER_TOKEN`].
    pub fn estimated(prompt_bytes: usize, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Self::new(tokens(prompt_bytes), tokens(completion_bytes))
    }

    pub fn total(self) -> u64 {
        self.prompt_tokens.saturating_add(self.completion_tokens).saturating_add(self.unsplit_tokens)
    }

    /// The same, if it is known of all tokens whether they are of prompts or of completions.
    pub fn split(self) -> Option<Self> {
        (self.unsplit_tokens == 0).then_some(self)
    }

    /// The tokens beyond `other`; none where `other` has more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        self.each_with(other, u64::saturating_sub)
    }

    pub(super) fn each_with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        let of_known = |own: Option<u64>, other: Option<u64>| {
            own.or(other).map(|_| of(own.unwrap_or_default(), other.unwrap_or_default()))
        };
        Self {
            prompt_tokens: of(self.prompt_tokens, other.prompt_tokens),
            completion_tokens: of(self.completion_tokens, other.completion_tokens),
            cached_tokens: of_known(self.cached_tokens, other.cached_tokens),
            cache_write_tokens: of_known(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens: of_known(self.reasoning_tokens, other.reasoning_tokens),
            unsplit_tokens: of(self.unsplit_tokens, other.unsplit_tokens),
        }
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        self.each_with(other, u64::saturating_add)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Prompt {
    pub fn text(prefix: Prefix, rest: impl Into<String>) -> Self {
        Self::Text { prefix, rest: rest.into() }
    }

    /// SHA-256 of the exact UTF-8 text sent; for messages, of their JSON array of `{"role", "content"}`, with
    /// `calls` and `answers` in messages that have them.
    pub fn sha256(&self) -> String {
        match self {
            Self::Text { prefix, rest } => prefix.sha256_with(rest),
            Self::Messages(messages) => sha256_hex([messages_json(messages).as_bytes()]),
        }
    }

    /// Length in characters (Unicode scalar values), contents only.
    pub fn chars(&self) -> usize {
        match self {
            Self::Text { prefix, rest } => prefix.chars() + rest.chars().count(),
            Self::Messages(messages) => messages.iter().map(|m| m.content.chars().count()).sum(),
        }
    }

    /// Length in bytes, contents and calls only.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text { prefix, rest } => prefix.len() + rest.len(),
            Self::Messages(messages) => messages.iter().map(Message::bytes).sum(),
        }
    }

    pub fn to_json(&self) -> (&'static str, serde_json::Value) {
        match self {
            Self::Text { .. } => ("text", serde_json::json!(self.to_text())),
            Self::Messages(messages) => ("messages", serde_json::json!(messages)),
        }
    }

    /// The whole as one text: a text prompt as it is, messages as the JSON that [`Prompt::sha256`] digests.
    pub fn to_text(&self) -> String {
        match self {
            Self::Text { prefix, rest } => [prefix, rest.as_str()].concat(),
            Self::Messages(messages) => messages_json(messages),
        }
    }
}

fn messages_json(messages: &[Message]) -> String {
    // Strings and a plain enum always serialise.
    serde_json::to_string(messages).unwrap_or_default()
}

/// Instruction and exemplars as one text, several times as long as what follows it.
///
/// It is sent with every request of a run, so it is shared, and what is made of it for a request is made once.
#[derive(Clone, Deserialize)]
#[serde(from = "Box<str>")]
pub struct Prefix(Arc<Shared>);

struct Shared {
    text: Box<str>,
    chars: OnceLock<usize>,
    digester: OnceLock<Digester>,
}

impl Prefix {
    /// Length in characters (Unicode scalar values).
    pub fn chars(&self) -> usize {
        *self.0.chars.get_or_init(|| self.0.text.chars().count())
    }

    /// SHA-256 of the prefix and what follows it, as 64 lower-case hexadecimal digits.
    pub fn sha256_with(&self, rest: &str) -> String {
        self.0
            .digester
            .get_or_init(|| Digester::default().and(self.0.text.as_bytes()))
            .clone()
            .and(rest.as_bytes())
            .hex()
    }
}

impl Deref for Prefix {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0.text
    }
}

impl<T: Into<Box<str>>> From<T> for Prefix {
    fn from(text: T) -> Self {
        Self(Arc::new(Shared { text: text.into(), chars: OnceLock::new(), digester: OnceLock::new() }))
    }
}

impl Default for Prefix {
    fn default() -> Self {
        Self::from("")
    }
}

impl PartialEq for Prefix {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || **self == **other
    }
}

impl Eq for Prefix {}

impl fmt::Debug for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl Serialize for Prefix {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::{Prefix, Usage};
    use crate::base::sha256_hex;

    #[test]
    fn tokens_of_a_foreign_record_do_not_wrap_around() {
        assert_eq!(Usage::new(1 << 63, 1 << 63).total(), u64::MAX);
    }

    #[test]
    fn what_is_made_once_is_what_would_be_made_each_time() {
        let prefix = Prefix::from("Q: \"é\"\n\u{1}");
        for rest in ["", "a", "ü\n"] {
            assert_eq!(prefix.sha256_with(rest), sha256_hex([prefix.as_bytes(), rest.as_bytes()]));
        }
        assert_eq!(prefix.chars(), 8);
        assert_eq!(serde_json::from_str::<Prefix>("\"a\\n\"").expect("a string"), Prefix::from("a\n"));
        assert_eq!(Prefix::default().chars(), 0);
    }
}
