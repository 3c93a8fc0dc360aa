//! What surrounds a reply and its parts: code fences, tags, and what closes a sentence.

use super::super::python::strip;
use super::label::{is_mark, starts_with};
use super::repair;
use crate::types::python::is_python_space;

/// Tags in which some models wrap a call, or each part of a step, with the repair that leaves them out.
const TAGS: [(&str, &str); 8] = [
    ("<tool_call>", repair::FENCE),
    ("</tool_call>", repair::FENCE),
    ("<function_call>", repair::FENCE),
    ("</function_call>", repair::FENCE),
    ("<action>", repair::ACTION_TAGS),
    ("</action>", repair::ACTION_TAGS),
    ("<thought>", repair::ACTION_TAGS),
    ("</thought>", repair::ACTION_TAGS),
];

/// The repair that leaves out a line which is only the mark of a code fence, or a tag.
pub(super) fn wrapper(line: &str) -> Option<&'static str> {
    let line = strip(line);
    let fence = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"));
    let fence = fence.map(|rest| rest.trim_start_matches(is_mark));
    if fence.is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || c == ' ')) {
        return Some(repair::FENCE);
    }
    TAGS.iter().find(|(tag, _)| line.eq_ignore_ascii_case(tag)).map(|(_, kind)| *kind)
}

/// Whether a line is only the mark of a code fence, or a tag.
pub(super) fn is_fence(line: &str) -> bool {
    wrapper(line).is_some()
}

/// A text behind the tag that it begins with.
pub(super) fn behind_tag(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_start_matches(is_python_space);
    let (tag, kind) = TAGS.iter().find(|(tag, _)| starts_with(text, tag))?;
    Some((&text[tag.len()..], kind))
}

/// A text before the tag that it ends with.
pub(super) fn before_tag(text: &str) -> Option<(&str, &'static str)> {
    let text = text.trim_end_matches(is_python_space);
    let before = |tag: &str| text.len().checked_sub(tag.len()).filter(|at| text.is_char_boundary(*at));
    let found = TAGS
        .iter()
        .find_map(|(tag, kind)| Some((before(tag)?, tag, *kind)).filter(|(at, ..)| starts_with(&text[*at..], tag)));
    found.map(|(at, _, kind)| (&text[..at], kind))
}

/// Whether a text is only what closes something, or ends a sentence.
pub(super) fn is_closing(text: &str) -> bool {
    let text = before_tag(text).map_or(text, |(before, _)| before);
    let closes = |c| matches!(c, '"' | '\'' | '”' | '’' | '.' | '。' | '!' | ')' | '}' | ',' | ';');
    text.chars().all(|c| is_python_space(c) || is_mark(c) || closes(c))
}
