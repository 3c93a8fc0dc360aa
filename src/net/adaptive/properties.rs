//! What holds whatever happens in whatever order.

use super::{Controller, Outcome, Settings, Ticket, Wait};
use proptest::prelude::*;
use std::num::NonZeroU32;
use std::time::Duration;

const MINUTE: Duration = Duration::from_mins(1);

#[derive(Debug, Clone)]
enum Step {
    /// A request that may cost so many tokens wants to begin.
    Begin(u64),
    /// One of those under way ends; a good one has used this part of its estimate, in percent.
    End(usize, Outcome, u64),
    /// Time passes.
    Pass(Duration),
    /// Time passes until the next request may begin.
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = || proptest::option::of((0_u64..20_000).prop_map(Duration::from_millis));
    let outcome = prop_oneof![
        6 => Just(Outcome::Ok { tokens: None }),
        2 => wait().prop_map(|retry_after| Outcome::RateLimited { retry_after }),
        1 => wait().prop_map(|retry_after| Outcome::ServerError { retry_after }),
        1 => Just(Outcome::Other),
        1 => Just(Outcome::Unsent),
    ];
    let step = prop_oneof![
        8 => (0_u64..300).prop_map(Step::Begin),
        6 => (any::<usize>(), outcome, 0_u64..=100).prop_map(|(which, outcome, part)| Step::End(which, outcome, part)),
        2 => (0_u64..3000).prop_map(|ms| Step::Pass(Duration::from_millis(ms))),
        2 => Just(Step::Wait),
    ];
    proptest::collection::vec(step, 0..400)
}

fn settings() -> impl Strategy<Value = Settings> {
    let per_minute = || proptest::option::of(1_u32..200);
    let limits = (0_usize..30, 0_usize..10, 0_usize..40, proptest::option::of(0_usize..10));
    (limits, per_minute(), per_minute(), any::<bool>()).prop_map(
        |((initial, min, max, fixed), requests, tokens, hold_all)| Settings {
            initial,
            min,
            max,
            fixed,
            hold_all,
            requests_per_minute: requests.and_then(NonZeroU32::new),
            tokens_per_minute: tokens.and_then(|tokens| NonZeroU32::new(10 * tokens)),
            ..Settings::default()
        },
    )
}

/// A request that began: when, and what it cost in the end or may cost.
struct Begun {
    at: Duration,
    requests: u64,
    tokens: u64,
}

/// The most that began within any minute.
fn most(begun: &[Begun], of: impl Fn(&Begun) -> u64) -> u64 {
    let within = |from: Duration| begun.iter().filter(move |one| (from..from + MINUTE).contains(&one.at));
    begun.iter().map(|first| within(first.at).map(&of).sum()).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn limits_and_budgets_hold(settings in settings(), steps in steps()) {
        let (min, _, max) = settings.bounds();
        let mut controller = Controller::new(settings.clone());
        let mut now = Duration::ZERO;
        let mut begun: Vec<Begun> = Vec::new();
        let mut under_way: Vec<(usize, u64, Ticket)> = Vec::new();
        for step in steps {
            match step {
                Step::Begin(tokens) => if let Ok(ticket) = controller.try_begin(now, tokens) {
                    prop_assert!(controller.in_flight() <= controller.limit());
                    under_way.push((begun.len(), tokens, ticket));
                    begun.push(Begun { at: now, requests: 1, tokens });
                },
                Step::End(which, outcome, part) if !under_way.is_empty() => {
                    let (index, tokens, ticket) = under_way.swap_remove(which % under_way.len());
                    let outcome = match outcome {
                        Outcome::Ok { .. } => Outcome::Ok { tokens: Some(tokens * part / 100) },
                        other => other,
                    };
                    match outcome {
                        Outcome::Ok { tokens: Some(used) } => begun[index].tokens = used,
                        Outcome::Unsent => begun[index] = Begun { at: begun[index].at, requests: 0, tokens: 0 },
                        _ => {}
                    }
                    controller.ended(now, ticket, outcome);
                }
                Step::Pass(time) => now += time,
                Step::Wait => match controller.try_begin(now, 0) {
                    Ok(ticket) => {
                        under_way.push((begun.len(), 0, ticket));
                        begun.push(Begun { at: now, requests: 1, tokens: 0 });
                    }
                    Err(Wait::Until(at)) => {
                        prop_assert!(at > now, "a wait that is over already");
                        now = at;
                    }
                    Err(_) => {}
                },
                Step::End(..) => {}
            }
            prop_assert!((min..=max).contains(&controller.limit()));
            prop_assert_eq!(controller.in_flight(), under_way.len());
        }
        if let Some(cap) = settings.requests_per_minute {
            prop_assert!(most(&begun, |one| one.requests) <= u64::from(cap.get()));
        }
        if let Some(cap) = settings.tokens_per_minute {
            // What costs more than a minute's share counts as just that.
            let cap = u64::from(cap.get());
            prop_assert!(most(&begun, |one| one.tokens.min(cap)) <= cap);
        }
        let changes = controller.history().changes();
        prop_assert!(changes.windows(2).all(|pair| pair[0].at <= pair[1].at && pair[0].to == pair[1].from));
    }

    #[test]
    fn whoever_waits_as_told_gets_in(settings in settings(), steps in steps()) {
        let mut controller = Controller::new(settings);
        let mut now = Duration::ZERO;
        let mut under_way: Vec<Ticket> = Vec::new();
        for step in steps {
            match step {
                Step::Begin(tokens) => under_way.extend(controller.try_begin(now, tokens)),
                Step::End(which, outcome, _) if !under_way.is_empty() => {
                    let ticket = under_way.swap_remove(which % under_way.len());
                    controller.ended(now, ticket, outcome);
                }
                Step::Pass(time) => now += time,
                Step::End(..) | Step::Wait => {}
            }
        }
        for ticket in under_way {
            controller.ended(now, ticket, Outcome::Other);
        }
        // Nothing is under way: pauses, penalties and both budgets are all that can be waited for, each of them once.
        let mut waits = 0;
        while let Err(wait) = controller.try_begin(now, 100) {
            let Wait::Until(at) = wait else { panic!("{wait:?} while nothing is under way") };
            prop_assert!(at > now);
            now = at;
            waits += 1;
            prop_assert!(waits <= 4, "{waits} waits in a row");
        }
    }
}
