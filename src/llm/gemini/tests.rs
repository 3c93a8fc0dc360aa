//! The client against servers that speak `generateContent`, well and badly.

use super::{Gemini, model};
use crate::llm::remote::Remote;
use crate::llm::remote::interface::Interface as _;
use crate::llm::remote::testing::{HEAD, KEY, body, request, settings, stream, watch};
use crate::llm::{Model as _, ModelError};
use crate::net::testing::{Reply, Server, reply};
use crate::types::{Decoding, Message, Prompt, Request, Usage};
use std::time::Duration;
use wiremock::matchers::{body_string, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn gemini(base: &str) -> Remote {
    model(settings(base)).expect("a model")
}

/// A body with these parts, which is an event of a stream as well.
fn chunk(parts: &str, rest: &str) -> String {
    format!(
        r#"{{"candidates":[{{"content":{{"parts":[{parts}],"role":"model"}},"index":0{rest}}}],"usageMetadata":{{"promptTokenCount":9,"candidatesTokenCount":4,"thoughtsTokenCount":3,"totalTokenCount":16}},"modelVersion":"m-1"}}"#
    )
}

fn text(text: &str, rest: &str) -> String {
    chunk(&serde_json::json!({"text": text}).to_string(), rest)
}

fn event(data: &str) -> String {
    format!("data: {data}\r\n\r\n")
}

const END: &str = r#","finishReason":"STOP""#;

#[tokio::test]
async fn a_request_is_put_as_contents_byte_for_byte() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1beta/models/m:generateContent"))
        .and(header("x-goog-api-key", KEY))
        .and(body_string(
            r#"{"contents":[{"role":"user","parts":[{"text":"Examples.\nQuestion: x\nThought 1:"}]}],"generationConfig":{"temperature":0.0,"topP":1.0,"maxOutputTokens":100,"stopSequences":["\nObservation 1:"]}}"#,
        ))
        .respond_with(ResponseTemplate::new(200).set_body_string(text(" I search.\nObservation 1: y", END)))
        .expect(1)
        .mount(&server)
        .await;
    let answer = gemini(&server.uri()).complete(&request()).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), (" I search.", Some("stop")));
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 9, completion_tokens: 7 }));
    assert!(!server.received_requests().await.expect("recorded")[0].headers.contains_key("authorization"));
}

#[test]
fn conversations_settings_and_stops_find_their_places() {
    let messages = vec![
        Message::system("Answer."),
        Message::user("Q"),
        Message::assistant("Thought:"),
        Message::system("Response:"),
        Message::user("now"),
    ];
    let decoding = Decoding { temperature: 1.5, top_p: 0.5, max_tokens: 7, seed: Some(3) };
    let stop = (0..6).map(|n| format!("s{n}")).collect();
    let put = Gemini.encode("m", &Request { prompt: Prompt::Messages(messages), stop, decoding }, false);
    assert_eq!(
        String::from_utf8(put.body).expect("JSON is UTF-8"),
        r#"{"systemInstruction":{"parts":[{"text":"Answer."}]},"contents":[{"role":"user","parts":[{"text":"Q"}]},{"role":"model","parts":[{"text":"Thought:"}]},{"role":"user","parts":[{"text":"Response:\nnow"}]}],"generationConfig":{"temperature":1.5,"topP":0.5,"maxOutputTokens":7,"seed":3,"stopSequences":["s0","s1","s2","s3","s4"]}}"#
    );
    assert!(put.sent.stream, "the sixth stop is applied here");
    let seed = |seed| Gemini.unsupported(&Decoding { seed, ..Decoding::default() });
    assert!(seed(Some(1 << 31)).is_some() && seed(Some((1 << 31) - 1)).is_none() && seed(None).is_none());
}

#[test]
fn addresses_are_made_from_any_form_of_base_and_name() {
    for (base, name, stream, url) in [
        ("https://h", "m-1.5", false, "https://h/v1beta/models/m-1.5:generateContent"),
        ("https://h/", "m", true, "https://h/v1beta/models/m:streamGenerateContent?alt=sse"),
        ("https://h/v1", "tunedModels/x", false, "https://h/v1/tunedModels/x:generateContent"),
        ("https://h/v1beta/", "m", false, "https://h/v1beta/models/m:generateContent"),
        ("https://h?key=k", "m", true, "https://h/v1beta/models/m:streamGenerateContent?alt=sse&key=k"),
        ("https://h?key=k", "a?b#é", false, "https://h/v1beta/models/a%3Fb%23%C3%A9:generateContent?key=k"),
    ] {
        assert_eq!(Gemini.address(base, name, stream), url);
    }
}

