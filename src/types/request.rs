//! What a dialogue asks of a model, and what comes back.

use super::cause::Cause;
use super::digest::sha256_hex;
use super::finish::{Ending, FinishReason};
use super::function::{FunctionCall, Functions, Verbatim};
use super::prefix::Prefix;
use super::reasoning::Reasoning;
use super::request_option::{RequestOption, RequestOptions};
use super::text::thousands;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::sync::Arc;

/// One request to a model: the prompt, where to stop, and how to decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Prompt,
    /// Texts before which the completion ends; they are not part of it.
    pub stop: Vec<String>,
    pub decoding: Decoding,
    /// Functions that the model may call; absent in protocols of text.
    pub functions: Option<Arc<Functions>>,
}

impl Request {
    /// A request that offers no functions.
    pub fn new(prompt: Prompt, stop: Vec<String>, decoding: Decoding) -> Self {
        Self { prompt, stop, decoding, functions: None }
    }
}

/// What a model is shown: one text, or messages.
#[derive(Debug, Clone, PartialEq)]
pub enum Prompt {
    /// A text to continue. The few-shot prefix is shared between all requests of a run.
    Text {
        /// Instruction and exemplars, the same for every question.
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
    /// The functions that the model calls in this message.
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

    /// A message of the instructions above the conversation.
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

/// Who speaks in a conversation.
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

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// 0 for greedy decoding; up to 2.
    pub temperature: f64,
    /// Nucleus sampling mass, 0 to 1.
    pub top_p: f64,
    /// Upper bound of the completion's length, in the model's tokens; a budget for reasoning comes on top.
    pub max_tokens: u32,
    /// Seed for servers that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// How much to reason; the model's own way if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// What is added to the body of each request, key by key.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub extra_body: Map<String, Value>,
    /// Which of them a person has set. No record has it: an answer is the same however its settings came about.
    #[serde(skip)]
    pub typed: RequestOptions,
}

impl Decoding {
    /// Whether the model is asked to reason.
    pub fn reasons(&self) -> bool {
        self.reasoning.is_some_and(Reasoning::is_on)
    }

    /// The most tokens that a completion may have, those of the reasoning included where their number is known.
    pub fn max_total_tokens(&self) -> u32 {
        self.max_tokens.saturating_add(self.reasoning.and_then(Reasoning::budget).unwrap_or(0))
    }

    /// What must not be left out where a server refuses it: settings that a person has set, other than to what a model
    /// does without them.
    pub fn required(&self) -> RequestOptions {
        let usual = [
            (RequestOption::Temperature, (self.temperature - 1.0).abs() < f64::EPSILON),
            (RequestOption::TopP, self.top_p >= 1.0),
        ];
        self.typed.without(usual.into())
    }
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
    /// Tokens used, where the server counts them.
    pub usage: Option<Usage>,
    /// Time from the first attempt's start to the last one's end, waiting included, in milliseconds.
    pub latency_ms: u64,
    /// How often the request was sent, 1 or more; 0 when it never left this process.
    pub attempts: u32,
    /// Whether the answer came from a store instead of a server.
    pub cached: bool,
    /// The functions that the model calls, in order.
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
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    /// How many of the prompt's tokens the provider had kept from earlier requests.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// How many of the prompt's tokens the provider kept for later requests, where it asks another price for that.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_write_tokens: u64,
    /// How many of the completion's tokens were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

/// Bytes that a token has on average, where nobody counts tokens: a rule of thumb for English, and about right for other
/// scripts with the tokenizers of newer models.
pub const BYTES_PER_TOKEN: usize = 4;

impl Usage {
    /// The counts that only some providers make, in words; nothing where none was made.
    pub fn details(self) -> Option<String> {
        let part = |tokens: u64, what: &str| (tokens > 0).then(|| format!("{} {what}", thousands(tokens)));
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

    /// Tokens of texts of that many bytes, by [`BYTES_PER_TOKEN`].
    pub fn estimated(prompt_bytes: usize, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Self::new(tokens(prompt_bytes), tokens(completion_bytes))
    }

    /// Tokens of prompt and completion together.
    pub fn total(self) -> u64 {
        self.prompt_tokens + self.completion_tokens
    }

    /// The tokens beyond `other`; none where `other` has more.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self {
            prompt_tokens: self.prompt_tokens.saturating_sub(other.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_sub(other.completion_tokens),
            cached_tokens: self.cached_tokens.saturating_sub(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_sub(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_sub(other.reasoning_tokens),
        }
    }
}

impl std::ops::Add for Usage {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
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

    /// The prompt as `text`, or its `messages`.
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

impl Default for Decoding {
    /// The paper's: greedy, 100 tokens.
    fn default() -> Self {
        Self {
            temperature: 0.0,
            top_p: 1.0,
            max_tokens: 100,
            seed: None,
            reasoning: None,
            extra_body: Map::new(),
            typed: RequestOptions::default(),
        }
    }
}
