//! `react-paper`: the notebook's loop and its parser.

use super::{assert_parsed, check_sent, dialogue, each, play, protocol, rows, strings};
use crate::base::{Outcome, Question, Tool};
use crate::prompting::protocol::{Frame, Turn};
use crate::tests::golden;
use serde_json::{Value, json};

#[test]
fn replies_are_read_as_by_the_notebook() {
    each("react_paper.parse", 54, |row| {
        check_parse(row);
        check_common_form(row);
    });
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn conversations_equal_the_notebooks() {
    let mut traces = rows("react_paper.traces", 15);
    traces.retain(|row| row["impl"] == "hotpotqa.ipynb webthink");
    assert_eq!(traces.len(), 10);
    traces.iter().for_each(check_trace);
    golden::checked("react_paper.traces (notebook)", traces.len());
}

/// The notebook's own loop: what it sends at every call, what the tool is asked, how it ends.
fn check_trace(row: &Value) {
    let name = row["name"].as_str().expect("name");
    let script = strings(&row["script"]);
    let observations = strings(&row["logged"]["observations"]);
    let question = observations[0].strip_prefix("Question: ").expect("first observation is the question");
    let mut observations = observations[1..].iter();
    let mut dialogue = dialogue(protocol("react-paper", &[]).as_ref(), Frame::default(), 7);
    let mut actions = Vec::new();
    let (calls, stop) = play(dialogue.as_mut(), &Question::new("0", question, vec![]), &script, |call, _| {
        actions.push((call.tool, call.input));
        observations.next().expect("one observation an action").clone()
    });
    check_sent(row, &calls);
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
fn check_parse(row: &Value) {
    let (name, step) = (&row["name"], row["step"].as_u64().expect("step"));
    let notebook = &row["notebook"];
    let mut dialogue = dialogue(protocol("react-paper", &[]).as_ref(), Frame::default(), 99);
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

/// The same in the common form.
fn check_common_form(row: &Value) {
    let notebook = &row["notebook"];
    let (thought, env) = (&notebook["thought"], &notebook["env"]);
    let expected = match env["kind"].as_str() {
        _ if notebook["bad_call"] == true => json!({ "kind": "invalid", "thought": thought }),
        Some(kind @ ("search" | "lookup" | "think")) => {
            let tool = format!("{}{}", kind[..1].to_uppercase(), &kind[1..]);
            json!({ "kind": "act", "tool": tool, "input": env["arg"], "thought": thought })
        }
        Some("finish") => json!({ "kind": "finish", "answer": env["arg"], "thought": thought }),
        _ => json!({ "kind": "invalid", "error": env["obs"], "thought": thought }),
    };
    let step = usize::try_from(row["step"].as_u64().expect("step")).expect("a step");
    let parsed = protocol("react-paper", &[]).parse(row["output"].as_str().expect("output"), step);
    assert_parsed(&row["name"], &parsed, &expected);
}
