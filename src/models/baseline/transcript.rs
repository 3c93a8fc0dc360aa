//! From a prompt to the question and the steps so far, and from a decision back to text.
//!
//! The protocol itself writes steps ([`Protocol::step`]); `reader` learns how its questions and observations look by
//! having it write some. It parses conversations:
//!
//! | part | what it holds |
//! |---|---|
//! | [`Transcript`] | the question, the steps since, and what is to be written |
//! | `reader` | reads prompts of one text, conversations, and native tool calls, by labels learned from the protocol |
//!
//! If the prompt asks for an answer at once (`Answer:` at its end) or for a chain of thought (`Thought:` without a
//! number), that is written.
//!
//! [`Protocol::step`]: crate::prompting::protocol::Protocol::step

mod reader;

use crate::base::{Completion, Functions, Prompt, Tool};
use crate::prompting::protocol::{Kind, Parsed, Protocol, react_paper};
use reader::{COLONS, Labels};
use serde_json::Value;
use std::sync::Arc;

/// Longer texts are cut, in bytes.
const MAX_QUESTION: usize = 4 << 10;
const MAX_OBSERVATION: usize = 16 << 10;
/// Later steps are ignored.
const MAX_STEPS: usize = 64;

/// Settings of the policy: what a prompt does not say.
#[derive(Debug, Clone)]
pub struct BaselineSettings {
    pub question_label: String,
    pub claim_label: String,
    /// Whether all questions are claims, for protocols without labels.
    pub claims: bool,
    /// The step at which an answer must be given, from 1.
    pub last_step: usize,
    /// The protocol. Without one, steps are numbered as in the `ReAct` paper, and a prompt that ends in `Answer:` or
    /// `Thought:` is answered without tools.
    pub protocol: Option<Arc<dyn Protocol>>,
    /// Whether steps have thoughts; a label at the end of the prompt overrides this.
    pub thoughts: bool,
    /// The text with which the protocol demands an answer, including slots in braces, or empty.
    pub force_stop: String,
}

impl Default for BaselineSettings {
    /// `Question`, `Claim`, and seven steps as in the `ReAct` paper.
    fn default() -> Self {
        Self {
            question_label: "Question".to_owned(),
            claim_label: "Claim".to_owned(),
            claims: false,
            last_step: 7,
            protocol: None,
            thoughts: true,
            force_stop: String::new(),
        }
    }
}

/// A parsed prompt.
#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) history: History,
    /// What is to be written.
    pub(super) wanted: Wanted,
    /// Whether the reply needs no white space before it, as the prompt or message ends in some.
    pub(super) spaced: bool,
}

/// One finished step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastStep {
    /// The action as [`Action::text`] writes it, or, if it is unknown, as the model wrote it.
    pub(super) action: String,
    /// The answer of the tool, in the wording of the English tool.
    pub(super) observation: String,
}

/// What is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Thought and action of step `n`; if `labelled`, the label of the thought ends the prompt.
    Step { n: usize, labelled: bool },
    /// The action of step `n`, after its label.
    Action(usize),
    /// A chain of thought and an answer, without tools.
    Reasons,
    /// An answer without tools.
    Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    Search(String),
    /// Find a word on the open page.
    Lookup(String),
    Finish(String),
}

impl Action {
    /// The action in the same format for all protocols: `Search[X]`.
    pub(super) fn text(&self) -> String {
        match self {
            Self::Search(query) => format!("Search[{query}]"),
            Self::Lookup(keyword) => format!("Lookup[{keyword}]"),
            Self::Finish(answer) => format!("Finish[{answer}]"),
        }
    }
}

/// A decision with the thought that explains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) thought: String,
    pub(super) action: Action,
}

impl Transcript {
    /// Parses a prompt. Any prompt can be parsed; what is missing is empty.
    pub(super) fn read(prompt: &Prompt, settings: &BaselineSettings) -> Self {
        let labels = Labels::of(settings);
        let mut transcript = match prompt {
            Prompt::Messages(messages) if labels.calls => reader::read_calls(messages, &labels),
            // The question is in the second part, unless the prompt is not split.
            Prompt::Text { rest, .. } if labels.labelled(rest).is_some() => reader::read_text(rest, &labels),
            Prompt::Text { prefix, rest } => reader::read_text(&format!("{prefix}{rest}"), &labels),
            Prompt::Messages(messages) => reader::read_messages(messages, &labels),
        };
        transcript.history.is_claim |= labels.claims;
        transcript
    }

