//! From a prompt to the question and the steps so far, and from a decision back to text.
//!
//! The protocol itself writes steps ([`Protocol::step`]); `labels` learns how its questions and observations look by
//! having it write some. The rest parses conversations:
//!
//! | file | what it holds |
//! |---|---|
//! | `labels` | a protocol's labels, learned from what it writes |
//! | `history` | the steps since the last question, event by event |
//! | `text` | prompts that are one text: `Thought 1: …` or `Thought: …` |
//! | `messages` | conversations |
//! | `calls` | conversations with native tool calls |
//! | `step` | the action in a reply of the model |
//! | `observation` | answers of tools and systems, in one wording |
//! | `write` | from a decision to the text that continues the prompt |
//!
//! If the prompt asks for an answer at once (`Answer:` at its end) or for a chain of thought (`Thought:` without a
//! number), that is written.
//!
//! [`Protocol::step`]: crate::protocol::Protocol::step

mod calls;
mod history;
mod labels;
mod messages;
mod observation;
mod step;
mod text;
mod write;

use crate::protocol::Protocol;
use crate::types::{Completion, Functions, Prompt};
use history::History;
use labels::Labels;
use std::sync::Arc;

pub(super) use step::quoted;

/// Longer texts are cut, in bytes.
const MAX_QUESTION: usize = 4 << 10;
const MAX_OBSERVATION: usize = 16 << 10;
/// Later steps are ignored.
const MAX_STEPS: usize = 64;

/// Settings of the policy: what a prompt does not say.
#[derive(Debug, Clone)]
pub struct BaselineSettings {
    pub question_label: String,
    pub claim_label: String,
    /// Whether all questions are claims, for protocols without labels.
    pub claims: bool,
    /// The step at which an answer must be given, from 1.
    pub last_step: usize,
    /// The protocol. Without one, steps are numbered as in the `ReAct` paper, and a prompt that ends in `Answer:` or
    /// `Thought:` is answered without tools.
    pub protocol: Option<Arc<dyn Protocol>>,
    /// Whether steps have thoughts; a label at the end of the prompt overrides this.
    pub thoughts: bool,
    /// The text with which the protocol demands an answer, including slots in braces, or empty.
    pub force_stop: String,
}

impl Default for BaselineSettings {
    /// `Question`, `Claim`, and seven steps as in the `ReAct` paper.
    fn default() -> Self {
        Self {
            question_label: "Question".to_owned(),
            claim_label: "Claim".to_owned(),
            claims: false,
            last_step: 7,
            protocol: None,
            thoughts: true,
            force_stop: String::new(),
        }
    }
}

/// A parsed prompt.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) history: History,
    /// What is to be written.
    pub(super) wanted: Wanted,
    /// Whether the reply needs no white space before it, as the prompt or message ends in some.
    pub(super) spaced: bool,
}

/// One finished step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastStep {
    /// The action as [`Action::text`] writes it, or, if it is unknown, as the model wrote it.
    pub(super) action: String,
    /// The answer of the tool, in the wording of the English tool.
    pub(super) observation: String,
}

/// What is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Thought and action of step `n`; if `labelled`, the label of the thought ends the prompt.
    Step { n: usize, labelled: bool },
    /// The action of step `n`, after its label.
    Action(usize),
    /// A chain of thought and an answer, without tools.
    Reasons,
    /// An answer without tools.
    Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Search(String),
    /// Find a word on the open page.
    Lookup(String),
    Finish(String),
}

impl Action {
    /// The action in the same format for all protocols: `Search[X]`.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Search(query) => format!("Search[{query}]"),
            Self::Lookup(keyword) => format!("Lookup[{keyword}]"),
            Self::Finish(answer) => format!("Finish[{answer}]"),
        }
    }
}

/// A decision with the thought that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) thought: String,
    pub(super) action: Action,
}

impl Transcript {
    /// Parses a prompt. Any prompt can be parsed; what is missing is empty.
    pub(super) fn read(prompt: &Prompt, settings: &BaselineSettings) -> Self {
        let labels = Labels::of(settings);
        let mut transcript = match prompt {
            Prompt::Messages(messages) if labels.calls => calls::read_calls(messages, &labels),
            // The question is in the second part, unless the prompt is not split.
            Prompt::Text { rest, .. } if labels.labelled(rest).is_some() => text::read_text(rest, &labels),
            Prompt::Text { prefix, rest } => text::read_text(&format!("{prefix}{rest}"), &labels),
            Prompt::Messages(messages) => messages::read_messages(messages, &labels),
        };
        transcript.history.is_claim |= labels.claims;
        transcript
    }

    /// The decision as a reply with a native call.
    pub(super) fn call(&self, decision: &Decision, functions: &Functions) -> Completion {
        calls::write_call(decision, functions, self.step())
    }

    /// Number of the step to write, from 1.
    pub(super) fn step(&self) -> usize {
        match self.wanted {
            Wanted::Step { n, .. } | Wanted::Action(n) => n,
            Wanted::Reasons | Wanted::Answer => self.history.steps.len() + 1,
        }
    }

    /// Whether no tool can be used any more.
    pub(super) fn must_answer(&self) -> bool {
        self.history.forced || matches!(self.wanted, Wanted::Reasons | Wanted::Answer)
    }
}

/// At most `bytes` of `text`, cut between characters.
fn cap(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests;
