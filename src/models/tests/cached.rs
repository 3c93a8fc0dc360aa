//! What Anthropic is asked to keep: the part that all questions share, and a conversation that goes on.

use super::{Api, request};
use crate::base::{Function, Functions, Message, Prompt, Request, RequestOption, Usage};
use crate::models::Model as _;
use crate::net::testing::{Server, reply};
use serde_json::{Value, json};
use std::sync::Arc;

const API: Api = Api::Messages;

/// Long enough for every model.
fn long() -> String {
    "Example.\n".repeat(2_000)
}

fn marked() -> Value {
    json!({ "type": "ephemeral" })
}

async fn sent(request: &Request) -> Value {
    let server = Server::start(vec![reply(200, "", &API.whole("ok"))]).await;
    API.model(&server.url).complete(request, None).await.expect("an answer");
    serde_json::from_str(server.requests()[0].split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

fn talk(messages: Vec<Message>, functions: Option<Functions>) -> Request {
    Request {
        functions: functions.map(Arc::new),
        ..Request::new(Prompt::Messages(messages), vec![], request().decoding)
    }
}

fn last_shared(mut messages: Vec<Message>) -> Vec<Message> {
    messages.last_mut().expect("a message").ends_shared = true;
    messages
}

#[tokio::test]
async fn the_prefix_of_a_text_is_a_block_of_its_own() {
    let of = |prefix: String| Request { prompt: Prompt::text(prefix.into(), "Question: x\nThought 1:"), ..request() };
    let body = sent(&of(long())).await;
    assert_eq!(
        body["messages"],
        json!([{"role": "user", "content": [
            {"type": "text", "text": long(), "cache_control": marked()},
            {"type": "text", "text": "Question: x\nThought 1:"}
        ]}])
    );
    // A text that grows is not a conversation.
    assert_eq!(body["cache_control"], Value::Null);
    let short = sent(&of("Example.\n".repeat(9))).await;
    assert!(short["messages"][0]["content"].is_string(), "{short}");
}

#[tokio::test]
async fn what_all_questions_share_of_a_conversation_is_marked_at_its_end_and_its_end_once_it_goes_on() {
    let system = || Message::system(long());
    let example = || vec![Message::user("Q0"), Message::assistant("A0")];
    let body = sent(&talk([last_shared(vec![system()]), vec![Message::user("Q")]].concat(), None)).await;
    assert_eq!(body["system"], json!([{"type": "text", "text": long(), "cache_control": marked()}]));
    assert_eq!((&body["messages"][0]["content"], &body["cache_control"]), (&json!("Q"), &Value::Null));

    let start = last_shared([vec![system()], example()].concat());
    let body = sent(&talk([start.clone(), vec![Message::user("Q")]].concat(), None)).await;
    assert!(body["system"].is_string());
    let kept = json!([{"type": "text", "text": "A0", "cache_control": marked()}]);
    assert_eq!((&body["messages"][1]["content"], &body["cache_control"]), (&kept, &Value::Null));
    let next = [start, vec![Message::user("Q"), Message::assistant("A"), Message::user("O")]].concat();
    let body = sent(&talk(next.clone(), None)).await;
    assert_eq!((&body["messages"][1]["content"], &body["cache_control"]), (&kept, &marked()));
    assert_eq!(body.to_string().matches("cache_control").count(), 2);

    // The question goes on in the last of the shared turns: the mark is before that turn.
    let joined = last_shared([example(), vec![Message::user(long())]].concat());
    let body = sent(&talk([vec![system()], joined, vec![Message::user("Q")]].concat(), None)).await;
    assert_eq!(body["messages"][1]["content"], kept);

    let function = Function { name: "f".into(), description: long(), parameters: json!({}) };
    let functions = Functions { list: vec![function], required: false, parallel: true, strict: false };
    let body = sent(&talk(vec![Message::user("Q")], Some(functions))).await;
    assert_eq!(body["tools"][0]["cache_control"], marked());
}

#[tokio::test]
async fn a_server_that_does_not_know_the_mark_is_asked_without_it() {
    let no = reply(400, "", API.error("system.0.cache_control: Extra inputs are not permitted").as_bytes());
    let server = Server::start(vec![no, reply(200, "", &API.whole("ok"))]).await;
    let model = API.model(&server.url);
    let request = talk([last_shared(vec![Message::system(long())]), vec![Message::user("Q")]].concat(), None);
    for attempts in [2, 1] {
        assert_eq!(model.complete(&request, None).await.expect("an answer").attempts, attempts);
    }
    let sent: Vec<bool> = server.requests().iter().map(|body| body.contains("cache_control")).collect();
    assert_eq!(sent, [true, false, false]);
    assert!(model.learned().refused().contains(RequestOption::CacheControl));
}

#[tokio::test]
async fn what_is_written_and_read_is_counted() {
    let usage = json!({"input_tokens": 10, "cache_creation_input_tokens": 200, "cache_read_input_tokens": 3000, "output_tokens": 4,
        "output_tokens_details": {"thinking_tokens": 3}});
    let whole = json!({"type": "message", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn", "usage": usage});
    let used = Usage {
        cached_tokens: Some(3000),
        cache_write_tokens: Some(200),
        reasoning_tokens: Some(3),
        ..Usage::new(3210, 4)
    };
    let server = Server::start(vec![reply(200, "", whole.to_string().as_bytes())]).await;
    assert_eq!(API.model(&server.url).complete(&request(), None).await.expect("an answer").usage, Some(used));
    let start = super::event("message_start", &format!(r#""message":{{"usage":{usage}}}"#));
    let end = r#""delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4,"output_tokens_details":{"thinking_tokens":3}}"#;
    let events = [start, API.delta("ok"), super::event("message_delta", end), super::event("message_stop", r#""x":0"#)];
    let server = Server::start(vec![super::stream(&events)]).await;
    assert_eq!(API.model(&server.url).complete(&request(), None).await.expect("an answer").usage, Some(used));
}
