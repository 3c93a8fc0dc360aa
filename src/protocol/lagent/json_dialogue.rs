//! The conversation in JSON.

use super::super::episode::Episode;
use super::super::{Dialogue, Setup, Turn};
use super::Lagent;
use super::executor::{Effect, Executor};
use super::json::{self, JsonBody};
use crate::types::{Message, Outcome, Prompt, Question, Role};
use std::sync::Arc;

/// One question's conversation. It is remembered whole, with all steps.
#[derive(Debug)]
pub(super) struct JsonDialogue {
    lagent: Lagent,
    episode: Episode,
    /// The question and what has happened since.
    inner: Vec<Message>,
}

impl JsonDialogue {
    pub(super) fn new(lagent: &Lagent, setup: &Arc<Setup>) -> Self {
        Self { lagent: lagent.clone(), episode: Episode::new(setup), inner: Vec::new() }
    }

    fn ask(&self) -> Turn {
        let mut messages = Vec::new();
        for message in self.episode.before_question().iter().chain(&self.inner) {
            push(&mut messages, message);
        }
        if self.episode.step == self.episode.setup.max_steps {
            // Upstream has none; a frame may.
            messages.extend(self.episode.force_stop());
        }
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }

    fn exhausted(&mut self) -> Turn {
        let detail = format!(
            "no conclusion within {} steps; the original gives the last action's result",
            self.episode.setup.max_steps
        );
        self.episode.stop(Outcome::StepLimit, detail)
    }
}

/// Two messages of the user's in a row become one, with nothing between them.
fn push(messages: &mut Vec<Message>, message: &Message) {
    match messages.last_mut() {
        Some(last) if last.role == Role::User && message.role == Role::User => {
            *last = Message::user(format!("{}{}", last.content, message.content));
        }
        _ => messages.push(message.clone()),
    }
}

impl Dialogue for JsonDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        self.inner = vec![Message::user(question.question.as_str())];
        if self.episode.setup.max_steps == 0 { self.exhausted() } else { self.ask() }
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = match json::json_reply(text) {
            Ok(reply) => reply,
            Err(exception) => return Effect::Raise(exception).turn(&mut self.episode, None, String::new()),
        };
        self.inner.push(Message::assistant(text));
        let (thought, action_text) = (Some(reply.thought), text.to_owned());
        let (name, parameters) = match reply.body {
            JsonBody::Conclusion(answer) => return self.episode.finish(thought, action_text, answer.trim().to_owned()),
            // The end came by the word alone, and nothing was concluded.
            JsonBody::Action { .. } if reply.last => return self.episode.finish(thought, action_text, String::new()),
            JsonBody::Action { name, parameters } => (name, parameters),
        };
        let setup = Arc::clone(&self.episode.setup);
        let executor = Executor { tools: &setup.frame.tools, mend: self.lagent.mend };
        executor.run_decoded(&name, &parameters.to_json()).turn(&mut self.episode, thought, action_text)
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.episode.finished() {
            return self.episode.stop(Outcome::Finished, "");
        }
        if self.episode.step > self.episode.setup.max_steps {
            return self.exhausted();
        }
        self.inner.push(Message::user(text));
        self.ask()
    }

    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        memory.extend_from_slice(&self.inner);
        memory
    }
}
