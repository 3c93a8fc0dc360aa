//! The bytes that are sent.

use super::{BodyOptions, encode};
use crate::base::RequestOption::{self, MaxTokens, Seed, Stop, Stream, StreamUsage, Temperature, TopP};
use crate::base::{Decoding, Message, Prompt, Request, Role};
use crate::models::capability::{Control, Prefill};
use crate::models::openai::Endpoint;

fn request(prompt: Prompt, stops: usize) -> Request {
    let stop = (0..stops).map(|n| format!("\nObservation {n}:")).collect();
    Request::new(prompt, stop, Decoding { seed: (stops > 5).then_some(7), ..Decoding::default() })
}

fn options(sent: &[RequestOption]) -> BodyOptions {
    BodyOptions {
        endpoint: Endpoint::Chat,
        stops: 4,
        sent: sent.iter().copied().collect(),
        refused: crate::base::RequestOptions::default(),
        prefill: None,
        control: Control::Effort,
    }
}

/// What is sent to an unknown server.
fn usual() -> BodyOptions {
    options(&[Temperature, Seed, Stop, MaxTokens])
}

fn encoded(request: &Request, options: BodyOptions) -> String {
    String::from_utf8(encode("m", request, options).expect("valid JSON").body).expect("JSON is UTF-8")
}

fn label(request: &Request, options: BodyOptions) -> String {
    encode("m", request, options).expect("valid JSON").label
}

fn sent(endpoint: Endpoint, request: &Request) -> String {
    encoded(request, BodyOptions { endpoint, ..usual() })
}

#[test]
fn messages_go_to_either_endpoint() {
    let message = |role, content: &str| Message::new(role, content);
    let mut messages =
        vec![message(Role::System, "Answer."), message(Role::User, "Question: x\n"), message(Role::User, "y")];
    let of = |messages: &[Message]| request(Prompt::Messages(messages.to_vec()), 0);
    assert!(sent(Endpoint::Chat, &of(&messages)).contains(
        r#""messages":[{"role":"system","content":"Answer."},{"role":"user","content":"Question: x\n"},{"role":"user","content":"y"}]"#
    ));
    let text = sent(Endpoint::Completions, &of(&messages));
    assert!(text.contains(r#""prompt":"Answer.\nQuestion: x\ny\n","#), "{text}");
    messages.push(message(Role::Assistant, "Thought 1:"));
    let text = sent(Endpoint::Completions, &of(&messages));
    assert!(text.contains(r#""prompt":"Answer.\nQuestion: x\ny\nThought 1:","#), "{text}");
}

#[test]
fn four_stops_are_sent_and_refused_settings_left_out() {
    let request = request(Prompt::text("".into(), "x"), 6);
    let text = sent(Endpoint::Chat, &request);
    assert!(text.ends_with(
        r#""seed":7,"stop":["\nObservation 0:","\nObservation 1:","\nObservation 2:","\nObservation 3:"]}"#
    ));
    for (sent, end) in [
        (&[][..], r#""content":"x"}],"max_completion_tokens":100}"#),
        (&[Temperature, TopP], r#""temperature":0.0,"top_p":1.0,"max_completion_tokens":100}"#),
        (&[Seed, Stream], r#","max_completion_tokens":100,"seed":7,"stream":true}"#),
        (&[Stream, StreamUsage], r#""stream":true,"stream_options":{"include_usage":true}}"#),
    ] {
        let text = encoded(&request, BodyOptions { stops: 0, ..options(sent) });
        assert!(text.ends_with(end), "{text}");
    }
    let text = encoded(&request, BodyOptions { stops: usize::MAX, ..usual() });
    assert!(
        text.contains(r#""temperature":0.0,"max_tokens":100,"#) && text.contains(r#""\nObservation 5:"]"#),
        "{text}"
    );
}

#[test]
fn a_label_is_continued_in_each_servers_way() {
    let text = request(Prompt::text("Examples.\n".into(), "Question: \"x\"\nThought 1:"), 0);
    let rest = r#""temperature":0.0,"max_tokens":100}"#;
    let user = r#"{"model":"m","messages":[{"role":"user","content":"Examples.\nQuestion: \"x\"\n"}"#;
    for (prefill, end) in [
        (Prefill::Unasked, r"}],"),
        (Prefill::Flags, r#"}],"add_generation_prompt":false,"continue_final_message":true,"#),
        (Prefill::Field("prefix"), r#","prefix":true}],"#),
        (Prefill::Field("partial"), r#","partial":true}],"#),
    ] {
        let options = BodyOptions { prefill: Some(prefill), ..usual() };
        assert_eq!(
            encoded(&text, options),
            format!(r#"{user},{{"role":"assistant","content":"Thought 1:"{end}{rest}"#)
        );
        assert_eq!(label(&text, options).as_str(), "Thought 1:");
        assert_eq!(label(&text, usual()), "");
        // Nothing to continue.
        let open = request(Prompt::text("Examples.\n".into(), "Question: x\n"), 0);
        assert_eq!((encoded(&open, options), label(&open, options).as_str()), (encoded(&open, usual()), ""));
        // A message of the model's own is continued, and is not a label.
        let messages = Prompt::Messages(vec![Message::user("Q"), Message::assistant("Thought:")]);
        let own = request(messages, 0);
        let want = r#"{"model":"m","messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"Thought:""#;
        assert_eq!((encoded(&own, options), label(&own, options).as_str()), (format!("{want}{end}{rest}"), ""));
        assert_eq!(
            encoded(&request(Prompt::Messages(vec![Message::user("Q")]), 0), options).matches("true").count(),
            0
        );
    }
}
