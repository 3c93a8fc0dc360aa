//! Whether an episode's answer is right, and why not.

use super::page::{DIM, GREEN, PLAIN, Page, RED};
use crate::graded::Graded;
use crate::score::{AnswerScore, Assessment};
use crate::types::{Outcome, Trajectory};

/// Right or wrong, by which metric, with the trajectory metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict<'a> {
    pub metric: &'static str,
    /// The score; absent if the episode was not measured or the gold answer is hidden.
    pub score: Option<AnswerScore>,
    /// Its trajectory metrics; absent if it was not measured.
    pub assessment: Option<&'a Assessment>,
}

impl<'a> From<&'a Graded> for Verdict<'a> {
    fn from(graded: &'a Graded) -> Self {
        Self { metric: graded.metric, score: graded.score, assessment: graded.assessment.as_ref() }
    }
}

/// `right`, `wrong`, or why there is no verdict.
pub(in crate::report) fn verdict_word(outcome: Outcome, score: Option<AnswerScore>) -> &'static str {
    match score {
        Some(score) if score.em > 0.0 => "right",
        Some(_) => "wrong",
        None if matches!(outcome, Outcome::NotMeasured | Outcome::Budget) => "not measured",
        None => "hidden",
    }
}

pub(super) fn show_verdict(page: &mut Page, trajectory: &Trajectory, verdict: &Verdict<'_>) {
    match (verdict_word(trajectory.outcome, verdict.score), verdict.score) {
        (word, Some(score)) => {
            let style = if score.em > 0.0 { GREEN } else { RED };
            let figures = format!("{word} (EM {:.0}, F1 {:.2} by metric {})", score.em, score.f1, verdict.metric);
            page.field("verdict", &figures, style);
        }
        ("hidden", None) => page.field("verdict", "none: the gold answer is hidden", DIM),
        (_, None) => page.field("verdict", "none: the episode was not measured", DIM),
    }
    let Some(assessment) = verdict.assessment else { return };
    if let Some(failure) = &assessment.failure {
        page.field("failure", &format!("{}: {}", failure.class.name(), failure.described()), PLAIN);
    }
    page.optional("grounding", assessment.grounding.map(crate::score::Grounding::name), DIM);
}
