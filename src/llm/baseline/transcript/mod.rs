//! From a prompt to the question and the steps so far, and from a decision back to text.
//!
//! How a step is written, the protocol itself says ([`Protocol::step`]); how its questions and observations look,
//! `labels` learns by letting the protocol write some. What is left is to take conversations apart again:
//!
//! | file | what it holds |
//! |---|---|
//! | `labels` | labels of a protocol, as its own writing shows them |
//! | `history` | what has happened since the last question, event by event |
//! | `text` | events of a prompt that is one text: `Thought 1: …` or `Thought: …` |
//! | `messages` | events of a conversation |
//! | `step` | what a reply of the model's did, and with what argument |
//! | `observation` | answers of tools and systems, in the words that the rules know |
//! | `write` | from a decision to the text that continues the prompt |
//!
//! Where the prompt asks for an answer at once (`Answer:` at its end), or for a chain of thought (`Thought:` without
//! a number, which no tool follows), that is what is written.
//!
//! [`Protocol::step`]: crate::protocol::Protocol::step

mod history;
mod labels;
mod messages;
mod observation;
mod step;
mod text;
mod write;

use crate::protocol::Protocol;
use crate::types::Prompt;
use history::History;
use labels::Labels;
use std::sync::Arc;

pub(super) use step::quoted;

/// As much of a text as is read, in bytes; what is longer is cut.
const MAX_QUESTION: usize = 4 << 10;
const MAX_OBSERVATION: usize = 16 << 10;
/// More steps than this are not read.
const MAX_STEPS: usize = 64;

/// Settings of the policy: what a prompt does not tell about itself.
#[derive(Debug, Clone)]
pub struct BaselineSettings {
    /// Label before a question.
    pub question_label: String,
    /// Label before a claim, which is judged rather than answered.
    pub claim_label: String,
    /// Whether all questions are claims, for protocols that put them without a label.
    pub claims: bool,
    /// The step at which an answer must be given, from 1.
    pub last_step: usize,
    /// The protocol that is spoken. Without one, steps are numbered as in the paper, and a prompt that ends in
    /// `Answer:` or `Thought:` is answered without tools.
    pub protocol: Option<Arc<dyn Protocol>>,
    /// Whether steps have thoughts; what a prompt's last label says comes before this.
    pub thoughts: bool,
    /// The text by which the protocol says that an answer is due, slots in braces included; empty if there is none.
    pub force_stop: String,
}

impl Default for BaselineSettings {
    /// `Question`, `Claim`, and the paper's seven steps.
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

/// A prompt, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transcript {
    /// The question or the claim.
    pub question: String,
    /// Whether it is a claim to judge.
    pub is_claim: bool,
    /// The steps that were answered; those that failed are answered with nothing.
    pub steps: Vec<PastStep>,
    /// The last action, as [`Action::text`] has it, if it was answered with an error.
    pub just_failed: Option<String>,
    /// Whether the prompt says that the answer is due.
    pub forced: bool,
    /// What the prompt leaves to be written.
    pub wanted: Wanted,
    /// Whether white space ends the prompt, or a message, so that the reply needs none before it.
    pub spaced: bool,
}

/// One finished step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastStep {
    /// The action as [`Action::text`] writes it; where it is none of the known ones, as the model wrote it.
    pub action: String,
    /// What the tool answered, in the wording of the English tool.
    pub observation: String,
}

/// What the prompt leaves to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Thought and action of this step; the label of the thought is there already if `labelled`.
    Step {
        /// Number of the step, from 1.
        n: usize,
        /// Whether the thought's label ends the prompt.
        labelled: bool,
    },
    /// The action of this step, after its label.
    Action(usize),
    /// A chain of thought that ends in an answer, without tools.
    Reasons,
    /// An answer without tools.
    Answer,
}

/// What to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Open a page.
    Search(String),
    /// Find a word on the open page.
    Lookup(String),
    /// Answer.
    Finish(String),
}

impl Action {
    /// The form in which past actions are kept and compared, whatever the protocol's: `Search[X]`.
    pub fn text(&self) -> String {
        match self {
            Self::Search(query) => format!("Search[{query}]"),
            Self::Lookup(keyword) => format!("Lookup[{keyword}]"),
            Self::Finish(answer) => format!("Finish[{answer}]"),
        }
    }
}

/// A decision with the thought that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// One sentence.
    pub thought: String,
    /// What to do.
    pub action: Action,
}

impl Transcript {
    /// Reads a prompt. Anything can be read; what is missing is empty.
    pub fn read(prompt: &Prompt, settings: &BaselineSettings) -> Self {
        let labels = Labels::of(settings);
        match prompt {
            Prompt::Text { prefix, rest } => {
                // The question stands in the part of its own, unless someone put all of it into one.
                if labels.labelled(rest).is_some() {
                    text::read(rest, &labels)
                } else {
                    text::read(&format!("{prefix}{rest}"), &labels)
                }
            }
            Prompt::Messages(messages) => messages::read(messages, &labels),
        }
    }

    /// A history with what is left to be written.
    fn of(history: History, labels: &Labels<'_>, wanted: Wanted, spaced: bool) -> Self {
        Self {
            question: cap(&history.question, MAX_QUESTION).trim().to_owned(),
            is_claim: history.is_claim || labels.claims,
            just_failed: history.just_failed,
            steps: history.steps,
            forced: history.forced,
            wanted,
            spaced,
        }
    }

    /// The number of the step that is to be written, from 1.
    pub fn step(&self) -> usize {
        match self.wanted {
            Wanted::Step { n, .. } | Wanted::Action(n) => n,
            Wanted::Reasons | Wanted::Answer => self.steps.len() + 1,
        }
    }

    /// Whether there is no tool to use, or no more step for one.
    pub fn must_answer(&self) -> bool {
        self.forced || matches!(self.wanted, Wanted::Reasons | Wanted::Answer)
    }
}

/// At most `bytes` of `text`, cut between characters.
fn cap(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

#[cfg(test)]
mod tests;
