//! The forms of an action: `Verb[x]`, `Verb: x`, `Verb(x)`, `Verb "x"`, `Action Input:` below a verb, JSON.

use super::super::python::strip;
use super::argument::{Bracket, clean, closing_quote};
use super::fault::Fault;
use super::json;
use super::label::{Word, is_mark, label, starts_with};
use super::repair::{self, Repairs};
use crate::types::Tool;
use crate::types::python::is_python_space;
use std::cell::Cell;

/// Lines over which an open bracket is followed. A longer argument is none, and the bound keeps reading linear.
const ARGUMENT_LINES: usize = 8;
/// JSON objects that are tried in one reply; each may reach to the reply's end.
const JSON_TRIES: u32 = 8;

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

/// Tags in which some models wrap a call.
const TAGS: [&str; 4] = ["<tool_call>", "</tool_call>", "<function_call>", "</function_call>"];

/// How an action was written; forms that look like prose count only in some places without a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `Verb[x]`, closed, or a JSON object.
    Plain,
    /// Every other form.
    Loose,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) tool: Tool,
    pub(super) input: String,
    /// From its first character to behind its last.
    pub(super) span: (usize, usize),
    pub(super) form: Form,
    pub(super) repairs: Repairs,
    /// A thought from the same JSON object.
    pub(super) thought: Option<String>,
}

/// Reads actions anywhere in one reply.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    json_tries: Cell<u32>,
}

