//! Models: a [`Request`] goes in, a [`Completion`] comes out, whatever stands behind it.
//!
//! | model | what it is |
//! |---|---|
//! | [`baseline`] | rules in this process: no key, no network, the same answer every time |
//! | [`openai`] | any server that speaks `OpenAI`'s HTTP interface, by chat or by text completion |
//! | [`anthropic`] | Anthropic's Messages |
//! | [`gemini`] | Gemini's `generateContent` |
//! | [`recorded`] | any of these with a tape in front: recorded, replayed, or answered from a cache |
//! | [`budget`] | any of these while a budget lasts; [`prices`] says what tokens cost |
//!
//! What those behind servers have in common stands in `remote`, what is known of servers in [`capability`].

use crate::types::{Completion, Decoding, Request};
use futures_util::FutureExt as _;
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
mod stop;

/// Who asks, for tapes and caches: an agent says it once for all that its episode asks of model and tool.
pub use crate::tape::{in_episode, in_sample};
pub use baseline::{Baseline, BaselineSettings};
pub use budget::{Budget, BudgetKind, Budgeted, Limits, Spent};
pub use error::ModelError;
pub use openai::{Endpoint, OpenAiSettings};
pub use prices::{Price, PriceEntry, Prices};
pub use recorded::ModelIdentity;
pub use remote::{Check, Remote, RemoteSettings, Verdict, shown_urls};
pub use stop::cut as cut_at_stop;

/// What is shown of a completion while it comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent<'a> {
    /// The next piece of the text; never empty.
    Text(&'a str),
    /// The attempt broke off and is made again: what was shown is void, and the text begins anew.
    Restarted,
}

/// Is called with each piece of a completion.
pub type OnEvent<'a> = &'a (dyn Fn(StreamEvent<'_>) + Send + Sync);

/// Something that answers requests.
pub trait Model: Send + Sync {
    /// Answers one request. The text is cut before the first stop, whatever the server did.
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>>;

    /// Says in words why the model cannot be asked with these settings, if so: every request would fail.
    fn unsupported(&self, _decoding: &Decoding) -> Option<String> {
        None
    }

    /// [`Model::complete`] that shows the text as it comes. When it succeeds, the pieces since the last
    /// [`StreamEvent::Restarted`] are the completion's text; when it fails, whatever was shown is void.
    fn stream<'a>(
        &'a self,
        request: &'a Request,
        on_event: OnEvent<'a>,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        let shown = |completion: &Completion| {
            if !completion.text.is_empty() {
                on_event(StreamEvent::Text(&completion.text));
            }
        };
        async move { self.complete(request).await.inspect(shown) }.boxed()
    }
}
