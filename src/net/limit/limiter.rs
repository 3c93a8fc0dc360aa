//! Where the requests to one server wait for their turn.

use super::concurrency::{Concurrency, Sent};
use super::history::{History, Reason};
use super::rate::Rate;
use super::settings::Settings;
use super::wait::{HeldOff, Pause, Wait};
use crate::net::retry::LONGEST_RETRY_AFTER;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep};

/// How long the place of a refused request stays empty where the server names no time. Otherwise the places that are too
/// many would be filled and refused again as fast as the server refuses.
const PENALTY: Duration = Duration::from_secs(1);

/// Gives out permits to requests, in the order in which they come.
///
/// Only the first of them looks for a place; the others wait until it has one. So a request of many tokens is not
/// overtaken by small ones, and an event wakes one task at most.
#[derive(Debug)]
pub struct Limiter {
    /// Held by the first in the queue.
    queue: Semaphore,
    /// Wakes the first in the queue.
    freed: Notify,
    start: Instant,
    state: Mutex<State>,
}

/// The right to send one attempt. Dropping it ends the attempt as [`Outcome::Other`].
#[derive(Debug)]
#[must_use = "dropping a permit ends its request"]
pub struct Permit<'a> {
    limiter: &'a Limiter,
    sent: Sent,
    /// The estimate.
    tokens: u64,
    silence: Option<Duration>,
    outcome: Outcome,
}

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// With a good answer.
    Ok {
        /// The tokens it took, if the server said so; otherwise the estimate stands.
        tokens: Option<u64>,
    },
    /// The server had too much to do: status 429, 503 or 529.
    Refused {
        /// The status.
        status: u16,
        /// The `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// No answer, or no further part of it, came in time.
    TimedOut,
    /// Another status 5xx, or a broken connection.
    Failed {
        /// The `Retry-After`.
        retry_after: Option<Duration>,
    },
    /// In a way that says nothing about the server: the request was wrong, or was given up.
    Other,
}

impl Outcome {
    /// The outcome that a status stands for.
    pub fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            200..=299 => Self::Ok { tokens: None },
            429 | 503 | 529 => Self::Refused { status, retry_after },
            408 | 500..=599 => Self::Failed { retry_after },
            _ => Self::Other,
        }
    }
}

impl Limiter {
    /// A limiter whose time begins now.
    pub fn new(settings: &Settings) -> Self {
        let state = Mutex::new(State::new(settings));
        Self { queue: Semaphore::new(1), freed: Notify::new(), start: Instant::now(), state }
    }

    /// Waits until a request of about so many `tokens` may be sent, which will be given up after `timeout` without a sign
    /// of the server. Dropping the future leaves the queue.
    pub async fn acquire(&self, tokens: u64, timeout: Duration) -> Result<Permit<'_>, HeldOff> {
        // Never closed; even if it were, only the order would be lost.
        let _first = self.queue.acquire().await.ok();
        loop {
            // A wake-up between this question and the wait below is kept for the wait.
            let (asked, now) = self.with(|state, now| (state.send(now, tokens, timeout), now));
            match asked {
                Ok(sent) => return Ok(Permit { limiter: self, sent, tokens, silence: None, outcome: Outcome::Other }),
                Err(Wait::HeldOff(held)) => return Err(held),
                Err(Wait::Full) => self.freed.notified().await,
                Err(Wait::Until(at)) => {
                    tokio::select! {
                        () = sleep(at.saturating_sub(now)) => {}
                        () = self.freed.notified() => {}
                    }
                }
            }
        }
    }

    /// How many requests may be under way at once, for now.
    pub fn limit(&self) -> usize {
        self.with(|state, _| state.concurrency.limit())
    }

    /// How many requests are under way: more than the limit just after it was lowered.
    pub fn in_flight(&self) -> usize {
        self.with(|state, _| state.concurrency.in_flight())
    }

    /// Sends nothing for `wait`, for servers that ask for it in other ways than by status and header.
    pub fn hold(&self, wait: Duration, status: u16) {
        self.with(|state, now| state.pause.extend(now, wait, status));
        // The first in the queue has to learn of it.
        self.freed.notify_one();
    }

    /// The changes of the limit so far.
    pub fn history(&self) -> History {
        self.with(|state, _| state.concurrency.history().clone())
    }

    fn with<T>(&self, ask: impl FnOnce(&mut State, Duration) -> T) -> T {
        // Nothing panics while it is changed.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut state, self.start.elapsed())
    }
}

