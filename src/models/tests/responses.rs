//! What is particular to the Responses API: reasoning without a store, unfinished and failed responses, options that only
//! it has, and servers that leave something out.

use super::{Api, ask, event, request, response, stream, watch_of};
use crate::base::{Cause, Completion, Decoding, Function, Functions, Message, Prompt, Request};
use crate::models::remote::Verdict;
use crate::models::{Model as _, ModelError};
use crate::net::testing::{Reply, Server, reply};
use serde_json::{Value, json};
use std::sync::Arc;

const API: Api = Api::Responses;

fn of(value: &Value) -> Reply {
    reply(200, "", value.to_string().as_bytes())
}

fn message(part: &Value) -> Value {
    json!({"type": "message", "role": "assistant", "content": [part]})
}

async fn read(value: &Value) -> Completion {
    ask(API, vec![of(value)]).await.0.expect("an answer")
}

/// A request without stops that offers a function.
fn offering() -> Request {
    let function = Function { name: "search".into(), description: "Finds.".into(), parameters: json!({}) };
    let functions = Functions { list: vec![function], required: false, parallel: true, strict: false };
    let prompt = Prompt::Messages(vec![Message::user("Q")]);
    Request { functions: Some(Arc::new(functions)), ..Request::new(prompt, Vec::new(), request().decoding) }
}

