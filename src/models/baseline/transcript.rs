//! What the policy knows of an episode, and its decision as the text or call that continues the prompt.
//!
//! Question and steps come with the request ([`Request::state`]). The end of the prompt says what is to be written: a
//! step, an action alone, an answer (`Answer:`), or a chain of thought (`Thought:` without a number).

use crate::base::{Completion, EpisodeState, FunctionCall, Functions, Message, Prompt, Request, Role, Tool};
use crate::prompting::protocol::{Kind, Layout, Protocol, react_paper};
use serde_json::json;
use std::sync::Arc;

/// Longer texts are cut, in bytes.
const MAX_QUESTION: usize = 4 << 10;
const MAX_OBSERVATION: usize = 16 << 10;
/// Both colons: Chinese text may use either.
const COLONS: [char; 2] = [':', '：'];
/// Shortest part that identifies a force-stop text, in bytes.
const MIN_FORCE_STOP: usize = 8;
/// Contains no label of any protocol.
const PLAIN_THOUGHT: &str = "I will go on with the next step.";

/// Settings of the policy: what a prompt does not say.
#[derive(Debug, Clone)]
pub struct BaselineSettings {
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
    /// Seven steps as in the `ReAct` paper.
    fn default() -> Self {
        Self { claims: false, last_step: 7, protocol: None, thoughts: true, force_stop: String::new() }
    }
}

impl BaselineSettings {
    pub(super) fn protocol(&self) -> &dyn Protocol {
        self.protocol.as_deref().unwrap_or(&react_paper::Paper)
    }
}

#[derive(Debug)]
pub(super) struct Transcript {
    pub(super) question: String,
    pub(super) steps: Vec<PastStep>,
    pub(super) just_failed: Option<Action>,
    pub(super) wanted: Wanted,
    forced: bool,
    /// Whether the reply needs no white space before it, as the prompt or message ends in some.
    spaced: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PastStep {
    pub(super) action: Action,
    /// The answer of the tool, in the wording of the English tool; empty if the step failed.
    pub(super) observation: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Thought and action; if `labelled`, the label of the thought ends the prompt.
    Step {
        labelled: bool,
    },
    Action,
    /// A chain of thought and an answer, without tools.
    Reasons,
    Answer,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) tool: Tool,
    pub(super) input: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decision {
    pub(super) thought: String,
    pub(super) action: Action,
}

impl Transcript {
    /// What a request says. Any request can be read; without a state there is no question.
    pub(super) fn read(request: &Request, settings: &BaselineSettings) -> Self {
        let mut transcript = Self::at_end_of(&request.prompt, settings);
        let Some(EpisodeState { question, steps }) = request.state.as_deref() else { return transcript };
        cap(question, MAX_QUESTION).trim().clone_into(&mut transcript.question);
        for (call, observation) in steps {
            let action = Action { tool: call.tool, input: cap(&call.input, MAX_QUESTION).trim().to_owned() };
            let observation = cap(observation, MAX_OBSERVATION).trim();
            // The step is used and its argument was tried.
            let failed = call.tool == Tool::Invalid || is_complaint(observation);
            let observation = if failed { String::new() } else { worded(observation) };
            transcript.just_failed = failed.then(|| action.clone());
            transcript.steps.push(PastStep { action, observation });
        }
        transcript
    }

    fn at_end_of(prompt: &Prompt, settings: &BaselineSettings) -> Self {
        let (last, wanted, spaced) = match prompt {
            Prompt::Text { prefix, rest } => {
                let last = if rest.is_empty() { &**prefix } else { rest };
                (last, wanted_after(last, settings), last.ends_with(char::is_whitespace))
            }
            Prompt::Messages(messages) => {
                let last = messages.last().map_or("", |last| &*last.content);
                let template = settings.protocol().layout() == Layout::Template;
                (last, wanted_of(messages, settings), !template || last.ends_with(char::is_whitespace))
            }
        };
        let forced = piece(&settings.force_stop).is_some_and(|piece| last.contains(piece));
        Self { question: String::new(), steps: Vec::new(), just_failed: None, wanted, forced, spaced }
    }

    pub(super) fn step(&self) -> usize {
        self.steps.len() + 1
    }

