//! Streams that arrive in odd pieces, break off, hang, lie and are refused.

use super::{APIS, Api, DONE, HEAD, KEY, closed, request, stream, watch, watch_of};
use crate::base::{Cause, Usage};
use crate::models::{Model as _, ModelError};
use crate::net::NetError;
use crate::net::testing::{Reply, Server, reply};
use std::time::Duration;

const CHAT: Api = Api::Chat;

fn error_event(api: Api, message: &str) -> String {
    format!("data: {}\n\n", api.error(message))
}

/// A stream that is sent piece by piece.
fn pieces(pieces: &[String]) -> Reply {
    Reply::Pieces([&[HEAD.to_owned()], pieces].concat().into_iter().map(String::into_bytes).collect())
}

#[tokio::test]
async fn text_is_shown_as_it_arrives() {
    for api in APIS {
        let events =
            [api.start(), api.delta(" I "), api.delta("think. 東\u{1f600}"), api.delta("!"), api.end()].concat();
        // Five bytes at a time: in the middle of lines, events and characters.
        let bytes = [HEAD.as_bytes(), events.as_bytes()].concat();
        let chunks = Reply::Pieces(bytes.chunks(5).map(<[u8]>::to_vec).collect());
        let (answer, shown, server) = watch_of(api, vec![chunks]).await;
        let answer = answer.expect("an answer");
        assert_eq!(shown, " I |think. 東\u{1f600}|!", "{api:?}");
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), (" I think. 東\u{1f600}!", Some("stop")));
        let used = answer.usage.map(|usage| Usage::new(usage.prompt_tokens, usage.completion_tokens));
        assert_eq!(used, Some(Usage::new(9, 4)));
        assert_eq!((answer.attempts, answer.reasoning.as_deref()), (1, Some("hm")));
        let sent = &server.requests()[0];
        let asks = match api {
            Api::Chat | Api::Completions => r#""stream":true,"stream_options":{"include_usage":true}"#,
            Api::Responses | Api::Messages => r#""stream":true"#,
            Api::Gemini => "POST /v1beta/models/m:streamGenerateContent?alt=sse ",
        };
        assert!(sent.contains(asks), "{sent}");
        assert!(sent.contains("accept: text/event-stream") && sent.contains(KEY), "{sent}");
    }
}

#[tokio::test]
async fn a_stop_closes_the_connection_and_cuts_the_text() {
    for api in APIS {
        let deltas = ["a\nObs", "tacle\nObserv", "ation 1:", " made up"].map(|text| api.delta(text));
        let (answer, shown, server) = watch_of(api, vec![pieces(&[&[api.start()], &deltas[..]].concat())]).await;
        let answer = answer.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("a\nObstacle", Some("stop")), "{api:?}");
        assert_eq!(shown, "a|\nObstacle");
        closed(&server).await;
    }
    // Stops that the server does not support are applied to a stream, watched or not.
    for (api, stops) in [
        (Api::Chat, &["1", "2", "3", "4", "\n"][..]),
        (Api::Responses, &["\n"]),
        (Api::Messages, &["\n"]),
        (Api::Gemini, &["1", "2", "3", "4", "5", "\n"]),
    ] {
        let stop = stops.iter().map(|stop| (*stop).to_owned()).collect();
        let request = crate::base::Request { stop, ..request() };
        let deltas = ["one line", "\nand another", " and"].map(|text| api.delta(text));
        let server = Server::start(vec![pieces(&[&[api.start()], &deltas[..]].concat())]).await;
        let answer = api.model(&server.url).complete(&request, None).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("one line", Some("stop")), "{api:?}");
        // What Anthropic counts at the start is not what was used.
        assert_eq!(answer.usage.is_some(), api == Api::Gemini);
        closed(&server).await;
    }
}

#[tokio::test]
async fn an_attempt_that_breaks_off_is_discarded_and_retried() {
    for api in APIS {
        let par = api.start() + &api.delta("par");
        let cut = format!("{par}{}", &api.delta("tial")[..30]);
        let framed = format!("HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n{cut}");
        for (first, shown_first) in [
            (stream(&[par.clone(), api.delta("tial")]), "par|tial|↺|"),
            (Reply::Raw(framed.into_bytes()), "par|↺|"),
            (stream(&[cut]), "par|↺|"),
            (stream(&[par.clone(), error_event(api, "overloaded")]), "par|↺|"),
            // The last event of a response has its reason.
            (
                stream(&[
                    par,
                    if api == Api::Responses { String::new() } else { api.finish() },
                    error_event(api, "died"),
                ]),
                "par|↺|",
            ),
            (stream(&[]), ""),
            (stream(&[DONE.into()]), ""),
            (stream(&["data: {\"type\":\"message_stop\"}\n\n".into()]), ""),
            (reply(429, "retry-after: 0\r\n", b"{}"), ""),
            (reply(500, "content-type: text/event-stream\r\n", b"data: x\n\n"), ""),
            (Reply::Close, ""),
        ] {
            let name = format!("{api:?} {first:?}");
            let (answer, shown, server) = watch_of(api, vec![first, api.stream(&["partly"])]).await;
            let answer = answer.expect(&name);
            assert_eq!((answer.text.as_str(), answer.attempts, server.requests().len()), ("partly", 2, 2), "{name}");
            assert_eq!(shown, format!("{shown_first}partly"), "{name}");
        }
    }
    let stalled = Reply::Stall([HEAD, &CHAT.delta("par")].concat().into_bytes());
    let (answer, shown, _) = watch_of(CHAT, vec![stalled, CHAT.stream(&["partly"])]).await;
    assert_eq!((answer.expect("an answer").attempts, shown.as_str()), (2, "par|↺|partly"));
}

