//! A reply that is a JSON object: a thought with an action, or with a conclusion.

use super::super::python::{JsonError, loads};
use super::super::{Arguments, Kind, Parsed};
use crate::types::python::is_python_space;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The word that ends a conversation, as a key or anywhere in the text.
const CONCLUSION: &str = "conclusion";
/// Values that upstream takes for an unfilled form.
const PLACEHOLDERS: [&str; 6] = ["str", "int", "float", "bool", "list", "dict"];

/// What stands in a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) thought: String,
    pub(super) body: Body,
    /// Whether the conversation ends here. The word alone is enough, so a tool call may be the end as well.
    pub(super) last: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Action { name: String, parameters: Map<String, Value> },
    Conclusion(String),
}

/// Reads a reply; what cannot be read is an exception upstream, given as `Type: message`.
pub(super) fn reply(text: &str) -> Result<Reply, String> {
    let value = loads(&without_comments(text)).map_err(|error| match error {
        JsonError::Syntax => "ValueError: Input string is not a valid JSON.".to_owned(),
        JsonError::Depth | JsonError::Digits => error.exception().to_owned(),
    })?;
    let neither =
        || "UnboundLocalError: cannot access local variable 'model' where it is not associated with a value".to_owned();
    let Value::Object(fields) = value else { return Err(neither()) };
    let Some(Value::String(thought)) = fields.get("thought_process") else { return Err(neither()) };
    let (field, body) = if let Some(action) = fields.get("action").and_then(action) {
        ("action", action)
    } else if let Some(Value::String(conclusion)) = fields.get(CONCLUSION) {
        (CONCLUSION, Body::Conclusion(conclusion.clone()))
    } else {
        return Err(neither());
    };
    let is_placeholder = |value: &Value| value.as_str().is_some_and(|text| PLACEHOLDERS.contains(&text));
    let unfilled = fields
        .iter()
        .find(|(name, value)| ["thought_process", field].contains(&name.as_str()) && is_placeholder(value));
    if let Some((name, _)) = unfilled {
        return Err(format!("ValueError: Field '{name}' is required but not provided"));
    }
    let last = text.contains(CONCLUSION) || matches!(body, Body::Conclusion(_));
    Ok(Reply { thought: thought.clone(), body, last })
}

fn action(value: &Value) -> Option<Body> {
    let name = value.get("name")?.as_str()?.to_owned();
    let parameters = value.get("parameters")?.as_object()?.clone();
    Some(Body::Action { name, parameters })
}

/// The text without the lines that are comments.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| line.trim_matches(is_python_space).starts_with("//");
    text.split('\n').filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

/// The parameters as the model wrote them; empty where its text is not strict JSON.
fn written(text: &str) -> String {
    #[derive(Deserialize)]
    struct Whole {
        action: Action,
    }
    #[derive(Deserialize)]
    struct Action {
        parameters: Box<RawValue>,
    }
    let whole = serde_json::from_str::<Whole>(&without_comments(text));
    whole.map_or_else(|_| String::new(), |whole| whole.action.parameters.get().to_owned())
}

/// A reply in the common form.
pub(super) fn parsed(text: &str) -> Parsed {
    match reply(text) {
        Err(exception) => Parsed::invalid(exception),
        Ok(Reply { thought, body: Body::Conclusion(answer), .. }) => Parsed::finish(Some(thought), answer),
        Ok(Reply { thought, last: true, .. }) => Parsed { thought: Some(thought), ..Parsed::new(Kind::Finish) },
        Ok(Reply { thought, body: Body::Action { name, parameters }, .. }) => {
            let args = Some(Arguments::new(parameters, &written(text)));
            Parsed { thought: Some(thought), tool: Some(name), args, ..Parsed::new(Kind::Act) }
        }
    }
}
