//! One reply of the model: what is left out, where it is cut, which action counts, what the thought is.
//!
//! The first complete action counts. A reply is read line by line until a line begins a new observation or a later
//! step; nothing behind that line is looked at. An action with a label, an answer with one, a line that is nothing
//! but `Verb[x]`, and a JSON object are taken where they stand first. Only when there is none of these do looser
//! forms count: a line that is `Verb: x`, and then `Verb[x]` at the end of a sentence.

use super::super::python::strip;
use super::action::{Form, Reader, Taken, is_closing, is_fence, verb};
use super::argument::{Bracket, clean, one_line};
use super::fault::Fault;
use super::label::{Label, Word, is_canonical, is_mark, label};
use super::repair::{self, Repairs};
use crate::types::Tool;
use crate::types::python::is_python_space;

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
    /// As the model wrote it.
    pub(super) text: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) fault: Fault,
    /// The text in place of the action; empty if there was none.
    pub(super) attempt: String,
}

/// A line and where it begins.
type Line<'a> = (usize, &'a str);

/// What the lines of a reply gave.
struct Found {
    /// Where the thought ends: at the action's label, or at the cut.
    thought_end: usize,
    taken: Taken,
    repairs: Repairs,
}

/// A reply without a complete action.
struct NotFound<'a> {
    /// Where a new observation or a later step begins.
    cut: usize,
    /// The first label of an action, with what was wrong behind it.
    attempt: Option<(usize, &'a str, Fault)>,
}

impl Reply {
    /// Reads a reply to step `n`; without `thoughts` the method is `act`.
    pub(super) fn read(reply: &str, n: usize, thoughts: bool) -> Self {
        let mut repairs = Repairs::default();
        let Some(text) = after_thinking(reply, &mut repairs) else {
            let action = Err(Refused { fault: Fault::Thinking, attempt: String::new() });
            return Self { thought: None, action, repairs, discarded: text_of(reply) };
        };
        let reader = Reader::new(text);
        let found = explicit(&reader, n).or_else(|none| match loose(&reader, none.cut) {
            Ok(found) => Ok(found),
            Err(fault) => Err((none, fault)),
        });
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
            Some((at, text, attempted)) if fault == Fault::NoAction => (*at, *text, attempted.clone()),
            _ => (none.cut, "", fault),
        };
        let fault = if text_of(text).is_none() { Fault::Empty } else { fault };
        let thinking = Thinking::read(&text[..end], n);
        let action = Err(Refused { fault, attempt: one_line(attempt) });
        Self { thought: thinking.thought, action, repairs, discarded: text_of(&text[none.cut..]) }
    }
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

/// The lines of a text that are not empty, without their ends.
fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let lines = text.split('\n').map(move |line| {
        let at = start;
        start += line.len() + 1;
        (at, line.strip_suffix('\r').unwrap_or(line))
    });
    lines.filter(|(_, line)| !line.is_empty())
}

/// Whether a label begins something after this step. The first line of a reply begins no later step: the model
/// has merely miscounted.
fn begins_later(label: &Label<'_>, at: usize, n: usize) -> bool {
    match label.word {
        Word::Observation => true,
        Word::Thought | Word::Action => at > 0 && label.number.is_some_and(|number| number > n),
        Word::Input | Word::Answer => false,
    }
}

/// The first action with a label, answer with one, line that is an action, or JSON object.
fn explicit<'a>(reader: &Reader<'a>, n: usize) -> Result<Found, NotFound<'a>> {
    let mut attempt = None;
    for (at, line) in lines(reader.text) {
        let found = label(line);
        let Some(label) = found else {
            if let Some(taken) = unlabelled(reader, (at, line)) {
                return Ok(without_label(at, taken));
            }
            continue;
        };
        if begins_later(&label, at, n) {
            return Err(NotFound { cut: at, attempt });
        }
        let rest = at + line.len() - label.rest.len();
        match label.word {
            Word::Action => match reader.labelled(rest) {
                Ok(taken) => {
                    let mut repairs = Repairs::default();
                    repairs.note_if(!is_canonical(line, "Action", n), repair::LABEL_FORM);
                    return Ok(Found { thought_end: at, taken, repairs });
                }
                Err(fault) => {
                    attempt.get_or_insert((at, label.rest, fault));
                }
            },
            Word::Answer => {
                if let Some(found) = answer(reader, at, rest) {
                    return Ok(found);
                }
            }
            Word::Thought | Word::Input | Word::Observation => {}
        }
    }
    Err(NotFound { cut: reader.text.len(), attempt })
}

fn without_label(thought_end: usize, taken: Taken) -> Found {
    let mut repairs = Repairs::default();
    // A JSON object names its parts itself.
    repairs.note_if(!taken.repairs.kinds().any(|kind| kind == repair::ACTION_FORM), repair::MISSING_LABEL);
    Found { thought_end, taken, repairs }
}

