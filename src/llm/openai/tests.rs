//! The client against servers that answer well, badly, falsely and not at all.

use super::{Endpoint, OpenAi, OpenAiSettings, Verdict, address};
use crate::llm::{Model as _, ModelError};
use crate::net::testing::{Reply, Server, reply, short};
use crate::net::{NetError, RetrySettings};
use crate::types::{Completion, Decoding, Prompt, Request, Usage};
use secrecy::SecretString;
use std::time::Duration;
use wiremock::matchers::{body_partial_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

const KEY: &str = "sk-test-0123456789abcdef";

fn model(base: &str, endpoint: Endpoint) -> OpenAi {
    let retry =
        RetrySettings { attempts: 3, first_wait: Duration::from_millis(1), longest_wait: Duration::from_millis(4) };
    OpenAi::new(OpenAiSettings {
        model: "m".into(),
        base_url: format!("{base}/v1"),
        endpoint,
        key: Some(SecretString::from(KEY)),
        timeout: Duration::from_millis(500),
        max_body: 20_000,
        retry,
        ..OpenAiSettings::default()
    })
    .expect("a model")
}

fn request() -> Request {
    Request {
        prompt: Prompt::text("Examples.\n".into(), "Question: x\nThought 1:"),
        stop: vec!["\nObservation 1:".into()],
        decoding: Decoding::default(),
    }
}

fn text(text: &str) -> Vec<u8> {
    let text = serde_json::to_string(text).expect("a string");
    format!(r#"{{"choices":[{{"message":{{"content":{text}}},"text":{text},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":9,"completion_tokens":4}}}}"#)
        .into_bytes()
}

async fn ask(replies: Vec<Reply>) -> (Result<Completion, ModelError>, Server) {
    let server = Server::start(replies).await;
    let answer = model(&server.url, Endpoint::Chat).complete(&request()).await;
    (answer, server)
}

#[tokio::test]
async fn both_endpoints_answer_with_key_and_cut_text() {
    for (endpoint, place) in [(Endpoint::Chat, "/v1/chat/completions"), (Endpoint::Completions, "/v1/completions")] {
        let server = MockServer::start().await;
        let body = text(" I search.\nAction 1: Search[x]\nObservation 1: made up");
        Mock::given(method("POST"))
            .and(path(place))
            .and(header("authorization", format!("Bearer {KEY}").as_str()))
            .and(header("content-type", "application/json"))
            .and(body_partial_json(serde_json::json!({"model": "m", "max_tokens": 100, "stop": ["\nObservation 1:"]})))
            .respond_with(ResponseTemplate::new(200).set_body_bytes(body))
            .expect(1)
            .mount(&server)
            .await;
        let answer = model(&server.uri(), endpoint).complete(&request()).await.expect("an answer");
        assert_eq!(answer.text, " I search.\nAction 1: Search[x]");
        assert_eq!(answer.finish_reason.as_deref(), Some("stop"));
        assert_eq!(answer.usage, Some(Usage { prompt_tokens: 9, completion_tokens: 4 }));
        assert_eq!((answer.attempts, answer.cached), (1, false));
    }
}

#[tokio::test]
async fn what_passes_is_tried_again() {
    for first in [
        reply(429, "retry-after: 0\r\n", b"{}"),
        reply(500, "", b"oops"),
        reply(502, "content-type: text/html\r\n", b"<html><title>Bad gateway</title>"),
        reply(200, "content-type: text/html\r\n", b"<html>sign in</html>"),
        reply(200, "", b"{\"choices\":[{\"message\":{\"con"),
        reply(200, "", b"{\"choices\":[]}"),
        short(200, 5000, b"{\"choices\":"),
        Reply::Close,
        Reply::Hang,
    ] {
        let shown = format!("{first:?}");
        let (answer, server) = ask(vec![first, reply(200, "", &text("ok"))]).await;
        let answer = answer.expect(&shown);
        assert_eq!((answer.text.as_str(), answer.attempts, server.requests().len()), ("ok", 2, 2), "{shown}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_a_typed_error() {
    let exhausted = |reason: &str| ModelError::Exhausted { attempts: 3, reason: reason.into() };
    let undecodable = |reason: &str| ModelError::Undecodable { attempts: 3, reason: reason.into() };
    for (bad, error) in [
        (reply(429, "", b"{\"error\":{\"message\":\"slow  down\"}}"), exhausted("status 429: slow down")),
        (reply(503, "", b"<title>Busy</title>"), exhausted("status 503: Busy")),
        (reply(200, "", b"<html><title>Sign in</title>"), undecodable("it is a web page: Sign in")),
        (reply(200, "", b"{\"choices\":[]}"), undecodable("`choices` is empty")),
        (reply(200, "", b"{\"error\":\"no\"}"), undecodable("it holds an error: no")),
    ] {
        let (answer, server) = ask(vec![bad]).await;
        assert_eq!(answer.expect_err("no answer"), error);
        assert_eq!(server.requests().len(), 3);
    }
    for status in [400, 401, 403, 404, 302] {
        let (answer, server) = ask(vec![reply(status, "", b"{\"error\":{\"message\":\"no\\nway\"}}")]).await;
        assert_eq!(answer.expect_err("no answer"), ModelError::Refused { status, message: "no way".into() });
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn silence_size_and_broken_lines_are_errors_of_the_network() {
    let (answer, _) = ask(vec![Reply::Hang]).await;
    let ModelError::Net(error) = answer.expect_err("silence") else { panic!("a network error") };
    assert!(matches!(error.last(), NetError::Timeout { .. }) && error.attempts() == 3, "{error:?}");
    let (answer, _) = ask(vec![reply(200, "", &text(&"a".repeat(30_000)))]).await;
    let ModelError::Net(error) = answer.expect_err("too large") else { panic!("a network error") };
    assert!(matches!(error, NetError::TooLarge { limit: 20_000, .. }), "{error:?}");
    let (answer, _) = ask(vec![short(200, 500, b"{")]).await;
    assert!(matches!(answer, Err(ModelError::Net(error)) if matches!(error.last(), NetError::Truncated { .. })));
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_debug_text() {
    let echo = format!("Incorrect API key provided: {KEY}. \u{1b}[31mAlso {} and more{}", &KEY[..14], "!".repeat(500));
    let body = serde_json::json!({"error": {"message": echo}}).to_string();
    for status in [401, 500, 200] {
        let server = Server::start(vec![reply(status, "", body.as_bytes())]).await;
        let model = model(&server.url, Endpoint::Chat);
        let error = model.complete(&request()).await.expect_err("no answer");
        let all = format!("{error} {error:?} {model:?} {:?}", error.hint());
        assert!(!all.contains("0123456") && !all.contains("sk-test"), "{all}");
        assert!(all.contains("***") && !all.contains('\u{1b}'), "{all}");
        assert!(error.to_string().chars().count() < 420, "{error}");
        assert!(server.requests()[0].contains(KEY), "it must be sent");
    }
    let settings = OpenAiSettings {
        key: Some(SecretString::from(KEY)),
        base_url: "http://u:pw9@h/v1".into(),
        ..OpenAiSettings::default()
    };
    let shown = format!("{settings:?}");
    assert!(!shown.contains(KEY) && !shown.contains("pw9"), "{shown}");
    let (answer, _) = ask(vec![reply(200, "", &text(&format!("your key is {KEY}")))]).await;
    assert_eq!(answer.expect("an answer").text, "your key is ***");
}

#[tokio::test]
async fn a_refused_stop_is_remembered_and_applied_here() {
    let no = reply(400, "", br#"{"error":{"message":"Unsupported parameter: 'stop'","param":"stop"}}"#);
    let full = reply(200, "", &text("a\nObservation 1: b"));
    let server = Server::start(vec![no, full]).await;
    let model = model(&server.url, Endpoint::Chat);
    let first = model.complete(&request()).await.expect("an answer");
    assert_eq!((first.text.as_str(), first.attempts), ("a", 2));
    let second = model.complete(&request()).await.expect("an answer");
    assert_eq!((second.text.as_str(), second.attempts), ("a", 1));
    let stops: Vec<bool> = server.requests().iter().map(|r| r.contains("\"stop\"")).collect();
    assert_eq!(stops, [true, false, false]);
}

#[tokio::test]
async fn a_refused_limit_goes_under_its_newer_name_and_both_can_be_refused() {
    let stop = reply(422, "", br#"{"detail":[{"loc":["body","stop"],"msg":"extra fields not permitted"}]}"#);
    let limit = reply(400, "", br#"{"error":{"message":"Use 'max_completion_tokens' instead.","param":"max_tokens"}}"#);
    let server = Server::start(vec![limit, stop, reply(200, "", &text("ok"))]).await;
    let model = model(&server.url, Endpoint::Chat);
    assert_eq!(model.complete(&request()).await.expect("an answer").attempts, 3);
    let last = server.requests().pop().expect("three requests");
    assert!(last.contains("\"max_completion_tokens\":100") && !last.contains("\"stop\""), "{last}");
    assert!(model.refuses_stop() && model.refuses_max_tokens());
}

#[tokio::test]
async fn a_server_that_refuses_for_ever_is_not_asked_for_ever() {
    let no = reply(400, "", br#"{"error":{"message":"stop and max_completion_tokens are unsupported"}}"#);
    let (answer, server) = ask(vec![no]).await;
    assert!(matches!(answer, Err(ModelError::Refused { status: 400, .. })));
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let settings = OpenAiSettings { model: "m".into(), base_url: server.url.clone(), ..OpenAiSettings::default() };
    OpenAi::new(settings).expect("a model").complete(&request()).await.expect("an answer");
    assert!(!server.requests()[0].to_ascii_lowercase().contains("authorization"));
}

#[tokio::test]
async fn a_check_tells_what_the_server_heeds() {
    let long = text("four, five, six, seven, eight, nine, ten");
    let cut = text("four, five, six, ");
    for (second, stop) in [(&cut, Verdict::Honoured), (&long, Verdict::Ignored)] {
        let server = Server::start(vec![reply(200, "", &long), reply(200, "", second)]).await;
        let check = model(&server.url, Endpoint::Completions).check().await.expect("a server");
        assert_eq!((check.stop, check.max_tokens, check.usage), (stop, Verdict::Honoured, true));
        assert_eq!((check.requests, check.answered, check.endpoint), (2, None, "completions"));
        assert_eq!(check.sample, "four, five, six, seven, eight, nine, ten");
        assert!(server.requests()[1].contains(r#""stop":["seven"]"#), "{}", server.requests()[1]);
    }
    let no = reply(400, "", br#"{"error":{"message":"no stop","param":"stop"}}"#);
    let server = Server::start(vec![reply(200, "", &long), no, reply(200, "", &long)]).await;
    let check = model(&server.url, Endpoint::Chat).check().await.expect("a server");
    assert_eq!((check.stop, check.requests), (Verdict::Refused, 3));
    let server =
        Server::start(vec![reply(200, "", br#"{"choices":[{"message":{"content":null}}],"model":"m-2"}"#)]).await;
    let check = model(&server.url, Endpoint::Chat).check().await.expect("a server");
    assert_eq!((check.stop, check.max_tokens, check.usage), (Verdict::Unclear, Verdict::Unclear, false));
    assert_eq!((check.requests, check.answered.as_deref()), (1, Some("m-2")));
}

#[test]
fn addresses_are_made_from_any_form_of_base() {
    for (base, endpoint, url) in [
        ("http://h/v1", Endpoint::Chat, "http://h/v1/chat/completions"),
        ("http://h/v1/", Endpoint::Completions, "http://h/v1/completions"),
        ("http://h/v1/chat/completions", Endpoint::Completions, "http://h/v1/completions"),
        ("http://h/v1/completions", Endpoint::Chat, "http://h/v1/chat/completions"),
        ("http://h/x?api-version=1", Endpoint::Chat, "http://h/x/chat/completions?api-version=1"),
        ("http://h", Endpoint::Chat, "http://h/chat/completions"),
    ] {
        assert_eq!(address(base, endpoint), url);
    }
}
