//! The forms of an action: `Verb[x]`, `Verb: x`, `Verb(x)`, `Verb "x"`, `Action Input:`, JSON, native calls as text.

use super::Fault;
use super::line::{
    Bracket, LabelKind, Offered, behind_tag, clean, closing_quote, is_fence, is_mark, label, one_line, unbracketed,
    verb, within_brackets,
};
use super::repair::{self, Repairs};
use crate::base::python::{is_python_space, strip};
use crate::base::{Tool, ToolSet};
use serde_json::{Map, Value};
use std::cell::Cell;

/// Lines over which an open bracket is followed. A longer argument is none, and the bound keeps reading linear.
const ARGUMENT_LINES: usize = 8;
/// JSON objects that are tried in one reply; each may reach to the reply's end.
const JSON_TRIES: u32 = 8;

/// What announces a native tool call of Mistral's models, of Llama's, and in the harmony format.
const NATIVE: [&str; 3] = ["[TOOL_CALLS]", "<|python_tag|>", "to=functions."];
/// What such a call has between the tool and its arguments.
const BEFORE_ARGUMENTS: [&str; 5] = [".call", "[ARGS]", "<|constrain|>", "json", "<|message|>"];

/// How an action was written; forms that look like prose count only in some places without a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `Verb[x]`, closed, a JSON object, or a native tool call.
    Plain,
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
    pub(super) thought: Option<String>,
}

