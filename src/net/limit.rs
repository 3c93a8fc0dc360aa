//! When a request may be sent: limits at once and per minute, and pauses that the server asks for.
//!
//! | name | what it is |
//! |---|---|
//! | [`Limiter`] | the queue of all requests to one server with one key, which is how providers count ([`Limiters`]) |
//! | [`Permit`] | the right to send one attempt, held until it ends but not while it waits to be retried |
//! | limit | the number of permits at once: fixed, or learned from the answers (`concurrency`) |
//! | round | as many good answers as the limit, at least 4 or 12, to requests sent after the round started |
//! | trial | a round at another limit, for comparison |
//! | [`History`] | the changes of the limit, kept in a run's manifest as `limit_history` |
//!
//! The limit follows the answers (additive increase, multiplicative decrease):
//!
//! | event | what happens to the limit |
//! |---|---|
//! | a full round at the limit, no failure in it | it doubles; after a decrease it grows by 1, 2, 4, … |
//! | a larger limit made answers slower without bringing more | it returns to the smaller one, and tries again after 1, 2, up to 16 rounds; a smaller one is tried as well |
//! | a larger limit could make a queueing server exceed the timeout | it grows less, or not at all |
//! | 429, 503, 529 | three quarters remain |
//! | a timeout, or an answer that suddenly takes most of the timeout | half remains |
//! | another 5xx, a broken connection | it does not grow in this round |
//!
//! A server that queues silently (llama.cpp, Ollama, vLLM) never answers 429; the second row detects it, as twice the
//! requests take twice the time each. Cached answers do not count.

mod concurrency;

pub use concurrency::{History, Reason};

use super::NetError;
use super::retry::{Attempt, DEFAULT_MAX_WAIT, FOREVER};
use crate::base::{WaitReason, locked};
use concurrency::{Concurrency, Sent};
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use secrecy::{ExposeSecret as _, SecretString};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::hash::{BuildHasher as _, RandomState};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The first limit, at least 1.
    pub initial: usize,
    /// The largest limit, at least `initial`.
    pub max: usize,
    /// A limit that never changes, instead of the two above; 0 counts as 1. A refused request's place is reused at once;
    /// pauses and the limits per minute apply.
    pub fixed: Option<usize>,
    /// Whether a `Retry-After` pauses all requests, as for sites. Otherwise only the place of the refused request stays
    /// empty that long, as model servers often refuse one request of many.
    pub pause_all: bool,
    /// Maximum number of requests in any 60 s, including retries.
    pub requests_per_minute: Option<NonZeroU32>,
    /// Maximum tokens in any 60 s, of prompts and answers: estimated, then corrected by the server's count. The last
    /// request of a minute may exceed it.
    pub tokens_per_minute: Option<NonZeroU32>,
    /// Longest wait that a server may ask for; after a longer one nothing is sent until it has passed.
    pub max_wait: Duration,
}

impl Default for Settings {
    /// From 1 to 100, no limits per minute; a `Retry-After` applies to one request only, and may be 10 minutes.
    fn default() -> Self {
        // A server with a single slot may take half the timeout per answer.
        Self {
            initial: 1,
            max: 100,
            fixed: None,
            pause_all: false,
            requests_per_minute: None,
            tokens_per_minute: None,
            max_wait: DEFAULT_MAX_WAIT,
        }
    }
}

impl Settings {
    pub fn fixed(places: usize) -> Self {
        Self { fixed: Some(places), ..Self::default() }
    }

    pub fn up_to(initial: usize, max: usize) -> Self {
        Self { initial, max, ..Self::default() }
    }

    /// One request at a time, as Wikimedia asks, and fewer than the 200 per minute of identified clients (2026).
    pub fn wikipedia() -> Self {
        Self { pause_all: true, requests_per_minute: NonZeroU32::new(180), ..Self::up_to(1, 1) }
    }
}

/// The limiters of a process, shared by all variants with the same provider and key.
#[derive(Debug, Default)]
pub struct Limiters {
    /// Longest wait that any server may ask for, instead of the one in the settings.
    max_wait: Option<Duration>,
    hasher: RandomState,
    entries: Mutex<Vec<Entry>>,
}

/// The provider, a keyed hash of the key, rather than the key itself, and their limiter.
type Entry = (String, Option<u64>, Arc<Limiter>);

impl Limiters {
    #[must_use]
    pub fn with_max_wait(max_wait: Option<Duration>) -> Self {
        Self { max_wait, ..Self::default() }
    }

