//! The event workflow built on the library's parser.

use super::super::{Dialogue, Setup, Turn};
use super::Settings;
use super::notes::{self, Notes};
use super::parse::Reading;
use crate::types::{Message, Outcome, Question};
use std::sync::Arc;

/// Repair: the model is told that its reply could not be read.
const UNREADABLE: &str = "unreadable_reply";

#[derive(Debug)]
pub(super) struct Workflow {
    notes: Notes,
}

impl Workflow {
    pub(super) fn new(setup: &Arc<Setup>, settings: Settings) -> Self {
        Self { notes: Notes::new(setup, settings) }
    }
}

impl Dialogue for Workflow {
    fn begin(&mut self, question: &Question) -> Turn {
        self.notes.begin(question)
    }

    fn completion(&mut self, text: &str) -> Turn {
        self.notes.replies += 1;
        match self.notes.read(text) {
            Reading::Unreadable(error) => {
                self.notes.episode.repaired(UNREADABLE);
                let reply = format!("There was an error in parsing my reasoning: {}", error.text());
                self.notes.episode.answer_itself(None, text.to_owned(), reply)
            }
            Reading::Action(action) => self.notes.act(
                action,
                |tool| format!("Tool {tool} does not exist"),
                |tool, complaint| format!("Error calling tool {tool}: {complaint}"),
            ),
            Reading::Answer { thought, answer } => {
                self.notes.note(Message::assistant(notes::answer_text(&thought, &answer)));
                self.notes.response = Some(Message::assistant(answer.as_str()));
                self.notes.episode.finish(Some(thought), answer.clone(), answer)
            }
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.notes.episode.finished() {
            return self.notes.episode.stop(Outcome::Finished, "");
        }
        self.notes.observed(text);
        if self.notes.exhausted() {
            // The original has no limit but its time.
            let detail = format!("no answer within {} replies", self.notes.replies);
            return self.notes.episode.stop(Outcome::StepLimit, detail);
        }
        self.notes.ask(&[])
    }

    fn memory(&self) -> Vec<Message> {
        self.notes.memory()
    }
}