#[tokio::test]
async fn the_end_of_a_response_has_the_name_that_it_has_elsewhere() {
    let said = json!([message(&json!({"type": "output_text", "text": "cut"}))]);
    let unfinished = |reason: &str| {
        let mut value = response("incomplete", &said);
        value["incomplete_details"] = json!({ "reason": reason });
        value
    };
    let declined = response("completed", &json!([message(&json!({"type": "refusal", "refusal": "I can't."}))]));
    let mut bare = response("completed", &said);
    bare.as_object_mut().expect("an object").retain(|name, _| name == "output");
    for (value, text, reason) in [
        (unfinished("max_output_tokens"), "cut", Some("length")),
        (unfinished("content_filter"), "cut", Some("content_filter")),
        (unfinished("steered"), "cut", Some("steered")),
        (declined.clone(), "I can't.", Some("refusal")),
        (response("completed", &json!([{"type": "something_new"}, 7])), "", Some("stop")),
        (bare, "cut", None),
    ] {
        let whole = read(&value).await;
        assert_eq!((whole.text.as_str(), whole.finish_reason.as_deref()), (text, reason), "{value}");
    }
    let events = [
        event("response.refusal.delta", r#""delta":"I can""#),
        event("response.refusal.delta", r#""delta":"'t.""#),
        event("response.completed", &format!(r#""response":{declined}"#)),
    ];
    let (answer, shown, _) = watch_of(API, vec![stream(&events)]).await;
    assert_eq!((shown.as_str(), answer.expect("an answer").finish_reason.as_deref()), ("I can|'t.", Some("refusal")));
    let cut = event("response.incomplete", &format!(r#""response":{}"#, unfinished("max_output_tokens")));
    let (answer, shown, _) = watch_of(API, vec![stream(&[API.start(), cut])]).await;
    let answer = answer.expect("an answer");
    // What did not come in pieces comes at the end.
    assert_eq!((shown.as_str(), answer.finish_reason.as_deref()), ("cut", Some("length")));
}

#[tokio::test]
async fn a_failed_response_has_the_consequences_of_its_error() {
    let error = |code: &str| json!({ "code": code, "message": "no way" });
    let failed = |code: &str| json!({"status": "failed", "error": error(code), "output": []});
    for (code, requests, cause) in [
        ("server_error", 3, Cause::ServerError),
        ("rate_limit_exceeded", 3, Cause::RateLimit),
        ("invalid_prompt", 1, Cause::ContentFilter),
    ] {
        let told = json!({"type": "error", "code": code, "message": "no way"});
        for bad in [
            of(&failed(code)),
            stream(&[API.start(), event("response.failed", &format!(r#""response":{}"#, failed(code)))]),
            stream(&[format!("event: error\ndata: {told}\n\n")]),
            stream(&[format!("data: {}\n\n", json!({ "error": error(code) }))]),
        ] {
            let (answer, _, server) = watch_of(API, vec![bad]).await;
            let error = answer.expect_err("no answer");
            assert!(error.to_string().contains("no way"), "{error}");
            assert_eq!((error.failure().cause, server.requests().len()), (cause, requests), "{code}: {error}");
        }
    }
    let (answer, _) = ask(API, vec![of(&response("queued", &json!([])))]).await;
    let Err(ModelError::Undecodable { reason, .. }) = answer else { panic!("{answer:?}") };
    assert_eq!(reason, "the status of the response is `queued`");
}

#[tokio::test]
async fn reasoning_goes_back_only_where_its_content_is_there() {
    let call =
        json!({"type": "function_call", "id": "fc_1", "call_id": "a", "name": "search", "arguments": {"query": "A"}});
    let summary = json!([{"type": "summary_text", "text": "One."}, {"type": "summary_text", "text": "Two."}]);
    let content = json!([{"type": "reasoning_text", "text": "Plain."}]);
    for (reasoning, thought, kept) in [
        (
            json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "e"}),
            "One.\n\nTwo.",
            true,
        ),
        (
            json!({"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": null}),
            "One.\n\nTwo.",
            false,
        ),
        (json!({"type": "reasoning", "id": "rs_1", "summary": []}), "", false),
        (json!({"type": "reasoning", "summary": [], "content": content, "encrypted_content": ""}), "Plain.", true),
    ] {
        let items = json!([reasoning, call]);
        let value = response("completed", &items);
        let mut whole = read(&value).await;
        assert_eq!((whole.reasoning.as_deref(), whole.finish_reason.as_deref()), (Some(thought), Some("tool_calls")));
        assert_eq!(whole.verbatim.take().map(|kept| kept.content), kept.then(|| items.clone()), "{items}");
        assert_eq!(whole.calls[0].arguments, r#"{"query":"A"}"#);
        // The last event of some servers has no items, and some streams have no last event.
        let done = [&items[0], &items[1]].map(|item| event("response.output_item.done", &format!(r#""item":{item}"#)));
        let end = event("response.completed", r#""response":{"status":"completed"}"#);
        for (end, reason) in [(end, Some("tool_calls")), (super::DONE.to_owned(), None)] {
            let (streamed, _, _) = watch_of(API, vec![stream(&[&[API.start()], &done[..], &[end]].concat())]).await;
            let streamed = streamed.expect("an answer");
            assert_eq!((&streamed.calls, streamed.finish_reason.as_deref()), (&whole.calls, reason));
            assert_eq!(streamed.verbatim.is_some(), kept && reason.is_some());
        }
    }
}

#[tokio::test]
async fn options_that_only_this_api_has_are_learned() {
    let no = |message: &str, param: &str| {
        reply(400, "", json!({"error": {"message": message, "param": param}}).to_string().as_bytes())
    };
    let encrypted = no("Encrypted content is not supported with this model.", "include");
    let limit = no("Unsupported parameter: max_output_tokens", "");
    let server = Server::start(vec![encrypted, limit, reply(200, "", &API.whole("ok"))]).await;
    let model = API.model(&server.url);
    for attempts in [3, 1] {
        assert_eq!(model.complete(&offering(), None).await.expect("an answer").attempts, attempts);
    }
    let sent: Vec<(bool, bool)> = server
        .requests()
        .iter()
        .map(|body| {
            (body.contains(r#""include":["reasoning.encrypted_content"]"#), body.contains("\"max_output_tokens\":100"))
        })
        .collect();
    assert_eq!(sent, [(true, true), (false, true), (false, false), (false, false)]);
}

#[tokio::test]
async fn a_check_knows_that_there_are_no_stops() {
    let server = Server::start(vec![reply(200, "", &API.whole("four, five, six, seven, eight, nine, ten"))]).await;
    let check = API.model(&server.url).check(&Decoding::default()).await.expect("a server");
    assert_eq!((check.endpoint, check.max_tokens_name), ("responses", "max_output_tokens"));
    assert_eq!(
        (check.stop, check.max_tokens, check.left_out),
        (Verdict::Refused, Verdict::Honoured, vec!["seed", "stop"])
    );
}
