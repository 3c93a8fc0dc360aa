//! Whatever bytes a server sends, at once or in pieces, reading them ends in a completion or in a reason.

use super::Remote;
use super::answer::Incoming;
use super::interface::Fault;
use super::redactor::StreamRedactor;
use super::refusal::Refusal;
use crate::models::tests::{APIS, Api, KEY};
use crate::net::{Answer, Events, Heard, Listener as _};
use crate::tests::rubble::Rubble;

/// Texts that each provider's reader gets.
const REPLIES: usize = 2_000;

const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "[[",
    "\"",
    "\\\"",
    ":",
    ",",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "NaN",
    "\"\"",
    "\\ud800",
    "\\udc00",
    "\\u0000",
    "\u{1b}[31m",
    "\u{202e}",
    "é",
    "data: ",
    "data:",
    "event: x",
    ": ",
    "\n",
    "\r\n",
    "\r",
    "\n\n",
    "[DONE]",
    "<think>",
    "</think>",
    "<html>",
    "\nObservation 1:",
    "choices",
    "content",
    "candidates",
    "delta",
    "message",
    "finish_reason",
    "content_filter",
    "length",
    "refusal",
    "error",
    "usage",
    "text",
    "parts",
    "\u{feff}",
    "sk-test-0123456789abcdef",
];

/// Whole answers, streams and errors of a provider.
fn whole(api: Api) -> Vec<Vec<u8>> {
    let text = "Thought 1: t <think>x</think>\nAction 1: Search[東]";
    let stream = [api.start(), api.delta("<think>hm"), api.delta("</think>Th"), api.delta("ought"), api.end()].concat();
    vec![api.whole(text), stream.into_bytes(), api.error("You exceeded your quota").into_bytes()]
}

/// Has a provider's reader read an answer as it would come from the network.
fn read(model: &Remote, rubble: &mut Rubble, body: Vec<u8>) {
    let stops = ["\nObservation 1:".into()];
    let on_event = |_: crate::models::StreamEvent<'_>| {};
    let watched = rubble.below(2) == 0;
    let redactor = StreamRedactor::new(&stops, model.secrets.hidden.all());
    let mut incoming = Incoming::new(model.interface.as_ref(), watched.then_some(&on_event as _), redactor);
    incoming.expect(rubble.below(2) == 0, String::new(), 1);
    let status = rubble.of(&[200, 200, 200, 201, 400, 401, 429, 500]);
    let kind = rubble.of(&["text/event-stream", "application/json", "text/html", "\u{1b}[31m"]).to_owned();
    let mut answer = Answer { status, content_type: Some(kind), ..Answer::default() };
    let length = body.len();
    if incoming.begin(&answer) {
        let (mut events, mut more) = (Events::default(), true);
        for piece in body.chunks(1 + rubble.below(60)) {
            events.push(piece, &mut |data| {
                more = more && incoming.event(data) != Heard::Enough;
                more
            });
        }
        if more {
            events.finish(&mut |data| incoming.event(data) != Heard::Enough);
        }
    } else {
        answer.body = body;
    }
    incoming.end(&answer);
    match incoming.take() {
        Some(Ok(decoded)) => {
            assert!(answer.ok());
            assert!(decoded.text.len() <= 3 * length, "{} of {length} bytes", decoded.text.len());
            assert!(decoded.usage.is_none_or(|usage| usage.total() <= 1 << 42), "{:?}", decoded.usage);
        }
        Some(Err(Fault::Broken(reason) | Fault::Withheld(reason))) => {
            assert!(answer.ok() && !reason.is_empty());
        }
        // It may have no reason.
        Some(Err(Fault::Unexplained(_))) => assert!(answer.ok()),
        Some(Err(Fault::Reported(refusal))) => {
            assert!(answer.ok());
            told(model, &refusal, refusal.status());
        }
        None => {
            assert!(!answer.ok());
            told(model, &Refusal::read(&answer.body), answer.status);
        }
    }
}

fn told(model: &Remote, refusal: &Refusal, status: u16) {
    let told = model.refused(status, refusal.cause(status), 1, refusal).to_string();
    assert!(!told.contains(|c: char| c.is_control()) && !told.contains(KEY), "{told:?}");
}

#[test]
#[expect(clippy::print_stdout, reason = "figures for whoever runs it with --nocapture")]
fn any_answer_is_a_completion_or_a_reason() {
    let count = Rubble::count(REPLIES);
    for api in APIS {
        let (model, bodies, mut rubble) = (api.model("http://127.0.0.1:1"), whole(api), Rubble::new());
        for n in 0..count {
            let body = rubble.damaged(&bodies[n % bodies.len()], PIECES);
            read(&model, &mut rubble, body);
        }
        println!("answers of {}: {count} texts", model.endpoint());
    }
}
