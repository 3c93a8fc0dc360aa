//! The agent of the library.

use super::super::python::strip;
use super::super::{Dialogue, Setup, Turn};
use super::notes::{self, Notes};
use super::parse::{Reading, Unreadable};
use super::{EarlyStopping, Settings};
use crate::types::{Message, Outcome, Prompt, Question, Repair};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Agent {
    notes: Notes,
    stopping: EarlyStopping,
    /// Whether the answer at the limit was asked for.
    generating: bool,
}

impl Agent {
    pub(super) fn new(setup: &Arc<Setup>, settings: Settings, stopping: EarlyStopping) -> Self {
        Self { notes: Notes::new(setup, settings), stopping, generating: false }
    }

    /// Asks again, with the reply and what is wrong with it; neither enters the scratchpad.
    fn retry(&mut self, reply: &str, kind: &str, feedback: &str) -> Turn {
        self.notes.episode.repaired(kind);
        let bad = [Message::assistant(reply), Message::user(feedback)];
        self.notes.ask(&[self.notes.question(), &bad].concat())
    }

    fn said(&self, occasion: &str) -> String {
        self.notes.episode.setup.frame.text_for(occasion).to_owned()
    }

    /// The limit is reached; what the last reply said is not used.
    fn limit(&mut self) -> Turn {
        let limit = self.notes.episode.setup.max_steps;
        match self.stopping {
            EarlyStopping::Force => self.notes.episode.stop(
                Outcome::StepLimit,
                format!(
                    "Max iterations of {limit} reached! Either something went wrong, or you can increase the max \
                     iterations with `.run(.., max_iterations=...)` or use `early_stopping_method='generate'` to \
                     generate a final response instead."
                ),
            ),
            EarlyStopping::Generate => {
                self.generating = true;
                let mut messages = self.notes.remembered();
                messages.push(Message::system(self.said("force_stop").replace("{max_steps}", &limit.to_string())));
                self.notes.episode.ask(Prompt::Messages(messages), Vec::new())
            }
        }
    }
}

impl Dialogue for Agent {
    fn begin(&mut self, question: &Question) -> Turn {
        self.notes.begin(question)
    }

    fn completion(&mut self, text: &str) -> Turn {
        if self.generating {
            self.notes.response = Some(Message::assistant(text));
            return self.notes.episode.finish(None, text.to_owned(), text.to_owned());
        }
        self.notes.replies += 1;
        let reading = (!text.is_empty()).then(|| self.notes.read(text));
        if let Some(Reading::Unreadable(error @ Unreadable::Attribute)) = &reading {
            let detail = format!("the thought is empty, where the original raises `AttributeError`: {}", error.text());
            return self.notes.episode.stop(Outcome::FormatFailure, detail);
        }
        if self.notes.exhausted() {
            return self.limit();
        }
        match reading {
            None => {
                let feedback = self.said("empty_reply");
                self.retry(text, Repair::EMPTY_REPLY, &feedback)
            }
            Some(Reading::Unreadable(error)) => {
                let feedback = self.said("feedback").replace("{error}", error.text());
                self.retry(text, Repair::UNREADABLE_REPLY, &feedback)
            }
            Some(Reading::Action(action)) => self.notes.act(
                action,
                |tool| format!("Tool {tool} not found. Please select a tool that is available."),
                |_, complaint| complaint,
            ),
            Some(Reading::Answer { thought, answer }) => {
                self.notes.note(Message::assistant(notes::answer_text(&thought, &answer)));
                self.notes.response = Some(Message::assistant(self.notes.joined()));
                let response = response(text).to_owned();
                self.notes.episode.finish(Some(thought), response.clone(), response)
            }
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.notes.episode.finished() {
            return self.notes.episode.stop(Outcome::Finished, "");
        }
        self.notes.observed(text);
        self.notes.ask(&[])
    }

    fn memory(&self) -> Vec<Message> {
        self.notes.memory()
    }
}

/// What the agent gives as its answer: the reply behind its first `Answer:`, or the whole. The parser's answer is
/// another where a first `Answer:` comes before the thought.
fn response(reply: &str) -> &str {
    reply.split_once("Answer:").map_or(reply, |(_, answer)| strip(answer))
}
