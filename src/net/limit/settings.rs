//! What a limiter is told when it is made.

use std::num::NonZeroU32;

/// How a [`Limiter`](super::Limiter) behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The first limit, at least 1.
    pub initial: usize,
    /// The largest limit, at least `initial`.
    pub max: usize,
    /// A limit that never changes, in place of the two above; 0 counts as 1. After a refusal its places are used at once.
    /// Pauses and the limits per minute hold nevertheless.
    pub fixed: Option<usize>,
    /// Whether the `Retry-After` of one answer pauses all requests. A site asks its visitor to wait. A model's server often
    /// refuses one request of many; then only the place of that request stays empty for as long.
    pub pause_all: bool,
    /// The most requests that are sent in any 60 s, retries included.
    pub requests_per_minute: Option<NonZeroU32>,
    /// The most tokens of the requests that are sent in 60 s, prompt and answer together: estimated first, corrected when
    /// the server has counted. A minute can exceed it by the last request in it.
    pub tokens_per_minute: Option<NonZeroU32>,
}

impl Default for Settings {
    /// From 1 to 100, no limits per minute; a `Retry-After` concerns one request only.
    fn default() -> Self {
        // One: a server with a single slot may take half the timeout for an answer, and nothing is known yet.
        Self { initial: 1, max: 100, fixed: None, pause_all: false, requests_per_minute: None, tokens_per_minute: None }
    }
}

impl Settings {
    /// A limit that never changes.
    pub fn fixed(places: usize) -> Self {
        Self { fixed: Some(places), ..Self::default() }
    }

    /// A limit that begins at `initial` and grows up to `max`.
    pub fn up_to(initial: usize, max: usize) -> Self {
        Self { initial, max, ..Self::default() }
    }

    /// For Wikipedia: one request after the other, which is how Wikimedia asks to be asked, and fewer than the 200 a minute
    /// that identified clients may send (2026).
    pub fn wikipedia() -> Self {
        Self { pause_all: true, requests_per_minute: NonZeroU32::new(180), ..Self::up_to(1, 1) }
    }
}
