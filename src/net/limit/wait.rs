//! Why a request has to wait, and the pause that a server asks for. Times are since the limiter was made.

use crate::net::retry::LONGEST_RETRY_AFTER;
use std::time::Duration;

/// Longer than any run: what an absurd `Retry-After` is cut to.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// Why a request cannot be sent now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// All places are taken: ask again when a request has ended.
    Full,
    /// Ask again at this time, which lies ahead, or when a request has ended.
    Until(Duration),
    /// Do not wait.
    HeldOff(HeldOff),
}

/// The server asked for a longer pause than requests wait for, and it is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server asked with status {status} for a pause of {} s more", .left.as_secs_f64().ceil())]
pub struct HeldOff {
    /// The status with which it asked.
    pub status: u16,
    /// How much of the pause is left.
    pub left: Duration,
}

/// The pause that one server asked for. Of several, the one that ends last counts.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Duration,
    /// The status with which the server asked for more than requests wait for.
    refuses: Option<u16>,
}

impl Pause {
    /// At `now` the server asks for a pause of `wait` with this status.
    pub(super) fn extend(&mut self, now: Duration, wait: Duration, status: u16) {
        let until = now.saturating_add(wait.min(FOREVER));
        if until > self.until {
            // A pause that is too long stays so to its end: no request waits for it.
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
