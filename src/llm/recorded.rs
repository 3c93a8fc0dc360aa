//! Models with a tape in front: recorded, replayed, or answered from a cache.
//!
//! A request is the same when provider, model, endpoint, prompt, stops and decoding are the same, whichever server
//! stands behind them; a cache also tells servers apart. Keys, headers and addresses never come near a tape.

use super::{Model, ModelError, OnEvent, StreamEvent};
use crate::net::redact;
use crate::tape::{Asked, Cache, Kind, Player, Recorder};
use crate::types::{Completion, Decoding, Message, Prompt, Request};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde::Serialize;
use std::sync::Arc;

/// Which model answers, as tapes and caches know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelIdentity {
    provider: String,
    model: String,
    endpoint: String,
    server: Option<String>,
}

/// A request as it stands on a tape. The prompt comes first, so that the nearest of two requests is the one whose prompt
/// is nearest.
#[derive(Serialize)]
struct RecordedRequest<'a> {
    prompt: RecordedPrompt<'a>,
    stop: &'a [String],
    decoding: &'a Decoding,
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
        Self {
            provider: provider.into(),
            model: model.into(),
            endpoint: endpoint.into(),
            server: server.map(redact::url),
        }
    }

    fn asked(&self, request: &Request, server: Option<&str>) -> Asked {
        let prompt = match &request.prompt {
            text @ Prompt::Text { .. } => RecordedPrompt::Text(text.to_text()),
            Prompt::Messages(messages) => RecordedPrompt::Messages(messages),
        };
        let for_recording = RecordedRequest {
            prompt,
            stop: &request.stop,
            decoding: &request.decoding,
            provider: &self.provider,
            model: &self.model,
            endpoint: &self.endpoint,
            server,
        };
        Asked::new(Kind::Model, &for_recording)
    }

    fn for_recording(&self, request: &Request) -> Asked {
        self.asked(request, None)
    }

    fn for_cache(&self, request: &Request) -> Asked {
        self.asked(request, self.server.as_deref())
    }
}

/// A model whose answers are recorded. Those that cannot be recorded are errors: a recording with holes is none.
pub struct Recording {
    inner: Arc<dyn Model>,
    identity: ModelIdentity,
    recorder: Arc<Recorder>,
}

impl Recording {
    /// Records what `inner` answers.
    pub fn new(inner: Arc<dyn Model>, identity: ModelIdentity, recorder: Arc<Recorder>) -> Self {
        Self { inner, identity, recorder }
    }

    fn recorded<'a>(
        &'a self,
        request: &'a Request,
        answer: BoxFuture<'a, Result<Completion, ModelError>>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let place = self.recorder.place(self.identity.for_recording(request));
        async move {
            let completion = answer.await?;
            self.recorder.record(place, &completion).await?;
            Ok(completion)
        }
        .boxed()
    }
}

impl Model for Recording {
    fn unsupported(&self, decoding: &Decoding) -> Option<String> {
        self.inner.unsupported(decoding)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.recorded(request, self.inner.complete(request))
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        on_event: OnEvent<'a>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.recorded(request, self.inner.stream(request, on_event))
    }
}

/// A recorded model: every answer comes from the tape as it was, times included, and nothing is sent anywhere.
#[derive(Debug)]
pub struct Replaying {
    identity: ModelIdentity,
    player: Player,
}

impl Replaying {
    /// Answers as that model did.
    pub fn new(identity: ModelIdentity, player: Player) -> Self {
        Self { identity, player }
    }
}

impl Model for Replaying {
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let answer = self.player.answer(self.identity.for_recording(request));
        async move { Ok(answer.await?) }.boxed()
    }
}

/// A model that is asked only what no earlier run has asked it.
///
/// Each repeat, each sample and each occurrence of a request has an answer of its own. Errors, refusals and empty
/// answers are not kept. What comes from the cache says so, with the time that it took then and no attempts.
pub struct Cached {
    inner: Arc<dyn Model>,
    identity: ModelIdentity,
    cache: Arc<Cache>,
}

impl Cached {
    /// Asks `inner` what is not in the cache.
    pub fn new(inner: Arc<dyn Model>, identity: ModelIdentity, cache: Arc<Cache>) -> Self {
        Self { inner, identity, cache }
    }

    fn answered<'a>(
        &'a self,
        request: &'a Request,
        on_event: Option<OnEvent<'a>>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let slot = self.cache.slot(&self.identity.for_cache(request));
        async move {
            if let Some(kept) = self.cache.get::<Completion>(slot) {
                if let Some(on_event) = on_event.filter(|_| !kept.text.is_empty()) {
                    on_event(StreamEvent::Text(&kept.text));
                }
                return Ok(Completion { cached: true, attempts: 0, ..kept });
            }
            let completion = match on_event {
                Some(on_event) => self.inner.stream(request, on_event).await?,
                None => self.inner.complete(request).await?,
            };
            if is_worth_keeping(&completion) {
                self.cache.put(slot, &completion).await;
            }
            Ok(completion)
        }
        .boxed()
    }
}

impl Model for Cached {
    fn unsupported(&self, decoding: &Decoding) -> Option<String> {
        self.inner.unsupported(decoding)
    }

    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.answered(request, None)
    }

    fn stream<'a>(
        &'a self,
        request: &'a Request,
        on_event: OnEvent<'a>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.answered(request, Some(on_event))
    }
}

/// Neither empty (nothing was said, or the length went on thoughts that are not shown) nor withheld by a filter.
fn is_worth_keeping(completion: &Completion) -> bool {
    let withheld = matches!(completion.finish_reason.as_deref(), Some("content_filter" | "refusal"));
    !withheld && !completion.text.trim().is_empty()
}

#[cfg(test)]
mod tests;
