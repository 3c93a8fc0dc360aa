use super::Gate;
use crate::net::adaptive::{Outcome, Settings};
use std::future::Future;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const OK: Outcome = Outcome::Ok { tokens: None };

/// Runs `task` and counts how often it is polled.
async fn polls<T>(task: impl Future<Output = T>) -> (T, usize) {
    let mut task = pin!(task);
    let mut count = 0;
    let value = std::future::poll_fn(|cx| {
        count += 1;
        task.as_mut().poll(cx)
    });
    let value = value.await;
    (value, count)
}

/// Lets every other task run as far as it comes.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

#[tokio::test(start_paused = true)]
async fn places_are_given_in_order_of_arrival() {
    let gate = Arc::new(Gate::new(Settings::fixed(2)));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for number in 0..20 {
        let (gate, order) = (Arc::clone(&gate), Arc::clone(&order));
        tasks.push(tokio::spawn(async move {
            let pass = gate.enter(0).await.expect("nobody is held off");
            order.lock().expect("no test panics here").push(number);
            assert!(gate.in_flight() <= 2);
            sleep(SECOND).await;
            pass.end(OK);
        }));
        settle().await;
    }
    for task in tasks {
        task.await.expect("no test panics here");
    }
    assert_eq!(*order.lock().expect("no test panics here"), (0..20).collect::<Vec<_>>());
    assert_eq!(gate.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn whoever_gives_up_waiting_leaves_no_trace() {
    let gate = Gate::new(Settings::fixed(1));
    let first = gate.enter(0).await.expect("a free place");
    let (head, second) = (timeout(SECOND, gate.enter(0)), timeout(2 * SECOND, gate.enter(0)));
    let third = timeout(10 * SECOND, gate.enter(0));
    let free = async {
        sleep(3 * SECOND).await;
        first.end(OK);
    };
    let (head, second, third, ()) = tokio::join!(head, second, third, free);
    assert!(head.is_err() && second.is_err());
    drop(third.expect("the place of the first").expect("nobody is held off"));
    assert_eq!(gate.in_flight(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_wake_up_is_not_lost_with_the_one_that_it_woke() {
    let gate = Gate::new(Settings::fixed(1));
    let first = gate.enter(0).await.expect("a free place");
    let mut head = Box::pin(gate.enter(0));
    let mut next = Box::pin(gate.enter(0));
    std::future::poll_fn(|cx| {
        assert!(head.as_mut().poll(cx).is_pending() && next.as_mut().poll(cx).is_pending());
        Poll::Ready(())
    })
    .await;
    // The head is woken and dropped before it can look.
    first.end(OK);
    drop(head);
    let pass = timeout(SECOND, next).await.expect("it is its turn").expect("nobody is held off");
    drop(pass);
}

#[tokio::test(start_paused = true)]
async fn a_pass_that_is_dropped_frees_its_place() {
    let gate = Gate::new(Settings::fixed(1));
    let work = async {
        let _pass = gate.enter(0).await.expect("a free place");
        sleep(100 * SECOND).await;
    };
    assert!(timeout(SECOND, work).await.is_err());
    assert_eq!(gate.in_flight(), 0);
    assert!(timeout(SECOND, gate.enter(0)).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_slept_through() {
    let gate = Gate::new(Settings {
        fixed: Some(8),
        requests_per_minute: NonZeroU32::new(1),
        hold_all: true,
        ..Settings::default()
    });
    let start = Instant::now();
    gate.enter(0).await.expect("the first").end(OK);
    let (pass, count) = polls(gate.enter(0)).await;
    pass.expect("nobody is held off").end(Outcome::RateLimited { retry_after: Some(90 * SECOND) });
    assert_eq!(start.elapsed().as_secs(), 60);
    // The end above left one wake-up behind; then it slept.
    assert!(count <= 3, "polled {count} times in a minute");
    let (pass, count) = polls(gate.enter(0)).await;
    assert_eq!(start.elapsed().as_secs(), 150);
    assert!(pass.is_ok() && count <= 3, "polled {count} times in a minute and a half");
}

#[tokio::test(start_paused = true)]
async fn a_full_gate_wakes_its_head_only_when_a_place_is_free() {
    let gate = Gate::new(Settings::fixed(3));
    let mut passes = Vec::new();
    for _ in 0..3 {
        passes.push(gate.enter(0).await.expect("a free place"));
    }
    let free = async {
        sleep(3600 * SECOND).await;
        drop(passes.pop());
    };
    let ((pass, count), ()) = tokio::join!(polls(gate.enter(0)), free);
    assert!(pass.is_ok());
    assert!(count <= 3, "polled {count} times in an hour");
}

#[tokio::test(start_paused = true)]
async fn growth_lets_more_in_at_once() {
    let gate = Arc::new(Gate::new(Settings { initial: 4, max: 64, ..Settings::default() }));
    let most = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..600)
        .map(|_| {
            let (gate, most) = (Arc::clone(&gate), Arc::clone(&most));
            tokio::spawn(async move {
                let pass = gate.enter(0).await.expect("nobody is held off");
                most.fetch_max(gate.in_flight(), Ordering::Relaxed);
                sleep(SECOND).await;
                pass.end(OK);
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("no test panics here");
    }
    assert_eq!((most.load(Ordering::Relaxed), gate.limit(), gate.in_flight()), (64, 64, 0));
    let limits: Vec<usize> = gate.history().changes().iter().map(|change| change.to).collect();
    assert_eq!(limits, [8, 16, 32, 64]);
}

#[tokio::test(start_paused = true)]
async fn too_long_a_wish_turns_all_away_those_who_wait_too() {
    let gate = Gate::new(Settings { hold_all: true, ..Settings::fixed(1) });
    let pass = gate.enter(0).await.expect("a free place");
    let refuse = async {
        sleep(SECOND).await;
        pass.end(Outcome::RateLimited { retry_after: Some(3600 * SECOND) });
    };
    let (first, second, ()) = tokio::join!(gate.enter(0), gate.enter(0), refuse);
    for held in [first, second] {
        let held = held.expect_err("the server wants nothing for an hour");
        assert_eq!((held.status, held.left), (429, 3600 * SECOND));
    }
    sleep(3600 * SECOND).await;
    assert!(gate.enter(0).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_large_request_is_not_overtaken() {
    let gate = Gate::new(Settings { tokens_per_minute: NonZeroU32::new(1000), ..Settings::fixed(9) });
    gate.enter(900).await.expect("the first").end(OK);
    let start = Instant::now();
    let when = async |tokens| {
        gate.enter(tokens).await.expect("nobody is held off").end(OK);
        start.elapsed().as_secs()
    };
    let (large, small) = tokio::join!(when(800), when(1));
    assert_eq!(large, 60);
    assert!(small >= large);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_on_several_threads_lose_no_place() {
    let gate = Arc::new(Gate::new(Settings { initial: 2, max: 5, ..Settings::default() }));
    let tasks: Vec<_> = (0..400_u32)
        .map(|number| {
            let gate = Arc::clone(&gate);
            tokio::spawn(async move {
                // Some give up while they wait, some while they work.
                let patience = if number % 5 == 0 { Duration::from_micros(200) } else { Duration::from_hours(1) };
                let work = async {
                    let pass = gate.enter(0).await.expect("nobody is held off");
                    tokio::task::yield_now().await;
                    sleep(Duration::from_micros(100)).await;
                    pass.end(OK);
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
    assert_eq!(gate.in_flight(), 0);
    assert!(gate.limit() <= 5);
}
