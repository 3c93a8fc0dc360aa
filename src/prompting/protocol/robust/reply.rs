//! One reply of the model: what is left out, where it is cut, which action counts, what the thought is.
//!
//! The first complete action counts. A reply is read line by line until a line begins a new observation or a later
//! step; nothing behind that line is looked at. An action with a label, an answer with one, a line that is nothing
//! but `Verb[x]`, a JSON object and a native tool call are taken where they come first. Only when there is none of
//! these do looser forms count: a line that is `Verb: x`, and then `Verb[x]` at the end of a sentence, if the reply names
//! no other action.

use super::Fault;
use super::action::{Form, Reader, Taken};
use super::line::{
    Bracket, Label, LabelKind, Offered, before_tag, behind_tag, clean, is_canonical, is_closing, is_fence, is_mark,
    label, one_line, verb_before, wrapper,
};
use super::repair::{self, Repairs};
use crate::base::python::{is_python_space, strip};
use crate::base::{Tool, ToolSet};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// One line; absent where the model wrote none, or was not asked for one.
    pub(super) thought: Option<String>,
    pub(super) action: Result<Action, Refused>,
    pub(super) repairs: Repairs,
    /// Text that is recorded but not shown to the model again.
    pub(super) discarded: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) tool: Tool,
    pub(super) input: String,
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) fault: Fault,
    /// The text in place of the action; empty if there was none.
    pub(super) attempt: String,
}

struct Found {
    /// Where the thought ends: at the action's label, or at the cut.
    thought_end: usize,
    taken: Taken,
    repairs: Repairs,
}

struct NotFound<'a> {
    /// Where a new observation or a later step begins.
    cut: usize,
    /// The first label of an action, with what was wrong behind it.
    attempt: Option<(usize, &'a str, Fault)>,
}

impl Reply {
    /// Reads a reply to step `n`; without `thoughts` the method is `act`.
    pub(super) fn read(reply: &str, n: usize, thoughts: bool, offered: &Offered) -> Self {
        let mut repairs = Repairs::default();
        let spoken = after_thinking(reply, &mut repairs).and_then(|text| spoken(text, &mut repairs));
        let Some(text) = spoken else {
            let action = Err(Refused { fault: Fault::Thinking, attempt: String::new() });
            return Self { thought: None, action, repairs: Repairs::default(), discarded: text_of(reply) };
        };
        let numbered = first_number(text);
        // A reply that begins with the number of a later step means this one.
        let own = numbered.filter(|(at, _)| *at == 0).map_or(n, |(_, number)| number.max(n));
        let mut reader = Reader::new(text, offered);
        let mut found = found(&reader, own, n);
        if let Err((none, _)) = &found
            && let Some(number) = miscounted(text, none, numbered)
        {
            reader = Reader::new(text, offered);
            found = self::found(&reader, number, n);
        }
        repairs.note_if(reader.met_placeholder(), repair::ECHOED_PLACEHOLDER);
        match found {
            Ok(found) => Self::with_action(text, n, thoughts, found, repairs),
            Err((none, fault)) => Self::without_action(text, n, &none, fault, repairs),
        }
    }

    fn with_action(text: &str, n: usize, thoughts: bool, found: Found, mut repairs: Repairs) -> Self {
        let Found { thought_end, taken, repairs: ways } = found;
        let mut thinking = Thinking::read(&text[..thought_end], n);
        if thinking.thought.is_none() {
            thinking.thought = taken.thought.as_deref().map(one_line).filter(|thought| !thought.is_empty());
        }
        let mut aside = thinking.preamble;
        if !thoughts && let Some(thought) = thinking.thought.take() {
            thinking.repairs = Repairs::default();
            repairs.note(repair::UNASKED_THOUGHT);
            aside.push(thought);
        }
        repairs.add(thinking.repairs);
        repairs.add(taken.repairs);
        repairs.add(ways);
        let (start, end) = taken.span;
        aside.extend(later(&text[end..], &mut repairs));
        let action = Action { tool: taken.tool, input: taken.input, text: text[start..end].to_owned() };
        let discarded = (!aside.is_empty()).then(|| aside.join("\n"));
        Self { thought: thinking.thought, action: Ok(action), repairs, discarded }
    }

