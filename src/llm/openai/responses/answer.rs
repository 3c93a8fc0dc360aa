//! Decodes answers, leniently where nothing depends on it.
//!
//! | in an answer | in the completion |
//! |---|---|
//! | items `message` | the text; a refusal in place of it, with the finish reason `refusal` |
//! | items `function_call` | calls |
//! | items `reasoning` | their summary or content is left out of the text, and kept apart; beside calls, all items are kept as they were written, if one of these holds its own content |
//! | other items and events | nothing |
//! | `status`, and the reason of `incomplete` | as the table of [`FinishReason`] has it; with calls, `completed` is `tool_calls` |
//! | `failed`, an `error` | an error, as if the answer had its status |
//! | `usage` absent or not made of numbers | none |

use super::ENDPOINT;
use crate::llm::remote::answer::{Decoded, Fault, Progress, count, is_error, parse, read, string, usage};
use crate::llm::remote::refusal::Refusal;
use crate::net::Answer;
use crate::types::finish::REFUSAL;
use crate::types::{FinishReason, FunctionCall, Usage, Verbatim};
use serde_json::Value;

/// The type of an item with reasoning, and where reasoning is found.
const REASONING: &str = "reasoning";
const REASONING_TOKENS: &str = "reasoning_tokens";
const INPUT_DETAILS: &str = "input_tokens_details";
const OUTPUT_DETAILS: &str = "output_tokens_details";

/// Decodes a whole answer; the error says why it is not a completion.
pub(in crate::llm::openai) fn decode(answer: &Answer) -> Result<Decoded, Fault> {
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

/// Decodes one event of a stream.
pub(in crate::llm::openai) fn event(data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
    let mut event: Value = parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))?;
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
        "error" => return Err(Fault::Reported(Refusal::read(data))),
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

/// Why an answer is an error or not finished, if so.
fn failed(body: &Value) -> Result<(), Fault> {
    match body["status"].as_str() {
        _ if is_error(&body["error"]) => Err(Fault::Reported(Refusal::read(body.to_string().as_bytes()))),
        Some(status @ ("failed" | "cancelled" | "queued" | "in_progress")) => {
            Err(format!("the status of the response is `{status}`").into())
        }
        _ => Ok(()),
    }
}

/// Everything of an answer except the text and the reasoning.
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
        cached_tokens: count(&counted[INPUT_DETAILS], "cached_tokens").unwrap_or(0),
        cache_write_tokens: count(&counted[INPUT_DETAILS], "cache_write_tokens").unwrap_or(0),
        reasoning_tokens: count(&counted[OUTPUT_DETAILS], REASONING_TOKENS).unwrap_or(0),
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

/// The parts of a message.
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

/// The call in an item, if it is one.
fn call(item: &Value) -> Option<FunctionCall> {
    let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    let arguments = match &item["arguments"] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        // Some servers do not write the object as a text.
        arguments => arguments.to_string(),
    };
    (item["type"] == "function_call").then(|| FunctionCall { id: text("call_id"), name: text("name"), arguments })
}
