//! Servers with an `OpenAI`-compatible HTTP API: chat completions, text completions and responses.
//!
//! A text prompt goes to a chat endpoint as one user message or, with prefill, with its last line as the beginning of the
//! model's answer; messages go to a text endpoint as one text (the rules are in `openai/body.rs`). Options that a server
//! is known to refuse ([`capability`](crate::models::capability)) or has refused (`stop`, `max_tokens`, `stream`, answers
//! that are not streams) are no longer sent; the client applies stops in any case.

mod answer;
mod body;
mod responses;

use super::capability::{AUTO, Capability, Control, IN_TEXT, SERVERS};
use super::remote::interface::{Decoded, Fault, Progress};
use super::remote::interface::{EncodeResult, Interface, join, no_prefill, seed, streams, temperature, top_p};
use super::{ModelError, Remote, RemoteSettings, Unsupported};
use crate::base::{Decoding, Reasoning, Request, RequestOption, RequestOptions};
use crate::net::{Answer, Credential};
use body::BodyOptions;
use secrecy::SecretString;
use serde_json::{Map, Value, json};

pub const OPENAI_URL: &str = "https://api.openai.com/v1";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Endpoint {
    #[default]
    Chat,
    Completions,
    Responses,
}

/// The name under which the chat endpoint is stored.
const ENDPOINT: &str = "chat";

#[derive(Debug, Clone, Copy)]
pub struct OpenAiSettings {
    pub endpoint: Endpoint,
    pub server: &'static Capability,
    /// Whether the last line of a text prompt, if it is a label, is sent to a chat as the beginning of the model's answer.
    /// Has no effect if the server cannot continue one.
    pub prefill: bool,
}

impl Default for OpenAiSettings {
    /// Chat, at an unknown server.
    fn default() -> Self {
        Self { endpoint: Endpoint::Chat, server: AUTO, prefill: false }
    }
}

/// A model behind such a server. Sends nothing yet.
pub fn model(settings: RemoteSettings, openai: OpenAiSettings) -> Result<Remote, ModelError> {
    Remote::new(settings, Box::new(openai))
}

impl OpenAiSettings {
    fn options(&self, request: &Request, refused: RequestOptions, watched: bool) -> BodyOptions {
        use RequestOption::{MaxTokens, ParallelCalls, Seed, Stop, Stream, StreamUsage, Temperature, TopP};
        let Self { endpoint, server, prefill } = *self;
        let decoding = &request.decoding;
        let stops = if refused.contains(Stop) { 0 } else { server.stops.min(request.stop.len()) };
        let stream = streams(watched, stops, request, refused);
        let one_call = request.functions.as_ref().is_some_and(|functions| !functions.parallel);
        // Without a setting the model reasons as it likes.
        let reasons = decoding.reasoning.is_none_or(Reasoning::is_on);
        let demanded = server.demands_thoughts && reasons && request.functions.is_some();
        let said = if endpoint == Endpoint::Chat {
            body::thought_options(&request.prompt, refused, demanded)
        } else {
            [].into()
        };
        let sent = [
            (Temperature, temperature(decoding, refused).is_some()),
            (TopP, top_p(decoding, server.usual_top_p, refused).is_some()),
            (Seed, seed(decoding, refused).is_some()),
            (Stop, stops > 0),
            (MaxTokens, !refused.contains(MaxTokens)),
            (Stream, stream),
            (StreamUsage, stream && !refused.contains(StreamUsage)),
            (ParallelCalls, one_call && !refused.contains(ParallelCalls)),
        ];
        BodyOptions {
            endpoint,
            stops,
            sent: RequestOptions::from(sent).with(said),
            refused,
            prefill: server.prefill.filter(|_| prefill && endpoint == Endpoint::Chat),
            control: server.control,
        }
    }
}

