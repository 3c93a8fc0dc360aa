//! Whole runs against servers of different behaviour, on a paused clock.

use super::super::{Attempt, Limiter, Settings};
use crate::base::LimitChange;
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_mins(2);

/// What a server does with more requests than it has slots.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Excess {
    /// Queues them, as llama.cpp does.
    Queues,
    /// Answers with this status at once.
    Refuses(u16),
}

struct Server {
    excess: Excess,
    slots: Semaphore,
    service: Duration,
    /// How far answers deviate from `service`, in percent.
    jitter: u32,
    random: Cell<u64>,
    /// Refuses everything between these times.
    outage: std::ops::Range<Duration>,
}

impl Server {
    fn new(excess: Excess, slots: u32, service: Duration, jitter: u32) -> Self {
        let slots = Semaphore::new(slots as usize);
        Self { excess, slots, service, jitter, random: Cell::new(1), outage: Duration::ZERO..Duration::ZERO }
    }

    /// Uniform within the jitter.
    fn service(&self) -> Duration {
        let next = self.random.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random.set(next);
        let part = u32::try_from(next >> 33).expect("31 bits") % (2 * self.jitter + 1);
        self.service / 100 * (100 - self.jitter + part)
    }

    async fn answer(&self, now: Duration) -> Attempt {
        let refused = |status| Attempt::answered(status, None);
        if self.outage.contains(&now) {
            return refused(503);
        }
        let slot = match self.excess {
            Excess::Queues => self.slots.acquire().await,
            Excess::Refuses(status) => match self.slots.try_acquire() {
                Ok(slot) => Ok(slot),
                Err(_) => return refused(status),
            },
        };
        sleep(self.service()).await;
        drop(slot);
        Attempt::answered(200, None)
    }
}

/// What happened.
#[derive(Debug, Default)]
struct Seen {
    /// Times of the good answers.
    good: Vec<Duration>,
    refused: usize,
    timed_out: usize,
    changes: Vec<LimitChange>,
}

impl Seen {
    /// Good answers between two times, in percent of what so many `slots` can give.
    fn used(&self, times: std::ops::Range<Duration>, slots: u32, service: Duration) -> u32 {
        let possible = times.end.saturating_sub(times.start).as_nanos() * u128::from(slots) / service.as_nanos();
        let count = self.good.iter().filter(|at| times.contains(*at)).count();
        u32::try_from(100 * count as u128 / possible).expect("a percentage")
    }
}

/// 200 clients send requests until `end`; one that is refused waits for a second.
async fn run(server: &Server, end: Duration) -> Seen {
    let limiter = Limiter::new(&Settings::default());
    let seen = RefCell::new(Seen::default());
    let start = Instant::now();
    let client = async || {
        while start.elapsed() < end {
            let permit = limiter.acquire(0, TIMEOUT).await.expect("no pause is asked for");
            let outcome = timeout(TIMEOUT, server.answer(start.elapsed())).await.unwrap_or(Attempt::TimedOut);
            permit.end(outcome);
            match outcome {
                Attempt::Answered { status: 200, .. } => seen.borrow_mut().good.push(start.elapsed()),
                Attempt::TimedOut => seen.borrow_mut().timed_out += 1,
                _ => {
                    seen.borrow_mut().refused += 1;
                    sleep(SECOND).await;
                }
            }
        }
    };
    let _ = timeout(end, futures_util::future::join_all((0..200).map(|_| client()))).await;
    Seen { changes: limiter.history().changes, ..seen.take() }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_queues_is_used_without_timeouts() {
    for (slots, servers) in [
        (1, [(10, 0), (30, 20), (30, 90), (60, 0), (60, 20)].as_slice()),
        (2, &[(10, 90), (30, 20), (60, 0), (60, 20)]),
        (4, &[(10, 20), (10, 90), (30, 50), (60, 0), (60, 20)]),
        (8, &[(1, 50), (1, 90), (30, 50)]),
    ] {
        for &(seconds, jitter) in servers {
            let service = SECOND * seconds;
            let seen = run(&Server::new(Excess::Queues, slots, service, jitter), service * 300).await;
            let (begin, rest) = (Duration::ZERO..service * 60, service * 60..service * 300);
            let used = (seen.used(begin, slots, service), seen.used(rest, slots, service));
            let shown = format!("{slots} slots of {seconds} s ±{jitter} %: {used:?} % used, {:?}", seen.changes);
            assert_eq!((seen.timed_out, seen.refused), (0, 0), "{shown}");
            assert!(used.0 >= 45 && used.1 >= 90, "{shown}");
            let last = seen.changes.last().map_or(1, |change| change.to);
            assert!(last <= 3 * slots as usize, "{shown}");
            assert!(seen.changes.iter().any(|change| change.reason == "no_gain"), "{shown}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_fast_server_is_soon_used_in_full() {
    for (seconds, jitter) in [(1, 0), (1, 50), (1, 90), (10, 0), (10, 90)] {
        let service = SECOND * seconds;
        let seen = run(&Server::new(Excess::Queues, 1000, service, jitter), service * 60).await;
        let reached =
            seen.changes.iter().find(|change| change.to == 100).map(|change| Duration::from_millis(change.at_ms));
        assert!(reached.is_some_and(|at| at < service * 40), "{seconds} s ±{jitter} %: {:?}", seen.changes);
        assert_eq!((seen.timed_out, seen.refused), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_refuses_is_used_and_seldom_refuses() {
    for status in [429, 503] {
        for (slots, seconds) in [(1, 5), (2, 1), (3, 5), (5, 1), (20, 5), (30, 1)] {
            let service = SECOND * seconds;
            let seen = run(&Server::new(Excess::Refuses(status), slots, service, 50), service * 300).await;
            let used = seen.used(service * 60..service * 300, slots, service);
            let shown = format!("{status}, {slots} slots of {seconds} s: {used} % used, {} refused", seen.refused);
            assert!(used >= 80 && seen.refused * 100 <= seen.good.len() * 9, "{shown}: {:?}", seen.changes);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn after_an_outage_the_limit_soon_comes_back() {
    for (slots, seconds) in [(50, 1), (1000, 2)] {
        let service = SECOND * seconds;
        let outage = service * 60..service * 120;
        let server = Server { outage, ..Server::new(Excess::Refuses(429), slots, service, 50) };
        let seen = run(&server, service * 200).await;
        // Those in flight, then one per second.
        assert!(seen.refused <= 500, "{} refused: {:?}", seen.refused, seen.changes);
        let used = seen.used(service * 150..service * 200, slots.min(75), service);
        assert!(used >= 75, "{used} % used: {:?}", seen.changes);
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_falls_with_the_slots_of_a_server() {
    for (slots, lost, seconds) in [(4, 3, 20), (8, 7, 15), (16, 12, 10)] {
        let service = SECOND * seconds;
        let server = Server::new(Excess::Queues, slots, service, 20);
        let lose = async {
            sleep(service * 100).await;
            for _ in 0..lost {
                server.slots.acquire().await.expect("open").forget();
            }
        };
        let (seen, ()) = tokio::join!(run(&server, service * 600), lose);
        let used = seen.used(service * 120..service * 600, slots - lost, service);
        assert!(used >= 90 && seen.timed_out <= 2, "{used} % used, {} timed out: {:?}", seen.timed_out, seen.changes);
        let last = seen.changes.last().map_or(1, |change| change.to);
        assert!(last < slots as usize, "{:?}", seen.changes);
    }
}
