//! The steps since the last question.

use super::observation::{is_complaint, worded};
use super::step::ParsedAction;
use super::{MAX_OBSERVATION, MAX_QUESTION, MAX_STEPS, PastStep, cap};

/// The last question and the steps after it.
#[derive(Debug, Default)]
pub(in crate::llm::baseline) struct History {
    pub(in crate::llm::baseline) question: String,
    /// Whether the question is a claim to verify.
    pub(in crate::llm::baseline) is_claim: bool,
    /// The answered steps; failed ones have an empty observation.
    pub(in crate::llm::baseline) steps: Vec<PastStep>,
    /// The last action, as [`Action::text`](super::Action::text) writes it, if it failed.
    pub(in crate::llm::baseline) just_failed: Option<String>,
    /// Whether the prompt demands an answer.
    pub(super) forced: bool,
    /// Number of the next step; 0 before there is a question.
    pub(super) next: usize,
    pending: Option<ParsedAction>,
}

impl History {
    /// Starts over with a new question.
    pub(super) fn ask(&mut self, question: &str, is_claim: bool) {
        let question = cap(question, MAX_QUESTION).trim();
        *self = Self { question: question.to_owned(), is_claim, next: 1, ..Self::default() };
    }

    pub(super) fn asked(&self) -> bool {
        self.next > 0
    }

    /// Whether a step waits for its observation.
    pub(super) fn waits(&self) -> bool {
        self.pending.is_some()
    }

    pub(super) fn finished(&self) -> bool {
        self.pending.as_ref().is_some_and(|did| did.finish)
    }

    /// The model acted.
    pub(super) fn step(&mut self, did: ParsedAction) {
        self.forced = false;
        self.pending = Some(did);
    }

    /// A tool or the system answered; `number` is that of the label.
    pub(super) fn observe(&mut self, text: &str, number: Option<usize>) {
        let text = cap(text, MAX_OBSERVATION).trim();
        let complaint = is_complaint(text, self.pending.as_ref().map(|did| &*did.input));
        if self.pending.is_none() && !complaint {
            return;
        }
        self.next = number.unwrap_or(self.next);
        if complaint {
            return self.fail();
        }
        self.next = self.next.saturating_add(1);
        if let Some(did) = self.pending.take() {
            self.push(did.action, worded(text));
            self.just_failed = None;
            self.forced = false;
        }
    }

    /// The last reply failed. It counts as a step.
    pub(super) fn fail(&mut self) {
        self.forced = false;
        self.next = self.next.saturating_add(1);
        let Some(did) = self.pending.take() else { return };
        self.just_failed = Some(did.action.clone());
        // Without an observation, but the step is used and its argument was tried.
        self.push(did.action, String::new());
    }

    fn push(&mut self, action: String, observation: String) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(PastStep { action, observation });
        }
    }
}
