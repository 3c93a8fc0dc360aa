//! Which episodes may begin: only those that a budget is expected to pay for to their end, and none once the run stops.

use super::breaker::Breakers;
use super::stopping::Watch;
use crate::base::text::{counted, thousands, visible_line};
use crate::base::{Outcome, Paid, Trajectory, locked};
use crate::models::{Budget, Limits, Spent};
use crate::runner::agent::{Agent, Episode};
use crate::runner::store::Journal;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// The estimate from the first prompt counts as this many episodes; those that ended count as one each.
const PRIOR: u64 = 2;

/// Looks at every episode before it begins and when it ends; holds back those that would exceed the budget.
pub(super) struct Guard {
    budget: Arc<Budget>,
    pub(super) agents: HashMap<String, Agent>,
    pub(super) journal: Arc<Journal>,
    breakers: Arc<Breakers>,
    max_failures: Option<u64>,
    failures: AtomicU64,
    /// Failures in a row of a program that had done nothing.
    failures_before_calls: AtomicU64,
    reason: OnceLock<String>,
    watch: Option<Arc<Watch>>,
    state: Mutex<State>,
}

struct State {
    /// What earlier starts and ended episodes have spent.
    spent: Spent,
    /// What ended episodes of each variant took, and how many they are.
    ended: HashMap<String, (u64, Paid)>,
    /// What the episodes in flight are expected to take, and what earlier starts have paid for of each.
    open: HashMap<String, (Spent, Paid)>,
}

impl Guard {
    /// The guard of a run that begins now. What the budget has paid for before is not expected again.
    pub(super) fn new(
        budget: Arc<Budget>,
        agents: HashMap<String, Agent>,
        journal: Arc<Journal>,
        breakers: Arc<Breakers>,
        max_failures: Option<u64>,
        watch: Option<Arc<Watch>>,
    ) -> Self {
        let state = State { spent: budget.spent(), ended: HashMap::new(), open: HashMap::new() };
        let guard = Self {
            budget,
            agents,
            journal,
            breakers,
            max_failures,
            failures: AtomicU64::new(0),
            failures_before_calls: AtomicU64::new(0),
            reason: OnceLock::new(),
            watch,
            state: Mutex::new(state),
        };
        guard.look_at_the_budget();
        guard
    }

    /// Whether an episode may begin now. Where none is in flight whose end could change the answer, the run stops.
    pub(super) fn admits(&self, episode: &Episode) -> bool {
        let limits = self.budget.limits();
        let Some(agent) = self.agents.get(&episode.variant.name).filter(|_| limits.is_any()) else { return true };
        let mut state = locked(&self.state);
        let kept = self.journal.paid_for(&episode.key);
        let expected = state.expected(agent, episode);
        let rest = Spent {
            paid: expected.paid.saturating_sub(kept),
            usd: (expected.usd - Spent::of(kept, agent.price).usd).max(0.0),
        };
        let mut committed = state.spent;
        state.open.values().for_each(|(open, _)| committed.add(*open));
        let Some(reason) = exceeded(limits, committed, rest) else {
            state.open.insert(episode.key.clone(), (rest, kept));
            return true;
        };
        if state.open.is_empty() {
            self.budget.exhaust();
            self.stop(|| reason);
        }
        false
    }

    pub(super) fn saw(&self, trajectory: &Trajectory) {
        self.ended(trajectory);
        if let Some(watch) = &self.watch {
            watch.saw(trajectory);
        }
        if let Some(trip) = self.breakers.trip() {
            self.stop(|| trip.reason.clone());
        }
        match trajectory.outcome {
            Outcome::Budget => self.stop(|| trajectory.detail.clone().unwrap_or_default()),
            Outcome::NotMeasured => {
                let failures = self.failures.fetch_add(1, Ordering::Relaxed) + 1;
                if self.max_failures.is_some_and(|most| failures >= most) {
                    self.stop(|| format!("{} could not be measured (--max-failures)", counted(failures, "episode")));
                }
            }
            _ => self.look_at_the_budget(),
        }
        self.count_failure_before_calls(trajectory);
    }

    /// Stops a run whose agent is a program that fails again and again before it does anything: it is not set up.
    fn count_failure_before_calls(&self, trajectory: &Trajectory) {
        let not_reached = trajectory.outcome == Outcome::NotMeasured && trajectory.failure.is_none();
        if !trajectory.steps.is_empty() || !(not_reached || trajectory.outcome == Outcome::AgentFailure) {
            self.failures_before_calls.store(0, Ordering::Relaxed);
            return;
        }
        let failures = self.failures_before_calls.fetch_add(1, Ordering::Relaxed) + 1;
        if self.breakers.most().is_some_and(|most| failures >= most) {
            let detail = visible_line(trajectory.detail.as_deref().unwrap_or_default(), 600);
            self.stop(|| format!("{} in a row failed before any call: {detail}", counted(failures, "episode")));
        }
    }

    pub(super) fn stops(&self) -> bool {
        self.reason().is_some() || self.watch.as_ref().is_some_and(|watch| watch.is_decided())
    }

