//! How many requests at once, how many a minute, and none while the server wants none.

use super::hold::{Hold, Left};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Lets requests through one by one.
#[derive(Debug)]
pub(crate) struct Gate {
    slots: Semaphore,
    limiter: Option<RateLimiter<NotKeyed, InMemoryState, DefaultClock, NoOpMiddleware>>,
    clock: DefaultClock,
    hold: Mutex<Hold>,
}

/// The server asked for a longer wait than requests take on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The status with which it asked.
    pub(crate) status: u16,
    /// How long its wish still lasts.
    pub(crate) left: Duration,
}

impl Gate {
    /// A gate for `concurrent` requests at once (0 is read as 1) and `per_minute` in any minute.
    pub(crate) fn new(concurrent: usize, per_minute: Option<NonZeroU32>) -> Self {
        let slots = Semaphore::new(concurrent.clamp(1, Semaphore::MAX_PERMITS));
        let limiter = per_minute.map(|n| RateLimiter::direct(quota(n)));
        Self { slots, limiter, clock: DefaultClock::default(), hold: Mutex::default() }
    }

    /// Waits until a request may be sent. The slot is free again when the permit is dropped.
    pub(crate) async fn enter(&self) -> Result<Option<SemaphorePermit<'_>>, Refused> {
        loop {
            // The semaphore is never closed; were it so, requests would merely go unlimited.
            let permit = self.slots.acquire().await.ok();
            let Some(wait) = self.must_wait()? else { return Ok(permit) };
            // A slot that waits for the minute to pass would keep others from reading their answers.
            drop(permit);
            tokio::time::sleep(wait).await;
        }
    }

    /// Lets nothing through for `wait`, because the server asked for it with this status.
    pub(crate) fn hold(&self, wait: Duration, status: u16) {
        self.held().extend(Instant::now(), wait, status);
    }

    fn held(&self) -> MutexGuard<'_, Hold> {
        // Nothing can panic while it is changed.
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn must_wait(&self) -> Result<Option<Duration>, Refused> {
        // The server's wish comes first, so that a request that it stops takes nothing from the minute's share.
        match self.held().left(Instant::now()) {
            Left::Refused { status, left } => return Err(Refused { status, left }),
            Left::Wait(left) => return Ok(Some(left)),
            Left::Nothing => {}
        }
        let denied = self.limiter.as_ref().and_then(|limiter| limiter.check().err());
        Ok(denied.map(|denied| denied.wait_time_from(self.clock.now())))
    }
}

/// The quota under which no minute, wherever it begins, sees more than `per_minute` requests.
///
/// A tenth may come at once; the rest is spread evenly, so that burst and flow together stay below the limit.
fn quota(per_minute: NonZeroU32) -> Quota {
    let burst = NonZeroU32::new(per_minute.get() / 10).unwrap_or(NonZeroU32::MIN);
    let flow = (per_minute.get() - burst.get()).max(1);
    // The period is at least 60 s / 2^32, hence never zero.
    let period = Duration::from_mins(1) / flow;
    Quota::with_period(period.max(Duration::from_nanos(1)))
        .unwrap_or_else(|| Quota::per_minute(per_minute))
        .allow_burst(burst)
}

#[cfg(test)]
mod tests {
    use super::{Gate, quota};
    use governor::RateLimiter;
    use governor::clock::FakeRelativeClock;
    use std::num::NonZeroU32;
    use std::time::Duration;

    #[test]
    fn no_minute_sees_more_than_the_limit() {
        for per_minute in [2, 10, 60, 180, 2000] {
            let clock = FakeRelativeClock::default();
            let limit = NonZeroU32::new(per_minute).expect("not zero");
            let limiter = RateLimiter::direct_with_clock(quota(limit), clock.clone());
            let mut sent: Vec<u64> = Vec::new();
            for ms in (0..180_000).step_by(5) {
                while limiter.check().is_ok() {
                    sent.push(ms);
                }
                clock.advance(Duration::from_millis(5));
            }
            let most = sent.iter().map(|t| sent.iter().filter(|u| (*t..t + 60_000).contains(*u)).count()).max();
            assert!(most <= Some(per_minute as usize), "{most:?} of {per_minute}");
            assert!(sent.len() * 2 >= per_minute as usize * 3, "{} in three minutes of {per_minute}", sent.len());
        }
    }

    #[tokio::test]
    async fn slots_are_counted() {
        let gate = Gate::new(2, None);
        let first = gate.enter().await.expect("nobody refuses");
        let second = gate.enter().await.expect("nobody refuses");
        assert!(first.is_some() && second.is_some());
        assert_eq!(gate.slots.available_permits(), 0);
        drop(first);
        assert_eq!(gate.slots.available_permits(), 1);
    }
}
