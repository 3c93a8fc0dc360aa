//! The bytes that are sent.

use super::{Form, bytes, label};
use crate::llm::capability::Prefill;
use crate::llm::openai::Endpoint;
use crate::types::{Decoding, Message, Prompt, Request, Role};

fn request(prompt: Prompt, stops: usize) -> Request {
    let stop = (0..stops).map(|n| format!("\nObservation {n}:")).collect();
    Request { prompt, stop, decoding: Decoding { seed: (stops > 5).then_some(7), ..Decoding::default() } }
}

const FORM: Form = Form {
    endpoint: Endpoint::Chat,
    stops: 4,
    max_tokens: true,
    full_top_p: true,
    stream: false,
    stream_usage: false,
    prefill: None,
};

fn put(request: &Request, form: Form) -> String {
    String::from_utf8(bytes("m", request, form)).expect("JSON is UTF-8")
}

fn sent(endpoint: Endpoint, request: &Request) -> String {
    put(request, Form { endpoint, ..FORM })
}

#[test]
fn a_text_goes_to_either_endpoint() {
    let request = request(Prompt::text("Q: \"é\"\n".into(), "Thought 1:"), 1);
    assert_eq!(
        sent(Endpoint::Completions, &request),
        r#"{"model":"m","prompt":"Q: \"é\"\nThought 1:","temperature":0.0,"top_p":1.0,"max_tokens":100,"stop":["\nObservation 0:"]}"#
    );
    assert_eq!(
        sent(Endpoint::Chat, &request),
        r#"{"model":"m","messages":[{"role":"user","content":"Q: \"é\"\nThought 1:"}],"temperature":0.0,"top_p":1.0,"max_tokens":100,"stop":["\nObservation 0:"]}"#
    );
}

#[test]
fn messages_go_to_either_endpoint() {
    let message = |role, content: &str| Message { role, content: content.into() };
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
    for (stream, stream_usage, end) in [
        (false, false, r#""seed":7}"#),
        (true, false, r#""seed":7,"stream":true}"#),
        (true, true, r#""seed":7,"stream":true,"stream_options":{"include_usage":true}}"#),
    ] {
        let text = put(&request, Form { stops: 0, max_tokens: false, stream, stream_usage, ..FORM });
        assert!(text.ends_with(&format!(r#""top_p":1.0,"max_completion_tokens":100,{end}"#)), "{text}");
    }
    let text = put(&request, Form { stops: usize::MAX, full_top_p: false, ..FORM });
    assert!(
        text.contains(r#""temperature":0.0,"max_tokens":100,"#) && text.contains(r#""\nObservation 5:"]"#),
        "{text}"
    );
    let mut narrow = request.clone();
    narrow.decoding.top_p = 0.5;
    assert!(put(&narrow, Form { full_top_p: false, ..FORM }).contains(r#""top_p":0.5"#));
}

#[test]
fn a_label_is_continued_in_each_servers_way() {
    let text = request(Prompt::text("Examples.\n".into(), "Question: \"x\"\nThought 1:"), 0);
    let rest = r#""temperature":0.0,"top_p":1.0,"max_tokens":100}"#;
    let user = r#"{"model":"m","messages":[{"role":"user","content":"Examples.\nQuestion: \"x\"\n"}"#;
    for (prefill, end) in [
        (Prefill::Unasked, r"}],"),
        (Prefill::Flags, r#"}],"add_generation_prompt":false,"continue_final_message":true,"#),
        (Prefill::Field("prefix"), r#","prefix":true}],"#),
        (Prefill::Field("partial"), r#","partial":true}],"#),
    ] {
        let form = Form { prefill: Some(prefill), ..FORM };
        assert_eq!(put(&text, form), format!(r#"{user},{{"role":"assistant","content":"Thought 1:"{end}{rest}"#));
        assert_eq!(label(&text.prompt, form), "Thought 1:");
        assert_eq!(label(&text.prompt, FORM), "");
        // Nothing to continue.
        let open = request(Prompt::text("Examples.\n".into(), "Question: x\n"), 0);
        assert_eq!((put(&open, form), label(&open.prompt, form)), (put(&open, FORM), ""));
        // A message of the model's own is continued, and is no label.
        let messages = Prompt::Messages(vec![Message::user("Q"), Message::assistant("Thought:")]);
        let own = request(messages, 0);
        let want = r#"{"model":"m","messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"Thought:""#;
        assert_eq!((put(&own, form), label(&own.prompt, form)), (format!("{want}{end}{rest}"), ""));
        assert_eq!(put(&request(Prompt::Messages(vec![Message::user("Q")]), 0), form).matches("true").count(), 0);
    }
}
