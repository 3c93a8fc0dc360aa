//! `OpenAI`'s Responses API, which llama.cpp, vLLM and others serve as well.
//!
//! | in a request | how it is sent |
//! |---|---|
//! | a text prompt | as the `input` |
//! | messages | as items with a role; calls and their results as `function_call` and `function_call_output` |
//! | a reply with reasoning before calls | the items as they came: they hold the reasoning, encrypted or as a text |
//! | stops, a seed | left out: the API has neither; the client applies stops |
//! | the limit of tokens | as `max_output_tokens` |
//! | `--reasoning` | as `reasoning`, with a summary; a number of tokens is refused |
//! | functions | as `tools`, with `strict` in any case: the API takes a missing one for true |
//! | what is kept on the server | nothing: `store` is false |
//!
//! With `store` false an item that is named by its id only is not found. So reasoning is sent back where its own content
//! is there, and calls without it are written anew, without ids of items.
//!
//! Sources: the types of the official Python SDK 3.54.0 (`openai/types/responses`),
//! <https://platform.openai.com/docs/api-reference/responses/create>; events:
//! <https://platform.openai.com/docs/api-reference/responses-streaming>; reasoning without a store:
//! <https://developers.openai.com/api/docs/guides/reasoning#encrypted-reasoning-items>,
//! <https://github.com/vercel/ai/issues/7543>, <https://github.com/langchain-ai/langchain/pull/38372>; models that refuse
//! to encrypt: <https://github.com/pydantic/pydantic-ai/issues/2865>; `strict`:
//! <https://developers.openai.com/api/docs/guides/function-calling#strict-mode>; messages of the model's without an id:
//! <https://github.com/openai/openai-java/issues/585>, <https://github.com/openai/codex/issues/12669>.

use super::answer::arguments_text;
use super::response_reasoning;
use crate::base::finish::REFUSAL;
use crate::base::{
    FinishReason, Function, FunctionCall, Functions, Message, Prompt, Reasoning, Request, RequestOption,
    RequestOptions, Usage, Verbatim,
};
use crate::models::remote::answer::{count, is_error, parse_event, read, string, usage};
use crate::models::remote::interface::{Decoded, Fault, Progress};
use crate::models::remote::interface::{EncodeResult, EncodedRequest, set_fields, streams, temperature, top_p};
use crate::net::Answer;
use serde_json::{Value, json};

pub(super) const ENDPOINT: &str = "responses";
pub(super) const LIMIT: &str = "max_output_tokens";

pub(super) fn encode(
    model: &str,
    request: &Request,
    usual_top_p: Option<f64>,
    refused: RequestOptions,
    watched: bool,
) -> EncodeResult {
    use RequestOption::{Include, MaxTokens, ParallelCalls, Stream, Summary, Temperature, TopP};
    let (decoding, functions) = (&request.decoding, request.functions.as_deref());
    let takes = |option| !refused.contains(option);
    let (temperature, top_p) = (temperature(decoding, refused), top_p(decoding, usual_top_p, refused));
    let stream = streams(watched, 0, request, refused);
    let one_call = functions.is_some_and(|functions| !functions.parallel) && takes(ParallelCalls);
    let summary = decoding.reasoning.is_some_and(Reasoning::is_on) && takes(Summary);
    // Only a reply with calls is followed by another request.
    let include = functions.is_some() && takes(Include);
    let sent = [
        (Temperature, temperature.is_some()),
        (TopP, top_p.is_some()),
        (MaxTokens, takes(MaxTokens)),
        (Stream, stream),
        (ParallelCalls, one_call),
        (Summary, summary),
        (Include, include),
    ];
    let input = match &request.prompt {
        Prompt::Text { .. } => json!(request.prompt.to_text()),
        Prompt::Messages(messages) => messages.iter().flat_map(items).collect(),
    };
    let body = set_fields(json!({
        "model": model,
        "input": input,
        "tools": functions.map(tools),
        "tool_choice": functions.filter(|functions| functions.required).map(|_| "required"),
        "parallel_tool_calls": one_call.then_some(false),
        "temperature": temperature,
        "top_p": top_p,
        "max_output_tokens": takes(MaxTokens).then_some(decoding.max_tokens),
        "include": include.then_some(["reasoning.encrypted_content"]),
        "reasoning": decoding.reasoning.and_then(|asked| response_reasoning(asked, summary)),
        "store": false,
        "stream": stream.then_some(true),
    }));
    Ok(EncodedRequest { body: serde_json::to_vec(&body)?, sent: sent.into(), label: String::new() })
}

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

// Decodes answers, leniently where nothing depends on it.
//
// | in an answer | in the completion |
// |---|---|
// | items `message` | the text; a refusal in place of it, with the finish reason `refusal` |
// | items `function_call` | calls |
// | items `reasoning` | their summary or content is left out of the text, and kept apart; beside calls, all items are kept as they were written, if one of these holds its own content |
// | other items and events | nothing |
// | `status`, and the reason of `incomplete` | as the table of [`FinishReason`] has it; with calls, `completed` is `tool_calls` |
// | `failed`, an `error` | an error, as if the answer had its status |
// | `usage` absent or not made of numbers | none |

/// The type of an item with reasoning, and where reasoning is found.
const REASONING: &str = "reasoning";
const REASONING_TOKENS: &str = "reasoning_tokens";
const INPUT_DETAILS: &str = "input_tokens_details";
const OUTPUT_DETAILS: &str = "output_tokens_details";

