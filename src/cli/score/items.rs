//! The figures of single episodes, for `--per-item`.

use crate::report::escape::visible_line;
use crate::score::{AnswerScore, Assessment};
use crate::types::Outcome;
use serde_json::{Value, json};

/// The figures of one episode.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) variant: String,
    pub(super) repeat: u32,
    pub(super) id: String,
    pub(super) outcome: Outcome,
    /// Absent where it was not measured and where the gold is hidden.
    pub(super) score: Option<AnswerScore>,
    pub(super) assessment: Option<Assessment>,
}

impl Item {
    /// For reading, on one line: the id first, as with files of predictions.
    pub(super) fn line(&self) -> String {
        let figures = self
            .score
            .map_or_else(|| "em –  f1 –".to_owned(), |AnswerScore { em, f1, .. }| format!("em {em:.4}  f1 {f1:.4}"));
        let failure = self.assessment.as_ref().and_then(|assessment| assessment.failure.as_ref());
        let failure = failure.map_or_else(String::new, |failure| format!("  {}", failure.class.name()));
        let (id, variant) = (visible_line(&self.id, 80), visible_line(&self.variant, 40));
        format!("{id}  {variant}  repeat {}  {figures}  {}{failure}", self.repeat, self.outcome.name())
    }

    /// For programs, in full.
    pub(super) fn to_json(&self) -> Value {
        let assessment = self.assessment.as_ref();
        let gold = assessment.and_then(|assessment| assessment.retrieval.gold);
        json!({
            "variant": self.variant,
            "repeat": self.repeat,
            "id": self.id,
            "outcome": self.outcome.name(),
            "em": self.score.map(|score| score.em),
            "f1": self.score.map(|score| score.f1),
            "precision": self.score.map(|score| score.precision),
            "recall": self.score.map(|score| score.recall),
            "retrieval": assessment.map(|assessment| assessment.retrieval),
            "first_hop": gold.map(|gold| gold.first_hop()),
            "all_hops": gold.map(|gold| gold.all_hops()),
            "grounding": assessment.and_then(|assessment| assessment.grounding),
            "failure": assessment.and_then(|assessment| assessment.failure.as_ref()),
        })
    }
}
