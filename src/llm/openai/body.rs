//! The JSON that a request becomes.
//!
//! Messages for a text endpoint are joined by this rule: contents in their order without the roles' names, each
//! message on a new line (one newline is added where the text before does not end in one), and a newline after the
//! last message too, unless it is the model's own, which is then continued. Protocols write labels such as
//! `Question:` into their messages, so the text reads like a few-shot prompt.

use super::Endpoint;
use crate::types::{Message, Prompt, Request, Role};
use serde::{Serialize, Serializer};

/// How many stops are sent at most: `OpenAI`'s limit. All of them are applied on our side.
const MAX_STOPS: usize = 4;

/// How a request is put.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Which interface.
    pub(super) endpoint: Endpoint,
    /// Whether the server takes `stop`.
    pub(super) stop: bool,
    /// Whether the length is limited by `max_tokens`, or by its newer name.
    pub(super) max_tokens: bool,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Messages<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<Text<'a>>,
    temperature: f64,
    top_p: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
}

/// The request as the bytes to send.
pub(super) fn bytes(model: &str, request: &Request, form: Form) -> Vec<u8> {
    let decoding = &request.decoding;
    let stops = if form.stop { request.stop.as_slice() } else { &[] };
    let chat = form.endpoint == Endpoint::Chat;
    let body = Body {
        model,
        messages: chat.then_some(Messages(&request.prompt)),
        prompt: (!chat).then_some(Text(&request.prompt)),
        temperature: decoding.temperature,
        top_p: decoding.top_p,
        max_tokens: form.max_tokens.then_some(decoding.max_tokens),
        max_completion_tokens: (!form.max_tokens).then_some(decoding.max_tokens),
        seed: decoding.seed,
        stop: &stops[..stops.len().min(MAX_STOPS)],
    };
    // Strings and numbers always serialise.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// A prompt as messages.
struct Messages<'a>(&'a Prompt);

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct User<'a> {
            role: Role,
            content: Text<'a>,
        }
        match self.0 {
            Prompt::Messages(messages) => messages.serialize(serializer),
            Prompt::Text { .. } => [User { role: Role::User, content: Text(self.0) }].serialize(serializer),
        }
    }
}

/// A prompt as one text, written without a copy of the long prefix.
struct Text<'a>(&'a Prompt);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Prompt::Text { prefix, rest } => serializer.collect_str(&format_args!("{prefix}{rest}")),
            Prompt::Messages(messages) => serializer.serialize_str(&joined(messages)),
        }
    }
}

fn joined(messages: &[Message]) -> String {
    let mut text = String::with_capacity(messages.iter().map(|m| m.content.len() + 1).sum());
    for message in messages {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&message.content);
    }
    if messages.last().is_some_and(|last| last.role != Role::Assistant) && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Form, bytes};
    use crate::llm::Endpoint;
    use crate::types::{Decoding, Message, Prompt, Request, Role};

    fn request(prompt: Prompt, stops: usize) -> Request {
        let stop = (0..stops).map(|n| format!("\nObservation {n}:")).collect();
        Request { prompt, stop, decoding: Decoding { seed: (stops > 5).then_some(7), ..Decoding::default() } }
    }

    fn sent(endpoint: Endpoint, request: &Request) -> String {
        let form = Form { endpoint, stop: true, max_tokens: true };
        String::from_utf8(bytes("m", request, form)).expect("JSON is UTF-8")
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
        let form = Form { endpoint: Endpoint::Chat, stop: false, max_tokens: false };
        let text = String::from_utf8(bytes("m", &request, form)).expect("JSON is UTF-8");
        assert!(text.ends_with(r#""top_p":1.0,"max_completion_tokens":100,"seed":7}"#), "{text}");
    }
}
