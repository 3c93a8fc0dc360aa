//! What a dialogue asks of a model, and what comes back.

use super::digest::sha256_hex;
use super::prefix::Prefix;
use super::request_option::{RequestOption, RequestOptions};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One request to a model: the prompt, where to stop, and how to decode.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub prompt: Prompt,
    /// Texts before which the completion ends; they are not part of it.
    pub stop: Vec<String>,
    pub decoding: Decoding,
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    pub role: Role,
    /// What is said. Shared, because a conversation is sent again at every step.
    pub content: Arc<str>,
}

impl Message {
    /// A message of the instructions above the conversation.
    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A message of the user's, or of a tool's in most protocols.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// Who speaks in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions that stand above the conversation.
    System,
    /// The user, and in most protocols the tools.
    User,
    Assistant,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// 0 for greedy decoding; up to 2.
    pub temperature: f64,
    /// Nucleus sampling mass, 0 to 1.
    pub top_p: f64,
    /// Upper bound of the completion's length, in the model's tokens.
    pub max_tokens: u32,
    /// Seed for servers that take one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Which of them a person has set. No record has it: an answer is the same however its settings came about.
    #[serde(skip)]
    pub typed: RequestOptions,
}

impl Decoding {
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
}

/// Counted use of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
}

/// Bytes that a token has on average, where nobody counts tokens: a rule of thumb for English, and about right for other
/// scripts with the tokenizers of newer models.
pub const BYTES_PER_TOKEN: usize = 4;

impl Usage {
    /// Tokens of texts of that many bytes, by [`BYTES_PER_TOKEN`].
    pub fn estimated(prompt_bytes: usize, completion_bytes: usize) -> Self {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        Self { prompt_tokens: tokens(prompt_bytes), completion_tokens: tokens(completion_bytes) }
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
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
    }
}

impl Prompt {
    pub fn text(prefix: Prefix, rest: impl Into<String>) -> Self {
        Self::Text { prefix, rest: rest.into() }
    }

    /// SHA-256 of the exact UTF-8 text sent; for messages, of their JSON array of `{"role", "content"}`.
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

    /// Length in bytes, contents only.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text { prefix, rest } => prefix.len() + rest.len(),
            Self::Messages(messages) => messages.iter().map(|m| m.content.len()).sum(),
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
        Self { temperature: 0.0, top_p: 1.0, max_tokens: 100, seed: None, typed: RequestOptions::default() }
    }
}