    /// The decision as a reply with a native call.
    pub(super) fn call(&self, decision: &Decision, functions: &Functions) -> Completion {
        reader::write_call(decision, functions, self.step())
    }

    /// Number of the step to write, from 1.
    pub(super) fn step(&self) -> usize {
        match self.wanted {
            Wanted::Step { n, .. } | Wanted::Action(n) => n,
            Wanted::Reasons | Wanted::Answer => self.history.steps.len() + 1,
        }
    }

    /// Whether no tool can be used any more.
    pub(super) fn must_answer(&self) -> bool {
        self.history.forced || matches!(self.wanted, Wanted::Reasons | Wanted::Answer)
    }
}

/// At most `bytes` of `text`, cut between characters.
fn cap(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

// The steps since the last question.

/// The last question and the steps after it.
#[derive(Debug, Default)]
pub(super) struct History {
    pub(super) question: String,
    /// Whether the question is a claim to verify.
    pub(super) is_claim: bool,
    /// The answered steps; failed ones have an empty observation.
    pub(super) steps: Vec<PastStep>,
    /// The last action, as [`Action::text`] writes it, if it failed.
    pub(super) just_failed: Option<String>,
    /// Whether the prompt demands an answer.
    forced: bool,
    /// Number of the next step; 0 before there is a question.
    next: usize,
    pending: Option<ParsedAction>,
}

impl History {
    /// Starts over with a new question.
    fn ask(&mut self, question: &str, is_claim: bool) {
        let question = cap(question, MAX_QUESTION).trim();
        *self = Self { question: question.to_owned(), is_claim, next: 1, ..Self::default() };
    }

    fn asked(&self) -> bool {
        self.next > 0
    }

    /// Whether a step waits for its observation.
    fn waits(&self) -> bool {
        self.pending.is_some()
    }

    fn finished(&self) -> bool {
        self.pending.as_ref().is_some_and(|did| did.finish)
    }

    /// The model acted.
    fn step(&mut self, did: ParsedAction) {
        self.forced = false;
        self.pending = Some(did);
    }

    /// A tool or the system answered; `number` is that of the label.
    fn observe(&mut self, text: &str, number: Option<usize>) {
        let text = cap(text, MAX_OBSERVATION).trim();
        let complaint = is_complaint(text, self.pending.as_ref().map(|did| &*did.input));
        if self.pending.is_none() && !complaint {
            return;
        }
        self.next = number.unwrap_or(self.next);
        if complaint {
            return self.fail();
        }
        self.next = self.next.saturating_add(1);
        if let Some(did) = self.pending.take() {
            self.push(did.action, worded(text));
            self.just_failed = None;
            self.forced = false;
        }
    }

    /// The last reply failed. It counts as a step.
    fn fail(&mut self) {
        self.forced = false;
        self.next = self.next.saturating_add(1);
        let Some(did) = self.pending.take() else { return };
        self.just_failed = Some(did.action.clone());
        // Without an observation, but the step is used and its argument was tried.
        self.push(did.action, String::new());
    }

    fn push(&mut self, action: String, observation: String) {
        if self.steps.len() < MAX_STEPS {
            self.steps.push(PastStep { action, observation });
        }
    }
}

// The action in a reply of the model.

/// An action, taken from a reply.
#[derive(Debug, PartialEq, Eq)]
struct ParsedAction {
    /// As [`Action::text`] writes it, or as the model wrote it if the tool is unknown.
    action: String,
    /// The input of the tool, as the model wrote it.
    input: String,
    /// Whether it is an answer.
    finish: bool,
}

/// Parses a reply, probably of step `n`.
fn read_reply(reply: &str, labels: &Labels<'_>, n: usize) -> ParsedAction {
    let parsed = labels.protocol.parse(reply, n);
    let did = parsed_action(&parsed);
    // What the protocol rejects may still be an action, for example with another number.
    did.or_else(|| reader::action_of(reply, labels.numbered)).unwrap_or_else(|| written(reply))
}

fn parsed_action(parsed: &Parsed) -> Option<ParsedAction> {
    match parsed.kind {
        Kind::Finish => Some(ParsedAction::finish(parsed.answer.as_deref().unwrap_or_default())),
        Kind::Invalid => None,
        Kind::Act => {
            let input = parsed.input.clone().unwrap_or_default();
            let object = parsed.args.as_ref().and_then(|args| args.object().values().find_map(Value::as_str));
            let argument = object.map_or_else(|| argument(&input), str::to_owned);
            Some(ParsedAction::call(parsed.tool.as_deref().unwrap_or_default(), &argument, input))
        }
    }
}

/// A numbered action, already in the common format.
fn written(action: &str) -> ParsedAction {
    let action = cap(action, MAX_QUESTION).trim();
    let finish = action.get(..7).is_some_and(|verb| verb.eq_ignore_ascii_case("finish["));
    ParsedAction { action: action.to_owned(), input: action.to_owned(), finish }
}

impl ParsedAction {
    fn finish(answer: &str) -> Self {
        let answer = cap(answer, MAX_QUESTION).trim();
        Self { action: format!("Finish[{answer}]"), input: answer.to_owned(), finish: true }
    }

    /// A call of a tool by name; `input` is what `argument` was taken from.
    fn call(tool: &str, argument: &str, input: String) -> Self {
        let lower = tool.trim().to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let verb = match () {
            () if says(&["search", "搜索"]) => "Search",
            () if says(&["look", "查找"]) => "Lookup",
            () if says(&["finish"]) => return Self::finish(argument),
            () => tool.trim(),
        };
        let argument = cap(argument, MAX_QUESTION).trim();
        Self { action: format!("{verb}[{argument}]"), input, finish: false }
    }
}

/// The first string value of an object in JSON or Python notation; the input itself if it is not an object.
fn argument(input: &str) -> String {
    let input = cap(input, MAX_QUESTION).trim();
    if !input.starts_with('{') {
        return input.to_owned();
    }
    let object = serde_json::Deserializer::from_str(input).into_iter::<Value>().next();
    if let Some(Ok(Value::Object(object))) = object {
        return object.values().find_map(Value::as_str).unwrap_or_default().to_owned();
    }
    let mut chars = input.chars();
    quoted(&mut chars);
    if chars.find(|c| *c == ':').is_none() {
        return input.to_owned();
    }
    quoted(&mut chars)
}

/// The next quoted string, unescaped.
pub(super) fn quoted(chars: &mut std::str::Chars<'_>) -> String {
    let mut text = String::new();
    let Some(quote) = chars.find(|c| matches!(c, '\'' | '"')) else { return text };
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.extend(escaped(chars)),
            c if c == quote => break,
            c => text.push(c),
        }
    }
    text
}

