//! What the unit tests of all dialogues share.

use super::{Dialogue, Frame, Options, Protocol, Setup, Stop, ToolSpec, Turn};
use crate::base::{Message, Prompt, Question, Role, ToolCall};
use std::sync::Arc;

pub(super) fn options(pairs: &[(&str, &str)]) -> Options {
    Options(pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
}

/// A frame with a system message, one example, and the tools `Search` and `Lookup`.
pub(crate) fn messages_frame(texts: &[(&str, &str)]) -> Frame {
    Frame {
        system: Some("SYSTEM".into()),
        examples: vec![Message::user("eq"), Message::assistant("ea")],
        tools: vec![
            ToolSpec::new(crate::base::Tool::Search, "finds", "a title"),
            ToolSpec::new(crate::base::Tool::Lookup, "finds", "a word"),
        ],
        texts: texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).into())).collect(),
        ..Frame::default()
    }
}

/// A setup with the label `Question`.
pub(crate) fn setup(frame: Frame, max_steps: usize) -> Setup {
    Setup::new(frame, "Question", max_steps)
}

/// A dialogue that has been asked `Why?`, and its first turn.
pub(super) fn begun(protocol: &dyn Protocol, setup: Setup) -> (Box<dyn Dialogue>, Turn) {
    let mut dialogue = protocol.dialogue(&Arc::new(setup));
    let turn = dialogue.begin(&Question::new("q", "Why?", vec![]));
    (dialogue, turn)
}

pub(super) fn prompt_and_stop(turn: Turn) -> (String, Vec<String>) {
    match turn {
        Turn::Ask(request) => (request.prompt.to_text(), request.stop),
        other => panic!("expected a request, got {other:?}"),
    }
}

/// The messages of a request, as [`lines`].
pub(super) fn message_lines(turn: Turn) -> Vec<String> {
    match turn {
        Turn::Ask(request) => match request.prompt {
            Prompt::Messages(messages) => lines(&messages),
            Prompt::Text { .. } => panic!("expected messages, got a text"),
        },
        other => panic!("expected a request, got {other:?}"),
    }
}

/// Messages as `S: …`, `U: …` and `A: …`.
pub(super) fn lines(messages: &[Message]) -> Vec<String> {
    let role = |message: &Message| match message.role {
        Role::System => 'S',
        Role::User => 'U',
        Role::Assistant => 'A',
        Role::Tool => 'T',
    };
    messages.iter().map(|message| format!("{}: {}", role(message), message.content)).collect()
}

pub(crate) fn used(turn: Turn) -> ToolCall {
    match turn {
        Turn::Use(call) => call,
        other => panic!("expected a tool call, got {other:?}"),
    }
}

pub(super) fn stopped(turn: Turn) -> Stop {
    match turn {
        Turn::Stop(stop) => stop,
        other => panic!("expected a stop, got {other:?}"),
    }
}

/// Kinds of the repairs, in order.
pub(super) fn kinds(stop: &Stop) -> Vec<&str> {
    stop.repairs.iter().map(|repair| repair.kind.as_str()).collect()
}
