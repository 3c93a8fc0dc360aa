//! Dialogues against vectors recorded from the original systems.

mod common;

use serde_json::Value;
use std::sync::Arc;
use wikitrail::protocol::{Protocol, Setup, Turn};
use wikitrail::types::{Decoding, Outcome, Question, Tool};

fn rows(path: &str) -> Option<Vec<Value>> {
    let file = common::shared()?.join("golden/protocols").join(path);
    let text = std::fs::read_to_string(&file).expect("the golden file is readable");
    Some(text.lines().map(|line| serde_json::from_str(line).expect("a golden line is JSON")).collect())
}

fn setup(max_steps: usize) -> Setup {
    Setup { prefix: Arc::from(""), question_label: "Question".to_owned(), max_steps, decoding: Decoding::default() }
}

/// The notebook's own loop: what it sends at every call, what the tool is asked, how it ends.
#[test]
fn react_paper_traces_equal_the_notebook() {
    let Some(rows) = rows("react_paper.traces.jsonl") else { return };
    let mut checked = 0;
    for row in rows.iter().filter(|row| row["impl"] == "hotpotqa.ipynb webthink") {
        check_trace(row);
        checked += 1;
    }
    assert_eq!(checked, 10);
}

fn check_trace(row: &Value) {
    let name = row["name"].as_str().expect("name");
    let strings = |value: &Value| -> Vec<String> {
        value.as_array().expect("array").iter().map(|v| v.as_str().expect("string").to_owned()).collect()
    };
    let script = strings(&row["script"]);
    let observations = strings(&row["logged"]["observations"]);
    let question = observations[0].strip_prefix("Question: ").expect("first observation is the question");
    let mut observations = observations[1..].iter();
    let mut dialogue = Protocol::ReactPaper.dialogue(&setup(7));
    let (mut calls, mut actions) = (Vec::new(), Vec::new());
    let mut turn = dialogue.begin(&Question::new("0", question, vec![]));
    let stop = loop {
        turn = match turn {
            Turn::Ask(request) => {
                // A script that is shorter than the run repeats its last line.
                let text = &script[calls.len().min(script.len() - 1)];
                calls.push((request.prompt.to_text(), request.stop));
                dialogue.completion(text)
            }
            Turn::Use(call) => {
                actions.push((call.tool, call.input));
                dialogue.observation(observations.next().expect("one observation an action"))
            }
            Turn::Stop(stop) => break stop,
        };
    };
    let expected: Vec<_> = row["calls"]
        .as_array()
        .expect("calls")
        .iter()
        .map(|c| (c["prompt_suffix"].as_str().expect("prompt").to_owned(), strings(&c["stop"])))
        .collect();
    assert_eq!(calls, expected, "{name}");
    let logged = strings(&row["logged"]["actions"]);
    let parsed: Vec<_> =
        logged.iter().map(|a| Tool::parse_action(a)).map(|(tool, input)| (tool, input.to_owned())).collect();
    assert_eq!(actions, parsed, "{name}");
    let info = &row["info"];
    assert_eq!(stop.answer.as_deref().unwrap_or_default(), info["answer"].as_str().expect("answer"), "{name}");
    assert_eq!(stop.repairs.len() as u64, info["n_badcalls"].as_u64().expect("n_badcalls"), "{name}");
    assert_eq!(calls.len() as u64, info["n_calls"].as_u64().expect("n_calls"), "{name}");
    assert_eq!(actions.len() as u64, info["steps"].as_u64().expect("steps"), "{name}");
}

/// Every model output of the vectors, at its step: thought, action, and what the environment makes of it.
#[test]
fn react_paper_parses_as_the_notebook() {
    let Some(rows) = rows("react_paper.parse.jsonl") else { return };
    let count = rows.len();
    for row in rows {
        check_parse(&row);
    }
    assert!(count > 40, "only {count} vectors");
}

fn check_parse(row: &Value) {
    let (name, step) = (&row["name"], row["step"].as_u64().expect("step"));
    let notebook = &row["notebook"];
    let mut dialogue = Protocol::ReactPaper.dialogue(&setup(99));
    dialogue.begin(&Question::new("0", "q", vec![]));
    for n in 1..step {
        dialogue.completion(&format!("t\nAction {n}: Think[x]"));
        dialogue.observation("Nice thought.");
    }
    match dialogue.completion(row["output"].as_str().expect("output")) {
        Turn::Ask(second) => {
            assert_eq!(notebook["bad_call"], true, "{name}");
            let thought = notebook["thought"].as_str().expect("thought");
            assert!(second.prompt.to_text().ends_with(&format!("Thought {step}: {thought}\nAction {step}:")), "{name}");
        }
        Turn::Use(call) => {
            assert_eq!(notebook["bad_call"], false, "{name}");
            assert_eq!(notebook["thought"], *call.thought.as_ref().expect("a thought"), "{name}");
            assert_eq!(notebook["action"], *call.action_text, "{name}");
            let tool = match notebook["env"]["kind"].as_str().expect("kind") {
                "search" => Tool::Search,
                "lookup" => Tool::Lookup,
                "finish" => Tool::Finish,
                "think" => Tool::Think,
                _ => Tool::Invalid,
            };
            assert_eq!(call.tool, tool, "{name}");
            if tool != Tool::Invalid {
                assert_eq!(notebook["env"]["arg"], *call.input, "{name}");
            }
        }
        // The original raises on an empty action.
        Turn::Stop(end) => assert_eq!(end.outcome, Outcome::FormatFailure, "{name}"),
    }
}
