//! `qwen-agent`: Qwen-Agent's `ReActChat`, quirks included.
//!
//! The request is one user message made from a template; what happens is appended to it, never sent as turns. The
//! model writes `Action:` and `Action Input:`, the last pair of which counts, each at a line's beginning; the very
//! first line is none, because the label is looked for with the newline before it. A reply without an action ends
//! the run, whatever it says: the system never looks for `Final Answer:`, which only whoever asked cuts out.

use super::tools::{self, Resolved};
use super::{Dialogue, Episode, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec, Turn};
use crate::base::python::strip;
use crate::base::{Message, Outcome, Prompt, Question, Tool};
use serde_json::{Map, Value};
use std::sync::Arc;

pub const ID: &str = "qwen-agent";

const ACTION: &str = "\nAction:";
const INPUT: &str = "\nAction Input:";
const ANSWER: &str = "Final Answer:";
/// Both are sent; the first is the beginning of the second, so that it alone decides where a reply is cut.
const STOPS: [&str; 2] = ["Observation:", "Observation:\n"];
/// The rest of either stop when the server cut before its last token.
const PARTIAL_STOP: &str = "Observation";

/// The option `arguments`: `mend` finds the value in an argument of another form, `strict` gives the tool its raw text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QwenAgent {
    mend: bool,
}

impl QwenAgent {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, &["arguments=mend|strict"])?;
        Ok(Self { mend: options.mends(ID)? })
    }
}

impl Protocol for QwenAgent {
    fn profile(&self) -> Profile {
        Profile::new(ID, 20, Layout::Template)
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(ReActChat {
            episode: Episode::new(setup),
            qwen: *self,
            query: Arc::from(""),
            content: String::new(),
            shown: "Thought: ".to_owned(),
            pending: String::new(),
        })
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        let reply = before_stop(output);
        if let Some(action) = detect(reply) {
            return Parsed::act(Some(action.thought.to_owned()), action.name, action.input);
        }
        let (thought, answer) = answer(reply);
        Parsed::finish(thought, answer)
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let thought = thought.unwrap_or_default();
        let (name, parameter) = match (tool, tools::signature(tool)) {
            (Tool::Search | Tool::Lookup, Some(signature)) => signature,
            (Tool::Finish, _) => return format!("{thought}\n{ANSWER} {input}"),
            // The system has no tool for the others; their text stays as it is.
            _ => return format!("{thought}\n{input}"),
        };
        format!("{thought}{ACTION} {name}{INPUT} {{\"{parameter}\": {}}}", quoted(input))
    }

    fn observation(&self, _n: usize, text: &str) -> String {
        format!("\nObservation: {text}\nThought: ")
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        let described: Vec<_> = tools.iter().map(described).collect();
        let names: Vec<_> = tools.iter().map(|tool| tool.name.as_str()).collect();
        vec![("tool_descs", described.join("\n\n")), ("tool_names", names.join(","))]
    }
}

#[derive(Debug)]
struct ReActChat {
    episode: Episode,
    qwen: QwenAgent,
    query: Arc<str>,
    /// The user message: template, question, and what has happened since.
    content: String,
    /// The same as the user of the system sees it, with replies as they came.
    shown: String,
    /// The last reply as `content` will have it, once the tool has answered.
    pending: String,
}

impl ReActChat {
    fn ask(&mut self) -> Turn {
        if let Some(end) = self.episode.over("model calls") {
            return end;
        }
        let mut messages = self.episode.messages_before(&[]);
        messages.push(Message::user(self.content.as_str()));
        self.episode.ask(Prompt::Messages(messages), STOPS.map(str::to_owned).to_vec())
    }

    fn act(&mut self, action: &Action) -> Turn {
        self.pending = self.appended(action);
        let thought = Some(action.thought.to_owned());
        let written = action.written.to_owned();
        let Some(tool) = self.episode.tool(action.name) else {
            return self.episode.answer_itself(thought, written, format!("Tool {} does not exists.", action.name));
        };
        let call = if self.qwen.mend { tool.resolve_text(action.input) } else { Ok(raw_or_exact(tool, action.input)) };
        match call {
            Ok(call) => self.episode.use_tool(thought, written, call),
            Err(misfit) => {
                let complaint = self.episode.setup.frame.misfit(&misfit, tool, MISFITS, backticked);
                self.episode.answer_itself(thought, written, complaint)
            }
        }
    }

    /// A reply as it is appended to the user message: in pieces, trimmed where the parser trims.
    fn appended(&self, action: &Action) -> String {
        let Action { thought, name, input, .. } = action;
        // Every observation ends in `Thought: `, and so do most templates; only another one needs the newline.
        let newline = if self.content.ends_with("\nThought: ") || thought.starts_with('\n') { "" } else { "\n" };
        let before_code = if input.starts_with("```") { "\n" } else { "" };
        format!("{newline}{thought}{ACTION} {name}{INPUT} {before_code}{input}")
    }

