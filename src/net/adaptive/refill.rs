//! How many free places are filled: one by one.
//!
//! In a pause the requests that are under way end, and all places come free; a doubled limit frees half of its places at
//! once. Were they filled at one moment, the server would see many times the rate that it took before, refuse most of
//! it, and ask for the next pause: requests that come in step stay in step. So the first ones keep the distance that they
//! have when all runs smoothly: the time of an answer, divided by the limit.

use super::controller::Wait;
use std::time::Duration;

/// The longest time over which places are filled, however slow the answers are.
const LONGEST: Duration = Duration::from_secs(15);

/// The way to a limit that is far above what is under way.
#[derive(Debug, Default)]
pub(super) struct Refill {
    /// How long answers take: each new one counts a fifth.
    usual: Option<Duration>,
    /// Requests that still keep their distance.
    left: usize,
    gap: Duration,
    next: Duration,
}

impl Refill {
    /// A good answer took so long.
    pub(super) fn learn(&mut self, took: Duration) {
        self.usual = Some(self.usual.map_or(took, |usual| usual / 5 * 4 + took / 5));
    }

    /// The next requests, as many as the `limit`, keep their distance.
    pub(super) fn start(&mut self, limit: usize) {
        let over = self.usual.unwrap_or(Duration::from_secs(1)).min(LONGEST);
        self.left = limit;
        self.gap = over / u32::try_from(limit).unwrap_or(u32::MAX).max(1);
    }

    /// Whether a request may begin at `now`.
    pub(super) fn check(&self, now: Duration) -> Result<(), Wait> {
        if self.left > 0 && self.next > now { Err(Wait::Until(self.next)) } else { Ok(()) }
    }

    /// A request began at `now`.
    pub(super) fn begun(&mut self, now: Duration) {
        self.left = self.left.saturating_sub(1);
        self.next = now.saturating_add(self.gap);
    }
}
