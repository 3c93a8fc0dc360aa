//! A server's wish not to be asked for a while, in times since the start.

use super::controller::Wait;
use std::time::Duration;

/// Longer than any run; what a wish beyond all calendars comes to.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The server asked for a longer wait than requests take on, and it is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the server asked with status {status} not to be asked again, for {} s more", .left.as_secs_f64().ceil())]
pub struct HeldOff {
    /// The status with which it asked: 429, or 503 for any server error.
    pub status: u16,
    /// How long its wish still lasts.
    pub left: Duration,
}

/// The wish of one server. The furthest one counts.
#[derive(Debug, Default)]
pub(super) struct Pause {
    until: Duration,
    refuses: Option<u16>,
}

impl Pause {
    /// At `now` the server asks for `wait` with this status; waits up to `longest` are taken on.
    pub(super) fn extend(&mut self, now: Duration, wait: Duration, status: u16, longest: Duration) {
        let until = now.saturating_add(wait.min(FOREVER));
        if until > self.until {
            // A wish that is too long stays so until it has passed: no request waits for its end.
            let held = self.refuses.filter(|_| now < self.until);
            self.until = until;
            self.refuses = held.or((wait > longest).then_some(status));
        }
    }

    /// The end of the furthest wish so far.
    pub(super) fn until(&self) -> Duration {
        self.until
    }

    /// Whether something may begin at `now`.
    pub(super) fn check(&self, now: Duration) -> Result<(), Wait> {
        let left = self.until.saturating_sub(now);
        match self.refuses {
            _ if left.is_zero() => Ok(()),
            Some(status) => Err(Wait::HeldOff(HeldOff { status, left })),
            None => Err(Wait::Until(self.until)),
        }
    }
}