/// A verb at the beginning of a text: its tool, its length, and whether it is written as it should be.
pub(super) fn verb(text: &str) -> Option<(Tool, usize, bool)> {
    text.bytes().next().filter(|byte| b"sSlLfFtT".contains(byte) || *byte >= 0x80)?;
    let (name, tool) = VERBS.iter().find(|(name, _)| starts_with(text, name))?;
    let more = text[name.len()..].chars().next().is_some_and(char::is_alphanumeric);
    let exact = text.starts_with(super::numbered::verb(*tool));
    (!more).then_some((*tool, name.len(), exact))
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

/// Whether a line is only the mark of a code fence, or the tag of a call.
pub(super) fn is_fence(line: &str) -> bool {
    let line = strip(line);
    let fence = line.strip_prefix("```").or_else(|| line.strip_prefix("~~~"));
    fence.is_some_and(|rest| rest.chars().all(|c| c.is_alphanumeric() || is_mark(c) || c == ' '))
        || TAGS.contains(&line)
}

/// Whether a text is only what closes something, or ends a sentence.
pub(super) fn is_closing(text: &str) -> bool {
    let text = TAGS.iter().find_map(|tag| text.trim_end_matches(is_python_space).strip_suffix(tag)).unwrap_or(text);
    let closes = |c| matches!(c, '"' | '\'' | '”' | '’' | '.' | '。' | '!' | ')' | '}' | ',' | ';');
    text.chars().all(|c| is_python_space(c) || is_mark(c) || closes(c))
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, json_tries: Cell::new(0) }
    }

    /// What is left of the line at `from`.
    pub(super) fn line(&self, from: usize) -> &'a str {
        let rest = &self.text[from..];
        let line = rest.split('\n').next().unwrap_or(rest);
        line.strip_suffix('\r').unwrap_or(line)
    }

    /// The first line after that of `from` that is not empty: where it begins.
    fn next_line(&self, from: usize) -> Option<usize> {
        let below = from + self.text[from..].find('\n')?;
        let rest = self.text[below..].trim_start_matches(is_python_space);
        (!rest.is_empty()).then(|| self.text.len() - rest.len())
    }

    /// What a label announces: on its own line from `from` on, or below it.
    pub(super) fn content(&self, from: usize, repairs: &mut Repairs) -> Option<usize> {
        let blank = |line: &str| line.trim_start_matches(|c| is_python_space(c) || is_mark(c)).is_empty();
        if !blank(self.line(from)) && !is_fence(self.line(from)) {
            return Some(from);
        }
        let fenced = is_fence(self.line(from));
        let mut at = self.next_line(from)?;
        let opened = is_fence(self.line(at));
        if opened {
            at = self.next_line(at)?;
        }
        repairs.note(repair::ACTION_BELOW);
        repairs.note_if(fenced || opened, repair::FENCE);
        let line = self.line(at);
        (label(line).is_none() && !is_fence(line)).then_some(at)
    }

    /// The action that a label announces.
    pub(super) fn labelled(&self, from: usize) -> Result<Taken, Fault> {
        let mut repairs = Repairs::default();
        let at = self.content(from, &mut repairs).ok_or(Fault::NoAction)?;
        let mut taken = self.at(at)?;
        taken.repairs.add(repairs);
        Ok(taken)
    }

    /// The action that begins at `from`, behind marks, quotes or a tag.
    pub(super) fn at(&self, from: usize) -> Result<Taken, Fault> {
        let mut repairs = Repairs::default();
        let line = self.line(from);
        let mut text = line.trim_start_matches(is_python_space);
        if let Some(inside) = TAGS.iter().find_map(|tag| text.strip_prefix(tag)) {
            repairs.note(repair::FENCE);
            text = inside.trim_start_matches(is_python_space);
        }
        let bare = text.trim_start_matches(|c| is_python_space(c) || is_mark(c) || matches!(c, '"' | '\'' | '“' | '-'));
        repairs.note_if(bare.len() < text.len(), repair::ACTION_MARKS);
        let start = from + line.len() - bare.len();
        if bare.starts_with('{') {
            return self.json(start, repairs);
        }
        let Some((tool, length, exact)) = verb(bare) else { return Err(Fault::not_a_tool(bare)) };
        repairs.note_if(!exact, repair::VERB_FORM);
        let after = bare[length..].trim_start_matches(|c| is_python_space(c) || matches!(c, '*' | '_'));
        let spaced = after.len() < bare.len() - length;
        let at = from + line.len() - after.len();
        let Some(c) = after.chars().next() else { return self.input_below(start, tool, repairs) };
        let (raw, end, form) = match c {
            c if Bracket::opened_by(c).is_some() => self.bracketed(at, spaced, &mut repairs),
            ':' | '：' | '=' => self.after_colon(at + c.len_utf8(), &mut repairs)?,
            c if closing_quote(c).is_some() => self.quoted(at, c, &mut repairs).ok_or(Fault::NoArgument(tool))?,
            _ => return Err(Fault::NoArgument(tool)),
        };
        taken((tool, &raw), (start, end), form, repairs)
    }

    /// An argument in brackets that open at `at`: the raw argument, the end, and the form.
    fn bracketed(&self, at: usize, spaced: bool, repairs: &mut Repairs) -> (String, usize, Form) {
        let open = self.text[at..].chars().next().unwrap_or('[');
        let bracket = Bracket::opened_by(open).unwrap_or(Bracket::Square);
        let inside = at + open.len_utf8();
        let (close, end, closed) = self.close(bracket, inside);
        let raw = &self.text[inside..close];
        let plain = open == '[' && !spaced;
        repairs.note_if(!plain, repair::ACTION_FORM);
        repairs.note_if(!closed, repair::UNCLOSED_BRACKET);
        let raw = if closed { raw } else { raw.trim_end_matches(|c| is_python_space(c) || matches!(c, '*' | '`')) };
        let raw = if bracket == Bracket::Round { without_name(raw) } else { raw };
        (raw.to_owned(), end, if plain && closed { Form::Plain } else { Form::Loose })
    }

    /// Where a bracket closes whose inside begins at `inside`: on its line, on one of the next that belong to it, or
    /// else at the end of its line.
    fn close(&self, bracket: Bracket, inside: usize) -> (usize, usize, bool) {
        let first = self.line(inside);
        let mut depth = match bracket.close(first, 1) {
            Ok((close, end)) => return (inside + close, inside + end, true),
            Err(depth) => depth,
        };
        let mut at = inside;
        for _ in 1..ARGUMENT_LINES {
            let Some(next) = self.text[at..].find('\n') else { break };
            at += next + 1;
            let line = self.line(at);
            if line.trim_matches(is_python_space).is_empty() || label(line).is_some() || is_fence(line) {
                break;
            }
            match bracket.close(line, depth) {
                Ok((close, end)) => return (at + close, at + end, true),
                Err(deeper) => depth = deeper,
            }
        }
        let end = inside + first.len();
        (end, end, false)
    }

    /// An argument that is the rest of a line from `from` on; brackets around the whole, and JSON, are opened. Damaged
    /// JSON has more than one reading, and its braces are nothing to search for.
    fn after_colon(&self, from: usize, repairs: &mut Repairs) -> Result<(String, usize, Form), Fault> {
        repairs.note(repair::ACTION_FORM);
        let line = self.line(from);
        let end = from + line.len();
        let text = line.trim_matches(|c| is_python_space(c) || matches!(c, '*' | '`'));
        if text.starts_with('{') && text.contains(':') {
            let at = from + line.find('{').unwrap_or(0);
            let (object, length) = self.object(at).ok_or(Fault::Json)?;
            let argument = json::argument(&object).ok_or(Fault::Json)?;
            return Ok((argument, at + length, Form::Loose));
        }
        let mut characters = text.chars();
        if let Some(bracket) = characters.next().and_then(Bracket::opened_by)
            && let Ok((close, whole)) = bracket.close(characters.as_str(), 1)
            && whole == characters.as_str().len()
        {
            return Ok((characters.as_str()[..close].to_owned(), end, Form::Loose));
        }
        Ok((text.to_owned(), end, Form::Loose))
    }

    fn quoted(&self, at: usize, open: char, repairs: &mut Repairs) -> Option<(String, usize, Form)> {
        let close = closing_quote(open)?;
        let inside = at + open.len_utf8();
        let line = self.line(inside);
        // An apostrophe may stand inside.
        let length = if close == '\'' { line.rfind(close) } else { line.find(close) }?;
        repairs.note(repair::ACTION_FORM);
        Some((line[..length].to_owned(), inside + length + close.len_utf8(), Form::Loose))
    }

    /// The argument of a verb that stands alone on its line: `Action Input:` on the next.
    fn input_below(&self, start: usize, tool: Tool, mut repairs: Repairs) -> Result<Taken, Fault> {
        let below = self.next_line(start).map(|at| (at, self.line(at)));
        let input = below.and_then(|(at, line)| {
            label(line).filter(|label| label.word == Word::Input).map(|label| at + line.len() - label.rest.len())
        });
        let Some(input) = input else { return Err(Fault::NoArgument(tool)) };
        let at = self.content(input, &mut Repairs::default()).ok_or(Fault::NoArgument(tool))?;
        let (raw, end, form) = self.after_colon(at, &mut repairs)?;
        taken((tool, &raw), (start, end), form, repairs)
    }

    fn object(&self, at: usize) -> Option<(serde_json::Map<String, serde_json::Value>, usize)> {
        let tries = self.json_tries.get();
        self.json_tries.set(tries.saturating_add(1));
        if tries < JSON_TRIES { json::object(&self.text[at..]) } else { None }
    }

    fn json(&self, start: usize, mut repairs: Repairs) -> Result<Taken, Fault> {
        let (object, length) = self.object(start).ok_or(Fault::Json)?;
        let action = json::action(&object).ok_or(Fault::Json)?;
        repairs.note(repair::ACTION_FORM);
        let taken = taken((action.tool, &action.input), (start, start + length), Form::Plain, repairs)?;
        Ok(Taken { thought: action.thought, ..taken })
    }
}

/// An action with its argument cleaned, unless the tool needs an argument and this one is empty.
fn taken((tool, raw): (Tool, &str), span: (usize, usize), form: Form, mut repairs: Repairs) -> Result<Taken, Fault> {
    let input = clean(raw, &mut repairs);
    if input.is_empty() && matches!(tool, Tool::Search | Tool::Finish) {
        return Err(Fault::EmptyArgument(tool));
    }
    Ok(Taken { tool, input, span, form, repairs, thought: None })
}

/// `query="x"` without its name.
fn without_name(text: &str) -> &str {
    let text = strip(text);
    let name = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let value = text[name..].trim_start_matches(is_python_space).strip_prefix(['=', ':']);
    let value = value.map(|value| value.trim_start_matches(is_python_space));
    value.filter(|value| name > 0 && value.starts_with(|c| closing_quote(c).is_some())).unwrap_or(text)
}
