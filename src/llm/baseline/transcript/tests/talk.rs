//! A conversation in any protocol's form, put together as the systems do it.

use super::forms::Form;
use crate::llm::baseline::transcript::{Past, Transcript};
use crate::llm::{Baseline, BaselineSettings};
use crate::protocol::{Kind, Layout, Protocol};
use crate::types::{Decoding, Message, Prompt, Request, Tool};
use std::sync::Arc;

pub(super) const QUESTION: &str = "In which town was the director of Nightfall of Arven born?";
pub(super) const FIRST_PAGE: &str = "Nightfall of Arven is a 1961 drama film directed by Mara Lindqvist.";
pub(super) const SECOND_PAGE: &str = "Mara Lindqvist was a Swedish film director. She was born in Tolvsund.";
pub(super) const FORCE_STOP: &str = "Step {n} is the last one: answer with what you know.";

pub(super) fn settings(form: Form) -> BaselineSettings {
    BaselineSettings {
        protocol: Some(Arc::new(form)),
        last_step: 20,
        force_stop: FORCE_STOP.to_owned(),
        ..BaselineSettings::default()
    }
}

/// A conversation, put together as the systems do it.
pub(super) struct Talk {
    pub(super) form: Form,
    pub(super) text: String,
    pub(super) messages: Vec<Message>,
    pub(super) step: usize,
}

impl Talk {
    /// A solved example, then the question.
    pub(super) fn about(form: Form, label: &str, question: &str) -> Self {
        let mut talk = Self { form, text: String::new(), messages: Vec::new(), step: 1 };
        talk.messages.push(Message::system("Use Search and Lookup. Question: the question to answer"));
        talk.ask(label, "Who was Ann Bee?");
        talk.reply(&form.step(1, Some("Look."), Tool::Search, "Ann Bee"));
        talk.observe("Ann Bee was a painter.");
        talk.reply(&form.step(2, Some("Done."), Tool::Finish, "a painter"));
        talk.text.push('\n');
        talk.ask(label, question);
        talk
    }

    pub(super) fn ask(&mut self, label: &str, question: &str) {
        let line = self.form.question(label, question);
        self.text.push_str(&line);
        self.messages.push(Message::user(line));
        self.step = 1;
        self.lead();
    }

    pub(super) fn lead(&mut self) {
        match self.form.layout() {
            Layout::Text => self.text.extend(["Thought ", &self.step.to_string(), ":"]),
            Layout::Template if !self.text.ends_with("\nThought: ") => self.text.push_str("Thought: "),
            _ => {}
        }
    }

    /// The model's reply; what leads to it is in the text already.
    pub(super) fn reply(&mut self, reply: &str) {
        let known = match self.form.layout() {
            Layout::Text => format!("Thought {}:", self.step),
            _ => "Thought: ".to_owned(),
        };
        self.text.push_str(reply.strip_prefix(&known).unwrap_or(reply).trim_end_matches('\n'));
        self.messages.push(Message::assistant(reply));
    }

    pub(super) fn observe(&mut self, text: &str) {
        let observation = self.form.observation(self.step, text);
        if !observation.starts_with('\n') {
            self.text.push('\n');
        }
        self.text.push_str(&observation);
        self.messages.push(Message { role: self.form.observation_role(), content: observation.into() });
        self.step += 1;
        self.lead();
    }

    /// A message of the user's that takes a step.
    pub(super) fn say(&mut self, text: &str) {
        self.messages.push(Message::user(text));
        self.step += 1;
    }

    pub(super) fn prompt(&self) -> Prompt {
        match self.form.layout() {
            Layout::Text => Prompt::text("".into(), self.text.clone()),
            Layout::Template => Prompt::Messages(vec![Message::user(format!("Template.\n\n{}", self.text))]),
            Layout::System | Layout::Instruction => Prompt::Messages(self.messages.clone()),
        }
    }

    pub(super) fn transcript(&self) -> Transcript {
        Transcript::read(&self.prompt(), &settings(self.form))
    }

    pub(super) fn written_with(&self, settings: BaselineSettings) -> String {
        let request = Request { prompt: self.prompt(), stop: vec![], decoding: Decoding::default() };
        Baseline::new(settings).write(&request)
    }

    pub(super) fn written(&self) -> String {
        self.written_with(settings(self.form))
    }

    /// What the next reply does, read as the system would.
    pub(super) fn next(&self) -> (Kind, String) {
        let reply = self.written();
        let parsed = self.form.parse(&reply, self.step);
        let argument = parsed.answer.or(parsed.input).unwrap_or_default();
        (parsed.kind, argument.trim().to_owned())
    }
}

pub(super) fn past(action: &str, observation: &str) -> Past {
    Past { action: action.into(), observation: observation.into() }
}
