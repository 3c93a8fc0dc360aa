//! Dialogues: how an agent's system talks to the model, as state machines without I/O.
//!
//! A dialogue is built per question. It says what to ask the model, which tool to use, and when to stop;
//! the driver in [`crate::agent`] carries that out and knows nothing of any protocol.

pub mod numbered;
pub mod react_paper;

pub use react_paper::ReactPaper;

use crate::types::{Decoding, Outcome, Question, Repair, Request, ToolCall};
use std::sync::Arc;

/// One question's conversation between a model and the tools. Deterministic: no clock, no network, no chance.
///
/// The driver calls [`begin`](Dialogue::begin) once, then answers each [`Turn`] by the matching method until
/// a [`Turn::Stop`] comes.
pub trait Dialogue: Send {
    /// The first turn.
    fn begin(&mut self, question: &Question) -> Turn;
    /// The model's answer to the last [`Turn::Ask`].
    fn completion(&mut self, text: &str) -> Turn;
    /// The tool's answer to the last [`Turn::Use`].
    fn observation(&mut self, text: &str) -> Turn;
}

/// What a dialogue wants next.
#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    /// Ask the model.
    Ask(Request),
    /// Use a tool.
    Use(ToolCall),
    /// The conversation is over.
    Stop(Stop),
}

/// How a conversation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stop {
    /// The outcome; a dialogue never gives [`Outcome::NotMeasured`].
    pub outcome: Outcome,
    /// The answer, if one was given.
    pub answer: Option<String>,
    /// The reason in words, where the outcome needs one.
    pub detail: Option<String>,
    /// Deviations that were mended on the way.
    pub repairs: Vec<Repair>,
}

/// What a dialogue is built from; the same for every question of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    /// Instruction and exemplars in the protocol's own syntax.
    pub prefix: Arc<str>,
    /// Label before the question: `Question` or `Claim`.
    pub question_label: String,
    /// Steps after which an episode without an answer ends.
    pub max_steps: usize,
    /// Sampling settings of every request.
    pub decoding: Decoding,
}

/// The published agents that can be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// The `ReAct` paper's numbered loop.
    ReactPaper,
}

impl Protocol {
    /// All protocols, in the order in which they are listed.
    pub const ALL: [Self; 1] = [Self::ReactPaper];

    /// The id under which it is typed and stored.
    pub fn id(self) -> &'static str {
        match self {
            Self::ReactPaper => react_paper::ID,
        }
    }

    /// The protocol of that id.
    pub fn parse(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.id() == id)
    }

    /// The step limit of the published system.
    pub fn default_max_steps(self) -> usize {
        match self {
            Self::ReactPaper => react_paper::MAX_STEPS,
        }
    }

    /// A dialogue for one question.
    pub fn dialogue(self, setup: &Setup) -> Box<dyn Dialogue> {
        match self {
            Self::ReactPaper => Box::new(ReactPaper::new(setup)),
        }
    }
}
