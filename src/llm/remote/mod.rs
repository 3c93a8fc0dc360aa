//! Models behind servers: all that the providers' interfaces have in common.
//!
//! A [`Remote`] sends a request in the form that its interface puts it into, hears the answer, cuts it at the first
//! stop, masks the key, and turns what goes wrong into a [`ModelError`]. An answer is heard in pieces if somebody
//! watches, or if the server does not know all the stops: then the connection is closed at the first of them, and the
//! model need not go on.
//!
//! | file | what it holds |
//! |---|---|
//! | `interface` | what each provider has of its own |
//! | `answer` | what an answer comes to |
//! | `incoming` | an answer as it comes, whole or in pieces |
//! | `label` | the end of a prompt that a chat model may continue |
//! | `stripper` | what stands before a text and is no part of it |
//! | `turns` | a prompt for providers that know two speakers in turn |
//! | `redactor` | how much of a text may be shown already |
//! | `refusal` | a server's own words when it will not answer |
//! | `secrets` | what is masked in all that a server says |
//! | `check` | what a server supports |

pub(super) mod answer;
mod check;
mod incoming;
pub(super) mod interface;
pub(super) mod label;
mod reasoning;
mod redactor;
pub(super) mod refusal;
mod secrets;
#[cfg(test)]
pub(super) mod testing;
pub(super) mod turns;

pub use check::{Check, Verdict};

use super::{Model, ModelError, OnEvent};
use crate::net::limit::{Limiter, Settings};
use crate::net::{Answer, Balance, Client, ClientSettings, RetrySettings, redact};
use crate::types::request::BYTES_PER_TOKEN;
use crate::types::{Completion, Decoding, Request};
use answer::{Decoded, Fault};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use incoming::Incoming;
use interface::{EncodedRequest, Interface};
use redactor::StreamRedactor;
use refusal::Refusal;
use secrecy::SecretString;
use secrets::Secrets;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How to reach a model.
#[derive(Clone)]
pub struct RemoteSettings {
    /// The model's name, as the server knows it.
    pub model: String,
    /// Where the API is, such as `http://127.0.0.1:8000/v1`; a query is kept, for gateways that want one, and masked in
    /// what servers say, for it may hold a key. Of several servers, each request goes to the one with the least in flight.
    pub base_urls: Vec<String>,
    /// The key, if the server wants one.
    pub key: Option<SecretString>,
    /// Where requests wait for their turn. Models of one provider and key share it.
    pub limiter: Arc<Limiter>,
    /// Longest time for one attempt; for one that is streamed, longest wait for the next piece.
    pub timeout: Duration,
    /// Largest answer, in bytes after decompression.
    pub max_body: usize,
    /// What is tried again.
    pub retry: RetrySettings,
}

impl Default for RemoteSettings {
    /// No model at no server, without a key; 16 at once, 120 s, 8 MiB, five attempts.
    fn default() -> Self {
        Self {
            model: String::new(),
            base_urls: Vec::new(),
            key: None,
            limiter: Arc::new(Limiter::new(&Settings::fixed(16))),
            timeout: Duration::from_mins(2),
            max_body: 8 << 20,
            retry: RetrySettings::default(),
        }
    }
}

impl fmt::Debug for RemoteSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSettings")
            .field("model", &self.model)
            .field("base_urls", &shown_urls(&self.base_urls))
            .field("key", &self.key.is_some())
            .field("limiter", &self.limiter)
            .field("timeout", &self.timeout)
            .field("max_body", &self.max_body)
            .field("retry", &self.retry)
            .finish()
    }
}

/// Addresses as records and errors name them: joined by `,`, without user part and query.
pub fn shown_urls<S: AsRef<str>>(urls: &[S]) -> String {
    urls.iter().map(|url| redact::url(url.as_ref())).collect::<Vec<_>>().join(",")
}

/// A model behind one server, or several that do the same work.
pub struct Remote {
    client: Client,
    balance: Balance,
    /// Where whole answers are asked for, at each server.
    whole_urls: Vec<String>,
    /// Where streams are asked for.
    stream_urls: Vec<String>,
    model: String,
    secrets: Secrets,
    interface: Box<dyn Interface>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.address()).field("model", &self.model).finish_non_exhaustive()
    }
}

/// A completion before it is cut, with what it took.
#[derive(Debug)]
struct Raw {
    decoded: Decoded,
    attempts: u32,
    elapsed: Duration,
}

