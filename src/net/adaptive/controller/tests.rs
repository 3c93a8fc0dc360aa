use super::{Controller, Outcome, SHORTEST_ROUND, Ticket, Wait};
use crate::net::adaptive::{HeldOff, Reason, Settings};
use std::num::NonZeroU32;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const OK: Outcome = Outcome::Ok { tokens: None };
const REFUSED: Outcome = Outcome::RateLimited { retry_after: None };
const FAILED: Outcome = Outcome::ServerError { retry_after: None };

fn settings(initial: usize, max: usize) -> Settings {
    Settings { initial, max, penalty: Duration::ZERO, hold_all: true, ..Settings::default() }
}

fn after(wait: Duration) -> Outcome {
    Outcome::RateLimited { retry_after: Some(wait) }
}

/// Begins as many requests as may begin.
fn fill(controller: &mut Controller, now: Duration) -> Vec<Ticket> {
    std::iter::from_fn(|| controller.try_begin(now, 0).ok()).collect()
}

fn end_all(controller: &mut Controller, now: Duration, tickets: Vec<Ticket>, outcome: Outcome) {
    for ticket in tickets {
        controller.ended(now, ticket, outcome);
    }
}

/// One round with all places in use, at `now`.
fn round(controller: &mut Controller, now: Duration) {
    let before = controller.history().changes().len();
    for _ in 0..SHORTEST_ROUND {
        let tickets = fill(controller, now);
        end_all(controller, now, tickets, OK);
        if controller.history().changes().len() > before {
            return;
        }
    }
}

fn reasons(controller: &Controller) -> Vec<(usize, usize, &'static str)> {
    controller.history().changes().iter().map(|c| (c.from, c.to, c.reason.as_str())).collect()
}

#[test]
fn the_limit_doubles_until_the_first_refusal_and_then_grows_by_a_twentieth() {
    let mut controller = Controller::new(settings(10, 100));
    round(&mut controller, SECOND);
    round(&mut controller, 2 * SECOND);
    assert_eq!(controller.limit(), 40);
    let mut tickets = fill(&mut controller, 3 * SECOND);
    let refused = tickets.pop().expect("forty places");
    controller.ended(3 * SECOND, refused, REFUSED);
    end_all(&mut controller, 3 * SECOND, tickets, OK);
    round(&mut controller, 4 * SECOND);
    assert_eq!(controller.limit(), 32, "nothing grows in the cooldown");
    round(&mut controller, 18 * SECOND);
    round(&mut controller, 19 * SECOND);
    let expected = [
        (10, 20, "slow_start"),
        (20, 40, "slow_start"),
        (40, 32, "rate_limit"),
        (32, 32, "cooldown_end"),
        (32, 33, "steady_growth"),
        (33, 34, "steady_growth"),
    ];
    assert_eq!(reasons(&controller), expected);
    let end = controller.history().changes()[3];
    assert_eq!((end.at, end.reason), (18 * SECOND, Reason::CooldownEnd));
}

#[test]
fn growth_stops_at_the_largest_limit_and_decrease_at_the_smallest() {
    let mut controller = Controller::new(Settings { min: 7, ..settings(8, 12) });
    round(&mut controller, SECOND);
    round(&mut controller, SECOND);
    assert_eq!(reasons(&controller), [(8, 12, "slow_start")]);
    for i in 1..5 {
        let ticket = controller.try_begin(100 * i * SECOND, 0).expect("a free place");
        controller.ended(100 * i * SECOND, ticket, REFUSED);
    }
    let lowered: Vec<_> = reasons(&controller).into_iter().filter(|(.., reason)| *reason == "rate_limit").collect();
    assert_eq!(lowered, [(12, 9, "rate_limit"), (9, 7, "rate_limit"), (7, 7, "rate_limit"), (7, 7, "rate_limit")]);
}

