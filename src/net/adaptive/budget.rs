//! What may be spent in a minute, in requests or in tokens.
//!
//! Two rules at once. The *window* is the hard one: what begins within any 60 s costs no more than the cap, wherever these
//! 60 s are laid. The *bucket* spreads it, because many servers divide their minute further: it holds a tenth of the cap,
//! fills at the cap's rate, and may be overdrawn by a single large request, which the next ones then wait for.

use std::collections::VecDeque;
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);
/// The part of a minute's share that may begin at one moment, as a divisor.
const BURST: u64 = 10;

/// One minute's share, and what has been spent of it.
#[derive(Debug)]
pub(super) struct Budget {
    cap: u64,
    /// What has begun within the last minute, in order of time.
    spent: VecDeque<Spent>,
    /// The sum of `spent`.
    sum: u64,
    /// When the bucket will be full again.
    full_at: Duration,
}

#[derive(Debug)]
struct Spent {
    at: Duration,
    /// The request that began; `None` for what one cost beyond its estimate.
    serial: Option<u64>,
    amount: u64,
}

impl Budget {
    /// A share of `cap` in any 60 s.
    pub(super) fn new(cap: u64) -> Self {
        Self { cap, spent: VecDeque::new(), sum: 0, full_at: Duration::ZERO }
    }

    /// When something that costs `amount` may begin, `now` at the earliest. What costs more than a whole share is taken to
    /// cost just that: it begins alone, as the choice is only between this and never.
    pub(super) fn earliest(&mut self, now: Duration, amount: u64) -> Duration {
        self.forget(now);
        let amount = amount.min(self.cap);
        let burst = (self.cap / BURST).max(1);
        let filled = self.full_at.saturating_add(self.time(amount.min(burst))).saturating_sub(self.time(burst));
        filled.max(self.room_at(amount)).max(now)
    }

    /// Spends `amount` at `now` for the request `serial`.
    pub(super) fn spend(&mut self, now: Duration, serial: u64, amount: u64) {
        let amount = amount.min(self.cap);
        self.push(now, Some(serial), amount);
        self.full_at = self.full_at.max(now).saturating_add(self.time(amount));
    }

    /// At `now` it turns out that the request `serial`, for which `estimate` was spent, cost `actual`.
    ///
    /// What was spent too much is given back at the time when it was spent. What was spent too little is spent now: the
    /// server may count it at either time, and now is the later one.
    pub(super) fn correct(&mut self, now: Duration, serial: u64, estimate: u64, actual: u64) {
        self.forget(now);
        let (estimate, actual) = (estimate.min(self.cap), actual.min(self.cap));
        if actual > estimate {
            self.push(now, None, actual - estimate);
            // However wrong the estimates were, nothing waits longer than the window makes it wait.
            self.full_at =
                self.full_at.max(now).saturating_add(self.time(actual - estimate)).min(now.saturating_add(MINUTE));
        } else if let Some(spent) = self.spent.iter_mut().find(|spent| spent.serial == Some(serial)) {
            let back = (estimate - actual).min(spent.amount);
            spent.amount -= back;
            self.sum -= back;
            self.full_at = self.full_at.saturating_sub(self.time(back));
        }
    }

    fn push(&mut self, at: Duration, serial: Option<u64>, amount: u64) {
        self.spent.push_back(Spent { at, serial, amount });
        self.sum = self.sum.saturating_add(amount);
    }

    /// When the window has room for `amount`, which is at most the cap; a time in the past if it has room already.
    fn room_at(&self, amount: u64) -> Duration {
        let mut rest = self.sum;
        let mut at = Duration::ZERO;
        for spent in &self.spent {
            if rest <= self.cap - amount {
                break;
            }
            rest -= spent.amount;
            at = spent.at.saturating_add(MINUTE);
        }
        at
    }

    fn forget(&mut self, now: Duration) {
        while let Some(first) = self.spent.front()
            && first.at.saturating_add(MINUTE) <= now
        {
            self.sum -= first.amount;
            self.spent.pop_front();
        }
    }

