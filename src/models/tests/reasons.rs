//! Reasons for the end of an answer: every row of the table, whole and streamed, and what the rest of an answer says.

use super::{APIS, Api, DONE, ask, event, gemini_event, request, response, stream, watch_of};
use crate::base::finish::FINISH_REASONS;
use crate::base::{Cause, Completion, Decoding, Ending, FinishReason};
use crate::models::remote::Verdict;
use crate::models::{Model as _, ModelError};
use crate::net::testing::{Reply, Server, reply};
use serde_json::{Value, json};

/// A whole answer with this text that ends for this reason, with a piece of reasoning.
fn whole(api: Api, text: &str, reason: &str) -> Value {
    let mut body: Value = serde_json::from_slice(&api.whole(text)).expect("JSON");
    match api {
        Api::Chat | Api::Completions => body["choices"][0]["finish_reason"] = json!(reason),
        Api::Responses if reason == "completed" => {}
        Api::Responses => {
            body["status"] = json!("incomplete");
            body["incomplete_details"] = json!({ "reason": reason });
        }
        Api::Messages => body["stop_reason"] = json!(reason),
        Api::Gemini => body["candidates"][0]["finishReason"] = json!(reason),
    }
    body
}

fn of(body: &Value) -> Reply {
    reply(200, "", body.to_string().as_bytes())
}

