//! Dialogues: how an agent's system talks to the model, as state machines without I/O.
//!
//! A dialogue is built per question. It says what to ask the model, which tool to use, and when to stop;
//! the driver in [`crate::runner::agent`] carries that out and knows nothing of any protocol.
//!
//! There is a file for each protocol; `docs/protocols.md` has their systems, layouts and options.
//! [`direct`] holds the answers without tools, which no system has a protocol for.

pub mod direct;
pub mod frame;
pub mod go_blog;
pub mod lagent;
pub mod llama_index;
mod model_json;
pub mod native;
pub mod qwen_agent;
pub mod react_paper;
pub mod react_zh;
pub mod robust;
#[cfg(test)]
pub(crate) mod testing;
pub mod tools;

pub use frame::{Frame, Spacing};
pub use tools::{ToolSpec, ToolTexts};

use crate::base::{
    Call, Decoding, FunctionCall, Message, Outcome, Prompt, Question, Repair, Reply, Request, Role, Tool, ToolCall,
    ToolSet,
};
use model_json::Dict;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Arc;
use tools::Resolved;

/// One question's conversation between a model and the tools. Deterministic: no clock, no network, no chance. The driver
/// calls [`begin`](Dialogue::begin) once, then answers each [`Turn`] by the matching method until a [`Turn::Stop`] comes.
pub trait Dialogue: Send {
    fn begin(&mut self, question: &Question) -> Turn;
    fn completion(&mut self, text: &str) -> Turn;
    /// The same with all that the record holds, for protocols of native tool calls; others need the text only.
    fn called(&mut self, call: &Call) -> Turn {
        self.completion(&call.completion)
    }
    /// The tool's answer, the text of [`Reply::Given`], or an empty text for [`Reply::None`].
    fn observation(&mut self, text: &str) -> Turn;
    /// After the stop: what the system keeps for the next question, [`Setup::history`] included; systems may forget.
    fn memory(&self) -> Vec<Message> {
        Vec::new()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Turn {
    Ask(Request),
    Use(ToolCall),
    Stop(Stop),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stop {
    /// The outcome; a dialogue never gives [`Outcome::NotMeasured`], [`Outcome::Budget`] or [`Outcome::ContextOverflow`].
    pub outcome: Outcome,
    pub answer: Option<String>,
    pub detail: Option<String>,
    pub repairs: Vec<Repair>,
}

impl Stop {
    /// Whether the answer has any text: `Finish[]` has none.
    pub fn answers(&self) -> bool {
        self.answer.as_deref().is_some_and(|answer| !answer.trim().is_empty())
    }
}

/// What a dialogue is built from; the same for every question of a variant.
#[derive(Debug, Clone, PartialEq)]
pub struct Setup {
    pub frame: Frame,
    pub question_label: String,
    pub max_steps: usize,
    /// Whether the model thinks before it acts; without thoughts the method is `act`.
    pub thoughts: bool,
    pub decoding: Decoding,
    /// Earlier questions and answers of a conversation, as the system's memory has them.
    pub history: Vec<Message>,
}

impl Setup {
    /// A setup with thoughts, without history, and with the usual decoding.
    pub fn new(frame: Frame, question_label: impl Into<String>, max_steps: usize) -> Self {
        let (question_label, decoding) = (question_label.into(), Decoding::default());
        Self { frame, question_label, max_steps, thoughts: true, decoding, history: Vec::new() }
    }
}

/// A published agent, with its options: how it builds a dialogue, reads a reply, and writes a step.
pub trait Protocol: Debug + Send + Sync {
    fn profile(&self) -> Profile;
    /// The id that users type and manifests store.
    fn id(&self) -> &'static str {
        self.profile().id
    }
    /// The last reply, from 1, whose answer still counts within `max_steps`.
    fn last_answer(&self, max_steps: usize) -> usize {
        max_steps
    }
    /// Changes where our own protocol reads replies, or asks for them, in another way than before.
    fn version(&self) -> u32 {
        self.profile().version
    }
    /// What its [`Frame`] holds, and where the examples are.
    fn layout(&self) -> Layout {
        self.profile().layout
    }
    fn dialogue(&self, setup: &Arc<Setup>) -> Box<dyn Dialogue>;
    /// What the system's parser makes of one reply of the model's; `step` (from 1) matters to numbered labels.
    fn parse(&self, output: &str, step: usize) -> Parsed;
    fn question(&self, label: &str, question: &str) -> String {
        format!("{label}: {question}")
    }
    /// A step as the model should write it: thought (absent for `act`), tool and its argument.
    fn step(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> String;
    /// The message or lines that show the tool's answer to step `n` (from 1).
    fn observation(&self, _n: usize, text: &str) -> String {
        format!("Observation: {text}")
    }
    fn observation_role(&self) -> Role {
        Role::User
    }
    fn reply(&self, n: usize, thought: Option<&str>, tool: Tool, input: &str) -> Message {
        Message::assistant(self.step(n, thought, tool, input))
    }
    fn result(&self, n: usize, text: &str) -> Message {
        Message::new(self.observation_role(), self.observation(n, text))
    }
    /// The id of the call at step `n` of exemplar `number`, both from 1, in a conversation of several exemplars.
    fn of_exemplar(&self, number: usize, n: usize) -> String {
        format!("example_{number}_call_{n}")
    }
    /// The calls of a reply to `before` with ids that no other call has: some providers give none, or the same again.
    fn with_ids(&self, _before: &[Message], calls: &[FunctionCall], _step: usize) -> Vec<FunctionCall> {
        calls.to_vec()
    }
    /// The tools that its agent is offered beside the answer.
    fn offers(&self) -> ToolSet {
        self.profile().tools
    }
    fn tools(&self, texts: &ToolTexts) -> Vec<ToolSpec> {
        self.offers().tools().iter().map(|tool| ToolSpec::of(*tool, texts)).collect()
    }
    /// Values for the slots of the system's template that describe its tools.
    fn slots(&self, _tools: &[ToolSpec]) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    id: &'static str,
    pub max_steps: usize,
    /// The default for the longest reply.
    pub max_tokens: u32,
    layout: Layout,
    /// Whether it has a form without thoughts, for the method `act`.
    pub acts_without_thoughts: bool,
    version: u32,
    tools: ToolSet,
}

impl Profile {
    /// The first version of a protocol with thoughts only, the usual tools, and replies of at most 512 tokens.
    fn new(id: &'static str, max_steps: usize, layout: Layout) -> Self {
        let tools = ToolSet::default();
        Self { id, max_steps, max_tokens: 512, layout, acts_without_thoughts: false, version: 1, tools }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Instruction and examples in one text, which the question continues ([`Frame::prefix`] alone).
    Text,
    /// One user message: [`Frame::prefix`] with the examples, the question, [`Frame::suffix`].
    Template,
    /// A system message ([`Frame::system`]) from the protocol's own template, then examples as turns.
    System,
    /// A system message from the prompt file's instruction, then examples as turns.
    Instruction,
}

/// Ids of all protocols, in the order in which they are listed.
pub const IDS: [&str; 8] =
    [react_paper::ID, robust::ID, native::ID, qwen_agent::ID, llama_index::ID, go_blog::ID, lagent::ID, react_zh::ID];

fn made<P: Protocol + 'static>(made: Result<P, OptionError>) -> Result<Arc<dyn Protocol>, OptionError> {
    made.map(|protocol| Arc::new(protocol) as Arc<dyn Protocol>)
}

/// The protocol as it was in the version that a run recorded; none if there is no such id or version.
pub fn find_version(id: &str, options: &Options, version: u32) -> Option<Result<Arc<dyn Protocol>, OptionError>> {
    let found = find(id, options)?;
    Some(match &found {
        Ok(today) if version > today.version() => return None,
        // Only these have changed.
        Ok(today) if version < today.version() && id == native::ID => {
            made(native::Native::new(options).map(|native| native.of_version(version)))
        }
        Ok(today) if version < today.version() => {
            made(robust::Robust::new(options).map(|robust| robust.of_version(version)))
        }
        _ => found,
    })
}

/// The protocol for a run that goes on, in the version that it `began` with; `robust` reads replies as it does today.
pub fn going_on(id: &str, options: &Options, began: u32) -> Option<Result<Arc<dyn Protocol>, OptionError>> {
    if id == native::ID { find_version(id, options, began) } else { find(id, options) }
}

/// The protocol of that id with these options; none if there is no such id.
pub fn find(id: &str, options: &Options) -> Option<Result<Arc<dyn Protocol>, OptionError>> {
    Some(match id {
        react_paper::ID => made(options.known(react_paper::ID, &[]).map(|()| react_paper::Paper)),
        react_zh::ID => made(options.known(react_zh::ID, &[]).map(|()| react_zh::Script)),
        qwen_agent::ID => made(qwen_agent::QwenAgent::new(options)),
        llama_index::ID => made(llama_index::LlamaIndex::new(options)),
        go_blog::ID => made(go_blog::GoBlog::new(options)),
        lagent::ID => made(lagent::Lagent::new(options)),
        native::ID => made(native::Native::new(options)),
        robust::ID => made(robust::Robust::new(options)),
        _ => return None,
    })
}

// The state that every dialogue keeps over an episode, and the turns that all dialogues take.

#[derive(Debug)]
struct Episode {
    setup: Arc<Setup>,
    step: usize,
    repairs: Vec<Repair>,
    answer: Option<String>,
    /// Text after the action of the next step, which is kept out of the conversation.
    discarded: Option<String>,
}

impl Episode {
    fn new(setup: &Arc<Setup>) -> Self {
        Self { setup: Arc::clone(setup), step: 1, repairs: Vec::new(), answer: None, discarded: None }
    }

    fn tool(&self, name: &str) -> Option<&ToolSpec> {
        self.setup.frame.tools.iter().find(|tool| tool.name == name)
    }

    fn repaired(&mut self, kind: &str) {
        self.repairs.push(Repair { step: self.step, kind: kind.to_owned() });
    }

    fn ask_text(&self, rest: String, stop: Vec<String>) -> Turn {
        self.ask(Prompt::text(self.setup.frame.prefix.clone(), rest), stop)
    }

    fn ask(&self, prompt: Prompt, stop: Vec<String>) -> Turn {
        Turn::Ask(Request::new(prompt, stop, self.setup.decoding.clone()))
    }

    /// System message, examples and earlier turns: the messages that precede the question.
    fn before_question(&self) -> Vec<Message> {
        self.messages_before(&self.setup.frame.examples)
    }

    fn messages_before(&self, examples: &[Message]) -> Vec<Message> {
        let system = self.setup.frame.system.iter().filter(|text| !text.is_empty());
        let system = system.map(|text| Message::system(Arc::clone(text)));
        let mut messages: Vec<_> = system.chain(examples.iter().chain(&self.setup.history).cloned()).collect();
        // A provider may keep what it made of what all questions share.
        if let Some(last) = messages.last_mut() {
            last.ends_shared = true;
        }
        messages
    }

    /// What follows the prefix to put a question: the question with the text behind it, or else the protocol's line.
    fn question_text(&self, protocol: &dyn Protocol, Question { question, .. }: &Question) -> String {
        let Setup { frame, question_label, .. } = self.setup.as_ref();
        if frame.around { format!("{question}{}", frame.suffix) } else { protocol.question(question_label, question) }
    }

    /// The message that puts a question: with the text on both sides of it, or else the protocol's line.
    fn question(&self, protocol: &dyn Protocol, question: &Question) -> Message {
        let (frame, text) = (&self.setup.frame, self.question_text(protocol, question));
        Message::user(if frame.around { format!("{}{text}", &*frame.prefix) } else { text })
    }

    fn force_stop(&self) -> Option<Message> {
        let text = self.setup.frame.texts.get("force_stop").filter(|text| !text.is_empty());
        text.map(|text| Message::system(Arc::clone(text)))
    }

    /// Uses the tool; `action_text` is the action as the model wrote it.
    fn use_tool(&mut self, thought: Option<String>, action_text: String, call: Resolved) -> Turn {
        for kind in &call.repairs {
            self.repaired(kind);
        }
        self.turn(thought, action_text, call.tool, call.input, Reply::Tool)
    }

    /// A step that the system answers by itself: an unknown tool, or unreadable arguments.
    fn answer_itself(&mut self, thought: Option<String>, action_text: String, reply: String) -> Turn {
        let input = action_text.clone();
        self.turn(thought, action_text, Tool::Invalid, input, Reply::Given(reply))
    }

    fn finish(&mut self, thought: Option<String>, action_text: String, answer: String) -> Turn {
        self.answers(&answer);
        self.turn(thought, action_text, Tool::Finish, answer, Reply::None)
    }

    /// Keeps the answer: from now on [`Episode::finished`] holds, and [`Episode::stop`] ends the episode with it.
    fn answers(&mut self, answer: &str) {
        self.answer = Some(answer.to_owned());
    }

    fn finished(&self) -> bool {
        self.answer.is_some()
    }

    /// The end of the episode, if there is an answer or no step is left; `unit` is what the limit counts.
    fn over(&mut self, unit: &str) -> Option<Turn> {
        let limit = self.setup.max_steps;
        let is_over = self.finished() || self.step > limit;
        is_over.then(|| self.stop(Outcome::StepLimit, format!("no answer within {limit} {unit}")))
    }

    /// Ends the episode: with the answer if there is one, otherwise with this outcome and reason.
    fn stop(&mut self, outcome: Outcome, detail: impl Into<String>) -> Turn {
        let answer = self.answer.clone();
        let (outcome, detail) =
            if answer.is_some() { (Outcome::Finished, None) } else { (outcome, Some(detail.into())) };
        Turn::Stop(Stop { outcome, answer, detail, repairs: std::mem::take(&mut self.repairs) })
    }

    fn turn(&mut self, thought: Option<String>, action_text: String, tool: Tool, input: String, reply: Reply) -> Turn {
        let step = self.step;
        self.step += 1;
        let discarded = self.discarded.take();
        Turn::Use(ToolCall { step, thought, action_text, tool, input, discarded, reply })
    }
}

// How a protocol's parser reads one reply, in a form common to all.

/// A parsed reply. Fields that an upstream parser does not know are absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Parsed {
    pub kind: Kind,
    /// The thought, white space as the parser leaves it.
    pub thought: Option<String>,
    /// The tool as the model names it; for numbered protocols `Search`, `Lookup`, `Finish`, `Think`.
    pub tool: Option<String>,
    /// The argument's raw text, as the parser returns it.
    pub input: Option<String>,
    /// The decoded object, where the parser decodes one.
    pub args: Option<Dict>,
    pub answer: Option<String>,
    /// The system's own error text, for [`Kind::Invalid`] where it has one.
    pub error: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Act,
    Finish,
    /// Send feedback, or make a fallback call.
    Invalid,
}

impl Parsed {
    pub fn new(kind: Kind) -> Self {
        Self { kind, thought: None, tool: None, input: None, args: None, answer: None, error: None }
    }

    pub fn act(thought: Option<String>, tool: impl Into<String>, input: impl Into<String>) -> Self {
        Self { thought, tool: Some(tool.into()), input: Some(input.into()), ..Self::new(Kind::Act) }
    }

    pub fn finish(thought: Option<String>, answer: impl Into<String>) -> Self {
        Self { thought, answer: Some(answer.into()), ..Self::new(Kind::Finish) }
    }

    pub fn invalid(error: impl Into<String>) -> Self {
        Self { error: Some(error.into()), ..Self::new(Kind::Invalid) }
    }
}

// Options of a protocol, as typed: `--option key=value`.

/// The option of protocols whose agents can be offered passages in place of search and lookup.
pub const TOOLS: &str = "tools";
const TOOL_SETS: &str = "tools=search,lookup|passages|passages,document";

/// Options by name. Each protocol defines its names and values.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Options(pub BTreeMap<String, String>);

/// An option that a protocol does not have, or a value that it does not accept.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    #[error("protocol `{protocol}` has no option `{name}`")]
    Unknown {
        protocol: &'static str,
        name: String,
        /// What there is, as `name=values`.
        known: &'static [&'static str],
    },
    #[error("option `{name}` of protocol `{protocol}` cannot be `{value}`")]
    Value { protocol: &'static str, name: String, value: String, possible: &'static str },
}

