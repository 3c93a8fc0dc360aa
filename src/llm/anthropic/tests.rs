//! The client against servers that speak Messages, well and badly.

use super::{Anthropic, model};
use crate::llm::remote::interface::Interface as _;
use crate::llm::remote::testing::{HEAD, KEY, body, request, settings, stream, watch};
use crate::llm::remote::{Remote, Verdict};
use crate::llm::{Model as _, ModelError, RemoteSettings};
use crate::net::testing::{Reply, Server, reply};
use crate::types::{Decoding, Message, Prompt, Request, Usage};
use std::time::Duration;
use wiremock::matchers::{body_string, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const STOP: &str = "data: {\"type\":\"message_stop\"}\n\n";

fn claude(base: &str, prefill: bool) -> Remote {
    model(settings(base), prefill).expect("a model")
}

fn whole(content: &str, reason: &str) -> Vec<u8> {
    format!(
        r#"{{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":{content},"stop_reason":"{reason}","stop_sequence":null,"usage":{{"input_tokens":9,"cache_read_input_tokens":2,"output_tokens":4}}}}"#
    )
    .into_bytes()
}

fn text(text: &str) -> Vec<u8> {
    whole(&serde_json::json!([{"type": "text", "text": text}]).to_string(), "stop_sequence")
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {{\"type\":\"{name}\",{data}}}\n\n")
}

fn start() -> String {
    let message = r#""message":{"model":"m-1","content":[],"usage":{"input_tokens":9,"output_tokens":1}}"#;
    let block = r#""index":0,"content_block":{"type":"text","text":""}"#;
    [event("message_start", message), event("content_block_start", block), event("ping", r#""x":0"#)].concat()
}

fn delta(text: &str) -> String {
    let text = serde_json::to_string(text).expect("a string");
    event("content_block_delta", &format!(r#""index":0,"delta":{{"type":"text_delta","text":{text}}}"#))
}

fn end(reason: &str) -> String {
    let data = format!(r#""delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":4}}"#);
    event("content_block_stop", r#""index":0"#) + &event("message_delta", &data)
}

#[tokio::test]
async fn a_request_is_put_as_messages_byte_for_byte() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/messages"))
        .and(header("x-api-key", KEY))
        .and(header("anthropic-version", "2023-06-01"))
        .and(header("content-type", "application/json"))
        .and(body_string(
            r#"{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Examples.\nQuestion: x\nThought 1:"}],"temperature":0.0,"stop_sequences":["\nObservation 1:"]}"#,
        ))
        .respond_with(ResponseTemplate::new(200).set_body_bytes(text(" I search.\nAction 1: Search[x]\nObservation 1: y")))
        .expect(1)
        .mount(&server)
        .await;
    let answer = claude(&server.uri(), false).complete(&request()).await.expect("an answer");
    assert_eq!(answer.text, " I search.\nAction 1: Search[x]");
    assert_eq!((answer.finish_reason.as_deref(), answer.attempts), (Some("stop"), 1));
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 11, completion_tokens: 4 }));
    assert!(!server.received_requests().await.expect("recorded")[0].headers.contains_key("authorization"));
}

#[test]
fn conversations_settings_and_stops_find_their_places() {
    let put = |request: &Request, prefill| {
        let put = Anthropic { prefill }.encode("m", request, false);
        (String::from_utf8(put.body).expect("JSON is UTF-8"), put.sent.stream, put.label)
    };
    let messages = vec![
        Message::system("Answer."),
        Message::user("Q"),
        Message::assistant("Thought: \n"),
        Message::system("Response:"),
        Message::assistant("It is \n"),
    ];
    let decoding = Decoding { temperature: 1.0, top_p: 0.5, max_tokens: 7, seed: Some(3) };
    let stop = vec!["\n\n".into(), "a b".into(), " ".into()];
    let talk = Request { prompt: Prompt::Messages(messages), stop, decoding };
    let want = r#"{"model":"m","max_tokens":7,"system":"Answer.","messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"Thought: \n"},{"role":"user","content":"Response:"},{"role":"assistant","content":"It is"}],"top_p":0.5,"stop_sequences":["a b"],"stream":true}"#;
    assert_eq!(put(&talk, false), (want.to_owned(), true, String::new()));
    let want = r#"{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Examples.\nQuestion: x\n"},{"role":"assistant","content":"Thought 1:"}],"temperature":0.0,"stop_sequences":["\nObservation 1:"]}"#;
    assert_eq!(put(&request(), true), (want.to_owned(), false, "Thought 1:".to_owned()));
    let interface = Anthropic { prefill: false };
    for base in ["https://h", "https://h/", "https://h/v1", "https://h/v1/messages"] {
        assert_eq!(interface.address(base, "m", true), "https://h/v1/messages", "{base}");
    }
}

#[tokio::test]
async fn a_temperature_above_one_is_not_lowered_in_silence() {
    let server = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let mut warm = request();
    warm.decoding.temperature = 1.5;
    let error = claude(&server.url, false).complete(&warm).await.expect_err("too warm");
    assert_eq!(error, ModelError::Other("a temperature of 1.5 is above 1, the most that Anthropic takes".into()));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn only_text_is_text_and_reasons_have_their_usual_names() {
    for (content, reason, left, expected) in [
        (
            r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]"#,
            "end_turn",
            "ab",
            "stop",
        ),
        (r#"[{"type":"tool_use","name":"x","input":{}}]"#, "tool_use", "", "tool_use"),
        (r#"[{"type":"text","text":"cut"}]"#, "max_tokens", "cut", "length"),
        ("[]", "refusal", "", "content_filter"),
        ("[7]", "model_context_window_exceeded", "", "length"),
    ] {
        let server = Server::start(vec![reply(200, "", &whole(content, reason))]).await;
        let answer = claude(&server.url, false).complete(&request()).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), (left, Some(expected)), "{content}");
    }
}

#[tokio::test]
async fn refusals_are_typed_and_overload_passes() {
    let error = |kind: &str, message: &str| {
        serde_json::json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
    };
    let busy = reply(529, "", error("overloaded_error", "Overloaded").as_bytes());
    let server = Server::start(vec![busy.clone(), reply(200, "", &text("ok"))]).await;
    assert_eq!(claude(&server.url, false).complete(&request()).await.expect("an answer").attempts, 2);
    let lie = reply(200, "", error("api_error", "no").as_bytes());
    for (bad, requests, expected) in [
        (busy, 3, ModelError::Exhausted { attempts: 3, reason: "status 529: Overloaded".into() }),
        (lie, 3, ModelError::Undecodable { attempts: 3, reason: "it holds an error: no".into() }),
        (reply(200, "", b"{}"), 3, ModelError::Undecodable { attempts: 3, reason: "`content` is missing".into() }),
        (
            reply(401, "", error("authentication_error", &format!("invalid x-api-key {KEY}")).as_bytes()),
            1,
            ModelError::Refused { status: 401, message: "invalid x-api-key ***".into() },
        ),
        (
            reply(400, "", error("invalid_request_error", "stop_sequences: too many").as_bytes()),
            1,
            ModelError::Refused { status: 400, message: "stop_sequences: too many".into() },
        ),
    ] {
        let server = Server::start(vec![bad]).await;
        let model = claude(&server.url, false);
        let error = model.complete(&request()).await.expect_err("no answer");
        assert_eq!((&error, server.requests().len()), (&expected, requests));
        let all = format!("{error} {error:?} {model:?}");
        assert!(!all.contains("0123456"), "{all}");
        assert!(server.requests()[0].contains(KEY), "it must be sent");
    }
}

#[tokio::test]
async fn a_stream_is_shown_as_it_comes() {
    let thought = event("content_block_delta", r#""index":0,"delta":{"type":"thinking_delta","thinking":"hm"}"#);
    let events = [start(), thought, delta(" I "), delta("think. 東"), end("end_turn"), STOP.into()].concat();
    let bytes = [HEAD.as_bytes(), events.as_bytes()].concat();
    // Seven bytes at a time: in the middle of lines, of events and of characters.
    let server = Server::start(vec![Reply::Pieces(bytes.chunks(7).map(<[u8]>::to_vec).collect())]).await;
    let (answer, shown) = watch(&claude(&server.url, false), &request()).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), shown.as_str()), (" I think. 東", " I |think. 東"));
    assert_eq!((answer.finish_reason.as_deref(), answer.attempts), (Some("stop"), 1));
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 9, completion_tokens: 4 }));
    assert!(body(&server.requests()[0]).ends_with(r#""stop_sequences":["\nObservation 1:"],"stream":true}"#));
}

#[tokio::test]
async fn a_stop_that_is_not_sent_closes_the_connection() {
    let mut request = request();
    request.stop = vec!["\n".into()];
    let pieces = [HEAD.to_owned(), start(), delta("one line"), delta("\nand another"), delta(" and")];
    let server = Server::start(vec![Reply::Pieces(pieces.map(String::into_bytes).to_vec())]).await;
    let answer = claude(&server.url, false).complete(&request).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("one line", Some("stop")));
    assert_eq!(answer.usage, None, "what was counted at the start is not what was used");
    let sent = server.requests();
    assert!(body(&sent[0]).ends_with(r#""temperature":0.0,"stream":true}"#), "{}", sent[0]);
    for _ in 0..400 {
        if server.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the server would generate for ever");
}

#[tokio::test]
async fn streams_that_break_off_are_made_again() {
    let error = r#""error":{"type":"overloaded_error","message":"Overloaded"}"#;
    let good = stream(&[start(), delta("partly"), end("end_turn"), STOP.into()]);
    for (first, shown_first) in [
        (stream(&[start(), delta("par"), delta("tial")]), "par|tial|↺|"),
        (stream(&[start(), delta("par"), event("error", error)]), "par|↺|"),
        (stream(&[start(), "data: {\"type\":\"content_bl".into()]), ""),
        (Reply::Stall([HEAD, &start(), &delta("par")].concat().into_bytes()), "par|↺|"),
        (stream(&[STOP.into()]), ""),
    ] {
        let name = format!("{first:?}");
        let server = Server::start(vec![first, good.clone()]).await;
        let (answer, shown) = watch(&claude(&server.url, false), &request()).await;
        let answer = answer.expect(&name);
        assert_eq!((answer.text.as_str(), answer.attempts, server.requests().len()), ("partly", 2, 2), "{name}");
        assert_eq!(shown, format!("{shown_first}partly"), "{name}");
    }
    // What is said after the reason for the end cannot take it back, and its absence matters little.
    let server = Server::start(vec![stream(&[start(), delta("ok"), end("max_tokens")])]).await;
    let (answer, _) = watch(&claude(&server.url, false), &request()).await;
    assert_eq!(answer.expect("an answer").finish_reason.as_deref(), Some("length"));
}

#[tokio::test]
async fn a_check_says_what_is_not_sent() {
    let server = Server::start(vec![reply(200, "", &text("four, five, six, seven, eight"))]).await;
    let settings = RemoteSettings { model: "claude".into(), ..settings(&server.url) };
    let check = model(settings, false).expect("a model").check().await.expect("a server");
    assert_eq!((check.endpoint, check.max_tokens_name, check.left_out), ("messages", "max_tokens", &["seed"][..]));
    assert_eq!((check.stop, check.answered.as_deref()), (Verdict::Ignored, Some("m-1")));
}