#[tokio::test]
async fn streams_that_always_fail_are_typed_errors() {
    let malformed = |reason: &str| ModelError::Undecodable { attempts: 3, reason: reason.into() };
    let failed = |message: &str| {
        let reason = format!("an error in its answer: {message}");
        ModelError::Exhausted { attempts: 3, reason, cause: Cause::ServerError, usage: None }
    };
    let error = |body: &str| stream(&[format!("data: {body}\n\n")]);
    for (bad, expected) in [
        (stream(&[CHAT.delta("a")]), malformed("the stream ended before the completion did")),
        (stream(&[DONE.into()]), malformed("the stream has no completion")),
        (stream(&[error_event(CHAT, "no  way")]), failed("no way")),
        (error(r#"{"object":"error","message":"old"}"#), failed("old")),
        (stream(&["error: {\"message\":\"older\"}\n\n".into()]), failed("older")),
        (stream(&[error_event(CHAT, &format!("wrong key {KEY}"))]), failed("wrong key ***")),
    ] {
        let (answer, _, server) = watch_of(CHAT, vec![bad]).await;
        assert_eq!((answer.expect_err("no answer"), server.requests().len()), (expected, 3));
    }
    for api in APIS {
        let (answer, _, _) = watch_of(api, vec![error("<html>")]).await;
        let Err(ModelError::Undecodable { reason, .. }) = answer else { panic!("{answer:?}") };
        assert!(reason.starts_with("the stream has an event that is not JSON: "), "{api:?} {reason}");
    }
    // An error has the consequences that its status would have had before the stream.
    let messages = |kind: &str| error(&format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"no"}}}}"#));
    for (kind, requests, cause, hint) in [
        ("overloaded_error", 3, Cause::ServerError, "overloaded"),
        ("rate_limit_error", 3, Cause::RateLimit, "overloaded"),
        ("authentication_error", 1, Cause::Key, "ANTHROPIC_API_KEY"),
        ("billing_error", 1, Cause::Payment, "billing"),
    ] {
        let (answer, _, server) = watch_of(Api::Messages, vec![messages(kind)]).await;
        let error = answer.expect_err("no answer");
        assert_eq!((error.failure().cause, server.requests().len()), (cause, requests), "{kind}");
        assert!(error.hint().is_some_and(|found| found.contains(hint)), "{kind}: {:?}", error.hint());
    }
    let blocked = error(r#"{"promptFeedback":{"blockReason":"OTHER"}}"#);
    let (answer, _, server) = watch_of(Api::Gemini, vec![blocked]).await;
    let expected = ModelError::Refused {
        status: 200,
        message: "the prompt was blocked: OTHER".into(),
        cause: Cause::ContentFilter,
        body: None,
    };
    assert_eq!(expected.to_string(), "the model's server refused the request: the prompt was blocked: OTHER");
    assert_eq!((answer.expect_err("blocked"), server.requests().len()), (expected, 1));
}