#[test]
fn a_round_in_which_places_stayed_free_proves_nothing() {
    let mut controller = Controller::new(settings(10, 100));
    for i in 0..50 {
        let ticket = controller.try_begin(i * SECOND, 0).expect("a free place");
        controller.ended(i * SECOND, ticket, OK);
    }
    assert_eq!((controller.limit(), controller.history().changes().len()), (10, 0));
    // The round that is under way began without demand; filling it now is what counts.
    round(&mut controller, 60 * SECOND);
    assert_eq!(controller.limit(), 20);
}

#[test]
fn answers_to_requests_before_the_round_do_not_count() {
    let mut controller = Controller::new(settings(4, 100));
    let old = fill(&mut controller, SECOND);
    end_all(&mut controller, SECOND, old, OK);
    assert_eq!(controller.limit(), 8);
    let mut tickets = fill(&mut controller, SECOND);
    let last = tickets.pop().expect("eight places");
    end_all(&mut controller, SECOND, tickets, OK);
    let next = fill(&mut controller, SECOND);
    assert_eq!(next.len(), 7);
    controller.ended(SECOND, last, OK);
    assert_eq!(controller.limit(), 16);
    end_all(&mut controller, SECOND, next, OK);
    let rest = fill(&mut controller, SECOND);
    assert_eq!(rest.len(), 16);
    let mut rest = rest.into_iter();
    for limit in [16; 15].into_iter().chain([32]) {
        controller.ended(SECOND, rest.next().expect("sixteen"), OK);
        assert_eq!(controller.limit(), limit, "the seven began while the limit was eight");
    }
}

#[test]
fn places_that_come_free_together_are_filled_one_by_one() {
    let mut controller = Controller::new(settings(10, 100));
    let tickets = fill(&mut controller, Duration::ZERO);
    end_all(&mut controller, 2 * SECOND, tickets, OK);
    assert_eq!(controller.limit(), 20);
    // Answers take two seconds: twenty places in two seconds are one in a tenth.
    let mut times = Vec::new();
    let mut now = 2 * SECOND;
    loop {
        match controller.try_begin(now, 0) {
            Ok(ticket) => times.push((now, ticket)),
            Err(Wait::Until(at)) => now = at,
            Err(_) => break,
        }
    }
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0)).collect();
    assert_eq!(gaps, [SECOND / 10; 19]);
    // The same after a pause; then it is over.
    let mut tickets: Vec<Ticket> = times.into_iter().map(|(_, ticket)| ticket).collect();
    let failed = tickets.pop().expect("twenty");
    controller.ended(now, failed, Outcome::ServerError { retry_after: Some(SECOND) });
    end_all(&mut controller, now, tickets, Outcome::Other);
    let again = now + SECOND;
    let mut count = 0;
    for tenth in 0..20 {
        count += fill(&mut controller, again + SECOND * tenth / 10).len();
        assert_eq!(count, tenth as usize + 1);
    }
    assert_eq!(controller.try_begin(again + 2 * SECOND, 0).err(), Some(Wait::Full));
}

#[test]
fn one_episode_lowers_once_however_late_its_refusals_come() {
    let mut controller = Controller::new(settings(50, 100));
    let mut tickets = fill(&mut controller, SECOND);
    let late = tickets.split_off(25);
    end_all(&mut controller, 2 * SECOND, tickets, REFUSED);
    assert_eq!(controller.limit(), 40);
    // Long after the cooldown, but sent before the limit was lowered.
    end_all(&mut controller, 100 * SECOND, late, REFUSED);
    assert_eq!(controller.limit(), 40);
    let fresh = fill(&mut controller, 101 * SECOND);
    end_all(&mut controller, 102 * SECOND, fresh, REFUSED);
    assert_eq!(controller.limit(), 32);
    // Sent after that, and refused within its cooldown.
    let fresh = fill(&mut controller, 103 * SECOND);
    end_all(&mut controller, 104 * SECOND, fresh, REFUSED);
    assert_eq!(controller.limit(), 32);
}