fn escaped(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let digits = match chars.next()? {
        'n' => return Some('\n'),
        't' => return Some('\t'),
        'r' => return Some('\r'),
        'x' => 2,
        'u' => 4,
        'U' => 8,
        c => return Some(c),
    };
    let code: String = chars.by_ref().take(digits).collect();
    u32::from_str_radix(&code, 16).ok().and_then(char::from_u32)
}

// Answers of tools and systems, in one wording.
//
// The Chinese tool says the same as the English one. Systems report errors in different words; the policy only needs to
// know that there is no observation.

/// An observation in the words of the English tool; text of pages is unchanged.
fn worded(text: &str) -> String {
    if let Some(missed) = missed(text) {
        return missed;
    }
    if let Some(rest) = text.strip_prefix("(结果") {
        return format!("(Result{rest}");
    }
    if matches!(text.trim_end_matches('。'), "没有更多结果" | "没有页面内容可以查找") {
        return "No more results.".to_owned();
    }
    text.to_owned()
}

/// `找不到[X]。相似结果:['A', 'B']。`
fn missed(text: &str) -> Option<String> {
    let (name, list) = text.strip_prefix("找不到")?.split_once("。相似结果")?;
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    let list = list.trim_start_matches(COLONS).trim_end_matches(['。', '.']);
    Some(format!("Could not find {name}. Similar: {list}."))
}

