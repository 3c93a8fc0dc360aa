//! Encodes a request as JSON.

use super::ENDPOINT;
use crate::llm::openai::body::Body;
use crate::llm::openai::reasoning;
use crate::types::{Function, FunctionCall, Functions, Message, Prompt, Request, RequestOption, RequestOptions};
use serde::Serialize;
use serde_json::{Value, json};

/// What follows the prompt.
#[derive(Serialize)]
struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    include: Option<[&'static str; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Value>,
    store: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

/// The JSON to send, with the options of `sent`.
pub(super) fn bytes(model: &str, request: &Request, sent: RequestOptions) -> serde_json::Result<Vec<u8>> {
    use RequestOption::{Include, MaxTokens, ParallelCalls, Stream, Summary, Temperature, TopP};
    let decoding = &request.decoding;
    let functions = request.functions.as_deref();
    let settings = Settings {
        tools: functions.map(tools),
        tool_choice: functions.filter(|functions| functions.required).map(|_| "required"),
        parallel_tool_calls: sent.contains(ParallelCalls).then_some(false),
        temperature: sent.contains(Temperature).then_some(decoding.temperature),
        top_p: sent.contains(TopP).then_some(decoding.top_p),
        max_output_tokens: sent.contains(MaxTokens).then_some(decoding.max_tokens),
        include: sent.contains(Include).then_some(["reasoning.encrypted_content"]),
        reasoning: decoding.reasoning.and_then(|asked| reasoning::response_reasoning(asked, sent.contains(Summary))),
        store: false,
        stream: sent.contains(Stream),
    };
    let mut body = Body::begin(model, &request.prompt)?;
    body.raw(",\"input\":");
    match &request.prompt {
        Prompt::Text { prefix, rest } => body.string(prefix, rest)?,
        Prompt::Messages(messages) => {
            body.value(&messages.iter().flat_map(items).collect::<Vec<_>>())?;
        }
    }
    body.end(&settings)
}

/// The items of a message.
fn items(message: &Message) -> Vec<Value> {
    if let Some(verbatim) = message.verbatim.as_ref().filter(|verbatim| verbatim.endpoint == ENDPOINT) {
        return verbatim.content.as_array().cloned().unwrap_or_default();
    }
    if let Some(id) = &message.answers {
        return vec![json!({ "type": "function_call_output", "call_id": id, "output": message.content })];
    }
    let said = json!({ "type": "message", "role": message.role, "content": message.content });
    let calls = message.calls.iter().map(|call| {
        let FunctionCall { id, name, arguments } = call;
        json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments })
    });
    // A reply of calls alone says nothing.
    let silent = message.content.is_empty() && !message.calls.is_empty();
    Some(said).filter(|_| !silent).into_iter().chain(calls).collect()
}

fn tools(functions: &Functions) -> Vec<Value> {
    let tool = |function: &Function| {
        let Function { name, description, parameters } = function;
        json!({
            "type": "function", "name": name, "description": description, "parameters": parameters,
            "strict": functions.strict
        })
    };
    functions.list.iter().map(tool).collect()
}
