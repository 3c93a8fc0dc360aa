//! `qwen-agent`: `ReActChat`'s loop and its parser.

use super::{assert_parsed, dialogue, each, play, protocol, rows, setup, strings, text};
use crate::base::{Message, Outcome, Prompt, Question, Reply, Tool};
use crate::prompting::protocol::{Dialogue, Frame, ToolSpec, Turn};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;

#[test]
fn replies_are_read_as_by_the_original() {
    each("qwen_agent.parse", 87, |row| {
        check_parse(row);
        check_next_turn(row);
    });
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn conversations_equal_the_originals() {
    each("qwen_agent.traces", 11, check_trace);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_tool_is_described_as_in_the_original() {
    let traces = rows("qwen_agent.traces", 11);
    let prompt = text(&traces[0]["llm_inputs"][0][0]["content"]);
    let slots = protocol("qwen-agent", &[]).slots(&tools());
    let line = slots[0].1.split("\n\n").next().expect("a line");
    assert!(line.starts_with("search: ") && prompt.contains(&format!("\n\n{line}\n\n")), "{line}");
    assert_eq!((slots[0].0, slots[1].0), ("tool_descs", "tool_names"));
    assert!(prompt.contains(&format!("should be one of [{}]\n", slots[1].1)), "{}", slots[1].1);
}

/// The tools of the vectors.
fn tools() -> Vec<ToolSpec> {
    let spec = |tool, name: &str, description: &str| ToolSpec {
        tool,
        name: name.to_owned(),
        ..ToolSpec::new(Tool::Search, description, "entity 实体")
    };
    vec![spec(Tool::Search, "search", "Search Wikipedia"), spec(Tool::Lookup, "code", "Run code")]
}

fn messages(value: &Value) -> Vec<Message> {
    if value.is_null() { Vec::new() } else { serde_json::from_value(value.clone()).expect("messages") }
}

/// A reply in the common form.
fn check_parse(row: &Value) {
    let detected = &row["detect_after_stop"];
    let expected = if detected["has_action"] == true {
        json!({
            "kind": "act",
            "tool": detected["action"],
            "input": detected["action_input"],
            "thought": detected["thought"],
        })
    } else {
        json!({ "kind": "finish" })
    };
    let parsed = protocol("qwen-agent", &[]).parse(text(&row["output"]), 1);
    assert_parsed(&row["name"], &parsed, &expected);
}

/// The same reply in a dialogue that has only one call: what it does next, and what it keeps of the reply.
fn check_next_turn(row: &Value) {
    let (name, detected) = (&row["name"], &row["detect_after_stop"]);
    let mut dialogue = dialogue(protocol("qwen-agent", &[]).as_ref(), Frame::default(), 1);
    dialogue.begin(&Question::new("0", "q", vec![]));
    let kept = text(&row["after_stop_words"]);
    match dialogue.completion(text(&row["output"])) {
        Turn::Use(call) if call.tool == Tool::Finish => {
            assert_eq!(detected["has_action"], false, "{name}");
            assert_eq!(shown(dialogue.as_ref()), format!("Thought: {kept}"), "{name}");
        }
        Turn::Use(call) => {
            assert_eq!(call.thought.as_deref(), detected["thought"].as_str(), "{name}");
            let reply = format!("Tool {} does not exists.", text(&detected["action"]));
            assert_eq!(call.reply, Reply::Given(reply), "{name}");
            let Turn::Stop(stop) = dialogue.observation("o") else { panic!("{name}: one call is the limit") };
            assert_eq!(stop.outcome, Outcome::StepLimit, "{name}");
            assert_eq!(shown(dialogue.as_ref()), format!("Thought: {kept}\nObservation: o\nThought: "), "{name}");
        }
        Turn::Stop(stop) => {
            assert_eq!((stop.outcome, kept.trim()), (Outcome::FormatFailure, ""), "{name}");
            assert_eq!(shown(dialogue.as_ref()), format!("Thought: {kept}"), "{name}");
        }
        Turn::Ask(_) => panic!("{name}: a second call"),
    }
}

/// The last message of the memory.
fn shown(dialogue: &dyn Dialogue) -> String {
    dialogue.memory().last().expect("the run's transcript").content.to_string()
}

/// The original's own loop: what it sends at every call, what it shows, how it ends.
fn check_trace(row: &Value) {
    let name = text(&row["name"]);
    let (script, shown) = (strings(&row["script"]), text(&row["final"][0]["content"]));
    let (mut dialogue, question) = begin_dialogue(row);
    let mut transcript = String::from("Thought: ");
    let (calls, stop) = play(dialogue.as_mut(), &question, &script, |call, reply| {
        transcript.push_str(reply.split("Observation:").next().expect("a part"));
        let observation = match call.reply {
            Reply::Tool => observed(shown, &transcript),
            Reply::Given(text) => text,
            Reply::None => String::new(),
        };
        write!(transcript, "\nObservation: {observation}\nThought: ").expect("a string");
        observation
    });
    let expected: Vec<_> = row["llm_inputs"].as_array().expect("calls").iter().map(messages).collect();
    // The vectors hold the requests of the first calls, at most four.
    assert_eq!(expected.len(), calls.len().min(4), "{name}");
    for (n, call) in calls.iter().enumerate() {
        assert_eq!(call.stop, strings(&row["stop"]), "{name}, call {n}");
        let Prompt::Messages(sent) = &call.prompt else { panic!("{name}: a text prompt") };
        assert!(expected.get(n).is_none_or(|expected| sent == expected), "{name}, call {n}: {sent:?}");
    }
    assert_eq!(calls.len() as u64, row["n_llm_calls"].as_u64().expect("a number"), "{name}");
    let mut memory = messages(&row["history"]);
    memory.extend([Message::user(question.question.as_str()), Message::assistant(shown)]);
    assert_eq!(dialogue.memory(), memory, "{name}");
    let outcome = match name {
        "loop_limit" => Outcome::StepLimit,
        "empty_output" => Outcome::FormatFailure,
        _ => Outcome::Finished,
    };
    assert_eq!(stop.outcome, outcome, "{name}");
    let answer = match name {
        "no_action_text" | "action_first_line_not_detected" => Some(script[0].as_str()),
        _ => shown.rsplit_once("Final Answer:").map(|(_, answer)| answer.trim()),
    };
    assert_eq!(stop.answer.as_deref(), answer, "{name}");
}

/// What the original's tool answered after this much of the transcript.
fn observed(shown: &str, transcript: &str) -> String {
    let rest = shown.strip_prefix(transcript).expect("the same transcript");
    let rest = rest.strip_prefix("\nObservation: ").expect("an observation");
    rest.split("\nThought: ").next().expect("a part").to_owned()
}

/// A dialogue with the frame of the first call, and the question; with uploaded files in words.
fn begin_dialogue(row: &Value) -> (Box<dyn Dialogue>, Question) {
    let query = match &row["query"] {
        Value::String(query) => query.clone(),
        parts => {
            // The original names an uploaded file before the text; `Question` holds the text that results.
            let (said, file) = (text(&parts[0]["text"]), text(&parts[1]["file"]));
            let file = file.rsplit('/').next().unwrap_or_default();
            if said.is_ascii() {
                format!("(Uploaded [file]({file})) {said}")
            } else {
                format!("（上传了 [文件]({file})）{said}")
            }
        }
    };
    let first = messages(&row["llm_inputs"][0]).pop().expect("a user message");
    let (prefix, suffix) = first.content.rsplit_once(&query).expect("the message contains the question");
    let frame = Frame {
        prefix: prefix.into(),
        suffix: suffix.into(),
        system: row["system"].as_str().map(Arc::from),
        tools: tools(),
        ..Frame::default()
    };
    let mut setup = Arc::unwrap_or_clone(setup(frame, protocol("qwen-agent", &[]).profile().max_steps));
    setup.history = messages(&row["history"]);
    (protocol("qwen-agent", &[]).dialogue(&Arc::new(setup)), Question::new("0", query, vec![]))
}
