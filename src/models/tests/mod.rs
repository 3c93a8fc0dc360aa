//! All providers, against servers that answer well, badly, falsely and not at all.

mod answers;
mod cached;
mod calls;
mod demands;
mod openai;
mod reasoning;
mod reasons;
mod requests;
mod responses;
mod streams;

use super::remote::{Remote, RemoteSettings};
use super::{Endpoint, Model as _, ModelError, OpenAiSettings, StreamEvent, anthropic, cut_at_stop, gemini};
use crate::base::{Completion, Decoding, Prompt, Request};
use crate::net::ClientSettings;
use crate::net::testing::{Reply, Server, quick};
use secrecy::SecretString;
use std::sync::Mutex;
use std::time::Duration;

/// The key that is sent, and must appear nowhere else.
pub(in crate::models) const KEY: &str = "sk-test-0123456789abcdef";
/// The head of a stream.
const HEAD: &str = "HTTP/1.1 200 X\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";
/// The end of an `OpenAI` stream.
const DONE: &str = "data: [DONE]\n\n";

/// A provider's API, as the test servers speak it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::models) enum Api {
    Chat,
    Completions,
    Responses,
    Messages,
    Gemini,
}

pub(in crate::models) const APIS: [Api; 5] = [Api::Chat, Api::Completions, Api::Responses, Api::Messages, Api::Gemini];

impl Api {
    /// The model `m` at `base`.
    pub(in crate::models) fn model(self, base: &str) -> Remote {
        self.model_within(base, settings(base).client.timeout)
    }

    /// The same with this much time for an answer.
    fn model_within(self, base: &str, timeout: Duration) -> Remote {
        let settings = |base| {
            let mut settings = settings(base);
            settings.client.timeout = timeout;
            settings
        };
        let openai =
            |endpoint| super::openai::model(settings(base), OpenAiSettings { endpoint, ..OpenAiSettings::default() });
        let model = match self {
            Self::Chat => openai(Endpoint::Chat),
            Self::Completions => openai(Endpoint::Completions),
            Self::Responses => openai(Endpoint::Responses),
            Self::Messages => anthropic::model(settings(base), false),
            Self::Gemini => gemini::model(settings(base)),
        };
        model.expect("a model")
    }

