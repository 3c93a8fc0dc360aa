mod simulation;

use super::{Activity, Attempt, Limiter, Limiters, Settings, Waiting};
use crate::base::WaitReason;
use secrecy::SecretString;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const TIMEOUT: Duration = Duration::from_mins(2);
const OK: Attempt = Attempt::answered(200, None);

fn after(wait: Duration) -> Attempt {
    Attempt::answered(429, Some(wait))
}

fn in_flight(limiter: &Limiter) -> usize {
    limiter.with(|state, _| state.concurrency.in_flight())
}

#[tokio::test(start_paused = true)]
async fn permits_are_granted_in_order_of_arrival() {
    let limiter = Arc::new(Limiter::new(&Settings::fixed(2)));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for number in 0..20 {
        let (limiter, order) = (Arc::clone(&limiter), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let permit = limiter.acquire(0, TIMEOUT).await.expect("no pause");
            order.lock().expect("no test panics here").push(number);
            assert!(in_flight(&limiter) <= 2);
            sleep(SECOND).await;
            permit.end(OK);
        }));
        sleep(SECOND / 1000).await;
    }
    for task in tasks {
        task.await.expect("no test panics here");
    }
    assert_eq!(*order.lock().expect("no test panics here"), (0..20).collect::<Vec<_>>());
    assert_eq!(in_flight(&limiter), 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_leaves_no_trace() {
    let limiter = Limiter::new(&Settings::fixed(1));
    let work = async {
        let _permit = limiter.acquire(0, TIMEOUT).await.expect("a free place");
        sleep(100 * SECOND).await;
    };
    assert!(timeout(SECOND, work).await.is_err(), "cancelled in flight");
    assert_eq!(in_flight(&limiter), 0);

    let first = limiter.acquire(0, TIMEOUT).await.expect("a free place");
    let mut head = Box::pin(limiter.acquire(0, TIMEOUT));
    let mut second = Box::pin(limiter.acquire(0, TIMEOUT));
    let mut third = Box::pin(limiter.acquire(0, TIMEOUT));
    std::future::poll_fn(|cx| {
        assert!([&mut head, &mut second, &mut third].into_iter().all(|one| one.as_mut().poll(cx).is_pending()));
        Poll::Ready(())
    })
    .await;
    drop(second);
    // The head is woken and cancelled: its notification is not lost.
    first.end(OK);
    drop(head);
    let permit = timeout(SECOND, third).await.expect("it is its turn").expect("no pause");
    drop(permit);
    assert_eq!(in_flight(&limiter), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_place_is_lost_with_many_tasks_on_several_threads() {
    let limiter = Arc::new(Limiter::new(&Settings::up_to(2, 5)));
    let tasks: Vec<_> = (0..400_u32)
        .map(|number| {
            let limiter = Arc::clone(&limiter);
            tokio::spawn(async move {
                // Some are cancelled while they wait, some while they work.
                let patience = if number % 5 == 0 { Duration::from_micros(200) } else { Duration::from_hours(1) };
                let work = async {
                    let permit = limiter.acquire(0, TIMEOUT).await.expect("no pause");
                    tokio::task::yield_now().await;
                    sleep(Duration::from_micros(100)).await;
                    permit.end(OK);
                };
                timeout(patience, work).await.is_ok()
            })
        })
        .collect();
    let mut done = 0;
    for task in tasks {
        done += usize::from(task.await.expect("no test panics here"));
    }
    assert!(done >= 320, "{done} of 400");
    assert!(in_flight(&limiter) == 0 && limiter.limit() <= 5);
}

#[tokio::test(start_paused = true)]
async fn a_refused_request_leaves_its_place_empty_or_pauses_all() {
    for (settings, waits) in [
        (Settings::up_to(3, 3), [0, 20]),
        (Settings { pause_all: true, ..Settings::up_to(3, 3) }, [20, 20]),
        (Settings::fixed(3), [0, 0]),
        (Settings { pause_all: true, ..Settings::fixed(3) }, [20, 20]),
    ] {
        let limiter = Limiter::new(&settings);
        let start = Instant::now();
        limiter.acquire(0, TIMEOUT).await.expect("no pause").end(after(20 * SECOND));
        let mut permits = Vec::new();
        for wait in waits {
            permits.push(limiter.acquire(0, TIMEOUT).await.expect("a short pause is waited for"));
            assert_eq!(start.elapsed().as_secs(), wait, "{limiter:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn during_too_long_a_pause_all_requests_fail() {
    let limiter = Limiter::new(&Settings { pause_all: true, ..Settings::fixed(1) });
    let permit = limiter.acquire(0, TIMEOUT).await.expect("a free place");
    let refuse = async {
        sleep(SECOND).await;
        permit.end(after(3600 * SECOND));
    };
    let (first, second, ()) = tokio::join!(limiter.acquire(0, TIMEOUT), limiter.acquire(0, TIMEOUT), refuse);
    for held in [first, second] {
        let held = held.expect_err("the server wants nothing for an hour");
        assert_eq!((held.status, held.left), (429, 3600 * SECOND));
    }
    sleep(3599 * SECOND).await;
    limiter.hold(60 * SECOND, 503);
    assert_eq!(limiter.acquire(0, TIMEOUT).await.expect_err("still too long").left, 60 * SECOND);
    sleep(60 * SECOND).await;
    drop(limiter.acquire(0, TIMEOUT).await.expect("the pause is over"));
    limiter.hold(90 * SECOND, 429);
    let start = Instant::now();
    assert!(limiter.acquire(0, TIMEOUT).await.is_ok());
    assert_eq!(start.elapsed().as_secs(), 90);
}

/// The times of requests of this many tokens, sent for ten minutes as fast as allowed, with this outcome.
async fn sent(settings: Settings, tokens: u64, outcome: Attempt) -> Vec<Duration> {
    let limiter = Limiter::new(&settings);
    let start = Instant::now();
    let mut times = Vec::new();
    while let Ok(permit) = limiter.acquire(tokens, TIMEOUT).await
        && start.elapsed() < 600 * SECOND
    {
        permit.end(outcome);
        times.push(start.elapsed());
    }
    times
}

fn most_in_a_minute(times: &[Duration]) -> usize {
    let within = |from: Duration| times.iter().filter(|at| (from..from + 60 * SECOND).contains(*at)).count();
    times.iter().map(|at| within(*at)).max().unwrap_or(0)
}

#[tokio::test(start_paused = true)]
async fn no_minute_has_more_requests_than_allowed_and_few_are_wasted() {
    for cap in [1, 2, 7, 60, 180, 999] {
        let settings = Settings { requests_per_minute: NonZeroU32::new(cap), ..Settings::fixed(8) };
        let times = sent(settings, 0, Attempt::Broken).await;
        let cap = cap as usize;
        assert!(most_in_a_minute(&times) <= cap, "{cap} allowed, {}", most_in_a_minute(&times));
        assert!(times.len() * 10 >= 9 * 10 * cap, "{cap} allowed, {} in ten minutes", times.len());
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_estimated_and_corrected() {
    let settings = || Settings { tokens_per_minute: NonZeroU32::new(1000), ..Settings::fixed(8) };
    for (estimate, actual, requests) in [
        // In ten minutes 9,000 tokens and a burst of 100.
        (10, None, 880..=920),
        (400, None, 22..=24),
        (400, Some(10), 880..=920),
        (10, Some(400), 22..=24),
        // More than a minute's share counts as a minute's share, whatever a server claims.
        (5000, None, 9..=11),
        (0, Some(u64::MAX), 9..=11),
    ] {
        let times =
            sent(settings(), estimate, Attempt::Answered { status: 200, accepted: true, asked: None, tokens: actual })
                .await;
        assert!(requests.contains(&times.len()), "{estimate} {actual:?}: {} requests", times.len());
    }
    // A minute's share, and the last request.
    assert_eq!(most_in_a_minute(&sent(settings(), 400, OK).await), 3);

    let limiter = Limiter::new(&settings());
    limiter.acquire(900, TIMEOUT).await.expect("the first").end(OK);
    let start = Instant::now();
    let when = async |tokens| {
        limiter.acquire(tokens, TIMEOUT).await.expect("no pause").end(OK);
        start.elapsed().as_secs()
    };
    let (large, small) = tokio::join!(when(800), when(1));
    assert!((50..60).contains(&large) && small > large, "the large one is not overtaken: {large} {small}");
}

#[tokio::test(start_paused = true)]
async fn what_everything_waits_for_is_known() {
    let limiter = Limiter::new(&Settings { max_wait: 100 * SECOND, ..Settings::fixed(2) });
    assert_eq!(limiter.activity(), Activity { sent: 0, busy: false, waiting: None });
    let seen = async |wait: Duration| {
        let permit = limiter.acquire(0, TIMEOUT).await.expect("a free place");
        assert!(limiter.activity().busy);
        permit.end(after(wait));
        limiter.rest(wait, true).await
    };
    let ((), first, second) = tokio::join!(
        async {
            sleep(10 * SECOND).await;
            let waiting = Waiting { whole: 58 * SECOND, left: 48 * SECOND, why: WaitReason::Asked };
            assert_eq!(limiter.activity(), Activity { sent: 2, busy: false, waiting: Some(waiting) });
            let _sent = limiter.acquire(0, TIMEOUT).await.expect("the places are free");
            assert_eq!(limiter.activity().waiting, None, "one is under way");
        },
        seen(58 * SECOND),
        seen(60 * SECOND),
    );
    assert_eq!((first, second), (Ok(()), Ok(())));
    assert_eq!(limiter.activity().waiting, None, "all waits are over");
    assert!(!limiter.answered_within(TIMEOUT));
    limiter.acquire(0, TIMEOUT).await.expect("a free place").end(OK);
    assert!(limiter.answered_within(SECOND));
}

#[tokio::test(start_paused = true)]
async fn nobody_waits_on_once_the_server_asks_for_too_long() {
    let limiter = Limiter::new(&Settings { max_wait: 100 * SECOND, ..Settings::fixed(2) });
    let begun = Instant::now();
    let (rested, ()) = tokio::join!(limiter.rest(90 * SECOND, false), async {
        sleep(5 * SECOND).await;
        limiter.hold(101 * SECOND, 429);
    });
    assert_eq!(rested.map_err(|held| (held.status, held.left)), Err((429, 101 * SECOND)));
    assert_eq!(begun.elapsed(), 5 * SECOND);
    assert!(limiter.rest(SECOND, false).await.is_err());
    assert_eq!(limiter.activity().waiting, None, "nothing is waited for");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_for_the_place_of_a_refused_request_waits_as_the_server_asks() {
    let limiter = Limiter::new(&Settings::up_to(1, 4));
    limiter.acquire(0, TIMEOUT).await.expect("a free place").end(after(58 * SECOND));
    tokio::select! {
        _ = limiter.acquire(0, TIMEOUT) => panic!("the place is empty"),
        () = async {
            sleep(8 * SECOND).await;
            let waiting = Waiting { whole: 58 * SECOND, left: 50 * SECOND, why: WaitReason::Asked };
            assert_eq!(limiter.activity().waiting, Some(waiting));
        } => {}
    }
}

#[test]
fn a_limiter_belongs_to_a_provider_and_a_key() {
    let limiters = Limiters::default();
    let key = |text: &str| Some(SecretString::from(text));
    let first = limiters.of("a.example", key("sesame").as_ref(), &Settings::fixed(3));
    let again = limiters.of("a.example", key("sesame").as_ref(), &Settings::fixed(9));
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!(again.limit(), 3);
    for (provider, key) in [("a.example", key("two")), ("a.example", None), ("b.example", key("sesame"))] {
        assert!(!Arc::ptr_eq(&first, &limiters.of(provider, key.as_ref(), &Settings::default())), "{provider}");
    }
    let names: Vec<String> = limiters.each().into_iter().map(|(provider, _)| provider).collect();
    assert_eq!(names, ["a.example", "a.example", "a.example", "b.example"]);
    assert!(!format!("{limiters:?}").contains("sesame"));
}