/// Reads actions anywhere in one reply.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) offered: &'a Offered,
    json_tries: Cell<u32>,
    echoed: Cell<bool>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, offered: &'a Offered) -> Self {
        Self { text, offered, json_tries: Cell::new(0), echoed: Cell::new(false) }
    }

    /// Whether an argument is a placeholder; that one was met is remembered.
    pub(super) fn is_placeholder(&self, tool: Tool, argument: &str) -> bool {
        let is_one = self.offered.is_placeholder(tool, argument);
        self.echoed.set(self.echoed.get() || is_one);
        is_one
    }

    pub(super) fn met_placeholder(&self) -> bool {
        self.echoed.get()
    }

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
        let mut text = line;
        while let Some((inside, kind)) = behind_tag(text) {
            repairs.note(kind);
            text = inside;
        }
        text = text.trim_start_matches(is_python_space);
        let native = NATIVE.iter().find_map(|token| text.strip_prefix(token));
        repairs.note_if(native.is_some(), repair::NATIVE_CALL);
        text = native.map_or(text, |text| text.trim_start_matches(is_python_space));
        let bare = text.trim_start_matches(|c| is_python_space(c) || is_mark(c) || matches!(c, '"' | '\'' | '“' | '-'));
        repairs.note_if(bare.len() < text.len(), repair::ACTION_MARKS);
        let start = from + line.len() - bare.len();
        if let Some(object) = self.object_or_list(start) {
            return self.json((start, object), repairs);
        }
        let Some((tool, length, exact)) = verb(bare, self.offered.tools) else { return Err(Fault::not_a_tool(bare)) };
        repairs.note_if(!exact, repair::VERB_FORM);
        let after = bare[length..].trim_start_matches(|c| is_python_space(c) || matches!(c, '*' | '_'));
        let spaced = after.len() < bare.len() - length;
        let after = before_arguments(after);
        let at = from + line.len() - after.len();
        let Some(c) = after.chars().next() else { return self.input_below(start, tool, repairs) };
        let (raw, end, mut form) = match c {
            '{' => self.arguments(at, &mut repairs)?,
            c if Bracket::opened_by(c).is_some() => self.bracketed(at, spaced, &mut repairs),
            ':' | '：' | '=' => self.after_colon(at + c.len_utf8(), &mut repairs)?,
            c if closing_quote(c).is_some() => self.quoted(at, c, &mut repairs).ok_or(Fault::NoArgument(tool))?,
            _ => return Err(Fault::NoArgument(tool)),
        };
        if native.is_some() {
            form = Form::Plain;
        }
        self.action((tool, &raw), (start, end), form, repairs)
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

    /// Where a bracket closes whose inside begins at `inside`: within a few lines, or else at the end of its line.
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
        if text.starts_with('{') && (text == "{" || text.contains(':')) {
            return self.arguments(from + line.find('{').unwrap_or(0), repairs);
        }
        repairs.note_if(line.contains("```"), repair::FENCE);
        let inner = within_brackets(text).map_or(text, |(_, inner)| inner);
        Ok((inner.to_owned(), end, Form::Loose))
    }

    fn arguments(&self, at: usize, repairs: &mut Repairs) -> Result<(String, usize, Form), Fault> {
        repairs.note(repair::ACTION_FORM);
        let (object, length) = self.object(at).ok_or(Fault::Json)?;
        let argument = json_argument(&object).ok_or(Fault::Json)?;
        Ok((argument, at + length, Form::Loose))
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

    /// The argument of a verb that is alone on its line: `Action Input:` on the next, or a fenced block.
    fn input_below(&self, start: usize, tool: Tool, mut repairs: Repairs) -> Result<Taken, Fault> {
        let none = || Fault::NoArgument(tool);
        let below = self.next_line(start).ok_or_else(none)?;
        let line = self.line(below);
        let labelled = label(line).filter(|label| label.kind == LabelKind::Input);
        let input = below + line.len() - labelled.map_or(line, |label| label.rest).len();
        if labelled.is_none() && !is_fence(line) {
            return Err(none());
        }
        let mut ways = Repairs::default();
        let at = self.content(input, &mut ways).ok_or_else(none)?;
        let fenced = ways.has(repair::FENCE);
        let end = if fenced || tool == Tool::Finish { self.block_end(at, fenced) } else { at };
        if labelled.is_none() && self.next_line(end).is_none_or(|next| !is_fence(self.line(next))) {
            // The mark that closes a fence around the whole reply opens none.
            return Err(none());
        }
        repairs.note_if(fenced, repair::FENCE);
        let (raw, end, form) = match self.several(at, end) {
            Some(raw) if !raw.starts_with('{') => {
                let lines = if tool == Tool::Finish { repair::ANSWER_LINES } else { repair::ARGUMENT_LINES };
                repairs.note(lines);
                repairs.note(repair::ACTION_FORM);
                (raw, end, Form::Loose)
            }
            _ => self.after_colon(at, &mut repairs)?,
        };
        self.action((tool, &raw), (start, end), form, repairs)
    }

    /// Where the lines end that belong to the one at `from`: all of a fenced block, or those of a list. A sentence, a
    /// label or an action is not part of a list.
    pub(super) fn block_end(&self, from: usize, fenced: bool) -> usize {
        let (mut at, mut end) = (from, from + self.line(from).len());
        for _ in 1..ARGUMENT_LINES {
            let Some(next) = self.text[at..].find('\n') else { break };
            at += next + 1;
            let line = self.line(at);
            let other = || strip(line).is_empty() || is_prose(line) || begins_action(line, self.offered.tools);
            if label(line).is_some() || is_fence(line) || (!fenced && other()) {
                break;
            }
            end = at + line.len();
        }
        end
    }

    /// The lines from `from` to `end` as one, without the marks of a list; nothing if it is only one.
    pub(super) fn several(&self, from: usize, end: usize) -> Option<String> {
        let lines = self.text.get(from..end).filter(|lines| lines.contains('\n'))?;
        let items = lines.split('\n').map(|line| {
            let line = strip(line);
            ["- ", "* ", "• "].iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line)
        });
        Some(one_line(&items.collect::<Vec<_>>().join("\n")))
    }

    /// Where an object begins: at `start`, or as the first of a list there.
    fn object_or_list(&self, start: usize) -> Option<usize> {
        let text = &self.text[start..];
        let object = text.strip_prefix('[').map_or(text, |list| list.trim_start_matches(is_python_space));
        object.starts_with('{').then(|| self.text.len() - object.len())
    }

    fn object(&self, at: usize) -> Option<(Map<String, Value>, usize)> {
        let tries = self.json_tries.get();
        self.json_tries.set(tries.saturating_add(1));
        if tries < JSON_TRIES { json_object(&self.text[at..]) } else { None }
    }

    /// An action that is the object at `object`, or a list with it that begins at `start`.
    fn json(&self, (start, object): (usize, usize), mut repairs: Repairs) -> Result<Taken, Fault> {
        let (fields, length) = self.object(object).ok_or(Fault::Json)?;
        let (tool, input) = json_action(&fields, self.offered.tools).ok_or(Fault::Json)?;
        repairs.note(repair::ACTION_FORM);
        let mut end = object + length;
        let rest = self.text[end..].trim_start_matches(is_python_space);
        if start < object && rest.starts_with(']') {
            end = self.text.len() - rest.len() + 1;
        }
        let thought = one_of(&fields, &THOUGHT).and_then(Value::as_str).map(str::to_owned);
        Ok(Taken { thought, ..self.action((tool, &input), (start, end), Form::Plain, repairs)? })
    }

    /// An action with its argument cleaned, unless the tool needs an argument and this one is empty, or a placeholder.
    pub(super) fn action(
        &self,
        (tool, raw): (Tool, &str),
        span: (usize, usize),
        form: Form,
        mut repairs: Repairs,
    ) -> Result<Taken, Fault> {
        let input = clean(raw, &mut repairs);
        if input.is_empty() && !matches!(tool, Tool::Lookup | Tool::Think) {
            return Err(Fault::EmptyArgument(tool));
        }
        if self.is_placeholder(tool, &input) {
            return Err(Fault::Placeholder);
        }
        Ok(Taken { tool, input, span, form, repairs, thought: None })
    }
}

