//! `llama-index`: the `ReAct` agent of `LlamaIndex` 0.14, and an event workflow built on its parser.
//!
//! A system message describes tools and format; question, earlier turns and a scratchpad of thoughts, actions and
//! observations follow as messages. No stop sequences: of a reply that runs ahead, the parser keeps one action.
//!
//! - The agent shows the model its own unreadable reply once, with feedback. It counts replies, and compares
//!   with its limit before it uses one, so that an answer in the last reply allowed is lost. It remembers all steps.
//! - The workflow observes that there was an error instead, without the reply. It remembers question and answer.

use super::model_json::{Dict, Item, dict_repr, dumps, last_values, lenient_object};
use super::tools::{self, ToolSpec};
use super::{Dialogue, Episode, Layout, OptionError, Options, Parsed, Profile, Protocol, Setup, Turn};
use crate::base::python::{is_python_space, is_word, strip};
use crate::base::{Message, Outcome, Prompt, Question, Repair, Role, Tool};
use std::sync::Arc;

pub const ID: &str = "llama-index";

const OPTIONS: &[&str] = &[
    "variant=agent|workflow",
    "early_stopping=force|generate",
    "answer_without_thought=refused|accepted",
    "memory_tokens=NUMBER",
    "arguments=mend|strict",
];
const VARIANTS: &str = "`agent` or `workflow`";
const STOPPING: &str = "`force`, or with the variant `agent` also `generate`";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LlamaIndex {
    variant: Variant,
    /// Whether arguments that nearly fit a tool are made to fit.
    mend: bool,
    /// Whether an answer without a thought is one.
    bare_answers: bool,
    memory: Memory,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variant {
    Agent(EarlyStopping),
    Workflow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EarlyStopping {
    Force,
    /// It asks for one, without showing the steps.
    Generate,
}

impl LlamaIndex {
    pub fn new(options: &Options) -> Result<Self, OptionError> {
        options.known(ID, OPTIONS)?;
        let stopping = [("force", EarlyStopping::Force), ("generate", EarlyStopping::Generate)];
        let stopping = options.choice(ID, "early_stopping", &stopping, STOPPING)?;
        let variants = [("agent", Variant::Agent(stopping)), ("workflow", Variant::Workflow)];
        let variant = options.choice(ID, "variant", &variants, VARIANTS)?;
        if (variant, stopping) == (Variant::Workflow, EarlyStopping::Generate) {
            return Err(OptionError::value(ID, "early_stopping", "generate", STOPPING));
        }
        let bare_answers = [("refused", false), ("accepted", true)];
        let bare_answers = options.choice(ID, "answer_without_thought", &bare_answers, "`refused` or `accepted`")?;
        let memory = Memory::new(options.number(ID, "memory_tokens", TOKEN_LIMIT)?);
        Ok(Self { variant, mend: options.mends(ID)?, bare_answers, memory })
    }
}

impl Protocol for LlamaIndex {
    fn profile(&self) -> Profile {
        Profile::new(ID, 20, Layout::System)
    }

    fn last_answer(&self, max_steps: usize) -> usize {
        // The agent holds the count against its limit before it looks at the answer.
        match self.variant {
            Variant::Agent(_) => max_steps.saturating_sub(1),
            Variant::Workflow => max_steps,
        }
    }

    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue> {
        Box::new(Conversation {
            llama: *self,
            episode: Episode::new(setup),
            replies: 0,
            question: Vec::new(),
            scratchpad: Vec::new(),
            response: None,
            generating: false,
        })
    }

    fn parse(&self, output: &str, _step: usize) -> Parsed {
        read_reply(output, self.bare_answers)
    }

    fn question(&self, _label: &str, question: &str) -> String {
        question.to_owned()
    }

    fn step(&self, _n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String {
        let thought = thought.map(|thought| format!("Thought: {thought}\n")).unwrap_or_default();
        let Some((name, parameter)) = tools::signature(tool) else {
            let label = if tool == Tool::Finish { "Answer: " } else { "" };
            return format!("{thought}{label}{input}");
        };
        let input = dumps(&serde_json::json!({ parameter: input }));
        format!("{thought}Action: {name}\nAction Input: {input}")
    }

    fn slots(&self, tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        let described: Vec<String> = tools.iter().map(described).collect();
        vec![("tool_desc", described.join("\n")), ("tool_names", tools::names(tools))]
    }
}

/// A tool as the library describes a function: its signature and description, and a schema with pydantic's titles.
fn described(tool: &ToolSpec) -> String {
    let ToolSpec { name, description, parameter, parameter_description, .. } = tool;
    let description = format!("{name}({parameter}: str) -> str\n{description}");
    let mut initial = parameter.chars();
    let title: String = initial.next().into_iter().flat_map(char::to_uppercase).chain(initial).collect();
    let mut property = serde_json::json!({ "title": title, "type": "string" });
    if !parameter_description.is_empty() {
        property = serde_json::json!({ "description": parameter_description, "title": title, "type": "string" });
    }
    let mut schema = tool.schema();
    schema["properties"][parameter] = property;
    tools::describe(name, &description, &dumps(&schema))
}

// The conversation of both systems.

#[derive(Debug)]
struct Conversation {
    llama: LlamaIndex,
    episode: Episode,
    replies: usize,
    question: Vec<Message>,
    /// Thoughts, actions and observations since the question.
    scratchpad: Vec<Message>,
    response: Option<Message>,
    generating: bool,
}

impl Conversation {
    /// Asks for the next step; `retry` is placed between question and scratchpad.
    fn ask(&self, retry: &[Message]) -> Turn {
        let messages = [&self.episode.before_question()[..], &self.question, retry, &self.scratchpad].concat();
        self.episode.ask(Prompt::Messages(messages), Vec::new())
    }

    fn exhausted(&self) -> bool {
        self.replies >= self.setup().max_steps
    }

    /// The messages before the scratchpad in the system's memory: earlier turns and the question.
    fn remembered(&self) -> Vec<Message> {
        [&self.setup().history[..], &self.question].concat()
    }

    fn setup(&self) -> &Setup {
        &self.episode.setup
    }

    /// What the agent makes of a reply that it does not use: it reached its limit, or it asks again.
    fn unused(&mut self, text: &str, parsed: &Parsed, stopping: EarlyStopping) -> Option<Turn> {
        let error = parsed.error.as_deref();
        if error == Some(ATTRIBUTE_ERROR) {
            let detail = format!("the thought is empty, where the original raises `AttributeError`: {ATTRIBUTE_ERROR}");
            return Some(self.episode.stop(Outcome::FormatFailure, detail));
        }
        if self.exhausted() {
            return Some(self.limit(stopping));
        }
        let (kind, feedback) = match error {
            _ if text.is_empty() => (Repair::EMPTY_REPLY, self.setup().frame.text_for("empty_reply").to_owned()),
            Some(error) => {
                (Repair::UNREADABLE_REPLY, self.setup().frame.text_for("feedback").replace("{error}", error))
            }
            None => return None,
        };
        self.episode.repaired(kind);
        // The question is put twice then. Neither the reply nor what is wrong with it enters the scratchpad.
        let bad = [Message::assistant(text), Message::user(feedback)];
        Some(self.ask(&[&self.question[..], &bad].concat()))
    }

    /// The limit is reached; what the last reply said is not used.
    fn limit(&mut self, stopping: EarlyStopping) -> Turn {
        let limit = self.setup().max_steps;
        match stopping {
            EarlyStopping::Force => self.episode.stop(
                Outcome::StepLimit,
                format!(
                    "Max iterations of {limit} reached! Either something went wrong, or you can increase the max \
                     iterations with `.run(.., max_iterations=...)` or use `early_stopping_method='generate'` to \
                     generate a final response instead."
                ),
            ),
            EarlyStopping::Generate => {
                self.generating = true;
                let force_stop = self.setup().frame.text_for("force_stop");
                let force_stop = Message::system(force_stop.replace("{max_steps}", &limit.to_string()));
                let messages = [self.remembered(), vec![force_stop]].concat();
                self.episode.ask(Prompt::Messages(messages), Vec::new())
            }
        }
    }

    /// Uses a tool; the system answers by itself if there is no such tool, or if the arguments do not fit it.
    fn act(&mut self, thought: Option<String>, tool: &str, input: &str, args: &Dict) -> Turn {
        let shown = format!("Action: {tool}\nAction Input: {}", dict_repr(args));
        let shown = format!("Thought: {}\n{shown}", thought.as_deref().unwrap_or_default());
        self.scratchpad.push(Message::assistant(shown));
        let text = format!("{tool} {input}");
        let is_agent = matches!(self.llama.variant, Variant::Agent(_));
        let Some(spec) = self.episode.tool(tool) else {
            let unknown = if is_agent {
                format!("Tool {tool} not found. Please select a tool that is available.")
            } else {
                format!("Tool {tool} does not exist")
            };
            return self.episode.answer_itself(thought, text, unknown);
        };
        match spec.resolve(&args.to_json(), self.llama.mend) {
            Ok(call) => self.episode.use_tool(thought, text, call),
            Err(fault) => {
                let complaint = self.setup().frame.misfit(&fault, spec, MISFITS, quoted);
                let reply = if is_agent { complaint } else { format!("Error calling tool {tool}: {complaint}") };
                self.episode.answer_itself(thought, text, reply)
            }
        }
    }

    fn finish(&mut self, text: &str, thought: Option<String>, answer: String) -> Turn {
        let shown = format!("Thought: {}\nAnswer: {answer}", thought.as_deref().unwrap_or_default());
        self.scratchpad.push(Message::assistant(shown));
        let (response, answer) = match self.llama.variant {
            Variant::Agent(_) => {
                let steps: Vec<&str> = self.scratchpad.iter().map(|note| &*note.content).collect();
                // The parser's answer is another where a first `Answer:` comes before the thought.
                let given = text.split_once("Answer:").map_or(text, |(_, answer)| strip(answer));
                (Message::assistant(steps.join("\n")), given.to_owned())
            }
            Variant::Workflow => (Message::assistant(answer.as_str()), answer),
        };
        self.response = Some(response);
        self.episode.finish(thought, answer.clone(), answer)
    }
}

impl Dialogue for Conversation {
    fn begin(&mut self, question: &Question) -> Turn {
        self.question = vec![Message::user(question.question.as_str())];
        let mut history = self.llama.memory.recent(self.remembered());
        history.pop();
        if history.len() < self.setup().history.len() {
            self.episode.setup = Arc::new(Setup { history, ..self.setup().clone() });
        }
        self.ask(&[])
    }

    fn completion(&mut self, text: &str) -> Turn {
        if self.generating {
            self.response = Some(Message::assistant(text));
            return self.episode.finish(None, text.to_owned(), text.to_owned());
        }
        self.replies += 1;
        let parsed = read_reply(text, self.llama.bare_answers);
        if let Variant::Agent(stopping) = self.llama.variant
            && let Some(turn) = self.unused(text, &parsed, stopping)
        {
            return turn;
        }
        match parsed {
            Parsed { thought, tool: Some(tool), input: Some(input), args: Some(args), .. } => {
                self.act(thought, &tool, &input, &args)
            }
            Parsed { thought, answer: Some(answer), .. } => self.finish(text, thought, answer),
            Parsed { error, .. } => {
                self.episode.repaired(Repair::UNREADABLE_REPLY);
                let error = error.unwrap_or_default();
                let reply = format!("There was an error in parsing my reasoning: {error}");
                self.episode.answer_itself(None, text.to_owned(), reply)
            }
        }
    }

    fn observation(&mut self, text: &str) -> Turn {
        if self.episode.finished() {
            return self.episode.stop(Outcome::Finished, "");
        }
        self.scratchpad.push(self.llama.result(self.replies, text));
        if self.llama.variant == Variant::Workflow && self.exhausted() {
            // The original has no limit but its time.
            let detail = format!("no answer within {} replies", self.replies);
            return self.episode.stop(Outcome::StepLimit, detail);
        }
        self.ask(&[])
    }

    fn memory(&self) -> Vec<Message> {
        self.llama.memory.recent(self.remembered().into_iter().chain(self.response.clone()).collect())
    }
}

/// Why arguments do not fit: an unknown one, a missing one. The original shows the Python exception of the call.
const MISFITS: [&str; 2] =
    ["{tool} has no argument {argument}; it needs \"{parameter}\".", "{tool} needs the argument \"{parameter}\"."];

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

// The system's parser of replies. Its regular expressions are searched for by hand, in linear time: the original's
// take seconds on some thousand newlines.

/// The thought of a reply without any label, which is an answer as a whole.
const IMPLICIT_THOUGHT: &str = "(Implicit) I can answer without any more tools!";

/// The error of a reply whose thought between label and action is empty, which the original takes for a thought that was
/// not found. It ends the agent, whereas other errors are shown to the model.
const ATTRIBUTE_ERROR: &str = "'NoneType' object has no attribute 'strip'";

/// Reads a reply. Labels count wherever they stand, also inside a line. With `bare_answers` an answer needs no thought.
fn read_reply(reply: &str, bare_answers: bool) -> Parsed {
    let (action, answer) = (reply.find("Action:"), reply.find("Answer:"));
    match (action, answer) {
        (Some(action), Some(answer)) if action < answer => read_action(reply),
        (Some(_), None) => read_action(reply),
        (_, Some(at)) if bare_answers => bare_answer(&reply[..at], &reply[at + "Answer:".len()..]),
        (_, Some(_)) => read_answer(reply),
        (None, None) if reply.contains("Thought:") => Parsed::invalid(format!("Could not parse output: {reply}")),
        (None, None) => Parsed::finish(Some(IMPLICIT_THOUGHT.to_owned()), reply),
    }
}

fn read_action(reply: &str) -> Parsed {
    let Some((thought, tool, input)) = tool_use(reply) else {
        return Parsed::invalid(format!("Could not extract tool use from input text: {reply}"));
    };
    if thought.is_empty() {
        return Parsed::invalid(ATTRIBUTE_ERROR);
    }
    let args = lenient_object(input)
        .unwrap_or_else(|| Dict(fallback(input).into_iter().map(|(key, value)| (key, Item::Text(value))).collect()));
    Parsed { args: Some(args), ..Parsed::act(Some(strip(thought).to_owned()), strip(tool), input) }
}

/// `\s*Thought:(.*?)Answer:(.*?)(?:$)`: the first answer behind the first thought.
fn read_answer(reply: &str) -> Parsed {
    match reply.split_once("Thought:").and_then(|(_, rest)| rest.split_once("Answer:")) {
        Some((thought, answer)) => Parsed::finish(Some(strip(thought).to_owned()), strip(answer)),
        None => Parsed::invalid(format!("Could not extract final answer from input text: {reply}")),
    }
}

/// What the proposed change of the library makes of a reply: all before the first `Answer:` is the thought.
fn bare_answer(thought: &str, answer: &str) -> Parsed {
    let thought = strip(thought);
    let thought = thought.strip_prefix("Thought:").map_or(thought, strip);
    Parsed::finish(Some(thought.to_owned()), strip(answer))
}

const ACTION: &str = "\nAction: ";
const INPUT: &str = "\nAction Input: ";

/// Thought, tool and input, before they are stripped: the groups of
/// `(?:\s*Thought: (.*?)|(.+))\n+Action: ([^\n\(\) ]+).*?\n+Action Input: .*?(\{.*\})`, where a dot is any character.
///
/// The leftmost match always begins with the text. Behind `Thought: ` at the beginning the thought is as short as possible
/// and the first action counts; otherwise it is as long as possible and the last one does.
fn tool_use(text: &str) -> Option<(&str, &str, &str)> {
    let end = text.rfind('}')? + 1;
    let last_brace = text[..end].rfind('{')?;
    let last_input = text[..last_brace].rfind(INPUT)?;
    let body = text.trim_start_matches(is_python_space).strip_prefix("Thought: ");
    let tool_at = |at: usize| {
        let name = &text[at + ACTION.len()..];
        let name = &name[..name.find(['\n', '(', ')', ' ']).unwrap_or(name.len())];
        (!name.is_empty() && at + ACTION.len() + name.len() <= last_input).then_some((at, name))
    };
    let (from, (at, tool)) = match body {
        Some(body) => {
            let from = text.len() - body.len();
            (from, body.match_indices(ACTION).find_map(|(at, _)| tool_at(from + at))?)
        }
        // The thought is one character at least.
        None => (0, text.rmatch_indices(ACTION).find_map(|(at, _)| tool_at(at)).filter(|(at, _)| *at > 0)?),
    };
    let thought = &text[from..at];
    let thought = if body.is_some() { thought.trim_end_matches('\n') } else { thought };
    let behind = at + ACTION.len() + tool.len();
    let input = behind + text[behind..].find(INPUT)? + INPUT.len();
    let brace = input + text[input..end].find('{')?;
    Some((thought, tool, &text[brace..end]))
}

/// The arguments where the text is not JSON, however leniently read: pairs of a word and a string. A single quote
/// without a letter, digit or underscore on one side counts as a double one. Other pairs are lost.
pub fn fallback(text: &str) -> Vec<(String, String)> {
    let text = double_quotes(text);
    let mut pairs = Vec::new();
    let mut at = 0;
    while let Some(quote) = text[at..].find('"') {
        at += quote + 1;
        if let Some((key, value, len)) = pair(&text[at..]) {
            pairs.push((key.to_owned(), value.to_owned()));
            at += len;
        }
    }
    last_values(pairs)
}

/// `(?<!\w)\'|\'(?!\w)` replaced by a double quote.
fn double_quotes(text: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut inside = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let within = inside && chars.peek().copied().is_some_and(is_word);
        replaced.push(if c == '\'' && !within { '"' } else { c });
        inside = is_word(c);
    }
    replaced
}

/// `(\w+)":\s*"([^"]*)"` at the text's beginning, and its length.
fn pair(text: &str) -> Option<(&str, &str, usize)> {
    let key = &text[..text.len() - text.trim_start_matches(is_word).len()];
    let rest = text[key.len()..].strip_prefix("\":")?.trim_start_matches(is_python_space).strip_prefix('"')?;
    let value = &rest[..rest.find('"')?];
    let len = text.len() - rest.len() + value.len() + 1;
    (!key.is_empty()).then_some((key, value, len))
}

// What the library remembers of a conversation: its newest turns, within a number of tokens.

const TOKEN_LIMIT: usize = 30_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Memory {
    /// Messages may have so many; the library keeps the rest of its limit free.
    history: usize,
    /// So many are dropped at once.
    flush: usize,
}

impl Memory {
    fn new(token_limit: usize) -> Self {
        let history = token_limit / 10 * 7 + token_limit % 10 * 7 / 10;
        let flush = TOKEN_LIMIT / 10;
        Self { history, flush: if flush > token_limit { history } else { flush } }
    }

    /// The messages that are still remembered: whole turns are dropped, the oldest first, but never the newest.
    fn recent(self, messages: Vec<Message>) -> Vec<Message> {
        let mut first = 0;
        while messages[first..].iter().map(tokens).sum::<usize>() > self.history {
            let (mut next, mut dropped) = (first, 0);
            while dropped < self.flush && next + 1 < messages.len() {
                dropped += tokens(&messages[next]);
                next += 1;
            }
            // What is left begins with a question.
            while next < messages.len() && messages[next].role != Role::User {
                next += 1;
            }
            if next == messages.len() {
                let questions = messages[first..].iter().rposition(|message| message.role == Role::User);
                next = questions.map_or(first, |at| first + at);
            }
            if next == first {
                break;
            }
            first = next;
        }
        messages.into_iter().skip(first).collect()
    }
}

/// About as many tokens as the library's tokenizer counts: four ASCII characters are one, and so is any other character.
fn tokens(message: &Message) -> usize {
    let ascii = message.content.bytes().filter(u8::is_ascii).count();
    ascii.div_ceil(4) + message.content.chars().filter(|c| !c.is_ascii()).count()
}

#[cfg(test)]
mod tests;
