//! What the tests of all providers need.

use super::{Remote, RemoteSettings};
use crate::llm::{Model as _, ModelError, StreamEvent};
use crate::net::RetrySettings;
use crate::net::testing::Reply;
use crate::types::{Completion, Decoding, Prompt, Request};
use secrecy::SecretString;
use std::sync::Mutex;
use std::time::Duration;

/// The key that is sent, and must be shown nowhere.
pub(in crate::llm) const KEY: &str = "sk-test-0123456789abcdef";

/// The head of a stream.
pub(in crate::llm) const HEAD: &str =
    "HTTP/1.1 200 X\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

/// The model `m` at `base`, in three quick attempts.
pub(in crate::llm) fn settings(base: &str) -> RemoteSettings {
    RemoteSettings {
        model: "m".into(),
        base_urls: vec![base.to_owned()],
        key: Some(SecretString::from(KEY)),
        timeout: Duration::from_secs(2),
        max_body: 20_000,
        retry: RetrySettings {
            attempts: 3,
            first_wait: Duration::from_millis(1),
            longest_wait: Duration::from_millis(4),
        },
        ..RemoteSettings::default()
    }
}

/// A step of the paper's.
pub(in crate::llm) fn request() -> Request {
    Request {
        prompt: Prompt::text("Examples.\n".into(), "Question: x\nThought 1:"),
        stop: vec!["\nObservation 1:".into()],
        decoding: Decoding::default(),
    }
}

/// A stream of these events, sent and closed.
pub(in crate::llm) fn stream(events: &[String]) -> Reply {
    Reply::Raw([HEAD, &events.concat()].concat().into_bytes())
}

/// The body of a request as it was sent.
pub(in crate::llm) fn body(request: &str) -> &str {
    request.split_once("\r\n\r\n").expect("a head and a body").1
}

/// Watches a completion come: what was shown, with `↺` for [`StreamEvent::Restarted`] and `|` between pieces.
pub(in crate::llm) async fn watch(model: &Remote, request: &Request) -> (Result<Completion, ModelError>, String) {
    let shown = Mutex::new(Vec::new());
    let answer = {
        let on_event = |piece: StreamEvent<'_>| {
            shown.lock().expect("no test panics here").push(match piece {
                StreamEvent::Text(text) => text.to_owned(),
                StreamEvent::Restarted => "↺".to_owned(),
            });
        };
        model.stream(request, &on_event).await
    };
    (answer, shown.into_inner().expect("no test panics here").join("|"))
}
