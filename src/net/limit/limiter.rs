//! The queue of requests to one server.

use super::concurrency::{Concurrency, Sent};
use super::history::{History, Reason};
use super::rate::Rate;
use super::settings::Settings;
use super::wait::{HeldOff, Pause, Span, Wait, Waiting};
use crate::types::WaitReason;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
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
    /// Wakes those who wait to repeat their request, once nothing is sent any more.
    held: Notify,
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

/// What a limiter's requests do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    /// Requests sent so far.
    pub sent: u64,
    /// Whether any is under way.
    pub busy: bool,
    /// What the next one waits for, if none is under way.
    pub waiting: Option<Waiting>,
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
        Self { queue: Semaphore::new(1), freed: Notify::new(), held: Notify::new(), start: Instant::now(), state }
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
                Err(Wait::HeldOff(held)) => {
                    self.held.notify_waiters();
                    return Err(held);
                }
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
        self.with(|state, now| state.pause.extend(now, wait, status, state.max_wait));
        self.freed.notify_one();
        self.held.notify_waiters();
    }

    /// Waits before a request is repeated; not to the end once the server asks for a pause that is too long.
    pub async fn rest(&self, wait: Duration, asked: bool) -> Result<(), HeldOff> {
        let why = if asked { WaitReason::Asked } else { WaitReason::Retry };
        let id = self.with(|state, now| state.rests(Span { from: now, until: now.saturating_add(wait), why }));
        let _resting = Resting { limiter: self, id };
        let over = sleep(wait);
        tokio::pin!(over);
        loop {
            let held = self.held.notified();
            tokio::pin!(held);
            held.as_mut().enable();
            if let Err(Wait::HeldOff(held)) = self.with(|state, now| state.pause.check(now)) {
                return Err(held);
            }
            tokio::select! {
                () = &mut over => return Ok(()),
                () = held => {}
            }
        }
    }

    /// Longest wait that the server may ask for.
    pub fn max_wait(&self) -> Duration {
        self.with(|state, _| state.max_wait)
    }

    /// Whether the server has given a good answer within this time.
    pub fn answered_within(&self, time: Duration) -> bool {
        self.with(|state, now| state.answered.is_some_and(|at| now.saturating_sub(at) <= time))
    }

    /// How many requests have been sent, and whether any is under way or what the next one waits for.
    pub fn activity(&self) -> Activity {
        let nobody_queues = self.queue.available_permits() > 0;
        self.with(|state, now| {
            if nobody_queues {
                state.queued = None;
            }
            let busy = state.concurrency.in_flight() > 0;
            Activity { sent: state.sent, busy, waiting: state.waiting(now) }
        })
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

/// A request waits to be repeated until this is dropped.
struct Resting<'a> {
    limiter: &'a Limiter,
    id: u64,
}

impl Drop for Resting<'_> {
    fn drop(&mut self) {
        self.limiter.with(|state, _| state.resting.remove(&self.id));
    }
}

#[derive(Debug)]
struct State {
    max_wait: Duration,
    /// Requests sent so far, and when the last good answer came.
    sent: u64,
    answered: Option<Duration>,
    /// Requests that wait to be repeated, and what the first in the queue waits for.
    resting: BTreeMap<u64, Span>,
    rested: u64,
    queued: Option<Span>,
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
            max_wait: settings.max_wait,
            sent: 0,
            answered: None,
            resting: BTreeMap::new(),
            rested: 0,
            queued: None,
            pause: Pause::default(),
            empty_until: BinaryHeap::new(),
        }
    }

    fn rests(&mut self, span: Span) -> u64 {
        self.rested += 1;
        self.resting.insert(self.rested, span);
        self.rested
    }

    /// What the next request waits for, if none is under way: the first to end of all waits.
    fn waiting(&self, now: Duration) -> Option<Waiting> {
        if self.concurrency.in_flight() > 0 {
            return None;
        }
        // A pause holds for all; otherwise whoever may go first ends the wait of all.
        let pause = self.pause.span().and_then(|span| span.at(now));
        let all = self.resting.values().chain(&self.queued).filter_map(|span| span.at(now));
        pause.filter(|_| self.queued.is_some()).or_else(|| all.min_by_key(|waiting| waiting.left))
    }

    fn send(&mut self, now: Duration, tokens: u64, timeout: Duration) -> Result<Sent, Wait> {
        let asked = self.place(now, tokens, timeout);
        self.queued = match asked {
            Err(Wait::Until(until)) => {
                let from = self.queued.filter(|span| span.until == until).map_or(now, |span| span.from);
                // A place stays empty as long as the server asked, or so briefly that no reason is reported.
                let is_empty = self.empty_until.peek() == Some(&Reverse(until));
                Some(Span { from, until, why: if is_empty { WaitReason::Asked } else { WaitReason::Pace } })
            }
            _ => None,
        };
        self.sent += u64::from(asked.is_ok());
        asked
    }

    fn place(&mut self, now: Duration, tokens: u64, timeout: Duration) -> Result<Sent, Wait> {
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
                self.answered = Some(now);
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
            self.pause.extend(now, wait, status, self.max_wait);
        } else if self.keeps_empty {
            self.empty_until.push(Reverse(now.saturating_add(wait.min(self.max_wait))));
        }
    }
}

#[cfg(test)]
mod tests;
