//! The state of both systems during a question: the messages before it, and the scratchpad after it.

use super::super::episode::Episode;
use super::super::tools::{Misfit, ToolSpec};
use super::super::{Frame, Setup, Turn};
use super::Settings;
use super::parse::{Action, Reading};
use crate::types::{Message, Prompt, Question};
use std::sync::Arc;

/// An observation as the model is shown it.
pub(super) fn observation_text(text: &str) -> String {
    format!("Observation: {text}")
}

pub(super) fn answer_text(thought: &str, answer: &str) -> String {
    format!("Thought: {thought}\nAnswer: {answer}")
}

#[derive(Debug)]
pub(super) struct Notes {
    pub(super) episode: Episode,
    /// Replies that the model has given.
    pub(super) replies: usize,
    question: Vec<Message>,
    scratchpad: Vec<Message>,
    /// The message that stays in memory besides the question.
    pub(super) response: Option<Message>,
    settings: Settings,
}

impl Notes {
    pub(super) fn new(setup: &Arc<Setup>, settings: Settings) -> Self {
        let (question, scratchpad) = (Vec::new(), Vec::new());
        Self { episode: Episode::new(setup), replies: 0, question, scratchpad, response: None, settings }
    }

    pub(super) fn begin(&mut self, question: &Question) -> Turn {
        self.question = vec![Message::user(question.question.as_str())];
        let mut history = self.settings.memory.kept(self.remembered());
        history.pop();
        if history.len() < self.setup().history.len() {
            self.episode.setup = Arc::new(Setup { history, ..self.setup().clone() });
        }
        self.ask(&[])
    }

    /// The reply as the parser takes it.
    pub(super) fn read(&self, reply: &str) -> Reading {
        Reading::of(reply, self.settings.bare_answers)
    }

    /// Asks for the next step; `retry` is placed between question and scratchpad.
    pub(super) fn ask(&self, retry: &[Message]) -> Turn {
        let messages = [&self.episode.before_question()[..], &self.question, retry, &self.scratchpad].concat();
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }

    /// Whether the model has used all its replies.
    pub(super) fn exhausted(&self) -> bool {
        self.replies >= self.setup().max_steps
    }

    /// The messages before the scratchpad in the system's memory: earlier turns and the question.
    pub(super) fn remembered(&self) -> Vec<Message> {
        [&self.setup().history[..], &self.question].concat()
    }

    pub(super) fn question(&self) -> &[Message] {
        &self.question
    }

    /// All steps so far in one text.
    pub(super) fn joined(&self) -> String {
        self.scratchpad.iter().map(|note| &*note.content).collect::<Vec<_>>().join("\n")
    }

    pub(super) fn memory(&self) -> Vec<Message> {
        self.settings.memory.kept(self.remembered().into_iter().chain(self.response.clone()).collect())
    }

    pub(super) fn note(&mut self, note: Message) {
        self.scratchpad.push(note);
    }

    pub(super) fn observed(&mut self, text: &str) {
        self.note(Message::user(observation_text(text)));
    }

    /// Uses the tool of an action; the system answers by itself if there is no such tool, or if the arguments do
    /// not fit it.
    pub(super) fn act(
        &mut self,
        action: Action,
        unknown: impl FnOnce(&str) -> String,
        misfit: impl FnOnce(&str, String) -> String,
    ) -> Turn {
        self.note(Message::assistant(action.content()));
        let args = action.args.to_json();
        let Action { thought, tool, input, .. } = action;
        let thought = Some(thought);
        let text = format!("{tool} {input}");
        let Some(spec) = self.episode.tool(&tool) else {
            return self.episode.answer_itself(thought, text, unknown(&tool));
        };
        match spec.resolve(&args, self.settings.mend) {
            Ok(call) => self.episode.use_tool(thought, text, call),
            Err(fault) => {
                let reply = misfit(&tool, complaint(&self.setup().frame, spec, &fault));
                self.episode.answer_itself(thought, text, reply)
            }
        }
    }

    fn setup(&self) -> &Setup {
        &self.episode.setup
    }
}

/// Why arguments do not fit, in one line. The original shows the Python exception of the call.
fn complaint(frame: &Frame, spec: &ToolSpec, fault: &Misfit) -> String {
    let (name, parameter) = (("tool", spec.name.as_str()), ("parameter", spec.parameter.as_str()));
    match fault {
        Misfit::Unknown(names) => {
            let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
            let ours = "{tool} has no argument {argument}; it needs \"{parameter}\".";
            frame.sentence("unknown_argument", ours, &[name, parameter, ("argument", &names.join(", "))])
        }
        Misfit::Missing(_) => {
            frame.sentence("missing_argument", "{tool} needs the argument \"{parameter}\".", &[name, parameter])
        }
    }
}
