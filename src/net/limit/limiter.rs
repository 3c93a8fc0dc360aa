//! The queue of requests to one server.

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

/// How long the place of a refused request stays empty if the server names no time: otherwise a new request would take it
/// and be refused at once.
const PENALTY: Duration = Duration::from_secs(1);

/// Grants permits to requests in order of arrival.
///
/// Only the first in the queue looks for a place, so that a request with many tokens is not overtaken by small ones, and
/// an event wakes one task at most.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A good answer, with its actual tokens if the server reported them.
    Ok { tokens: Option<u64> },
    /// The server was overloaded: status 429, 503 or 529.
    Refused { status: u16, retry_after: Option<Duration> },
    /// No answer, or no further part of it, in time.
    TimedOut,
    /// Another status 5xx, or a broken connection.
    Failed { retry_after: Option<Duration> },
    /// Anything that says nothing about the server's load: a wrong or cancelled request.
    Other,
}

impl Outcome {
    /// The outcome of an answer with this status.
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
    /// A limiter whose clock starts now.
    pub fn new(settings: &Settings) -> Self {
        let state = Mutex::new(State::new(settings));
        Self { queue: Semaphore::new(1), freed: Notify::new(), start: Instant::now(), state }
    }

    /// Waits until a request with an estimate of `tokens` may be sent; `timeout` is its limit for data from the server.
    /// Dropping the future leaves the queue.
    pub async fn acquire(&self, tokens: u64, timeout: Duration) -> Result<Permit<'_>, HeldOff> {
        // Never closed.
        let _first = self.queue.acquire().await.ok();
        loop {
            // A notification between this and the wait below is not lost.
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

    pub fn limit(&self) -> usize {
        self.with(|state, _| state.concurrency.limit())
    }

    /// Whether no request is under way, nor waits.
    pub fn is_idle(&self) -> bool {
        self.queue.available_permits() > 0 && self.with(|state, _| state.concurrency.in_flight() == 0)
    }

    /// Pauses for `wait`, for servers that ask for it other than by status and header.
    pub fn hold(&self, wait: Duration, status: u16) {
        self.with(|state, now| state.pause.extend(now, wait, status));
        self.freed.notify_one();
    }

    pub fn history(&self) -> History {
        self.with(|state, _| state.concurrency.history().clone())
    }

    fn with<T>(&self, ask: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut state, self.start.elapsed())
    }
}

impl Permit<'_> {
    /// Sets the longest time without data from the server, for an answer in pieces.
    pub fn heard(&mut self, silence: Duration) {
        self.silence = Some(silence);
    }

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

    /// Pauses all requests if the server `asked` for it and the settings say so; otherwise keeps one place empty.
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
