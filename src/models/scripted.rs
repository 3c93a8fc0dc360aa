//! The APIs of models' providers, as other programs call them, and a model behind each that is a script, for looking at how
//! a program asks: it calls the first function that it is offered, then answers, in the form of the API that asks.

use super::{CompletionFuture, Model, ModelError, OnEvent};
use crate::base::{Completion, FunctionCall, Request, Usage, Verbatim, named};
use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};

named! {
    /// An API by which programs ask a model, by the name of its endpoint, under which records have it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Api {
        Chat = "chat",
        Completions = "completions",
        Responses = "responses",
        Messages = "messages",
        GenerateContent = "generateContent",
    }
}

impl Api {
    /// The provider, as a model's name begins with it: `openai`, `anthropic` or `gemini`.
    pub fn provider(self) -> &'static str {
        match self {
            Self::Chat | Self::Completions | Self::Responses => "openai",
            Self::Messages => "anthropic",
            Self::GenerateContent => "gemini",
        }
    }

    /// An error as the API's clients read it.
    pub fn error(self, status: u16, message: &str) -> Value {
        match self {
            Self::Chat | Self::Completions | Self::Responses => {
                json!({ "error": { "message": message, "type": kind(status), "param": null, "code": null } })
            }
            Self::Messages => json!({ "type": "error", "error": { "type": kind(status), "message": message } }),
            Self::GenerateContent => {
                json!({ "error": { "code": status, "message": message, "status": "INVALID_ARGUMENT" } })
            }
        }
    }
}

fn kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

pub const ANSWER: &str = "a scripted answer";
/// What it gives each argument of a function but that of the answer's.
const ARGUMENT: &str = "Hafnium";
/// Functions that give the answer, by the usual names.
const FINAL: [&str; 4] = ["submit", "final_answer", "finish", "answer"];
#[derive(Debug)]
pub struct Scripted(pub Api);

enum Reply {
    Text,
    Call(String, Value),
}

impl Model for Scripted {
    fn complete<'a>(&'a self, request: &'a Request, _on_event: Option<OnEvent<'a>>) -> CompletionFuture<'a> {
        let answer = || {
            let body: Map<String, Value> = serde_json::from_str(&request.prompt.to_text())
                .map_err(|error| ModelError::Other(format!("the request is not JSON: {error}")))?;
            let stream = request.forwarded.as_ref().is_some_and(|forwarded| forwarded.stream);
            Ok(self.completion(&body, stream))
        };
        std::future::ready(answer()).boxed()
    }
}

impl Scripted {
    fn completion(&self, body: &Map<String, Value>, stream: bool) -> Completion {
        let reply = next_reply(body);
        let whole = whole(self.0, &reply);
        let written = if stream { events(self.0, &reply, &whole, counts(body)) } else { whole.to_string() };
        let finish_reason = Some(chat_end(&reply).to_owned());
        let (text, calls) = match reply {
            Reply::Text => (ANSWER.to_owned(), Vec::new()),
            Reply::Call(name, arguments) => {
                (String::new(), vec![FunctionCall { id: "call_1".to_owned(), name, arguments: arguments.to_string() }])
            }
        };
        Completion {
            verbatim: Some(Verbatim { endpoint: self.0.name().to_owned(), content: written.into() }),
            finish_reason,
            text,
            calls,
            usage: Some(usage()),
            attempts: 1,
            ..Completion::default()
        }
    }
}

fn has_result(body: &Map<String, Value>) -> bool {
    let lists = ["messages", "input", "contents"].into_iter().filter_map(|name| body.get(name)?.as_array());
    let text = lists.map(|list| Value::from(list.clone()).to_string()).collect::<String>();
    ["\"role\":\"tool\"", "\"function_call_output\"", "\"tool_result\"", "\"functionResponse\""]
        .iter()
        .any(|mark| text.contains(mark))
}

/// The functions that are offered, each with its name and the schema of its arguments, as any of the APIs writes them.
fn functions(body: &Map<String, Value>) -> Vec<(String, Value)> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    let declared = |tool: &Value| match tool.get("functionDeclarations").and_then(Value::as_array) {
        Some(declared) => declared.clone(),
        None => vec![tool.get("function").unwrap_or(tool).clone()],
    };
    let named = |function: Value| {
        let schema =
            ["parameters", "input_schema", "parametersJsonSchema"].into_iter().find_map(|name| function.get(name));
        Some((function.get("name")?.as_str()?.to_owned(), schema.cloned().unwrap_or_default()))
    };
    tools.flat_map(declared).filter_map(named).collect()
}

/// Searches where there is a function for it and nothing was found yet; then answers, by a function where there is one.
fn next_reply(body: &Map<String, Value>) -> Reply {
    let functions = functions(body);
    let is_final = |(name, _): &&(String, Value)| FINAL.contains(&name.as_str());
    let first = functions.iter().find(|function| !is_final(function)).filter(|_| !has_result(body));
    let chosen = first.or_else(|| functions.iter().find(is_final));
    chosen.map_or(Reply::Text, |function| {
        let value = if is_final(&function) { ANSWER } else { ARGUMENT };
        Reply::Call(function.0.clone(), arguments(&function.1, value))
    })
}