#[test]
fn a_late_refusal_spoils_the_round() {
    let mut controller = Controller::new(settings(4, 100));
    let mut tickets = fill(&mut controller, SECOND);
    let late = tickets.pop().expect("four places");
    end_all(&mut controller, SECOND, tickets, REFUSED);
    assert_eq!(controller.limit(), 3);
    let tickets = fill(&mut controller, 20 * SECOND);
    controller.ended(20 * SECOND, late, REFUSED);
    end_all(&mut controller, 20 * SECOND, tickets, OK);
    let tickets = fill(&mut controller, 20 * SECOND);
    end_all(&mut controller, 20 * SECOND, tickets, OK);
    assert_eq!(controller.limit(), 3);
}

#[test]
fn a_wait_that_the_server_asks_for_stops_all_and_prolongs_the_cooldown() {
    let mut controller = Controller::new(settings(10, 100));
    let ticket = controller.try_begin(SECOND, 0).expect("a free place");
    controller.ended(SECOND, ticket, after(40 * SECOND));
    assert_eq!(controller.try_begin(2 * SECOND, 0).err(), Some(Wait::Until(41 * SECOND)));
    assert_eq!(
        controller.try_begin((40 * SECOND).saturating_add(SECOND / 1000 * 999), 0).err(),
        Some(Wait::Until(41 * SECOND))
    );
    let ticket = controller.try_begin(41 * SECOND, 0).expect("the wait is over");
    assert_eq!(controller.history().changes().last().map(|change| change.at), Some(41 * SECOND));
    controller.ended(42 * SECOND, ticket, after(SECOND));
    assert_eq!(controller.limit(), 6, "refused again after the cooldown");
    // A server error's wish holds too, and lowers nothing.
    let ticket = controller.try_begin(60 * SECOND, 0).expect("the wait is over");
    controller.ended(60 * SECOND, ticket, Outcome::ServerError { retry_after: Some(7 * SECOND) });
    assert_eq!(controller.try_begin(60 * SECOND, 0).err(), Some(Wait::Until(67 * SECOND)));
    assert_eq!(controller.limit(), 6);
}

#[test]
fn a_wait_that_is_too_long_turns_requests_away_to_its_very_end() {
    let mut controller = Controller::new(settings(10, 100));
    let mut tickets = fill(&mut controller, Duration::ZERO).into_iter();
    let mut next = || tickets.next().expect("ten places");
    controller.ended(SECOND, next(), after(300 * SECOND));
    assert_eq!(controller.try_begin(SECOND, 0).err(), Some(Wait::Until(301 * SECOND)));
    controller.ended(SECOND, next(), after(301 * SECOND));
    let held = |status, left| Some(Wait::HeldOff(HeldOff { status, left }));
    assert_eq!(controller.try_begin(300 * SECOND, 0).err(), held(429, 2 * SECOND));
    controller.ended(301 * SECOND, next(), Outcome::ServerError { retry_after: Some(3 * SECOND) });
    assert_eq!(controller.try_begin(301 * SECOND, 0).err(), held(429, 3 * SECOND));
    assert!(controller.try_begin(304 * SECOND, 0).is_ok());
    controller.ended(310 * SECOND, next(), Outcome::ServerError { retry_after: Some(Duration::MAX) });
    assert!(matches!(controller.try_begin(310 * SECOND, 0), Err(Wait::HeldOff(HeldOff { status: 503, .. }))));
}

#[test]
fn a_server_error_costs_one_round_of_growth() {
    let mut controller = Controller::new(settings(10, 100));
    let mut tickets = fill(&mut controller, SECOND);
    let failed = tickets.pop().expect("ten places");
    controller.ended(SECOND, failed, FAILED);
    end_all(&mut controller, SECOND, tickets, OK);
    assert_eq!(controller.limit(), 10);
    let ticket = controller.try_begin(SECOND, 0).expect("a free place");
    controller.ended(SECOND, ticket, OK);
    assert_eq!(controller.limit(), 10, "the round with the error is over");
    round(&mut controller, 2 * SECOND);
    assert_eq!(reasons(&controller), [(10, 20, "slow_start")]);
}

