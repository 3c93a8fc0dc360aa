//! `react-zh`: the script's loop and its parser.

use super::{assert_parsed, check_sent, dialogue, each, play, protocol, rows, strings};
use crate::base::{Outcome, Question, Reply, Tool};
use crate::prompting::protocol::{Frame, Turn};
use crate::tests::golden;
use serde_json::{Value, json};
use std::fmt::Write as _;

#[test]
fn replies_are_read_as_by_the_script() {
    each("react_paper.parse", 54, check_parse);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn conversations_equal_the_scripts() {
    let mut traces = rows("react_paper.traces", 15);
    traces.retain(|row| row["impl"].as_str().is_some_and(|name| name.starts_with("seed")));
    assert_eq!(traces.len(), 5);
    traces.iter().for_each(check_trace);
    golden::checked("react_paper.traces (script)", traces.len());
}

/// The script's own loop: what it sends at every call, its transcript, how it ends.
fn check_trace(row: &Value) {
    let name = row["name"].as_str().expect("name");
    let script = strings(&row["script"]);
    let expected = row["trajectory_suffix"].as_str().expect("transcript");
    let question = expected.strip_prefix("\nQuestion:").and_then(|rest| rest.split('\n').next()).expect("a question");
    let protocol = protocol("react-zh", &[]);
    let mut dialogue = dialogue(protocol.as_ref(), Frame::default(), protocol.profile().max_steps);
    let mut transcript = format!("\nQuestion:{question}\n");
    let (calls, stop) = play(dialogue.as_mut(), &Question::new("0", question, vec![]), &script, |call, _| {
        let (n, thought, action) = (call.step, call.thought.expect("a thought"), &call.action_text);
        write!(transcript, "Thought {n}:{thought}\nAction {n}:{action}\n").expect("a string");
        let observation = match call.reply {
            Reply::Tool => observed(expected, n),
            Reply::Given(text) => text,
            Reply::None => panic!("{name}: nobody answers"),
        };
        writeln!(transcript, "Observation {n}:{observation}").expect("a string");
        observation
    });
    check_sent(row, &calls);
    assert_eq!(transcript, expected, "{name}");
    // The script's answer for want of one.
    let answer = row["answer"].as_str().filter(|answer| *answer != "无法确定答案");
    assert_eq!(stop.answer.as_deref(), answer, "{name}");
    let outcome = if answer.is_some() { Outcome::Finished } else { Outcome::StepLimit };
    assert_eq!((stop.outcome, stop.detail.is_some()), (outcome, answer.is_none()), "{name}");
}

/// What the script's tool answered at step `n`.
fn observed(transcript: &str, n: usize) -> String {
    let (_, rest) = transcript.split_once(&format!("\nObservation {n}:")).expect("an observation");
    let end = rest.find(&format!("\nThought {}:", n + 1)).unwrap_or(rest.len());
    rest[..end].to_owned()
}

/// Every reply at its step: in the common form, and as the dialogue acts on it.
fn check_parse(row: &Value) {
    let (name, result) = (&row["name"], &row["seed_fullwidth_regex"]);
    let (thought, dispatch) = (&result["thought"], &result["dispatch"]);
    let expected = match dispatch["kind"].as_str().expect("kind") {
        "search" => json!({ "kind": "act", "tool": "Search", "input": dispatch["arg"], "thought": thought }),
        "lookup" => json!({ "kind": "act", "tool": "Lookup", "input": dispatch["arg"], "thought": thought }),
        "finish" => json!({ "kind": "finish", "answer": dispatch["arg"], "thought": thought }),
        _ => json!({ "kind": "invalid", "error": dispatch["obs"], "thought": thought }),
    };
    let (output, step) = (row["output"].as_str().expect("output"), row["step"].as_u64().expect("step"));
    let protocol = protocol("react-zh", &[]);
    let step = usize::try_from(step).expect("a step");
    assert_parsed(name, &protocol.parse(output, step), &expected);

    let mut dialogue = dialogue(protocol.as_ref(), Frame::default(), 99);
    dialogue.begin(&Question::new("0", "q", vec![]));
    for n in 1..step {
        dialogue.completion(&format!("t\nAction {n}:Search[x]"));
        dialogue.observation("o");
    }
    let Turn::Use(call) = dialogue.completion(output) else { panic!("{name}: no action") };
    assert_eq!((call.step, call.thought.as_deref()), (step, thought.as_str()), "{name}");
    assert_eq!(result["action"], *call.action_text, "{name}");
    let reply = match call.tool {
        Tool::Search | Tool::Lookup => Reply::Tool,
        Tool::Finish => Reply::Given("任务完成。".to_owned()),
        _ => Reply::Given(dispatch["obs"].as_str().expect("an answer").to_owned()),
    };
    assert_eq!(call.reply, reply, "{name}");
}