pub(super) fn decode(answer: &Answer) -> Result<Decoded, Fault> {
    let mut body: Value = read(answer)?;
    failed(&body)?;
    let Value::Array(items) = body["output"].take() else { return Err("`output` is missing".into()) };
    let mut decoded = Decoded { text: items.iter().map(text_of_item).collect(), ..Decoded::default() };
    for item in &items {
        think(item, &mut decoded);
    }
    complete(&body, items, &mut decoded);
    Ok(decoded)
}

pub(super) fn event(data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
    let mut event: Value = parse_event(data)?;
    let delta = || event["delta"].as_str().unwrap_or_default().to_owned();
    match event["type"].as_str().unwrap_or_default() {
        "response.created" | "response.in_progress" => progress.started = true,
        "response.output_text.delta" | "response.refusal.delta" => {
            progress.has_text = true;
            return Ok(delta());
        }
        "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
            progress.rest.reasoned(REASONING, &delta());
        }
        // Parts of a summary are paragraphs.
        "response.reasoning_summary_part.added" if has_thought(&progress.rest) => {
            progress.rest.reasoned(REASONING, "\n\n");
        }
        "response.output_item.done" => {
            let item = event["item"].take();
            if !has_thought(&progress.rest) {
                think(&item, &mut progress.rest);
            }
            progress.rest.calls.extend(call(&item));
            progress.blocks.push(item);
        }
        "response.completed" | "response.incomplete" | "response.failed" => {
            return end(event["response"].take(), progress);
        }
        "error" => return Err(Fault::reported(data)),
        // Servers that fail before they begin.
        "" => failed(&event)?,
        _ => {}
    }
    Ok(String::new())
}

/// The end of a stream: the whole answer once more. Some servers leave its items out, others what came before.
fn end(mut body: Value, progress: &mut Progress) -> Result<String, Fault> {
    failed(&body)?;
    let items = match body["output"].take() {
        Value::Array(items) if !items.is_empty() => items,
        _ => std::mem::take(&mut progress.blocks),
    };
    let text = if progress.has_text { String::new() } else { items.iter().map(text_of_item).collect() };
    complete(&body, items, &mut progress.rest);
    (progress.started, progress.ended) = (true, true);
    Ok(text)
}

fn failed(body: &Value) -> Result<(), Fault> {
    match body["status"].as_str() {
        _ if is_error(&body["error"]) => Err(Fault::reported(body.to_string().as_bytes())),
        Some(status @ ("failed" | "cancelled" | "queued" | "in_progress")) => {
            Err(format!("the status of the response is `{status}`").into())
        }
        _ => Ok(()),
    }
}

fn complete(body: &Value, items: Vec<Value>, decoded: &mut Decoded) {
    let refused = items.iter().flat_map(parts).any(|part| part["type"] == "refusal");
    decoded.calls = items.iter().filter_map(call).collect();
    decoded.finish_reason = match (body["status"].as_str(), string(&body["incomplete_details"]["reason"])) {
        _ if refused => Some(REFUSAL.to_owned()),
        (Some("completed"), None) if !decoded.calls.is_empty() => Some("tool_calls".to_owned()),
        (status, reason) => reason.as_deref().or(status).and_then(FinishReason::recorded),
    };
    let counted = &body["usage"];
    decoded.counted_reasoning(&counted[OUTPUT_DETAILS], REASONING_TOKENS);
    decoded.usage = usage(counted, "input_tokens", "output_tokens").map(|usage| Usage {
        cached_tokens: count(&counted[INPUT_DETAILS], "cached_tokens"),
        cache_write_tokens: count(&counted[INPUT_DETAILS], "cache_write_tokens"),
        reasoning_tokens: count(&counted[OUTPUT_DETAILS], REASONING_TOKENS),
        ..usage
    });
    decoded.model = string(&body["model"]);
    let reasoning: Vec<&Value> = items.iter().filter(|item| item["type"] == REASONING).collect();
    // Without a store on the server, an item that is only an id would not be found.
    let whole = |item: &&Value| {
        let encrypted = item["encrypted_content"].as_str().is_some_and(|text| !text.is_empty());
        encrypted || item["content"].as_array().is_some_and(|content| !content.is_empty())
    };
    if !reasoning.is_empty() && reasoning.iter().all(whole) {
        decoded.verbatim = Some(Verbatim { endpoint: ENDPOINT.to_owned(), content: Value::Array(items) });
    }
}

fn parts(item: &Value) -> impl Iterator<Item = &Value> {
    Some(item)
        .filter(|item| item["type"] == "message")
        .and_then(|item| item["content"].as_array())
        .into_iter()
        .flatten()
}

/// What an item says: the text of a message, or the words of a refusal.
fn text_of_item(item: &Value) -> String {
    let text = |part: &Value| part["text"].as_str().or_else(|| part["refusal"].as_str()).map(str::to_owned);
    parts(item).filter_map(text).collect()
}

/// Notes the reasoning of an item, if it is one: its content, where the server shows it, or else the summary.
fn think(item: &Value, decoded: &mut Decoded) {
    if item["type"] != REASONING {
        return;
    }
    let texts = |name: &str| {
        let list = item[name].as_array().into_iter().flatten();
        list.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n\n")
    };
    let content = texts("content");
    let thought = if content.is_empty() { texts("summary") } else { content };
    let gap = if has_thought(decoded) && !thought.is_empty() { "\n\n" } else { "" };
    decoded.reasoned(REASONING, &[gap, &thought].concat());
}

fn has_thought(decoded: &Decoded) -> bool {
    decoded.reasoning.as_ref().is_some_and(|reasoning| !reasoning.text.is_empty())
}

fn call(item: &Value) -> Option<FunctionCall> {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let arguments = arguments_text(&item["arguments"]);
    (item["type"] == "function_call").then(|| FunctionCall { id: text("call_id"), name: text("name"), arguments })
}