fn before_arguments(after: &str) -> &str {
    let called = BEFORE_ARGUMENTS.iter().fold(after, |text, part| {
        text.strip_prefix(part).map_or(text, |text| text.trim_start_matches(is_python_space))
    });
    if called.starts_with(['(', '{']) { called } else { after }
}

fn begins_action(line: &str, tools: ToolSet) -> bool {
    let line = strip(line);
    verb(line, tools).is_some_and(|(_, length, _)| {
        let after = line[length..].trim_start_matches(is_python_space).chars().next();
        after.is_some_and(|c| Bracket::opened_by(c).is_some() || matches!(c, ':' | '：' | '{' | '"'))
    })
}

/// Whether a line is a sentence, or begins with a word and a colon, as in `Note: …`.
fn is_prose(line: &str) -> bool {
    let words = line.split_ascii_whitespace().take(4).count();
    let ends = strip(line).ends_with(['.', '!', '?', '。', '！', '？']);
    let first = line.split_ascii_whitespace().next().unwrap_or_default();
    (ends && words == 4) || first.ends_with([':', '：'])
}

/// `query="x"` without its name.
fn without_name(text: &str) -> &str {
    let text = strip(text);
    let name = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    let value = text[name..].trim_start_matches(is_python_space).strip_prefix(['=', ':']);
    let value = value.map(|value| value.trim_start_matches(is_python_space));
    value.filter(|value| name > 0 && value.starts_with(|c| closing_quote(c).is_some())).unwrap_or(text)
}

// The verbs of actions, in every spelling.

fn verb_whole(text: &str, tools: ToolSet) -> Option<Tool> {
    let text = strip(text);
    verb(text, tools).filter(|(_, length, _)| *length == text.len()).map(|(tool, _, _)| tool)
}

fn bracketed_whole(text: &str, tools: ToolSet) -> Option<(Tool, String)> {
    let text = strip(text);
    let (tool, length, _) = verb(text, tools)?;
    let inner = Some(&text[length..]).filter(|rest| rest.starts_with('['))?;
    Some((tool, unbracketed(inner)?.to_owned()))
}

// Actions that are JSON objects.

const TOOL: [&str; 5] = ["action", "tool", "name", "function", "tool_name"];
const ARGUMENT: [&str; 9] =
    ["action_input", "input", "arguments", "parameters", "args", "argument", "query", "keyword", "answer"];
/// Keys under which an object gives an answer without naming a tool.
const ANSWER: [&str; 3] = ["final_answer", "conclusion", "answer"];
const THOUGHT: [&str; 4] = ["thought", "thought_process", "thoughts", "reasoning"];

/// The object at the beginning of `text` and its length in bytes. Objects nested more than 127 deep are none.
fn json_object(text: &str) -> Option<(Map<String, Value>, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(Value::Object(object))) => Some((object, stream.byte_offset())),
        _ => None,
    }
}

/// The argument in an object of arguments: the known key, or the only value.
fn json_argument(object: &Map<String, Value>) -> Option<String> {
    let value = one_of(object, &ARGUMENT).or_else(|| {
        let mut values = object.iter().filter(|(key, _)| !is_one_of(key, &TOOL) && !is_one_of(key, &THOUGHT));
        values.next().filter(|_| values.next().is_none()).map(|(_, value)| value)
    })?;
    value_text(value)
}

