//! Decodes Anthropic's answers.
//!
//! | in an answer | in the completion |
//! |---|---|
//! | content of type `text` | the text |
//! | content of type `tool_use` | a call |
//! | content of type `thinking` or `redacted_thinking` | left out of the text, and kept apart; beside calls, the content as it was written is kept, too |
//! | `stop_reason` | as the table of [`FinishReason`] has it |
//! | `usage` | tokens read from or written to a cache count as prompt tokens, those of reasoning as completion tokens |
//! | a stream that the client stops before the count of tokens | no usage |

use super::ENDPOINT;
use crate::llm::remote::answer::{Decoded, Fault, Progress, count, is_error, parse, read, string};
use crate::llm::remote::refusal::Refusal;
use crate::net::Answer;
use crate::types::{FinishReason, FunctionCall, Usage, Verbatim};
use serde::Deserialize;
use serde_json::{Value, json};

/// The type of a block with reasoning, and the field that holds it.
const THINKING: &str = "thinking";
/// The field of a call with its arguments, and of its pieces in a stream.
const INPUT: &str = "input";
const PARTIAL_JSON: &str = "partial_json";
/// Where in the usage the tokens of reasoning are counted.
const TOKEN_DETAILS: &str = "output_tokens_details";
const THINKING_TOKENS: &str = "thinking_tokens";

#[derive(Deserialize)]
struct AnswerBody {
    #[serde(default, rename = "type")]
    kind: Value,
    content: Option<Vec<Value>>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    error: Value,
}

/// Decodes a whole answer; the error says why it is not a completion.
pub(super) fn decode(answer: &Answer) -> Result<Decoded, Fault> {
    let body: AnswerBody = read(answer)?;
    if body.kind == "error" || is_error(&body.error) {
        return Err(Fault::Reported(Refusal::read(&answer.body)));
    }
    let content = body.content.ok_or("`content` is missing")?;
    let mut decoded = Decoded {
        text: content.iter().map(text).collect(),
        finish_reason: reason(&body.stop_reason),
        usage: used(prompt(&body.usage), &body.usage),
        model: string(&body.model),
        calls: content.iter().filter_map(call).collect(),
        ..Decoded::default()
    };
    for block in content.iter().filter(|block| is_thinking(&block["type"])) {
        decoded.reasoned(THINKING, block[THINKING].as_str().unwrap_or_default());
    }
    decoded.verbatim = decoded.reasoning.is_some().then(|| verbatim(Value::Array(content)));
    Ok(decoded)
}

fn verbatim(content: Value) -> Verbatim {
    Verbatim { endpoint: ENDPOINT.to_owned(), content }
}

/// The call in a block, if it is one.
fn call(block: &Value) -> Option<FunctionCall> {
    let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
    let arguments = match &block["input"] {
        Value::Null => String::new(),
        input => input.to_string(),
    };
    (block["type"] == "tool_use").then(|| FunctionCall { id: text("id"), name: text("name"), arguments })
}

/// Adds a piece of a block of a stream to the blocks so far, which are what a whole answer has as its content.
fn grow(blocks: &mut [Value], delta: &Value) {
    let Some(last) = blocks.last_mut() else { return };
    for (piece, field) in [("text", "text"), (THINKING, THINKING), ("signature", "signature"), (PARTIAL_JSON, INPUT)] {
        if let Some(piece) = delta[piece].as_str() {
            let so_far = last[field].as_str().unwrap_or_default();
            last[field] = Value::String(format!("{so_far}{piece}"));
        }
    }
}

/// Parses the input of a call, which came in pieces of JSON.
fn close(blocks: &mut [Value], calls: &mut Vec<FunctionCall>) {
    let Some(block) = blocks.last_mut().filter(|block| block["type"] == "tool_use") else { return };
    let written = block[INPUT].as_str().map(str::to_owned);
    if let Some(written) = &written {
        block[INPUT] = serde_json::from_str(written).unwrap_or_else(|_| json!({}));
    }
    calls.extend(call(block).map(|call| FunctionCall { arguments: written.unwrap_or(call.arguments), ..call }));
}

pub(super) fn event(data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
    let event: Value = parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))?;
    let rest = &mut progress.rest;
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => {
            progress.started = true;
            progress.prompt = Some(prompt(&event["message"]["usage"]));
            rest.model = string(&event["message"]["model"]);
        }
        "content_block_start" => {
            let block = &event["content_block"];
            progress.blocks.push(block.clone());
            if is_thinking(&block["type"]) {
                rest.reasoned(THINKING, block[THINKING].as_str().unwrap_or_default());
            }
            return Ok(text(&event["content_block"]).to_owned());
        }
        "content_block_delta" => {
            progress.started = true;
            let delta = &event["delta"];
            grow(&mut progress.blocks, delta);
            if let Some(thought) = delta[THINKING].as_str() {
                rest.reasoned(THINKING, thought);
            }
            return Ok(if delta["type"] == "text_delta" {
                delta["text"].as_str().unwrap_or_default().to_owned()
            } else {
                String::new()
            });
        }
        "content_block_stop" => close(&mut progress.blocks, &mut rest.calls),
        "message_delta" => {
            rest.finish_reason = reason(&event["delta"]["stop_reason"]).or_else(|| rest.finish_reason.take());
            let counted = prompt(&event["usage"]);
            let prompt = if counted.prompt_tokens > 0 { counted } else { progress.prompt.unwrap_or_default() };
            rest.usage = used(prompt, &event["usage"]).or(rest.usage);
        }
        // The reason always comes before.
        "message_stop" if rest.finish_reason.is_none() => return Err("the stream ended without a reason".into()),
        "message_stop" => {
            progress.ended = true;
            let blocks = std::mem::take(&mut progress.blocks);
            rest.verbatim = rest.reasoning.is_some().then(|| verbatim(Value::Array(blocks)));
        }
        "error" => return Err(Fault::Reported(Refusal::read(data))),
        _ if is_error(&event["error"]) => return Err(Fault::Reported(Refusal::read(data))),
        // Pings and unknown events.
        _ => {}
    }
    Ok(String::new())
}

fn is_thinking(kind: &Value) -> bool {
    kind == THINKING || kind == "redacted_thinking"
}

fn text(block: &Value) -> &str {
    if block["type"] == "text" { block["text"].as_str().unwrap_or_default() } else { "" }
}

fn reason(value: &Value) -> Option<String> {
    FinishReason::recorded(&string(value)?)
}

/// What is counted of a prompt.
fn prompt(usage: &Value) -> Usage {
    let counted = |name: &str| count(usage, name).unwrap_or(0);
    let (cached_tokens, cache_write_tokens) =
        (counted("cache_read_input_tokens"), counted("cache_creation_input_tokens"));
    let prompt_tokens = counted("input_tokens") + cached_tokens + cache_write_tokens;
    Usage { prompt_tokens, cached_tokens, cache_write_tokens, ..Usage::default() }
}

/// Tokens used, if completion tokens are counted.
fn used(prompt: Usage, usage: &Value) -> Option<Usage> {
    let completion_tokens = count(usage, "output_tokens")?;
    let reasoning_tokens = count(&usage[TOKEN_DETAILS], THINKING_TOKENS).unwrap_or(0);
    Some(Usage { completion_tokens, reasoning_tokens, ..prompt })
}