    fn without_action(text: &str, n: usize, none: &NotFound<'_>, fault: Fault, repairs: Repairs) -> Self {
        let (end, attempt, fault) = match &none.attempt {
            Some((at, text, attempted)) if matches!(fault, Fault::NoAction | Fault::Placeholder) => {
                (*at, *text, attempted.clone())
            }
            _ => (none.cut, "", fault),
        };
        let fault = if text_of(text).is_none() { Fault::Empty } else { fault };
        let echoed = repairs.has(repair::ECHOED_PLACEHOLDER);
        let mut repairs = Repairs::default();
        repairs.note_if(echoed, repair::ECHOED_PLACEHOLDER);
        let thinking = Thinking::read(&text[..end], n);
        let action = Err(Refused { fault, attempt: one_line(attempt) });
        Self { thought: thinking.thought, action, repairs, discarded: text_of(&text[none.cut..]) }
    }
}

/// Where the first label of a thought or an action with a number begins, and its number. It begins at 0 if nothing but
/// white space and marks of fences precedes it; one behind an observation is none.
fn first_number(text: &str) -> Option<(usize, usize)> {
    let mut first = true;
    for (at, line) in lines(text).filter(|(_, line)| !strip(line).is_empty() && !is_fence(line)) {
        match label(untagged(line)) {
            Some(Label { kind: LabelKind::Observation, .. }) => return None,
            Some(Label { kind: LabelKind::Thought | LabelKind::Action, number: Some(number), .. }) => {
                return Some((if first { 0 } else { at }, number));
            }
            _ => first = false,
        }
    }
    None
}

/// The number of the label at which a reply without an action was cut, if it is the first one with a number, or the first
/// action of all, as in `Thought 1: …`, `Action 2: …`.
fn miscounted(text: &str, none: &NotFound<'_>, first: Option<(usize, usize)>) -> Option<usize> {
    let (_, line) = lines(&text[none.cut..]).next()?;
    let label = label(untagged(line))?;
    let is_first = first.is_some_and(|(at, _)| at == none.cut);
    let acts = label.kind == LabelKind::Action && none.attempt.is_none();
    label.number.filter(|_| label.kind != LabelKind::Observation && (is_first || acts))
}

fn untagged(mut line: &str) -> &str {
    while let Some((inside, _)) = behind_tag(line) {
        line = inside;
    }
    line
}

fn begins_later(label: &Label<'_>, n: usize) -> bool {
    match label.kind {
        LabelKind::Observation => true,
        LabelKind::Thought | LabelKind::Action => label.number.is_some_and(|number| number > n),
        LabelKind::Input | LabelKind::Answer => false,
    }
}

/// The action of a reply to step `n` in which labels with numbers up to `own` are this step's.
fn found<'a>(reader: &Reader<'a>, own: usize, n: usize) -> Result<Found, (NotFound<'a>, Fault)> {
    explicit(reader, own, n).or_else(|none| match loose(reader, none.cut) {
        Ok(found) => Ok(found),
        Err(fault) => Err((none, fault)),
    })
}

/// The first action with a label, answer with one, line that is an action, or JSON object.
fn explicit<'a>(reader: &Reader<'a>, own: usize, n: usize) -> Result<Found, NotFound<'a>> {
    let mut attempt = None;
    for (at, line) in lines(reader.text) {
        let found = label(untagged(line));
        let Some(label) = found else {
            if let Some(taken) = unlabelled(reader, (at, line)) {
                return Ok(without_label(at, taken));
            }
            continue;
        };
        if begins_later(&label, own) {
            return Err(NotFound { cut: at, attempt });
        }
        let rest = at + line.len() - label.rest.len();
        match label.kind {
            LabelKind::Action => match reader.labelled(rest) {
                Ok(taken) => {
                    let mut repairs = Repairs::default();
                    note_label(line, &label, "Action", n, &mut repairs);
                    return Ok(Found { thought_end: at, taken, repairs });
                }
                Err(fault) => {
                    attempt.get_or_insert((at, label.rest, fault));
                }
            },
            LabelKind::Answer => {
                if let Some(found) = answer(reader, at, rest) {
                    return Ok(found);
                }
            }
            LabelKind::Thought | LabelKind::Input | LabelKind::Observation => {}
        }
    }
    Err(NotFound { cut: reader.text.len(), attempt })
}

