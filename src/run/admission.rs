//! Which episodes a budget lets begin: only those that it is expected to pay for to their end.

use crate::agent::{Agent, Episode, Load};
use crate::llm::{Budget, Limits, Spent};
use crate::store::Journal;
use crate::types::text::thousands;
use crate::types::{Paid, Trajectory};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The estimate from the first prompt counts as this many episodes; those that ended count as one each.
const PRIOR: u64 = 2;

/// Holds episodes back that would exceed the budget together with those in flight.
pub(super) struct Admission {
    budget: Arc<Budget>,
    agents: HashMap<String, Agent>,
    journal: Arc<Journal>,
    state: Mutex<State>,
}

struct State {
    /// What earlier starts and ended episodes have spent.
    spent: Spent,
    /// What ended episodes of each variant took, and how many they are.
    ended: HashMap<String, (u64, Load)>,
    /// What the episodes in flight are expected to take, and what earlier starts have paid for of each.
    open: HashMap<String, (Spent, Paid)>,
}

impl Admission {
    /// The admission to a run that begins now. What the budget has paid for before is not expected again.
    pub(super) fn new(budget: Arc<Budget>, agents: HashMap<String, Agent>, journal: Arc<Journal>) -> Self {
        let state = State { spent: budget.spent(), ended: HashMap::new(), open: HashMap::new() };
        Self { budget, agents, journal, state: Mutex::new(state) }
    }

    /// Lets the episode begin, or says why it may not, and whether none is in flight whose end could change that.
    pub(super) fn admit(&self, episode: &Episode) -> Result<(), Held> {
        let limits = self.budget.limits();
        let Some(agent) = self.agents.get(&episode.variant.name).filter(|_| limits.is_any()) else { return Ok(()) };
        let mut state = self.state();
        let kept = self.journal.paid_for(&episode.key);
        let expected = state.expected(agent, episode);
        let rest = Spent {
            calls: expected.calls.saturating_sub(kept.calls),
            usd: (expected.usd - agent.price.map_or(0.0, |price| price.of(kept.usage))).max(0.0),
            usage: expected.usage.saturating_sub(kept.usage),
            estimated: 0,
        };
        let mut committed = state.spent;
        state.open.values().for_each(|(open, _)| committed.add(*open));
        match exceeded(limits, committed, rest) {
            None => {
                state.open.insert(episode.key.clone(), (rest, kept));
                Ok(())
            }
            Some(reason) => Err(Held { reason, is_last: state.open.is_empty() }),
        }
    }

    /// Takes note of an episode that has ended.
    pub(super) fn ended(&self, trajectory: &Trajectory) {
        if !self.budget.limits().is_any() {
            return;
        }
        let mut state = self.state();
        let Paid { calls, usage, .. } = Paid::of(trajectory);
        if trajectory.measured() {
            let (episodes, load) = state.ended.entry(trajectory.variant.clone()).or_default();
            *episodes += 1;
            *load += Load { calls, usage };
        }
        let (_, kept) = state.open.remove(&trajectory.key).unwrap_or_default();
        let price = self.agents.get(&trajectory.variant).and_then(|agent| agent.price);
        let paid = Spent::of(calls.saturating_sub(kept.calls), usage.saturating_sub(kept.usage), price);
        state.spent.add(paid);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Counts are never left half updated.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why an episode may not begin now.
pub(super) struct Held {
    pub(super) reason: String,
    /// Whether no episode is in flight, so that it will not be admitted later either.
    pub(super) is_last: bool,
}

impl State {
    /// What an episode is expected to take: at first the estimate from its prompt, later what others took.
    fn expected(&self, agent: &Agent, episode: &Episode) -> Spent {
        let (ended, took) = self.ended.get(&episode.variant.name).copied().unwrap_or_default();
        let mut load = agent.approach.forecast(&episode.question).expected.share(PRIOR, 1);
        load += took;
        let Load { calls, usage } = load.share(1, PRIOR + ended);
        Spent::of(calls, usage, agent.price)
    }
}

/// Which limit the next episode would exceed, in words.
fn exceeded(limits: Limits, committed: Spent, next: Spent) -> Option<String> {
    let over = |unit: &str, limit: u64, committed: u64, next: u64| {
        let left = limit.saturating_sub(committed);
        (next > left).then(|| {
            let (left, limit, next) = (thousands(left), thousands(limit), thousands(next));
            format!("{left} of {limit} {unit} are left, and an episode takes about {next}")
        })
    };
    let calls = limits.calls.and_then(|limit| over("model calls", limit, committed.calls, next.calls));
    let tokens = || limits.tokens.and_then(|limit| over("tokens", limit, committed.usage.total(), next.usage.total()));
    let dollars = || {
        let limit = limits.usd.filter(|limit| committed.usd + next.usd > *limit)?;
        let left = (limit - committed.usd).max(0.0);
        Some(format!("{left:.4} of {limit:.4} US $ are left, and an episode takes about {:.4}", next.usd))
    };
    calls.or_else(tokens).or_else(dollars)
}
