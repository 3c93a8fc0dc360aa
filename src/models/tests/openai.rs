//! What differs between `OpenAI`-compatible servers: refused options, named servers, prefill, reasoning; and `check`.

use super::{Api, ask, request, settings, stream, watch};
use crate::base::Decoding;
use crate::models::openai;
use crate::models::remote::{Remote, Verdict};
use crate::models::{Endpoint, Model as _, ModelError, OpenAiSettings, RemoteSettings, capability};
use crate::net::testing::{Reply, Server, reply};

fn text(text: &str) -> Vec<u8> {
    Api::Chat.whole(text)
}

#[tokio::test]
async fn a_refused_stop_is_remembered_and_applied_by_the_client() {
    let no = reply(400, "", br#"{"error":{"message":"Unsupported parameter: 'stop'","param":"stop"}}"#);
    let full = reply(200, "", &text("a\nObservation 1: b"));
    let server = Server::start(vec![no, full]).await;
    let model = Api::Chat.model(&server.url);
    let first = model.complete(&request(), None).await.expect("an answer");
    assert_eq!((first.text.as_str(), first.attempts), ("a", 2));
    let second = model.complete(&request(), None).await.expect("an answer");
    assert_eq!((second.text.as_str(), second.attempts), ("a", 1));
    let stops: Vec<bool> = server.requests().iter().map(|r| r.contains("\"stop\"")).collect();
    assert_eq!(stops, [true, false, false]);
}

#[tokio::test]
async fn a_refused_limit_is_sent_under_its_newer_name() {
    let stop = reply(422, "", br#"{"detail":[{"loc":["body","stop"],"msg":"extra fields not permitted"}]}"#);
    let limit = reply(400, "", br#"{"error":{"message":"Use 'max_completion_tokens' instead.","param":"max_tokens"}}"#);
    let server = Server::start(vec![limit, stop, reply(200, "", &text("ok"))]).await;
    let model = Api::Chat.model(&server.url);
    assert_eq!(model.complete(&request(), None).await.expect("an answer").attempts, 3);
    let last = server.requests().pop().expect("three requests");
    assert!(last.contains("\"max_completion_tokens\":100") && !last.contains("\"stop\""), "{last}");
}

#[tokio::test]
async fn a_server_that_always_refuses_is_not_asked_forever() {
    let no = reply(400, "", br#"{"error":{"message":"stop and max_completion_tokens are unsupported"}}"#);
    let (answer, server) = ask(Api::Chat, vec![no]).await;
    assert!(matches!(answer, Err(ModelError::Refused { status: 400, .. })));
    // Without one, then without the other, then not again.
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_model_that_only_streams_is_asked_for_streams() {
    let whole = reply(400, "", br#"{"error":{"message":"This model only support stream mode"}}"#);
    let chunks = ["data: {\"choices\":[{\"delta\":{\"content\":\"ok\"}}]}\n\n".into(), "data: [DONE]\n\n".into()];
    let server = Server::start(vec![whole.clone(), stream(&chunks)]).await;
    let model = Api::Chat.model(&server.url);
    for attempts in [2, 1] {
        let answer = model.complete(&request(), None).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts), ("ok", attempts));
    }
    let both = [whole, reply(400, "", br#"{"error":{"message":"no stream"}}"#)];
    let server = Server::start([both.to_vec(), both.to_vec()].concat()).await;
    let error = Api::Chat.model(&server.url).complete(&request(), None).await.expect_err("neither");
    assert!(matches!(error, ModelError::Refused { status: 400, .. }) && server.requests().len() == 3, "{error:?}");
}

#[tokio::test]
async fn a_check_shows_which_settings_the_server_honours() {
    let long = text("four, five, six, seven, eight, nine, ten");
    let cut = text("four, five, six, ");
    for (second, stop) in [(&cut, Verdict::Honoured), (&long, Verdict::Ignored)] {
        let server = Server::start(vec![reply(200, "", &long), reply(200, "", second)]).await;
        let check = Api::Completions.model(&server.url).check(&Decoding::default()).await.expect("a server");
        assert_eq!((check.stop, check.max_tokens, check.usage), (stop, Verdict::Honoured, true));
        assert_eq!((check.requests, check.answered.as_deref(), check.endpoint), (2, Some("m-1"), "completions"));
        assert_eq!(check.sample, "four, five, six, seven, eight, nine, ten");
        assert!(server.requests()[1].contains(r#""stop":["seven"]"#), "{}", server.requests()[1]);
    }
    let no = reply(400, "", br#"{"error":{"message":"no stop","param":"stop"}}"#);
    let server = Server::start(vec![reply(200, "", &long), no, reply(200, "", &long)]).await;
    let check = Api::Chat.model(&server.url).check(&Decoding::default()).await.expect("a server");
    assert_eq!((check.stop, check.requests), (Verdict::Refused, 3));
    let empty = br#"{"choices":[{"message":{"content":null},"finish_reason":"stop"}],"model":"m-2"}"#;
    let server = Server::start(vec![reply(200, "", empty)]).await;
    let check = Api::Chat.model(&server.url).check(&Decoding::default()).await.expect("a server");
    assert_eq!((check.stop, check.max_tokens, check.usage), (Verdict::Unclear, Verdict::Unclear, false));
    assert_eq!((check.requests, check.answered.as_deref()), (1, Some("m-2")));
    let server = Server::start(vec![reply(200, "", &Api::Messages.whole("four, five, six, seven, eight"))]).await;
    let check = Api::Messages.model(&server.url).check(&Decoding::default()).await.expect("a server");
    assert_eq!((check.endpoint, check.max_tokens_name, check.left_out), ("messages", "max_tokens", vec!["seed"]));
    assert_eq!(check.stop, Verdict::Ignored);
}

pub(super) fn named(name: &str, base: &str, prefill: bool) -> Remote {
    let server = capability::of(name).expect("a row");
    openai::model(settings(base), OpenAiSettings { endpoint: Endpoint::Chat, server, prefill }).expect("a model")
}

#[tokio::test]
async fn a_named_server_gets_its_own_options_at_once() {
    let mut request = request();
    request.stop = (0..6).map(|n| format!("\nObservation {n}:")).collect();
    request.decoding.temperature = 0.7;
    for (name, stops, limit, top_p, stream) in [
        ("auto", 4, r#""max_tokens":100"#, true, true),
        ("openai", 4, r#""max_completion_tokens":100"#, false, true),
        ("vllm", 6, r#""max_tokens":100"#, true, false),
        ("tgi", 4, r#""max_tokens":100"#, false, true),
        ("deepseek", 6, r#""max_tokens":100"#, false, false),
    ] {
        let server = Server::start(vec![reply(200, "", &text("a\nObservation 5: b"))]).await;
        let answer = named(name, &server.url, false).complete(&request, None).await.expect("an answer");
        assert_eq!((answer.text.as_str(), answer.attempts), ("a", 1));
        let requests = server.requests();
        let sent = requests[0].split_once("\r\n\r\n").expect("a body").1;
        assert_eq!(sent.matches("Observation").count(), stops, "{name}: {sent}");
        assert!(sent.contains(limit) && sent.contains(r#""top_p":1.0"#) == top_p, "{name}: {sent}");
        assert_eq!(sent.contains(r#""stream":true"#), stream, "{name}: {sent}");
    }
}

#[tokio::test]
async fn text_completions_always_use_the_older_limit_name() {
    let server = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let row = capability::of("openai").expect("a row");
    let openai = OpenAiSettings { endpoint: Endpoint::Completions, server: row, prefill: false };
    openai::model(settings(&server.url), openai).expect("a model").complete(&request(), None).await.expect("an answer");
    assert!(server.requests()[0].contains(r#""max_tokens":100"#), "{}", server.requests()[0]);
}

#[tokio::test]
async fn a_label_is_continued_and_its_echo_removed() {
    for sent in [" I search.", "Thought 1: I search.", "<think>\nhm\n</think>\n\nThought 1: I search."] {
        let server = Server::start(vec![reply(200, "", &text(&format!("{sent}\nObservation 1: x")))]).await;
        let model = named("vllm", &server.url, true);
        assert_eq!(model.endpoint(), "chat+prefill");
        let answer = model.complete(&request(), None).await.expect("an answer");
        assert_eq!(answer.text, " I search.", "{sent}");
        let (answer, shown) = watch(&model, &request()).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), (" I search.", " I search."), "{sent}");
        let requests = server.requests();
        assert_eq!(
            requests[0].split_once("\r\n\r\n").expect("a body").1,
            r#"{"model":"m","messages":[{"role":"user","content":"Examples.\nQuestion: x\n"},{"role":"assistant","content":"Thought 1:"}],"add_generation_prompt":false,"continue_final_message":true,"temperature":0.0,"max_tokens":100,"stop":["\nObservation 1:"]}"#
        );
    }
}

#[tokio::test]
async fn reasoning_is_not_part_of_the_text_wherever_it_is() {
    let chunk = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n");
    let streams = [
        [chunk(r#"{"reasoning":"hm"}"#), chunk(r#"{"content":"ok"}"#)],
        [chunk(r#"{"reasoning_content":"hm"}"#), chunk(r#"{"content":"ok"}"#)],
        [chunk(r#"{"content":"<think>\nObservation 1: hm</th"}"#), chunk(r#"{"content":"ink>\n\nok"}"#)],
    ];
    for events in streams {
        let server = Server::start(vec![stream(&[events.concat(), "data: [DONE]\n\n".into()])]).await;
        let (answer, shown) = watch(&Api::Chat.model(&server.url), &request()).await;
        assert_eq!((answer.expect("an answer").text.as_str(), shown.as_str()), ("ok", "ok"), "{events:?}");
    }
    let ended = |message: &str, reason: &str| {
        reply(200, "", format!(r#"{{"choices":[{{"message":{message},"finish_reason":"{reason}"}}]}}"#).as_bytes())
    };
    let whole = |message: &str| ended(message, "stop");
    for (message, place) in [
        (r#"{"content":"four, five","reasoning":"hm"}"#, "reasoning"),
        (r#"{"content":"four, five","reasoning_content":"hm","reasoning":""}"#, "reasoning_content"),
        (r#"{"content":"<think>hm</think>four, five"}"#, "<think>"),
    ] {
        let server = Server::start(vec![whole(message)]).await;
        let check = Api::Chat.model(&server.url).check(&Decoding::default()).await.expect("a server");
        assert_eq!((check.reasoning, check.sample.as_str()), (Some(place), "four, five"));
        assert!(check.warning.is_some_and(|warning| warning.starts_with("reasoning counts against the limit")));
    }
    for (message, reason, told) in [
        (r#"{"content":null,"reasoning":"hm"}"#, "length", "ended inside reasoning"),
        (r#"{"content":null,"refusal":"I can't."}"#, "stop", "declined"),
        (r#"{"content":""}"#, "stop", "is empty"),
    ] {
        let server = Server::start(vec![ended(message, reason)]).await;
        let check = Api::Chat.model(&server.url).check(&Decoding::default()).await.expect("a server");
        assert!(check.warning.as_ref().is_some_and(|warning| warning.contains(told)), "{message}: {:?}", check.warning);
    }
    let server = Server::start(vec![whole(r#"{"content":"<think>hm</think>ok"}"#)]).await;
    let answer = named("openai", &server.url, false).complete(&request(), None).await.expect("an answer");
    assert_eq!(answer.text, "<think>hm</think>ok", "this server separates reasoning itself");
}

#[tokio::test]
async fn a_model_with_a_fixed_temperature_is_checked_with_that() {
    let no = reply(400, "", br#"{"error":{"message":"Unsupported value: 'temperature' does not support 0"}}"#);
    let server = Server::start(vec![no, reply(200, "", &text("ok"))]).await;
    let check = Api::Chat.model(&server.url).check(&Decoding::default()).await.expect("a server");
    assert_eq!((check.temperature, check.requests), (Verdict::Refused, 2));
    assert!(!server.requests()[1].contains("temperature"));
}

#[tokio::test]
async fn several_servers_share_the_work_and_records_name_them_all() {
    let slow = Server::start(vec![Reply::Hang]).await;
    let quick = Server::start(vec![reply(200, "", &text("ok"))]).await;
    let urls = [&slow, &quick].map(|server| server.url.replace("://", "://user:pw9@"));
    let settings = RemoteSettings { base_urls: urls.to_vec(), ..settings("") };
    let model = openai::model(settings, OpenAiSettings::default()).expect("a model");
    let want = format!("{}/chat/completions,{}/chat/completions", slow.url, quick.url);
    assert_eq!(model.address(), want);
    let request = request();
    let mut waits = std::pin::pin!(model.complete(&request, None));
    for _ in 0..3 {
        tokio::select! {
            biased;
            _ = &mut waits => panic!("this one hangs"),
            answer = model.complete(&request, None) => assert_eq!(answer.expect("an answer").attempts, 1),
        }
    }
    assert_eq!((slow.requests().len(), quick.requests().len()), (1, 3));
    let all = format!("{:?} {model:?}", waits.await.expect("the second attempt goes elsewhere"));
    assert!(!all.contains("pw9") && slow.requests().len() == 1, "{all}");
}
