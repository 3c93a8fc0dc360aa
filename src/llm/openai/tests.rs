//! The client against servers that answer well, badly, falsely and not at all.

use super::{Endpoint, OpenAi, OpenAiSettings};
use crate::llm::capability;
use crate::llm::remote::interface::Interface as _;
use crate::llm::remote::testing::{HEAD, KEY, body, request, settings, stream, watch};
use crate::llm::remote::{Remote, Verdict};
use crate::llm::{Model as _, ModelError, RemoteSettings};
use crate::net::NetError;
use crate::net::testing::{Reply, Server, reply, short};
use crate::types::{Completion, Usage};
use std::time::Duration;
use wiremock::matchers::{body_partial_json, header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

fn model(base: &str, endpoint: Endpoint) -> Remote {
    let openai = OpenAiSettings { endpoint, ..OpenAiSettings::default() };
    super::model(settings(&format!("{base}/v1")), openai).expect("a model")
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
    let shown = format!("{:?}", settings("http://u:pw9@h/v1"));
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
}

#[tokio::test]
async fn a_server_that_refuses_for_ever_is_not_asked_for_ever() {
    let no = reply(400, "", br#"{"error":{"message":"stop and max_completion_tokens are unsupported"}}"#);
    let (answer, server) = ask(vec![no]).await;
    assert!(matches!(answer, Err(ModelError::Refused { status: 400, .. })));
    // Without the one, then without the other, then never again.
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_model_that_only_streams_is_asked_for_streams() {
    let whole = reply(400, "", br#"{"error":{"message":"This model only support stream mode"}}"#);
    let chunks = ["data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\n".into(), "data: [DONE]\n\n".into()];
    let server = Server::start(vec![whole.clone(), stream(&chunks)]).await;
    let model = model(&server.url, Endpoint::Chat);
    for attempts in [2, 1] {
        let answer = model.complete(&request()).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts), ("ok", attempts));
    }
    let both = [whole, reply(400, "", br#"{"error":{"message":"no stream"}}"#)];
    let server = Server::start([both.to_vec(), both.to_vec()].concat()).await;
    let error = self::model(&server.url, Endpoint::Chat).complete(&request()).await.expect_err("neither");
    assert!(matches!(error, ModelError::Refused { status: 400, .. }) && server.requests().len() == 3, "{error:?}");
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    let server = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let settings = RemoteSettings { key: None, ..settings(&server.url) };
    let model = super::model(settings, OpenAiSettings::default()).expect("a model");
    model.complete(&request()).await.expect("an answer");
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
        let openai = OpenAi::new(OpenAiSettings { endpoint, ..OpenAiSettings::default() });
        assert_eq!(openai.address(base, "m", false), url);
    }
}

fn named(name: &str, base: &str, prefill: bool) -> Remote {
    let server = capability::of(name).expect("a row");
    super::model(settings(base), OpenAiSettings { endpoint: Endpoint::Chat, server, prefill }).expect("a model")
}

#[tokio::test]
async fn a_server_that_is_named_is_asked_in_its_own_way_at_once() {
    let mut request = request();
    request.stop = (0..6).map(|n| format!("\nObservation {n}:")).collect();
    for (name, stops, limit, top_p, stream) in [
        ("auto", 4, r#""max_tokens":100"#, true, true),
        ("openai", 4, r#""max_completion_tokens":100"#, true, true),
        ("vllm", 6, r#""max_tokens":100"#, true, false),
        ("tgi", 4, r#""max_tokens":100"#, false, true),
        ("deepseek", 6, r#""max_tokens":100"#, true, false),
    ] {
        let server = Server::start(vec![reply(200, "", &text("a\nObservation 5: b"))]).await;
        let answer = named(name, &server.url, false).complete(&request).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts), ("a", 1));
        let requests = server.requests();
        let sent = body(&requests[0]);
        assert_eq!(sent.matches("Observation").count(), stops, "{name}: {sent}");
        assert!(sent.contains(limit) && sent.contains(r#""top_p":1.0"#) == top_p, "{name}: {sent}");
        assert_eq!(sent.contains(r#""stream":true"#), stream, "{name}: {sent}");
    }
}

#[tokio::test]
async fn text_completions_are_limited_by_the_older_name_everywhere() {
    let server = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let row = capability::of("openai").expect("a row");
    let openai = OpenAiSettings { endpoint: Endpoint::Completions, server: row, prefill: false };
    super::model(settings(&server.url), openai).expect("a model").complete(&request()).await.expect("an answer");
    assert!(server.requests()[0].contains(r#""max_tokens":100"#), "{}", server.requests()[0]);
}

#[tokio::test]
async fn a_stop_that_the_server_does_not_know_ends_the_answer_early() {
    let no = reply(400, "", br#"{"error":{"message":"Unsupported parameter: 'stop'","param":"stop"}}"#);
    let delta = |text: &str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":{text:?}}}}}]}}\n\n").into_bytes();
    let pieces = vec![HEAD.into(), delta("a"), delta("\nObservation 1:"), delta(" made up")];
    let server = Server::start(vec![no, Reply::Pieces(pieces)]).await;
    let answer = model(&server.url, Endpoint::Chat).complete(&request()).await.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref(), answer.usage), ("a", Some("stop"), None));
    assert!(server.requests()[1].contains(r#""stream":true"#) && !server.requests()[1].contains(r#""stop""#));
    for _ in 0..400 {
        if server.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("the server would generate for ever");
}

#[tokio::test]
async fn a_label_is_continued_and_its_echo_left_out() {
    for sent in [" I search.", "Thought 1: I search.", "<think>\nhm\n</think>\n\nThought 1: I search."] {
        let server = Server::start(vec![reply(200, "", &text(&format!("{sent}\nObservation 1: x")))]).await;
        let model = named("vllm", &server.url, true);
        assert_eq!(model.endpoint(), "chat+prefill");
        let answer = model.complete(&request()).await.expect("an answer");
        assert_eq!(answer.text, " I search.", "{sent}");
        let (answer, shown) = watch(&model, &request()).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), (" I search.", " I search."), "{sent}");
        let requests = server.requests();
        assert_eq!(
            body(&requests[0]),
            r#"{"model":"m","messages":[{"role":"user","content":"Examples.\nQuestion: x\n"},{"role":"assistant","content":"Thought 1:"}],"add_generation_prompt":false,"continue_final_message":true,"temperature":0.0,"top_p":1.0,"max_tokens":100,"stop":["\nObservation 1:"]}"#
        );
    }
}

#[tokio::test]
async fn reasoning_is_no_part_of_the_text_wherever_it_stands() {
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let streams = [
        [chunk(r#"{"reasoning":"hm"}"#), chunk(r#"{"content":"ok"}"#)],
        [chunk(r#"{"reasoning_content":"hm"}"#), chunk(r#"{"content":"ok"}"#)],
        [chunk(r#"{"content":"<think>\nObservation 1: hm</th"}"#), chunk(r#"{"content":"ink>\n\nok"}"#)],
    ];
    for events in streams {
        let server = Server::start(vec![stream(&[events.concat(), "data: [DONE]\n\n".into()])]).await;
        let (answer, shown) = watch(&model(&server.url, Endpoint::Chat), &request()).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("ok", "ok"), "{events:?}");
    }
    let whole = |message: &str| reply(200, "", format!(r#"{{"choices":[{{"message":{message}}}]}}"#).as_bytes());
    for (message, place) in [
        (r#"{"content":"four, five","reasoning":"hm"}"#, "reasoning"),
        (r#"{"content":"four, five","reasoning_content":"hm","reasoning":""}"#, "reasoning_content"),
        (r#"{"content":"<think>hm</think>four, five"}"#, "<think>"),
    ] {
        let server = Server::start(vec![whole(message)]).await;
        let check = model(&server.url, Endpoint::Chat).check().await.expect("a server");
        assert_eq!((check.reasoning, check.sample.as_str()), (Some(place), "four, five"));
    }
    let server = Server::start(vec![whole(r#"{"content":"<think>hm</think>ok"}"#)]).await;
    let answer = named("openai", &server.url, false).complete(&request()).await.expect("an answer");
    assert_eq!(answer.text, "<think>hm</think>ok", "this server parts them itself");
}

#[tokio::test]
async fn a_model_that_has_one_temperature_only_is_checked_with_that() {
    let no = reply(400, "", br#"{"error":{"message":"Unsupported value: 'temperature' does not support 0"}}"#);
    let server = Server::start(vec![no, reply(200, "", &text("ok"))]).await;
    let check = model(&server.url, Endpoint::Chat).check().await.expect("a server");
    assert_eq!((check.temperature, check.requests), (Verdict::Refused, 2));
    assert!(server.requests()[1].contains(r#""temperature":1.0"#));
}

#[tokio::test]
async fn several_servers_share_the_work_and_the_record_names_them_all() {
    let slow = Server::start(vec![Reply::Hang]).await;
    let quick = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let urls = [&slow, &quick].map(|server| server.url.replace("://", "://user:pw9@"));
    let settings = RemoteSettings { base_urls: urls.to_vec(), ..settings("") };
    let model = super::model(settings, OpenAiSettings::default()).expect("a model");
    let want = format!("{}/chat/completions,{}/chat/completions", slow.url, quick.url);
    assert_eq!(model.address(), want);
    let request = request();
    let mut waits = std::pin::pin!(model.complete(&request));
    for _ in 0..3 {
        tokio::select! {
            biased;
            _ = &mut waits => panic!("this one hangs"),
            answer = model.complete(&request) => assert_eq!(answer.expect("an answer").attempts, 1),
        }
    }
    assert_eq!((slow.requests().len(), quick.requests().len()), (1, 3));
    let all = format!("{:?} {model:?}", waits.await.expect("the second attempt goes elsewhere"));
    assert!(!all.contains("pw9") && slow.requests().len() == 1, "{all}");
}