impl OptionError {
    fn value(protocol: &'static str, name: &str, value: &str, possible: &'static str) -> Self {
        Self::Value { protocol, name: name.to_owned(), value: value.to_owned(), possible }
    }

    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { known: [], .. } => "leave --option out".to_owned(),
            Self::Unknown { known, .. } => format!("it has {}", known.join(", ")),
            Self::Value { possible, .. } => format!("it can be {possible}"),
        }
    }
}

impl Options {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Refuses names that are not among `known`, each given as `name=values` for the hint.
    pub fn known(&self, protocol: &'static str, known: &'static [&'static str]) -> Result<(), OptionError> {
        let is_known = |name: &str| known.iter().any(|entry| entry.split('=').next() == Some(name));
        match self.0.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(name) => Err(OptionError::Unknown { protocol, name: name.clone(), known }),
        }
    }

    /// The option `arguments`: whether misnamed arguments are repaired (`mend`, the default) or not (`strict`).
    fn mends(&self, protocol: &'static str) -> Result<bool, OptionError> {
        self.choice(protocol, "arguments", &[("mend", true), ("strict", false)], "`mend` or `strict`")
    }

    /// The option `tools`, which the setting of that name writes.
    fn tools(&self, protocol: &'static str) -> Result<ToolSet, OptionError> {
        let sets = ToolSet::ALL.map(|set| (set.name(), set));
        self.choice(protocol, TOOLS, &sets, "`search,lookup`, `passages` or `passages,document`")
    }

    fn number(&self, protocol: &'static str, name: &str, default: usize) -> Result<usize, OptionError> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let number = value.parse().ok().filter(|number| (1..=1_000_000_000).contains(number));
        number.ok_or_else(|| OptionError::value(protocol, name, value, "a number from 1 to 1000000000"))
    }

    /// The value of an option that takes one of a few words; the first is the default.
    pub fn choice<T: Copy>(
        &self,
        protocol: &'static str,
        name: &str,
        choices: &[(&str, T)],
        possible: &'static str,
    ) -> Result<T, OptionError> {
        let value = self.get(name).unwrap_or(choices[0].0);
        let choice = choices.iter().find(|(word, _)| *word == value).map(|(_, choice)| *choice);
        choice.ok_or_else(|| OptionError::value(protocol, name, value, possible))
    }
}
