//! When a request may be sent: limits at once and per minute, and pauses that the server asks for.
//!
//! | name | what it is |
//! |---|---|
//! | [`Limiter`] | the queue of all requests to one server with one key, which is how providers count ([`Limiters`]) |
//! | [`Permit`] | the right to send one attempt, held until it ends but not while it waits to be retried |
//! | limit | the number of permits at once: fixed, or learned from the answers (`concurrency`) |
//! | round | as many good answers as the limit, at least 4 or 12, to requests sent after the round started |
//! | trial | a round at another limit, for comparison |
//! | [`Outcome`] | how an attempt ended |
//! | [`History`] | the changes of the limit, kept in a run's manifest as `limit_history` |
//!
//! The limit follows the answers (additive increase, multiplicative decrease):
//!
//! | event | what happens to the limit |
//! |---|---|
//! | a full round at the limit, no failure in it | it doubles; after a decrease it grows by 1, 2, 4, … |
//! | a larger limit made answers slower without bringing more | it returns to the smaller one, and tries again after 1, 2, up to 16 rounds; a smaller one is tried as well |
//! | a larger limit could make a queueing server exceed the timeout | it grows less, or not at all |
//! | 429, 503, 529 | three quarters remain |
//! | a timeout, or an answer that suddenly takes most of the timeout | half remains |
//! | another 5xx, a broken connection | it does not grow in this round |
//!
//! A server that queues silently (llama.cpp, Ollama, vLLM) never answers 429; the second row detects it, as twice the
//! requests take twice the time each. Cached answers do not count.

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
pub use limiter::{Activity, Limiter, Outcome, Permit};
pub use limiters::Limiters;
pub use settings::Settings;
pub use wait::{HeldOff, Waiting};
