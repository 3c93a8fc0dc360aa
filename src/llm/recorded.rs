//! Wrappers that record the answers of a model, replay them, or answer from a cache.
//!
//! Two requests are the same when provider, model, endpoint, prompt, stops and decoding are the same, whichever server
//! answers; a cache also distinguishes servers. Keys, headers and addresses are never recorded.

use super::{Model, ModelError, OnEvent, ask, report};
use crate::net::redact;
use crate::tape::{Asked, Cache, Kind, Player, Recorder, Wrapped};
use crate::types::{Completion, Decoding, Functions, Message, Prompt, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Serialize;

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
    pub fn new(
        provider: impl Into<String>,
        model: impl Into<String>,
        endpoint: impl Into<String>,
        server: Option<&str>,
    ) -> Self {
        let server = server.map(redact::url);
        Self { provider: provider.into(), model: model.into(), endpoint: endpoint.into(), server }
    }

    fn request(&self, request: &Request, server: Option<&str>) -> Asked {
        let prompt = match &request.prompt {
            text @ Prompt::Text { .. } => RecordedPrompt::Text(text.to_text()),
            Prompt::Messages(messages) => RecordedPrompt::Messages(messages),
        };
        let Self { provider, model, endpoint, .. } = self;
        let (stop, decoding, functions) = (&request.stop, &request.decoding, request.functions.as_deref());
        let request = RecordedRequest { prompt, stop, decoding, functions, provider, model, endpoint, server };
        Asked::new(Kind::Model, &request)
    }
}

/// A model whose answers are recorded. An answer that cannot be recorded is an error, so that a recording has no gaps.
pub type Recording = Wrapped<dyn Model, ModelIdentity, Recorder>;

impl Recording {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        on_event: Option<OnEvent<'a>>,
    ) -> impl Future<Output = Result<Completion, ModelError>> + Send + 'a {
        // Before the first poll: the order of the calls decides which occurrence of a request this is.
        let place = self.tape.place(self.identity.request(request, None));
        async move {
            let completion = ask(&*self.inner, request, on_event).await?;
            self.tape.record(place, &completion).await?;
            Ok(completion)
        }
    }
}

/// A recorded model: every answer is as it was recorded, times included, and no request is sent.
#[derive(Debug)]
pub struct Replaying {
    identity: ModelIdentity,
    player: Player,
}

impl Replaying {
    pub fn new(identity: ModelIdentity, player: Player) -> Self {
        Self { identity, player }
    }
}

impl Model for Replaying {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let answer = self.player.answer(self.identity.request(request, None));
        async move { Ok(answer.await?) }.boxed()
    }
}

/// A model that is only asked what no earlier run asked it.
///
/// Each repeat, each sample and each occurrence of a request has its own answer. Errors, refusals and empty answers are
/// not cached. A cached answer is marked as such, with its original latency and no attempts.
pub type Cached = Wrapped<dyn Model, ModelIdentity, Cache>;

impl Cached {
    fn answer<'a>(
        &'a self,
        request: &'a Request,
        on_event: Option<OnEvent<'a>>,
    ) -> impl Future<Output = Result<Completion, ModelError>> + Send + 'a {
        let slot = self.tape.slot(&self.identity.request(request, self.identity.server.as_deref()));
        async move {
            if let Some(kept) = self.tape.get::<Completion>(slot) {
                if let Some(on_event) = on_event {
                    report(&kept, on_event);
                }
                return Ok(Completion { cached: true, attempts: 0, ..kept });
            }
            let completion = ask(&*self.inner, request, on_event).await?;
            if is_worth_keeping(&completion) {
                self.tape.put(slot, &completion).await;
            }
            Ok(completion)
        }
    }
}

/// Neither empty (nothing was said, or reasoning used up all tokens) nor withheld by a filter.
fn is_worth_keeping(completion: &Completion) -> bool {
    let withheld = matches!(completion.finish_reason.as_deref(), Some("content_filter" | "refusal"));
    !withheld && (!completion.text.trim().is_empty() || !completion.calls.is_empty())
}

super::model!(Recording, inner);
super::model!(Cached, inner);

#[cfg(test)]
mod tests;
