//! Recorded episodes in the form of the paper's notebooks, made up.

use super::WorkDir;
use serde_json::{Value, json};

/// One line: a question that is answered by two steps, the last one as given; a text without `Finish[…]` runs out of steps.
pub(crate) fn episode(order: usize, last: &str, em: u8) -> String {
    let answer = last.strip_prefix("Finish[").and_then(|rest| rest.strip_suffix(']'));
    let actions = ["Search[Italy]", last];
    let steps = actions.iter().enumerate().map(|(at, action)| {
        let end = format!("Episode finished, reward = {em}\n");
        let observation = if at == 0 { "Italy is a country. Its capital is Rome." } else { &end };
        let thought = format!("I do step {}.", at + 1);
        json!({"n": at + 1, "thought": thought, "action_text": action, "observation": observation, "bad_call": false})
    });
    let calls = actions.iter().map(|action| {
        let completion = format!(" so.\nAction: {action}");
        json!({"prompt_sha256": "0".repeat(64), "prompt_chars": 9, "stop": ["\nObservation 1:"], "completion": completion})
    });
    let value = json!({
        "model": "made-up-1", "order": order, "question": format!("What is the capital of Italy ({order})?"),
        "gold": "Rome", "steps": steps.collect::<Vec<Value>>(), "calls": calls.collect::<Vec<Value>>(),
        "final_answer": answer.unwrap_or_default(), "em": em, "f1": em,
        "info": {"steps": if answer.is_some() { 2 } else { 3 }}, "n_calls": 2, "n_badcalls": 0,
        "final_prompt_sha256": "0".repeat(64),
    });
    format!("{value}\n")
}

/// A folder with the imported run `r`: six right and six wrong episodes.
pub(crate) fn half_right() -> WorkDir {
    let dir = WorkDir::new();
    let one = |n: usize| match n % 2 {
        0 => episode(n, "Finish[Rome]", 1),
        _ => episode(n, "Finish[Paris]", 0),
    };
    dir.write("e.jsonl", (0..12).map(one).collect::<String>());
    dir.wikitrail(&["import", "react-notebook", "e.jsonl", "--out", "r"]).ok();
    dir
}
