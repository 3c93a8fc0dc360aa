//! Grounding: did an observation contain the answer's text before it was given?

use super::observed::{Observed, cap, is_verdict};
use super::overlap::AnswerScore;
use super::wording::words;
use serde::Serialize;

/// Where an answer comes from, as far as its text can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grounding {
    /// The answer appeared in an observation, right or wrong.
    Grounded,
    /// Right, though it appeared in none.
    Lucky,
    /// Wrong, and it appeared in none.
    Ungrounded,
    /// Yes, no or a label: an answer without a text that a page could hold. In no share.
    Verdict,
}

impl Grounding {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 4] = [Self::Grounded, Self::Lucky, Self::Ungrounded, Self::Verdict];

    pub fn name(self) -> &'static str {
        match self {
            Self::Grounded => "grounded",
            Self::Lucky => "lucky",
            Self::Ungrounded => "ungrounded",
            Self::Verdict => "verdict",
        }
    }

    /// Grounding of an answer with this score; `None` for an answer without words.
    pub(super) fn of(answer: &str, score: AnswerScore, seen: &Observed<'_>) -> Option<Self> {
        let answer = cap(answer);
        if is_verdict(answer) {
            return Some(Self::Verdict);
        }
        if words(answer).len() <= 1 {
            return None;
        }
        Some(match seen.supports_answer(answer) {
            true => Self::Grounded,
            false if score.em > 0.0 => Self::Lucky,
            false => Self::Ungrounded,
        })
    }
}