    /// The limiter of this provider (a name or an URL without secrets) and key, created with `settings` the first time.
    pub fn of(&self, provider: &str, key: Option<&SecretString>, settings: &Settings) -> Arc<Limiter> {
        let key = key.map(|key| self.hasher.hash_one(key.expose_secret()));
        let mut limiters = locked(&self.entries);
        if let Some((.., limiter)) = limiters.iter().find(|(of, of_key, _)| of == provider && *of_key == key) {
            return Arc::clone(limiter);
        }
        let max_wait = self.max_wait.unwrap_or(settings.max_wait);
        let limiter = Arc::new(Limiter::new(&Settings { max_wait, ..settings.clone() }));
        limiters.push((provider.to_owned(), key, Arc::clone(&limiter)));
        limiter
    }

    /// All limiters with their providers, oldest first, one per key.
    pub fn each(&self) -> Vec<(String, Arc<Limiter>)> {
        let limiters = locked(&self.entries);
        limiters.iter().map(|(provider, _, limiter)| (provider.clone(), Arc::clone(limiter))).collect()
    }
}

/// How long a refused request's place stays empty if the server names no time: a new one would be refused at once.
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

/// The right to send one attempt. Dropping it ends the attempt as [`Attempt::Other`].
#[derive(Debug)]
#[must_use = "dropping a permit ends its request"]
pub struct Permit<'a> {
    limiter: &'a Limiter,
    sent: Sent,
    tokens: u64,
    silence: Option<Duration>,
    attempt: Attempt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activity {
    pub sent: u64,
    pub busy: bool,
    pub waiting: Option<Waiting>,
}

impl Limiter {
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
                Ok(sent) => return Ok(Permit { limiter: self, sent, tokens, silence: None, attempt: Attempt::Other }),
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

    pub fn is_idle(&self) -> bool {
        self.queue.available_permits() > 0 && self.with(|state, _| state.concurrency.in_flight() == 0)
    }

    /// Pauses for `wait`, for servers that ask for it other than by status and header.
    pub fn hold(&self, wait: Duration, status: u16) {
        self.with(|state, now| state.pause.extend(now, wait, status, state.settings.max_wait));
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

    pub fn max_wait(&self) -> Duration {
        self.with(|state, _| state.settings.max_wait)
    }

    pub fn answered_within(&self, time: Duration) -> bool {
        self.with(|state, now| state.answered.is_some_and(|at| now.saturating_sub(at) <= time))
    }

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
        self.with(|state, _| state.concurrency.history.clone())
    }

    fn with<T>(&self, ask: impl FnOnce(&mut State, Duration) -> T) -> T {
        let mut state = locked(&self.state);
        ask(&mut state, self.start.elapsed())
    }
}

