//! What servers want of a conversation with calls, or refuse in it: learned from their refusals, and kept to.

use super::openai::named;
use super::{Api, request};
use crate::base::{Function, FunctionCall, Functions, Message, Prompt, Reasoning, Request, Verbatim};
use crate::models::{Model as _, Remote};
use crate::net::testing::{Server, reply};
use serde_json::{Value, json};
use std::sync::Arc;

/// A request after an exemplar and a reply of the model's, of which the API keeps `verbatim`.
fn asked(verbatim: Verbatim) -> Request {
    let call = |id: &str| FunctionCall { id: id.to_owned(), name: "search".to_owned(), arguments: "{}".to_owned() };
    let calling = |id: &str, text: &str| Message { calls: vec![call(id)], ..Message::assistant(text) };
    let messages = vec![
        Message::user("E"),
        calling("x00010001", "I look."),
        Message::result("x00010001", "a"),
        calling("x00010002", ""),
        Message::result("x00010002", "b"),
        Message::user("Q"),
        Message { verbatim: Some(Arc::new(verbatim)), ..calling("c1", "") },
        Message::result("c1", "c"),
        Message::user("Finish now."),
    ];
    let function =
        Function { name: "search".to_owned(), description: String::new(), parameters: json!({"type": "object"}) };
    let functions = Functions { list: vec![function], required: false, parallel: true, strict: false };
    Request { prompt: Prompt::Messages(messages), functions: Some(Arc::new(functions)), ..request() }
}

fn of(endpoint: &str, content: Value) -> Request {
    asked(Verbatim { endpoint: endpoint.to_owned(), content })
}

/// The bodies of two requests in a row to a server that refuses the first with these messages, one after the other.
async fn sent(model: impl Fn(&str) -> Remote, request: &Request, refusals: &[&str], api: Api) -> Vec<Value> {
    let refused = |text: &&str| reply(400, "", json!({"error": {"message": text}}).to_string().as_bytes());
    let mut replies: Vec<_> = refusals.iter().map(refused).collect();
    let answer = match api {
        Api::Messages => json!({"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn"}),
        Api::Gemini => json!({"candidates": [{"content": {"parts": [{"text": "x"}]}, "finishReason": "STOP"}]}),
        _ => json!({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}]}),
    };
    replies.extend([answer.to_string(), answer.to_string()].map(|answer| reply(200, "", answer.as_bytes())));
    let server = Server::start(replies).await;
    let model = model(&server.url);
    for _ in 0..2 {
        model.complete(request, None).await.expect("an answer");
    }
    let body =
        |request: &String| serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    let bodies: Vec<Value> = server.requests().iter().map(body).collect();
    assert_eq!(bodies.len(), refusals.len() + 2);
    assert_eq!(bodies[bodies.len() - 2], bodies[bodies.len() - 1], "what was learned is kept");
    bodies
}

/// The messages of the model's, with these fields only.
fn own(body: &Value, fields: &[&str]) -> Value {
    let own = body["messages"].as_array().expect("messages").iter().filter(|message| message["role"] == "assistant");
    own.map(|message| {
        let kept = fields.iter().filter_map(|name| Some(((*name).to_owned(), message.get(*name)?.clone())));
        kept.collect::<serde_json::Map<String, Value>>()
    })
    .collect()
}

const FIELDS: [&str; 3] = ["reasoning", "reasoning_content", "reasoning_details"];

