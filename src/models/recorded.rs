//! Wrappers that record the answers of a model, replay them, or answer from a cache.
//!
//! Two requests are the same when provider, model, endpoint, prompt, stops and decoding are the same, whichever server
//! answers; a cache also distinguishes servers. Keys, headers and addresses are never recorded.
//!
//! The protocol `tools` wrote ids of calls in another way in its first version. The answer to a request is the same
//! whatever its calls are called, so a cache knows requests by the ids of that version, and a recording that does not have a
//! request is asked for it with them.

use super::{CompletionFuture, Model, ModelError, OnEvent, Unsupported, report};
use crate::base::{Cause, Completion, Decoding, Functions, Message, Prompt, Request, tool::first_version_call_id};
use crate::net::recording::{Cache, CanonicalRequest, Kind, Recorder, Replayed, Wrapped};
use crate::net::redact;
use futures_util::FutureExt as _;
use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

/// Which model answers, as recordings and caches identify it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    provider: String,
    model: String,
    endpoint: String,
    server: Option<String>,
}

/// A request as it is recorded. The prompt comes first, so that the most similar recorded request is the one with the
/// most similar prompt.
#[derive(Serialize)]
struct RecordedRequest<'a> {
    prompt: RecordedPrompt<'a>,
    stop: &'a [String],
    decoding: &'a Decoding,
    #[serde(skip_serializing_if = "Option::is_none")]
    functions: Option<&'a Functions>,
    provider: &'a str,
    model: &'a str,
    endpoint: &'a str,
    /// Only in the keys of a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum RecordedPrompt<'a> {
    /// The whole text, however it is shared in memory.
    Text(String),
    Messages(&'a [Message]),
}

impl ModelIdentity {
    /// `server` is the base URL; its user part and query are left out.
    pub fn new(provider: &str, model: &str, endpoint: &str, server: Option<&str>) -> Self {
        let [provider, model, endpoint] = [provider, model, endpoint].map(str::to_owned);
        Self { provider, model, endpoint, server: server.map(redact::url) }
    }

    fn request(&self, request: &Request, server: Option<&str>) -> CanonicalRequest {
        let prompt = match &request.prompt {
            text @ Prompt::Text { .. } => RecordedPrompt::Text(text.to_text()),
            Prompt::Messages(messages) => RecordedPrompt::Messages(messages),
        };
        let Self { provider, model, endpoint, .. } = self;
        let (stop, decoding, functions) = (&request.stop, &request.decoding, request.functions.as_deref());
        let request = RecordedRequest { prompt, stop, decoding, functions, provider, model, endpoint, server };
        CanonicalRequest::new(Kind::Model, &request)
    }
}

/// A model whose answers are recorded. An answer that cannot be written is an error, so that a recording has no gaps but for
/// answers that are too long for a line.
pub type Recording = Wrapped<dyn Model, ModelIdentity, Recorder>;

impl Model for Recording {
    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        self.inner.unsupported(decoding, forced)
    }

    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        // Before the first poll: the order of the calls decides which occurrence of a request this is.
        let place = self.tape.place(self.identity.request(request, None));
        async move {
            self.tape.check()?;
            let completion = self.inner.complete(request, on_event).await?;
            let recorded = self.tape.record(place, &completion).await;
            recorded.map_err(|error| ModelError::Unrecorded { error: error.into(), usage: completion.usage })?;
            Ok(completion)
        }
        .boxed()
    }
}

/// A recorded model: every answer is as it was recorded, times included, and no request is sent.
pub type Replaying = Replayed<ModelIdentity>;

impl Model for Replaying {
    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let asked = self.identity.request(request, None);
        let earlier = || in_first_version(request).map(|request| self.identity.request(&request, None));
        let earlier = if self.player.has(&asked) { None } else { earlier() };
        let answer = self.player.answer(earlier.filter(|earlier| self.player.has(earlier)).unwrap_or(asked));
        async move { Ok(answer.await.inspect(|completion| report(completion, on_event))?) }.boxed()
    }
}

/// A model that is only asked what no earlier run asked it.
///
/// Each repeat, each sample and each occurrence of a request has its own answer. Errors, refusals and empty answers are
/// not cached. A cached answer is marked as such, with its original latency and no attempts.
pub type Cached = Wrapped<dyn Model, ModelIdentity, Cache>;

impl Model for Cached {
    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        self.inner.unsupported(decoding, forced)
    }

    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let earlier = in_first_version(request);
        let server = self.identity.server.as_deref();
        let slot = self.tape.slot(&self.identity.request(earlier.as_ref().unwrap_or(request), server));
        async move {
            if let Some(Kept(kept)) = self.tape.get(slot) {
                report(&kept, on_event);
                return Ok(Completion { cached: true, attempts: 0, ..kept });
            }
            let completion = self.inner.complete(request, on_event).await?;
            if is_worth_keeping(&completion) {
                let kept = Kept(completion);
                self.tape.put(slot, &kept).await;
                return Ok(kept.0);
            }
            Ok(completion)
        }
        .boxed()
    }
}

/// The request with its ids of calls as the first version of `tools` wrote them; none if it has no ids of ours.
fn in_first_version(request: &Request) -> Option<Request> {
    let Prompt::Messages(messages) = &request.prompt else { return None };
    let mut messages = messages.clone();
    let mut is_other = false;
    for message in &mut messages {
        for id in message.calls.iter_mut().map(|call| &mut call.id).chain(&mut message.answers) {
            if let Some(earlier) = first_version_call_id(id) {
                *id = earlier;
                is_other = true;
            }
        }
    }
    is_other.then(|| Request { prompt: Prompt::Messages(messages), ..request.clone() })
}

/// A completion in a cache. Caches of earlier versions hold failures of the server as answers: these cannot be read, so
/// that they are asked for again and replaced.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Kept(#[serde(deserialize_with = "answer")] Completion);

fn answer<'de, D: Deserializer<'de>>(stored: D) -> Result<Completion, D::Error> {
    let completion = Completion::deserialize(stored)?;
    if completion.is_failure() { Err(D::Error::custom("a failure of the server")) } else { Ok(completion) }
}

/// Neither empty (nothing was said, or reasoning used up all tokens) nor withheld by a filter, nor a failure of the server
/// that a recording of an earlier version has.
fn is_worth_keeping(completion: &Completion) -> bool {
    let withheld = matches!(completion.shortfall(), Some(Cause::ContentFilter | Cause::Refusal));
    !withheld && !completion.is_failure() && (!completion.text.trim().is_empty() || !completion.calls.is_empty())
}

#[cfg(test)]
mod tests;
