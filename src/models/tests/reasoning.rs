//! What each provider is sent for every way to ask for reasoning, and for what a person adds.

use super::*;
use crate::base::{Functions, Reasoning};
use crate::models::capability::SERVERS;
use crate::net::testing::reply;
use serde_json::{Value, json};
use std::sync::Arc;

const ALL: [&str; 5] = ["off", "low", "medium", "high", "4096"];

/// The body that is sent for this, with `max_tokens` 100.
async fn sent(server: Option<&'static str>, api: Api, decoding: Decoding) -> Value {
    let answering = Server::start(vec![reply(200, "", &api.whole("ok"))]).await;
    let model = match server.and_then(crate::models::capability::of) {
        Some(server) => {
            let openai = OpenAiSettings { server, ..OpenAiSettings::default() };
            crate::models::openai::model(settings(&answering.url), openai).expect("a model")
        }
        None => api.model(&answering.url),
    };
    let prompt = Prompt::text("".into(), "Q");
    model.complete(&Request::new(prompt, vec![], decoding), None).await.expect("an answer");
    let request = answering.requests().remove(0);
    serde_json::from_str(request.split("\r\n\r\n").nth(1).expect("a body")).expect("JSON")
}

fn asking(text: &str) -> Decoding {
    Decoding { reasoning: Some(Reasoning::parse(text).expect(text)), ..Decoding::default() }
}

/// What a body has beside what it has without reasoning.
fn beyond(mut body: Value, usual: &Value) -> Value {
    body.as_object_mut().expect("an object").retain(|name, value| usual.get(name) != Some(value));
    body
}

#[tokio::test]
async fn chat_servers_are_told_in_their_own_way() {
    let effort = |word: &str| json!({ "reasoning_effort": word });
    let usual = [effort("none"), effort("low"), effort("medium"), effort("high"), Value::Null];
    let thinks = |on: bool| json!({ "enable_thinking": on });
    let template = |budget: Value| {
        let named = |word: &str| json!({ "reasoning_effort": word, "chat_template_kwargs": thinks(true) });
        let mut all =
            [json!({ "chat_template_kwargs": thinks(false) }), named("low"), named("medium"), named("high"), budget];
        all[4]["chat_template_kwargs"] = thinks(true);
        all[4]["max_tokens"] = json!(4196);
        all
    };
    let router = |word: &str| json!({ "reasoning": { "effort": word } });
    let deep = |word: &str| json!({ "thinking": { "type": "enabled" }, "reasoning_effort": word });
    for row in &SERVERS {
        let expected = match row.name {
            "vllm" => template(json!({ "thinking_token_budget": 4096 })),
            "sglang" => template(json!({ "custom_params": { "thinking_budget": 4096 } })),
            "llama.cpp" => template(json!({ "thinking_budget_tokens": 4096 })),
            "openrouter" => {
                let budget = json!({ "reasoning": { "max_tokens": 4096 }, "max_tokens": 4196 });
                [router("none"), router("low"), router("medium"), router("high"), budget]
            }
            "dashscope" => {
                let budget = json!({ "enable_thinking": true, "thinking_budget": 4096, "max_tokens": 4196 });
                [json!({ "enable_thinking": false }), Value::Null, Value::Null, Value::Null, budget]
            }
            "deepseek" => {
                let off = json!({ "thinking": { "type": "disabled" } });
                [off, deep("low"), deep("medium"), deep("high"), Value::Null]
            }
            _ => usual.clone(),
        };
        let plain = sent(Some(row.name), Api::Chat, Decoding::default()).await;
        for (text, fields) in ALL.into_iter().zip(expected) {
            let model = crate::models::openai::model(
                settings("http://h"),
                OpenAiSettings { server: row, ..OpenAiSettings::default() },
            );
            let refused = model.expect("a model").unsupported(&asking(text), false);
            assert_eq!(refused.is_some(), fields.is_null(), "{} {text}: {refused:?}", row.name);
            if refused.is_none() {
                let body = sent(Some(row.name), Api::Chat, asking(text)).await;
                assert_eq!(beyond(body, &plain), fields, "{} {text}", row.name);
            }
        }
    }
}

#[tokio::test]
async fn anthropic_and_gemini_are_told_and_show_their_reasoning() {
    let adaptive = |effort: &str| json!({ "thinking": { "type": "adaptive", "display": "summarized" }, "output_config": { "effort": effort } });
    let claude = [
        json!({ "thinking": { "type": "disabled" } }),
        adaptive("low"),
        adaptive("medium"),
        adaptive("high"),
        json!({ "thinking": { "type": "enabled", "budget_tokens": 4096 }, "max_tokens": 4196 }),
    ];
    let level = |level: &str| json!({ "includeThoughts": true, "thinkingLevel": level });
    let gemini = [
        json!({ "thinkingBudget": 0 }),
        level("LOW"),
        level("MEDIUM"),
        level("HIGH"),
        json!({ "includeThoughts": true, "thinkingBudget": 4096 }),
    ];
    let plain = sent(None, Api::Messages, Decoding::default()).await;
    for ((text, claude), gemini) in ALL.into_iter().zip(claude).zip(gemini) {
        let body = sent(None, Api::Messages, asking(text)).await;
        // While Claude reasons it takes no temperature.
        assert_eq!(body.get("temperature").is_some(), text == "off", "{text}");
        assert_eq!(beyond(body, &plain), claude, "{text}");
        let config = sent(None, Api::Gemini, asking(text)).await["generationConfig"].take();
        assert_eq!(config["thinkingConfig"], gemini, "{text}");
        assert_eq!(config["maxOutputTokens"], if text == "4096" { 4196 } else { 100 }, "{text}");
    }
}

