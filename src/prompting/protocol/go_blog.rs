//! `go-blog`: the agent of an article on `ReAct` in Go, whose model is told of its errors.
//!
//! A reply with `Action:` is a tool call, one with `Answer:` alone is the answer; what is neither, names no tool or
//! has arguments that do not fit is answered with `Error: …`, and the model tries again. Of a reply that goes on
//! after its first call, thought, action and input are kept and the rest is set aside, so that invented observations
//! and answers are never shown to the model again. The article gives no limit; ours counts the model's replies.
//!
//! `docs/protocols.md` lists the options.

use super::model_json::{dumps, first_object};
use super::tools::{self, Resolved};
use super::{Dialogue, Episode, Kind, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, ToolSpec, Turn};
use crate::base::python::strip;
use crate::base::{Message, Outcome, Prompt, Question, Tool};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub const ID: &str = "go-blog";

/// Kind of a [repair](crate::base::Repair): the first tool was used for one that does not exist.
const UNKNOWN_TOOL: &str = "unknown_tool";
/// The article's answer to a call of an unknown tool, for frames that were stored before they had one.
const NO_SUCH_TOOL: &str = "Error: 工具不存在,请选择指定的工具类型,......";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoBlog {
    mend: bool,
    unknown: Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    Feedback,
    Abort,
    Default,
}

impl GoBlog {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, &["arguments=mend|strict", "unknown_tool=feedback|abort|default"])?;
        let unknown = [("feedback", Unknown::Feedback), ("abort", Unknown::Abort), ("default", Unknown::Default)];
        let unknown = options.choice(ID, "unknown_tool", &unknown, "`feedback`, `abort` or `default`")?;
        Ok(Self { mend: options.mends(ID)?, unknown })
    }
}

impl Protocol for GoBlog {
    // The article gives no limit.
    fn profile(&self) -> Profile {
        Profile::new(ID, 20, Layout::System)
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(GoBlogDialogue {
            go: *self,
            episode: Episode::new(setup),
            inner: Vec::new(),
            from_system: false,
            memory: setup.history.clone(),
        })
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        read_reply(output).map_or_else(|_| Parsed::new(Kind::Invalid), |(parsed, _)| parsed)
    }

    fn question(&self, _label: &str, question: &str) -> String {
        format!("Question: {question}")
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let thought = thought.unwrap_or_default();
        match tools::signature(tool) {
            Some((name, parameter)) => call_text(thought, name, &dumps(&json!({ parameter: input }))),
            None => format!("Thought: {thought}\nAnswer: {input}"),
        }
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        vec![("ToolDesc", tools::descriptions(tools)), ("ToolNames", tools::names(tools))]
    }
}

fn call_text(thought: &str, tool: &str, input: &str) -> String {
    format!("Thought: {thought}\nAction: {tool}\nAction Input: {input}")
}

#[derive(Debug)]
struct GoBlogDialogue {
    go: GoBlog,
    episode: Episode,
    inner: Vec<Message>,
    from_system: bool,
    /// Earlier questions and answers, with this one once it is answered.
    memory: Vec<Message>,
}

impl GoBlogDialogue {
    fn next(&mut self) -> Turn {
        if let Some(end) = self.episode.over("replies") {
            return end;
        }
        let messages = [self.episode.before_question(), self.inner.clone()].concat();
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }

    /// Carries out a call that `text` begins with; `rest` is what follows it.
    fn call(&mut self, text: &str, call: Parsed, rest: &str) -> Turn {
        let (thought, tool) = (call.thought.unwrap_or_default(), call.tool.unwrap_or_default());
        let (Some(input), Some(arguments)) = (call.input, call.args) else {
            self.inner.push(Message::assistant(text));
            return match self.episode.tool(&tool) {
                Some(_) => self.error(Some(thought), tool, NOT_JSON),
                None => self.unknown(thought, tool.clone(), &tool, &Map::new()),
            };
        };
        let rest = strip(rest);
        if rest.is_empty() {
            self.inner.push(Message::assistant(text));
        } else {
            self.episode.repaired("discarded_text");
            self.episode.discarded = Some(rest.to_owned());
            self.inner.push(Message::assistant(call_text(&thought, &tool, &input)));
        }
        let (action_text, arguments) = (format!("{tool} {input}"), arguments.to_json());
        match self.episode.tool(&tool).map(|tool| self.resolved(tool, &arguments, self.go.mend)) {
            Some(Ok(resolved)) => self.episode.use_tool(Some(thought), action_text, resolved),
            Some(Err(misfit)) => self.error_feedback(Some(thought), action_text, &misfit),
            None => self.unknown(thought, action_text, &tool, &arguments),
        }
    }

    /// The use of a tool, or what is wrong with its arguments.
    fn resolved(&self, tool: &ToolSpec, arguments: &Map<String, Value>, mend: bool) -> Result<Resolved, String> {
        let frame = &self.episode.setup.frame;
        tool.resolve(arguments, mend).map_err(|misfit| frame.misfit(&misfit, tool, MISFITS, |names| names.join("`, `")))
    }

