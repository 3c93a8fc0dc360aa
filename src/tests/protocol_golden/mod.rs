//! Dialogues and parsers against vectors recorded from the original systems: one file a system, 630 vectors.

mod environment;
mod go_blog;
mod lagent;
mod llama_index;
mod qwen_agent;
mod react_paper;
mod react_zh;

use crate::base::{Question, Request, ToolCall};
use crate::prompting::protocol::{Dialogue, Frame, Options, Parsed, Protocol, Stop, Turn, find};
use crate::tests::{golden, lines, read, setup, shared};
use serde_json::Value;
use std::sync::Arc;

/// The lines of a golden file, which has so many: one of `tests/golden`, or of the shared folder.
#[track_caller]
pub(crate) fn rows(file: &str, count: usize) -> Vec<Value> {
    let own = golden::path(&format!("protocols/{file}.jsonl"));
    let text = if own.is_file() { read(own) } else { shared::text(&format!("golden/protocols/{file}.jsonl")) };
    let rows = lines(&text);
    assert_eq!(rows.len(), count, "{file}");
    rows
}

/// Checks each line of a golden file, which has so many.
#[track_caller]
pub(crate) fn each(file: &str, count: usize, check: impl FnMut(&Value)) {
    rows(file, count).iter().for_each(check);
    golden::checked(file, count);
}

/// The protocol with options given as `[("name", "value")]`.
pub(crate) fn protocol(id: &str, options: &[(&str, &str)]) -> Arc<dyn Protocol> {
    let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    find(id, &Options(options)).expect("a known protocol").expect("known options")
}

/// A dialogue of a protocol.
pub(crate) fn dialogue(protocol: &dyn Protocol, frame: Frame, max_steps: usize) -> Box<dyn Dialogue> {
    protocol.dialogue(&setup(frame, max_steps))
}

pub(crate) fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
}

/// The strings of a JSON array.
pub(crate) fn strings(value: &Value) -> Vec<String> {
    value.as_array().expect("array").iter().map(|value| text(value).to_owned()).collect()
}

/// Compares a reply, parsed, with the fields that the mapping of `expected_parse.py` names for its vector.
pub(crate) fn assert_parsed(name: &Value, got: &Parsed, expected: &Value) {
    let got = serde_json::to_value(got).expect("a parsed reply serialises");
    for (field, value) in expected.as_object().expect("an object of fields") {
        assert_eq!(&got[field], value, "{name}, {field}");
    }
}

/// Plays a script: the requests, and how it ended. Observations come from `used`, which is given the reply too. A script
/// that is shorter than the run repeats its last reply.
pub(crate) fn play(
    dialogue: &mut dyn Dialogue,
    question: &Question,
    script: &[String],
    mut used: impl FnMut(ToolCall, &str) -> String,
) -> (Vec<Request>, Stop) {
    let mut requests = Vec::new();
    let mut turn = dialogue.begin(question);
    let mut reply = "";
    loop {
        turn = match turn {
            Turn::Ask(request) => {
                reply = &script[requests.len().min(script.len() - 1)];
                requests.push(request);
                dialogue.completion(reply)
            }
            Turn::Use(call) => dialogue.observation(&used(call, reply)),
            Turn::Stop(stop) => return (requests, stop),
        };
    }
}

/// The requests are the recorded calls: what was sent, and the stops.
#[track_caller]
pub(crate) fn check_sent(row: &Value, requests: &[Request]) {
    let sent: Vec<_> = requests.iter().map(|request| (request.prompt.to_text(), request.stop.clone())).collect();
    let calls = row["calls"].as_array().expect("calls").iter();
    let recorded: Vec<_> = calls
        .map(|call| (call["prompt_suffix"].as_str().expect("a prompt").to_owned(), strings(&call["stop"])))
        .collect();
    assert_eq!(sent, recorded, "{}", row["name"]);
}