/// A line that is nothing but an action in a form that prose does not have.
fn unlabelled(reader: &Reader<'_>, (at, line): Line<'_>) -> Option<Taken> {
    let taken = reader.at(at).ok().filter(|taken| taken.form == Form::Plain)?;
    let end = taken.span.1;
    let rest = if end <= at + line.len() { &line[end - at..] } else { reader.line(end) };
    is_closing(rest).then_some(taken)
}

/// `Answer: x`, or an action behind that label.
fn answer(reader: &Reader<'_>, line: usize, rest: usize) -> Option<Found> {
    let mut repairs = Repairs::default();
    repairs.note(repair::ANSWER_LABEL);
    if let Ok(taken) = reader.labelled(rest)
        && taken.form == Form::Plain
    {
        return Some(Found { thought_end: line, taken, repairs });
    }
    let at = reader.content(rest, &mut repairs)?;
    let text = reader.line(at);
    let input = clean(text.trim_matches(|c| is_python_space(c) || matches!(c, '*' | '_' | '`')), &mut repairs);
    let span = (at, at + text.len());
    let taken = Taken { tool: Tool::Finish, input, span, form: Form::Loose, repairs, thought: None };
    (!taken.input.is_empty()).then_some(Found { thought_end: line, taken, repairs })
}

/// A line that is `Verb: x` or the like; or else the one action that ends a line of prose.
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
    let mut single: Option<Found> = None;
    for line in lines(own) {
        if let Some(found) = inline(reader, line) {
            match &single {
                Some(one) if (one.taken.tool, &one.taken.input) != (found.taken.tool, &found.taken.input) => {
                    return Err(Fault::Several);
                }
                Some(_) => {}
                None => single = Some(found),
            }
        }
    }
    single.ok_or(Fault::NoAction)
}

/// `Verb[x]` at the end of a line.
fn inline(reader: &Reader<'_>, (at, line): Line<'_>) -> Option<Found> {
    // White space at the end would otherwise be passed over again behind every bracket.
    let line = line.trim_end_matches(is_python_space);
    let mut from = 0;
    while let Some(open) = line[from..].find('[').map(|found| from + found) {
        // Balanced from here on or not at all, so no part of a line is read twice.
        let (_, end) = Bracket::Square.close(&line[open + 1..], 1).ok()?;
        let end = open + 1 + end;
        if let Some(start) = verb_before(&line[..open])
            && is_closing(&line[end..])
        {
            let mut taken = reader.at(at + start).ok()?;
            taken.repairs.note(repair::INLINE_ACTION);
            let repairs = Repairs::default();
            return Some(Found { thought_end: at + before_inline_label(&line[..start]), taken, repairs });
        }
        from = end;
    }
    None
}

/// Where the verb begins that ends a text.
fn verb_before(text: &str) -> Option<usize> {
    let word = text.char_indices().rev().take(8).map(|(at, _)| at);
    word.filter(|at| verb(&text[*at..]).is_some_and(|(_, length, _)| at + length == text.len()))
        .last()
        .filter(|at| !text[..*at].chars().next_back().is_some_and(char::is_alphanumeric))
}

/// Where the label begins that ends a text; otherwise the text's end.
fn before_inline_label(text: &str) -> usize {
    let near = text.char_indices().rev().take(24).map(|(at, _)| at);
    let begins =
        |at: &usize| label(&text[*at..]).is_some_and(|label| label.word == Word::Action && label.rest.is_empty());
    near.filter(begins).last().unwrap_or(text.len())
}

/// The text before the action.
struct Thinking {
    thought: Option<String>,
    preamble: Vec<String>,
    repairs: Repairs,
}

impl Thinking {
    fn read(text: &str, n: usize) -> Self {
        let mut repairs = Repairs::default();
        let (mut parts, mut preamble) = (Vec::new(), Vec::new());
        let mut labelled = false;
        for (_, line) in lines(text) {
            if is_fence(line) {
                repairs.note(repair::FENCE);
                continue;
            }
            let mut rest = line;
            while let Some(found) = label(rest) {
                if found.word == Word::Thought {
                    if !labelled {
                        preamble.append(&mut parts);
                    }
                    repairs.note_if(labelled || !is_canonical(rest, "Thought", n), repair::LABEL_FORM);
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
fn later(text: &str, repairs: &mut Repairs) -> Option<String> {
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
            Some(label) if label.word == Word::Observation => repair::INVENTED_OBSERVATION,
            Some(label) if matches!(label.word, Word::Thought | Word::Action) => repair::LATER_STEP,
            _ => continue,
        };
        known = true;
        repairs.note(kind);
    }
    repairs.note_if(!known, repair::LATER_TEXT);
    Some(shown)
}

/// The trimmed text; none if it is empty.
fn text_of(text: &str) -> Option<String> {
    let text = strip(text);
    (!text.is_empty()).then(|| text.to_owned())
}