#[test]
fn neutral_ends_neither_grow_nor_spoil() {
    let mut controller = Controller::new(settings(10, 100));
    for outcome in [Outcome::Other, Outcome::Unsent] {
        for _ in 0..10 {
            let tickets = fill(&mut controller, SECOND);
            end_all(&mut controller, SECOND, tickets, outcome);
        }
    }
    assert_eq!((controller.limit(), controller.in_flight()), (10, 0));
    round(&mut controller, SECOND);
    assert_eq!(controller.limit(), 20);
}

#[test]
fn the_place_of_a_refused_request_stays_empty_for_a_while() {
    let mut controller = Controller::new(Settings { initial: 5, ..Settings::default() });
    let mut tickets = fill(&mut controller, Duration::ZERO).into_iter();
    let mut end = |controller: &mut Controller, ms, outcome| {
        controller.ended(Duration::from_millis(ms), tickets.next().expect("five places"), outcome);
    };
    end(&mut controller, 100, REFUSED);
    end(&mut controller, 200, REFUSED);
    // Four places, three of them in use, two kept empty.
    assert_eq!(controller.limit(), 4);
    let until = |ms| Some(Wait::Until(Duration::from_millis(ms)));
    assert_eq!(controller.try_begin(Duration::from_millis(300), 0).err(), until(1200));
    end(&mut controller, 300, OK);
    assert_eq!(controller.try_begin(Duration::from_millis(300), 0).err(), until(1100));
    end(&mut controller, 300, OK);
    assert!(controller.try_begin(Duration::from_millis(300), 0).is_ok());
    assert!(controller.try_begin(Duration::from_millis(1100), 0).is_ok());
    assert!(controller.try_begin(Duration::from_millis(1200), 0).is_ok());
    assert_eq!(controller.try_begin(Duration::from_millis(1200), 0).err(), Some(Wait::Full));
}

#[test]
fn a_fixed_number_stays_and_still_obeys_the_server() {
    let mut controller = Controller::new(Settings { fixed: Some(3), ..settings(50, 100) });
    for i in 0..5 {
        round(&mut controller, i * SECOND);
    }
    let tickets = fill(&mut controller, 10 * SECOND);
    assert_eq!(tickets.len(), 3);
    end_all(&mut controller, 10 * SECOND, tickets, after(20 * SECOND));
    assert_eq!(controller.try_begin(11 * SECOND, 0).err(), Some(Wait::Until(30 * SECOND)));
    assert_eq!(reasons(&controller), [(3, 3, "rate_limit")]);
    assert_eq!(Controller::new(Settings::fixed(0)).limit(), 1);
}

#[test]
fn settings_that_contradict_each_other_are_put_right() {
    for (initial, min, max, expected) in [(0, 0, 0, 1), (5, 10, 100, 10), (500, 1, 100, 100), (5, 9, 3, 9)] {
        let controller = Controller::new(Settings { initial, min, max, ..Settings::default() });
        assert_eq!(controller.limit(), expected, "{initial} in {min}..={max}");
    }
    let mut controller = Controller::new(Settings { keep_percent: 900, ..settings(100, 100) });
    let ticket = controller.try_begin(SECOND, 0).expect("a free place");
    controller.ended(SECOND, ticket, REFUSED);
    assert_eq!(controller.limit(), 99);
}

