//! The paper's numbered transcript. Prompts and dialogues share these lines: a model answers worse when its own
//! transcript differs from the examples.

use super::Parsed;
use crate::base::{Tool, ToolSet};

/// `{label}: {text}` and a newline: the line that puts a question (or a claim).
pub fn question_line(label: &str, text: &str) -> String {
    format!("{label}: {text}\n")
}

pub fn step_text(n: usize, thought: &str, action: &str, observation: &str) -> String {
    action_lines(n, Some(thought), action) + &observation_line(n, observation)
}

pub fn observation_line(n: usize, observation: &str) -> String {
    format!("Observation {n}: {observation}\n")
}

/// The lines of step `n` before the tool answers: thought, if there is one, and action.
pub fn action_lines(n: usize, thought: Option<&str>, action: &str) -> String {
    match thought {
        Some(thought) => format!("Thought {n}: {thought}\nAction {n}: {action}\n"),
        None => format!("Action {n}: {action}\n"),
    }
}

/// An action as it is written: `Search[X]`. For [`Tool::Invalid`] the input is the whole action.
pub fn action(tool: Tool, input: &str) -> String {
    match tool {
        Tool::Invalid => input.to_owned(),
        tool => format!("{}[{input}]", verb(tool)),
    }
}

/// What instructions write in place of an argument, in English and in Chinese.
pub const PLACEHOLDERS: [(Tool, &str, &str); 5] = [
    (Tool::Search, "title", "标题"),
    (Tool::Lookup, "keyword", "关键词"),
    (Tool::Passages, "query", "查询"),
    (Tool::Document, "id", "编号"),
    (Tool::Finish, "answer", "答案"),
];

pub(super) fn verb(tool: Tool) -> &'static str {
    match tool {
        Tool::Search => "Search",
        Tool::Lookup => "Lookup",
        Tool::Passages => "Passages",
        Tool::Document => "Document",
        Tool::Finish => "Finish",
        Tool::Think => "Think",
        Tool::Invalid | Tool::Other => "",
    }
}

/// The verbs of the tools that are offered, the answer's behind `last`: `Search, Lookup and Finish`.
pub(crate) fn verbs(tools: ToolSet, between: &str, last: &str) -> String {
    let before: Vec<&str> = tools.tools().iter().map(|tool| verb(*tool)).collect();
    format!("{}{last}{}", before.join(between), verb(Tool::Finish))
}

/// A step in the common form, from the action that the environment read; `invalid` gives the environment's error.
pub fn parsed(thought: &str, (tool, input): (Tool, &str), invalid: impl Fn(&str) -> String) -> Parsed {
    let thought = Some(thought.to_owned());
    match tool {
        Tool::Finish => Parsed::finish(thought, input),
        Tool::Invalid => Parsed { thought, ..Parsed::invalid(invalid(input)) },
        tool => Parsed::act(thought, verb(tool), input),
    }
}
