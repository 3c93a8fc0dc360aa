//! `qwen-agent`: `ReActChat`'s loop and its parser.

use super::{Row, assert_parsed, dialogue, protocol, rows, setup, strings};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use wikitrail::protocol::{Dialogue, Frame, ToolSpec, Turn};
use wikitrail::types::{Message, Outcome, Prompt, Question, Reply, Tool};

/// Both files of the system.
pub(crate) fn checks() -> Option<Vec<Row>> {
    let (replies, traces) = (rows("qwen_agent.parse")?, rows("qwen_agent.traces")?);
    for row in &replies {
        check_parse(row);
        check_next_turn(row);
    }
    traces.iter().for_each(check_trace);
    let row = |file, what, count| Row { file, what, equal: count, total: count, otherwise: Vec::new() };
    Some(vec![
        row("qwen_agent.parse", "parse, next turn", replies.len()),
        row("qwen_agent.traces", "requests, transcript, end", traces.len()),
    ])
}

#[test]
fn qwen_agent_equals_the_original() {
    let Some(rows) = checks() else { return };
    assert_eq!(rows.iter().map(|row| row.total).collect::<Vec<_>>(), [87, 11]);
}

#[test]
fn a_tool_is_described_as_in_the_original() {
    let Some(traces) = rows("qwen_agent.traces") else { return };
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
        ..ToolSpec::search(description, "entity 实体")
    };
    vec![spec(Tool::Search, "search", "Search Wikipedia"), spec(Tool::Lookup, "code", "Run code")]
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a string")
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
    let (mut dialogue, question) = begun(row);
    let (mut calls, mut transcript) = (Vec::new(), String::from("Thought: "));
    let mut turn = dialogue.begin(&question);
    let stop = loop {
        turn = match turn {
            Turn::Ask(request) => {
                assert_eq!(request.stop, strings(&row["stop"]), "{name}");
                let Prompt::Messages(sent) = request.prompt else { panic!("{name}: a text prompt") };
                calls.push(sent);
                // A script that is shorter than the run repeats its last line.
                let reply = &script[(calls.len() - 1).min(script.len() - 1)];
                transcript.push_str(reply.split("Observation:").next().expect("a part"));
                dialogue.completion(reply)
            }
            Turn::Use(call) => {
                let observation = match call.reply {
                    Reply::Tool => observed(shown, &transcript),
                    Reply::Given(text) => text,
                    Reply::None => String::new(),
                };
                if call.tool != Tool::Finish {
                    write!(transcript, "\nObservation: {observation}\nThought: ").expect("a string");
                }
                dialogue.observation(&observation)
            }
            Turn::Stop(stop) => break stop,
        };
    };
    let expected: Vec<_> = row["llm_inputs"].as_array().expect("calls").iter().map(messages).collect();
    // The vectors hold the requests of the first calls, at most four.
    assert_eq!(expected.len(), calls.len().min(4), "{name}");
    for (n, (call, expected)) in calls.iter().zip(&expected).enumerate() {
        assert_eq!(call, expected, "{name}, call {n}");
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
fn begun(row: &Value) -> (Box<dyn Dialogue>, Question) {
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
    let (prefix, suffix) = first.content.rsplit_once(&query).expect("the question stands in the message");
    let frame = Frame {
        prefix: prefix.into(),
        suffix: suffix.into(),
        system: row["system"].as_str().map(Arc::from),
        tools: tools(),
        ..Frame::default()
    };
    let mut setup = Arc::unwrap_or_clone(setup(frame, protocol("qwen-agent", &[]).max_steps()));
    setup.history = messages(&row["history"]);
    (protocol("qwen-agent", &[]).dialogue(&Arc::new(setup)), Question::new("0", query, vec![]))
}
