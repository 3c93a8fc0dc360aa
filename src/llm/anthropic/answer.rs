//! Decodes Anthropic's answers.
//!
//! | in an answer | in the completion |
//! |---|---|
//! | content of type `text` | the text |
//! | content of type `thinking` or `redacted_thinking` | left out of the text, and kept apart |
//! | `stop_reason` | `end_turn` and `stop_sequence` are `stop`, `max_tokens` is `length`, `model_context_window_exceeded` is `context_overflow` |
//! | `usage` | tokens read from or written to a cache count as prompt tokens |
//! | a stream that the client stops before the count of tokens | no usage |

use crate::llm::remote::answer::{Decoded, Fault, Progress, count, parse, read, string};
use crate::llm::remote::refusal::Refusal;
use crate::net::Answer;
use crate::types::Usage;
use serde::Deserialize;
use serde_json::Value;

/// The type of a block with reasoning, and the field that holds it.
const THINKING: &str = "thinking";

#[derive(Deserialize)]
struct Body {
    #[serde(default, rename = "type")]
    kind: Value,
    content: Option<Vec<Value>>,
    #[serde(default)]
    stop_reason: Value,
    #[serde(default)]
    usage: Value,
    #[serde(default)]
    model: Value,
}

/// Decodes a whole answer; the error says why it is not a completion.
pub(super) fn decode(answer: &Answer) -> Result<Decoded, Fault> {
    let body: Body = read(answer)?;
    if body.kind == "error" {
        return Err(Fault::Reported(Refusal::read(&answer.body)));
    }
    let content = body.content.ok_or("`content` is missing")?;
    let mut decoded = Decoded {
        text: content.iter().map(text).collect(),
        finish_reason: reason(&body.stop_reason),
        usage: used(prompt(&body.usage), &body.usage),
        model: string(&body.model),
        reasoning: None,
    };
    for block in content.iter().filter(|block| is_thinking(&block["type"])) {
        decoded.reasoned(THINKING, block[THINKING].as_str().unwrap_or_default());
    }
    Ok(decoded)
}

pub(super) fn event(data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
    let event: Value = parse(data).map_err(|e| format!("the stream has an event that is not JSON: {e}"))?;
    let rest = &mut progress.rest;
    match event["type"].as_str().unwrap_or_default() {
        "message_start" => {
            progress.started = true;
            progress.prompt_tokens = prompt(&event["message"]["usage"]);
            rest.model = string(&event["message"]["model"]);
        }
        "content_block_start" => {
            let block = &event["content_block"];
            if is_thinking(&block["type"]) {
                rest.reasoned(THINKING, block[THINKING].as_str().unwrap_or_default());
            }
            return Ok(text(&event["content_block"]).to_owned());
        }
        "content_block_delta" => {
            progress.started = true;
            let delta = &event["delta"];
            if let Some(thought) = delta[THINKING].as_str() {
                rest.reasoned(THINKING, thought);
            }
            return Ok(if delta["type"] == "text_delta" {
                delta["text"].as_str().unwrap_or_default().to_owned()
            } else {
                String::new()
            });
        }
        "message_delta" => {
            rest.finish_reason = reason(&event["delta"]["stop_reason"]).or_else(|| rest.finish_reason.take());
            let prompt = prompt(&event["usage"]).or(progress.prompt_tokens);
            rest.usage = used(prompt, &event["usage"]).or(rest.usage);
        }
        "message_stop" => progress.ended = true,
        "error" => return Err(Fault::Reported(Refusal::read(data))),
        // Pings, ends of blocks, and unknown events.
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
    let reason = string(value)?;
    Some(match reason.as_str() {
        "end_turn" | "stop_sequence" => "stop".to_owned(),
        "max_tokens" => "length".to_owned(),
        "model_context_window_exceeded" => "context_overflow".to_owned(),
        _ => reason,
    })
}

/// Prompt tokens, if counted.
fn prompt(usage: &Value) -> Option<u64> {
    let all = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let counts = all.iter().filter_map(|name| count(usage, name));
    counts.reduce(|sum, tokens| sum + tokens)
}

/// Tokens used, if completion tokens are counted.
fn used(prompt: Option<u64>, usage: &Value) -> Option<Usage> {
    let completion = count(usage, "output_tokens")?;
    Some(Usage { prompt_tokens: prompt.unwrap_or(0), completion_tokens: completion })
}
