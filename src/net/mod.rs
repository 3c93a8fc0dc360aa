//! The one user of HTTP: timeouts, retry, rate limit, size caps, redaction.
//!
//! A [`Client`] carries out a logical request, with retries, and returns the last answer with any status. A [`NetError`]
//! means that there was no complete answer.
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | the client, its settings and retry loop |
//! | [`limit`] | when a request may be sent: how many at once and per minute, and pauses |
//! | `balance` | which of several servers gets the next request |
//! | `exchange` | one attempt: redirects, the body up to its limit |
//! | `listen` | how callers take an answer: whole, or event by event |
//! | `events` | a parser of server-sent events |
//! | [`download`] | large bodies, resumed after a broken connection |
//! | `asked` | how long a server asks to wait |
//! | `error` | why there is no answer, with hints |
//! | [`retry`] | whether to retry, and when |
//! | [`redact`] | removing secrets from texts and URLs |
//! | `room` | a memory budget for large answers |
//! | `secrets` | masking secrets in answers and errors |

mod asked;
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
mod room;
mod secrets;
#[cfg(test)]
pub(crate) mod testing;

pub use balance::Balance;
pub use client::{Answer, Client, ClientSettings, Credential};
pub use error::NetError;
pub(crate) use events::Events;
pub use listen::{Heard, Keep, Listener};
pub use retry::RetrySettings;
pub use room::{MemoryBudget, MemoryPermit};
pub use secrets::SecretSet;