    /// How long the bucket takes to fill by `amount`, which is at most the cap.
    fn time(&self, amount: u64) -> Duration {
        let nanos = MINUTE.as_nanos() * u128::from(amount) / u128::from(self.cap.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;
    use std::time::Duration;

    const SECOND: Duration = Duration::from_secs(1);

    /// Begins as many requests of `amount` as may begin until `end`; the times.
    fn greedy(budget: &mut Budget, amount: u64, end: Duration) -> Vec<Duration> {
        let (mut now, mut begun) = (Duration::ZERO, Vec::new());
        loop {
            let at = budget.earliest(now, amount);
            if at >= end {
                return begun;
            }
            now = at;
            budget.spend(now, begun.len() as u64, amount);
            begun.push(now);
        }
    }

    fn most_in_a_minute(begun: &[Duration]) -> usize {
        let within = |from: Duration| begun.iter().filter(|at| (from..from + 60 * SECOND).contains(*at)).count();
        begun.iter().map(|at| within(*at)).max().unwrap_or(0)
    }

    #[test]
    fn no_minute_exceeds_the_cap_and_none_is_wasted() {
        for cap in [1, 2, 7, 60, 999] {
            let begun = greedy(&mut Budget::new(cap), 1, 300 * SECOND);
            assert_eq!(most_in_a_minute(&begun) as u64, cap);
            assert_eq!(begun.len() as u64, 5 * cap, "five minutes of {cap}");
        }
    }

    #[test]
    fn a_tenth_begins_at_once_and_the_rest_is_spread() {
        let begun = greedy(&mut Budget::new(60), 1, 30 * SECOND);
        assert_eq!(begun.iter().filter(|at| at.is_zero()).count(), 6);
        assert_eq!(begun[6..], (1..30).map(|second| second * SECOND).collect::<Vec<_>>());
    }

    #[test]
    fn large_requests_overdraw_the_bucket_but_not_the_window() {
        let begun = greedy(&mut Budget::new(1000), 400, 200 * SECOND);
        assert_eq!(begun[..4], [0, 24, 60, 84].map(|second| second * SECOND));
        assert_eq!(most_in_a_minute(&begun), 2);
        // More than a whole share goes alone.
        assert_eq!(greedy(&mut Budget::new(1000), 5000, 200 * SECOND), [0, 60, 120, 180].map(|second| second * SECOND));
    }

    #[test]
    fn what_was_spent_too_much_comes_back() {
        let mut budget = Budget::new(100);
        budget.spend(Duration::ZERO, 0, 100);
        assert_eq!(budget.earliest(SECOND, 1), 60 * SECOND);
        budget.correct(SECOND, 0, 100, 5);
        assert_eq!(budget.earliest(SECOND, 1), SECOND);
        assert_eq!(budget.earliest(SECOND, 95), 3 * SECOND, "the bucket has to be full");
        assert_eq!(budget.earliest(SECOND, 96), 60 * SECOND);
        // After a minute nothing of it is left to come back.
        budget.correct(61 * SECOND, 0, 5, 0);
        budget.spend(61 * SECOND, 1, 100);
        assert_eq!(budget.earliest(61 * SECOND, 1), 121 * SECOND);
    }

    #[test]
    fn what_was_spent_too_little_is_spent_at_the_end() {
        let mut budget = Budget::new(100);
        budget.spend(Duration::ZERO, 0, 10);
        budget.correct(30 * SECOND, 0, 10, 90);
        assert_eq!(budget.earliest(30 * SECOND, 10), 30 * SECOND + 48 * SECOND);
        assert_eq!(budget.earliest(60 * SECOND, 30), 90 * SECOND);
        // Nonsense costs a minute, not an age.
        for _ in 0..50 {
            budget.correct(60 * SECOND, 0, 0, u64::MAX);
        }
        assert_eq!(budget.earliest(60 * SECOND, 1), 120 * SECOND);
    }
}