/// The same as a stream.
fn streamed(api: Api, text: &str, reason: &str) -> Reply {
    let end = match api {
        Api::Chat | Api::Completions => {
            format!("data: {{\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\n{DONE}")
        }
        Api::Responses => {
            let mut body = response("incomplete", &json!([]));
            body["incomplete_details"] = json!({ "reason": reason });
            if reason == "completed" {
                body = response("completed", &json!([]));
            }
            event(&format!("response.{}", body["status"].as_str().expect("text")), &format!(r#""response":{body}"#))
        }
        Api::Messages => {
            event("message_delta", &format!(r#""delta":{{"stop_reason":"{reason}"}},"usage":{{"output_tokens":4}}"#))
                + "data: {\"type\":\"message_stop\"}\n\n"
        }
        Api::Gemini => gemini_event(r#"{"text":""}"#, &format!(r#","finishReason":"{reason}""#)),
    };
    let text = if text.is_empty() { String::new() } else { api.delta(text) };
    stream(&[api.start(), text, end])
}

/// What the table promises of an answer with this text.
fn check(answer: Result<Completion, ModelError>, requests: usize, row: &FinishReason, text: &str, name: &str) {
    match row.ending {
        Ending::Failed => {
            let error = answer.expect_err(name);
            assert_eq!((error.failure().cause, requests), (Cause::ServerError, 3), "{name}: {error}");
            assert!(error.to_string().contains(&row.recorded), "{name}: {error}");
        }
        Ending::Unclear if text.is_empty() => unexplained(answer, requests, &row.recorded, name),
        // A stream without a reason may have been cut, as another test says.
        Ending::Unsaid => {}
        Ending::Answer | Ending::Paused | Ending::Short(_) | Ending::Unclear => {
            let answer = answer.expect(name);
            let recorded = Some(row.recorded.as_str()).filter(|recorded| !recorded.is_empty());
            assert_eq!((answer.text.as_str(), requests, answer.attempts), (text, 1, 1), "{name}");
            assert_eq!(answer.finish_reason.as_deref(), recorded, "{name}");
            let cause = if let Ending::Short(cause) = row.ending { Some(cause) } else { None };
            assert_eq!(answer.shortfall(), cause, "{name}");
        }
    }
}

fn unexplained(answer: Result<Completion, ModelError>, requests: usize, reason: &str, name: &str) {
    let error = answer.expect_err(name);
    let ModelError::Unexplained { attempts: 2, reason: found, .. } = &error else { panic!("{name}: {error}") };
    assert_eq!((found.as_str(), requests), (reason, 2), "{name}");
}

#[tokio::test]
async fn every_reason_of_the_table_means_the_same_whole_and_streamed() {
    for row in FINISH_REASONS.iter() {
        let api = match row.api {
            "completions" => Api::Completions,
            "responses" => Api::Responses,
            "messages" => Api::Messages,
            "gemini" => Api::Gemini,
            _ => Api::Chat,
        };
        for text in ["ok", ""] {
            let name = format!("{} {} {text:?}", row.api, row.reason);
            let (answer, server) = ask(api, vec![of(&whole(api, text, row.reason))]).await;
            let recorded = if api == Api::Chat { row.reason.to_owned() } else { row.recorded.clone() };
            let row = &FinishReason { recorded, ..row.clone() };
            check(answer, server.requests().len(), row, text, &name);
            let (answer, shown, server) = watch_of(api, vec![streamed(api, text, row.reason)]).await;
            assert!(answer.is_err() || shown == text, "{name}: {shown}");
            check(answer, server.requests().len(), row, text, &format!("{name}, streamed"));
        }
    }
}

#[tokio::test]
async fn a_reason_that_is_not_known_is_asked_about_once_unless_there_is_an_answer() {
    for api in APIS {
        let name = format!("{api:?}");
        let (answer, server) = ask(api, vec![of(&whole(api, "", "xyz"))]).await;
        unexplained(answer, server.requests().len(), "xyz", &name);
        let (answer, _, server) = watch_of(api, vec![streamed(api, "", "xyz")]).await;
        unexplained(answer, server.requests().len(), "xyz", &name);
        let (answer, server) = ask(api, vec![of(&whole(api, " \n", "xyz")), of(&whole(api, "ok", "xyz"))]).await;
        let answer = answer.expect(&name);
        assert_eq!((answer.text.as_str(), answer.finish_reason.as_deref()), ("ok", Some("xyz")), "{name}");
        assert_eq!((answer.shortfall(), answer.attempts, server.requests().len()), (None, 2, 2), "{name}");
    }
    let (nothing, why) = (json!([]), "an empty answer and no reason for it (attempts: 2)");
    for (api, body) in [
        (Api::Chat, json!({"choices": [{"message": {"content": ""}, "finish_reason": null}]})),
        (Api::Chat, json!({"choices": [{"message": {"content": null}}]})),
        (Api::Completions, json!({"choices": [{"text": " "}]})),
        (Api::Responses, json!({ "output": nothing })),
        (Api::Messages, json!({"content": nothing, "stop_reason": null})),
        (Api::Gemini, json!({"candidates": [{"content": {"parts": nothing}}]})),
    ] {
        let (answer, server) = ask(api, vec![of(&body)]).await;
        let error = answer.expect_err("no answer");
        assert!(error.to_string().contains(why) && server.requests().len() == 2, "{api:?}: {error}");
        let mut said: Value = serde_json::from_slice(&api.whole("ok")).expect("JSON");
        for path in ["/choices/0/finish_reason", "/stop_reason", "/status", "/candidates/0/finishReason"] {
            said.pointer_mut(path).map(Value::take);
        }
        let answer = ask(api, vec![of(&said)]).await.0.expect("a text without a reason is an answer");
        assert_eq!((answer.text.as_str(), answer.finish_reason), ("ok", None), "{api:?}");
    }
    let hostile = format!("x\u{1b}[31m{}{}", super::KEY, "y".repeat(500));
    let (answer, _) = ask(Api::Chat, vec![of(&whole(Api::Chat, "", &hostile))]).await;
    let error = answer.expect_err("empty").to_string();
    assert!(!error.contains('\u{1b}') && !error.contains(super::KEY) && error.len() < 500, "{error}");
}

#[tokio::test]
async fn an_error_in_a_choice_is_an_error_like_one_at_the_top() {
    let failed =
        |error: Value| json!({"choices": [{"finish_reason": "error", "message": {"content": "ab"}, "error": error}]});
    let gone = json!({"code": 502, "message": "Provider disconnected"});
    for api in [Api::Chat, Api::Completions] {
        let (answer, server) = ask(api, vec![of(&failed(gone.clone())), reply(200, "", &api.whole("ok"))]).await;
        assert_eq!((answer.expect("an answer").text.as_str(), server.requests().len()), ("ok", 2));
    }
    let piece = json!({"choices": [{"delta": {"content": ""}, "finish_reason": "error", "error": gone}]});
    let events = [Api::Chat.delta("I"), format!("data: {piece}\n\n"), DONE.to_owned()];
    let (answer, shown, _) = watch_of(Api::Chat, vec![stream(&events), Api::Chat.stream(&["ok"])]).await;
    assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("ok", "I|↺|ok"));
    for (error, cause, requests) in [
        (json!({"code": 429, "message": "slow down"}), Cause::RateLimit, 3),
        (json!({"code": 403, "message": "no"}), Cause::Forbidden, 1),
        (json!({"code": 400, "message": "maximum context length is 9"}), Cause::ContextOverflow, 1),
        (json!("overloaded"), Cause::ServerError, 3),
    ] {
        let (answer, server) = ask(Api::Chat, vec![of(&failed(error.clone()))]).await;
        let cause_found = answer.expect_err("an error").failure().cause;
        assert_eq!((cause_found, server.requests().len()), (cause, requests), "{error}");
    }
    for none in [json!(null), json!({}), json!(""), json!(false), json!([])] {
        let body = json!({"choices": [{"finish_reason": "stop", "message": {"content": "ok"}, "error": none}]});
        assert_eq!(ask(Api::Chat, vec![of(&body)]).await.0.expect("an answer").text, "ok", "{body}");
        for api in super::APIS {
            let mut body: Value = serde_json::from_slice(&api.whole("ok")).expect("JSON");
            body["error"] = none.clone();
            assert_eq!(ask(api, vec![of(&body)]).await.0.expect("an answer").text, "ok", "{body}");
        }
        let piece = json!({"choices": [{"delta": {"content": "ok"}}], "error": none});
        let events = [format!("data: {piece}\n\n"), Api::Chat.end()];
        assert_eq!(watch_of(Api::Chat, vec![stream(&events)]).await.0.expect("an answer").text, "ok", "{piece}");
    }
    let overloaded = json!({"type": "overloaded_error", "message": "x"});
    let body = json!({"content": [], "stop_reason": null, "error": overloaded});
    let (answer, server) = ask(Api::Messages, vec![of(&body)]).await;
    assert_eq!((answer.expect_err("an error").failure().cause, server.requests().len()), (Cause::ServerError, 3));
}

#[tokio::test]
async fn a_call_that_the_provider_cannot_read_is_the_models_answer() {
    let wrote = r#"<function=search{"query": "Paris"}</function>"#;
    let groq = json!({"error": {"message": "Failed to call a function.", "type": "invalid_request_error",
        "code": "tool_use_failed", "failed_generation": wrote}});
    let quoted = format!("litellm.BadRequestError: GroqException - {groq}. Received Model Group=m");
    for body in [
        groq.clone(),
        json!({"error": {"message": quoted, "type": null, "code": "400"}}),
        json!({"error": {"code": 400, "message": "Provider returned error", "metadata": {"raw": groq.to_string()}}}),
    ] {
        for status in [400, 200] {
            let (answer, server) = ask(Api::Chat, vec![reply(status, "", body.to_string().as_bytes())]).await;
            let answer = answer.unwrap_or_else(|error| panic!("{body}: {error}"));
            assert_eq!((answer.text.as_str(), server.requests().len()), (wrote, 1), "{body}");
            assert_eq!((answer.shortfall(), answer.attempts), (Some(Cause::MalformedCall), 1), "{body}");
            assert_eq!(answer.finish_reason.as_deref(), Some("tool_use_failed"));
        }
        let events = [Api::Chat.delta("I look."), format!("data: {body}\n\n")];
        let (answer, shown, _) = watch_of(Api::Chat, vec![stream(&events)]).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown), (wrote, format!("I look.|↺|{wrote}")), "{body}");
    }
    let mut secret = groq;
    secret["error"]["failed_generation"] = json!(format!("search({})\nObservation 1: x", super::KEY));
    let (answer, _) = ask(Api::Chat, vec![reply(400, "", secret.to_string().as_bytes())]).await;
    assert_eq!(answer.expect("an answer").text, "search(***)", "cut at the stop, and without the key");

    let routed = json!({"choices": [{"finish_reason": "error", "native_finish_reason": "MALFORMED_FUNCTION_CALL",
        "message": {"content": ""}, "error": {"code": 502, "message": "no"}}]});
    let (answer, server) = ask(Api::Chat, vec![of(&routed)]).await;
    let answer = answer.expect("an answer");
    assert_eq!((answer.shortfall(), server.requests().len()), (Some(Cause::MalformedCall), 1));
    assert_eq!(answer.finish_reason.as_deref(), Some("malformed_function_call"));

    for (message, text) in [
        ("Malformed function call: print(default_api.search(query='x'))", "print(default_api.search(query='x'))"),
        ("Something went wrong", ""),
        (": x", ""),
    ] {
        let mut body = whole(Api::Gemini, "", "MALFORMED_FUNCTION_CALL");
        body["candidates"][0]["content"] = json!({});
        body["candidates"][0]["finishMessage"] = json!(message);
        let (answer, server) = ask(Api::Gemini, vec![of(&body)]).await;
        let answer = answer.expect("an answer");
        assert_eq!((answer.text.as_str(), server.requests().len()), (text, 1));
        assert_eq!(answer.shortfall(), Some(Cause::MalformedCall));
        let (answer, shown, _) = watch_of(Api::Gemini, vec![stream(&[format!("data: {body}\n\n")])]).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), (text, text));
    }
}

