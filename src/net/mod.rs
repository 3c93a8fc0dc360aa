//! The one user of HTTP: timeouts, retry, rate limit, size caps, redaction.
//!
//! A [`Client`] carries out one logical request and answers with whatever status came last; what a status means is
//! for the caller to say. A [`NetError`] is left for requests that brought no complete answer at all.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | settings, the client, its loop of attempts |
//! | `exchange` | one attempt: redirects, the body under its cap |
//! | [`download`] | a large body into a sink, taken up again where it broke off |
//! | `error` | why there is no answer, and what to do about it |
//! | [`retry`] | which attempts are worth another, and when: pure |
//! | `rate` | requests a minute, requests at once, none while the server wants none |
//! | `hold` | how long the server wants none: pure |
//! | [`redact`] | texts and addresses without secrets |

mod client;
pub mod download;
mod error;
mod exchange;
mod hold;
mod rate;
pub mod redact;
pub mod retry;
#[cfg(test)]
pub(crate) mod testing;

pub use client::{Accept, Answer, Client, ClientSettings};
pub use error::NetError;
pub use retry::RetrySettings;
