//! What every dialogue with named tools keeps over an episode, and the turns that they all take.

use super::tools::Resolved;
use super::{Setup, Stop, ToolSpec, Turn};
use crate::types::{Outcome, Prompt, Repair, Reply, Request, Tool, ToolCall};
use std::sync::Arc;

/// Number of the step, repairs, and the answer once it was given.
#[derive(Debug)]
pub(super) struct Episode {
    pub(super) setup: Arc<Setup>,
    /// Number of the step that comes next, from 1.
    pub(super) step: usize,
    repairs: Vec<Repair>,
    answer: Option<String>,
    /// Text after the action of the step that comes next.
    discarded: Option<String>,
}

impl Episode {
    /// Kind of the repair that setting text aside is.
    const DISCARDED_TEXT: &str = "discarded_text";

    pub(super) fn new(setup: &Arc<Setup>) -> Self {
        Self { setup: Arc::clone(setup), step: 1, repairs: Vec::new(), answer: None, discarded: None }
    }

    /// The tool of that exact name.
    pub(super) fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.setup.frame.tools.iter().find(|tool| tool.name == name)
    }

    /// Counts a repair at the step that comes next.
    pub(super) fn repaired(&mut self, kind: &str) {
        self.repairs.push(Repair { step: self.step, kind: kind.to_owned() });
    }

    /// Sets text after the next step's action aside, and counts that as a repair.
    pub(super) fn discard(&mut self, text: &str) {
        self.repaired(Self::DISCARDED_TEXT);
        self.discarded = Some(text.to_owned());
    }

    /// Asks the model; what is the same in every request is filled in.
    pub(super) fn ask(&self, prompt: Prompt, stop: Vec<String>) -> Turn {
        Turn::Ask(Request { prompt, stop, decoding: self.setup.decoding.clone() })
    }

    /// Uses the tool; `action_text` is the action as the model wrote it.
    pub(super) fn use_tool(&mut self, thought: Option<String>, action_text: String, call: Resolved) -> Turn {
        for kind in &call.repairs {
            self.repaired(kind);
        }
        self.turn(thought, action_text, call.tool, call.input, Reply::Tool)
    }

    /// A step that the system answers by itself: an unknown tool, arguments that cannot be read.
    pub(super) fn answer_itself(&mut self, thought: Option<String>, action_text: String, reply: String) -> Turn {
        let input = action_text.clone();
        self.turn(thought, action_text, Tool::Invalid, input, Reply::Given(reply))
    }

    /// The step that gives the answer; when it was taken, [`Episode::finished`] says so and [`Episode::stop`] ends.
    pub(super) fn finish(&mut self, thought: Option<String>, action_text: String, answer: String) -> Turn {
        self.answer = Some(answer.clone());
        self.turn(thought, action_text, Tool::Finish, answer, Reply::None)
    }

    /// Whether the answer was given.
    pub(super) fn finished(&self) -> bool {
        self.answer.is_some()
    }

    /// Ends the episode: with the answer if there is one, otherwise with this outcome and reason.
    pub(super) fn stop(&mut self, outcome: Outcome, detail: impl Into<String>) -> Turn {
        let answer = self.answer.take();
        let (outcome, detail) =
            if answer.is_some() { (Outcome::Finished, None) } else { (outcome, Some(detail.into())) };
        Turn::Stop(Stop { outcome, answer, detail, repairs: std::mem::take(&mut self.repairs) })
    }

    fn turn(&mut self, thought: Option<String>, action_text: String, tool: Tool, input: String, reply: Reply) -> Turn {
        let step = self.step;
        self.step += 1;
        let discarded = self.discarded.take();
        Turn::Use(ToolCall { step, thought, action_text, tool, input, discarded, reply })
    }
}
