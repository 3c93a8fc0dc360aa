//! The verbs of actions, in every spelling.

use super::super::python::strip;
use super::argument::Bracket;
use super::label::starts_with;
use crate::types::Tool;

/// Verbs without regard to case. Longer ones come before those that they begin with.
const VERBS: [(&str, Tool); 10] = [
    ("search", Tool::Search),
    ("look up", Tool::Lookup),
    ("look-up", Tool::Lookup),
    ("look_up", Tool::Lookup),
    ("lookup", Tool::Lookup),
    ("finish", Tool::Finish),
    ("think", Tool::Think),
    ("搜索", Tool::Search),
    ("查找", Tool::Lookup),
    ("完成", Tool::Finish),
];

/// A verb at the beginning of a text: its tool, its length, and whether it is written as it should be.
pub(super) fn verb(text: &str) -> Option<(Tool, usize, bool)> {
    text.bytes().next().filter(|byte| b"sSlLfFtT".contains(byte) || *byte >= 0x80)?;
    let (name, tool) = VERBS.iter().find(|(name, _)| starts_with(text, name))?;
    let more = text[name.len()..].chars().next().is_some_and(char::is_alphanumeric);
    let exact = text.starts_with(super::numbered::verb(*tool));
    (!more).then_some((*tool, name.len(), exact))
}

/// Where the verb begins that ends a text, and its tool.
pub(super) fn verb_before(text: &str) -> Option<(usize, Tool)> {
    let word = text.char_indices().rev().take(8).map(|(at, _)| at);
    let whole = |at: usize| verb(&text[at..]).filter(|(_, length, _)| at + length == text.len());
    let (at, tool) = word.filter_map(|at| whole(at).map(|(tool, _, _)| (at, tool))).last()?;
    (!text[..at].chars().next_back().is_some_and(char::is_alphanumeric)).then_some((at, tool))
}

/// The tool whose verb is the whole text.
pub(super) fn verb_whole(text: &str) -> Option<Tool> {
    let text = strip(text);
    verb(text).filter(|(_, length, _)| *length == text.len()).map(|(tool, _, _)| tool)
}

/// `Verb[x]` as the whole of a text.
pub(super) fn bracketed_whole(text: &str) -> Option<(Tool, String)> {
    let text = strip(text);
    let (tool, length, _) = verb(text)?;
    let inner = text[length..].strip_prefix('[')?;
    let (close, end) = Bracket::Square.close(inner, 1).ok()?;
    (end == inner.len()).then(|| (tool, inner[..close].to_owned()))
}
