//! When a request may be sent: how many at once, how many a minute, none while the server asks for a pause.
//!
//! | name | what it is |
//! |---|---|
//! | [`Limiter`] | where all requests to one server with one key wait; one limiter for each ([`Limiters`]), since that is what providers count by |
//! | [`Permit`] | the right to send one attempt. It takes up one place until it ends or is dropped; a request that waits to be retried holds none |
//! | limit | how many permits there are at once: fixed, or learned from the answers (`concurrency`) |
//! | round | as many good answers as the limit, at least 4 or 12, to requests that were sent after the round began |
//! | trial | a round at another limit, to compare it with the present one |
//! | [`Outcome`] | how an attempt ended, as far as it matters here |
//! | [`History`] | the changes of the limit, kept in a run's manifest as `limit_history` |
//!
//! The limit follows the answers (additive increase, multiplicative decrease):
//!
//! | event | what happens to the limit |
//! |---|---|
//! | a full round at the limit, no failure in it | it doubles; after a decrease it grows by 1, 2, 4 and so on |
//! | a larger limit made answers slower without bringing more of them | it returns to the smaller one, and tries again after 1 round, then 2, up to 16; a smaller one is tried as well |
//! | a larger limit could make a server that queues exceed the timeout | it grows less, or not at all |
//! | 429, 503, 529 | three quarters remain |
//! | a timeout, or an answer that suddenly takes most of the timeout | half remains |
//! | another 5xx, a broken connection | it does not grow in this round |
//!
//! A server that queues silently (llama.cpp, Ollama, vLLM) never answers 429. It shows in the second row: twice the
//! requests, twice the time for each. An answer from a cache never comes here.

mod concurrency;
mod history;
mod limiter;
mod limiters;
mod rate;
mod settings;
#[cfg(test)]
mod simulation;
mod wait;

pub use history::{Change, History, MAX_CHANGES, Reason};
pub use limiter::{Limiter, Outcome, Permit};
pub use limiters::Limiters;
pub use settings::Settings;
pub use wait::HeldOff;