#[tokio::test]
async fn what_a_model_says_when_it_declines_is_the_text() {
    let event = |delta: &str, reason: &str| {
        format!("data: {{\"choices\":[{{\"delta\":{delta},\"finish_reason\":{reason}}}]}}\n\n")
    };
    let events = [
        event(r#"{"role":"assistant","refusal":"I can"}"#, "null"),
        event(r#"{"refusal":"'t."}"#, "null"),
        event("{}", r#""stop""#),
        DONE.into(),
    ];
    let (answer, shown, _) = watch_of(CHAT, vec![stream(&events)]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("I can't.", Some("refusal")));
    assert_eq!(shown, "I can|'t.");
    let end = super::event("message_delta", r#""delta":{"stop_reason":"refusal"}"#);
    let (answer, _, _) = watch_of(Api::Messages, vec![stream(&[Api::Messages.delta("Hello.."), end])]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("Hello..", Some("refusal")));
}

#[tokio::test]
async fn silence_and_size_are_errors_and_comments_are_silence() {
    let (answer, _, _) = watch_of(CHAT, vec![pieces(&vec![": waiting\n\n".to_owned(); 5000])]).await;
    assert!(matches!(answer, Err(ModelError::Net(error)) if matches!(error.last(), NetError::Timeout { .. })));
    for large in [vec![CHAT.delta(&"a".repeat(1000)); 400], vec![CHAT.delta(&"a".repeat(30_000))]] {
        let (answer, _, server) = watch_of(CHAT, vec![stream(&large)]).await;
        assert!(matches!(answer, Err(ModelError::Net(NetError::TooLarge { limit: 20_000, .. }))), "{answer:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_stream_without_a_reason_is_an_answer_only_where_servers_send_none() {
    for api in APIS {
        for end in [DONE, "data: {\"type\":\"message_stop\"}\n\n"] {
            let cut = stream(&[api.start(), api.delta("par"), end.to_owned()]);
            let (answer, _, server) = watch_of(api, vec![cut, api.stream(&["whole"])]).await;
            let kept = matches!(api, Api::Chat | Api::Completions) && end == DONE;
            let expected = if kept { ("par", 1) } else { ("whole", 2) };
            assert_eq!((answer.expect("an answer").text.as_str(), server.requests().len()), expected, "{api:?} {end}");
        }
        let (answer, _, _) = watch_of(api, vec![stream(&[api.start(), api.delta(""), DONE.to_owned()])]).await;
        let error = answer.expect_err("no text and no reason");
        let has_unknown_reason = matches!(error, ModelError::Unexplained { attempts: 2, .. });
        assert_eq!(has_unknown_reason, matches!(api, Api::Chat | Api::Completions), "{api:?}: {error}");
    }
}

#[tokio::test]
async fn nothing_after_the_end_is_an_error() {
    let finished = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let end = |tail: &str| [HEAD, &CHAT.delta("ok"), finished, tail].concat().into_bytes();
    for last in [
        Reply::Raw(end("")),
        Reply::Raw(end("data: {\"cho\n\n")),
        Reply::Stall(end("")),
        Reply::Raw(end(&CHAT.delta(""))),
        stream(&[CHAT.delta("ok"), "data:[DONE]".into()]),
    ] {
        let name = format!("{last:?}");
        let (answer, shown, server) = watch_of(CHAT, vec![last]).await;
        let answer = answer.expect(&name);
        assert_eq!((answer.text.as_str(), shown.as_str(), server.requests().len()), ("ok", "ok", 1), "{name}");
    }
    let reason = r#""delta":{"stop_reason":"max_tokens"}"#;
    let events = [Api::Messages.start(), Api::Messages.delta("ok"), super::event("message_delta", reason)];
    let (answer, _, _) = watch_of(Api::Messages, vec![stream(&events)]).await;
    assert_eq!(answer.expect("an answer").finish_reason.as_deref(), Some("length"));
}

#[tokio::test]
async fn whole_answers_and_unannounced_streams_are_read_as_well() {
    for api in APIS {
        let whole = api.whole("a\nObservation 1: b");
        let (answer, shown, _) = watch_of(api, vec![reply(200, "content-type: application/json\r\n", &whole)]).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("a", "a"));
        let events = [api.delta("a "), api.delta("b"), api.end()].concat();
        let (answer, shown, _) = watch_of(api, vec![reply(200, "", events.as_bytes())]).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("a b", "a |b"), "{api:?}");
        let server = Server::start(vec![api.stream(&["a\nObser", "vation 1: b"])]).await;
        let answer = api.model(&server.url).complete(&request(), None).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts), ("a", 1));
        // Responses have no stops, so a stream is what ends them.
        assert_eq!(server.requests()[0].contains("\"stream\""), api == Api::Responses);
    }
}

#[tokio::test]
async fn a_refused_stream_is_remembered() {
    let no = |param: &str| {
        let body = serde_json::json!({"error": {"message": format!("`{param}` is not supported"), "param": param}});
        reply(400, "", body.to_string().as_bytes())
    };
    let json = reply(200, "", &CHAT.whole("ok"));
    let server = Server::start(vec![no("stream_options"), CHAT.stream(&["ok"]), no("stream"), json]).await;
    let model = CHAT.model(&server.url);
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
    let (answer, shown, _) = watch_of(CHAT, vec![CHAT.stream(&["your key: sk-test-0123", "456789abcdef."])]).await;
    assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("your key: ***.", "your key: |***."));
}

/// A server may say something for ever; the time for an answer is that of the whole answer.
#[tokio::test]
async fn a_stream_that_drips_ends_with_the_time_for_an_answer() {
    for api in APIS {
        let drops: Vec<String> = std::iter::once(api.start()).chain((0..5_000).map(|_| api.delta("x"))).collect();
        let server = Server::start(vec![pieces(&drops)]).await;
        let model = api.model_within(&server.url, Duration::from_millis(150));
        let error = model.complete(&request(), Some(&|_| {})).await.expect_err("no whole answer");
        assert!(
            matches!(&error, ModelError::Net(net) if matches!(net.last(), NetError::Timeout { .. })),
            "{api:?}: {error}"
        );
    }
}
