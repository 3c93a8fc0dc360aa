//! Why a request has to wait, and pauses that a server asks for. Times are since the limiter's start.

use crate::net::retry::FOREVER;
use crate::types::WaitReason;
use std::time::Duration;

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

/// A time in which nothing can be sent to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Its whole length, and what is left of it.
    pub whole: Duration,
    pub left: Duration,
    pub why: WaitReason,
}

/// One wait, from its beginning to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) why: WaitReason,
}

impl Span {
    /// As it is seen at this time, unless it is over.
    pub(super) fn at(self, now: Duration) -> Option<Waiting> {
        let left = self.until.saturating_sub(now);
        let whole = self.until.saturating_sub(self.from);
        (!left.is_zero()).then_some(Waiting { whole, left, why: self.why })
    }
}

/// The pause that a server asked for; of several, the one that ends last.
#[derive(Debug, Default)]
pub(super) struct Pause {
    from: Duration,
    until: Duration,
    /// The status, if the pause is longer than requests wait for.
    refuses: Option<u16>,
}

impl Pause {
    /// Extends the pause to `wait` after `now`.
    pub(super) fn extend(&mut self, now: Duration, wait: Duration, status: u16, max_wait: Duration) {
        let until = now.saturating_add(wait.min(FOREVER));
        if until > self.until {
            // No request waits for the end of a pause that was too long.
            let already = self.refuses.filter(|_| now < self.until);
            (self.from, self.until) = (now, until);
            self.refuses = already.or((wait > max_wait).then_some(status));
        }
    }

    /// The pause as it is waited for.
    pub(super) fn span(&self) -> Option<Span> {
        self.refuses.is_none().then_some(Span { from: self.from, until: self.until, why: WaitReason::Asked })
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
