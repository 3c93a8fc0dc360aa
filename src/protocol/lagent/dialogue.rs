//! The conversation by labels.

use super::super::episode::Episode;
use super::super::{Dialogue, Setup, Turn};
use super::executor::{Effect, Executor, FINISH, NO_ACTION};
use super::{Lagent, Release, parse};
use crate::types::{Message, Outcome, Prompt, Question};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct LabelledDialogue {
    lagent: Lagent,
    episode: Episode,
    /// The question and what has happened since.
    inner: Vec<Message>,
    /// What the system gives back in the end, white space and all.
    response: Option<String>,
}

impl LabelledDialogue {
    pub(super) fn new(lagent: &Lagent, setup: &Arc<Setup>) -> Self {
        Self { lagent: lagent.clone(), episode: Episode::new(setup), inner: Vec::new(), response: None }
    }

    fn next(&mut self) -> Turn {
        let limit = self.episode.setup.max_steps;
        if self.episode.step > limit {
            self.response = Some(self.lagent.given_up.to_owned());
            return self.episode.stop(Outcome::StepLimit, self.lagent.given_up);
        }
        let mut messages = [self.episode.before_question(), self.inner.clone()].concat();
        // The first releases raise the flag for it after the last turn.
        if self.episode.step == limit && self.lagent.release != Release::V01 {
            messages.extend(self.episode.force_stop());
        }
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }
}

impl Dialogue for LabelledDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        self.inner = vec![Message::user(question.question.as_str())];
        self.next()
    }

    fn completion(&mut self, text: &str) -> Turn {
        self.inner.push(Message::assistant(text));
        let setup = Arc::clone(&self.episode.setup);
        let executor = Executor { tools: &setup.frame.tools, mend: self.lagent.mend };
        let reply = parse::labelled_reply(text, &self.lagent.labels);
        let effect = executor.run(self.lagent.release, reply.action, reply.input);
        let thought = Some(reply.thought.to_owned());
        let action_text = match reply.action {
            FINISH => format!("{}{}", self.lagent.labels.finish, reply.input),
            NO_ACTION => text.to_owned(),
            action => format!("{action} {}", reply.input),
        };
        if let Effect::Finish(answer) = &effect {
            self.response = Some(answer.clone());
        }
        effect.turn(&mut self.episode, thought, action_text)
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.episode.finished() {
            return self.episode.stop(Outcome::Finished, "");
        }
        self.inner.push(Message::system(self.lagent.response(text)));
        self.next()
    }

    /// The first releases keep what was asked and what was given back. (v0.1.0 returns before it keeps an answer,
    /// and so remembers only what it could not answer; the release after it kept both.)
    fn memory(&self) -> Vec<Message> {
        let mut memory = self.episode.setup.history.clone();
        match (self.lagent.release, &self.response, self.inner.first()) {
            (Release::V02, ..) => return Vec::new(),
            (Release::V01, Some(response), Some(question)) => {
                memory.extend([question.clone(), Message::assistant(response.as_str())]);
            }
            (Release::V01, ..) => {}
        }
        memory
    }
}