/// Arguments that a schema requires: this text, and 1 for numbers.
fn arguments(schema: &Value, text: &str) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let value =
        |name: &str| match schema["properties"][name]["type"].as_str().unwrap_or_default().to_lowercase().as_str() {
            "integer" | "number" => json!(1),
            "boolean" => json!(true),
            "array" => json!([text]),
            _ => json!(text),
        };
    required.map(|name| (name.to_owned(), value(name))).collect::<Map<_, _>>().into()
}

fn whole(api: Api, reply: &Reply) -> Value {
    match api {
        Api::Chat => json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [{ "index": 0, "message": message(reply, false), "finish_reason": chat_end(reply) }],
            "usage": chat_usage(),
        }),
        Api::Completions => json!({
            "id": "cmpl-1", "object": "text_completion", "created": 0, "model": "scripted",
            "choices": [{ "index": 0, "text": ANSWER, "finish_reason": "stop" }], "usage": chat_usage(),
        }),
        Api::Responses => json!({
            "id": "resp_1", "object": "response", "created_at": 0, "model": "scripted", "status": "completed",
            "output": [output_item(reply)], "parallel_tool_calls": true, "tool_choice": "auto", "tools": [], "error": null,
            "usage": {
                "input_tokens": usage().prompt_tokens, "output_tokens": usage().completion_tokens,
                "total_tokens": usage().total(), "input_tokens_details": { "cached_tokens": 0 },
                "output_tokens_details": { "reasoning_tokens": 0 },
            },
        }),
        Api::Messages => json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [block(reply)],
            "stop_reason": message_end(reply), "stop_sequence": null,
            "usage": { "input_tokens": usage().prompt_tokens, "output_tokens": usage().completion_tokens },
        }),
        Api::GenerateContent => json!({
            "candidates": [{
                "content": { "role": "model", "parts": [part(reply)] }, "finishReason": "STOP", "index": 0,
            }],
            "usageMetadata": {
                "promptTokenCount": usage().prompt_tokens, "candidatesTokenCount": usage().completion_tokens,
                "totalTokenCount": usage().total(),
            },
            "modelVersion": "scripted",
        }),
    }
}

/// Whether a stream of chat completions is to end with the tokens used.
fn counts(body: &Map<String, Value>) -> bool {
    body.get("stream_options").is_some_and(|options| options["include_usage"] == true)
}

fn events(api: Api, reply: &Reply, whole: &Value, with_usage: bool) -> String {
    let data = |event: &Value| format!("data: {event}\n\n");
    let typed = |event: &Value| format!("event: {}\n{}", event["type"].as_str().unwrap_or_default(), data(event));
    let with_choices = |choices: Value| {
        let mut chunk = whole.clone();
        chunk["object"] = json!("chat.completion.chunk");
        (chunk["choices"], chunk["usage"]) = (choices, Value::Null);
        chunk
    };
    match api {
        Api::Chat => {
            let usage = json!({ "usage": chat_usage(), "choices": [], "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "scripted" });
            let delta = with_choices(json!([{ "index": 0, "delta": message(reply, true), "finish_reason": null }]));
            let end = with_choices(json!([{ "index": 0, "delta": {}, "finish_reason": chat_end(reply) }]));
            let usage = Some(usage).filter(|_| with_usage);
            [delta, end].iter().chain(&usage).map(data).collect::<String>() + "data: [DONE]\n\n"
        }
        Api::Completions => data(whole) + "data: [DONE]\n\n",
        Api::Responses => response_events(reply, whole).iter().map(typed).collect(),
        Api::Messages => message_events(reply, whole).iter().map(typed).collect(),
        Api::GenerateContent => format!("data: {whole}\r\n\r\n"),
    }
}

fn response_events(reply: &Reply, whole: &Value) -> Vec<Value> {
    let mut begun = whole.clone();
    (begun["status"], begun["output"]) = (json!("in_progress"), json!([]));
    let item = output_item(reply);
    let mut begun_item = item.clone();
    begun_item["status"] = json!("in_progress");
    match reply {
        Reply::Text => begun_item["content"] = json!([]),
        Reply::Call(..) => begun_item["arguments"] = json!(""),
    }
    let delta = match reply {
        Reply::Text => json!({
            "type": "response.output_text.delta", "sequence_number": 2, "item_id": "item_1", "output_index": 0,
            "content_index": 0, "delta": ANSWER, "logprobs": [],
        }),
        Reply::Call(_, arguments) => json!({
            "type": "response.function_call_arguments.delta", "sequence_number": 2, "item_id": "item_1",
            "output_index": 0, "delta": arguments.to_string(),
        }),
    };
    vec![
        json!({ "type": "response.created", "sequence_number": 0, "response": begun }),
        json!({ "type": "response.output_item.added", "sequence_number": 1, "output_index": 0, "item": begun_item }),
        delta,
        json!({ "type": "response.output_item.done", "sequence_number": 3, "output_index": 0, "item": item }),
        json!({ "type": "response.completed", "sequence_number": 4, "response": whole }),
    ]
}

fn message_events(reply: &Reply, whole: &Value) -> Vec<Value> {
    let mut begun = whole.clone();
    (begun["content"], begun["stop_reason"]) = (json!([]), Value::Null);
    let (field, nothing, delta) = match reply {
        Reply::Text => ("text", json!(""), json!({ "type": "text_delta", "text": ANSWER })),
        Reply::Call(_, arguments) => {
            ("input", json!({}), json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }))
        }
    };
    let mut empty = block(reply);
    empty[field] = nothing;
    vec![
        json!({ "type": "message_start", "message": begun }),
        json!({ "type": "content_block_start", "index": 0, "content_block": empty }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({
            "type": "message_delta", "delta": { "stop_reason": message_end(reply), "stop_sequence": null },
            "usage": { "output_tokens": usage().completion_tokens },
        }),
        json!({ "type": "message_stop" }),
    ]
}

fn usage() -> Usage {
    Usage::new(7, 3)
}

fn chat_usage() -> Value {
    json!({
        "prompt_tokens": usage().prompt_tokens, "completion_tokens": usage().completion_tokens, "total_tokens": usage().total(),
    })
}

fn chat_end(reply: &Reply) -> &'static str {
    if matches!(reply, Reply::Text) { "stop" } else { "tool_calls" }
}

