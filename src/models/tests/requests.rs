//! What is sent, and where.

use super::{APIS, Api, KEY, ask, request, settings};
use crate::base::{Decoding, Message, Prompt, Request, RequestOption, Usage};
use crate::models::{Endpoint, Model as _, ModelError, OpenAiSettings, anthropic, gemini};
use crate::net::testing::{Server, reply};

fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").expect("a head and a body").1
}

#[tokio::test]
async fn requests_are_sent_byte_for_byte_and_answers_cut() {
    let openai = r#""temperature":0.0,"max_tokens":100,"stop":["\nObservation 1:"]}"#;
    let bearer = format!("authorization: Bearer {KEY}");
    for (api, path, key, json) in [
        (
            Api::Chat,
            "/chat/completions",
            &bearer,
            format!(r#"{{"model":"m","messages":[{{"role":"user","content":"Examples.\nQuestion: x\nThought 1:"}}],{openai}"#),
        ),
        (
            Api::Completions,
            "/completions",
            &bearer,
            format!(r#"{{"model":"m","prompt":"Examples.\nQuestion: x\nThought 1:",{openai}"#),
        ),
        (
            Api::Responses,
            "/responses",
            &bearer,
            r#"{"model":"m","input":"Examples.\nQuestion: x\nThought 1:","temperature":0.0,"max_output_tokens":100,"store":false,"stream":true}"#.into(),
        ),
        (
            Api::Messages,
            "/v1/messages",
            &format!("x-api-key: {KEY}"),
            r#"{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Examples.\nQuestion: x\nThought 1:"}],"temperature":0.0,"stop_sequences":["\nObservation 1:"]}"#.into(),
        ),
        (
            Api::Gemini,
            "/v1beta/models/m:generateContent",
            &format!("x-goog-api-key: {KEY}"),
            r#"{"contents":[{"role":"user","parts":[{"text":"Examples.\nQuestion: x\nThought 1:"}]}],"generationConfig":{"temperature":0.0,"maxOutputTokens":100,"stopSequences":["\nObservation 1:"]}}"#.into(),
        ),
    ] {
        let whole = api.whole(" I search.\nAction 1: Search[x]\nObservation 1: made up");
        let (answer, server) = ask(api, vec![reply(200, "", &whole)]).await;
        let answer = answer.expect("an answer");
        assert_eq!(answer.text, " I search.\nAction 1: Search[x]");
        assert_eq!((answer.finish_reason.as_deref(), answer.attempts, answer.cached), (Some("stop"), 1, false));
        let used = answer.usage.map(|usage| Usage::new(usage.prompt_tokens, usage.completion_tokens));
        assert_eq!(used, Some(Usage::new(9, 4)));
        let sent = &server.requests()[0];
        assert!(sent.starts_with(&format!("POST {path} ")) && sent.contains(key), "{sent}");
        assert!(sent.contains("content-type: application/json"), "{sent}");
        assert_eq!(sent.contains("authorization"), key == &bearer, "{sent}");
        assert_eq!(sent.contains("anthropic-version: 2023-06-01"), api == Api::Messages, "{sent}");
        assert_eq!(body(sent), json);
    }
}

#[tokio::test]
async fn conversations_settings_and_stops_are_encoded() {
    let messages = vec![
        Message::system("Answer."),
        Message::user("Q"),
        Message::assistant("Thought: \n"),
        Message::system("Response:"),
        Message::assistant("It is \n"),
    ];
    let decoding = Decoding { temperature: 1.0, top_p: 0.5, max_tokens: 7, seed: Some(3), ..Decoding::default() };
    let stop = ["a", " ", "s2", "s3", "s4", "s5"].map(String::from).to_vec();
    let talk = Request::new(Prompt::Messages(messages), stop, decoding);
    for (api, json) in [
        (
            Api::Responses,
            r#"{"model":"m","input":[{"type":"message","role":"system","content":"Answer."},{"type":"message","role":"user","content":"Q"},{"type":"message","role":"assistant","content":"Thought: \n"},{"type":"message","role":"system","content":"Response:"},{"type":"message","role":"assistant","content":"It is \n"}],"temperature":1.0,"top_p":0.5,"max_output_tokens":7,"store":false,"stream":true}"#,
        ),
        (
            Api::Messages,
            r#"{"model":"m","max_tokens":7,"system":"Answer.","messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"Thought: \n"},{"role":"user","content":"Response:"},{"role":"assistant","content":"It is"}],"top_p":0.5,"stop_sequences":["a","s2","s3","s4","s5"],"stream":true}"#,
        ),
        (
            Api::Gemini,
            r#"{"systemInstruction":{"parts":[{"text":"Answer."}]},"contents":[{"role":"user","parts":[{"text":"Q"}]},{"role":"model","parts":[{"text":"Thought: \n"}]},{"role":"user","parts":[{"text":"Response:"}]},{"role":"model","parts":[{"text":"It is \n"}]}],"generationConfig":{"temperature":1.0,"topP":0.5,"maxOutputTokens":7,"seed":3,"stopSequences":["a"," ","s2","s3","s4"]}}"#,
        ),
    ] {
        let server = Server::start(vec![api.stream(&["ok"])]).await;
        assert_eq!(api.model(&server.url).complete(&talk, None).await.expect("an answer").text, "ok");
        assert_eq!(body(&server.requests()[0]), json);
    }
    let server = Server::start(vec![reply(200, "", &Api::Messages.whole(" ok"))]).await;
    let model = anthropic::model(settings(&server.url), true).expect("a model");
    assert_eq!(
        (model.endpoint(), model.complete(&request(), None).await.expect("an answer").text),
        ("messages+prefill", " ok".into())
    );
    assert_eq!(
        body(&server.requests()[0]),
        r#"{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"Examples.\nQuestion: x\n"},{"role":"assistant","content":"Thought 1:"}],"temperature":0.0,"stop_sequences":["\nObservation 1:"]}"#
    );
}

#[tokio::test]
async fn what_means_nothing_is_not_sent_unless_it_was_typed() {
    let warm = Decoding { temperature: 0.7, ..Decoding::default() };
    let typed = Decoding { typed: [RequestOption::TopP].into_iter().collect(), ..Decoding::default() };
    for (api, decoding, sent) in [
        (Api::Chat, Decoding::default(), false),
        (Api::Chat, warm.clone(), true),
        (Api::Chat, typed.clone(), true),
        (Api::Chat, Decoding { top_p: 0.5, ..Decoding::default() }, true),
        // Without one, Claude takes all words, and Gemini not.
        (Api::Messages, warm.clone(), false),
        (Api::Messages, typed, false),
        (Api::Gemini, Decoding::default(), false),
        (Api::Gemini, warm, true),
    ] {
        let server = Server::start(vec![reply(200, "", &api.whole("ok"))]).await;
        let name = format!("{api:?} {decoding:?}");
        api.model(&server.url).complete(&Request { decoding, ..request() }, None).await.expect("an answer");
        let body = server.requests()[0].to_ascii_lowercase();
        assert_eq!(body.contains("\"top_p\"") || body.contains("\"topp\""), sent, "{name}: {body}");
    }
}

#[tokio::test]
async fn a_refused_setting_is_left_out_of_all_requests_unless_a_person_has_set_it() {
    for (api, message) in [
        (Api::Chat, "Unsupported value: 'temperature' does not support 0 with this model."),
        (Api::Responses, "Unsupported parameter: 'temperature' is not supported with this model."),
        (Api::Messages, "`temperature` is deprecated for this model."),
        (Api::Gemini, "temperature is not supported"),
    ] {
        let no = reply(400, "", api.error(message).as_bytes());
        let yes = reply(200, "", &api.whole("ok"));
        let server = Server::start(vec![no.clone(), yes.clone(), yes, no]).await;
        let model = api.model(&server.url);
        assert_eq!(model.complete(&request(), None).await.expect("an answer").attempts, 2);
        assert_eq!(model.complete(&request(), None).await.expect("an answer").attempts, 1);
        let sent: Vec<bool> = server.requests().iter().map(|body| body.contains("\"temperature\"")).collect();
        assert_eq!(sent, [true, false, false], "{api:?}");
        assert!(model.learned().refused().contains(RequestOption::Temperature));
        // What a person has set is sent, refused, and an error that says what to do.
        let typed = [RequestOption::Temperature].into_iter().collect();
        let decoding = Decoding { temperature: 0.5, typed, ..Decoding::default() };
        let error = model.complete(&Request { decoding, ..request() }, None).await.expect_err("refused");
        assert!(server.requests()[3].contains("\"temperature\":0.5"), "{api:?}");
        assert!(error.hint().is_some_and(|hint| hint.contains("leave out --temperature")), "{error:?}");
    }
}

#[test]
fn urls_are_made_from_any_base() {
    for (api, base, url) in [
        (Api::Chat, "http://h/v1", "http://h/v1/chat/completions"),
        (Api::Completions, "http://h/v1/", "http://h/v1/completions"),
        (Api::Completions, "http://h/v1/chat/completions", "http://h/v1/completions"),
        (Api::Chat, "http://h/v1/completions", "http://h/v1/chat/completions"),
        (Api::Chat, "http://h", "http://h/chat/completions"),
        (Api::Responses, "http://h/v1/", "http://h/v1/responses"),
        (Api::Responses, "http://h/v1/responses", "http://h/v1/responses"),
        (Api::Messages, "https://h/", "https://h/v1/messages"),
        (Api::Messages, "https://h/v1", "https://h/v1/messages"),
        (Api::Messages, "https://h/v1/messages", "https://h/v1/messages"),
        (Api::Gemini, "https://h", "https://h/v1beta/models/m:generateContent"),
        (Api::Gemini, "https://h/v1beta/", "https://h/v1beta/models/m:generateContent"),
    ] {
        assert_eq!(api.model(base).address(), url);
    }
    for (name, url) in [
        ("tunedModels/x", "https://h/v1/tunedModels/x:generateContent"),
        ("a?b#é", "https://h/v1/models/a%3Fb%23%C3%A9:generateContent"),
    ] {
        let settings = crate::models::RemoteSettings { model: name.into(), ..settings("https://h/v1") };
        assert_eq!(gemini::model(settings).expect("a model").address(), url);
    }
}

#[tokio::test]
async fn the_query_of_a_base_is_kept() {
    for (api, watched, path) in [
        (Api::Chat, false, "/chat/completions?api-version=1"),
        (Api::Gemini, false, "/v1beta/models/m:generateContent?api-version=1"),
        (Api::Gemini, true, "/v1beta/models/m:streamGenerateContent?alt=sse&api-version=1"),
    ] {
        let server = Server::start(vec![reply(200, "", &api.whole("ok"))]).await;
        let model = api.model(&format!("{}?api-version=1", server.url));
        let request = request();
        let answer =
            if watched { model.complete(&request, Some(&|_| ())) } else { model.complete(&request, None) }.await;
        assert_eq!(answer.expect("an answer").text, "ok");
        assert!(server.requests()[0].starts_with(&format!("POST {path} ")), "{}", server.requests()[0]);
    }
}

#[tokio::test]
async fn unsupported_settings_are_errors_before_anything_is_sent() {
    let seed = |seed| Decoding { seed: Some(seed), ..Decoding::default() };
    let warm = |temperature| Decoding { temperature, ..Decoding::default() };
    for (api, decoding, reason) in [
        (Api::Messages, warm(1.5), Some("a temperature of 1.5 is above 1, the maximum that Anthropic supports")),
        (Api::Messages, warm(0.5), None),
        (Api::Gemini, seed(1 << 31), Some("the seed 2147483648 is above 2147483647, the maximum that Gemini supports")),
        (Api::Gemini, seed((1 << 31) - 1), None),
    ] {
        let server = Server::start(vec![reply(200, "", &api.whole("ok"))]).await;
        let model = api.model(&server.url);
        assert_eq!(model.unsupported(&decoding, false).map(|unsupported| unsupported.reason).as_deref(), reason);
        let answer = model.complete(&Request { decoding, ..request() }, None).await;
        assert_eq!(answer.err(), reason.map(|reason| ModelError::Other(reason.into())));
        assert_eq!(server.requests().len(), usize::from(reason.is_none()));
    }
}

#[tokio::test]
async fn without_a_key_none_is_sent() {
    for api in APIS {
        let server = Server::start(vec![reply(200, "", &api.whole("ok"))]).await;
        let settings = crate::models::RemoteSettings { key: None, ..settings(&server.url) };
        let model = match api {
            Api::Messages => anthropic::model(settings, false),
            Api::Gemini => gemini::model(settings),
            Api::Chat | Api::Completions | Api::Responses => {
                let endpoint = if api == Api::Responses { Endpoint::Responses } else { Endpoint::Chat };
                crate::models::openai::model(settings, OpenAiSettings { endpoint, ..OpenAiSettings::default() })
            }
        };
        model.expect("a model").complete(&request(), None).await.expect("an answer");
        let sent = server.requests()[0].to_ascii_lowercase();
        assert!(!sent.contains("authorization") && !sent.contains("-key:"), "{sent}");
    }
}
