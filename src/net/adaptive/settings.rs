//! What a controller is told beforehand.

use crate::net::retry::LONGEST_RETRY_AFTER;
use std::num::NonZeroU32;
use std::time::Duration;

/// How a [`Controller`](super::Controller) behaves. Values that contradict each other are put right when it is made: the
/// smallest limit is at least 1, the largest at least the smallest, and the first lies between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The limit at the beginning.
    pub initial: usize,
    /// The limit is never lower.
    pub min: usize,
    /// The limit is never higher.
    pub max: usize,
    /// A number that stays as it is, in place of the three above; 0 is read as 1. No place of it stays empty after a
    /// refusal. What binds all requests and what a minute allows hold even so.
    pub fixed: Option<usize>,
    /// How much of the limit is left after a refusal, in percent; 100 and more are read as 99.
    pub keep_percent: usize,
    /// What a round adds to the limit once a server has refused, in percent of it; at least 1 request.
    pub growth_percent: usize,
    /// How long after a lowering the limit neither falls again nor grows.
    pub cooldown: Duration,
    /// How long the place of a refused request stays empty where the server names no time. Without it, the places beyond
    /// what the server takes would be filled, refused and filled again as fast as it answers, for a whole cooldown.
    pub penalty: Duration,
    /// Whether a `Retry-After` that one request is given binds all of them. A site asks its visitor to wait; a model's server
    /// often turns away single requests of many: then only the places of these stay empty for that long.
    pub hold_all: bool,
    /// The longest `Retry-After` that requests wait for; one beyond it turns them away until it has passed.
    pub longest_pause: Duration,
    /// Requests that may begin in any 60 s.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Tokens that requests which begin in any 60 s may use, prompt and answer together. Counted by the estimate until the
    /// answer is there.
    pub tokens_per_minute: Option<NonZeroU32>,
}

impl Default for Settings {
    /// From 20 between 1 and 100, four fifths kept, a twentieth added, 15 s of cooldown, no limits a minute; a `Retry-After`
    /// binds the refused request alone.
    ///
    /// Other programs never go below 10, to keep a provider's prompt cache warm. A key that is allowed three requests at
    /// once would then be refused without end, and a refused request warms nothing.
    fn default() -> Self {
        Self {
            initial: 20,
            min: 1,
            max: 100,
            fixed: None,
            keep_percent: 80,
            growth_percent: 5,
            cooldown: Duration::from_secs(15),
            penalty: Duration::from_secs(1),
            hold_all: false,
            longest_pause: LONGEST_RETRY_AFTER,
            requests_per_minute: None,
            tokens_per_minute: None,
        }
    }
}

impl Settings {
    /// A number that does not adapt.
    pub fn fixed(places: usize) -> Self {
        Self { fixed: Some(places), ..Self::default() }
    }

    /// A number up to `most` that begins at `initial`.
    pub fn up_to(initial: usize, most: usize) -> Self {
        Self { initial, max: most, ..Self::default() }
    }

    /// For a site that answers one request after the other, which is how Wikimedia asks to be asked, and a minute's share
    /// below the 200 that identified clients are allowed (2026).
    pub fn wikipedia() -> Self {
        Self { hold_all: true, requests_per_minute: NonZeroU32::new(180), ..Self::up_to(1, 1) }
    }

    /// The bounds of the limit and its first value.
    pub(super) fn bounds(&self) -> (usize, usize, usize) {
        if let Some(fixed) = self.fixed {
            let fixed = fixed.max(1);
            return (fixed, fixed, fixed);
        }
        let min = self.min.max(1);
        let max = self.max.max(min);
        (min, self.initial.clamp(min, max), max)
    }
}
