//! Actions that are JSON objects.

use super::verb::{bracketed_whole, verb_whole};
use crate::types::Tool;
use serde_json::{Map, Value};

/// Keys under which an object names its tool.
const TOOL: [&str; 5] = ["action", "tool", "name", "function", "tool_name"];
/// Keys under which an object holds the argument, or the arguments.
const ARGUMENT: [&str; 9] =
    ["action_input", "input", "arguments", "parameters", "args", "argument", "query", "keyword", "answer"];
/// Keys under which an object gives an answer without naming a tool.
const ANSWER: [&str; 3] = ["final_answer", "conclusion", "answer"];
/// Keys under which an object holds what the model thought.
const THOUGHT: [&str; 4] = ["thought", "thought_process", "thoughts", "reasoning"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonAction {
    pub(super) tool: Tool,
    pub(super) input: String,
    pub(super) thought: Option<String>,
}

/// The object at the beginning of `text` and its length in bytes. Objects nested more than 127 deep are none.
pub(super) fn json_object(text: &str) -> Option<(Map<String, Value>, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match stream.next() {
        Some(Ok(Value::Object(object))) => Some((object, stream.byte_offset())),
        _ => None,
    }
}

pub(super) fn json_action(object: &Map<String, Value>) -> Option<JsonAction> {
    let thought = one_of(object, &THOUGHT).and_then(Value::as_str).map(str::to_owned);
    let (tool, input) = named(object)?;
    Some(JsonAction { tool, input, thought })
}

/// The argument in an object of arguments: the known key, or the only value.
pub(super) fn json_argument(object: &Map<String, Value>) -> Option<String> {
    let value = one_of(object, &ARGUMENT).or_else(|| {
        let mut values = object.iter().filter(|(key, _)| !is_one_of(key, &TOOL) && !is_one_of(key, &THOUGHT));
        values.next().filter(|_| values.next().is_none()).map(|(_, value)| value)
    })?;
    value_text(value)
}

fn named(object: &Map<String, Value>) -> Option<(Tool, String)> {
    match one_of(object, &TOOL) {
        Some(Value::String(name)) => {
            if let Some(tool) = verb_whole(name) {
                return json_argument(object).map(|input| (tool, input));
            }
            bracketed_whole(name)
        }
        // One level of nesting, as in `{"action": {"name": …, "parameters": …}}`; deeper ones are not calls.
        Some(Value::Object(inner)) => match one_of(inner, &TOOL) {
            Some(Value::String(name)) => verb_whole(name).zip(json_argument(inner).or_else(|| json_argument(object))),
            _ => None,
        },
        Some(_) => None,
        None => {
            let by_verb = object.iter().find_map(|(key, value)| Some((verb_whole(key)?, value_text(value)?)));
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
    use super::{json_action, json_object};
    use crate::types::Tool;

    fn read(text: &str) -> Option<(Tool, String)> {
        json_action(&json_object(text)?.0).map(|action| (action.tool, action.input))
    }

    #[test]
    fn objects_name_actions_in_many_ways() {
        for (text, tool, input) in [
            (r#"{"JsonAction": "Search", "JsonAction Input": "x"}"#, Tool::Search, "x"),
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