#[tokio::test]
async fn reasoning_that_a_server_refuses_to_see_again_is_left_out_field_by_field() {
    let request = of("chat", json!({"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [1]}));
    let groq = |name: &str| {
        format!(
            "'messages.6' : for 'role:assistant' the following must be satisfied[('messages.6' : property '{name}' is \
             unsupported)]"
        )
    };
    let one = groq("reasoning");
    let cerebras =
        "messages.6.assistant.reasoning_content: property 'messages.6.assistant.reasoning_content' is unsupported";
    let mistral = "{\"detail\":[{\"loc\":[\"body\",\"messages\",6,\"assistant\",\"reasoning_details\"],\"msg\":\"Extra inputs are not permitted\"}]}";
    for (refusals, left) in [
        (vec![], json!({"reasoning": "hm", "reasoning_content": "hm", "reasoning_details": [1]})),
        (vec![one.as_str()], json!({"reasoning_content": "hm", "reasoning_details": [1]})),
        (vec![cerebras], json!({"reasoning": "hm", "reasoning_details": [1]})),
        (vec!["The reasoning_content is not allowed in input messages", mistral, &one], json!({})),
    ] {
        let bodies = sent(|url| Api::Chat.model(url), &request, &refusals, Api::Chat).await;
        let last = bodies.last().expect("a body");
        assert_eq!(own(last, &FIELDS), json!([{}, {}, left]), "{refusals:?}");
    }
}

#[tokio::test]
async fn reasoning_that_a_server_demands_is_on_every_message_of_the_models() {
    let request = of("chat", json!({"reasoning_content": "hm"}));
    let filled = json!([{"reasoning_content": "I look."}, {"reasoning_content": " "}, {"reasoning_content": "hm"}]);
    for refusal in [
        "Missing `reasoning_content` field in the assistant message at message index 2. For more information, please refer to \
         https://api-docs.deepseek.com/guides/thinking_mode#tool-calls",
        "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
        "The `reasoning_content` in the thinking mode must be passed back to the API.",
        "messages with tool_calls must include reasoning_content",
    ] {
        let bodies = sent(|url| Api::Chat.model(url), &request, &[refusal], Api::Chat).await;
        assert_eq!(own(&bodies[0], &FIELDS), json!([{}, {}, {"reasoning_content": "hm"}]));
        assert_eq!(own(&bodies[1], &FIELDS), filled, "{refusal}");
    }
    // A server that is known to want it needs no refusal, unless its model does not reason; and may refuse it yet.
    let deepseek = |url: &str| named("deepseek", url, false);
    let unwanted = "The reasoning_content is not allowed in input messages";
    let bodies = sent(deepseek, &request, &[unwanted], Api::Chat).await;
    assert_eq!((own(&bodies[0], &FIELDS), own(&bodies[1], &FIELDS)), (filled, json!([{}, {}, {}])));
    let mut calm = request.clone();
    calm.decoding.reasoning = Reasoning::parse("off");
    assert!(calm.decoding.reasoning.is_some());
    let bodies = sent(deepseek, &calm, &[], Api::Chat).await;
    assert_eq!(own(&bodies[0], &FIELDS), json!([{}, {}, {"reasoning_content": "hm"}]));
}

#[tokio::test]
async fn a_server_that_wants_and_refuses_the_same_is_not_asked_forever() {
    let refusals =
        ["Missing `reasoning_content` field", "reasoning_content is not allowed", "Missing `reasoning_content` field"];
    let replies = refusals.map(|text| reply(400, "", json!({"error": {"message": text}}).to_string().as_bytes()));
    let server = Server::start(replies.into()).await;
    assert!(Api::Chat.model(&server.url).complete(&of("chat", json!({})), None).await.is_err());
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn where_a_user_may_not_follow_a_tool_the_model_says_something_between_them() {
    for refusal in [
        "Unexpected role 'user' after role 'tool'",
        "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls",
    ] {
        let bodies = sent(|url| Api::Chat.model(url), &of("chat", json!({})), &[refusal], Api::Chat).await;
        let roles = |body: &Value| {
            let messages = body["messages"].as_array().expect("messages").iter();
            messages.map(|message| message["role"].as_str().unwrap_or_default()[..1].to_owned()).collect::<String>()
        };
        assert_eq!((roles(&bodies[0]).as_str(), roles(&bodies[1]).as_str()), ("uatatuatu", "uatatauatau"));
    }
    let signed = json!([{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "tool_use", "id": "c1", "name": "search", "input": {}}]);
    let refusal = "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.";
    let bodies = sent(|url| Api::Messages.model(url), &of("messages", signed), &[refusal], Api::Messages).await;
    let turns = |body: &Value| body["messages"].as_array().expect("messages").len();
    assert_eq!((turns(&bodies[0]), turns(&bodies[1])), (7, 11));
    let alternate = bodies[1]["messages"].as_array().expect("messages").iter().map(|turn| turn["role"].clone());
    assert!(alternate.enumerate().all(|(at, role)| role == ["user", "assistant"][at % 2]));
}

#[tokio::test]
async fn gemini_gets_the_ids_that_it_gave_and_signatures_where_it_demands_some() {
    let given = json!([{"functionCall": {"id": "c1", "name": "search", "args": {}}, "thoughtSignature": "s"}]);
    let refusal = "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly";
    let bodies = sent(|url| Api::Gemini.model(url), &of("generateContent", given), &[refusal], Api::Gemini).await;
    for (body, signature) in [(&bodies[0], None), (&bodies[1], Some("skip_thought_signature_validator"))] {
        let parts: Vec<&Value> = body["contents"]
            .as_array()
            .expect("turns")
            .iter()
            .filter_map(|turn| turn["parts"].as_array())
            .flatten()
            .collect();
        let ids = |field: &str| {
            let of_field = parts.iter().filter_map(|part| part.get(field));
            of_field.map(|part| part["id"].as_str().map(str::to_owned)).collect::<Vec<_>>()
        };
        assert_eq!(
            (ids("functionCall"), ids("functionResponse")),
            (vec![None, None, Some("c1".into())], vec![None, None, Some("c1".into())])
        );
        let calls = parts.iter().filter(|part| part.get("functionCall").is_some());
        let signatures: Vec<_> = calls.map(|call| call["thoughtSignature"].as_str()).collect();
        assert_eq!(signatures, [signature, signature, Some("s")]);
    }
}
