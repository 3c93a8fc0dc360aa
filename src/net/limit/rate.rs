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

/// The runtime's clock, which tests can pause.
#[derive(Debug)]
struct TokioClock(Instant);

impl Clock for TokioClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[derive(Debug)]
pub(super) struct Rate {
    requests: Option<Bucket>,
    tokens: Option<Bucket>,
}

/// A request is sent once the ones before it are paid for, so that a cancelled wait costs nothing and estimates can be
/// corrected.
#[derive(Debug)]
struct Bucket {
    limiter: Direct,
    per_minute: u32,
    burst: NonZeroU32,
    /// Not yet paid; overpaid if negative.
    owed: i64,
}

impl Rate {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            // Requests are paid in advance, as none may exceed the limit.
            requests: settings.requests_per_minute.map(|most| Bucket { owed: 1, ..Bucket::new(most, 100) }),
            tokens: settings.tokens_per_minute.map(|most| Bucket::new(most, 10)),
        }
    }

    /// Counts a request with `tokens`, or returns how long to wait.
    pub(super) fn take(&mut self, tokens: u64) -> Result<(), Duration> {
        self.requests.iter_mut().chain(&mut self.tokens).try_for_each(Bucket::pay)?;
        self.requests.iter_mut().for_each(|requests| requests.owe(1, 0));
        self.correct(0, tokens);
        Ok(())
    }

    /// Corrects the estimate of a request to its actual tokens.
    pub(super) fn correct(&mut self, estimate: u64, actual: u64) {
        self.tokens.iter_mut().for_each(|tokens| tokens.owe(actual, estimate));
    }
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

    /// Pays what is owed, or returns how long to wait.
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
