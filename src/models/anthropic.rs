//! Anthropic's Messages API.
//!
//! | in a request | how it is sent |
//! |---|---|
//! | the prompt | a system text and turns (see `remote/turns.rs`), without white space at the end of the model's last one |
//! | stops | as `stop_sequences`, except blank ones, which are refused and applied by the client |
//! | a temperature of 1, a `top_p` of 1 | left out: they are the defaults, and newer models accept no other |
//! | a temperature above 1 | an error |
//! | how much to reason | as `thinking`: by a name `adaptive`, with `effort`; by a number of tokens `enabled`; no temperature then |
//! | a seed | left out: not supported |
//! | what is worth keeping for later requests | with `cache_control` (see below) |
//! | functions | as `tools`; `tool_choice` only where it is not what the API does anyway |
//!
//! Sources: <https://docs.claude.com/en/api/messages>, <https://docs.claude.com/en/docs/build-with-claude/streaming>;
//! stops of white space: <https://github.com/BerriAI/litellm/issues/3286>; temperature and `top_p` together:
//! <https://github.com/BerriAI/litellm/issues/15097>; models without temperature:
//! <https://github.com/The-PR-Agent/pr-agent/issues/2456>, <https://github.com/UKGovernmentBEIS/inspect_ai/issues/3721>
//! (Opus 4.7 and later); models without prefill:
//! <https://github.com/vercel/ai/issues/12296>; reasoning, and what does not go with it:
//! <https://platform.claude.com/docs/en/build-with-claude/thinking>,
//! <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>,
//! <https://github.com/diegosouzapw/OmniRoute/pull/4389>.

use super::remote::answer::{count, is_error, parse_event, read, reason, string};
use super::remote::interface::{Decoded, Fault, Progress};
use super::remote::interface::{
    EncodeResult, EncodedRequest, Interface, join, no_prefill, set_fields, streams, temperature, top_p,
};
use super::remote::turns::{Part, Turn, Turns};
use super::{ModelError, Remote, RemoteSettings, Unsupported};
use crate::base::request::BYTES_PER_TOKEN;
use crate::base::{
    Decoding, Function, FunctionCall, Functions, Reasoning, Request, RequestOption, RequestOptions, Usage, Verbatim,
};
use crate::net::{Answer, Credential};
use secrecy::SecretString;
use serde::Deserialize;
use serde_json::{Value, json};

pub const ANTHROPIC_URL: &str = "https://api.anthropic.com";

/// Not `2026-10-21`, which refuses every temperature, `top_p` and `top_k` and changes nothing else here:
/// <https://platform.claude.com/docs/en/api/migration-2026-10-21>.
const VERSION: &str = "2023-06-01";
const ENDPOINT: &str = "messages";
const MIN_THINKING_BUDGET: u32 = 1024;

/// A model behind such a server; with `prefill`, the last line of a text prompt, if it is a label, is sent as the
/// beginning of the model's answer. Sends nothing yet.
pub fn model(settings: RemoteSettings, prefill: bool) -> Result<Remote, ModelError> {
    Remote::new(settings, Box::new(Anthropic { prefill }))
}

#[derive(Debug)]
struct Anthropic {
    prefill: bool,
}

/// The turns; trailing white space of a last turn by the model is removed, as it would be refused.
fn messages_of(turns: &[Turn]) -> Vec<Value> {
    let content = |at: usize, turn: &Turn| match &turn.parts[..] {
        [Part::Text(text)] if turn.own && at + 1 == turns.len() => json!(text.trim_end()),
        [Part::Text(text)] => json!(text),
        parts => parts.iter().flat_map(blocks).collect(),
    };
    let role = |turn: &Turn| if turn.own { "assistant" } else { "user" };
    let turns = turns.iter().enumerate();
    turns.map(|(at, turn)| json!({ "role": role(turn), "content": content(at, turn) })).collect()
}

fn blocks(part: &Part) -> Vec<Value> {
    match part {
        Part::Text(text) => vec![json!({ "type": "text", "text": text })],
        Part::Call(call) => {
            vec![json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() })]
        }
        Part::Result { id, text, .. } => {
            vec![json!({ "type": "tool_result", "tool_use_id": id, "content": text })]
        }
        Part::Verbatim(content) => content.as_array().cloned().unwrap_or_default(),
    }
}

