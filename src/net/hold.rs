//! A server's wish not to be asked for a while. Nothing here sleeps: a wait is a question about two times.

use super::retry::LONGEST_RETRY_AFTER;
use std::time::{Duration, Instant};

/// Longer than any run; what a wish beyond all calendars comes to.
const FOREVER: Duration = Duration::from_hours(24 * 365);

/// The wish of one server, for all requests to it. The furthest one counts.
#[derive(Debug, Default)]
pub(super) struct Hold {
    until: Option<Instant>,
    refuses: Option<u16>,
}

/// What a request has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// Go ahead.
    Nothing,
    /// Wait for this time.
    Wait(Duration),
    /// Give up: the server asked for longer than requests wait.
    Refused {
        /// The status with which it asked.
        status: u16,
        /// How long its wish still lasts.
        left: Duration,
    },
}

impl Hold {
    /// At `now` the server asks for `wait`, with this status.
    pub(super) fn extend(&mut self, now: Instant, wait: Duration, status: u16) {
        let until = now.checked_add(wait.min(FOREVER));
        if until > self.until {
            // A wish that is too long stays so until it has passed: no request waits for its end.
            let held = match self.left(now) {
                Left::Refused { status, .. } => Some(status),
                Left::Nothing | Left::Wait(_) => None,
            };
            self.until = until;
            self.refuses = held.or((wait > LONGEST_RETRY_AFTER).then_some(status));
        }
    }

    /// What a request has to do at `now`.
    pub(super) fn left(&self, now: Instant) -> Left {
        let left = self.until.map(|until| until.saturating_duration_since(now)).unwrap_or_default();
        match self.refuses {
            _ if left.is_zero() => Left::Nothing,
            Some(status) => Left::Refused { status, left },
            None => Left::Wait(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Hold, LONGEST_RETRY_AFTER, Left};
    use std::time::{Duration, Instant};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_furthest_wish_counts_until_it_has_passed() {
        let start = Instant::now();
        let mut hold = Hold::default();
        assert_eq!(hold.left(start), Left::Nothing);
        hold.extend(start, 3 * SECOND, 429);
        hold.extend(start + SECOND, SECOND, 503);
        assert_eq!(hold.left(start), Left::Wait(3 * SECOND));
        assert_eq!(hold.left(start + 2 * SECOND), Left::Wait(SECOND));
        assert_eq!(hold.left(start + 3 * SECOND), Left::Nothing);
        hold.extend(start + 9 * SECOND, Duration::ZERO, 429);
        assert_eq!(hold.left(start + 9 * SECOND), Left::Nothing);
    }

    #[test]
    fn too_long_a_wish_refuses_to_its_very_end() {
        let start = Instant::now();
        let mut hold = Hold::default();
        hold.extend(start, LONGEST_RETRY_AFTER, 503);
        assert_eq!(hold.left(start), Left::Wait(LONGEST_RETRY_AFTER));
        hold.extend(start, LONGEST_RETRY_AFTER + SECOND, 429);
        let last = start + LONGEST_RETRY_AFTER;
        assert_eq!(hold.left(last), Left::Refused { status: 429, left: SECOND });
        hold.extend(last, 2 * SECOND, 503);
        assert_eq!(hold.left(last), Left::Refused { status: 429, left: 2 * SECOND });
        assert_eq!(hold.left(last + 2 * SECOND), Left::Nothing);
        hold.extend(last + 3 * SECOND, SECOND, 503);
        assert_eq!(hold.left(last + 3 * SECOND), Left::Wait(SECOND));
        hold.extend(start, Duration::MAX, 429);
        assert!(matches!(hold.left(last), Left::Refused { status: 429, .. }));
    }
}