impl Permit<'_> {
    /// Sets the longest time without data from the server, for an answer in pieces.
    pub fn heard(&mut self, silence: Duration) {
        self.silence = Some(silence);
    }

    pub fn end(mut self, attempt: Attempt) {
        self.attempt = attempt;
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

#[derive(Debug, Default)]
struct State {
    settings: Settings,
    sent: u64,
    answered: Option<Duration>,
    /// Requests that wait to be repeated, and what the first in the queue waits for.
    resting: BTreeMap<u64, Span>,
    rested: u64,
    queued: Option<Span>,
    concurrency: Concurrency,
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
    pause: Pause,
    /// When the places of refused requests may be taken again.
    empty_until: BinaryHeap<Reverse<Duration>>,
}

impl State {
    fn new(settings: &Settings) -> Self {
        Self {
            settings: settings.clone(),
            concurrency: Concurrency::new(settings),
            // Requests are paid in advance, as none may exceed the limit.
            requests: settings.requests_per_minute.map(|most| Bucket { owed: 1, ..Bucket::new(most, 100) }),
            tokens: settings.tokens_per_minute.map(|most| Bucket::new(most, 10)),
            ..Self::default()
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
        let paid = self.requests.iter_mut().chain(&mut self.tokens).try_for_each(Bucket::pay);
        paid.map_err(|wait| Wait::Until(now.saturating_add(wait)))?;
        self.requests.iter_mut().for_each(|requests| requests.owe(1, 0));
        self.correct(0, tokens);
        Ok(self.concurrency.sent(now, timeout))
    }

    fn correct(&mut self, estimate: u64, actual: u64) {
        self.tokens.iter_mut().for_each(|tokens| tokens.owe(actual, estimate));
    }

    fn ended(&mut self, now: Duration, permit: &Permit<'_>) {
        self.concurrency.ended();
        match permit.attempt {
            Attempt::Answered { status: 200..=299, accepted: true, tokens, .. } => {
                self.correct(permit.tokens, tokens.unwrap_or(permit.tokens));
                self.concurrency.answered(now, permit.sent, permit.silence);
                self.answered = Some(now);
            }
            Attempt::Answered { status: status @ (429 | 503 | 529), asked, .. } => {
                let reason = if status == 429 { Reason::RateLimit } else { Reason::Overload };
                self.concurrency.decrease(now, permit.sent, 75, reason);
                self.wait(now, asked.unwrap_or(PENALTY), status, asked.is_some());
            }
            Attempt::TimedOut => self.concurrency.decrease(now, permit.sent, 50, Reason::Timeout),
            Attempt::Answered { status: 200..=299, .. } | Attempt::Broken => self.concurrency.failed(),
            Attempt::Answered { status: 408 | 500..=599, asked, .. } => {
                self.concurrency.failed();
                if let Some(wait) = asked {
                    self.wait(now, wait, 503, true);
                }
            }
            Attempt::Answered { .. } | Attempt::Other => {}
        }
    }

    /// Pauses all requests if the server `asked` for it and the settings say so; otherwise keeps one place empty.
    fn wait(&mut self, now: Duration, wait: Duration, status: u16, asked: bool) {
        let Settings { pause_all, fixed, max_wait, .. } = self.settings;
        if asked && pause_all {
            self.pause.extend(now, wait, status, max_wait);
        } else if fixed.is_none() {
            self.empty_until.push(Reverse(now.saturating_add(wait.min(max_wait))));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// The limit is reached: try again when a request has ended.
    Full,
    /// Try again at this time, or when a request has ended.
    Until(Duration),
    HeldOff(HeldOff),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldOff {
    pub status: u16,
    pub left: Duration,
}

impl HeldOff {
    pub(super) fn at(self, host: String) -> NetError {
        NetError::HeldOff { host, status: self.status, left: self.left }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    pub whole: Duration,
    pub left: Duration,
    pub why: WaitReason,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: Duration,
    until: Duration,
    why: WaitReason,
}

impl Span {
    fn at(self, now: Duration) -> Option<Waiting> {
        let left = self.until.saturating_sub(now);
        let whole = self.until.saturating_sub(self.from);
        (!left.is_zero()).then_some(Waiting { whole, left, why: self.why })
    }
}

/// The pause that a server asked for; of several, the one that ends last.
#[derive(Debug, Default)]
struct Pause {
    from: Duration,
    until: Duration,
    /// The status, if the pause is longer than requests wait for.
    refuses: Option<u16>,
}

impl Pause {
    fn extend(&mut self, now: Duration, wait: Duration, status: u16, max_wait: Duration) {
        let until = now.saturating_add(wait.min(FOREVER));
        if until > self.until {
            // No request waits for the end of a pause that was too long.
            let already = self.refuses.filter(|_| now < self.until);
            (self.from, self.until) = (now, until);
            self.refuses = already.or((wait > max_wait).then_some(status));
        }
    }

    fn span(&self) -> Option<Span> {
        self.refuses.is_none().then_some(Span { from: self.from, until: self.until, why: WaitReason::Asked })
    }

    fn check(&self, now: Duration) -> Result<(), Wait> {
        let left = self.until.saturating_sub(now);
        match self.refuses {
            _ if left.is_zero() => Ok(()),
            Some(status) => Err(Wait::HeldOff(HeldOff { status, left })),
            None => Err(Wait::Until(self.until)),
        }
    }
}

type Direct = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

const MINUTE_NANOS: u64 = 60_000_000_000;

/// The runtime's clock, which tests can pause.
#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// A request is sent once those before it are paid for: a cancelled wait costs nothing, and estimates are corrected.
#[derive(Debug)]
struct Bucket {
    limiter: Direct,
    per_minute: u32,
    burst: NonZeroU32,
    /// Not yet paid; overpaid if negative.
    owed: i64,
}

impl Bucket {
    /// At most `per_minute` in any 60 s, of which a burst may come at once.
    fn new(per_minute: NonZeroU32, divisor: u32) -> Self {
        let burst = per_minute.min(NonZeroU32::MIN.saturating_add(per_minute.get() / divisor));
        let steady = u64::from(per_minute.get() - burst.get()) + 1;
        let quota = Quota::with_period(Duration::from_nanos(MINUTE_NANOS.div_ceil(steady)));
        let quota = quota.unwrap_or_else(|| Quota::per_minute(per_minute)).allow_burst(burst);
        let limiter = RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()));
        Self { limiter, per_minute: per_minute.get(), burst, owed: 0 }
    }

    fn pay(&mut self) -> Result<(), Duration> {
        while let Some(owed) = u32::try_from(self.owed).ok().and_then(NonZeroU32::new) {
            let part = owed.min(self.burst);
            // The outer result fails only for parts larger than the burst.
            if let Ok(Err(until)) = self.limiter.check_n(part) {
                return Err(until.wait_time_from(self.limiter.clock().now()));
            }
            self.owed -= i64::from(part.get());
        }
        Ok(())
    }

    /// Changes what is owed, which is never more than a minute's share, even if a server reports more.
    fn owe(&mut self, more: u64, less: u64) {
        let most = i64::from(self.per_minute);
        let capped = |amount: u64| i64::try_from(amount).unwrap_or(most).min(most);
        self.owed = (self.owed + capped(more) - capped(less)).clamp(-most, most);
    }
}

#[cfg(test)]
mod tests;
