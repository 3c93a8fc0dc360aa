//! Streams that come in odd pieces, break off, hang, lie and are refused.

use crate::llm::openai::{self, Endpoint, OpenAiSettings};
use crate::llm::remote::Remote;
use crate::llm::remote::testing::{HEAD, KEY, request, settings, stream, watch};
use crate::llm::{Model as _, ModelError, StreamEvent};
use crate::net::NetError;
use crate::net::testing::{Reply, Server, reply};
use crate::types::{Completion, Usage};
use std::sync::Mutex;
use std::time::Duration;

const DONE: &str = "data: [DONE]\n\n";
const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const USED: &str = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":4}}\n\n";

fn model(base: &str, endpoint: Endpoint) -> Remote {
    let openai = OpenAiSettings { endpoint, ..OpenAiSettings::default() };
    openai::model(settings(&format!("{base}/v1")), openai).expect("a model")
}

fn delta(text: &str) -> String {
    let text = serde_json::to_string(text).expect("a string");
    format!(
        "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}},\"text\":{text},\"finish_reason\":null}}]}}\n\n"
    )
}

fn whole(text: &str) -> Reply {
    stream(&[delta(text), END.into(), DONE.into()])
}

async fn ask_of(replies: Vec<Reply>) -> (Result<Completion, ModelError>, String, Server) {
    let server = Server::start(replies).await;
    let (answer, shown) = watch(&model(&server.url, Endpoint::Chat), &request()).await;
    (answer, shown, server)
}

#[tokio::test]
async fn text_is_shown_as_it_comes_at_both_endpoints() {
    for endpoint in [Endpoint::Chat, Endpoint::Completions] {
        let role = "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"hm\"}}],\"model\":\"m-1\"}\n\n";
        let events = [": hello\n\n", role, &delta(" I "), &delta("think. 東\u{1f600}"), &delta("!"), END, USED, DONE];
        let bytes = [HEAD.as_bytes(), events.concat().as_bytes()].concat();
        // Five bytes at a time: in the middle of lines, of events and of characters.
        let server = Server::start(vec![Reply::Pieces(bytes.chunks(5).map(<[u8]>::to_vec).collect())]).await;
        let (answer, shown) = watch(&model(&server.url, endpoint), &request()).await;
        let answer = answer.expect("an answer");
        assert_eq!(shown, " I |think. 東\u{1f600}|!");
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), (" I think. 東\u{1f600}!", Some("stop")));
        assert_eq!(answer.usage, Some(Usage { prompt_tokens: 9, completion_tokens: 4 }));
        assert_eq!(answer.attempts, 1);
        let sent = &server.requests()[0];
        assert!(sent.contains(r#""stream":true,"stream_options":{"include_usage":true}"#), "{sent}");
        assert!(sent.contains("accept: text/event-stream") && sent.contains(KEY), "{sent}");
    }
}

