//! Native tool calls, as each provider is sent them and writes them.

use super::{Api, DONE, event, gemini_event, request, response, stream};
use crate::base::{Completion, Function, FunctionCall, Functions, Message, Prompt, Request, Verbatim};
use crate::models::Model as _;
use crate::net::testing::{Reply, Server, reply};
use serde_json::{Value, json};
use std::sync::Arc;

const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];

fn call(id: &str, query: &str) -> FunctionCall {
    let arguments = json!({ "query": query }).to_string();
    FunctionCall { id: id.to_owned(), name: "search".to_owned(), arguments }
}

/// A request that offers a function, after two calls of it, of which one has been answered with nothing.
fn asked(required: bool, parallel: bool, verbatim: Option<Verbatim>) -> Request {
    let parameters =
        json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    let function = Function { name: "search".into(), description: "Finds.".into(), parameters };
    let functions = Functions { list: vec![function], required, parallel, strict: required };
    let reply = Message {
        calls: vec![call("c1", "A"), call("c2", "B")],
        verbatim: verbatim.map(Arc::new),
        ..Message::assistant("Both.")
    };
    let messages =
        vec![Message::system("S"), Message::user("Q"), reply, Message::result("c1", "a"), Message::result("c2", "")];
    Request { prompt: Prompt::Messages(messages), stop: Vec::new(), functions: Some(Arc::new(functions)), ..request() }
}

fn whole(body: &[u8]) -> Reply {
    reply(200, "", body)
}

/// The answer to a request, and the request's body.
async fn answer(api: Api, request: &Request, reply: Reply) -> (Completion, Value) {
    let server = Server::start(vec![reply]).await;
    let completion = api.model(&server.url).complete(request, None).await.expect("an answer");
    let body = serde_json::from_str(server.requests()[0].split_once("\r\n\r\n").expect("a body").1).expect("JSON");
    (completion, body)
}

/// The field of the conversation.
fn conversation(api: Api) -> &'static str {
    match api {
        Api::Gemini => "contents",
        Api::Responses => "input",
        _ => "messages",
    }
}

/// What is sent of [`asked`]: the conversation; then `tools`, `tool_choice` and `parallel_tool_calls`.
fn expected(api: Api) -> (Value, Value) {
    let parameters =
        json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] });
    match api {
        Api::Chat | Api::Completions => (
            json!([
                {"role": "system", "content": "S"},
                {"role": "user", "content": "Q"},
                {"role": "assistant", "content": "Both.", "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"query\":\"A\"}"}},
                    {"id": "c2", "type": "function", "function": {"name": "search", "arguments": "{\"query\":\"B\"}"}}
                ]},
                {"role": "tool", "content": "a", "tool_call_id": "c1"},
                {"role": "tool", "content": "", "tool_call_id": "c2"}
            ]),
            json!([[{"type": "function", "function": {"name": "search", "description": "Finds.", "parameters": parameters}}], null, false]),
        ),
        Api::Responses => expected_responses(&parameters),
        Api::Messages => (
            json!([
                {"role": "user", "content": "Q"},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Both."},
                    {"type": "tool_use", "id": "c1", "name": "search", "input": {"query": "A"}},
                    {"type": "tool_use", "id": "c2", "name": "search", "input": {"query": "B"}}
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "a"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": ""}
                ]}
            ]),
            json!([
                [{"name": "search", "description": "Finds.", "input_schema": parameters}],
                {"type": "auto", "disable_parallel_tool_use": true}, null
            ]),
        ),
        Api::Gemini => (
            json!([
                {"role": "user", "parts": [{"text": "Q"}]},
                {"role": "model", "parts": [
                    {"text": "Both."},
                    {"functionCall": {"name": "search", "args": {"query": "A"}}},
                    {"functionCall": {"name": "search", "args": {"query": "B"}}}
                ]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "search", "response": {"result": "a"}}},
                    {"functionResponse": {"name": "search", "response": {"result": ""}}}
                ]}
            ]),
            json!([[{"functionDeclarations": [{"name": "search", "description": "Finds.", "parameters": parameters}]}], null, null]),
        ),
    }
}