fn tools(functions: &Functions) -> (Value, Option<Value>) {
    let tool = |function: &Function| {
        let Function { name, description, parameters } = function;
        let mut tool = json!({ "name": name, "description": description, "input_schema": parameters });
        if functions.strict {
            tool["strict"] = json!(true);
        }
        tool
    };
    let kind = if functions.required { "any" } else { "auto" };
    let choice = (functions.required || !functions.parallel)
        .then(|| json!({ "type": kind, "disable_parallel_tool_use": !functions.parallel }));
    (functions.list.iter().map(tool).collect(), choice)
}

/// How much to reason, as `thinking` and `output_config`. The newest models show their reasoning only if asked to.
fn thinking(reasoning: Reasoning) -> (Value, Option<Value>) {
    match (reasoning.budget(), reasoning.name()) {
        (Some(budget), _) => (json!({ "type": "enabled", "budget_tokens": budget }), None),
        (None, effort) if reasoning.is_on() => {
            (json!({ "type": "adaptive", "display": "summarized" }), Some(json!({ "effort": effort })))
        }
        (None, _) => (json!({ "type": "disabled" }), None),
    }
}

/// Why the API would refuse a request with reasoning, as far as its rules are known.
fn not_with_reasoning(decoding: &Decoding, forced: bool) -> Option<Unsupported> {
    let budget = decoding.reasoning.and_then(Reasoning::budget);
    let (reason, hint) = if budget.is_some_and(|tokens| tokens < MIN_THINKING_BUDGET) {
        (
            format!("a budget of {} tokens for reasoning is below {MIN_THINKING_BUDGET}, Anthropic's minimum", budget?),
            format!("use --reasoning {MIN_THINKING_BUDGET} or more, or off, low, medium or high"),
        )
    } else if decoding.required().contains(RequestOption::Temperature) {
        (
            "Anthropic's models take no temperature but 1 while they reason".to_owned(),
            "leave out --temperature and --sample-temperature (none is sent then), or use --reasoning off".to_owned(),
        )
    } else if forced {
        (
            "Anthropic's models cannot be made to call a function while they reason".to_owned(),
            "leave out --option choice=required, or use --reasoning off".to_owned(),
        )
    } else {
        return None;
    };
    Some(Unsupported { reason, hint })
}