#[tokio::test]
async fn a_stop_closes_the_connection_and_cuts_the_text() {
    let mut pieces = vec![HEAD.into(), delta("a\nObs").into(), delta("tacle\nObserv").into()];
    pieces.extend([delta("ation 1:").into(), delta(" made up").into()]);
    let (answer, shown, server) = ask_of(vec![Reply::Pieces(pieces)]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("a\nObstacle", Some("stop")));
    assert_eq!(shown, "a|\nObstacle");
    for _ in 0..400 {
        if server.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the server would generate for ever");
}

#[tokio::test]
async fn an_attempt_that_breaks_off_is_void_and_made_again() {
    let cut = format!("{}data: {{\"choices\":[{{\"del", delta("par"));
    let framed = format!("HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n{cut}");
    let error = "data: {\"error\":{\"message\":\"overloaded\"}}\n\n";
    for (first, shown_first) in [
        (stream(&[delta("par"), delta("tial")]), "par|tial|↺|"),
        (Reply::Raw(framed.into_bytes()), "par|↺|"),
        (stream(&[cut]), "par|↺|"),
        (stream(&[delta("par"), error.into()]), "par|↺|"),
        (Reply::Stall([HEAD, &delta("par")].concat().into_bytes()), "par|↺|"),
        (stream(&[]), ""),
        (stream(&[DONE.into()]), ""),
        (reply(429, "retry-after: 0\r\n", b"{}"), ""),
        (reply(500, "content-type: text/event-stream\r\n", b"data: x\n\n"), ""),
        (Reply::Close, ""),
    ] {
        let name = format!("{first:?}");
        let (answer, shown, server) = ask_of(vec![first, whole("partly")]).await;
        let answer = answer.expect(&name);
        assert_eq!((answer.text.as_str(), answer.attempts, server.requests().len()), ("partly", 2, 2), "{name}");
        assert_eq!(shown, format!("{shown_first}partly"), "{name}");
    }
}

#[tokio::test]
async fn what_never_ends_well_is_a_typed_error() {
    let undecodable = |reason: &str| ModelError::Undecodable { attempts: 3, reason: reason.into() };
    let error = |body: &str| stream(&[format!("data: {body}\n\n")]);
    for (bad, expected) in [
        (stream(&[delta("a")]), undecodable("the stream ended before the completion did")),
        (stream(&[DONE.into()]), undecodable("the stream holds no completion")),
        (error(r#"{"error":{"message":"no  way"}}"#), undecodable("the stream holds an error: no way")),
        (error(r#"{"object":"error","message":"old"}"#), undecodable("the stream holds an error: old")),
        (stream(&["error: {\"message\":\"older\"}\n\n".into()]), undecodable("the stream holds an error: older")),
        (
            reply(429, "", b"{\"error\":\"slow\"}"),
            ModelError::Exhausted { attempts: 3, reason: "status 429: slow".into() },
        ),
        (error(&format!(r#"{{"error":"wrong key {KEY}"}}"#)), undecodable("the stream holds an error: wrong key ***")),
    ] {
        let (answer, _, server) = ask_of(vec![bad]).await;
        assert_eq!(answer.expect_err("no answer"), expected);
        assert_eq!(server.requests().len(), 3);
    }
    let (answer, _, _) = ask_of(vec![error("<html>")]).await;
    assert!(
        matches!(answer, Err(ModelError::Undecodable { reason, .. }) if reason.starts_with("the stream holds no chunk"))
    );
}

#[tokio::test]
async fn silence_and_size_are_errors_and_comments_are_silence() {
    let waiting = std::iter::repeat_n(b": waiting\n\n".to_vec(), 5000);
    let pieces = std::iter::once(HEAD.into()).chain(waiting).collect();
    let (answer, _, _) = ask_of(vec![Reply::Pieces(pieces)]).await;
    assert!(matches!(answer, Err(ModelError::Net(error)) if matches!(error.last(), NetError::Timeout { .. })));

    let endless = vec![delta(&"a".repeat(1000)); 400];
    for large in [stream(&endless), stream(&[delta(&"a".repeat(30_000))])] {
        let (answer, _, server) = ask_of(vec![large]).await;
        assert!(matches!(answer, Err(ModelError::Net(NetError::TooLarge { limit: 20_000, .. }))), "{answer:?}");
        assert_eq!(server.requests().len(), 1);
    }
    // A slow stream may take longer than the time allowed for one piece.
    let mut slow: Vec<Vec<u8>> = vec![HEAD.into()];
    slow.extend(std::iter::repeat_n(delta("a").into_bytes(), 900));
    slow.push([END, DONE].concat().into());
    let (answer, _, _) = ask_of(vec![Reply::Pieces(slow)]).await;
    let answer = answer.expect("an answer");
    assert!(answer.latency_ms > 2000 && answer.text.len() == 900, "{answer:?}");
}

#[tokio::test]
async fn after_the_end_nothing_can_go_wrong() {
    let end = |tail: &str| [HEAD, &delta("ok"), END, tail].concat().into_bytes();
    for last in
        [Reply::Raw(end("")), Reply::Raw(end("data: {\"cho\n\n")), Reply::Stall(end("")), Reply::Raw(end(&delta("")))]
    {
        let name = format!("{last:?}");
        let (answer, shown, server) = ask_of(vec![last]).await;
        assert_eq!(
            (answer.expect(&name).text.as_str(), shown.as_str(), server.requests().len()),
            ("ok", "ok", 1),
            "{name}"
        );
    }
    let (answer, _, _) = ask_of(vec![stream(&[delta("ok"), "data:[DONE]".into()])]).await;
    assert_eq!(answer.expect("an answer").finish_reason, None);
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_shown_at_once() {
    let body = br#"{"choices":[{"message":{"content":"a\nObservation 1: b"},"finish_reason":"length"}]}"#;
    let (answer, shown, _) = ask_of(vec![reply(200, "content-type: application/json\r\n", body)]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref(), shown.as_str()), ("a", Some("length"), "a"));
    let unnamed = [delta("a "), delta("b"), DONE.into(), delta("c")].concat();
    let (answer, shown, _) = ask_of(vec![reply(200, "", unnamed.as_bytes())]).await;
    assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("a b", "a |b"));
}

#[tokio::test]
async fn a_stream_that_nobody_asked_for_is_read_whole() {
    let server = Server::start(vec![stream(&[delta("a\nObser"), delta("vation 1: b"), USED.into(), END.into()])]).await;
    let answer = model(&server.url, Endpoint::Chat).complete(&request()).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.attempts), ("a", 1));
    assert!(!server.requests()[0].contains("\"stream\""));
}

#[tokio::test]
async fn a_refused_stream_is_remembered() {
    let no = |param: &str| {
        let body = serde_json::json!({"error": {"message": format!("`{param}` is not supported"), "param": param}});
        reply(400, "", body.to_string().as_bytes())
    };
    let json = reply(200, "", br#"{"choices":[{"message":{"content":"ok"}}]}"#);
    let server = Server::start(vec![no("stream_options"), whole("ok"), no("stream"), json]).await;
    let model = model(&server.url, Endpoint::Chat);
    for attempts in [2, 2, 1] {
        let (answer, shown) = watch(&model, &request()).await;
        let answer = answer.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts, shown.as_str()), ("ok", attempts, "ok"));
    }
    let sent = server.requests();
    let forms: Vec<(bool, bool)> =
        sent.iter().map(|r| (r.contains("\"stream\":true"), r.contains("stream_options"))).collect();
    assert_eq!(forms, [(true, true), (true, false), (true, false), (false, false), (false, false)]);
}

#[tokio::test]
async fn the_key_is_in_no_piece() {
    let events = [delta("your key: sk-test-0123"), delta("456789abcdef."), END.into()];
    let (answer, shown, _) = ask_of(vec![stream(&events)]).await;
    assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("your key: ***.", "your key: |***."));
}

#[tokio::test]
async fn a_model_without_streams_shows_its_text_at_the_end() {
    let shown = Mutex::new(String::new());
    let on_event = |piece: StreamEvent<'_>| {
        if let StreamEvent::Text(text) = piece {
            shown.lock().expect("no test panics here").push_str(text);
        }
    };
    let model = crate::llm::Baseline::new(crate::llm::BaselineSettings::default());
    let answer = model.stream(&request(), &on_event).await.expect("rules always answer");
    assert_eq!(*shown.lock().expect("no test panics here"), answer.text);
}