impl Permit<'_> {
    /// The longest time without a sign of the server so far, for an answer that comes in pieces.
    pub fn heard(&mut self, silence: Duration) {
        self.silence = Some(silence);
    }

    /// Ends the attempt.
    pub fn end(mut self, outcome: Outcome) {
        self.outcome = outcome;
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.limiter.with(|state, now| state.ended(now, self));
        self.limiter.freed.notify_one();
    }
}

#[derive(Debug)]
struct State {
    pause_all: bool,
    keeps_empty: bool,
    concurrency: Concurrency,
    rate: Rate,
    pause: Pause,
    /// When the places of refused requests may be taken again.
    empty_until: BinaryHeap<Reverse<Duration>>,
}

impl State {
    fn new(settings: &Settings) -> Self {
        Self {
            concurrency: Concurrency::new(settings),
            rate: Rate::new(settings),
            pause_all: settings.pause_all,
            keeps_empty: settings.fixed.is_none(),
            pause: Pause::default(),
            empty_until: BinaryHeap::new(),
        }
    }

    fn send(&mut self, now: Duration, tokens: u64, timeout: Duration) -> Result<Sent, Wait> {
        self.pause.check(now)?;
        while self.empty_until.peek().is_some_and(|Reverse(end)| *end <= now) {
            self.empty_until.pop();
        }
        if self.concurrency.in_flight() + self.empty_until.len() >= self.concurrency.limit() {
            return Err(self.empty_until.peek().map_or(Wait::Full, |Reverse(end)| Wait::Until(*end)));
        }
        let earliest = self.concurrency.earliest();
        if earliest > now {
            return Err(Wait::Until(earliest));
        }
        // Last, as it counts the request.
        self.rate.take(tokens).map_err(|wait| Wait::Until(now.saturating_add(wait)))?;
        Ok(self.concurrency.sent(now, timeout))
    }

    fn ended(&mut self, now: Duration, permit: &Permit<'_>) {
        self.concurrency.ended();
        match permit.outcome {
            Outcome::Ok { tokens } => {
                self.rate.correct(permit.tokens, tokens.unwrap_or(permit.tokens));
                self.concurrency.answered(now, permit.sent, permit.silence);
            }
            Outcome::Refused { status, retry_after } => {
                let reason = if status == 429 { Reason::RateLimit } else { Reason::Overload };
                self.concurrency.decrease(now, permit.sent, 75, reason);
                self.wait(now, Some(retry_after.unwrap_or(PENALTY)), status, retry_after.is_some());
            }
            Outcome::TimedOut => self.concurrency.decrease(now, permit.sent, 50, Reason::Timeout),
            Outcome::Failed { retry_after } => {
                self.concurrency.failed();
                self.wait(now, retry_after, 503, true);
            }
            Outcome::Other => {}
        }
    }

    /// Nothing is sent for a while if the server `asked` for it and that binds all requests; otherwise one place stays empty.
    fn wait(&mut self, now: Duration, wait: Option<Duration>, status: u16, asked: bool) {
        let Some(wait) = wait else { return };
        if asked && self.pause_all {
            self.pause.extend(now, wait, status);
        } else if self.keeps_empty {
            self.empty_until.push(Reverse(now.saturating_add(wait.min(LONGEST_RETRY_AFTER))));
        }
    }
}

#[cfg(test)]
mod tests;
