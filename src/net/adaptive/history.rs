//! What a controller decided, for the record.

use std::time::Duration;

/// Changes that are kept; the rest are counted.
pub const LONGEST_HISTORY: usize = 1000;

/// Why a limit is what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A round went well, and the server has refused nothing so far.
    SlowStart,
    /// A round went well.
    SteadyGrowth,
    /// The server refused a request. At the smallest limit, and at a fixed one, the limit stays.
    RateLimit,
    /// The time after a refusal is over: the limit stays, and may grow and fall again.
    CooldownEnd,
}

impl Reason {
    /// The name in the record.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SlowStart => "slow_start",
            Self::SteadyGrowth => "steady_growth",
            Self::RateLimit => "rate_limit",
            Self::CooldownEnd => "cooldown_end",
        }
    }
}

/// One decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// Time since the controller's start.
    pub at: Duration,
    /// The limit before.
    pub from: usize,
    /// The limit from here on.
    pub to: usize,
    /// Why.
    pub reason: Reason,
}

/// The decisions in their order, the first [`LONGEST_HISTORY`] of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    changes: Vec<Change>,
    dropped: u64,
}

impl History {
    /// The decisions that are kept. The times never decrease.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// How many more there were after these.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(super) fn push(&mut self, change: Change) {
        if self.changes.len() < LONGEST_HISTORY {
            self.changes.push(change);
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, History, LONGEST_HISTORY, Reason};
    use std::time::Duration;

    #[test]
    fn the_first_changes_are_kept_and_the_rest_counted() {
        let mut history = History::default();
        for to in 0..LONGEST_HISTORY + 7 {
            history.push(Change { at: Duration::ZERO, from: 0, to, reason: Reason::SteadyGrowth });
        }
        assert_eq!((history.changes().len(), history.dropped()), (LONGEST_HISTORY, 7));
        assert_eq!(history.changes().last().map(|change| change.to), Some(LONGEST_HISTORY - 1));
    }
}
