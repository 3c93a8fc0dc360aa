//! The state machine: slow start, additive growth, multiplicative decrease. It has no clock; it is told the time.

use super::budget::Budget;
use super::history::{Change, History, Reason};
use super::pause::{HeldOff, Pause};
use super::refill::Refill;
use super::settings::Settings;
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::time::Duration;

/// Good answers in a round at least: with a limit of 1, a single one would prove little.
pub const SHORTEST_ROUND: usize = 4;

/// One request that has begun. Give it back with [`Controller::ended`], or its place is lost.
#[derive(Debug)]
#[must_use = "a ticket that is not given back keeps its place"]
pub struct Ticket {
    serial: u64,
    begun: Duration,
    tokens: u64,
}

/// Why nothing may begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// All places are taken; ask again when a request has ended.
    Full,
    /// Ask again at this time since the start, which is not over yet, or when a request has ended.
    Until(Duration),
    /// Do not wait: the server wants nothing for longer than requests wait.
    HeldOff(HeldOff),
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A good answer came.
    Ok {
        /// The tokens that it cost, if the server said so; else the estimate stands.
        tokens: Option<u64>,
    },
    /// The server refused it as one too many: status 429.
    RateLimited {
        /// The wait that it asked for.
        retry_after: Option<Duration>,
    },
    /// The server failed: 5xx, a timeout, a broken connection.
    ServerError {
        /// The wait that it asked for.
        retry_after: Option<Duration>,
    },
    /// It ended in a way that says nothing about how much the server bears: the request was wrong, or given up.
    Other,
    /// Nothing was sent, because a cache had the answer or the caller thought better of it. It cost nothing.
    Unsent,
}

impl Outcome {
    /// What a status says. The tokens of a good answer are left to the estimate.
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            200..=299 => Self::Ok { tokens: None },
            429 => Self::RateLimited { retry_after },
            // 529 is a server that is overloaded by everybody; a smaller share of ours would not help it.
            408 | 500..=599 => Self::ServerError { retry_after },
            _ => Self::Other,
        }
    }
}

/// As many good answers as prove that the server bears the limit.
#[derive(Debug)]
struct Round {
    /// The first request that counts.
    first: u64,
    /// Good answers that are still to come.
    left: usize,
    /// Whether all places were taken at some time.
    full: bool,
    /// Whether neither a refusal nor a server error came.
    clean: bool,
}

impl Round {
    fn new(first: u64, limit: usize) -> Self {
        Self { first, left: limit.max(SHORTEST_ROUND), full: false, clean: true }
    }
}

/// Decides when the next request to one server, with one key, may begin.
///
/// All times are since a start that the caller chooses. One that lies before a time that was given already is taken for
/// that one.
#[derive(Debug)]
pub struct Controller {
    settings: Settings,
    /// The smallest and the largest limit.
    bounds: (usize, usize),
    now: Duration,
    limit: usize,
    in_flight: usize,
    /// The number of the next request.
    next: u64,
    round: Round,
    /// Whether the server has refused nothing so far.
    slow_start: bool,
    /// The end of the cooldown, during one.
    cooldown: Option<Duration>,
    /// The first request that began after the limit was lowered.
    lowered: u64,
    /// When the places of refused requests may be taken again, in order.
    penalties: VecDeque<Duration>,
    pause: Pause,
    refill: Refill,
    requests: Option<Budget>,
    tokens: Option<Budget>,
    history: History,
}

impl Controller {
    /// A controller at its start, which is time zero.
    pub fn new(settings: Settings) -> Self {
        let (min, limit, max) = settings.bounds();
        let budget = |cap: Option<NonZeroU32>| cap.map(|cap| Budget::new(u64::from(cap.get())));
        Self {
            bounds: (min, max),
            now: Duration::ZERO,
            limit,
            in_flight: 0,
            next: 0,
            round: Round::new(0, limit),
            slow_start: true,
            cooldown: None,
            lowered: 0,
            penalties: VecDeque::new(),
            pause: Pause::default(),
            refill: Refill::default(),
            requests: budget(settings.requests_per_minute),
            tokens: budget(settings.tokens_per_minute),
            history: History::default(),
            settings,
        }
    }

    /// How many requests may be under way at once.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many requests are under way. More than the limit right after it was lowered; none begins then.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// The decisions so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Begins a request that may cost so many `tokens`, if it may begin now; else nothing has happened.
    ///
    /// A [`Wait::Full`] ends with the next [`Controller::ended`] at the earliest; time alone does not end it.
    pub fn try_begin(&mut self, now: Duration, tokens: u64) -> Result<Ticket, Wait> {
        let now = self.advance(now);
        self.pause.check(now)?;
        self.place(now)?;
        self.refill.check(now)?;
        let requests = self.requests.as_mut().map_or(now, |budget| budget.earliest(now, 1));
        let at = self.tokens.as_mut().map_or(now, |budget| budget.earliest(now, tokens)).max(requests);
        if at > now {
            return Err(Wait::Until(at));
        }
        self.refill.begun(now);
        let serial = self.next;
        self.next += 1;
        self.in_flight += 1;
        self.round.full |= self.in_flight >= self.limit;
        if let Some(budget) = &mut self.requests {
            budget.spend(now, serial, 1);
        }
        if let Some(budget) = &mut self.tokens {
            budget.spend(now, serial, tokens);
        }
        Ok(Ticket { serial, begun: now, tokens })
    }