#[tokio::test]
async fn thoughts_are_no_text_and_reasons_have_their_usual_names() {
    for (answer, left, reason) in [
        (chunk(r#"{"text":"hm","thought":true},{"text":"a"},{"text":"b"}"#, END), "ab", Some("stop")),
        (
            chunk(r#"{"functionCall":{"name":"x"}}"#, r#","finishReason":"MALFORMED_FUNCTION_CALL""#),
            "",
            Some("malformed_function_call"),
        ),
        (r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#.into(), "", Some("length")),
        (r#"{"candidates":[{"finishReason":"SAFETY","content":{}}]}"#.into(), "", Some("content_filter")),
        (text("x", r#","finishReason":"FINISH_REASON_UNSPECIFIED""#), "x", None),
        (text("x", ""), "x", None),
    ] {
        let server = Server::start(vec![reply(200, "", answer.as_bytes())]).await;
        let got = gemini(&server.url).complete(&request()).await.expect(&answer);
        assert_eq!((got.text.as_str(), got.finish_reason.as_deref()), (left, reason), "{answer}");
    }
}

#[tokio::test]
async fn refusals_are_typed_and_a_blocked_prompt_is_not_asked_again() {
    let error = |status: u16, message: &str| {
        serde_json::json!({"error": {"code": status, "message": message, "status": "X"}}).to_string()
    };
    let blocked = r#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#;
    let refused = |status, message: &str| ModelError::Refused { status, message: message.into() };
    let undecodable = |reason: &str| ModelError::Undecodable { attempts: 3, reason: reason.into() };
    for (bad, requests, expected) in [
        (reply(200, "", blocked.as_bytes()), 1, refused(200, "the prompt was blocked: SAFETY")),
        (
            reply(400, "", error(400, &format!("API key not valid: {KEY}")).as_bytes()),
            1,
            refused(400, "API key not valid: ***"),
        ),
        (reply(404, "", format!("[{}]", error(404, "no model")).as_bytes()), 1, refused(404, "no model")),
        (
            reply(503, "", error(503, "The model is overloaded.").as_bytes()),
            3,
            ModelError::Exhausted { attempts: 3, reason: "status 503: The model is overloaded.".into() },
        ),
        (reply(200, "", error(500, "no").as_bytes()), 3, undecodable("it holds an error: no")),
        (reply(200, "", b"{}"), 3, undecodable("`candidates` is missing")),
        (reply(200, "", br#"{"candidates":[]}"#), 3, undecodable("`candidates` is empty")),
    ] {
        let server = Server::start(vec![bad]).await;
        let model = gemini(&server.url);
        let error = model.complete(&request()).await.expect_err("no answer");
        assert_eq!((&error, server.requests().len()), (&expected, requests));
        let all = format!("{error} {error:?} {model:?}");
        assert!(!all.contains("0123456"), "{all}");
        assert!(server.requests()[0].contains(KEY), "it must be sent");
    }
}

#[tokio::test]
async fn a_stream_is_shown_as_it_comes() {
    let thought = event(&chunk(r#"{"text":"hm","thought":true}"#, ""));
    let events = [thought, event(&text(" I ", "")), event(&text("think.", "")), event(&text("", END))].concat();
    let bytes = [HEAD.as_bytes(), events.as_bytes()].concat();
    let server = Server::start(vec![Reply::Raw(bytes)]).await;
    let (answer, shown) = watch(&gemini(&server.url), &request()).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), shown.as_str()), (" I think.", " I |think."));
    assert_eq!(answer.usage, Some(Usage { prompt_tokens: 9, completion_tokens: 7 }));
    assert!(server.requests()[0].starts_with("POST /v1beta/models/m:streamGenerateContent?alt=sse "));
    assert!(!body(&server.requests()[0]).contains("stream"));
}

#[tokio::test]
async fn streams_that_break_off_are_made_again_and_blocked_ones_are_not() {
    let good = stream(&[event(&text("partly", END))]);
    let error = event(r#"{"error":{"code":503,"message":"overloaded"}}"#);
    for (first, shown_first) in [
        (stream(&[event(&text("par", ""))]), "par|↺|"),
        (stream(&[event(&text("par", "")), error]), "par|↺|"),
        (stream(&[]), ""),
    ] {
        let name = format!("{first:?}");
        let server = Server::start(vec![first, good.clone()]).await;
        let (answer, shown) = watch(&gemini(&server.url), &request()).await;
        let answer = answer.expect(&name);
        assert_eq!((answer.text.as_str(), answer.attempts), ("partly", 2), "{name}");
        assert_eq!(shown, format!("{shown_first}partly"), "{name}");
    }
    let blocked = stream(&[event(r#"{"promptFeedback":{"blockReason":"OTHER"}}"#)]);
    let server = Server::start(vec![blocked]).await;
    let (answer, _) = watch(&gemini(&server.url), &request()).await;
    let expected = ModelError::Refused { status: 200, message: "the prompt was blocked: OTHER".into() };
    assert_eq!((answer.expect_err("blocked"), server.requests().len()), (expected, 1));
}

#[tokio::test]
async fn a_stop_that_is_not_sent_closes_the_connection() {
    let mut request = request();
    request.stop = ["1", "2", "3", "4", "5", "\n"].map(String::from).to_vec();
    let pieces = [HEAD.to_owned(), event(&text("one line", "")), event(&text("\nand", "")), event(&text(" on", ""))];
    let server = Server::start(vec![Reply::Pieces(pieces.map(String::into_bytes).to_vec())]).await;
    let answer = gemini(&server.url).complete(&request).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("one line", Some("stop")));
    for _ in 0..400 {
        if server.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the server would generate for ever");
}