impl Interface for Anthropic {
    fn endpoint(&self) -> &'static str {
        if self.prefill { "messages+prefill" } else { ENDPOINT }
    }

    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k> {
        Credential::Header("x-api-key", key)
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", VERSION)]
    }

    fn address(&self, base: &str, _model: &str, _stream: bool) -> String {
        join(base, &["/messages", "/v1"], "v1/messages")
    }

    fn unsupported(&self, decoding: &Decoding, forced: bool) -> Option<Unsupported> {
        if decoding.temperature > 1.0 {
            let temperature = decoding.temperature;
            return Some(Unsupported {
                reason: format!("a temperature of {temperature} is above 1, the maximum that Anthropic supports"),
                hint: "set it lower with --temperature or --sample-temperature".to_owned(),
            });
        }
        if !decoding.reasons() {
            return None;
        }
        not_with_reasoning(decoding, forced).or_else(|| no_prefill(self.prefill))
    }

    fn left_out(&self, decoding: &Decoding) -> RequestOptions {
        [(RequestOption::Temperature, decoding.reasons())].into()
    }

    fn known_refusals(&self) -> RequestOptions {
        [RequestOption::Seed].into_iter().collect()
    }

    fn encode(&self, model: &str, request: &Request, refused: RequestOptions, watched: bool) -> EncodeResult {
        let decoding = &request.decoding;
        let turns = Turns::of(&request.prompt, ENDPOINT, self.prefill, refused);
        let taken = |stop: &&str| !refused.contains(RequestOption::Stop) && !stop.trim().is_empty();
        let stops: Vec<&str> = request.stop.iter().map(String::as_str).filter(taken).collect();
        let stream = streams(watched, stops.len(), request, refused);
        let (tools, tool_choice) = request.functions.as_deref().map(tools).unzip();
        let (thinking, output_config) = decoding.reasoning.map(thinking).unzip();
        let temperature = temperature(decoding, refused).filter(|temperature| *temperature < 1.0);
        let top_p = top_p(decoding, Some(1.0), refused).filter(|top_p| *top_p < 1.0);
        let mut body = json!({
            "model": model,
            "max_tokens": decoding.max_total_tokens(),
            "cache_control": null,
            "system": Some(&turns.system).filter(|system| !system.is_empty()),
            "messages": messages_of(&turns.list),
            "temperature": temperature,
            "top_p": top_p,
            "tools": tools,
            "tool_choice": tool_choice.flatten(),
            "thinking": thinking,
            "output_config": output_config.flatten(),
            "stop_sequences": Some(&stops).filter(|stops| !stops.is_empty()),
            "stream": stream.then_some(true),
        });
        let cached = !refused.contains(RequestOption::CacheControl) && mark_cacheable(&mut body, &turns);
        let sent = [
            (RequestOption::CacheControl, cached),
            (RequestOption::Temperature, temperature.is_some()),
            (RequestOption::TopP, top_p.is_some()),
            (RequestOption::Stop, !stops.is_empty()),
            (RequestOption::Stream, stream),
            (RequestOption::UserAfterTool, turns.has_user_after_tool()),
        ];
        Ok(EncodedRequest { body: serde_json::to_vec(&set_fields(body))?, sent: sent.into(), label: turns.label })
    }

    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault> {
        let body: AnswerBody = read(answer)?;
        if body.kind == "error" || is_error(&body.error) {
            return Err(Fault::reported(&answer.body));
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

    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
        let event: Value = parse_event(data)?;
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
                let piece = delta["text"].as_str().filter(|_| delta["type"] == "text_delta");
                return Ok(piece.unwrap_or_default().to_owned());
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
            "error" => return Err(Fault::reported(data)),
            _ if is_error(&event["error"]) => return Err(Fault::reported(data)),
            // Pings and unknown events.
            _ => {}
        }
        Ok(String::new())
    }

    fn limit_name(&self, _refused: RequestOptions) -> &'static str {
        "max_tokens"
    }
}

// Which part of a prompt the provider is to keep for later requests.
//
// | mark | where | why |
// |---|---|---|
// | what all questions share | after the prefix of a text prompt, else after the exemplars, the system text or the tools | it is written once and read by every request of a run |
// | the conversation, top-level | its last block | each step reads what the step before has written |
//
// Writing costs a quarter more than sending, reading a tenth of it or less. A conversation is marked once the model has
// spoken in it: it pays from two steps on, and many episodes have one. A text prompt that grows is one block, whose older
// form is nowhere in the newer one, so only its prefix is marked. What is shorter than a model's minimum (512 to 4,096
// tokens) is sent as ever: a mark does nothing there.
//
// Sources: <https://platform.claude.com/docs/en/build-with-claude/prompt-caching>; shortest prefixes by model:
// <https://dev.to/creeta/claudes-prompt-cache-fails-silently-below-1024-tokens-1ch1>; servers that refuse the mark:
// <https://github.com/earendil-works/pi/issues/7938>.

/// Tokens of the shortest prefix that a model keeps.
const MIN_CACHED: usize = 512;

/// Marks what is long enough. Returns whether anything is.
fn mark_cacheable(body: &mut Value, turns: &Turns) -> bool {
    let tools = body["tools"].as_array().into_iter().flatten();
    let before = tools.map(|tool| tool.to_string().len()).sum::<usize>() + turns.system.len();
    let shared: usize = before + turns.list.iter().take(turns.shared).map(length).sum::<usize>();
    let whole: usize = before + turns.list.iter().map(length).sum::<usize>();
    let spoken = turns.label.is_empty() && turns.list.iter().skip(turns.shared).any(|turn| turn.own);
    let conversation = spoken && is_long(whole);
    if conversation {
        keep(body);
    }
    let marked = if is_long(turns.prefix) {
        split(&mut body["messages"][0]["content"], turns.prefix)
    } else {
        is_long(shared) && mark_shared(body, turns.shared)
    };
    marked || conversation
}

