//! Requests and tokens per minute, by `governor`.

use super::settings::Settings;
use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::time::Duration;
use tokio::time::Instant;

type Direct = RateLimiter<NotKeyed, InMemoryState, TokioClock, NoOpMiddleware<Duration>>;

const MINUTE_NANOS: u64 = 60_000_000_000;

/// The runtime's clock, which tests can stop.
#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// What may be sent in a minute.
#[derive(Debug)]
pub(super) struct Rate {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

/// A request is sent when those before it are paid for. So one that gives up waiting costs nothing, and a wrong estimate can
/// be corrected.
#[derive(Debug)]
struct Bucket {
    limiter: Direct,
    per_minute: u32,
    burst: NonZeroU32,
    /// What is not paid for yet; what was paid too much if negative.
    owed: i64,
}

impl Rate {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            // The first request is paid for in advance, as every minute counts whole requests.
            requests: settings.requests_per_minute.map(|most| Bucket { owed: 1, ..Bucket::new(most, 100) }),
            tokens: settings.tokens_per_minute.map(|most| Bucket::new(most, 10)),
        }
    }

    /// Counts a request with so many `tokens`, or says how long to wait and counts nothing.
    pub(super) fn take(&mut self, tokens: u64) -> Result<(), Duration> {
        self.requests.iter_mut().chain(&mut self.tokens).try_for_each(Bucket::pay)?;
        self.requests.iter_mut().for_each(|requests| requests.owe(1, 0));
        self.correct(0, tokens);
        Ok(())
    }

    /// A request that was counted with `estimate` tokens took `actual` ones.
    pub(super) fn correct(&mut self, estimate: u64, actual: u64) {
        self.tokens.iter_mut().for_each(|tokens| tokens.owe(actual, estimate));
    }
}

impl Bucket {
    /// At most `per_minute` are paid in any 60 s, a part of them at one moment: that is taken off the rest of the minute.
    fn new(per_minute: NonZeroU32, divisor: u32) -> Self {
        let burst = per_minute.min(NonZeroU32::MIN.saturating_add(per_minute.get() / divisor));
        let steady = u64::from(per_minute.get() - burst.get()) + 1;
        let quota = Quota::with_period(Duration::from_nanos(MINUTE_NANOS.div_ceil(steady)));
        let quota = quota.unwrap_or_else(|| Quota::per_minute(per_minute)).allow_burst(burst);
        let limiter = RateLimiter::direct_with_clock(quota, TokioClock(Instant::now()));
        Self { limiter, per_minute: per_minute.get(), burst, owed: 0 }
    }

    /// Pays what is owed, as far as the minute allows; otherwise says how long to wait.
    fn pay(&mut self) -> Result<(), Duration> {
        while let Some(owed) = u32::try_from(self.owed).ok().and_then(NonZeroU32::new) {
            let part = owed.min(self.burst);
            // A part is never larger than the burst, so the outer result is no error.
            if let Ok(Err(until)) = self.limiter.check_n(part) {
                return Err(until.wait_time_from(self.limiter.clock().now()));
            }
            self.owed -= i64::from(part.get());
        }
        Ok(())
    }

    /// Adds to what is owed, and takes away. No more than a minute's share is ever owed, whatever a server claims.
    fn owe(&mut self, more: u64, less: u64) {
        let most = i64::from(self.per_minute);
        let capped = |amount: u64| i64::try_from(amount).unwrap_or(most).min(most);
        self.owed = (self.owed + capped(more) - capped(less)).clamp(-most, most);
    }
}
