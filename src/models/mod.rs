//! Models: a [`Request`] goes in, a [`Completion`] comes out, whatever produces it.
//!
//! | module | what it is |
//! |---|---|
//! | [`baseline`] | rules in this process: no key, no network, the same answer every time |
//! | [`openai`] | any server with an `OpenAI`-compatible HTTP API, by chat or by text completion |
//! | [`anthropic`] | Anthropic's Messages API |
//! | [`gemini`] | Gemini's `generateContent` API |
//! | [`recorded`] | a wrapper that records the answers of a model, replays them, or caches them |
//! | `scripted` | the providers' APIs as other programs call them; a script behind each, for looking at how a program asks |
//! | [`budget`] | a wrapper that stops when a budget is spent; [`prices`] says what tokens cost |
//!
//! What all providers share is in `remote`; what is known about particular servers is in [`capability`].

use crate::base::{Completion, Decoding, Request};
use futures_util::future::BoxFuture;

pub mod anthropic;
pub mod baseline;
pub mod budget;
pub mod capability;
mod error;
pub mod gemini;
pub mod openai;
pub mod prices;
pub mod recorded;
mod remote;
#[cfg(feature = "serve")]
pub mod scripted;
#[cfg(test)]
mod tests;

/// Who asks, for recordings and caches: an agent sets it once for all requests of its episode.
pub use crate::net::recording::{in_episode, in_sample};
pub use baseline::{Baseline, BaselineSettings};
pub use budget::{Budget, Budgeted, Limits, Spent};
pub use error::{BudgetKind, ModelError, UNKNOWN_REASON_HINT, refused_setting};
pub use openai::{Endpoint, OpenAiSettings};
pub use prices::{Price, PriceEntry, Prices};
pub use recorded::ModelIdentity;
pub use remote::{Check, LearnedOptions, Remote, RemoteSettings, Verdict, shown_urls};
#[cfg(feature = "serve")]
pub use scripted::Api;

/// Why no request with some settings can succeed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    pub reason: String,
    pub hint: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent<'a> {
    /// The next piece of the text; never empty.
    Text(&'a str),
    /// The attempt failed and is retried: discard the text so far.
    Restarted,
}

pub type OnEvent<'a> = &'a (dyn Fn(StreamEvent<'_>) + Send + Sync);

pub type CompletionFuture<'a> = BoxFuture<'a, Result<Completion, ModelError>>;

pub trait Model: Send + Sync {
    /// Answers one request. The text ends before the first stop, whatever the server did. With `on_event` the text is
    /// reported as it arrives: on success, the pieces since the last [`StreamEvent::Restarted`] are the completion's text;
    /// on failure, discard them.
    fn complete<'a>(&'a self, request: &'a Request, on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a>;

    /// Why every request with these settings would fail, if so; `forced` where a function must be called.
    fn unsupported(&self, _decoding: &Decoding, _forced: bool) -> Option<Unsupported> {
        None
    }
}

/// Reports a whole text at once.
fn report(completion: &Completion, on_event: Option<OnEvent<'_>>) {
    if let Some(on_event) = on_event.filter(|_| !completion.text.is_empty()) {
        on_event(StreamEvent::Text(&completion.text));
    }
}

/// The length, in bytes, of `text` before the earliest occurrence of any stop; empty stops are ignored.
pub fn cut_at_stop<S: AsRef<str>>(text: &str, stops: &[S]) -> usize {
    let stops = stops.iter().map(AsRef::as_ref).filter(|stop: &&str| !stop.is_empty());
    stops.fold(text.len(), |end, stop| {
        // A stop may begin before `end` and extend beyond it, so search the whole text.
        text.find(stop).map_or(end, |at| at.min(end))
    })
}