/// The tool and the argument that an object names.
fn json_action(object: &Map<String, Value>, tools: ToolSet) -> Option<(Tool, String)> {
    match one_of(object, &TOOL) {
        Some(Value::String(name)) => {
            if let Some(tool) = verb_whole(name, tools) {
                return json_argument(object).map(|input| (tool, input));
            }
            bracketed_whole(name, tools)
        }
        // One level of nesting, as in `{"action": {"name": …, "parameters": …}}`; deeper ones are not calls.
        Some(Value::Object(inner)) => match one_of(inner, &TOOL) {
            Some(Value::String(name)) => {
                verb_whole(name, tools).zip(json_argument(inner).or_else(|| json_argument(object)))
            }
            _ => None,
        },
        Some(_) => None,
        None => {
            let by_verb = object.iter().find_map(|(key, value)| Some((verb_whole(key, tools)?, value_text(value)?)));
            by_verb.or_else(|| one_of(object, &ANSWER).and_then(value_text).map(|answer| (Tool::Finish, answer)))
        }
    }
}

/// A value as an argument: a scalar, or an object or a text of JSON with a single one.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if text.trim_start().starts_with('{') => {
            let inner = json_object(text.trim_start()).and_then(|(object, _)| single(&object));
            inner.or_else(|| Some(text.clone()))
        }
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(if *truth { "yes" } else { "no" }.to_owned()),
        Value::Object(object) => single(object),
        Value::Array(values) => match &values[..] {
            [Value::String(text)] => Some(text.clone()),
            _ => None,
        },
        Value::Null => None,
    }
}

fn single(object: &Map<String, Value>) -> Option<String> {
    let value = match one_of(object, &ARGUMENT) {
        Some(value) => value,
        None if object.len() == 1 => object.values().next()?,
        None => return None,
    };
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn one_of<'a>(object: &'a Map<String, Value>, keys: &[&str]) -> Option<&'a Value> {
    keys.iter().find_map(|key| object.iter().find(|(name, _)| same(name, key)).map(|(_, value)| value))
}

fn is_one_of(key: &str, keys: &[&str]) -> bool {
    keys.iter().any(|known| same(key, known))
}

/// Without regard to case, and to what separates words.
fn same(key: &str, known: &str) -> bool {
    key.len() == known.len()
        && key.bytes().zip(known.bytes()).all(|(a, b)| match a {
            b' ' | b'-' => b == b'_',
            a => a.eq_ignore_ascii_case(&b),
        })
}

#[cfg(test)]
mod tests {
    use super::{ToolSet, json_action, json_object};
    use crate::base::Tool;

    fn read(text: &str) -> Option<(Tool, String)> {
        json_action(&json_object(text)?.0, ToolSet::default())
    }

    #[test]
    fn objects_name_actions_in_many_ways() {
        for (text, tool, input) in [
            (r#"{"Action": "Search", "Action Input": "x"}"#, Tool::Search, "x"),
            (r#"{"action": "Lookup", "query": "x"}"#, Tool::Lookup, "x"),
            (r#"{"name": "finish", "arguments": "{\"answer\": \"x\"}"}"#, Tool::Finish, "x"),
            (r#"{"name": "finish", "parameters": {"answer": 1990}}"#, Tool::Finish, "1990"),
            (r#"{"thought_process": "t", "action": {"name": "Search", "parameters": {"q": "x"}}}"#, Tool::Search, "x"),
            (r#"{"search": "x"}"#, Tool::Search, "x"),
            (r#"{"thought": "t", "finish": {"answer": "x"}}"#, Tool::Finish, "x"),
            (r#"{"action": "Search[x]"}"#, Tool::Search, "x"),
            (r#"{"action": "Search", "entity": "x"}"#, Tool::Search, "x"),
            (r#"{"thought": "t", "final_answer": "x"}"#, Tool::Finish, "x"),
            (r#"{"action": "Search", "input": "x"} and more"#, Tool::Search, "x"),
            (r#"{"搜索": "x"}"#, Tool::Search, "x"),
        ] {
            assert_eq!(read(text), Some((tool, input.to_owned())), "{text}");
        }
        for text in [
            r#"{"action": "Login", "input": "x"}"#,
            r#"{"action": "Search"}"#,
            r#"{"action": "Search", "a": "x", "b": "y"}"#,
            r#"{"action": {"action": {"name": "Search", "input": "x"}}}"#,
            r#"{"action": 1}"#,
            r#"{"thought": "t"}"#,
            r#"{"action": "Search", "input": "x""#,
            "{'action': 'Search'}",
            "[]",
            "{}",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&"{\"a\":".repeat(100_000)), None);
    }
}
