//! The one user of HTTP: timeouts, retry, rate limit, size caps, redaction.
//!
//! A [`Client`] carries out a logical request, with retries, and returns the last answer with any status. A [`NetError`]
//! means that there was no complete answer. In reading order:
//!
//! | file | what it holds |
//! |---|---|
//! | `client` | the client, its settings, retry loop and memory budget; one attempt with its redirects; how callers take an answer |
//! | `events` | a parser of server-sent events |
//! | [`retry`] | whether to retry, when, and how long a server asks to wait |
//! | [`limit`] | when a request may be sent: how many at once and per minute, and pauses |
//! | `balance` | which of several servers gets the next request |
//! | [`download`] | large bodies, resumed after a broken connection |
//! | `error` | why there is no answer, with hints; which hosts are on a private network |
//! | `server` | the listener of servers, its guard against foreign hosts, replies |
//! | [`redact`] | removing secrets from texts, URLs, answers and errors |
//! | [`recording`] | recordings of requests and answers, and the cache on disk |
//!
//! `models` and `wikipedia` send their requests here, each through the limiter of its server; `dataset fetch` and `corpus build`
//! download.

mod balance;
mod client;
pub mod download;
mod error;
mod events;
pub mod limit;
pub mod recording;
pub mod redact;
pub mod retry;
#[cfg(feature = "serve")]
pub(crate) mod server;
#[cfg(test)]
pub(crate) mod testing;

pub use balance::Balance;
pub use client::{Answer, Client, ClientSettings, Credential, Heard, Keep, Listener, MemoryBudget, MemoryPermit};
pub use error::NetError;
pub(crate) use error::is_private;
pub(crate) use events::Events;
pub use redact::SecretSet;
pub use retry::RetrySettings;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};

/// What a path has as it is.
const IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A text as a path of an address has it.
pub(crate) fn escaped_path(text: &str) -> PercentEncode<'_> {
    utf8_percent_encode(text, IN_PATH)
}
