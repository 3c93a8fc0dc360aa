//! The settings of a limiter.

use crate::net::retry::DEFAULT_MAX_WAIT;
use std::num::NonZeroU32;
use std::time::Duration;

/// How a [`Limiter`](super::Limiter) behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The first limit, at least 1.
    pub initial: usize,
    /// The largest limit, at least `initial`.
    pub max: usize,
    /// A limit that never changes, instead of the two above; 0 counts as 1. A refused request's place is reused at once;
    /// pauses and the limits per minute apply.
    pub fixed: Option<usize>,
    /// Whether a `Retry-After` pauses all requests, as for sites. Otherwise only the place of the refused request stays
    /// empty that long, as model servers often refuse one request of many.
    pub pause_all: bool,
    /// Maximum number of requests in any 60 s, including retries.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Maximum tokens in any 60 s, of prompts and answers: estimated, then corrected by the server's count. The last
    /// request of a minute may exceed it.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Longest wait that a server may ask for; after a longer one nothing is sent until it has passed.
    pub max_wait: Duration,
}

impl Default for Settings {
    /// From 1 to 100, no limits per minute; a `Retry-After` applies to one request only, and may be 10 minutes.
    fn default() -> Self {
        // A server with a single slot may take half the timeout per answer.
        Self {
            initial: 1,
            max: 100,
            fixed: None,
            pause_all: false,
            requests_per_minute: None,
            tokens_per_minute: None,
            max_wait: DEFAULT_MAX_WAIT,
        }
    }
}

impl Settings {
    /// A limit that never changes.
    pub fn fixed(places: usize) -> Self {
        Self { fixed: Some(places), ..Self::default() }
    }

    /// A limit that starts at `initial` and grows up to `max`.
    pub fn up_to(initial: usize, max: usize) -> Self {
        Self { initial, max, ..Self::default() }
    }

    /// For Wikipedia: one request at a time, as Wikimedia asks, and fewer than the 200 per minute that identified clients
    /// may send (2026).
    pub fn wikipedia() -> Self {
        Self { pause_all: true, requests_per_minute: NonZeroU32::new(180), ..Self::up_to(1, 1) }
    }
}