fn without_label(thought_end: usize, taken: Taken) -> Found {
    let mut repairs = Repairs::default();
    // A JSON object names its parts itself, and a tag is as good as a label.
    let named = [repair::ACTION_FORM, repair::ACTION_TAGS].iter().any(|kind| taken.repairs.has(kind));
    repairs.note_if(!named, repair::MISSING_LABEL);
    Found { thought_end, taken, repairs }
}

/// A line that is nothing but an action in a form that prose does not have.
fn unlabelled(reader: &Reader<'_>, (at, line): Line<'_>) -> Option<Taken> {
    let taken = reader.at(at).ok().filter(|taken| taken.form == Form::Plain)?;
    let end = taken.span.1;
    let rest = if end <= at + line.len() { &line[end - at..] } else { reader.line(end) };
    // Of several calls in a list the first counts.
    let is_list = reader.text[taken.span.0..].starts_with('[');
    (is_list || is_closing(rest)).then_some(taken)
}

/// `Answer: x`, or an action behind that label.
fn answer(reader: &Reader<'_>, line: usize, rest: usize) -> Option<Found> {
    let mut repairs = Repairs::default();
    repairs.note(repair::ANSWER_LABEL);
    match reader.labelled(rest) {
        Ok(taken) if taken.form == Form::Plain => return Some(Found { thought_end: line, taken, repairs }),
        Err(Fault::Placeholder) => return None,
        _ => {}
    }
    let at = reader.content(rest, &mut repairs)?;
    let end = reader.block_end(at, repairs.has(repair::FENCE));
    let several = reader.several(at, end);
    repairs.note_if(several.is_some(), repair::ANSWER_LINES);
    let text = several.unwrap_or_else(|| reader.line(at).to_owned());
    repairs.note_if(text.contains("```"), repair::FENCE);
    let text = text.trim_matches(|c| is_python_space(c) || matches!(c, '*' | '_' | '`'));
    let taken = reader.action((Tool::Finish, text), (at, end), Form::Loose, repairs).ok()?;
    Some(Found { thought_end: line, taken, repairs })
}

/// A line that is `Verb: x` or the like; or else the one action that the prose names, at the end of a line.
fn loose(reader: &Reader<'_>, cut: usize) -> Result<Found, Fault> {
    let own = &reader.text[..cut];
    for (at, line) in lines(own) {
        if let Ok(taken) = reader.at(at)
            && taken.tool != Tool::Think
            && taken.span.1 <= cut
            && taken.span.1.checked_sub(at).and_then(|end| line.get(end..)).is_none_or(is_closing)
        {
            let mut found = without_label(at, taken);
            found.repairs.note(repair::MISSING_LABEL);
            return Ok(found);
        }
    }
    let mut named: Option<(Tool, String)> = None;
    let (mut single, mut several, mut real) = (None, false, false);
    for (at, line) in lines(own) {
        // White space at the end would otherwise be passed over again behind every bracket.
        let line = line.trim_end_matches(is_python_space);
        for Mention { tool, argument, start, end } in mentions(line, reader.offered.tools) {
            several |= named.as_ref().is_some_and(|(known, other)| (*known, other) != (tool, &argument));
            real |= !reader.is_placeholder(tool, &argument);
            named = Some((tool, argument));
            if single.is_none() && is_closing(&line[end..]) {
                single = inline(reader, (at, line), start);
            }
        }
    }
    match single {
        _ if several && real => Err(Fault::Several),
        Some(found) => Ok(found),
        None if reader.met_placeholder() => Err(Fault::Placeholder),
        None => Err(Fault::NoAction),
    }
}

