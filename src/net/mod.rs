//! The one user of HTTP: timeouts, retry, rate limit, size caps, redaction.
//!
//! A [`Client`] carries out one logical request and answers with whatever status came last; what a status means is
//! for the caller to say. A [`NetError`] is left for requests that brought no complete answer at all.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | settings, the client, its loop of attempts |
//! | [`limit`] | when a request may be sent: how many at once, how many a minute, none in a pause |
//! | `balance` | which of several servers is asked next |
//! | `exchange` | one attempt: redirects, the body under its cap |
//! | `listen` | who takes an answer: whole, or event by event |
//! | `events` | server-sent events out of pieces: pure |
//! | [`download`] | a large body into a sink, taken up again where it broke off |
//! | `error` | why there is no answer, and what to do about it |
//! | [`retry`] | which attempts are worth another, and when: pure |
//! | [`redact`] | texts and addresses without secrets |
//! | `secrets` | secrets that are masked in what a server says |

mod balance;
mod client;
pub mod download;
mod error;
mod events;
mod exchange;
pub mod limit;
mod listen;
pub mod redact;
pub mod retry;
mod secrets;
#[cfg(test)]
pub(crate) mod testing;

pub use balance::Balance;
pub use client::{Accept, Answer, Client, ClientSettings, Credential};
pub use error::NetError;
pub(crate) use events::Events;
pub use listen::{Heard, Listener};
pub use retry::RetrySettings;
pub use secrets::SecretSet;
