//! The text around the action: reasoning before the reply, the thought, and what follows.

use super::super::python::strip;
use super::argument::one_line;
use super::label::{Label, LabelKind, is_canonical, is_mark, label};
use super::repair::{self, Repairs};
use super::wrapping::{before_tag, behind_tag, is_closing, is_fence, wrapper};
use crate::types::python::is_python_space;

/// A line and where it begins.
pub(super) type Line<'a> = (usize, &'a str);

/// The lines of a text that are not empty, without their ends.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let lines = text.split('\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line.strip_suffix('\r').unwrap_or(line))
    });
    lines.filter(|(_, line)| !line.is_empty())
}

/// A reply behind its `<think>` blocks; none where the last of them has no end. An end without a beginning ends
/// a block all the same: some servers keep the beginning to themselves.
pub(super) fn after_thinking<'a>(reply: &'a str, repairs: &mut Repairs) -> Option<&'a str> {
    const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
    let mut text = reply;
    loop {
        let trimmed = text.trim_start_matches(is_python_space);
        let opened = TAGS.iter().find(|(open, _)| trimmed.starts_with(open));
        let end = match opened {
            Some((_, close)) => Some(trimmed.find(close).map(|at| at + close.len())?),
            None if text.len() == reply.len() => {
                TAGS.iter().find_map(|(_, close)| trimmed.find(close).map(|at| at + close.len()))
            }
            None => None,
        };
        let Some(end) = end else { return Some(text) };
        repairs.note(repair::THINK_BLOCK);
        text = &trimmed[end..];
    }
}

/// Notes how the label of a thought or an action differs from the form asked for.
pub(super) fn note_label(line: &str, found: &Label<'_>, name: &str, n: usize, repairs: &mut Repairs) {
    let number = found.number.unwrap_or(n);
    repairs.note_if(number != n, repair::RENUMBERED);
    repairs.note_if(!is_canonical(line, name, number), repair::LABEL_FORM);
}

/// The text before the action.
pub(super) struct Thinking {
    pub(super) thought: Option<String>,
    pub(super) preamble: Vec<String>,
    pub(super) repairs: Repairs,
}

impl Thinking {
    pub(super) fn read(text: &str, n: usize) -> Self {
        let mut repairs = Repairs::default();
        let (mut parts, mut preamble) = (Vec::new(), Vec::new());
        let mut labelled = false;
        for (_, line) in lines(text) {
            if let Some(kind) = wrapper(line) {
                repairs.note(kind);
                continue;
            }
            let mut rest = line;
            while let Some((bare, kind)) = behind_tag(rest).or_else(|| before_tag(rest)) {
                repairs.note(kind);
                rest = bare;
            }
            while let Some(found) = label(rest) {
                if found.kind == LabelKind::Thought {
                    if !labelled {
                        preamble.append(&mut parts);
                    }
                    note_label(rest, &found, "Thought", n, &mut repairs);
                    repairs.note_if(labelled, repair::LABEL_FORM);
                    labelled = true;
                }
                rest = found.rest;
            }
            let part = strip(rest);
            if !part.trim_matches(is_mark).is_empty() {
                parts.push(part.to_owned());
            }
        }
        repairs.note_if(!preamble.is_empty(), repair::PREAMBLE);
        repairs.note_if(parts.len() > 1, repair::THOUGHT_LINES);
        repairs.note_if(!parts.is_empty() && !labelled, repair::MISSING_LABEL);
        let thought = (!parts.is_empty()).then(|| one_line(&parts.join(" ")));
        Self { thought, preamble, repairs }
    }
}

/// The text after the action, counted by kind; none if it only closes something.
pub(super) fn later(text: &str, repairs: &mut Repairs) -> Option<String> {
    let mut shown = String::with_capacity(text.len());
    for line in text.split('\n').filter(|line| !is_fence(line)) {
        shown.push_str(line);
        shown.push('\n');
    }
    let first = shown.split('\n').next().unwrap_or_default();
    let shown = if is_closing(first) { &shown[first.len()..] } else { &shown };
    let shown = text_of(shown).filter(|text| !is_closing(text))?;
    let mut known = false;
    for (_, line) in lines(&shown) {
        let kind = match label(line) {
            Some(label) if label.kind == LabelKind::Observation => repair::INVENTED_OBSERVATION,
            Some(label) if matches!(label.kind, LabelKind::Thought | LabelKind::Action) => repair::LATER_STEP,
            _ => continue,
        };
        known = true;
        repairs.note(kind);
    }
    repairs.note_if(!known, repair::LATER_TEXT);
    Some(shown)
}

/// The trimmed text; none if it is empty.
pub(super) fn text_of(text: &str) -> Option<String> {
    let text = strip(text);
    (!text.is_empty()).then(|| text.to_owned())
}