    pub(super) fn must_answer(&self) -> bool {
        self.forced || matches!(self.wanted, Wanted::Reasons | Wanted::Answer)
    }
}

/// What to write after a prompt that ends in this text.
fn wanted_after(text: &str, settings: &BaselineSettings) -> Wanted {
    // Trailing newlines after the label make no difference.
    let line = text.trim_end().rsplit('\n').next().unwrap_or_default();
    let Some(label) = line.trim().strip_suffix(COLONS) else { return Wanted::Step { labelled: false } };
    let (word, number) = label.trim_end().split_once(' ').unwrap_or((label.trim_end(), ""));
    let is_step = number.trim().parse::<usize>().is_ok();
    match word {
        "Action" if is_step => Wanted::Action,
        "Thought" if is_step => Wanted::Step { labelled: true },
        "Thought" if number.is_empty() && is_numbered(settings.protocol()) => Wanted::Reasons,
        "Thought" if number.is_empty() => Wanted::Step { labelled: true },
        "Answer" | "答案" | "回答" if number.is_empty() => Wanted::Answer,
        _ => Wanted::Step { labelled: false },
    }
}

fn wanted_of(messages: &[Message], settings: &BaselineSettings) -> Wanted {
    match messages {
        // The request for an answer when no steps are left comes without the instructions.
        [first, .., last] if last.role == Role::System && first.role != Role::System => Wanted::Answer,
        [.., last] if last.role == Role::User => wanted_after(&last.content, settings),
        _ => Wanted::Step { labelled: false },
    }
}

fn is_numbered(protocol: &dyn Protocol) -> bool {
    protocol.step(7, None, Tool::Search, "").contains('7')
}

/// The longest part of a text between slots (`{…}`).
fn piece(text: &str) -> Option<&str> {
    let pieces = text.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    let longest = pieces.map(str::trim).max_by_key(|piece| piece.len())?;
    (longest.len() >= MIN_FORCE_STOP).then_some(longest)
}

fn cap(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
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

/// Whether a tool's answer reports that the step failed.
fn is_complaint(text: &str) -> bool {
    const STARTS: [&str; 14] = [
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
        "Error while parsing the output:",
        "FAILURE:",
    ];
    const UNKNOWN_TOOL: [&str; 3] =
        [" does not exists.", " does not exist", " not found. Please select a tool that is available."];
    let unknown = text.starts_with("Tool ") && UNKNOWN_TOOL.iter().any(|end| text.ends_with(end));
    let labelled = ["Error", "错误"]
        .iter()
        .any(|label| text.strip_prefix(label).is_some_and(|rest| rest.trim_start().starts_with(COLONS)));
    unknown || labelled || STARTS.iter().any(|start| text.starts_with(start))
}

// Writes a decision as the text or call that continues the prompt.

impl Transcript {
    pub(super) fn write(&self, decision: &Decision, settings: &BaselineSettings) -> String {
        let (protocol, gap) = (settings.protocol(), if self.spaced { "" } else { " " });
        let Action { tool, input } = &decision.action;
        let step = |thought| protocol.step(self.step(), thought, *tool, input).trim().to_owned();
        let answer = if *tool == Tool::Finish { input } else { "" };
        match self.wanted {
            Wanted::Answer => format!("{gap}{answer}"),
            Wanted::Reasons => format!("{gap}{}\nAnswer: {answer}", decision.thought),
            Wanted::Action => self.after_label(&step(None)),
            Wanted::Step { labelled } => {
                let written = |thought| {
                    let step = step(Some(thought).filter(|_| labelled || settings.thoughts));
                    if labelled { self.after_label(&step) } else { step }
                };
                let reply = written(&decision.thought);
                // A thought quotes the question and pages, which may contain labels of the protocol.
                let kind = if *tool == Tool::Finish { Kind::Finish } else { Kind::Act };
                if protocol.parse(&reply, self.step()).kind == kind { reply } else { written(PLAIN_THOUGHT) }
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

    /// The decision as a call of one of the functions, or as the answer where there is none for it.
    pub(super) fn call(&self, decision: &Decision, functions: &Functions) -> Completion {
        let Action { tool, input } = &decision.action;
        let stopped = |reason: &str| Completion { finish_reason: Some(reason.to_owned()), ..Completion::default() };
        let is_meant = |name: &str| name.to_lowercase().contains(tool.name());
        let Some(function) = functions.list.iter().find(|function| is_meant(&function.name)) else {
            return Completion { text: input.clone(), ..stopped("stop") };
        };
        let parameter = function.parameters["properties"].as_object().and_then(|all| all.keys().next());
        let arguments = json!({ parameter.map_or("input", String::as_str): input }).to_string();
        let call = FunctionCall { id: format!("call_{}", self.step()), name: function.name.clone(), arguments };
        Completion { text: decision.thought.clone(), calls: vec![call], ..stopped("tool_calls") }
    }
}

#[cfg(test)]
mod tests;