#[tokio::test]
async fn as_many_tokens_as_the_limit_and_no_reason_for_it_is_told() {
    let request = |max_tokens| {
        let decoding = Decoding { max_tokens, ..Decoding::default() };
        crate::base::Request { decoding, ..request() }
    };
    for api in APIS {
        for (limit, text, reason, at_limit) in [
            (4, "ok", "", true),
            (3, "ok", "", true),
            (5, "ok", "", false),
            (4, "ok\nObservation 1: x", "", false),
            (4, "ok", "length", false),
        ] {
            let body: Value = match reason {
                "" => serde_json::from_slice(&api.whole(text)).expect("JSON"),
                _ => whole(api, text, if api == Api::Gemini { "MAX_TOKENS" } else { "max_tokens" }),
            };
            let server = Server::start(vec![of(&body)]).await;
            let answer = api.model(&server.url).complete(&request(limit), None).await.expect("an answer");
            assert_eq!(answer.at_limit, at_limit, "{api:?} {limit} {text:?} {reason}");
        }
    }
}

#[tokio::test]
async fn a_check_tells_how_an_answer_ended() {
    let check = async |body: &Value| {
        let server = Server::start(vec![of(body)]).await;
        Api::Chat.model(&server.url).check(&Decoding::default()).await
    };
    for (text, reason, told) in [
        ("one, two, three", "xyz\u{7}", "ended with `xyz\\u{7}`, which is not known"),
        ("one, two, three", "pause_turn", "paused"),
        ("one, two, three", "malformed_function_call", "could not read"),
        ("one, two, three", "model_length", "context is full"),
        ("", "stop", "the answer is empty"),
    ] {
        let found = check(&whole(Api::Chat, text, reason)).await.expect(reason).warning.unwrap_or_default();
        assert!(found.contains(told), "{reason}: {found}");
    }
    let mut reasoned = whole(Api::Chat, "", "stop");
    reasoned["choices"][0]["message"]["reasoning_content"] = json!("hm");
    let found = check(&reasoned).await.expect("an answer").warning.unwrap_or_default();
    assert!(found.starts_with("the answer is reasoning alone"), "{found}");
    let mut full = whole(Api::Chat, "one, two, three", "stop");
    full["usage"]["completion_tokens"] = json!(48);
    let found = check(&full).await.expect("an answer");
    assert_eq!(found.max_tokens, Verdict::Honoured);
    assert!(found.warning.is_some_and(|warning| warning.contains("possibly cut")));
    for reason in ["error", "abort"] {
        let error = check(&whole(Api::Chat, "one", reason)).await.expect_err(reason);
        assert!(error.to_string().contains(reason) && error.hint().is_some(), "{error}");
    }
    assert!(matches!(check(&whole(Api::Chat, "", "xyz")).await, Err(ModelError::Unexplained { .. })));
}
