//! How a chat is told how much to reason, by family of server.

use crate::llm::Unsupported;
use crate::llm::capability::{Capability, Control, SERVERS};
use crate::types::Reasoning;
use serde_json::{Map, Value, json};

/// The word for how much, where it has one.
fn effort(reasoning: Reasoning) -> Option<&'static str> {
    reasoning.name().map(|name| if reasoning.is_on() { name } else { "none" })
}

/// The field `reasoning` of the Responses API, with a summary of what the model thought if that is wanted; nothing for a
/// number of tokens.
pub(super) fn response_reasoning(reasoning: Reasoning, summary: bool) -> Option<Value> {
    let effort = effort(reasoning)?;
    Some(if summary { json!({ "effort": effort, "summary": "auto" }) } else { json!({ "effort": effort }) })
}

/// The fields that say so beside the messages; nothing if the server has none for it.
pub(super) fn reasoning_fields(control: Control, reasoning: Reasoning) -> Option<Map<String, Value>> {
    let on = reasoning.is_on();
    let effort = effort(reasoning);
    let fields = match (control, reasoning.budget()) {
        (Control::Effort, None) => json!({ "reasoning_effort": effort }),
        (Control::Template(path), Some(budget)) => {
            let mut fields = json!({ "chat_template_kwargs": { "enable_thinking": true } });
            *path.iter().fold(&mut fields, |inner, name| &mut inner[name]) = json!(budget);
            fields
        }
        (Control::Template(_), None) if on => {
            json!({ "reasoning_effort": effort, "chat_template_kwargs": { "enable_thinking": true } })
        }
        (Control::Template(_), None) => json!({ "chat_template_kwargs": { "enable_thinking": false } }),
        (Control::OpenRouter, Some(budget)) => json!({ "reasoning": { "max_tokens": budget } }),
        (Control::OpenRouter, None) => json!({ "reasoning": { "effort": effort } }),
        (Control::DashScope, Some(budget)) => json!({ "enable_thinking": true, "thinking_budget": budget }),
        (Control::DashScope, None) if !on => json!({ "enable_thinking": false }),
        (Control::DeepSeek, None) if on => json!({ "thinking": { "type": "enabled" }, "reasoning_effort": effort }),
        (Control::DeepSeek, None) => json!({ "thinking": { "type": "disabled" } }),
        (Control::Effort | Control::DeepSeek, Some(_)) | (Control::DashScope, None) => return None,
    };
    match fields {
        Value::Object(fields) => Some(fields),
        _ => None,
    }
}

/// Why the server cannot be told so, if it cannot.
pub(super) fn unsupported_reasoning(server: &Capability, reasoning: Reasoning) -> Option<Unsupported> {
    if reasoning_fields(server.control, reasoning).is_some() {
        return None;
    }
    let hint = if reasoning.budget().is_some() {
        let able = SERVERS.iter().filter(|row| reasoning_fields(row.control, reasoning).is_some());
        let names: Vec<&str> = able.map(|row| row.name).collect();
        format!("use off, low, medium or high, or name the server with --server: {}", names.join(", "))
    } else {
        "use off, or a number of tokens such as --reasoning 4096".to_owned()
    };
    Some(Unsupported { reason: format!("--server {} has no setting for --reasoning {reasoning}", server.name), hint })
}
