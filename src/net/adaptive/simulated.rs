//! The controller against a server that takes so many requests a second, in simulated time.

use super::{Controller, Outcome, Reason, Settings, Ticket, Wait};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// How a server that is out of order answers.
#[derive(Clone, Copy, PartialEq)]
enum Outage {
    Fails,
    Refuses,
}

/// Takes `per_second` requests a second, after a rest those of a whole `burst` at one moment, and refuses the others.
struct Server {
    per_second: u32,
    burst: Duration,
    latency: Duration,
    retry_after: Option<Duration>,
    outage: Option<(Range<Duration>, Outage)>,
    full_at: Duration,
    chance: u64,
}

impl Server {
    fn new(per_second: u32) -> Self {
        Self {
            per_second,
            burst: SECOND,
            latency: SECOND,
            retry_after: None,
            outage: None,
            full_at: Duration::ZERO,
            chance: 1,
        }
    }

    /// When the answer comes, and what it is.
    fn ask(&mut self, now: Duration) -> (Duration, Outcome) {
        let refusal = (now + SECOND / 20, Outcome::RateLimited { retry_after: self.retry_after });
        match &self.outage {
            Some((when, Outage::Fails)) if when.contains(&now) => {
                return (now + SECOND / 10, Outcome::ServerError { retry_after: None });
            }
            Some((when, Outage::Refuses)) if when.contains(&now) => return refusal,
            _ => {}
        }
        if self.full_at > now + self.burst {
            return refusal;
        }
        self.full_at = self.full_at.max(now) + SECOND / self.per_second;
        // Answers take between half and one and a half of the latency.
        self.chance = self.chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let permille = u32::try_from((self.chance >> 33) % 1000).expect("below 1000");
        (now + self.latency / 2 + self.latency * permille / 1000, Outcome::Ok { tokens: None })
    }
}

/// What was seen in each second.
#[derive(Default, Clone, Copy)]
struct Second {
    good: usize,
    refused: usize,
    limit: usize,
}

/// Sends requests without end, as fast as the controller lets them begin.
fn run(settings: Settings, mut server: Server, seconds: usize) -> (Vec<Second>, Controller) {
    let mut controller = Controller::new(settings);
    let mut seen = vec![Second::default(); seconds];
    let mut answers: BinaryHeap<Reverse<(Duration, u64)>> = BinaryHeap::new();
    let mut under_way: BTreeMap<u64, (Ticket, Outcome)> = BTreeMap::new();
    let (mut now, mut next) = (Duration::ZERO, 0);
    loop {
        let wait = loop {
            match controller.try_begin(now, 0) {
                Ok(ticket) => {
                    let (at, outcome) = server.ask(now);
                    answers.push(Reverse((at, next)));
                    under_way.insert(next, (ticket, outcome));
                    next += 1;
                }
                Err(Wait::Until(at)) => break Some(at),
                Err(Wait::Full) => break None,
                Err(Wait::HeldOff(held)) => panic!("{held}"),
            }
        };
        let answer = answers.peek().map(|Reverse((at, _))| *at);
        let Some(at) = answer.into_iter().chain(wait).min() else { panic!("nothing is under way, nothing is awaited") };
        assert!(at > now || answer == Some(at), "a wait that is over already");
        now = at;
        let Some(second) = seen.get_mut(usize::try_from(now.as_secs()).expect("small")) else {
            return (seen, controller);
        };
        while let Some(Reverse((at, id))) = answers.peek().copied()
            && at <= now
        {
            answers.pop();
            let (ticket, outcome) = under_way.remove(&id).expect("under way");
            second.good += usize::from(matches!(outcome, Outcome::Ok { .. }));
            second.refused += usize::from(matches!(outcome, Outcome::RateLimited { .. }));
            controller.ended(now, ticket, outcome);
        }
        second.limit = controller.limit();
    }
}

fn sum(seen: &[Second], of: impl Fn(&Second) -> usize) -> usize {
    seen.iter().map(of).sum()
}

/// Good answers, in percent of what the server could have given.
fn use_percent(seen: &[Second], per_second: usize) -> usize {
    100 * sum(seen, |second| second.good) / (per_second * seen.len())
}