fn is_long(bytes: usize) -> bool {
    bytes >= MIN_CACHED * BYTES_PER_TOKEN
}

/// Marks the end of the shared turns, of the system text, or of the tools.
fn mark_shared(body: &mut Value, turns: usize) -> bool {
    let content = match turns.checked_sub(1).filter(|last| body["messages"].get(last).is_some()) {
        Some(last) => &mut body["messages"][last]["content"],
        None if !body["system"].is_null() => &mut body["system"],
        None => &mut body["tools"],
    };
    if let Value::String(text) = content {
        *content = json!([{ "type": "text", "text": text }]);
    }
    content.as_array_mut().and_then(|blocks| blocks.last_mut()).map(keep).is_some()
}

fn keep(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

/// Makes the first bytes of a text a block of their own, and marks it.
fn split(content: &mut Value, at: usize) -> bool {
    let text = content.as_str().and_then(|text| text.split_at_checked(at));
    let Some((prefix, rest)) = text.filter(|(_, rest)| !rest.trim().is_empty()) else { return false };
    let mut prefix = json!({ "type": "text", "text": prefix });
    keep(&mut prefix);
    *content = json!([prefix, { "type": "text", "text": rest }]);
    true
}

/// About the length of a turn, in bytes.
fn length(turn: &Turn) -> usize {
    let part = |part: &Part| match part {
        Part::Text(text) | Part::Result { text, .. } => text.len(),
        Part::Call(call) => call.name.len() + call.arguments.len(),
        Part::Verbatim(content) => content.to_string().len(),
    };
    turn.parts.iter().map(part).sum()
}

// Decodes Anthropic's answers.
//
// | in an answer | in the completion |
// |---|---|
// | content of type `text` | the text |
// | content of type `tool_use` | a call |
// | content of type `thinking` or `redacted_thinking` | left out of the text, and kept apart; beside calls, the content as it was written is kept, too |
// | `stop_reason` | as the table of [`FinishReason`] has it |
// | `usage` | tokens read from or written to a cache count as prompt tokens, those of reasoning as completion tokens |
// | a stream that the client stops before the count of tokens | no usage |

/// The type of a block with reasoning, and the field that holds it.
const THINKING: &str = "thinking";
/// The field of a call with its arguments, and of its pieces in a stream.
const INPUT: &str = "input";
const PARTIAL_JSON: &str = "partial_json";
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

fn verbatim(content: Value) -> Verbatim {
    Verbatim { endpoint: ENDPOINT.to_owned(), content }
}

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

fn close(blocks: &mut [Value], calls: &mut Vec<FunctionCall>) {
    let Some(block) = blocks.last_mut().filter(|block| block["type"] == "tool_use") else { return };
    let written = block[INPUT].as_str().map(str::to_owned);
    if let Some(written) = &written {
        block[INPUT] = serde_json::from_str(written).unwrap_or_else(|_| json!({}));
    }
    calls.extend(call(block).map(|call| FunctionCall { arguments: written.unwrap_or(call.arguments), ..call }));
}

fn is_thinking(kind: &Value) -> bool {
    kind == THINKING || kind == "redacted_thinking"
}

fn text(block: &Value) -> &str {
    if block["type"] == "text" { block["text"].as_str().unwrap_or_default() } else { "" }
}

fn prompt(usage: &Value) -> Usage {
    let (cached_tokens, cache_write_tokens) =
        (count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens"));
    let parts = [count(usage, "input_tokens"), cached_tokens, cache_write_tokens];
    let prompt_tokens = parts.into_iter().flatten().sum();
    Usage { prompt_tokens, cached_tokens, cache_write_tokens, ..Usage::default() }
}

/// Tokens used, if completion tokens are counted.
fn used(prompt: Usage, usage: &Value) -> Option<Usage> {
    let completion_tokens = count(usage, "output_tokens")?;
    let reasoning_tokens = count(&usage[TOKEN_DETAILS], THINKING_TOKENS);
    Some(Usage { completion_tokens, reasoning_tokens, ..prompt })
}