impl Interface for OpenAiSettings {
    fn endpoint(&self) -> &'static str {
        match self.endpoint {
            Endpoint::Chat if self.prefill => "chat+prefill",
            Endpoint::Chat => ENDPOINT,
            Endpoint::Completions => "completions",
            Endpoint::Responses => responses::ENDPOINT,
        }
    }

    fn credential<'k>(&self, key: &'k SecretString) -> Credential<'k> {
        Credential::Bearer(key)
    }

    fn address(&self, base: &str, _model: &str, _stream: bool) -> String {
        let tail = match self.endpoint {
            Endpoint::Chat => "chat/completions",
            Endpoint::Completions => "completions",
            Endpoint::Responses => responses::ENDPOINT,
        };
        join(base, &["/chat/completions", "/completions", "/responses"], tail)
    }

    fn ends_with_done(&self, progress: &Progress) -> bool {
        // Some servers leave out the last event of a response. Its items are whole then.
        self.endpoint != Endpoint::Responses || !progress.blocks.is_empty()
    }

    fn takes_functions(&self) -> bool {
        self.endpoint != Endpoint::Completions
    }

    fn unsupported(&self, decoding: &Decoding, _forced: bool) -> Option<Unsupported> {
        let Self { endpoint, server, prefill } = *self;
        let reasoning = decoding.reasoning?;
        if endpoint == Endpoint::Completions {
            return Some(Unsupported {
                reason: format!("text completions have no setting for --reasoning {reasoning}"),
                hint: "leave out --reasoning, or use the chat endpoint (without --completions)".to_owned(),
            });
        }
        if endpoint == Endpoint::Responses {
            return reasoning.budget().map(|_| Unsupported {
                reason: format!("the Responses API has no setting for --reasoning {reasoning}"),
                hint: "use off, low, medium or high".to_owned(),
            });
        }
        unsupported_reasoning(server, reasoning).or_else(|| no_prefill(prefill && reasoning.is_on()))
    }

    fn known_refusals(&self) -> RequestOptions {
        let Self { endpoint, server, .. } = *self;
        if endpoint == Endpoint::Responses {
            return [RequestOption::Seed, RequestOption::Stop].into_iter().collect();
        }
        // Text completions only have the older name.
        let max_tokens = server.new_limit && endpoint == Endpoint::Chat;
        [(RequestOption::MaxTokens, max_tokens)].into()
    }

    fn encode(&self, model: &str, request: &Request, refused: RequestOptions, watched: bool) -> EncodeResult {
        if self.endpoint == Endpoint::Responses {
            return responses::encode(model, request, self.server.usual_top_p, refused, watched);
        }
        body::encode(model, request, self.options(request, refused, watched))
    }

    fn decode(&self, answer: &Answer) -> Result<Decoded, Fault> {
        match self.endpoint {
            Endpoint::Responses => responses::decode(answer),
            endpoint => answer::decode(answer, endpoint, self.server.reasoning),
        }
    }

    fn decode_event(&self, data: &[u8], progress: &mut Progress) -> Result<String, Fault> {
        match self.endpoint {
            Endpoint::Responses => responses::event(data, progress),
            endpoint => answer::chunk(data, endpoint, self.server.reasoning, progress),
        }
    }

    fn thinks_in_text(&self) -> bool {
        self.server.reasoning.contains(&IN_TEXT)
    }

    fn limit(&self, decoding: &Decoding, refused: RequestOptions) -> Option<u32> {
        match self.endpoint {
            Endpoint::Responses => (!refused.contains(RequestOption::MaxTokens)).then_some(decoding.max_tokens),
            _ => Some(decoding.max_total_tokens()),
        }
    }

    fn limit_name(&self, refused: RequestOptions) -> &'static str {
        match self.endpoint {
            Endpoint::Responses => responses::LIMIT,
            _ if refused.contains(RequestOption::MaxTokens) => "max_completion_tokens",
            _ => "max_tokens",
        }
    }
}

// How a chat is told how much to reason, by family of server.

fn effort(reasoning: Reasoning) -> Option<&'static str> {
    reasoning.name().map(|name| if reasoning.is_on() { name } else { "none" })
}

/// The field `reasoning` of the Responses API, with a summary of what the model thought if that is wanted; nothing for a
/// number of tokens.
fn response_reasoning(reasoning: Reasoning, summary: bool) -> Option<Value> {
    let effort = effort(reasoning)?;
    Some(if summary { json!({ "effort": effort, "summary": "auto" }) } else { json!({ "effort": effort }) })
}

/// The fields that say so beside the messages; nothing if the server has none for it.
fn reasoning_fields(control: Control, reasoning: Reasoning) -> Option<Map<String, Value>> {
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

fn unsupported_reasoning(server: &Capability, reasoning: Reasoning) -> Option<Unsupported> {
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