/// The same of the Responses API, where calls and results are items of their own.
fn expected_responses(parameters: &Value) -> (Value, Value) {
    (
        json!([
            {"type": "message", "role": "system", "content": "S"},
            {"type": "message", "role": "user", "content": "Q"},
            {"type": "message", "role": "assistant", "content": "Both."},
            {"type": "function_call", "call_id": "c1", "name": "search", "arguments": "{\"query\":\"A\"}"},
            {"type": "function_call", "call_id": "c2", "name": "search", "arguments": "{\"query\":\"B\"}"},
            {"type": "function_call_output", "call_id": "c1", "output": "a"},
            {"type": "function_call_output", "call_id": "c2", "output": ""}
        ]),
        json!([[{"type": "function", "name": "search", "description": "Finds.", "parameters": parameters, "strict": false}], null, false]),
    )
}

#[tokio::test]
async fn functions_calls_and_results_are_sent_as_each_provider_takes_them() {
    for api in APIS {
        let (_, body) = answer(api, &asked(false, false, None), whole(&api.whole("x"))).await;
        let (said, offered) = expected(api);
        assert_eq!(body[conversation(api)], said, "{api:?}");
        let sent = json!([body["tools"], body["tool_choice"], body["parallel_tool_calls"]]);
        assert_eq!(sent, offered, "{api:?}");
        assert_eq!(body["toolConfig"], Value::Null);

        let (_, body) = answer(api, &asked(true, true, None), whole(&api.whole("x"))).await;
        let (required, strict) = match api {
            Api::Chat | Api::Completions => (json!("required"), &body["tools"][0]["function"]["strict"]),
            Api::Responses => (json!("required"), &body["tools"][0]["strict"]),
            Api::Messages => (json!({"type": "any", "disable_parallel_tool_use": false}), &body["tools"][0]["strict"]),
            Api::Gemini => (json!({"functionCallingConfig": {"mode": "ANY"}}), &Value::Bool(true)),
        };
        let choice = if api == Api::Gemini { &body["toolConfig"] } else { &body["tool_choice"] };
        assert_eq!((choice, strict), (&required, &Value::Bool(true)), "{api:?}");
        assert_eq!(body["parallel_tool_calls"], Value::Null);
    }
}

/// An answer with reasoning, a text and two calls, whole and as a stream; and what has to be sent back.
fn calling(api: Api) -> (Value, Vec<String>, Value) {
    match api {
        Api::Chat | Api::Completions => calling_chat(),
        Api::Responses => calling_responses(),
        Api::Messages => calling_messages(),
        Api::Gemini => calling_gemini(),
    }
}

