//! Models behind servers: what all providers share.
//!
//! A [`Remote`] encodes a request for its provider, reads the answer, cuts it at the first stop, masks the key, and turns
//! failures into a [`ModelError`]. An answer is streamed if somebody listens, or if the server does not support all
//! stops: the connection is then closed at the first stop, so that the model does not generate on.
//!
//! | file | what it holds |
//! |---|---|
//! | `interface` | what differs between providers, and fields that are added to a body |
//! | `answer` | an answer as it arrives, whole or streamed, decoded, without the reasoning inside its text |
//! | `turns` | a prompt as alternating turns; its last label, which a chat model may continue |
//! | `redactor` | masks secrets in texts, calls, replies and streams |
//! | `refusal` | the error message of a server, and which options it refuses |
//! | `check` | what a server supports |

pub(super) mod answer;
mod check;
pub(super) mod interface;
mod redactor;
pub(super) mod refusal;
pub(super) mod turns;

pub use check::{Check, Verdict};
pub use refusal::LearnedOptions;

use super::{CompletionFuture, Model, ModelError, OnEvent, Unsupported};
use crate::base::finish::TOOL_USE_FAILED;
use crate::base::request::BYTES_PER_TOKEN;
use crate::base::{
    Cause, Completion, Decoding, Ending, FinishReason, Forwarded, Request, RequestOption, Usage, Verbatim,
};
use crate::net::limit::{Limiter, Settings};
use crate::net::{Answer, Balance, Client, ClientSettings, Credential, redact};
use answer::Incoming;
use futures_util::FutureExt as _;
use interface::{Decoded, EncodedRequest, Fault, Interface};
use redactor::{Secrets, StreamRedactor, masked};
use refusal::Refusal;
use secrecy::SecretString;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone)]
pub struct RemoteSettings {
    pub model: String,
    /// Base URLs of the API, such as `http://127.0.0.1:8000/v1`; a query is kept, and masked in what servers say, as it
    /// may hold a key. Of several servers, each request goes to the one with the fewest requests in flight.
    pub base_urls: Vec<String>,
    pub key: Option<SecretString>,
    pub headers: Vec<(String, String)>,
    /// The same with values that must appear nowhere, as the key.
    pub secret_headers: Vec<(String, SecretString)>,
    /// Models of one provider and key share its limiter.
    pub client: ClientSettings,
}

impl Default for RemoteSettings {
    /// No model, server or key; 16 requests at once, 120 s, 8 MiB, five attempts.
    fn default() -> Self {
        Self {
            model: String::new(),
            base_urls: Vec::new(),
            key: None,
            headers: Vec::new(),
            secret_headers: Vec::new(),
            client: ClientSettings {
                limiter: Arc::new(Limiter::new(&Settings::fixed(16))),
                timeout: Duration::from_mins(2),
                max_body: 8 << 20,
                ..ClientSettings::default()
            },
        }
    }
}

impl fmt::Debug for RemoteSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteSettings")
            .field("model", &self.model)
            .field("base_urls", &shown_urls(&self.base_urls))
            .finish_non_exhaustive()
    }
}

/// URLs as records and errors name them: joined by `,`, without user part and query.
pub fn shown_urls<S: AsRef<str>>(urls: &[S]) -> String {
    urls.iter().map(|url| redact::url(url.as_ref())).collect::<Vec<_>>().join(",")
}

pub struct Remote {
    client: Client,
    balance: Balance,
    whole_urls: Vec<String>,
    stream_urls: Vec<String>,
    model: String,
    secrets: Secrets,
    headers: Vec<(String, String)>,
    secret_headers: Vec<(String, SecretString)>,
    learned: LearnedOptions,
    interface: Box<dyn Interface>,
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote").field("url", &self.address()).field("model", &self.model).finish_non_exhaustive()
    }
}