    /// A whole answer with this text and 9 + 4 tokens.
    pub(in crate::models) fn whole(self, text: &str) -> Vec<u8> {
        let json = match self {
            Self::Chat | Self::Completions => serde_json::json!({
                "choices": [{"message": {"content": text}, "text": text, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 9, "completion_tokens": 4}, "model": "m-1"}),
            Self::Responses => response(
                "completed",
                &serde_json::json!([{"type": "message", "id": "msg_1",
                "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": text}]}]),
            ),
            Self::Messages => serde_json::json!({
                "type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "model": "m-1",
                "usage": {"input_tokens": 7, "cache_read_input_tokens": 2, "output_tokens": 4}}),
            Self::Gemini => serde_json::json!({
                "candidates": [{"content": {"parts": [{"text": text}]}, "finishReason": "STOP"}], "modelVersion": "m-1",
                "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3, "thoughtsTokenCount": 1}}),
        };
        json.to_string().into_bytes()
    }

    /// The events before the text.
    pub(in crate::models) fn start(self) -> String {
        match self {
            Self::Chat | Self::Completions => {
                let delta = r#"{"role":"assistant","content":null,"reasoning_content":"hm"}"#;
                format!(": hello\n\ndata: {{\"choices\":[{{\"delta\":{delta}}}],\"model\":\"m-1\"}}\n\n")
            }
            Self::Responses => {
                let thought = r#""output_index":0,"delta":"hm""#;
                event("response.created", r#""response":{"status":"in_progress","error":null}"#)
                    + &event("response.reasoning_summary_text.delta", thought)
            }
            Self::Messages => {
                let usage = r#""usage":{"input_tokens":9,"output_tokens":1}"#;
                let thought = r#""delta":{"type":"thinking_delta","thinking":"hm"}"#;
                let start = event("message_start", &format!(r#""message":{{"model":"m-1","content":[],{usage}}}"#));
                start + &event("ping", r#""x":0"#) + &event("content_block_delta", thought)
            }
            Self::Gemini => gemini_event(r#"{"text":"hm","thought":true}"#, ""),
        }
    }

    /// The event with this piece of the text.
    pub(in crate::models) fn delta(self, text: &str) -> String {
        let text = serde_json::to_string(text).expect("a string");
        match self {
            Self::Chat | Self::Completions => {
                format!(
                    "data: {{\"choices\":[{{\"delta\":{{\"content\":{text}}},\"text\":{text},\"finish_reason\":null}}]}}\n\n"
                )
            }
            Self::Responses => event("response.output_text.delta", &format!(r#""output_index":1,"delta":{text}"#)),
            Self::Messages => {
                event("content_block_delta", &format!(r#""index":0,"delta":{{"type":"text_delta","text":{text}}}"#))
            }
            Self::Gemini => gemini_event(&format!(r#"{{"text":{text}}}"#), ""),
        }
    }

    /// The events after the text, with the finish reason and 9 + 4 tokens.
    pub(in crate::models) fn end(self) -> String {
        match self {
            Self::Chat | Self::Completions => {
                let used = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n";
                format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"stop\"}}]}}\n\n{used}{DONE}")
            }
            Self::Responses => {
                let response = response("completed", &serde_json::json!([]));
                event("response.completed", &format!(r#""response":{response}"#))
            }
            Self::Messages => {
                let data = r#""delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}"#;
                event("message_delta", data) + "data: {\"type\":\"message_stop\"}\n\n"
            }
            Self::Gemini => gemini_event(r#"{"text":""}"#, r#","finishReason":"STOP""#),
        }
    }

    /// The first of the events at the end, which has the finish reason.
    fn finish(self) -> String {
        let end = self.end();
        end.split_inclusive("\n\n").next().unwrap_or(&end).to_owned()
    }

    fn stream(self, pieces: &[&str]) -> Reply {
        stream(&[self.start(), pieces.iter().map(|piece| self.delta(piece)).collect(), self.end()])
    }

    /// A failure, as the body of an answer and, with `data: ` before it, as an event.
    pub(in crate::models) fn error(self, message: &str) -> String {
        match self {
            Self::Messages => serde_json::json!({"type": "error", "error": {"type": "x", "message": message}}),
            _ => serde_json::json!({"error": {"code": 500, "message": message}}),
        }
        .to_string()
    }
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{data}}}\n\n")
}

/// A response with these items and 9 + 4 tokens.
fn response(status: &str, output: &serde_json::Value) -> serde_json::Value {
    serde_json::json!({"object": "response", "status": status, "error": null, "model": "m-1", "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 4}})
}

fn gemini_event(part: &str, rest: &str) -> String {
    let usage = r#""usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":3,"thoughtsTokenCount":1}"#;
    format!("data: {{\"candidates\":[{{\"content\":{{\"parts\":[{part}]}}{rest}}}],{usage}}}\r\n\r\n")
}

/// The model `m` at `base`, in three quick attempts.
fn settings(base: &str) -> RemoteSettings {
    RemoteSettings {
        model: "m".into(),
        base_urls: vec![base.to_owned()],
        key: Some(SecretString::from(KEY)),
        client: ClientSettings {
            timeout: Duration::from_secs(2),
            max_body: 20_000,
            retry: quick(3),
            ..ClientSettings::default()
        },
        ..RemoteSettings::default()
    }
}

/// A step in the format of the `ReAct` paper.
fn request() -> Request {
    let prompt = Prompt::text("Examples.\n".into(), "Question: x\nThought 1:");
    Request::new(prompt, vec!["\nObservation 1:".into()], Decoding::default())
}

/// A stream of these events, sent and closed.
fn stream(events: &[String]) -> Reply {
    Reply::Raw([HEAD, &events.concat()].concat().into_bytes())
}

/// Asks a server with these replies for a whole answer.
async fn ask(api: Api, replies: Vec<Reply>) -> (Result<Completion, ModelError>, Server) {
    let server = Server::start(replies).await;
    let answer = api.model(&server.url).complete(&request(), None).await;
    (answer, server)
}

/// Asks a server with these replies for a stream.
async fn watch_of(api: Api, replies: Vec<Reply>) -> (Result<Completion, ModelError>, String, Server) {
    let server = Server::start(replies).await;
    let (answer, shown) = watch(&api.model(&server.url), &request()).await;
    (answer, shown, server)
}

/// Streams a completion: what was reported, with `↺` for [`StreamEvent::Restarted`] and `|` between events.
async fn watch(model: &Remote, request: &Request) -> (Result<Completion, ModelError>, String) {
    let shown = Mutex::new(Vec::new());
    let on_event = |event: StreamEvent<'_>| {
        shown.lock().expect("no test panics here").push(match event {
            StreamEvent::Text(text) => text.to_owned(),
            StreamEvent::Restarted => "↺".to_owned(),
        });
    };
    let answer = model.complete(request, Some(&on_event)).await;
    let shown = shown.lock().expect("no test panics here").join("|");
    (answer, shown)
}

/// Waits until a client has closed its connection to `server`.
async fn closed(server: &Server) {
    for _ in 0..400 {
        if server.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the server would generate forever");
}

#[test]
fn the_earliest_stop_counts() {
    for (text, stops, left) in [
        ("a\nObservation 1: b", &["\nObservation 1:"][..], "a"),
        ("one two three", &["three", "two"][..], "one "),
        ("one two three", &["o th", "two three", "one two three four"][..], "one "),
        ("abcd", &["cd", "bcd"][..], "a"),
        ("stop at once", &["stop"][..], ""),
        ("no stop here", &["", "\n"][..], "no stop here"),
        ("a\u{3002}b\u{3002}", &["\u{3002}"][..], "a"),
        ("", &["x"][..], ""),
        ("text", &[][..], "text"),
    ] {
        assert_eq!(&text[..cut_at_stop(text, stops)], left, "{text:?} {stops:?}");
    }
}
