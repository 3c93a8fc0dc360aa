//! Tools that a model calls by name: name, description, parameter; and repaired calls of them.

use super::model_json::dumps;
use crate::base::Tool;
use crate::base::python::{is_python_space, strip};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Kind of a [repair](crate::base::Repair): the argument had another name.
pub const ARGUMENT_NAME: &str = "argument_name";
/// Kind of a repair: the argument was a number or a truth value.
pub const ARGUMENT_TYPE: &str = "argument_type";
/// Kind of a repair: the argument came without an object around it.
pub const BARE_ARGUMENT: &str = "bare_argument";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    pub tool: Tool,
    pub name: String,
    pub description: String,
    pub parameter: String,
    pub parameter_description: String,
    /// What is said about the form of its arguments, where a system says anything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub args_format: String,
}

/// The description of each tool and of its parameter, as in a file of protocol texts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ToolTexts(pub HashMap<Tool, (String, String)>);

impl ToolTexts {
    /// Takes the texts of those tools from `others` that are not described here.
    pub fn add_missing(&mut self, others: Self) {
        for (tool, texts) in others.0 {
            let own = self.0.entry(tool).or_default();
            if own.0.is_empty() {
                *own = texts;
            }
        }
    }

    pub fn of(&self, tool: Tool) -> (&str, &str) {
        self.0.get(&tool).map_or(("", ""), |(text, parameter)| (text, parameter))
    }
}

/// A call of a named tool, with the repairs to its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub tool: Tool,
    pub input: String,
    pub repairs: Vec<&'static str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    Unknown(Vec<String>),
    /// The argument is missing, or its value is not a text.
    Missing(String),
}

impl ToolSpec {
    pub fn of(tool: Tool, texts: &ToolTexts) -> Self {
        let (description, parameter_description) = texts.of(tool);
        Self::new(tool, description, parameter_description)
    }

    /// A tool under its own name, such as `Search` with the parameter `query`.
    pub fn new(tool: Tool, description: &str, parameter_description: &str) -> Self {
        let (name, parameter) = signature(tool).unwrap_or(("Finish", "answer"));
        Self {
            tool,
            name: name.to_owned(),
            description: description.to_owned(),
            parameter: parameter.to_owned(),
            parameter_description: parameter_description.to_owned(),
            args_format: String::new(),
        }
    }

    /// The parameter as a JSON schema of an object: `{"properties": …, "required": […], "type": "object"}`.
    pub fn schema(&self) -> Value {
        serde_json::json!({
            "properties": { &self.parameter: { "description": self.parameter_description, "type": "string" } },
            "required": [self.parameter],
            "type": "object",
        })
    }

    /// Finds the argument in a decoded object. With `mend`, a name in another case or form counts, or a single value under any
    /// name; without, every other name is refused. Null, lists and objects count as missing.
    pub fn resolve(&self, args: &Map<String, Value>, mend: bool) -> Result<Resolved, Misfit> {
        if !mend {
            let unknown: Vec<_> = args.keys().filter(|name| **name != self.parameter).cloned().collect();
            if !unknown.is_empty() {
                return Err(Misfit::Unknown(unknown));
            }
        }
        let mut repairs = Vec::new();
        let value = if let Some(value) = args.get(&self.parameter) {
            value
        } else {
            repairs.push(ARGUMENT_NAME);
            self.misnamed(args)?
        };
        let input = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => {
                repairs.push(ARGUMENT_TYPE);
                value.to_string()
            }
            Value::Null | Value::Array(_) | Value::Object(_) => return Err(self.missing()),
        };
        Ok(Resolved { tool: self.tool, input, repairs })
    }

    /// Finds the argument in a text, for systems that pass it on unchanged: a JSON object (in a code fence or not), a JSON
    /// string, or other text without quotes around the whole of it.
    pub fn resolve_text(&self, raw: &str) -> Result<Resolved, Misfit> {
        let text = without_fence(strip(raw));
        let input = match serde_json::from_str(text) {
            Ok(Value::Object(args)) => return self.resolve(&args, true),
            Ok(Value::String(value)) => value,
            _ if text.is_empty() => return Err(self.missing()),
            _ => without_quotes(text).to_owned(),
        };
        Ok(Resolved { tool: self.tool, input, repairs: vec![BARE_ARGUMENT] })
    }

    fn misnamed<'a>(&self, args: &'a Map<String, Value>) -> Result<&'a Value, Misfit> {
        let parameter = folded(&self.parameter);
        if let Some((_, value)) = args.iter().find(|(name, _)| folded(name) == parameter) {
            return Ok(value);
        }
        let mut values = args.values();
        match (values.next(), values.next()) {
            (None, _) => Err(self.missing()),
            (Some(value), None) => Ok(value),
            (Some(_), Some(_)) => Err(Misfit::Unknown(args.keys().cloned().collect())),
        }
    }

    fn missing(&self) -> Misfit {
        Misfit::Missing(self.parameter.clone())
    }
}

pub(super) fn signature(tool: Tool) -> Option<(&'static str, &'static str)> {
    match tool {
        Tool::Search => Some(("Search", "query")),
        Tool::Lookup => Some(("Lookup", "keyword")),
        Tool::Passages => Some(("Passages", "query")),
        Tool::Document => Some(("Document", "id")),
        Tool::Think => Some(("Think", "thought")),
        Tool::Finish | Tool::Invalid | Tool::Other => None,
    }
}