/// Whether a text has as many tokens as the limit allows, although the server says that it ended by itself.
fn is_at_limit(decoded: &Decoded, limit: Option<u32>) -> bool {
    let is_answer = decoded.finish_reason.as_deref().and_then(FinishReason::ending) == Some(Ending::Answer);
    let reached = decoded.usage.zip(limit).is_some_and(|(usage, limit)| usage.completion_tokens >= u64::from(limit));
    is_answer && reached && decoded.calls.is_empty()
}

impl Remote {
    pub(super) fn new(settings: RemoteSettings, interface: Box<dyn Interface>) -> Result<Self, ModelError> {
        let client = Client::new(settings.client)?;
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
            secrets: Secrets::new(settings.key, &settings.secret_headers, &settings.base_urls),
            headers: settings.headers,
            secret_headers: settings.secret_headers,
            learned: LearnedOptions::new(interface.known_refusals()),
            interface,
        })
    }

    pub fn address(&self) -> String {
        shown_urls(&self.whole_urls)
    }

    /// The API's name, as it is stored: `chat`, `chat+prefill`, `completions`, `messages`, …
    pub fn endpoint(&self) -> &'static str {
        self.interface.endpoint()
    }

    pub fn learned(&self) -> &LearnedOptions {
        &self.learned
    }

    async fn answer(&self, request: &Request, on_event: Option<OnEvent<'_>>) -> Result<Completion, ModelError> {
        if let Some(forwarded) = &request.forwarded {
            return self.forward(request, forwarded).await;
        }
        let mut decoded = self.ask(request, on_event).await?;
        let cause = decoded.finish_reason.as_deref().and_then(Cause::of_finish);
        // Only a reply with calls is followed by another one to the same question.
        let verbatim = decoded.verbatim.take().filter(|_| !decoded.calls.is_empty());
        let verbatim = verbatim.and_then(|reply| masked(&reply, &self.secrets.hidden.all()));
        let malformed = cause == Some(Cause::MalformedCall);
        Ok(Completion { verbatim, malformed, ..self.completion(decoded, &request.stop) })
    }

    /// Sends the request; again without an option that the server refuses.
    async fn ask(&self, request: &Request, on_event: Option<OnEvent<'_>>) -> Result<Decoded, ModelError> {
        self.refuse_unsupported(request)?;
        let interface = self.interface.as_ref();
        let required = request.decoding.required();
        self.learned.know(interface.left_out(&request.decoding));
        let mut incoming =
            Incoming::new(interface, on_event, StreamRedactor::new(&request.stop, self.secrets.hidden.all()));
        let mut attempts = 0;
        let mut elapsed = Duration::ZERO;
        loop {
            let refused = self.learned.refused().without(required);
            let encoded = interface.encode(&self.model, request, refused, on_event.is_some());
            let unencoded =
                |error: serde_json::Error| ModelError::Other(format!("the request cannot be encoded as JSON: {error}"));
            let EncodedRequest { body, sent, label } = encoded.map_err(unencoded)?;
            let body = interface::with_extra_fields(body, &request.decoding.extra_body).map_err(unencoded)?;
            let estimate = (body.len() / BYTES_PER_TOKEN) as u64 + u64::from(request.decoding.max_total_tokens());
            let stream = sent.contains(RequestOption::Stream);
            incoming.expect(stream, label, estimate);
            let answer = self.post(body, stream, &[], &mut incoming).await?;
            attempts += answer.attempts;
            elapsed += answer.elapsed;
            let (status, refusal) = match incoming.take() {
                Some(Ok(mut decoded)) => {
                    self.clean(&mut decoded);
                    self.learned.answered_by(&self.model, decoded.model.as_deref());
                    let limit = interface.limit(&request.decoding, refused);
                    let at_limit = !incoming.stopped() && is_at_limit(&decoded, limit);
                    let usage = incoming.all_counted(decoded.usage);
                    return Ok(Decoded { usage, attempts, elapsed, at_limit, ..decoded });
                }
                Some(Err(Fault::Reported(refusal))) => (refusal.status(), refusal),
                Some(Err(fault)) => {
                    return Err(self.fault(fault, answer.status, attempts).with_usage(incoming.discarded()));
                }
                None => (answer.status, Refusal::read(&answer::first_event(&answer.body))),
            };
            if let Some(written) = refusal.malformed(answer.status) {
                let text = incoming.replaced(written);
                let finish_reason = Some(TOOL_USE_FAILED.to_owned());
                return Ok(Decoded { text, finish_reason, attempts, elapsed, ..Decoded::default() });
            }
            if !self.learned.learn(sent, required, status, &refusal) {
                let cause = refusal.cause(status);
                let error = self.refused(answer.status, cause, attempts, &self.with_address(refusal, &answer));
                return Err(error.with_usage(incoming.discarded()));
            }
        }
    }

    /// Sends a request that another program wrote as it is. The completion's `verbatim` is the answer as the server wrote it,
    /// events of a stream included.
    async fn forward(&self, request: &Request, forwarded: &Forwarded) -> Result<Completion, ModelError> {
        let secrets = self.secrets.hidden.all();
        let mut incoming = Incoming::new(self.interface.as_ref(), None, StreamRedactor::new(&[], secrets));
        let body = request.prompt.to_text().into_bytes();
        let body = interface::with_extra_fields(body, &request.decoding.extra_body)
            .map_err(|error| ModelError::Other(format!("the request is not JSON: {error}")))?;
        // The whole answer is read before any of it is passed on, so that it may be asked for again.
        incoming.expect(false, String::new(), (body.len() / BYTES_PER_TOKEN) as u64);
        let Answer { status, body, attempts, elapsed, .. } =
            self.post(body, forwarded.stream, &forwarded.headers, &mut incoming).await?;
        let mut decoded = match incoming.take() {
            Some(Ok(decoded)) => Decoded { attempts, elapsed, ..decoded },
            Some(Err(fault)) => return Err(self.fault(fault, status, attempts).with_usage(incoming.discarded())),
            None => {
                let refusal = Refusal::read(&answer::first_event(&body));
                let mut error = self.refused(status, refusal.cause(status), attempts, &refusal);
                if let ModelError::Refused { body: kept, .. } = &mut error {
                    *kept = Some(redactor::body(&String::from_utf8_lossy(&body), &self.secrets.hidden.all()).into());
                }
                return Err(error);
            }
        };
        self.learned.answered_by(&self.model, decoded.model.as_deref());
        let secrets = self.secrets.hidden.all();
        let written = redactor::body(&String::from_utf8_lossy(&body), &secrets);
        if redactor::redacted(decoded.text.clone(), &[], &secrets) != decoded.text && answer::is_stream(&body) {
            let message = "the server repeats the key in its answer, which is not passed on".to_owned();
            return Err(ModelError::Refused { status, message, cause: Cause::ContentFilter, body: None });
        }
        self.clean(&mut decoded);
        decoded.usage = incoming.all_counted(decoded.usage);
        let verbatim = Some(Verbatim { endpoint: self.endpoint().to_owned(), content: written.into() });
        Ok(Completion { verbatim, ..self.completion(decoded, &[]) })
    }

    /// Masks secrets in what is kept as it is, and leaves out counts that cannot be.
    fn clean(&self, decoded: &mut Decoded) {
        // Neither a prompt nor a text has no tokens: the server did not count.
        let counts =
            |usage: &Usage| usage.prompt_tokens > 0 && (usage.completion_tokens > 0 || decoded.text.is_empty());
        decoded.usage = decoded.usage.filter(counts).map(Usage::without_impossible_parts);
        for text in [&mut decoded.finish_reason, &mut decoded.model].into_iter().flatten() {
            *text = self.secrets.hidden.out_of(text);
        }
    }

    fn completion(&self, decoded: Decoded, stop: &[String]) -> Completion {
        let secrets = self.secrets.hidden.all();
        Completion {
            text: redactor::redacted(decoded.text, stop, &secrets),
            reasoning: decoded.reasoning.map(|reasoning| redactor::redacted(reasoning.text, &[], &secrets)),
            finish_reason: decoded.finish_reason,
            usage: decoded.usage,
            calls: decoded.calls.iter().filter_map(|call| masked(call, &secrets)).collect(),
            latency_ms: u64::try_from(decoded.elapsed.as_millis()).unwrap_or(u64::MAX),
            attempts: decoded.attempts,
            at_limit: decoded.at_limit,
            ..Completion::default()
        }
    }

    fn refuse_unsupported(&self, request: &Request) -> Result<(), ModelError> {
        let forced = request.functions.as_ref().is_some_and(|functions| functions.required);
        if let Some(unsupported) = self.interface.unsupported(&request.decoding, forced) {
            return Err(ModelError::Other(unsupported.reason));
        }
        if request.functions.is_some() && !self.interface.takes_functions() {
            return Err(ModelError::Other("text completions cannot call functions: use the chat endpoint".to_owned()));
        }
        Ok(())
    }

    async fn post(
        &self,
        body: Vec<u8>,
        stream: bool,
        others: &[(String, String)],
        incoming: &mut Incoming<'_>,
    ) -> Result<Answer, ModelError> {
        let accept = if stream { "text/event-stream, application/json" } else { "application/json" };
        let mut headers = vec![("accept", accept)];
        let own = self.interface.headers().iter().copied();
        headers.extend(own.filter(|(name, _)| others.iter().all(|(other, _)| other != name)));
        headers.extend(others.iter().chain(&self.headers).map(|(name, value)| (name.as_str(), value.as_str())));
        let urls = if stream { &self.stream_urls } else { &self.whole_urls };
        let key = self.secrets.key.as_ref().map(|key| self.interface.credential(key));
        let others = self.secret_headers.iter().map(|(name, value)| Credential::Header(name, value));
        let credentials: Vec<Credential<'_>> = key.into_iter().chain(others).collect();
        let answer = self.client.post_json(urls, &self.balance, &headers, &credentials, body, incoming).await;
        answer.map_err(|error| self.secrets.hidden.out_of_error(error).into())
    }

    /// Why an answer to a request that was taken is no completion.
    fn fault(&self, fault: Fault, status: u16, attempts: u32) -> ModelError {
        match fault {
            Fault::Unexplained(reason) => {
                ModelError::Unexplained { attempts, reason: self.message(&reason), usage: None }
            }
            Fault::Broken(reason) => ModelError::Undecodable { attempts, reason: self.message(&reason) },
            Fault::Withheld(reason) => {
                let message = self.message(&reason);
                ModelError::Refused { status, message, cause: Cause::ContentFilter, body: None }
            }
            Fault::Reported(refusal) => self.refused(status, refusal.cause(refusal.status()), attempts, &refusal),
        }
    }

    fn refused(&self, status: u16, cause: Cause, attempts: u32, refusal: &Refusal) -> ModelError {
        let message = self.message(&refusal.message);
        if !cause.is_passing() {
            return ModelError::Refused { status, message, cause, body: None };
        }
        let reason = match status {
            200..=299 => format!("an error in its answer: {message}"),
            status => format!("status {status}: {message}"),
        };
        ModelError::Exhausted { attempts, reason, cause, usage: None }
    }

    /// With several servers, adds the address of the one that refused for its key, account or address. Other refusals stay
    /// without it: a run that gives up counts equal messages in a row, whichever server sent them.
    fn with_address(&self, mut refusal: Refusal, answer: &Answer) -> Refusal {
        if answer.is_refused() && self.whole_urls.len() > 1 {
            refusal.message = format!("{}: {}", redact::url(&answer.url), refusal.message);
        }
        refusal
    }

    /// A server's message, for an error: on one line, short, without secrets.
    fn message(&self, text: &str) -> String {
        crate::base::text::printable(self.secrets.out_of(text).trim(), refusal::MESSAGE_CHARS)
    }
}

impl Model for Remote {
    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        self.interface.unsupported(decoding, forced)
    }

    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        self.answer(request, on_event).boxed()
    }
}

#[cfg(test)]
mod tests;