#[test]
fn budgets_of_requests_and_tokens_both_hold() {
    let limits = |requests, tokens| Settings {
        requests_per_minute: NonZeroU32::new(requests),
        tokens_per_minute: NonZeroU32::new(tokens),
        ..settings(1000, 1000)
    };
    let mut controller = Controller::new(limits(100, 0));
    assert_eq!(fill(&mut controller, Duration::ZERO).len(), 10);
    assert_eq!(controller.try_begin(Duration::ZERO, 0).err(), Some(Wait::Until(Duration::from_millis(600))));

    let mut controller = Controller::new(limits(100, 1000));
    let ticket = controller.try_begin(Duration::ZERO, 500).expect("the first");
    assert_eq!(controller.try_begin(Duration::ZERO, 100).err(), Some(Wait::Until(30 * SECOND)));
    assert!(controller.try_begin(Duration::ZERO, 0).is_err(), "the bucket is overdrawn");
    controller.ended(SECOND, ticket, Outcome::Ok { tokens: Some(40) });
    assert!(controller.try_begin(SECOND, 50).is_ok(), "most of it came back");

    let mut controller = Controller::new(limits(1, 1000));
    let ticket = controller.try_begin(Duration::ZERO, 1000).expect("the first");
    assert_eq!(controller.try_begin(SECOND, 10).err(), Some(Wait::Until(60 * SECOND)));
    controller.ended(SECOND, ticket, Outcome::Unsent);
    assert!(controller.try_begin(SECOND, 1000).is_ok(), "what was not sent cost nothing");

    for outcome in [OK, REFUSED, FAILED, Outcome::Other] {
        let mut controller = Controller::new(limits(1, 1000));
        let ticket = controller.try_begin(Duration::ZERO, 10).expect("the first");
        controller.ended(SECOND, ticket, outcome);
        assert_eq!(controller.try_begin(2 * SECOND, 10).err(), Some(Wait::Until(60 * SECOND)), "{outcome:?}");
    }
}

#[test]
fn a_wait_changes_nothing() {
    let mut controller = Controller::new(Settings { requests_per_minute: NonZeroU32::new(1), ..settings(2, 2) });
    let ticket = controller.try_begin(Duration::ZERO, 0).expect("the first");
    for _ in 0..100 {
        assert_eq!(controller.try_begin(SECOND, 0).err(), Some(Wait::Until(60 * SECOND)));
    }
    assert_eq!(controller.in_flight(), 1);
    controller.ended(SECOND, ticket, OK);
    assert!(controller.try_begin(60 * SECOND, 0).is_ok());
}

#[test]
fn statuses_and_what_they_say() {
    let wait = Some(SECOND);
    for status in [200, 204] {
        assert_eq!(Outcome::of_status(status, wait), OK);
    }
    assert_eq!(Outcome::of_status(429, wait), after(SECOND));
    for status in [408, 500, 503, 529] {
        assert_eq!(Outcome::of_status(status, wait), Outcome::ServerError { retry_after: wait }, "{status}");
    }
    for status in [301, 400, 401, 404, 600] {
        assert_eq!(Outcome::of_status(status, wait), Outcome::Other, "{status}");
    }
}

#[test]
fn wikipedia_is_asked_one_thing_after_the_other() {
    let mut controller = Controller::new(Settings::wikipedia());
    assert_eq!(controller.limit(), 1);
    for minute in 1..10 {
        round(&mut controller, 60 * minute * SECOND);
    }
    assert_eq!(controller.limit(), 1);
}

#[test]
fn a_wish_that_binds_one_request_leaves_its_place_empty_and_no_other() {
    let mut controller = Controller::new(Settings { hold_all: false, ..settings(10, 10) });
    let mut tickets = fill(&mut controller, Duration::ZERO).into_iter();
    let mut next = || tickets.next().expect("ten places");
    for wait in [9, 4] {
        controller.ended(SECOND, next(), after(wait * SECOND));
    }
    // Eight are left after the refusal, and eight are under way.
    assert_eq!((controller.limit(), controller.in_flight()), (8, 8));
    for _ in 0..8 {
        controller.ended(2 * SECOND, next(), OK);
    }
    let mut begin = |at| std::iter::from_fn(|| controller.try_begin(at, 0).ok()).count();
    assert_eq!([begin(2 * SECOND), begin(5 * SECOND), begin(9 * SECOND), begin(10 * SECOND)], [6, 1, 0, 1]);
    assert_eq!(controller.try_begin(10 * SECOND, 0).err(), Some(Wait::Full));
}

#[test]
fn no_place_of_a_fixed_number_stays_empty() {
    let mut controller = Controller::new(Settings::fixed(4));
    for ticket in fill(&mut controller, SECOND) {
        controller.ended(SECOND, ticket, after(60 * SECOND));
    }
    assert_eq!(fill(&mut controller, SECOND).len(), 4);
}
