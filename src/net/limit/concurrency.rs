//! The limit of requests at once, learned from the answers, and its changes for the record. Has no clock: callers pass the
//! time.

use super::Settings;
use crate::base::{LimitChange, named};
use std::time::Duration;

/// Minimum number of good answers in a round.
const MIN_ROUND: u32 = 4;
/// The same after a failed trial, and if answers take a tenth of the timeout, as errors are more expensive then.
const CAREFUL_ROUND: u32 = 12;
/// The shortest time between two decreases, in which answers show the effect of the first.
const MIN_CALM: Duration = Duration::from_secs(1);
/// Failed trials are repeated after 1, 2, 4, up to 16 rounds.
const MAX_DOUBLINGS: u32 = 4;
/// After a refusal the limit stays for this many rounds, divided by the limit: if it is small, each trial costs a refusal.
const REFUSED_REST: u32 = 8;

#[derive(Debug, Clone, Copy)]
pub(super) struct Sent {
    serial: u64,
    at: Duration,
}

#[derive(Debug, Default)]
pub(super) struct Concurrency {
    limit: u32,
    min: u32,
    max: u32,
    in_flight: u32,
    next: u64,
    last_sent: Duration,
    /// The least time between two requests.
    gap: Duration,
    /// The shortest timeout of a request so far.
    timeout: Duration,
    round: Round,
    /// The last round at the accepted limit. In a trial, `limit` is another one.
    base: Option<Round>,
    /// The next growth, doubled after each success.
    step: u32,
    /// Consecutive failed trials, and rounds until the next trial.
    failed: u32,
    rest: u32,
    /// The first request after the last decrease, and the earliest time of the next one.
    decreased: u64,
    calm_until: Duration,
    pub(super) history: History,
}

/// The good answers to requests that were sent since the round began.
#[derive(Debug, Default, Clone, Copy)]
struct Round {
    limit: u32,
    first: u64,
    answers: u32,
    time: Duration,
    silence: Duration,
    full: bool,
    failed: bool,
}

impl Round {
    fn latency(&self) -> Duration {
        self.time / self.answers.max(1)
    }

    /// Whether the larger limit than in `low` brought at least a third of the additional answers that it would bring
    /// without slowing them down. At the limit there are limit / latency answers per second (Little's law).
    fn gains_over(&self, low: &Self) -> bool {
        let (more, slower) = (f64::from(self.limit) / f64::from(low.limit), self.latency().as_secs_f64());
        more * low.latency().as_secs_f64() >= slower * (1.0 + (more - 1.0) / 3.0)
    }
}

impl Concurrency {
    pub(super) fn new(settings: &Settings) -> Self {
        let whole = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let limit = whole(settings.fixed.unwrap_or(settings.initial));
        let (min, max) = settings.fixed.map_or((1, whole(settings.max).max(limit)), |_| (limit, limit));
        Self {
            limit,
            min,
            max,
            timeout: Duration::MAX,
            round: Round { limit, ..Round::default() },
            step: limit,
            ..Self::default()
        }
    }

    pub(super) fn limit(&self) -> usize {
        self.limit as usize
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight as usize
    }

    pub(super) fn earliest(&self) -> Duration {
        self.last_sent.saturating_add(self.gap)
    }

    pub(super) fn sent(&mut self, now: Duration, timeout: Duration) -> Sent {
        self.timeout = self.timeout.min(timeout);
        self.last_sent = now;
        self.in_flight += 1;
        self.round.full |= self.in_flight >= self.limit;
        self.next += 1;
        Sent { serial: self.next - 1, at: now }
    }

    pub(super) fn ended(&mut self) {
        self.in_flight = self.in_flight.saturating_sub(1);
    }

    /// A request failed in a way that neither lowers the limit nor raises it.
    pub(super) fn failed(&mut self) {
        self.round.failed = true;
    }

    /// A good answer arrived; `silence` is its longest time without data, by default its latency.
    pub(super) fn answered(&mut self, now: Duration, sent: Sent, silence: Option<Duration>) {
        if sent.serial < self.round.first {
            return;
        }
        let latency = now.saturating_sub(sent.at);
        let silence = silence.unwrap_or(latency);
        if let Some(base) = self.base {
            // The server queues requests, and the timeout is near: end the trial.
            let waits = silence > self.timeout / 4 && silence > base.silence + base.latency() / 5;
            if waits && self.limit > base.limit {
                return self.reject(now, base.limit);
            }
            if silence > self.timeout / 3 * 2 && silence > base.silence * 2 {
                return self.decrease(now, sent, 50, Reason::Timeout);
            }
        }
        let round = &mut self.round;
        round.answers += 1;
        round.time = round.time.saturating_add(latency);
        round.silence = round.silence.max(silence);
        let careful = self.failed > 0 || latency > self.timeout / 10;
        if round.answers >= self.limit.max(if careful { CAREFUL_ROUND } else { MIN_ROUND }) {
            let ended = *round;
            self.round = self.new_round(self.limit);
            // Unless the limit was reached, the round proves nothing.
            if ended.full && !ended.failed {
                self.judge(now, ended);
            }
        }
    }

