//! Replies in `OpenAI`'s harmony format, where a server leaves its markers in the text:
//! `<|channel|>analysis<|message|>…<|end|><|start|>assistant<|channel|>final<|message|>…<|return|>`.

use super::super::python::strip;
use super::repair::{self, Repairs};

const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";
/// What ends a message.
const ENDS: [&str; 4] = ["<|end|>", "<|return|>", "<|call|>", "<|start|>"];

/// The message of the channel `final`, or the first one to a tool, with the tool's name before it. Without such a
/// message it is the text behind the others; nothing where the reply ends inside the analysis.
pub(super) fn spoken<'a>(reply: &'a str, repairs: &mut Repairs) -> Option<&'a str> {
    if !reply.contains("<|") || ![CHANNEL, MESSAGE].iter().chain(&ENDS).any(|marker| reply.contains(marker)) {
        return Some(reply);
    }
    repairs.note(repair::CHANNEL_MARKERS);
    let mut parts = reply.split(CHANNEL);
    let before = parts.next().unwrap_or_default();
    let mut behind = None;
    for part in parts {
        let (header, message) = part.split_once(MESSAGE).unwrap_or((part, ""));
        if let Some(at) = header.find("to=") {
            return Some(ended(&part[at..]).0);
        }
        if let Some(text) = strip(header).strip_prefix("final") {
            return Some(if message.is_empty() { text } else { ended(message).0 });
        }
        behind = Some(ended(message).1);
    }
    let text = match behind {
        Some(rest) => ended(rest.trim_start_matches("<|start|>assistant").trim_start_matches(MESSAGE)).0,
        None => ended(before.split_once(MESSAGE).map_or(before, |(_, message)| message)).0,
    };
    (behind.is_none() || !strip(text).is_empty()).then_some(text)
}

/// A message, and what follows its end.
fn ended(text: &str) -> (&str, &str) {
    let first = ENDS.iter().filter_map(|end| text.find(end).map(|at| (at, end.len()))).min();
    first.map_or((text, ""), |(at, length)| (&text[..at], &text[at + length..]))
}
