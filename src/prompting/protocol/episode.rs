//! The state that every dialogue keeps over an episode, and the turns that all dialogues take.

use super::tools::Resolved;
use super::{Setup, Stop, ToolSpec, Turn};
use crate::base::{Message, Outcome, Prompt, Repair, Reply, Request, Tool, ToolCall};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Episode {
    pub(super) setup: Arc<Setup>,
    pub(super) step: usize,
    repairs: Vec<Repair>,
    answer: Option<String>,
    /// Text after the action of the next step.
    discarded: Option<String>,
}

/// The messages before the question, of which a provider may keep what it made.
pub(super) fn shared(mut messages: Vec<Message>) -> Vec<Message> {
    if let Some(last) = messages.last_mut() {
        last.ends_shared = true;
    }
    messages
}

impl Episode {
    pub(super) fn new(setup: &Arc<Setup>) -> Self {
        Self { setup: Arc::clone(setup), step: 1, repairs: Vec::new(), answer: None, discarded: None }
    }

    pub(super) fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.setup.frame.tools.iter().find(|tool| tool.name == name)
    }

    pub(super) fn repaired(&mut self, kind: &str) {
        self.repairs.push(Repair { step: self.step, kind: kind.to_owned() });
    }

    /// Keeps text that followed the next step's action out of the conversation, without counting a repair.
    pub(super) fn set_aside(&mut self, text: Option<String>) {
        self.discarded = text;
    }

    pub(super) fn ask_text(&self, rest: String, stop: Vec<String>) -> Turn {
        self.ask(Prompt::text(self.setup.frame.prefix.clone(), rest), stop)
    }

    pub(super) fn ask(&self, prompt: Prompt, stop: Vec<String>) -> Turn {
        Turn::Ask(Request::new(prompt, stop, self.setup.decoding.clone()))
    }

    /// System message, examples and earlier turns: the messages that precede the question.
    pub(super) fn before_question(&self) -> Vec<Message> {
        let Setup { frame, history, .. } = self.setup.as_ref();
        let system = frame.system.iter().map(|text| Message::system(Arc::clone(text)));
        shared(system.chain(frame.examples.iter().chain(history).cloned()).collect())
    }

    pub(super) fn force_stop(&self) -> Option<Message> {
        let text = self.setup.frame.texts.get("force_stop").filter(|text| !text.is_empty());
        text.map(|text| Message::system(Arc::clone(text)))
    }

    /// Uses the tool; `action_text` is the action as the model wrote it.
    pub(super) fn use_tool(&mut self, thought: Option<String>, action_text: String, call: Resolved) -> Turn {
        for kind in &call.repairs {
            self.repaired(kind);
        }
        self.turn(thought, action_text, call.tool, call.input, Reply::Tool)
    }

    /// A step that the system answers by itself: an unknown tool, or unreadable arguments.
    pub(super) fn answer_itself(&mut self, thought: Option<String>, action_text: String, reply: String) -> Turn {
        let input = action_text.clone();
        self.turn(thought, action_text, Tool::Invalid, input, Reply::Given(reply))
    }

    pub(super) fn finish(&mut self, thought: Option<String>, action_text: String, answer: String) -> Turn {
        self.answers(&answer);
        self.turn(thought, action_text, Tool::Finish, answer, Reply::None)
    }

    /// Keeps the answer: from now on [`Episode::finished`] holds, and [`Episode::stop`] ends the episode with it.
    pub(super) fn answers(&mut self, answer: &str) {
        self.answer = Some(answer.to_owned());
    }

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

    pub(super) fn turn(
        &mut self,
        thought: Option<String>,
        action_text: String,
        tool: Tool,
        input: String,
        reply: Reply,
    ) -> Turn {
        let step = self.step;
        self.step += 1;
        let discarded = self.discarded.take();
        Turn::Use(ToolCall { step, thought, action_text, tool, input, discarded, reply })
    }
}
