//! When a run begins no further episode, or stops by itself.

use super::admission::{Admission, Held};
use super::breaker::Breakers;
use super::stopping::Watch;
use crate::agent::Episode;
use crate::llm::Budget;
use crate::types::text::counted;
use crate::types::{Outcome, Trajectory};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Looks at every episode before it begins and when it ends, and says when the run has to stop.
pub(super) struct Guard {
    budget: Arc<Budget>,
    admission: Admission,
    breakers: Arc<Breakers>,
    max_failures: Option<u64>,
    failures: AtomicU64,
    reason: OnceLock<String>,
    watch: Option<Arc<Watch>>,
}

impl Guard {
    pub(super) fn new(
        budget: Arc<Budget>,
        admission: Admission,
        breakers: Arc<Breakers>,
        max_failures: Option<u64>,
        watch: Option<Arc<Watch>>,
    ) -> Self {
        let (failures, reason) = (AtomicU64::new(0), OnceLock::new());
        let guard = Self { budget, admission, breakers, max_failures, failures, reason, watch };
        guard.look_at_the_budget();
        guard
    }

    /// Whether an episode may begin now. Where none is in flight whose end could change the answer, the run stops.
    pub(super) fn admits(&self, episode: &Episode) -> bool {
        match self.admission.admit(episode) {
            Ok(()) => true,
            Err(Held { reason, is_last }) => {
                if is_last {
                    self.budget.exhaust();
                    self.stop(|| reason);
                }
                false
            }
        }
    }

    /// Takes an episode into account that has ended.
    pub(super) fn saw(&self, trajectory: &Trajectory) {
        self.admission.ended(trajectory);
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
    }

    /// Whether no further episode is to be begun.
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
}

#[cfg(test)]
mod tests {
    use super::{Admission, Breakers, Guard};
    use crate::llm::{Budget, Limits, Spent};
    use crate::store::RunFolder;
    use crate::types::{Outcome, Usage};
    use std::collections::HashMap;
    use std::sync::Arc;

    fn trajectory(outcome: Outcome, detail: &str) -> crate::types::Trajectory {
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
        let admission = Admission::new(Arc::clone(budget), HashMap::new(), journal);
        Guard::new(Arc::clone(budget), admission, Arc::new(Breakers::new(None)), max_failures, None)
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
        budget.charge(Spent::of(1, Usage::new(99, 1), None));
        assert!(guard(&budget, None).reason().is_some_and(|reason| reason.contains("100 tokens")));
    }
}
