//! Models: a [`Request`] goes in, a [`Completion`] comes out, whatever stands behind it.
//!
//! | model | what it is |
//! |---|---|
//! | [`baseline`] | rules in this process: no key, no network, the same answer every time |
//! | [`openai`] | any server that speaks `OpenAI`'s HTTP interface, by chat or by text completion |

use crate::types::{Completion, Request};
use futures_util::future::BoxFuture;

pub mod baseline;
mod error;
pub mod openai;
mod stop;

pub use baseline::{Baseline, BaselineSettings};
pub use error::ModelError;
pub use openai::{Endpoint, OpenAi, OpenAiSettings};
pub use stop::cut as cut_at_stop;

/// Something that answers requests.
pub trait Model: Send + Sync {
    /// Answers one request. The text is cut before the first stop, whatever the server did.
    fn complete<'a>(&'a self, request: &'a Request) -> BoxFuture<'a, Result<Completion, ModelError>>;
}