fn message_end(reply: &Reply) -> &'static str {
    if matches!(reply, Reply::Text) { "end_turn" } else { "tool_use" }
}

/// The message of a chat completion, or the piece of one in a stream.
fn message(reply: &Reply, streamed: bool) -> Value {
    match reply {
        Reply::Text => json!({ "role": "assistant", "content": ANSWER }),
        Reply::Call(name, arguments) => {
            let mut call = json!({
                "id": "call_1", "type": "function", "function": { "name": name, "arguments": arguments.to_string() },
            });
            if streamed {
                call["index"] = json!(0);
            }
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
    }
}

fn output_item(reply: &Reply) -> Value {
    match reply {
        Reply::Text => json!({
            "type": "message", "id": "item_1", "status": "completed", "role": "assistant",
            "content": [{ "type": "output_text", "text": ANSWER, "annotations": [], "logprobs": [] }],
        }),
        Reply::Call(name, arguments) => json!({
            "type": "function_call", "id": "item_1", "call_id": "call_1", "name": name,
            "arguments": arguments.to_string(), "status": "completed",
        }),
    }
}

fn block(reply: &Reply) -> Value {
    match reply {
        Reply::Text => json!({ "type": "text", "text": ANSWER }),
        Reply::Call(name, arguments) => json!({ "type": "tool_use", "id": "call_1", "name": name, "input": arguments }),
    }
}

fn part(reply: &Reply) -> Value {
    match reply {
        Reply::Text => json!({ "text": ANSWER }),
        Reply::Call(name, arguments) => json!({ "functionCall": { "name": name, "args": arguments } }),
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, Reply, Scripted, functions, next_reply};
    use crate::models::Api;
    use serde_json::{Value, json};

    fn reply(api: Api, body: &Value, stream: bool) -> String {
        let completion = Scripted(api).completion(body.as_object().expect("an object"), stream);
        completion.verbatim.and_then(|reply| reply.content.as_str().map(str::to_owned)).expect("a reply")
    }

    #[test]
    fn functions_are_found_in_the_form_of_each_api() {
        let schema = json!({"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]});
        for tools in [
            json!([{"type": "function", "function": {"name": "search", "parameters": schema}}]),
            json!([{"type": "function", "name": "search", "parameters": schema}]),
            json!([{"name": "search", "input_schema": schema}]),
            json!([{"functionDeclarations": [{"name": "search", "parameters": schema}]}]),
        ] {
            let body = json!({ "tools": tools });
            let found = functions(body.as_object().expect("an object"));
            assert_eq!(found, [("search".to_owned(), schema.clone())], "{tools}");
        }
    }

    #[test]
    fn it_searches_once_and_then_answers() {
        let search = json!({"type": "function", "function": {"name": "search", "parameters": {"required": ["query"]}}});
        let submit =
            json!({"type": "function", "function": {"name": "submit", "parameters": {"required": ["answer"]}}});
        let asked =
            |messages: Value, tools: &[&Value]| reply(Api::Chat, &json!({"messages": messages, "tools": tools}), false);
        let first = asked(json!([{"role": "user", "content": "Who?"}]), &[&submit, &search]);
        assert!(first.contains(r#""name":"search","arguments":"{\"query\":\"Hafnium\"}""#), "{first}");
        let found = json!([{"role": "user", "content": "Who?"}, {"role": "tool", "content": "x"}]);
        assert!(asked(found.clone(), &[&submit, &search]).contains(r#""name":"submit""#));
        assert!(asked(found, &[&search]).contains(&format!(r#""content":"{ANSWER}""#)));
        let body = json!({"messages": []});
        assert!(matches!(next_reply(body.as_object().expect("an object")), Reply::Text));
    }
}