fn calling_chat() -> (Value, Vec<String>, Value) {
    let tool = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "search", "arguments": arguments}});
    let message = json!({"content": "I look.", "reasoning_content": "hm", "tool_calls": [tool("a", "{\"query\":\"A\"}"), tool("b", "{\"query\":\"B\"}")]});
    let delta = |delta: Value| format!("data: {}\n\n", json!({"choices": [{"delta": delta}]}));
    let piece = |index: u8, function: Value| delta(json!({"tool_calls": [{"index": index, "function": function}]}));
    let stream = vec![
        delta(json!({"reasoning_content": "h"})),
        delta(json!({"reasoning_content": "m", "content": null})),
        delta(json!({"content": "I look."})),
        delta(json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "search", "arguments": ""}}]})),
        piece(0, json!({"arguments": "{\"query\":"})),
        piece(0, json!({"arguments": "\"A\"}"})),
        delta(
            json!({"tool_calls": [{"index": 1, "id": "b", "function": {"name": "search", "arguments": "{\"query\":\"B\"}"}}]}),
        ),
        format!("data: {}\n\n", json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})),
        DONE.to_owned(),
    ];
    let whole = json!({"choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 5}, "completion_tokens_details": {"reasoning_tokens": 3}}});
    (whole, stream, json!({"reasoning_content": "hm"}))
}

fn calling_responses() -> (Value, Vec<String>, Value) {
    let call = |id: &str, query: &str| {
        let arguments = json!({ "query": query }).to_string();
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "search",
            "arguments": arguments, "status": "completed"})
    };
    let summary = json!([{"type": "summary_text", "text": "hm"}]);
    let items = json!([
        {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "s1g"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
        call("a", "A"),
        call("b", "B")
    ]);
    let mut whole = response("completed", &items);
    whole["usage"] = json!({"input_tokens": 9, "output_tokens": 4, "input_tokens_details": {"cached_tokens": 5}, "output_tokens_details": {"reasoning_tokens": 3}});
    let done = |at: usize| event("response.output_item.done", &format!(r#""output_index":{at},"item":{}"#, items[at]));
    let piece = |name: &str, delta: &str| event(name, &format!(r#""delta":{}"#, json!(delta)));
    let stream = vec![
        event("response.created", r#""response":{"status":"in_progress"}"#),
        event("response.output_item.added", r#""item":{"type":"reasoning","id":"rs_1","encrypted_content":"s"}"#),
        event("response.reasoning_summary_part.added", r#""summary_index":0"#),
        piece("response.reasoning_summary_text.delta", "h"),
        piece("response.reasoning_summary_text.delta", "m"),
        done(0),
        piece("response.output_text.delta", "I look."),
        done(1),
        piece("response.function_call_arguments.delta", r#"{"query""#),
        done(2),
        done(3),
        event("response.something_new", r#""x":1"#),
        event("response.completed", &format!(r#""response":{whole}"#)),
    ];
    (whole, stream, items)
}

fn calling_messages() -> (Value, Vec<String>, Value) {
    let content = json!([
        {"type": "thinking", "thinking": "hm", "signature": "s1g"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "a", "name": "search", "input": {"query": "A"}},
        {"type": "tool_use", "id": "b", "name": "search", "input": {"query": "B"}}
    ]);
    let usage = json!({"input_tokens": 4, "cache_read_input_tokens": 5, "output_tokens": 4, "output_tokens_details": {"thinking_tokens": 3}});
    let start = |block: Value| event("content_block_start", &format!(r#""content_block":{block}"#));
    let delta = |delta: Value| event("content_block_delta", &format!(r#""delta":{delta}"#));
    let stop = event("content_block_stop", r#""index":0"#);
    let tool = |id: &str| start(json!({"type": "tool_use", "id": id, "name": "search", "input": {}}));
    let json_piece = |json: &str| delta(json!({"type": "input_json_delta", "partial_json": json}));
    let stream = vec![
        start(json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(json!({"type": "thinking_delta", "thinking": "hm"})),
        delta(json!({"type": "signature_delta", "signature": "s1g"})),
        stop.clone(),
        start(json!({"type": "text", "text": ""})),
        delta(json!({"type": "text_delta", "text": "I look."})),
        stop.clone(),
        tool("a"),
        json_piece(r#"{"query":"#),
        json_piece(r#""A"}"#),
        stop.clone(),
        tool("b"),
        json_piece(r#"{"query":"B"}"#),
        stop,
        event("message_delta", &format!(r#""delta":{{"stop_reason":"tool_use"}},"usage":{usage}"#)),
        "data: {\"type\":\"message_stop\"}\n\n".to_owned(),
    ];
    let whole = json!({"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage});
    (whole, stream, content)
}

fn calling_gemini() -> (Value, Vec<String>, Value) {
    let part = |query: &str| json!({"functionCall": {"name": "search", "args": {"query": query}}});
    let signed = json!({"functionCall": {"name": "search", "args": {"query": "A"}}, "thoughtSignature": "s1g"});
    let parts = vec![json!({"text": "hm", "thought": true}), json!({"text": "I look."}), signed, part("B")];
    let stream = parts.iter().map(|part| gemini_event(&part.to_string(), "")).collect::<Vec<_>>();
    let end = gemini_event(r#"{"text":""}"#, r#","finishReason":"STOP""#);
    let whole = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 1, "thoughtsTokenCount": 3, "cachedContentTokenCount": 5}});
    (whole, [stream, vec![end]].concat(), Value::Array(parts))
}

#[tokio::test]
async fn calls_are_read_whole_and_from_streams_and_go_back_with_the_reasoning_before_them() {
    for api in APIS {
        let (said, events, verbatim) = calling(api);
        let request = asked(false, true, None);
        let (said, _) = answer(api, &request, whole(said.to_string().as_bytes())).await;
        let ids = if api == Api::Gemini { ["", ""] } else { ["a", "b"] };
        assert_eq!(said.calls, [call(ids[0], "A"), call(ids[1], "B")], "{api:?}");
        assert_eq!((said.text.as_str(), said.reasoning.as_deref()), ("I look.", Some("hm")), "{api:?}");
        let usage = said.usage.expect("counted");
        assert_eq!((usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens), (9, 4, Some(5)), "{api:?}");
        assert_eq!(usage.reasoning_tokens, Some(3), "{api:?}");
        let kept = said.verbatim.clone().expect("kept");
        assert_eq!(kept.content, verbatim, "{api:?}");

        let server = Server::start(vec![stream(&events)]).await;
        let model = api.model(&server.url);
        let streamed = model.complete(&request, Some(&|_| {})).await.expect("an answer");
        assert_eq!((&streamed.calls, streamed.text.as_str()), (&said.calls, "I look."), "{api:?}");
        if api == Api::Messages {
            // The others count in events that are not part of this stream.
            assert_eq!(streamed.usage, said.usage, "{api:?} streamed");
        }
        let mut content = streamed.verbatim.expect("kept").content;
        if api == Api::Gemini {
            content.as_array_mut().expect("parts").pop();
        }
        assert_eq!(content, verbatim, "{api:?} streamed");

        let back = asked(false, true, Some(kept));
        let (_, body) = answer(api, &back, whole(&api.whole("x"))).await;
        match api {
            Api::Chat | Api::Completions => assert_eq!(body["messages"][2]["reasoning_content"], "hm"),
            Api::Responses => {
                assert_eq!(&body["input"].as_array().expect("items")[2..6], &verbatim.as_array().expect("items")[..]);
            }
            Api::Messages => assert_eq!(body["messages"][1]["content"], verbatim),
            Api::Gemini => assert_eq!(body["contents"][1]["parts"], verbatim),
        }
    }
}

#[tokio::test]
async fn text_completions_offer_no_functions() {
    let server = Server::start(vec![]).await;
    let error = Api::Completions.model(&server.url).complete(&asked(false, true, None), None).await;
    assert!(error.expect_err("refused").to_string().contains("chat endpoint"));
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn calls_and_reasoning_are_whole_beside_a_key() {
    let (long, thought) = ("A".repeat(3000), "hm ".repeat(700));
    let arguments = json!({ "query": long }).to_string();
    let bodies = [
        (
            Api::Chat,
            json!({"choices": [{"message": {"content": null, "reasoning_content": thought, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "search", "arguments": arguments}}]}}]}),
        ),
        (
            Api::Messages,
            json!({"content": [{"type": "thinking", "thinking": thought, "signature": long},
                {"type": "tool_use", "id": "c", "name": "search", "input": {"query": long}}]}),
        ),
        (
            Api::Gemini,
            json!({"candidates": [{"content": {"parts": [{"text": thought, "thought": true},
                {"functionCall": {"name": "search", "args": {"query": long}}, "thoughtSignature": long}]}}]}),
        ),
        (
            Api::Responses,
            json!({"status": "completed", "output": [
                {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": thought}], "encrypted_content": long},
                {"type": "function_call", "call_id": "c", "name": "search", "arguments": arguments}]}),
        ),
    ];
    for (api, body) in bodies {
        let (completion, _) = answer(api, &asked(false, true, None), whole(body.to_string().as_bytes())).await;
        assert_eq!(completion.calls.len(), 1, "{api:?}");
        assert_eq!(completion.calls[0].object()["query"], json!(long), "{api:?}");
        assert_eq!(completion.reasoning.as_deref().map(str::len), Some(thought.len()), "{api:?}");
        let kept = completion.verbatim.expect("what is sent back").content.to_string();
        assert!(kept.len() > 2000, "{api:?}: {kept}");
    }
}

#[tokio::test]
async fn counts_that_gemini_leaves_out_are_0_where_the_others_add_up_to_its_total() {
    let special = async |usage: Value| {
        let body = json!({"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}], "usageMetadata": usage});
        let (said, _) = answer(Api::Gemini, &asked(false, false, None), whole(body.to_string().as_bytes())).await;
        let usage = said.usage.expect("counted");
        (usage.cached_tokens, usage.reasoning_tokens)
    };
    let counted = |total| json!({"promptTokenCount": 9, "candidatesTokenCount": 3, "totalTokenCount": total});
    assert_eq!(special(counted(12)).await, (Some(0), Some(0)));
    assert_eq!(special(counted(15)).await, (None, None), "some thoughts may not be told");
    let thought = json!({"promptTokenCount": 9, "thoughtsTokenCount": 3, "totalTokenCount": 12});
    assert_eq!(special(thought).await, (Some(0), Some(3)));
    assert_eq!(special(json!({"promptTokenCount": 9, "candidatesTokenCount": 3})).await, (None, None));
}