    fn finish(&mut self, reply: &str) -> Turn {
        if strip(reply).is_empty() {
            return self
                .episode
                .stop(Outcome::FormatFailure, "the reply is empty, and so the run ends without an answer");
        }
        let (thought, answer) = answer(reply);
        let written = if thought.is_some() { format!("{ANSWER} {answer}") } else { answer.to_owned() };
        self.episode.finish(thought, written, answer.to_owned())
    }
}

impl Dialogue for ReActChat {
    fn begin(&mut self, question: &Question) -> Turn {
        self.query = Arc::from(question.question.as_str());
        let frame = &self.episode.setup.frame;
        self.content = [&frame.prefix, self.query.as_ref(), &frame.suffix].concat();
        self.ask()
    }

    fn completion(&mut self, text: &str) -> Turn {
        let reply = before_stop(text);
        self.shown.push_str(reply);
        match detect(reply) {
            Some(action) => self.act(&action),
            None => self.finish(reply),
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.episode.finished() {
            return self.episode.stop(Outcome::Finished, "");
        }
        self.content.push_str(&std::mem::take(&mut self.pending));
        let observed = self.qwen.observation(self.episode.step, text);
        self.content.push_str(&observed);
        self.shown.push_str(&observed);
        self.ask()
    }

    fn memory(&self) -> Vec<Message> {
        let turns = [Message::user(Arc::clone(&self.query)), Message::assistant(self.shown.as_str())];
        self.episode.setup.history.iter().cloned().chain(turns).collect()
    }
}

/// A reply up to the first stop, anywhere in it, and without one partial stop at its end.
fn before_stop(reply: &str) -> &str {
    let reply = reply.find(STOPS[0]).map_or(reply, |at| &reply[..at]);
    reply.strip_suffix(PARTIAL_STOP).unwrap_or(reply)
}

struct Action<'a> {
    thought: &'a str,
    name: &'a str,
    input: &'a str,
    written: &'a str,
}

/// The last action, if the last input follows it. The input ends with the reply, as [`before_stop`] left it.
fn detect(reply: &str) -> Option<Action<'_>> {
    let (i, j) = (reply.rfind(ACTION)?, reply.rfind(INPUT)?);
    (i < j).then(|| Action {
        thought: &reply[..i],
        name: strip(&reply[i + ACTION.len()..j]),
        input: strip(&reply[j + INPUT.len()..]),
        written: strip(&reply[i..]),
    })
}

/// Thought and answer of a reply without an action: what stands around the last label, or the whole reply.
fn answer(reply: &str) -> (Option<String>, &str) {
    match reply.rsplit_once(ANSWER) {
        Some((thought, answer)) => (Some(thought.to_owned()), strip(answer)),
        None => (None, strip(reply)),
    }
}

/// Without mending: the value of an object that is exactly what was asked for, otherwise the raw text.
fn raw_or_exact(tool: &ToolSpec, raw: &str) -> Resolved {
    let exact = serde_json::from_str::<Map<String, Value>>(raw).ok().and_then(|args| tool.resolve(&args, false).ok());
    exact.filter(|call| call.repairs.is_empty()).unwrap_or_else(|| Resolved {
        tool: tool.tool,
        input: raw.to_owned(),
        repairs: Vec::new(),
    })
}

/// The answers to arguments that do not fit: an unknown one, a missing one; upstream each tool words its own.
const MISFITS: [&str; 2] = [
    "Tool {tool} needs the text argument `{parameter}`, not {argument}.",
    "Tool {tool} needs the text argument `{parameter}`.",
];

fn backticked(names: &[String]) -> String {
    // Names come from the model and may hold anything; the observation stays one line.
    let names: Vec<_> = names.iter().map(|name| format!("`{}`", name.replace(['\n', '\r'], " "))).collect();
    names.join(", ")
}

fn described(tool: &ToolSpec) -> String {
    let ToolSpec { name, description, parameter, parameter_description, args_format, .. } = tool;
    let parameters = format!(
        "[{{\"name\": {}, \"type\": \"string\", \"description\": {}, \"required\": true}}]",
        quoted(parameter),
        quoted(parameter_description)
    );
    format!(
        "{name}: Call this tool to interact with the {name} API. What is the {name} API useful for? {description} \
         Parameters: {parameters} {args_format}"
    )
    .trim_end()
    .to_owned()
}

/// A JSON string, characters beyond ASCII as they are.
fn quoted(text: &str) -> String {
    // A string always serialises.
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