#[tokio::test]
async fn the_responses_api_is_asked_for_a_summary_that_an_account_may_not_have() {
    let plain = sent(None, Api::Responses, Decoding::default()).await;
    let asked = |effort: &str| json!({ "reasoning": { "effort": effort, "summary": "auto" } });
    let expected = [json!({ "reasoning": { "effort": "none" } }), asked("low"), asked("medium"), asked("high")];
    for (text, fields) in ALL.into_iter().zip(expected) {
        assert_eq!(beyond(sent(None, Api::Responses, asking(text)).await, &plain), fields, "{text}");
    }
    let refused = Api::Responses.model("http://h").unsupported(&asking("4096"), false).expect("no number");
    assert_eq!(refused.reason, "the Responses API has no setting for --reasoning 4096");

    let no = "Your organization must be verified to generate reasoning summaries.";
    let server = Server::start(vec![
        reply(400, "", Api::Responses.error(no).as_bytes()),
        reply(200, "", &Api::Responses.whole("ok")),
    ])
    .await;
    let request = Request { decoding: asking("low"), ..request() };
    Api::Responses.model(&server.url).complete(&request, None).await.expect("without a summary");
    let asked: Vec<bool> = server.requests().iter().map(|body| body.contains("\"summary\"")).collect();
    assert_eq!(asked, [true, false]);
}

#[tokio::test]
async fn a_call_that_must_be_cannot_go_with_reasoning_at_anthropics() {
    let server = Server::start(vec![reply(200, "", &Api::Messages.whole("ok"))]).await;
    let functions = Functions { list: vec![], required: true, parallel: false, strict: false };
    let request = Request { functions: Some(Arc::new(functions)), decoding: asking("low"), ..request() };
    let error = Api::Messages.model(&server.url).complete(&request, None).await.expect_err("refused");
    assert!(error.to_string().contains("cannot be made to call a function"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn reasoning_that_a_server_refuses_is_an_error_with_a_hint_and_not_left_out() {
    for (api, message) in [
        (Api::Chat, "Unsupported parameter: 'reasoning_effort' is not supported with this model."),
        (Api::Responses, "Unsupported parameter: 'reasoning.effort' is not supported with this model."),
        (Api::Messages, "adaptive thinking is not supported on this model"),
        (Api::Gemini, "Thinking level is not supported for this model."),
    ] {
        let no = reply(400, "", api.error(message).as_bytes());
        let server = Server::start(vec![no.clone(), no]).await;
        let model = api.model(&server.url);
        for _ in 0..2 {
            let error =
                model.complete(&Request { decoding: asking("low"), ..request() }, None).await.expect_err("refused");
            assert!(error.hint().is_some_and(|hint| hint.contains("try another --reasoning")), "{error:?}");
        }
        let requests = server.requests();
        assert_eq!(requests.len(), 2, "{api:?}");
        assert!(requests.iter().all(|body| body.contains("\"low\"") || body.contains("\"LOW\"")), "{requests:?}");
    }
}

#[tokio::test]
async fn what_a_person_adds_is_sent_by_every_provider() {
    for api in APIS {
        let extra = json!({ "top_k": 20, "generationConfig": { "topK": 20 } });
        let decoding = Decoding { extra_body: extra.as_object().expect("an object").clone(), ..Decoding::default() };
        let body = sent(None, api, decoding).await;
        assert_eq!((&body["top_k"], &body["generationConfig"]["topK"]), (&json!(20), &json!(20)), "{api:?}");
        let limit = match api {
            Api::Gemini => &body["generationConfig"]["maxOutputTokens"],
            Api::Responses => &body["max_output_tokens"],
            _ => &body["max_tokens"],
        };
        assert_eq!(*limit, 100, "{api:?}");
    }
}

#[tokio::test]
async fn extra_headers_are_sent_and_what_they_hold_is_masked() {
    const SECRET: &str = "tok-9876543210fedcba";
    for api in APIS {
        let server = Server::start(vec![reply(200, "", &api.whole(&format!("I got {SECRET}")))]).await;
        let settings = RemoteSettings {
            key: None,
            headers: vec![("x-title".to_owned(), "a test".to_owned())],
            secret_headers: vec![("api-key".to_owned(), SECRET.into())],
            ..settings(&server.url)
        };
        let model = match api {
            Api::Messages => anthropic::model(settings, false),
            Api::Gemini => gemini::model(settings),
            Api::Chat | Api::Completions => crate::models::openai::model(settings, OpenAiSettings::default()),
            Api::Responses => {
                let openai = OpenAiSettings { endpoint: Endpoint::Responses, ..OpenAiSettings::default() };
                crate::models::openai::model(settings, openai)
            }
        };
        let answer = model.expect("a model").complete(&request(), None).await.expect("an answer");
        assert_eq!(answer.text, "I got ***", "{api:?}");
        let sent = server.requests()[0].to_ascii_lowercase();
        assert!(sent.contains("x-title: a test\r\n") && sent.contains(&format!("api-key: {SECRET}\r\n")), "{sent}");
        assert!(!sent.contains("authorization"), "{sent}");
    }
}