#[test]
fn what_a_server_takes_is_found_and_kept_to() {
    for per_second in [2, 5, 20, 40, 90] {
        for latency in [SECOND / 4, SECOND, 4 * SECOND] {
            let places = f64::from(per_second) * latency.as_secs_f64();
            if !(1.0..=90.0).contains(&places) {
                continue;
            }
            let shown = format!("{per_second} a second in {latency:?}");
            let server = Server { latency, ..Server::new(per_second) };
            let (seen, _) = run(Settings::default(), server, 1200);
            let (begin, rest) = seen.split_at(180);
            let used = use_percent(rest, per_second as usize);
            let refused = 100 * sum(rest, |second| second.refused) / sum(rest, |second| second.good);
            // One place more or less is a large step where a few are all there are.
            let (least, most) = if places < 10.0 { (60, 15) } else { (75, 5) };
            assert!(used >= least, "{shown}: {used} % used");
            assert!(refused <= most, "{shown}: {refused} % refused");
            let at_first = use_percent(begin, per_second as usize);
            assert!(at_first >= 60, "{shown}: {at_first} % used at first");
        }
    }
}

#[test]
fn a_server_that_takes_all_is_given_all() {
    let (seen, controller) = run(Settings::default(), Server::new(100_000), 60);
    assert_eq!((controller.limit(), sum(&seen, |second| second.refused)), (100, 0));
    let reached = seen.iter().position(|second| second.limit == 100);
    assert!(reached.is_some_and(|second| second < 10), "after {reached:?} s");
    assert!(controller.history().changes().iter().all(|change| change.reason == Reason::SlowStart));
}

#[test]
fn a_wait_that_the_server_names_brings_no_collapse() {
    for (burst, least) in [(SECOND, 85), (SECOND / 4, 65)] {
        for hold_all in [false, true] {
            let server = Server { retry_after: Some(2 * SECOND), burst, ..Server::new(30) };
            let (seen, _) = run(Settings { hold_all, ..Settings::default() }, server, 1200);
            let used = use_percent(&seen[180..], 30);
            assert!(used >= least, "{burst:?}, {hold_all}: {used} % used");
            assert!(seen[180..].iter().all(|second| second.limit >= 12), "{burst:?}, {hold_all}: the limit collapsed");
        }
    }
}

#[test]
fn an_outage_lowers_nothing_and_is_forgotten() {
    let outage = Some((300 * SECOND..420 * SECOND, Outage::Fails));
    let (seen, controller) = run(Settings::default(), Server { outage, ..Server::new(40) }, 900);
    assert!(sum(&seen[310..420], |second| second.good) == 0);
    assert!(use_percent(&seen[425..480], 40) >= 75, "{} %", use_percent(&seen[425..480], 40));
    let within = 302 * SECOND..420 * SECOND;
    let moved = controller.history().changes().iter().any(|c| within.contains(&c.at) && c.from != c.to);
    assert!(!moved, "the limit moved in an outage");
}

#[test]
fn after_a_time_of_refusals_the_limit_comes_back() {
    let outage = Some((300 * SECOND..360 * SECOND, Outage::Refuses));
    let (seen, controller) = run(Settings::default(), Server { outage, ..Server::new(40) }, 900);
    let lowest = seen[300..400].iter().map(|second| second.limit).min();
    assert!(lowest >= Some(10), "{lowest:?}: at most one step in 15 s");
    // Each place asks once a second, not as fast as it is refused.
    let refused = sum(&seen[305..355], |second| second.refused);
    assert!(refused <= 50 * 40, "{refused} refusals in 50 s");
    assert!(use_percent(&seen[420..480], 40) >= 75, "{} %", use_percent(&seen[420..480], 40));
    let lowered = controller.history().changes().iter().filter(|c| c.reason == Reason::RateLimit);
    let times: Vec<Duration> = lowered.map(|change| change.at).collect();
    assert!(times.windows(2).all(|pair| pair[1] >= pair[0] + 15 * SECOND), "{times:?}");
}

#[test]
fn without_penalties_refusals_would_pile_up() {
    let refused = |penalty| {
        let settings = Settings { initial: 60, min: 60, max: 60, penalty, ..Settings::default() };
        sum(&run(settings, Server::new(30), 60).0, |second| second.refused)
    };
    let (with, without) = (refused(SECOND), refused(Duration::ZERO));
    assert!(with * 5 < without, "{with} with, {without} without");
}