/// Whether this reports that a step failed. `input` is the input of the tool, as the model wrote it.
fn is_complaint(text: &str, input: Option<&str>) -> bool {
    const STARTS: [&str; 12] = [
        "Invalid action:",
        "无效动作",
        "搜索出错",
        "There was an error in parsing my reasoning:",
        "An error occurred when calling tool",
        "Error calling tool ",
        "Please follow the format",
        "The action is invalid, please check the action name.",
        "invalid json format:",
        "unknown arguments:",
        "missing required arguments:",
        "invalid API:",
    ];
    const UNKNOWN_TOOL: [&str; 3] =
        [" does not exists.", " does not exist", " not found. Please select a tool that is available."];
    let unknown = || text.starts_with("Tool ") && UNKNOWN_TOOL.iter().any(|end| text.ends_with(end));
    // lagent returns the arguments of an unknown tool as its result.
    let echo = || input.map(str::trim).is_some_and(|input| input.starts_with('{') && input == text);
    STARTS.iter().any(|start| text.starts_with(start)) || is_error(text) || unknown() || echo()
}

/// Whether a message rejects the last reply.
fn is_error(message: &str) -> bool {
    const STARTS: [&str; 2] = ["Error while parsing the output:", "FAILURE:"];
    let message = message.trim_start();
    let labelled = ["Error", "错误"]
        .iter()
        .any(|label| message.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with(COLONS)));
    labelled || STARTS.iter().any(|start| message.starts_with(start))
}

// Writes a decision as the text that continues the prompt.

/// Contains no label of any protocol.
const PLAIN_THOUGHT: &str = "I will go on with the next step.";

impl Transcript {
    pub(super) fn write(&self, decision: &Decision, settings: &BaselineSettings) -> String {
        let protocol: &dyn Protocol = settings.protocol.as_deref().unwrap_or(&react_paper::Paper);
        let gap = if self.spaced { "" } else { " " };
        let answer = match &decision.action {
            Action::Finish(answer) => answer.as_str(),
            Action::Search(_) | Action::Lookup(_) => "",
        };
        match self.wanted {
            Wanted::Answer => format!("{gap}{answer}"),
            Wanted::Reasons => format!("{gap}{}\nAnswer: {answer}", decision.thought),
            Wanted::Action(n) => self.after_label(&write_step(protocol, n, None, &decision.action)),
            Wanted::Step { n, labelled } => {
                let written = |thought: &str| {
                    let thought = (labelled || settings.thoughts).then_some(thought);
                    let step = write_step(protocol, n, thought, &decision.action);
                    if labelled { self.after_label(&step) } else { step }
                };
                let reply = written(&decision.thought);
                // A thought quotes the question and pages, which may contain labels of the protocol.
                if reads_back(protocol, &reply, n, &decision.action) { reply } else { written(PLAIN_THOUGHT) }
            }
        }
    }

    /// A step without its first label, which ends the prompt; some protocols leave it to the prompt.
    fn after_label(&self, step: &str) -> String {
        let labelled = step.split_once(COLONS).filter(|(label, _)| {
            let word = label.trim_end_matches(|c: char| c == ' ' || c.is_ascii_digit());
            matches!(word, "Thought" | "Action")
        });
        match labelled {
            Some((_, rest)) if self.spaced => rest.trim_start().to_owned(),
            Some((_, rest)) => rest.to_owned(),
            None if self.spaced => step.to_owned(),
            None => format!(" {step}"),
        }
    }
}

fn write_step(protocol: &dyn Protocol, n: usize, thought: Option<&str>, action: &Action) -> String {
    let (tool, input) = match action {
        Action::Search(query) => (Tool::Search, query),
        Action::Lookup(keyword) => (Tool::Lookup, keyword),
        Action::Finish(answer) => (Tool::Finish, answer),
    };
    protocol.step(n, thought, tool, input).trim().to_owned()
}

fn reads_back(protocol: &dyn Protocol, reply: &str, n: usize, action: &Action) -> bool {
    let kind = if matches!(action, Action::Finish(_)) { Kind::Finish } else { Kind::Act };
    protocol.parse(reply, n).kind == kind
}

#[cfg(test)]
mod tests;
