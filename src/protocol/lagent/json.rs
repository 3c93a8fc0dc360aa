//! A reply that is a JSON object: a thought with an action, or with a conclusion.

use super::super::model_json::{self, Dict, Item};
use super::super::{Arguments, Kind, Parsed};
use crate::types::python::is_python_space;

/// The word that ends a conversation, as a key or anywhere in the text.
const CONCLUSION: &str = "conclusion";
/// Values that upstream takes for an unfilled form.
const PLACEHOLDERS: [&str; 6] = ["str", "int", "float", "bool", "list", "dict"];

#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonReply {
    pub(super) thought: String,
    pub(super) body: JsonBody,
    /// Whether the conversation ends here. The word alone is enough, so a tool call may be the end as well.
    pub(super) last: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonBody {
    Action { name: String, parameters: Dict },
    Conclusion(String),
}

/// Reads a reply; what cannot be read is an exception upstream, given as `Type: message`.
pub(super) fn json_reply(text: &str) -> Result<JsonReply, String> {
    let item = model_json::value(&without_comments(text)).ok_or("ValueError: Input string is not a valid JSON.")?;
    let neither = "UnboundLocalError: cannot access local variable 'model' where it is not associated with a value";
    let fields = item.as_dict().ok_or(neither)?;
    let text_of = |field: &str| fields.get(field).and_then(Item::as_text);
    let thought = text_of("thought_process").ok_or(neither)?;
    let (field, body) = match (fields.get("action").and_then(json_action), text_of(CONCLUSION)) {
        (Some(action), _) => ("action", action),
        (None, Some(conclusion)) => (CONCLUSION, JsonBody::Conclusion(conclusion.to_owned())),
        (None, None) => return Err(neither.to_owned()),
    };
    let is_unfilled = |(name, item): &&(String, Item)| {
        ["thought_process", field].contains(&name.as_str())
            && item.as_text().is_some_and(|text| PLACEHOLDERS.contains(&text))
    };
    if let Some((name, _)) = fields.0.iter().find(is_unfilled) {
        return Err(format!("ValueError: Field '{name}' is required but not provided"));
    }
    let last = text.contains(CONCLUSION) || matches!(body, JsonBody::Conclusion(_));
    Ok(JsonReply { thought: thought.to_owned(), body, last })
}

fn json_action(item: &Item) -> Option<JsonBody> {
    let action = item.as_dict()?;
    let name = action.get("name")?.as_text()?.to_owned();
    Some(JsonBody::Action { name, parameters: action.get("parameters")?.as_dict()?.clone() })
}

/// The text without the lines that are comments.
fn without_comments(text: &str) -> String {
    let is_comment = |line: &&str| line.trim_matches(is_python_space).starts_with("//");
    text.split('\n').filter(|line| !is_comment(line)).collect::<Vec<_>>().join("\n")
}

pub(super) fn json_parsed(text: &str) -> Parsed {
    match json_reply(text) {
        Err(exception) => Parsed::invalid(exception),
        Ok(JsonReply { thought, body: JsonBody::Conclusion(answer), .. }) => Parsed::finish(Some(thought), answer),
        Ok(JsonReply { thought, last: true, .. }) => Parsed { thought: Some(thought), ..Parsed::new(Kind::Finish) },
        Ok(JsonReply { thought, body: JsonBody::Action { name, parameters }, .. }) => {
            let args = Some(Arguments::of(&parameters));
            Parsed { thought: Some(thought), tool: Some(name), args, ..Parsed::new(Kind::Act) }
        }
    }
}