    /// A request ended like this.
    #[expect(clippy::needless_pass_by_value, reason = "a ticket ends once")]
    pub fn ended(&mut self, now: Duration, ticket: Ticket, outcome: Outcome) {
        let now = self.advance(now);
        self.in_flight = self.in_flight.saturating_sub(1);
        let Ticket { serial, begun, tokens } = ticket;
        match outcome {
            Outcome::Ok { tokens: actual } => {
                if let (Some(budget), Some(actual)) = (&mut self.tokens, actual) {
                    budget.correct(now, serial, tokens, actual);
                }
                self.refill.learn(now.saturating_sub(begun));
                self.answered(now, serial);
            }
            Outcome::RateLimited { retry_after } => self.refused(now, serial, retry_after),
            Outcome::ServerError { retry_after } => {
                self.round.clean = false;
                self.wish(now, retry_after, 503);
                if retry_after.is_some() && !self.settings.hold_all {
                    self.keep_empty(now, retry_after);
                }
            }
            Outcome::Other => {}
            Outcome::Unsent => {
                if let Some(budget) = &mut self.requests {
                    budget.correct(now, serial, 1, 0);
                }
                if let Some(budget) = &mut self.tokens {
                    budget.correct(now, serial, tokens, 0);
                }
            }
        }
    }

    /// Brings the state to `now`.
    fn advance(&mut self, now: Duration) -> Duration {
        self.now = self.now.max(now);
        if let Some(end) = self.cooldown.filter(|end| *end <= self.now) {
            self.cooldown = None;
            self.change(end, self.limit, Reason::CooldownEnd);
        }
        self.now
    }

    /// Whether a place is free.
    fn place(&mut self, now: Duration) -> Result<(), Wait> {
        while self.penalties.front().is_some_and(|end| *end <= now) {
            self.penalties.pop_front();
        }
        if self.in_flight >= self.limit {
            return Err(Wait::Full);
        }
        // Of the places that penalties keep empty, so many have to be free before one can be taken.
        let over = (self.in_flight + self.penalties.len() + 1).saturating_sub(self.limit);
        match over.checked_sub(1).and_then(|last| self.penalties.get(last)) {
            Some(end) => Err(Wait::Until(*end)),
            None => Ok(()),
        }
    }

    fn answered(&mut self, now: Duration, serial: u64) {
        // In a cooldown, the answers are still those to the burden before it.
        if self.cooldown.is_some() || serial < self.round.first {
            return;
        }
        self.round.left -= 1;
        if self.round.left > 0 {
            return;
        }
        let grows = self.round.clean && self.round.full && self.limit < self.bounds.1;
        if !grows {
            self.round = Round::new(self.next, self.limit);
        } else if self.slow_start {
            self.change(now, self.limit.saturating_mul(2), Reason::SlowStart);
            self.refill.start(self.limit);
        } else {
            let more = (self.limit.saturating_mul(self.settings.growth_percent) / 100).max(1);
            self.change(now, self.limit.saturating_add(more), Reason::SteadyGrowth);
        }
    }

    fn refused(&mut self, now: Duration, serial: u64, retry_after: Option<Duration>) {
        self.round.clean = false;
        self.slow_start = false;
        if retry_after.is_none() || !self.settings.hold_all {
            self.keep_empty(now, retry_after);
        }
        if self.cooldown.is_none() && serial >= self.lowered {
            let kept = self.limit.saturating_mul(self.settings.keep_percent.min(99)) / 100;
            self.lowered = self.next;
            self.cooldown = Some(now.saturating_add(self.settings.cooldown));
            self.change(now, kept, Reason::RateLimit);
        }
        self.wish(now, retry_after, 429);
    }

    /// The place of a request that was turned away stays empty for a while, as long as a number is not fixed.
    fn keep_empty(&mut self, now: Duration, wait: Option<Duration>) {
        let wait = wait.unwrap_or(self.settings.penalty).min(self.settings.longest_pause);
        if self.settings.fixed.is_none() && !wait.is_zero() {
            let end = now.saturating_add(wait);
            let at = self.penalties.partition_point(|other| *other <= end);
            self.penalties.insert(at, end);
        }
    }

    /// The server asks for a wait, and a cooldown that is under way lasts as long.
    fn wish(&mut self, now: Duration, wait: Option<Duration>, status: u16) {
        let Some(wait) = wait else { return };
        if self.settings.hold_all {
            self.hold(now, wait, status);
        } else {
            let end = now.saturating_add(wait.min(self.settings.longest_pause));
            self.cooldown = self.cooldown.map(|cooldown| cooldown.max(end));
        }
    }

    /// Nothing may begin for `wait`, because the server asked for it with this status.
    pub fn hold(&mut self, now: Duration, wait: Duration, status: u16) {
        let now = self.advance(now);
        self.pause.extend(now, wait, status, self.settings.longest_pause);
        self.cooldown = self.cooldown.map(|end| end.max(self.pause.until()));
        self.refill.start(self.limit);
    }

    /// From `at` on, the limit is `to`, or what the bounds leave of it; a new round begins.
    fn change(&mut self, at: Duration, to: usize, reason: Reason) {
        let from = self.limit;
        self.limit = to.clamp(self.bounds.0, self.bounds.1);
        self.history.push(Change { at, from, to: self.limit, reason });
        self.round = Round::new(self.next, self.limit);
    }
}

#[cfg(test)]
mod tests;
