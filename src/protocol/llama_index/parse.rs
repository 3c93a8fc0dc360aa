//! The system's parser of replies. Its regular expressions are searched for by hand, in linear time: the original's
//! take seconds on some thousand newlines.

use super::super::model_json::{Dict, Item, dict_repr, last_values, lenient_object};
use super::super::python::strip;
use super::super::{Arguments, Kind, Parsed};
use crate::types::python::{is_python_space, is_word};

/// The thought of a reply without any label, which is an answer as a whole.
const IMPLICIT_THOUGHT: &str = "(Implicit) I can answer without any more tools!";

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Reading {
    Action(Action),
    Answer {
        thought: String,
        answer: String,
    },
    /// The parser raises.
    Unreadable(Unreadable),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Action {
    pub(super) thought: String,
    pub(super) tool: String,
    /// The arguments' text, from the first brace to the last.
    pub(super) input: String,
    pub(super) args: Dict,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// A `ValueError`, which the agent shows to the model.
    Value(String),
    /// An `AttributeError`, which ends the agent: the thought between label and action is empty, and the original
    /// takes that for a thought that was not found.
    Attribute,
}

impl Unreadable {
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Value(text) => text,
            Self::Attribute => "'NoneType' object has no attribute 'strip'",
        }
    }
}

impl Action {
    /// The step as the model is shown it in later requests: arguments as Python writes a dictionary.
    pub(super) fn content(&self) -> String {
        let Self { thought, tool, args, .. } = self;
        format!("Thought: {thought}\nAction: {tool}\nAction Input: {}", dict_repr(args))
    }
}

impl Reading {
    /// Reads a reply. Labels count wherever they stand, also inside a line. With `bare_answers` an answer needs no
    /// thought.
    pub(super) fn of(reply: &str, bare_answers: bool) -> Self {
        let (action, answer) = (reply.find("Action:"), reply.find("Answer:"));
        match (action, answer) {
            (Some(action), Some(answer)) if action < answer => Self::action(reply),
            (Some(_), None) => Self::action(reply),
            (_, Some(at)) if bare_answers => Self::bare_answer(&reply[..at], &reply[at + "Answer:".len()..]),
            (_, Some(_)) => Self::answer(reply),
            (None, None) if reply.contains("Thought:") => {
                Self::Unreadable(Unreadable::Value(format!("Could not parse output: {reply}")))
            }
            (None, None) => Self::Answer { thought: IMPLICIT_THOUGHT.to_owned(), answer: reply.to_owned() },
        }
    }

    fn action(reply: &str) -> Self {
        let Some(found) = ToolUse::find(reply) else {
            return Self::Unreadable(Unreadable::Value(format!("Could not extract tool use from input text: {reply}")));
        };
        if found.thought.is_empty() {
            return Self::Unreadable(Unreadable::Attribute);
        }
        let args = lenient_object(found.input).unwrap_or_else(|| {
            Dict(fallback(found.input).into_iter().map(|(key, value)| (key, Item::Text(value))).collect())
        });
        Self::Action(Action {
            thought: strip(found.thought).to_owned(),
            tool: strip(found.tool).to_owned(),
            input: found.input.to_owned(),
            args,
        })
    }

    /// `\s*Thought:(.*?)Answer:(.*?)(?:$)`: the first answer behind the first thought.
    fn answer(reply: &str) -> Self {
        let behind = reply.split_once("Thought:").and_then(|(_, rest)| rest.split_once("Answer:"));
        match behind {
            Some((thought, answer)) => {
                Self::Answer { thought: strip(thought).to_owned(), answer: strip(answer).to_owned() }
            }
            None => {
                Self::Unreadable(Unreadable::Value(format!("Could not extract final answer from input text: {reply}")))
            }
        }
    }

    /// What the proposed change of the library makes of a reply: all before the first `Answer:` is the thought.
    fn bare_answer(thought: &str, answer: &str) -> Self {
        let thought = strip(thought);
        let thought = thought.strip_prefix("Thought:").map_or(thought, strip);
        Self::Answer { thought: thought.to_owned(), answer: strip(answer).to_owned() }
    }

    pub(super) fn parsed(self) -> Parsed {
        match self {
            Self::Action(action) => {
                let args = Some(Arguments::of(&action.args));
                Parsed { args, ..Parsed::act(Some(action.thought), action.tool, action.input) }
            }
            Self::Answer { thought, answer } => Parsed::finish(Some(thought), answer),
            Self::Unreadable(error) => Parsed { error: Some(error.text().to_owned()), ..Parsed::new(Kind::Invalid) },
        }
    }
}

const ACTION: &str = "\nAction: ";
const INPUT: &str = "\nAction Input: ";

/// Groups of `(?:\s*Thought: (.*?)|(.+))\n+Action: ([^\n\(\) ]+).*?\n+Action Input: .*?(\{.*\})`, where a dot is any
/// character, before they are stripped.
#[derive(Debug)]
struct ToolUse<'a> {
    thought: &'a str,
    tool: &'a str,
    input: &'a str,
}

impl<'a> ToolUse<'a> {
    /// The leftmost match, which always begins with the text: any text before an action can be the thought.
    ///
    /// Behind `Thought: ` at the beginning the thought is as short as possible and the first action counts;
    /// otherwise it is as long as possible and the last one does.
    fn find(text: &'a str) -> Option<Self> {
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
        Some(Self { thought, tool, input: &text[brace..end] })
    }
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
