//! Whole answers: retried, refused, malformed, too large.

use super::{APIS, Api, KEY, ask, request, settings};
use crate::base::{Cause, Usage};
use crate::models::{Model as _, ModelError};
use crate::net::NetError;
use crate::net::testing::{Reply, Server, reply, short};
use serde_json::json;

#[tokio::test]
async fn transient_failures_are_retried() {
    for api in APIS {
        for first in [
            reply(429, "retry-after: 0\r\n", b"{}"),
            reply(529, "", api.error("Overloaded").as_bytes()),
            reply(502, "content-type: text/html\r\n", b"<html><title>Bad gateway</title>"),
            reply(200, "content-type: text/html\r\n", b"<html>sign in</html>"),
            reply(200, "", &api.whole("cut")[..40]),
            reply(200, "", api.error("no").as_bytes()),
            short(200, 5000, b"{\"choices\":"),
            Reply::Close,
        ] {
            let name = format!("{api:?} {first:?}");
            let (answer, server) = ask(api, vec![first, reply(200, "", &api.whole("ok"))]).await;
            let answer = answer.expect(&name);
            assert_eq!((answer.text.as_str(), answer.attempts, server.requests().len()), ("ok", 2, 2), "{name}");
        }
    }
    let (answer, _) = ask(Api::Chat, vec![Reply::Hang, reply(200, "", &Api::Chat.whole("ok"))]).await;
    assert_eq!(answer.expect("an answer").attempts, 2);
}