/// One tool as `LlamaIndex` describes it; `schema` is the JSON schema of its arguments.
pub fn describe(name: &str, description: &str, schema: &str) -> String {
    format!("> Tool Name: {name}\nTool Description: {description}\nTool Args: {schema}\n")
}

pub(super) fn descriptions(tools: &[ToolSpec]) -> String {
    let described = tools.iter().map(|tool| describe(&tool.name, &tool.description, &dumps(&tool.schema())));
    described.collect::<Vec<_>>().join("\n")
}

pub(super) fn names(tools: &[ToolSpec]) -> String {
    tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// A name without what distinguishes camel, snake and kebab form.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-' | ' ')).flat_map(char::to_lowercase).collect()
}

/// The inside of a code fence, bare or `json`. Parsers that split at labels often leave only one end of it.
fn without_fence(text: &str) -> &str {
    let text = match text.strip_prefix("```") {
        Some(rest) => match rest.strip_prefix("json").unwrap_or(rest) {
            inside if inside.starts_with(is_python_space) || inside.starts_with(['{', '"']) => inside,
            // The fence of another language belongs to the argument.
            _ => return text,
        },
        None => text,
    };
    text.strip_suffix("```").unwrap_or(text).trim_matches(is_python_space)
}

/// The text without quotes around the whole of it; if they occur inside as well, they may not belong together.
fn without_quotes(text: &str) -> &str {
    [('"', '"'), ('\'', '\''), ('\u{201c}', '\u{201d}')]
        .into_iter()
        .find_map(|(open, close)| {
            let inside = text.strip_prefix(open)?.strip_suffix(close)?;
            (!inside.contains([open, close])).then_some(inside)
        })
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The input and the repairs, or the misfit.
    fn input_and_repairs(call: Result<Resolved, Misfit>) -> Result<(String, Vec<&'static str>), Misfit> {
        call.map(|call| (call.input, call.repairs))
    }

    fn search() -> ToolSpec {
        ToolSpec::new(Tool::Search, "finds pages", "title of a page")
    }

    fn missing() -> Misfit {
        Misfit::Missing("query".to_owned())
    }

    #[test]
    fn arguments_are_found_under_similar_names() {
        const NAME: &[&str] = &[ARGUMENT_NAME];
        for (args, mend, input, repairs) in [
            (json!({ "query": " x " }), true, " x ", &[][..]),
            (json!({ "query": "x" }), false, "x", &[]),
            (json!({ "Query": "a", "n": 5, "query": "x" }), true, "x", &[]),
            (json!({ "n": 5, "QUERY": "x" }), true, "x", NAME),
            (json!({ "n": 5, "quE_R-y": "x" }), true, "x", NAME),
            (json!({ "entity": "x" }), true, "x", NAME),
            (json!({ "query": 1984 }), true, "1984", &[ARGUMENT_TYPE]),
            (json!({ "q": true }), true, "true", &[ARGUMENT_NAME, ARGUMENT_TYPE]),
        ] {
            let call = search().resolve(args.as_object().expect("an object"), mend);
            assert_eq!(input_and_repairs(call), Ok((input.to_owned(), repairs.to_vec())), "{args}");
        }
        let unknown = |names: [&str; 2]| Misfit::Unknown(names.map(str::to_owned).to_vec());
        for (args, mend, misfit) in [
            (json!({ "entity": "x", "n": 5 }), true, unknown(["entity", "n"])),
            (json!({ "z": 1, "query": "x", "Query": "y" }), false, unknown(["z", "Query"])),
            (json!({}), true, missing()),
            (json!({}), false, missing()),
            (json!({ "query": null }), true, missing()),
            (json!({ "query": ["x"] }), true, missing()),
            (json!({ "query": { "type": "string" } }), true, missing()),
        ] {
            assert_eq!(search().resolve(args.as_object().expect("an object"), mend), Err(misfit), "{args}");
        }
    }

    #[test]
    fn text_is_decoded_or_is_the_argument() {
        for (raw, input, repairs) in [
            ("```json\n{\"query\": \"x\"}\n```", "x", &[][..]),
            ("```\n{\"query\": \"x\"}\n```", "x", &[]),
            ("{\"query\": \"x\"}\n```", "x", &[]),
            (r#"{"Query": "x"}"#, "x", &[ARGUMENT_NAME]),
            (r#""a \u4e2d""#, "a 中", &[BARE_ARGUMENT]),
            ("Milhouse\n", "Milhouse", &[BARE_ARGUMENT]),
            ("'Milhouse'", "Milhouse", &[BARE_ARGUMENT]),
            ("'", "'", &[BARE_ARGUMENT]),
            (r#""a" and "b""#, r#""a" and "b""#, &[BARE_ARGUMENT]),
            ("```py\nprint(1)\n```", "```py\nprint(1)\n```", &[BARE_ARGUMENT]),
            ("{query: x}", "{query: x}", &[BARE_ARGUMENT]),
        ] {
            assert_eq!(
                input_and_repairs(search().resolve_text(raw)),
                Ok((input.to_owned(), repairs.to_vec())),
                "{raw:?}"
            );
        }
        for raw in ["{}", r#"{"query": null}"#, " \n"] {
            assert_eq!(search().resolve_text(raw), Err(missing()), "{raw:?}");
        }
        let deep = "{\"query\":".repeat(100_000);
        assert_eq!(search().resolve_text(&deep).map(|call| call.input.len()), Ok(deep.len()));
    }
}
