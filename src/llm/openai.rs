//! Servers that speak `OpenAI`'s HTTP interface: chat completions and text completions.
//!
//! A request travels as the endpoint has it: a text prompt goes to a chat endpoint as one user message; messages go
//! to a text endpoint as one text (the rule stands in `openai/body.rs`). What a server refuses (`stop`, `max_tokens`) is remembered and left
//! out from then on; stops are applied on our side in any case.

mod answer;
mod body;
mod check;
mod refusal;

pub use check::{Check, Verdict};

use super::{Model, ModelError, stop};
use crate::net::{Answer, Client, ClientSettings, RetrySettings, redact};
use crate::types::{Completion, Request};
use answer::Decoded;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use refusal::Refusal;
use secrecy::{ExposeSecret as _, SecretString};
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Base URL of `OpenAI` itself.
pub const OPENAI_URL: &str = "https://api.openai.com/v1";

/// Which of the two interfaces a request takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Endpoint {
    /// `POST {base}/chat/completions`.
    #[default]
    Chat,
    /// `POST {base}/completions`.
    Completions,
}

impl Endpoint {
    /// The name under which it is stored: `chat` or `completions`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Completions => "completions",
        }
    }
}

/// How to reach a model.
#[derive(Clone)]
pub struct OpenAiSettings {
    /// The model's name, as the server knows it.
    pub model: String,
    /// Where the API is, such as `http://127.0.0.1:8000/v1`; a query is kept, for gateways that want one.
    pub base_url: String,
    /// The interface.
    pub endpoint: Endpoint,
    /// The bearer token, if the server wants one.
    pub key: Option<SecretString>,
    /// Requests at once.
    pub concurrency: usize,
    /// Longest time for one attempt.
    pub timeout: Duration,
    /// Largest answer, in bytes after decompression.
    pub max_body: usize,
    /// What is tried again.
    pub retry: RetrySettings,
}

impl Default for OpenAiSettings {
    /// No model at `OpenAI` by chat, without a key; 16 at once, 120 s, 8 MiB, five attempts.
    fn default() -> Self {
        Self {
            model: String::new(),
            base_url: OPENAI_URL.to_owned(),
            endpoint: Endpoint::Chat,
            key: None,
            concurrency: 16,
            timeout: Duration::from_mins(2),
            max_body: 8 << 20,
            retry: RetrySettings::default(),
        }
    }
}

impl fmt::Debug for OpenAiSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiSettings")
            .field("model", &self.model)
            .field("base_url", &redact::url(&self.base_url))
            .field("endpoint", &self.endpoint)
            .field("key", &self.key.is_some())
            .field("concurrency", &self.concurrency)
            .field("timeout", &self.timeout)
            .field("max_body", &self.max_body)
            .field("retry", &self.retry)
            .finish()
    }
}

/// A model behind such a server.
pub struct OpenAi {
    client: Client,
    url: String,
    model: String,
    endpoint: Endpoint,
    key: Option<SecretString>,
    /// What the server refused so far.
    no_stop: AtomicBool,
    no_max_tokens: AtomicBool,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi")
            .field("url", &redact::url(&self.url))
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// A completion before it is cut, with what the server says about it.
#[derive(Debug)]
struct Raw {
    decoded: Decoded,
    attempts: u32,
    elapsed: Duration,
}

impl OpenAi {
    /// Prepares a model. Sends nothing.
    pub fn new(settings: OpenAiSettings) -> Result<Self, ModelError> {
        let client = Client::new(ClientSettings {
            hold_all: false,
            timeout: settings.timeout,
            max_body: settings.max_body,
            retry: settings.retry,
            concurrent: settings.concurrency,
            ..ClientSettings::default()
        })?;
        Ok(Self {
            client,
            url: address(&settings.base_url, settings.endpoint),
            model: settings.model,
            endpoint: settings.endpoint,
            key: settings.key,
            no_stop: AtomicBool::new(false),
            no_max_tokens: AtomicBool::new(false),
        })
    }

    /// The address that requests go to, without user part and query.
    pub fn address(&self) -> String {
        redact::url(&self.url)
    }

    /// Whether the server has refused `stop` so far.
    pub fn refuses_stop(&self) -> bool {
        self.no_stop.load(Ordering::Relaxed)
    }

    /// Whether the server has refused `max_tokens` so far, and is sent `max_completion_tokens` instead.
    pub fn refuses_max_tokens(&self) -> bool {
        self.no_max_tokens.load(Ordering::Relaxed)
    }

