//! The changes of a limit, for the record.

use std::time::Duration;

/// Number of changes kept; later ones are only counted.
pub const MAX_CHANGES: usize = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A larger limit is tried, or a better one restored.
    Growth,
    /// A larger limit made answers slower without bringing more.
    NoGain,
    /// A smaller limit is tried.
    SmallerTrial,
    /// Status 429.
    RateLimit,
    /// Status 503 or 529.
    Overload,
    /// A timeout, or an answer that suddenly took most of it.
    Timeout,
}

impl Reason {
    /// The name in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Growth => "growth",
            Self::NoGain => "no_gain",
            Self::SmallerTrial => "smaller_trial",
            Self::RateLimit => "rate_limit",
            Self::Overload => "overload",
            Self::Timeout => "timeout",
        }
    }
}

/// One change of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Time since the limiter was made.
    pub at: Duration,
    pub from: usize,
    pub to: usize,
    pub reason: Reason,
}

/// The first [`MAX_CHANGES`] changes of a limit, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    changes: Vec<Change>,
    dropped: u64,
}

impl History {
    /// The kept changes, in order of time.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// The number of later changes.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn push(&mut self, change: Change) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Duration, History, MAX_CHANGES, Reason};

    #[test]
    fn the_first_changes_are_kept_and_the_rest_counted() {
        let mut history = History::default();
        for to in 0..MAX_CHANGES + 7 {
            history.push(Change { at: Duration::ZERO, from: 0, to, reason: Reason::Growth });
        }
        assert_eq!((history.changes().len(), history.dropped()), (MAX_CHANGES, 7));
        assert_eq!(history.changes().last().map(|change| change.to), Some(MAX_CHANGES - 1));
    }
}