#[tokio::test]
async fn permanent_failures_are_typed_errors_without_the_key() {
    let exhausted = |reason: &str| ModelError::Exhausted {
        attempts: 3,
        reason: reason.into(),
        cause: Cause::ServerError,
        usage: None,
    };
    let malformed = |reason: &str| ModelError::Undecodable { attempts: 3, reason: reason.into() };
    let refused = |status, message: &str| {
        let cause = if status == 200 { Cause::ContentFilter } else { Cause::of_status(status) };
        ModelError::Refused { status, message: message.into(), cause, body: None }
    };
    let mut cases = Vec::new();
    for api in APIS {
        let leak = api.error(&format!("wrong  key\n{KEY}"));
        let missing = match api {
            Api::Chat | Api::Completions => "`choices` is missing",
            Api::Responses => "`output` is missing",
            Api::Messages => "`content` is missing",
            Api::Gemini => "`candidates` is missing",
        };
        cases.extend([
            (api, reply(503, "", api.error("slow  down").as_bytes()), exhausted("status 503: slow down")),
            (api, reply(503, "", b"<title>Busy</title>"), exhausted("status 503: Busy")),
            (api, reply(200, "", b"<html><title>Sign in</title>"), malformed("it is a web page: Sign in")),
            (api, reply(200, "", b"{}"), malformed(missing)),
            (api, reply(200, "", leak.as_bytes()), exhausted("an error in its answer: wrong key ***")),
            (api, reply(501, "", b"<title>Unsupported method</title>"), refused(501, "Unsupported method")),
        ]);
        cases.extend(
            [302, 400, 401, 403, 404]
                .map(|status| (api, reply(status, "", leak.as_bytes()), refused(status, "wrong key ***"))),
        );
    }
    let blocked = br#"{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":9}}"#;
    cases.extend([
        (Api::Chat, reply(200, "", b"{\"choices\":[]}"), malformed("`choices` is empty")),
        (
            Api::Chat,
            reply(429, "", br#"{"error":{"message":"no money","code":"insufficient_quota"}}"#),
            ModelError::Refused { status: 429, message: "no money".into(), cause: Cause::Quota, body: None },
        ),
        (Api::Gemini, reply(200, "", br#"{"candidates":[]}"#), malformed("`candidates` is empty")),
        (Api::Gemini, reply(200, "", blocked), refused(200, "the prompt was blocked: SAFETY")),
        (Api::Gemini, reply(404, "", format!("[{}]", Api::Gemini.error("no")).as_bytes()), refused(404, "no")),
    ]);
    for (api, bad, expected) in cases {
        let server = Server::start(vec![bad]).await;
        let model = api.model(&server.url);
        let error = model.complete(&request(), None).await.expect_err("no answer");
        let requests = if matches!(error, ModelError::Refused { .. }) { 1 } else { 3 };
        assert_eq!((&error, server.requests().len()), (&expected, requests), "{api:?}");
        let all = format!("{error} {error:?} {model:?} {:?}", error.hint());
        assert!(!all.contains("0123456"), "{all}");
        assert!(server.requests()[0].contains(KEY), "it must be sent");
    }
}

#[tokio::test]
async fn tokens_of_answers_that_are_asked_for_again_count() {
    let answer = |text: &str, reason: &str, prompt: u64| {
        let choice = json!({"message": {"content": text}, "finish_reason": reason});
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": 5});
        reply(200, "", json!({"choices": [choice], "usage": usage}).to_string().as_bytes())
    };
    let failed = || answer("It", "error", 10);
    let (completion, _) = ask(Api::Chat, vec![failed(), answer("", "odd", 20), answer("ok", "stop", 30)]).await;
    assert_eq!(completion.expect("an answer").usage, Some(Usage::new(60, 15)));
    let (error, _) = ask(Api::Chat, vec![failed(), failed(), answer("It", "error", 0)]).await;
    let call = error.expect_err("no answer").charged_call(&request()).expect("it was charged for");
    assert_eq!((call.usage, call.cause), (Some(Usage::new(20, 10)), Some(Cause::ServerError)));
    assert!(call.has_failed());
    let (error, _) = ask(Api::Chat, vec![reply(503, "", b"")]).await;
    assert_eq!(error.expect_err("no answer").charged_call(&request()), None);
}

#[tokio::test]
async fn messages_of_servers_are_cut_and_escaped_and_keys_masked() {
    let echo = format!("Incorrect API key provided: {KEY}. \u{1b}[31mAlso {} and more{}", &KEY[..14], "!".repeat(500));
    let (answer, _) = ask(Api::Chat, vec![reply(401, "", Api::Chat.error(&echo).as_bytes())]).await;
    let error = answer.expect_err("no answer").to_string();
    assert!(error.contains("***") && !error.contains("sk-test") && !error.contains('\u{1b}'), "{error}");
    assert!(error.chars().count() < 420, "{error}");
    let shown = format!("{:?}", settings("http://u:pw9@h/v1"));
    assert!(!shown.contains(KEY) && !shown.contains("pw9"), "{shown}");
    for api in APIS {
        let (answer, _) = ask(api, vec![reply(200, "", &api.whole(&format!("your key is {KEY}")))]).await;
        assert_eq!(answer.expect("an answer").text, "your key is ***");
    }
}

#[tokio::test]
async fn silence_size_and_truncation_are_network_errors() {
    let (answer, _) = ask(Api::Chat, vec![Reply::Hang]).await;
    let ModelError::Net(error) = answer.expect_err("silence") else { panic!("a network error") };
    assert!(matches!(error.last(), NetError::Timeout { .. }) && error.attempts() == 3, "{error:?}");
    let (answer, _) = ask(Api::Chat, vec![reply(200, "", &Api::Chat.whole(&"a".repeat(30_000)))]).await;
    assert!(matches!(answer, Err(ModelError::Net(NetError::TooLarge { limit: 20_000, .. }))), "{answer:?}");
    let (answer, _) = ask(Api::Chat, vec![short(200, 500, b"{")]).await;
    assert!(matches!(answer, Err(ModelError::Net(error)) if matches!(error.last(), NetError::Truncated { .. })));
}

#[tokio::test]
async fn only_text_is_text_and_finish_reasons_have_one_name() {
    let messages = |content: &str, reason: &str| format!(r#"{{"content":{content},"stop_reason":"{reason}"}}"#);
    let gemini = |parts: &str, reason: &str| {
        format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"{reason}"}}]}}"#)
    };
    let thought = r#"[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"},{"type":"text","text":"b"}]"#;
    let thoughts = r#"{"text":"hm","thought":true},{"text":"a"},{"text":"b"}"#;
    for (api, answer, text, reason) in [
        (Api::Messages, messages(thought, "end_turn"), "ab", Some("stop")),
        (Api::Messages, messages(r#"[{"type":"tool_use","name":"x"}]"#, "tool_use"), "", Some("tool_calls")),
        (Api::Messages, messages(r#"[{"type":"text","text":"cut"}]"#, "max_tokens"), "cut", Some("length")),
        (Api::Messages, messages("[]", "refusal"), "", Some("refusal")),
        (Api::Messages, messages("[7]", "model_context_window_exceeded"), "", Some("context_overflow")),
        (
            Api::Chat,
            r#"{"choices":[{"message":{"content":null,"refusal":"I can't."},"finish_reason":"stop"}]}"#.into(),
            "I can't.",
            Some("refusal"),
        ),
        (
            Api::Chat,
            r#"{"choices":[{"message":{"content":"so\nObservation 1: made up"},"finish_reason":"length"}]}"#.into(),
            "so",
            Some("stop"),
        ),
        (
            Api::Chat,
            r#"{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#.into(),
            "",
            Some("content_filter"),
        ),
        (Api::Gemini, gemini(thoughts, "STOP"), "ab", Some("stop")),
        (Api::Gemini, gemini(r#"{"functionCall":{}}"#, "MALFORMED_FUNCTION_CALL"), "", Some("malformed_function_call")),
        (Api::Gemini, r#"{"candidates":[{"finishReason":"MAX_TOKENS"}]}"#.into(), "", Some("length")),
        (Api::Gemini, gemini("", "SAFETY"), "", Some("content_filter")),
        (Api::Gemini, gemini("", "MODEL_ARMOR"), "", Some("content_filter")),
        (Api::Gemini, gemini("", "MALFORMED_RESPONSE"), "", Some("malformed_response")),
        (Api::Gemini, gemini(r#"{"text":"x"}"#, "FINISH_REASON_UNSPECIFIED"), "x", None),
        (Api::Gemini, gemini(r#"{"text":"x"}"#, ""), "x", None),
    ] {
        let (got, _) = ask(api, vec![reply(200, "", answer.as_bytes())]).await;
        let got = got.expect(&answer);
        assert_eq!((got.text.as_str(), got.finish_reason.as_deref()), (text, reason), "{answer}");
    }
}

#[tokio::test]
async fn reasoning_is_kept_apart_from_the_text_and_masked() {
    let chat = |message: &str, usage: &str| {
        format!(r#"{{"choices":[{{"message":{message},"finish_reason":"length"}}],"usage":{usage}}}"#)
    };
    let messages = |content: &str| format!(r#"{{"content":[{content}],"stop_reason":"max_tokens"}}"#);
    let gemini = |parts: &str, used: u32| {
        format!(
            r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"MAX_TOKENS"}}],"usageMetadata":{{"promptTokenCount":1,"thoughtsTokenCount":{used}}}}}"#
        )
    };
    let hidden = r#"{"prompt_tokens":1,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":9}}"#;
    let none = r#"{"prompt_tokens":1,"completion_tokens":9,"completion_tokens_details":{"reasoning_tokens":0}}"#;
    let spoken = format!(r#"{{"content":null,"reasoning_content":"the key is {KEY}"}}"#);
    for (api, answer, reasoning) in [
        (Api::Chat, chat(&spoken, "null"), Some("the key is ***")),
        (Api::Chat, chat(r#"{"content":"<think> so\nit "}"#, hidden), Some("so\nit")),
        (Api::Chat, chat(r#"{"content":""}"#, hidden), Some("")),
        (Api::Chat, chat(r#"{"content":""}"#, none), None),
        (
            Api::Messages,
            messages(r#"{"type":"thinking","thinking":"a"},{"type":"thinking","thinking":"b"}"#),
            Some("ab"),
        ),
        (Api::Messages, messages(r#"{"type":"redacted_thinking","data":"x"}"#), Some("")),
        (Api::Messages, messages(""), None),
        (Api::Gemini, gemini(r#"{"text":"hm","thought":true}"#, 3), Some("hm")),
        (Api::Gemini, gemini("", 3), Some("")),
        (Api::Gemini, gemini("", 0), None),
    ] {
        let (got, _) = ask(api, vec![reply(200, "", answer.as_bytes())]).await;
        let got = got.expect(&answer);
        assert_eq!((got.text.as_str(), got.reasoning.as_deref()), ("", reasoning), "{answer}");
    }
}