    async fn answer(&self, request: &Request) -> Result<Completion, ModelError> {
        let Raw { decoded, attempts, elapsed } = self.ask(request).await?;
        let mut text = decoded.text;
        text.truncate(stop::cut(&text, &request.stop));
        if let Some(key) = self.key.as_ref().map(SecretString::expose_secret).filter(|key| key.len() >= 8)
            && text.contains(key)
        {
            // Completions are stored; a server that echoes the key must not bring it there.
            text = text.replace(key, redact::MASK);
        }
        Ok(Completion {
            text,
            finish_reason: decoded.finish_reason,
            usage: decoded.usage,
            latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            attempts,
            cached: false,
        })
    }

    /// Sends the request, again without what the server refuses in it.
    async fn ask(&self, request: &Request) -> Result<Raw, ModelError> {
        let mut attempts = 0;
        let mut elapsed = Duration::ZERO;
        loop {
            let form = body::Form {
                endpoint: self.endpoint,
                stop: !self.refuses_stop(),
                max_tokens: !self.refuses_max_tokens(),
            };
            let body = body::bytes(&self.model, request, form);
            let (answer, decoded) = self.post(body).await?;
            attempts += answer.attempts;
            elapsed += answer.elapsed;
            if let Some(decoded) = decoded {
                let decoded = decoded.map_err(|e| self.undecodable(attempts, &e))?;
                return Ok(Raw { decoded, attempts, elapsed });
            }
            let refusal = Refusal::read(&answer.body);
            let first = match refusal.about(answer.status) {
                Some(refusal::About::Stop) if form.stop && !request.stop.is_empty() => &self.no_stop,
                Some(refusal::About::MaxTokens) if form.max_tokens => &self.no_max_tokens,
                _ => return Err(self.refused(&answer, attempts, &refusal)),
            };
            first.store(true, Ordering::Relaxed);
        }
    }

    /// Posts once (with retries); the second part is there for a 2xx status.
    async fn post(&self, body: Vec<u8>) -> Result<(Answer, Option<Result<Decoded, String>>), ModelError> {
        // The check that decides on a retry decodes the answer; what it found is kept, not found again.
        let kept = Mutex::new(None);
        let accept = |answer: &Answer| {
            let decoded = answer.ok().then(|| answer::decode(answer, self.endpoint));
            let usable = !matches!(decoded, Some(Err(_)));
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = decoded;
            usable
        };
        let headers = [("accept", "application/json")];
        let answer = self.client.post_json(&self.url, &headers, self.key.as_ref(), body, &accept).await?;
        Ok((answer, kept.into_inner().unwrap_or_else(PoisonError::into_inner)))
    }

    fn undecodable(&self, attempts: u32, reason: &str) -> ModelError {
        ModelError::Undecodable { attempts, reason: self.shown(reason) }
    }

    fn refused(&self, answer: &Answer, attempts: u32, refusal: &Refusal) -> ModelError {
        let status = answer.status;
        let message = self.shown(&refusal.message);
        if matches!(status, 408 | 409 | 425 | 429 | 500..) {
            return ModelError::Exhausted { attempts, reason: format!("status {status}: {message}") };
        }
        ModelError::Refused { status, message }
    }

    /// A server's words, fit for an error: on one line, short, without the key.
    fn shown(&self, text: &str) -> String {
        let clean = match &self.key {
            Some(key) => redact::secret(text, key),
            None => text.to_owned(),
        };
        redact::printable(clean.trim(), refusal::MESSAGE_CHARS)
    }
}

impl Model for OpenAi {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.answer(request).boxed()
    }
}

/// The address below `base` that an endpoint has. A base that names the endpoint already is taken at its word.
fn address(base: &str, endpoint: Endpoint) -> String {
    let (path, query) = base.split_once('?').map_or((base, None), |(path, query)| (path, Some(query)));
    let mut path = path.trim().trim_end_matches('/');
    for known in ["/chat/completions", "/completions"] {
        path = path.strip_suffix(known).unwrap_or(path);
    }
    let tail = match endpoint {
        Endpoint::Chat => "chat/completions",
        Endpoint::Completions => "completions",
    };
    query.map_or_else(|| format!("{path}/{tail}"), |query| format!("{path}/{tail}?{query}"))
}

#[cfg(test)]
mod tests;
