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
//! | what is worth keeping for later requests | with `cache_control` (see `anthropic/cache.rs`) |
//! | functions | as `tools`; `tool_choice` only where it is not what the API does anyway |
//!
//! Sources: <https://docs.claude.com/en/api/messages>, <https://docs.claude.com/en/docs/build-with-claude/streaming>;
//! stops of white space: <https://github.com/BerriAI/litellm/issues/3286>; temperature and `top_p` together:
//! <https://github.com/BerriAI/litellm/issues/15097>; models without temperature:
//! <https://github.com/The-PR-Agent/pr-agent/issues/2456>; models without prefill:
//! <https://github.com/vercel/ai/issues/12296>; reasoning, and what does not go with it:
//! <https://platform.claude.com/docs/en/build-with-claude/thinking>,
//! <https://platform.claude.com/docs/en/build-with-claude/extended-thinking>,
//! <https://github.com/diegosouzapw/OmniRoute/pull/4389>.

mod answer;
mod cache;

use super::remote::answer::{Decoded, Fault, Progress};
use super::remote::interface::{EncodedRequest, Interface, join, no_prefill, streams, temperature, top_p};
use super::remote::turns::{Part, Turn, Turns};
use super::{ModelError, Remote, RemoteSettings, Unsupported};
use crate::net::{Answer, Credential};
use crate::types::{Decoding, Function, Functions, Reasoning, Request, RequestOption, RequestOptions};
use secrecy::SecretString;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

pub const ANTHROPIC_URL: &str = "https://api.anthropic.com";

const VERSION: &str = "2023-06-01";
const ENDPOINT: &str = "messages";
/// The smallest number of tokens for reasoning.
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

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    /// Marks the end of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Value>,
    #[serde(skip_serializing_if = "Content::is_empty")]
    system: Content<'a>,
    messages: Vec<MessageBody<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<Value>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop_sequences: &'a [&'a str],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stream: bool,
}

#[derive(Serialize)]
struct MessageBody<'a> {
    #[serde(serialize_with = "role")]
    role: bool,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Blocks(Vec<Value>),
}

impl Content<'_> {
    fn is_empty(&self) -> bool {
        matches!(self, Self::Text(""))
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde requires")]
fn role<S: Serializer>(own: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *own { "assistant" } else { "user" })
}

/// The turns; trailing white space of a last turn by the model is removed, as it would be refused.
fn messages_of(turns: &[Turn]) -> Vec<MessageBody<'_>> {
    let mut all: Vec<_> =
        turns.iter().map(|turn| MessageBody { role: turn.own, content: content(&turn.parts) }).collect();
    if let Some(MessageBody { role: true, content: Content::Text(text) }) = all.last_mut() {
        *text = text.trim_end();
    }
    all
}

fn content(parts: &[Part]) -> Content<'_> {
    match parts {
        [Part::Text(text)] => Content::Text(text),
        parts => Content::Blocks(parts.iter().flat_map(blocks).collect()),
    }
}

/// A part of a turn as blocks of its content.
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

/// The functions as `tools`, and `tool_choice`.
fn tools(functions: &Functions) -> (Vec<Value>, Option<Value>) {
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

    fn encode(
        &self,
        model: &str,
        request: &Request,
        refused: RequestOptions,
        watched: bool,
    ) -> serde_json::Result<EncodedRequest> {
        let decoding = &request.decoding;
        let turns = Turns::of(&request.prompt, ENDPOINT, self.prefill, refused);
        let taken = |stop: &&str| !refused.contains(RequestOption::Stop) && !stop.trim().is_empty();
        let stops: Vec<&str> = request.stop.iter().map(String::as_str).filter(taken).collect();
        let stream = streams(watched, stops.len(), request, refused);
        let (tools, tool_choice) = request.functions.as_deref().map(tools).unwrap_or_default();
        let (thinking, output_config) = decoding.reasoning.map(thinking).unzip();
        let mut body = Body {
            model,
            cache_control: None,
            tools,
            tool_choice,
            max_tokens: decoding.most_tokens(),
            system: Content::Text(&turns.system),
            messages: messages_of(&turns.turns),
            temperature: temperature(decoding, refused).filter(|temperature| *temperature < 1.0),
            top_p: top_p(decoding, Some(1.0), refused).filter(|top_p| *top_p < 1.0),
            thinking,
            output_config: output_config.flatten(),
            stop_sequences: &stops,
            stream,
        };
        let cached = !refused.contains(RequestOption::CacheControl) && cache::mark_cacheable(&mut body, &turns);
        let sent = [
            (RequestOption::CacheControl, cached),
            (RequestOption::Temperature, body.temperature.is_some()),
            (RequestOption::TopP, body.top_p.is_some()),
            (RequestOption::Stop, !stops.is_empty()),
            (RequestOption::Stream, stream),
            (RequestOption::UserAfterTool, turns.has_user_after_tool()),
        ];
        Ok(EncodedRequest { body: serde_json::to_vec(&body)?, sent: sent.into(), label: turns.label })
    }

    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault> {
        answer::decode(answer)
    }

    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
        answer::event(data, progress)
    }

    fn limit_name(&self, _refused: RequestOptions) -> &'static str {
        "max_tokens"
    }
}