    /// A request was refused or timed out: `percent` of the limit remain.
    pub(super) fn decrease(&mut self, now: Duration, sent: Sent, percent: u32, reason: Reason) {
        self.round.failed = true;
        // Requests sent before the last decrease bring no news.
        if sent.serial < self.decreased || now < self.calm_until || self.limit == self.min {
            return;
        }
        // Without a round since the last decrease, the server refuses everything at any limit.
        let (calm, rest) = self.base.map_or((MIN_CALM, 0), |base| (base.latency().max(MIN_CALM), REFUSED_REST));
        let to = self.limit.saturating_mul(percent).div_ceil(100).clamp(1, self.limit - 1);
        (self.calm_until, self.decreased) = (now.saturating_add(calm), self.next);
        (self.base, self.step, self.failed, self.rest) = (None, 1, 0, rest / to);
        self.change(now, to, reason);
    }

    /// A round ended. After a trial, the larger limit is accepted only if it gains.
    fn judge(&mut self, now: Duration, mut round: Round) {
        if let Some(base) = self.base.filter(|base| base.limit == round.limit) {
            // Average over more answers; older ones count for less.
            round.answers += base.answers / 2;
            round.time = round.time.saturating_add(base.latency() * (base.answers / 2));
        }
        match self.base {
            Some(base) if base.limit < round.limit => {
                if round.gains_over(&base) {
                    self.failed = 0;
                    self.accept(now, round);
                } else if round.limit * 2 >= base.limit * 3 {
                    self.reject(now, base.limit);
                } else {
                    // Too small a difference to judge: take another step.
                    self.grow(now, &round);
                }
            }
            Some(base) if base.limit > round.limit => {
                if base.gains_over(&round) {
                    self.rest_longer();
                    self.change(now, base.limit, Reason::Growth);
                } else {
                    (self.base, self.failed) = (Some(round), 0);
                    self.rest_longer();
                }
            }
            _ if self.rest > 0 => (self.base, self.rest) = (Some(round), self.rest - 1),
            _ if self.failed > 0 && self.failed.is_multiple_of(2) && self.limit > self.min => {
                self.base = Some(round);
                self.change(now, self.limit * 2 / 3, Reason::SmallerTrial);
            }
            _ => self.accept(now, round),
        }
    }

    fn accept(&mut self, now: Duration, round: Round) {
        (self.base, self.gap) = (Some(round), Duration::ZERO);
        self.grow(now, &round);
        let stays = self.limit == round.limit && self.limit < self.max;
        if stays && self.limit > self.min {
            self.change(now, self.limit * 2 / 3, Reason::SmallerTrial);
        }
    }

    fn reject(&mut self, now: Duration, to: u32) {
        self.step = (to / 2).max(1);
        self.rest_longer();
        self.change(now, to, Reason::NoGain);
    }

    fn rest_longer(&mut self) {
        self.rest = 1 << self.failed.min(MAX_DOUBLINGS);
        self.failed = self.failed.saturating_add(1);
    }

    /// Tries a larger limit, if there would be no timeout even if every additional request waited for another.
    fn grow(&mut self, now: Duration, round: &Round) {
        let latency = round.latency();
        let longest = |to: u32| round.silence + latency * (to - self.limit) / self.limit;
        let wanted = self.limit.saturating_add(self.step).min(self.max);
        if let Some(to) = (self.limit + 1..=wanted).rev().find(|to| longest(*to) <= self.timeout / 4 * 3) {
            self.step = self.step.saturating_mul(2).min(to);
            self.change(now, to, Reason::Growth);
        } else if wanted > self.limit && round.silence + latency * 2 / 5 <= self.timeout / 5 * 4 {
            // One more can be tried if requests start only slightly faster than the server answers: if it queues them, that
            // shows before any of them comes near the timeout.
            self.change(now, self.limit + 1, Reason::Growth);
            self.gap = latency * 4 / 5 / (self.limit - 1);
        }
    }

    fn new_round(&self, limit: u32) -> Round {
        Round { limit, first: self.next, full: self.in_flight >= limit, ..Round::default() }
    }

    fn change(&mut self, at: Duration, to: u32, reason: Reason) {
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let reason = reason.name().to_owned();
        self.history.push(LimitChange { at_ms, from: self.limit as usize, to: to as usize, reason });
        (self.limit, self.gap) = (to, Duration::ZERO);
        self.round = self.new_round(to);
    }
}

/// Number of changes kept; later ones are only counted.
pub const MAX_CHANGES: usize = 1000;

named! {
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Reason {
        /// A larger limit is tried, or a better one restored.
        Growth = "growth",
        /// A larger limit made answers slower without bringing more.
        NoGain = "no_gain",
        /// A smaller limit is tried.
        SmallerTrial = "smaller_trial",
        RateLimit = "rate_limit",
        Overload = "overload",
        /// A timeout, or an answer that suddenly took most of it.
        Timeout = "timeout",
    }
}

/// The first [`MAX_CHANGES`] changes of a limit, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    pub changes: Vec<LimitChange>,
    pub dropped: u64,
}

impl History {
    fn push(&mut self, change: LimitChange) {
        if self.changes.len() < MAX_CHANGES {
            self.changes.push(change);
        } else {
            self.dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{History, LimitChange, MAX_CHANGES};

    #[test]
    fn the_first_changes_are_kept_and_the_rest_counted() {
        let mut history = History::default();
        for to in 0..MAX_CHANGES + 7 {
            history.push(LimitChange { at_ms: 0, from: 0, to, reason: "growth".to_owned() });
        }
        assert_eq!((history.changes.len(), history.dropped), (MAX_CHANGES, 7));
        assert_eq!(history.changes.last().map(|change| change.to), Some(MAX_CHANGES - 1));
    }
}
