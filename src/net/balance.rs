//! Load balancing over equivalent servers: each request goes to the one with the fewest requests in flight.
//!
//! | a server | what happens |
//! |---|---|
//! | answers with any other status | gets its share |
//! | cannot be connected to, or refuses with status 401 to 404 | rests for 1 s, then twice as long after each failure, at most 60 s |
//! | has rested | gets one request, and its share again if that is answered |
//!
//! Ties are resolved in turn. If all servers rest, the one whose rest ends first is used nevertheless.

use crate::base::locked;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const FIRST_REST: Duration = Duration::from_secs(1);
const MAX_REST: Duration = Duration::from_mins(1);

/// The load of each server. Share it between all requests to the same servers.
#[derive(Debug)]
pub struct Balance {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    servers: Vec<Server>,
    /// Where the search for a server starts, which resolves ties.
    next: usize,
}

#[derive(Debug, Clone, Default)]
struct Server {
    in_flight: usize,
    rest: Option<Rest>,
}

#[derive(Debug, Clone, Copy)]
struct Rest {
    until: Instant,
    length: Duration,
}

impl Server {
    /// Whether it can take a request; after a rest only one, until that is answered.
    fn awake(&self, now: Instant) -> bool {
        self.rest.is_none_or(|rest| rest.until <= now && self.in_flight == 0)
    }
}

/// An attempt at a server, in flight until this is dropped.
#[derive(Debug)]
pub(super) struct ServerTurn<'a> {
    balance: &'a Balance,
    pub(super) server: usize,
}

impl Balance {
    /// For this number of servers (0 is read as 1).
    pub fn new(servers: usize) -> Self {
        Self { state: Mutex::new(State { servers: vec![Server::default(); servers.max(1)], next: 0 }) }
    }

    /// Chooses a server, if possible not `avoided`.
    pub(super) fn take(&self, avoided: Option<usize>, now: Instant) -> ServerTurn<'_> {
        let mut state = locked(&self.state);
        let count = state.servers.len();
        let around: Vec<usize> = (state.next..count).chain(0..state.next).collect();
        let least = |allowed: &dyn Fn(usize) -> bool| {
            let free = around.iter().copied().filter(|at| allowed(*at) && state.servers[*at].awake(now));
            free.min_by_key(|at| state.servers[*at].in_flight)
        };
        let soonest = || around.iter().copied().min_by_key(|at| state.servers[*at].rest.map(|rest| rest.until));
        let chosen = least(&|at| Some(at) != avoided).or_else(|| least(&|_| true)).or_else(soonest).unwrap_or(0);
        state.servers[chosen].in_flight += 1;
        state.next = (chosen + 1) % count;
        ServerTurn { balance: self, server: chosen }
    }

    pub(super) fn others(&self, besides: usize) -> bool {
        let now = Instant::now();
        locked(&self.state).servers.iter().enumerate().any(|(at, server)| at != besides && server.awake(now))
    }
}

impl ServerTurn<'_> {
    pub(super) fn answered(&self) {
        locked(&self.balance.state).servers[self.server].rest = None;
    }

    pub(super) fn rests(&self, now: Instant) {
        let rest = &mut locked(&self.balance.state).servers[self.server].rest;
        let length = match *rest {
            // Requests in flight at the same time fail together, which is one failure.
            Some(rest) if rest.until > now => return,
            Some(rest) => rest.length.saturating_mul(2).min(MAX_REST),
            None => FIRST_REST,
        };
        *rest = Some(Rest { until: now + length, length });
    }
}

impl Drop for ServerTurn<'_> {
    fn drop(&mut self) {
        locked(&self.balance.state).servers[self.server].in_flight -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Balance;
    use std::time::{Duration, Instant};

    #[test]
    fn the_least_busy_server_is_used_and_ties_are_resolved_in_turn() {
        let balance = Balance::new(3);
        let turns: Vec<_> = (0..6).map(|_| balance.take(None, Instant::now())).collect();
        assert_eq!(turns.iter().map(|turn| turn.server).collect::<Vec<_>>(), [0, 1, 2, 0, 1, 2]);
        let mut turns: Vec<_> = turns.into_iter().map(Some).collect();
        (turns[1], turns[4]) = (None, None);
        assert_eq!(balance.take(None, Instant::now()).server, 1);
        assert_eq!(balance.take(Some(1), Instant::now()).server, 2, "a retry goes elsewhere");
        drop(turns);
        assert_eq!(balance.state.lock().unwrap().servers.iter().map(|server| server.in_flight).sum::<usize>(), 0);
        assert_eq!(Balance::new(0).take(Some(0), Instant::now()).server, 0);
    }

    #[test]
    fn an_unreachable_server_rests_twice_as_long_each_time() {
        let balance = Balance::new(2);
        let mut now = Instant::now();
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            let turn = balance.take(Some(1), now);
            assert_eq!(turn.server, 0, "used again after its rest");
            let together = balance.take(None, now);
            assert_eq!(together.server, 1, "but once only");
            turn.rests(now);
            turn.rests(now);
            drop((turn, together));
            let almost = now + Duration::from_millis(seconds * 1000 - 1);
            assert_eq!(balance.take(Some(1), almost).server, 1, "after {seconds} s");
            now += Duration::from_secs(seconds);
        }
        let turn = balance.take(Some(1), now);
        turn.answered();
        let both = (balance.take(None, now), balance.take(Some(1), now));
        assert_eq!((both.0.server, both.1.server), (1, 0));
    }

    #[test]
    fn if_all_rest_the_first_to_wake_is_used() {
        let balance = Balance::new(2);
        let now = Instant::now();
        balance.take(Some(0), now).rests(now);
        balance.take(Some(1), now).rests(now + Duration::from_millis(5));
        assert!(!balance.others(0) && !balance.others(1));
        assert_eq!(balance.take(None, now).server, 1);
        assert_eq!(balance.take(Some(1), now).server, 1);
    }
}
