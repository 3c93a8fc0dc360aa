//! When a run stops by itself.

use super::breaker::Breakers;
use crate::llm::Budget;
use crate::types::text::counted;
use crate::types::{Outcome, Trajectory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Looks at every episode that ends, and says when the run has to stop.
#[derive(Debug)]
pub(super) struct Guard {
    budget: Arc<Budget>,
    breakers: Arc<Breakers>,
    max_failures: Option<u64>,
    failures: AtomicU64,
    reason: OnceLock<String>,
}

impl Guard {
    pub(super) fn new(budget: Arc<Budget>, breakers: Arc<Breakers>, max_failures: Option<u64>) -> Self {
        let guard = Self { budget, breakers, max_failures, failures: AtomicU64::new(0), reason: OnceLock::new() };
        guard.look_at_the_budget();
        guard
    }

    /// Takes an episode into account that has ended.
    pub(super) fn saw(&self, trajectory: &Trajectory) {
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
    }

    /// Why no further episode is to be begun, once that is so.
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
}

#[cfg(test)]
mod tests {
    use super::{Breakers, Guard};
    use crate::llm::{Budget, Limits, Spent};
    use crate::types::{Outcome, Usage};
    use std::sync::Arc;

    fn trajectory(outcome: Outcome, detail: &str) -> crate::types::Trajectory {
        serde_json::from_value(serde_json::json!({
            "v": 1, "id": "q", "variant": "main", "repeat": 0, "question": "?", "answers": [], "steps": [],
            "answer": null, "outcome": outcome, "detail": detail, "started_at": "", "wall_ms": 0, "compat": "fixed",
            "usage": {"prompt_tokens": 0, "completion_tokens": 0}, "repairs": [], "key": "k",
        }))
        .expect("a trajectory")
    }

    #[test]
    fn a_run_goes_on_until_so_many_failed_or_the_budget_is_spent() {
        let budget = Arc::new(Budget::new(Limits { tokens: Some(100), ..Limits::default() }));
        let breakers = || Arc::new(Breakers::new(None));
        let patient = Guard::new(Arc::clone(&budget), breakers(), None);
        let strict = Guard::new(Arc::clone(&budget), breakers(), Some(2));
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
        budget.charge(Spent::of(1, Usage { prompt_tokens: 99, completion_tokens: 1 }, None));
        assert!(Guard::new(budget, breakers(), None).reason().is_some_and(|reason| reason.contains("100 tokens")));
    }
}
