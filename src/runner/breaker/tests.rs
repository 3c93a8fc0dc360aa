//! Tests of the breaker with requests that end when they are told to.

use super::{Breaker, Breakers};
use crate::base::{Cause, Service};
use futures_util::FutureExt as _;
use std::sync::Arc;

fn breaker(breakers: &Breakers) -> Arc<Breaker> {
    breakers.breaker(Service::Model, Some("http://h/v1"))
}

/// How many of so many requests are let through at once.
fn at_once(breaker: &Breaker, wanted: usize) -> usize {
    let passes: Vec<_> = (0..wanted).map(|_| breaker.pass().now_or_never().flatten()).collect();
    passes.iter().flatten().count()
}

#[tokio::test]
async fn the_first_request_goes_alone_and_after_an_answer_all_go() {
    let breaker = breaker(&Breakers::new(None));
    assert_eq!(at_once(&breaker, 50), 1);
    let (first, second) = (breaker.begin().now_or_never().flatten(), breaker.begin().now_or_never());
    assert!(first.is_some() && second.is_none(), "so does the first episode");
    breaker.answered();
    assert_eq!(at_once(&breaker, 50), 50);
    assert!(breaker.begin().now_or_never().flatten().is_some());
}

#[tokio::test]
async fn refusals_come_one_by_one_and_failed_connections_together_until_there_are_ten() {
    for (cause, together) in [(Cause::Key, 1), (Cause::ConnectionRefused, 9)] {
        let breakers = Breakers::new(None);
        let breaker = breaker(&breakers);
        for failed in 0..10 {
            assert_eq!(breakers.trip(), None);
            let expected = if failed == 0 { 1 } else { together.min(10 - failed) };
            assert_eq!(at_once(&breaker, 50), expected, "{cause:?} {failed}");
            breaker.failed(cause, "no".to_owned());
        }
        let trip = breakers.trip().expect("given up");
        assert_eq!(trip.reason, "10 requests in a row failed for the same reason: no");
        assert_eq!((at_once(&breaker, 50), trip.failure.cause), (0, cause));
        assert!(breaker.begin().await.is_none());
    }
}

#[tokio::test]
async fn only_a_row_of_one_lasting_reason_counts() {
    let breakers = Breakers::new(Some(3));
    let breaker = breaker(&breakers);
    for _ in 0..5 {
        breaker.failed(Cause::Key, "no".to_owned());
        breaker.failed(Cause::Key, "no".to_owned());
        breaker.answered();
        breaker.failed(Cause::BadRequest, "a".to_owned());
        breaker.failed(Cause::BadRequest, "b".to_owned());
        breaker.failed(Cause::BadRequest, "c".to_owned());
        breaker.failed(Cause::Timeout, "slow".to_owned());
    }
    assert_eq!(breakers.trip(), None);
    (0..3).for_each(|_| breaker.failed(Cause::Quota, "spent".to_owned()));
    assert!(breakers.trip().is_some_and(|trip| trip.reason.ends_with("spent")));
}

#[tokio::test]
async fn servers_that_never_answered_count_together() {
    let breakers = Breakers::new(None);
    let all: Vec<_> = (0..5).map(|_| breaker(&breakers)).collect();
    for round in 0..4 {
        for breaker in &all {
            assert_eq!(breakers.trip(), None, "{round}");
            breaker.failed(Cause::Key, "no".to_owned());
        }
    }
    assert!(breakers.trip().is_some_and(|trip| trip.reason.starts_with("20 requests failed, and none was answered")));
}

#[tokio::test]
async fn a_server_that_is_never_given_up_ends_the_run_only_where_it_asks_for_too_long_a_wait() {
    let breakers = Breakers::new(Some(0));
    let breaker = breaker(&breakers);
    assert_eq!(at_once(&breaker, 50), 50, "it has nothing to prove");
    for _ in 0..100 {
        breaker.failed(Cause::Key, "no".to_owned());
    }
    assert_eq!(breakers.trip(), None);
    breaker.held_off("`h` asked for too much".to_owned());
    let trip = breakers.trip().expect("the run ends");
    assert_eq!(
        (trip.reason.as_str(), trip.failure.cause, trip.later),
        ("`h` asked for too much", Cause::RateLimit, true)
    );
    assert_eq!(at_once(&breaker, 1), 0);
}

#[tokio::test]
async fn whoever_waits_is_let_through_or_told() {
    let breakers = Breakers::new(Some(1));
    let breaker = breaker(&breakers);
    let pass = breaker.pass().await.expect("the first");
    let waiting = Arc::clone(&breaker);
    let waiting = tokio::spawn(async move { waiting.begin().await.is_some() });
    tokio::task::yield_now().await;
    let episode = breaker.begin().now_or_never();
    drop(pass);
    drop(episode);
    breaker.failed(Cause::Key, "no".to_owned());
    let begun = waiting.await.expect("no panic");
    assert!(breaker.pass().await.is_none() && breaker.begin().await.is_none(), "{begun}");
}