    /// Why no further episode is to be begun, once that is so; a run that is decided is complete, and needs no reason.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.get().map(String::as_str)
    }

    fn look_at_the_budget(&self) {
        if let Some(refusal) = self.budget.refusal() {
            self.stop(|| refusal.to_string());
        }
    }

    /// The first reason stays.
    fn stop(&self, reason: impl FnOnce() -> String) {
        self.reason.get_or_init(reason);
    }

    fn ended(&self, trajectory: &Trajectory) {
        if !self.budget.limits().is_any() {
            return;
        }
        let mut state = locked(&self.state);
        let paid = Paid::of(trajectory);
        if trajectory.measured() {
            let (episodes, load) = state.ended.entry(trajectory.variant.clone()).or_default();
            *episodes += 1;
            *load += paid;
        }
        let (_, kept) = state.open.remove(&trajectory.key).unwrap_or_default();
        let price = self.agents.get(&trajectory.variant).and_then(|agent| agent.price);
        state.spent.add(Spent::of(paid.saturating_sub(kept), price));
    }
}

impl State {
    /// What an episode is expected to take: at first the estimate from its prompt, later what others took.
    fn expected(&self, agent: &Agent, episode: &Episode) -> Spent {
        let (ended, took) = self.ended.get(&episode.variant.name).copied().unwrap_or_default();
        let mut load = agent.approach.forecast(&episode.question, agent.session.passages).expected.share(PRIOR, 1);
        load += took;
        Spent::of(load.share(1, PRIOR + ended), agent.price)
    }
}

fn exceeded(limits: Limits, committed: Spent, next: Spent) -> Option<String> {
    let over = |unit: &str, limit: u64, committed: u64, next: u64| {
        let left = limit.saturating_sub(committed);
        (next > left).then(|| {
            let (left, limit, next) = (thousands(left), thousands(limit), thousands(next));
            format!("{left} of {limit} {unit} are left, and an episode takes about {next}")
        })
    };
    let calls = limits.calls.and_then(|limit| over("model calls", limit, committed.paid.calls, next.paid.calls));
    let total = |spent: Spent| spent.paid.usage.total();
    let tokens = || limits.tokens.and_then(|limit| over("tokens", limit, total(committed), total(next)));
    let dollars = || {
        let limit = limits.usd.filter(|limit| committed.usd + next.usd > *limit)?;
        let left = (limit - committed.usd).max(0.0);
        Some(format!("{left:.4} of {limit:.4} USD are left, and an episode takes about {:.4}", next.usd))
    };
    calls.or_else(tokens).or_else(dollars)
}

#[cfg(test)]
mod tests {
    use super::{Breakers, Guard};
    use crate::base::{Outcome, Paid, Usage};
    use crate::models::{Budget, Limits, Spent};
    use crate::runner::store::RunFolder;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn trajectory(outcome: Outcome, detail: &str) -> crate::base::Trajectory {
        serde_json::from_value(serde_json::json!({
            "v": 1, "id": "q", "variant": "main", "repeat": 0, "question": "?", "answers": [], "steps": [],
            "answer": null, "outcome": outcome, "detail": detail, "started_at": "", "wall_ms": 0, "compat": "fixed",
            "usage": {"prompt_tokens": 0, "completion_tokens": 0}, "repairs": [], "key": "k",
        }))
        .expect("a trajectory")
    }

    fn guard(budget: &Arc<Budget>, max_failures: Option<u64>) -> Guard {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = RunFolder::at(dir.path());
        let lock = folder.lock(None).expect("a lock");
        let records = folder.records().expect("no records");
        let journal = Arc::new(folder.journal(&lock, &records, |_| true).expect("a journal"));
        let breakers = Arc::new(Breakers::new(None));
        Guard::new(Arc::clone(budget), HashMap::new(), journal, breakers, max_failures, None)
    }

    #[test]
    fn a_run_goes_on_until_so_many_failed_or_the_budget_is_spent() {
        let budget = Arc::new(Budget::new(Limits { tokens: Some(100), ..Limits::default() }));
        let patient = guard(&budget, None);
        let strict = guard(&budget, Some(2));
        for guard in [&patient, &strict] {
            guard.saw(&trajectory(Outcome::NotMeasured, "503"));
            guard.saw(&trajectory(Outcome::Finished, ""));
            assert_eq!(guard.reason(), None);
            guard.saw(&trajectory(Outcome::NotMeasured, "503"));
        }
        assert_eq!(patient.reason(), None);
        assert!(strict.reason().is_some_and(|reason| reason.starts_with("2 episodes could not be measured")));
        patient.saw(&trajectory(Outcome::Budget, "spent"));
        assert_eq!(patient.reason(), Some("spent"));
        budget.charge(Spent::of(Paid { calls: 1, uncounted: 0, usage: Usage::new(99, 1) }, None));
        assert!(guard(&budget, None).reason().is_some_and(|reason| reason.contains("100 tokens")));
    }
}
