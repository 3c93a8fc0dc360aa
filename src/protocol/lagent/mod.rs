//! `lagent`: lagent's `ReAct`, quirks included.
//!
//! Every turn is one request: the system message with the call protocol, the conversation so far, and on the last
//! turn a system message that asks for a result. A reply is read by labels that may stand anywhere in it; the final
//! answer counts above all, the last action is paired with everything after the first input label, and what the
//! tool says comes back as a system message `Response:…`.
//!
//! In the JSON form a reply is an object with a thought and either an action or a conclusion; what an action gives
//! comes back as the user's message, bare, and the whole conversation is remembered. Any other reply
//! ends the run, and so does the word `conclusion` anywhere in a reply.
//!
//! `docs/protocols.md` lists the options. `labels=v0.1` changes more than the labels: a tool takes its input as plain
//! text, names with dots do not address toolkits, the model is never asked to come to an end (the flag for it was set
//! after the last turn), and questions and answers are remembered.
//!
//! Upstream uses labels as regular expressions; here they are plain text.

mod dialogue;
mod executor;
mod json;
mod json_dialogue;
mod parse;
mod slots;
#[cfg(test)]
mod tests;

use super::{Dialogue, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec};
use crate::types::{Role, Tool};
use std::sync::Arc;

pub const ID: &str = "lagent";

/// The options, as they are named in messages.
const OPTIONS: &[&str] = &[
    "labels=v0.2|v0.1",
    "thought=TEXT",
    "action=TEXT",
    "action_input=TEXT",
    "response=TEXT",
    "finish=TEXT",
    "response_end=[TEXT]",
    "variant=labels|json",
    "language=en|zh",
    "arguments=mend|strict",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lagent {
    form: Form,
    labels: Arc<Labels>,
    release: Release,
    /// The answer to a question that was given up.
    given_up: &'static str,
    /// Whether misnamed arguments are mended.
    mend: bool,
}

/// How a reply is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Labels,
    Json,
}

/// Whose behaviour is kept where releases differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Release {
    V01,
    V02,
}

/// What the parts of a reply begin with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Labels {
    thought: String,
    action: String,
    action_input: String,
    response: String,
    finish: String,
    /// What follows a tool's answer.
    response_end: String,
}

impl Labels {
    fn new(options: &Options, release: Release) -> Result<Self, OptionError> {
        let (action_input, finish) = match release {
            Release::V02 => ("Action Input:", "Final Answer:"),
            Release::V01 => ("ActionInput:", "FinalAnswer:"),
        };
        let label = |name: &str, default: &str| match options.get(name) {
            Some("") => Err(OptionError::value(ID, name, "", "any text that is not empty")),
            given => Ok(given.unwrap_or(default).to_owned()),
        };
        Ok(Self {
            thought: label("thought", "Thought:")?,
            action: label("action", "Action:")?,
            action_input: label("action_input", action_input)?,
            response: label("response", "Response:")?,
            finish: label("finish", finish)?,
            response_end: options.get("response_end").unwrap_or("\n").to_owned(),
        })
    }
}

impl Lagent {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, OPTIONS)?;
        let form =
            options.choice(ID, "variant", &[("labels", Form::Labels), ("json", Form::Json)], "`labels` or `json`")?;
        let release =
            options.choice(ID, "labels", &[("v0.2", Release::V02), ("v0.1", Release::V01)], "`v0.2` or `v0.1`")?;
        if form == Form::Json {
            refuse_labels(options)?;
        }
        let given_up = [("en", "Sorry that I cannot answer your question."), ("zh", "对不起，我无法回答你的问题")];
        Ok(Self {
            form,
            labels: Arc::new(Labels::new(options, release)?),
            release,
            given_up: options.choice(ID, "language", &given_up, "`en` or `zh`")?,
            mend: options.mends(ID)?,
        })
    }

    /// The message that shows what an action gave.
    fn response(&self, text: &str) -> String {
        format!("{}{text}{}", self.labels.response, self.labels.response_end)
    }
}

/// The JSON form has no labels.
fn refuse_labels(options: &Options) -> Result<(), OptionError> {
    let names = ["labels", "thought", "action", "action_input", "response", "finish", "response_end"];
    match names.into_iter().find_map(|name| options.get(name).map(|value| (name, value))) {
        None => Ok(()),
        Some((name, value)) => Err(OptionError::value(ID, name, value, "set with `variant=labels` only")),
    }
}

impl Protocol for Lagent {
    fn profile(&self) -> Profile {
        let max_steps = match (self.form, self.release) {
            (Form::Json, _) => 5,
            (Form::Labels, Release::V02) => 4,
            (Form::Labels, Release::V01) => 2,
        };
        Profile::new(ID, max_steps, Layout::System)
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        match self.form {
            Form::Labels => Box::new(dialogue::LabelledDialogue::new(self, setup)),
            Form::Json => Box::new(json_dialogue::JsonDialogue::new(self, setup)),
        }
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        if self.form == Form::Json {
            return json::json_parsed(output);
        }
        let reply = parse::labelled_reply(output, &self.labels);
        let thought = Some(reply.thought.to_owned());
        match reply.action {
            executor::FINISH => Parsed::finish(thought, reply.input),
            executor::NO_ACTION => Parsed { thought, ..Parsed::invalid(executor::FORMAT) },
            action => Parsed::act(thought, action, reply.input),
        }
    }

    fn question(&self, _label: &str, question: &str) -> String {
        question.to_owned()
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        match self.form {
            Form::Labels => slots::labelled_step(self, thought, tool, input),
            Form::Json => slots::json_step(thought, tool, input),
        }
    }

    fn observation(&self, _n: usize, text: &str) -> String {
        match self.form {
            Form::Labels => self.response(text),
            Form::Json => text.to_owned(),
        }
    }

    fn observation_role(&self) -> Role {
        match self.form {
            Form::Labels => Role::System,
            Form::Json => Role::User,
        }
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        match self.form {
            Form::Labels => slots::labelled_slots(self, tools),
            Form::Json => slots::json_slots(tools),
        }
    }
}
