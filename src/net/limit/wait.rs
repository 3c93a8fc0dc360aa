//! Why a request has to wait, and pauses that a server asks for. Times are since the limiter's start.

use crate::net::retry::LONGEST_RETRY_AFTER;
use std::time::Duration;

/// Longest pause, longer than any run.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// Why a request cannot be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// The limit is reached: try again when a request has ended.
    Full,
    /// Try again at this time, or when a request has ended.
    Until(Duration),
    /// Do not wait.
    HeldOff(HeldOff),
}

/// The server asked for a longer pause than requests wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server asked with status {status} for no further requests for {} s", .left.as_secs_f64().ceil())]
pub struct HeldOff {
    pub status: u16,
    pub left: Duration,
}

/// The pause that a server asked for; of several, the one that ends last.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Duration,
    /// The status, if the pause is longer than requests wait for.
    refuses: Option<u16>,
}

impl Pause {
    /// Extends the pause to `wait` after `now`.
    pub(super) fn extend(&mut self, now: Duration, wait: Duration, status: u16) {
        let until = now.saturating_add(wait.min(FOREVER));
        if until > self.until {
            // No request waits for the end of a pause that was too long.
            let already = self.refuses.filter(|_| now < self.until);
            self.until = until;
            self.refuses = already.or((wait > LONGEST_RETRY_AFTER).then_some(status));
        }
    }

    /// Whether a request may be sent at `now`.
    pub(super) fn check(&self, now: Duration) -> Result<(), Wait> {
        let left = self.until.saturating_sub(now);
        match self.refuses {
            _ if left.is_zero() => Ok(()),
            Some(status) => Err(Wait::HeldOff(HeldOff { status, left })),
            None => Err(Wait::Until(self.until)),
        }
    }
}