impl Remote {
    /// Prepares a model. Sends nothing.
    pub(super) fn new(settings: RemoteSettings, interface: Box<dyn Interface>) -> Result<Self, ModelError> {
        let client = Client::new(ClientSettings {
            timeout: settings.timeout,
            max_body: settings.max_body,
            retry: settings.retry,
            limiter: settings.limiter,
            ..ClientSettings::default()
        })?;
        let urls = |streamed| {
            let address = |base: &String| interface.address(base, &settings.model, streamed);
            settings.base_urls.iter().map(address).collect()
        };
        let (whole_urls, stream_urls): (Vec<_>, Vec<_>) = (urls(false), urls(true));
        Ok(Self {
            client,
            balance: Balance::new(whole_urls.len()),
            whole_urls,
            stream_urls,
            model: settings.model,
            secrets: Secrets::new(settings.key, &settings.base_urls),
            interface,
        })
    }

    /// The addresses that requests go to, joined by `,`, without user part and query.
    pub fn address(&self) -> String {
        shown_urls(&self.whole_urls)
    }

    /// The interface's name, as it is stored: `chat`, `chat+prefill`, `completions`, `messages`, …
    pub fn endpoint(&self) -> &'static str {
        self.interface.endpoint()
    }

    async fn answer(&self, request: &Request, on_event: Option<OnEvent<'_>>) -> Result<Completion, ModelError> {
        let Raw { decoded, attempts, elapsed } = self.ask(request, on_event).await?;
        Ok(Completion {
            text: redactor::redacted(decoded.text, &request.stop, &self.secrets.hidden()),
            finish_reason: decoded.finish_reason,
            usage: decoded.usage,
            latency_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            attempts,
            cached: false,
        })
    }

    /// Sends the request, again in another form where the server refuses something in it.
    async fn ask(&self, request: &Request, on_event: Option<OnEvent<'_>>) -> Result<Raw, ModelError> {
        if let Some(reason) = self.unsupported(&request.decoding) {
            return Err(ModelError::Other(reason));
        }
        let interface = self.interface.as_ref();
        let mut incoming =
            Incoming::new(interface, on_event, StreamRedactor::new(&request.stop, self.secrets.hidden()));
        let mut attempts = 0;
        let mut elapsed = Duration::ZERO;
        loop {
            let EncodedRequest { body, sent, label } = interface.encode(&self.model, request, on_event.is_some());
            let estimate = (body.len() / BYTES_PER_TOKEN) as u64 + u64::from(request.decoding.max_tokens);
            incoming.expect(sent.stream, label, estimate);
            let answer = self.post(body, sent.stream, &mut incoming).await?;
            attempts += answer.attempts;
            elapsed += answer.elapsed;
            match incoming.take() {
                Some(Ok(mut decoded)) => {
                    for text in [&mut decoded.finish_reason, &mut decoded.model].into_iter().flatten() {
                        *text = self.secrets.masked(text);
                    }
                    return Ok(Raw { decoded, attempts, elapsed });
                }
                Some(Err(Fault::Broken(reason))) => {
                    return Err(ModelError::Undecodable { attempts, reason: self.shown(&reason) });
                }
                Some(Err(Fault::Refused(reason))) => {
                    return Err(ModelError::Refused { status: answer.status, message: self.shown(&reason) });
                }
                None => {}
            }
            let refusal = Refusal::read(&answer.body);
            if !interface.learn(sent, answer.status, &refusal) {
                return Err(self.refused(&answer, attempts, &refusal));
            }
        }
    }

    /// Posts once, with retries.
    async fn post(&self, body: Vec<u8>, stream: bool, incoming: &mut Incoming<'_>) -> Result<Answer, ModelError> {
        let accept = if stream { "text/event-stream, application/json" } else { "application/json" };
        let mut headers = vec![("accept", accept)];
        headers.extend(self.interface.headers());
        let urls = if stream { &self.stream_urls } else { &self.whole_urls };
        let credential = self.secrets.key().map(|key| self.interface.credential(key));
        let answer = self.client.post_json_to(urls, &self.balance, &headers, credential, body, incoming).await;
        answer.map_err(|error| self.secrets.out_of_error(error).into())
    }

    fn refused(&self, answer: &Answer, attempts: u32, refusal: &Refusal) -> ModelError {
        let status = answer.status;
        let message = self.shown(&refusal.message);
        if matches!(status, 408 | 409 | 425 | 429 | 500..) {
            return ModelError::Exhausted { attempts, reason: format!("status {status}: {message}") };
        }
        ModelError::Refused { status, message }
    }

    /// A server's words, fit for an error: on one line, short, without secrets.
    fn shown(&self, text: &str) -> String {
        redact::printable(self.secrets.out_of(text).trim(), refusal::MESSAGE_CHARS)
    }
}

impl Model for Remote {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.answer(request, None).boxed()
    }

    fn unsupported(&self, decoding: &Decoding) -> Option<String> {
        self.interface.unsupported(decoding)
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        on_event: OnEvent<'a>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.answer(request, Some(on_event)).boxed()
    }
}