/// `Verb[x]` somewhere in a line.
struct Mention {
    tool: Tool,
    argument: String,
    start: usize,
    end: usize,
}

fn mentions(line: &str, tools: ToolSet) -> Vec<Mention> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(open) = line[from..].find('[').map(|at| from + at) {
        // Balanced from here on or not at all, so no part of a line is read twice.
        let Ok((close, end)) = Bracket::Square.close(&line[open + 1..], 1) else { break };
        if let Some((start, tool)) = verb_before(&line[..open], tools) {
            let argument = clean(&line[open + 1..open + 1 + close], &mut Repairs::default());
            found.push(Mention { tool, argument, start, end: open + 1 + end });
        }
        from = open + 1 + end;
    }
    found
}

fn inline(reader: &Reader<'_>, (at, line): Line<'_>, start: usize) -> Option<Found> {
    let mut taken = reader.at(at + start).ok()?;
    taken.repairs.note(repair::INLINE_ACTION);
    let thought_end = at + before_inline_label(&line[..start]);
    Some(Found { thought_end, taken, repairs: Repairs::default() })
}

/// Where the label begins that ends a text; otherwise the text's end.
fn before_inline_label(text: &str) -> usize {
    let near = text.char_indices().rev().take(24).map(|(at, _)| at);
    let begins =
        |at: &usize| label(&text[*at..]).is_some_and(|label| label.kind == LabelKind::Action && label.rest.is_empty());
    near.filter(begins).last().unwrap_or(text.len())
}

// The text around the action: reasoning before the reply, the thought, and what follows.

type Line<'a> = (usize, &'a str);

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
fn after_thinking<'a>(reply: &'a str, repairs: &mut Repairs) -> Option<&'a str> {
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
fn note_label(line: &str, found: &Label<'_>, name: &str, n: usize, repairs: &mut Repairs) {
    let number = found.number.unwrap_or(n);
    repairs.note_if(number != n, repair::RENUMBERED);
    repairs.note_if(!is_canonical(line, name, number), repair::LABEL_FORM);
}

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

pub(super) fn text_of(text: &str) -> Option<String> {
    let text = strip(text);
    (!text.is_empty()).then(|| text.to_owned())
}

// Replies in `OpenAI`'s harmony format, where a server leaves its markers in the text:
// `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>`.

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
const ENDS: [&str; 4] = ["<|end|>", "<|return|>", "<|call|>", "<|start|>"];

/// The message of the channel `final`, or the first one to a tool with the tool's name, or else the text behind them.
pub(super) fn spoken<'a>(reply: &'a str, repairs: &mut Repairs) -> Option<&'a str> {
    if !reply.contains("<|") || ![CHANNEL, MESSAGE].iter().chain(&ENDS).any(|marker| reply.contains(marker)) {
        return Some(reply);
    }
    repairs.note(repair::CHANNEL_MARKERS);
    let mut parts = reply.split(CHANNEL);
    let before = parts.next().unwrap_or_default();
    let mut behind = None;
    for part in parts {
        let (header, message) = part.split_once(MESSAGE).unwrap_or((part, ""));
        if let Some(at) = header.find("to=") {
            return Some(ended(&part[at..]).0);
        }
        if let Some(text) = strip(header).strip_prefix("final") {
            return Some(if message.is_empty() { text } else { ended(message).0 });
        }
        behind = Some(ended(message).1);
    }
    let text = match behind {
        Some(rest) => ended(rest.trim_start_matches("<|start|>assistant").trim_start_matches(MESSAGE)).0,
        None => ended(before.split_once(MESSAGE).map_or(before, |(_, message)| message)).0,
    };
    (behind.is_none() || !strip(text).is_empty()).then_some(text)
}

fn ended(text: &str) -> (&str, &str) {
    let first = ENDS.iter().filter_map(|end| text.find(end).map(|at| (at, end.len()))).min();
    first.map_or((text, ""), |(at, length)| (&text[..at], &text[at + length..]))
}