    fn unknown(&mut self, thought: String, action_text: String, name: &str, arguments: &Map<String, Value>) -> Turn {
        match self.go.unknown {
            Unknown::Feedback => {
                let frame = &self.episode.setup.frame;
                let names = tools::names(&frame.tools);
                let words = frame.sentence("unknown_tool", NO_SUCH_TOOL, &[("tools", &names), ("tool", name)]);
                self.answer_itself(Some(thought), action_text, words)
            }
            Unknown::Abort => {
                let detail = format!("the model called the tool `{name}`, which does not exist");
                self.episode.stop(Outcome::FormatFailure, detail)
            }
            Unknown::Default => {
                self.episode.repaired(UNKNOWN_TOOL);
                // Its arguments were meant for another tool, so their names cannot count.
                match self.episode.setup.frame.tools.first().map(|tool| self.resolved(tool, arguments, true)) {
                    Some(Ok(resolved)) => self.episode.use_tool(Some(thought), action_text, resolved),
                    Some(Err(misfit)) => self.error_feedback(Some(thought), action_text, &misfit),
                    None => self.episode.stop(Outcome::FormatFailure, "there are no tools"),
                }
            }
        }
    }

    fn error(&mut self, thought: Option<String>, action_text: String, (key, ours): Fault) -> Turn {
        let error = self.episode.setup.frame.sentence(key, ours, &[("argument", "")]);
        self.error_feedback(thought, action_text, &error)
    }

    fn error_feedback(&mut self, thought: Option<String>, action_text: String, error: &str) -> Turn {
        let feedback = self.episode.setup.frame.sentence("feedback", "{error}", &[("error", error)]);
        self.answer_itself(thought, action_text, format!("Error: {feedback}"))
    }

    fn answer_itself(&mut self, thought: Option<String>, action_text: String, text: String) -> Turn {
        self.from_system = true;
        self.episode.answer_itself(thought, action_text, text)
    }
}

impl Dialogue for GoBlogDialogue {
    fn begin(&mut self, question: &Question) -> Turn {
        self.inner = vec![Message::user(format!("Question: {}", question.question))];
        self.next()
    }

    fn completion(&mut self, text: &str) -> Turn {
        self.from_system = false;
        match read_reply(text) {
            Ok((Parsed { thought, answer: Some(answer), .. }, _)) => {
                let shown = format!("Thought: {}\nAnswer: {answer}", thought.as_deref().unwrap_or_default());
                self.memory.extend(self.inner.first().cloned());
                self.memory.push(Message::assistant(shown));
                self.episode.finish(thought, format!("Answer: {answer}"), answer)
            }
            Ok((call, rest)) => self.call(text, call, rest),
            Err(fault) => {
                self.inner.push(Message::assistant(text));
                self.error(None, text.to_owned(), fault)
            }
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        self.inner.push(Message::user(if self.from_system { text.to_owned() } else { format!("Observation: {text}") }));
        self.next()
    }

    fn memory(&self) -> Vec<Message> {
        self.memory.clone()
    }
}

// A reply read as the article's two regular expressions read it, with a dot that takes newlines.
//
// | | |
// |---|---|
// | call | `(?s)^\s*Thought: (.*?)\n+Action: ([a-zA-Z0-9_]+).*?\n+Action Input: .*?(\{.*\})` |
// | answer | `(?s)\s*Thought:(.*?)\n+Answer:.*?(.*)` |
//
// Every group is lazy but the last, so each ends at the first place where the next label stands; both are read from
// the left in one pass.

/// The key of a text of the frame, and our words for it.
type Fault = (&'static str, &'static str);

const BAD_CALL: Fault = (
    "bad_call",
    "a tool call is a line `Thought: `, a line `Action: ` with the tool's name, and a line \
     `Action Input: ` with a JSON object",
);
const BAD_ANSWER: Fault = ("bad_answer", "an answer is a line `Thought: ` and a line `Answer: `");
const NEITHER_LABEL: Fault = ("no_action", "the reply has neither an `Action: ` nor an `Answer: `");
const NOT_JSON: Fault = ("not_json", "the Action Input is not a valid JSON object");

const MISFITS: [&str; 2] = ["the tool has no argument `{argument}`", "the argument `{argument}` is missing"];

/// Reads a reply, and what follows its call. The label of an action decides, wherever it stands.
fn read_reply(text: &str) -> Result<(Parsed, &str), Fault> {
    if text.contains("Action:") {
        call(text).ok_or(BAD_CALL)
    } else if text.contains("Answer:") {
        Ok((answer(text).ok_or(BAD_ANSWER)?, ""))
    } else {
        Err(NEITHER_LABEL)
    }
}

/// A call with the first JSON object after the input's label; without one it has no arguments.
fn call(text: &str) -> Option<(Parsed, &str)> {
    // `\s` of Go's regular expressions.
    let body = text.trim_start_matches(['\t', '\n', '\x0c', '\r', ' ']).strip_prefix("Thought: ")?;
    let label = "\nAction: ";
    let (at, tool) = body.match_indices(label).find_map(|(at, _)| {
        let after = &body[at + label.len()..];
        let end = after.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(after.len());
        (end > 0).then(|| (at, &after[..end]))
    })?;
    let (_, input) = body[at + label.len() + tool.len()..].split_once("\nAction Input: ")?;
    let object = &input[input.find('{')?..];
    let to_last_brace = &object[..=object.rfind('}')?];
    let thought = Some(strip(&body[..at]).to_owned());
    Some(match first_object(to_last_brace) {
        Some((args, end)) => {
            (Parsed { args: Some(args), ..Parsed::act(thought, tool, &to_last_brace[..end]) }, &object[end..])
        }
        None => (Parsed { thought, tool: Some(tool.to_owned()), ..Parsed::new(Kind::Invalid) }, ""),
    })
}

fn answer(text: &str) -> Option<Parsed> {
    let (thought, answer) = text.split_once("Thought:")?.1.split_once("\nAnswer:")?;
    Some(Parsed::finish(Some(strip(thought).to_owned()), strip(answer)))
}

#[cfg(test)]
mod tests;
