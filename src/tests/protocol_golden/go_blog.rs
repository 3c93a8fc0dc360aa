//! `go-blog`: replies against the article's regular expressions as Go runs them, with a dot that takes newlines.

use super::{assert_parsed, dialogue, each, protocol};
use crate::base::{Question, Reply, Tool};
use crate::prompting::protocol::{Frame, ToolSpec, Turn};
use serde_json::{Deserializer, Value, json};

#[test]
fn go_blog_equals_the_articles_expressions() {
    each("go_blog.parse", 76, |row| {
        let expected = expected(row);
        let output = row["output"].as_str().expect("output");
        assert_parsed(&row["name"], &protocol("go-blog", &[]).parse(output, 1), &expected);
        check_turn(row, output, &expected);
    });
}

/// The mapping of `expected_parse.py`.
fn expected(row: &Value) -> Value {
    let invalid = json!({ "kind": "invalid" });
    let (group, kind) = match row["branch"].as_str().expect("branch") {
        "action" => ("go_action_s", "act"),
        "answer" => ("go_answer_s", "finish"),
        _ => return invalid,
    };
    let Some(groups) = row[group].as_array() else { return invalid };
    let text = |n: usize| groups[n].as_str().expect("a group").trim();
    if kind == "finish" {
        return json!({ "kind": kind, "thought": text(1), "answer": text(2) });
    }
    match Deserializer::from_str(text(3)).into_iter::<Value>().next() {
        Some(Ok(args)) => json!({ "kind": kind, "thought": text(1), "tool": text(2), "args": args }),
        _ => json!({ "kind": "invalid", "tool": text(2) }),
    }
}

/// The dialogue does what the parsed form says, with every name as that of a tool.
fn check_turn(row: &Value, output: &str, expected: &Value) {
    let (name, tool) = (&row["name"], expected["tool"].as_str().unwrap_or("Search"));
    let tools = vec![ToolSpec { name: tool.to_owned(), ..ToolSpec::new(Tool::Search, "", "") }];
    let mut dialogue = dialogue(protocol("go-blog", &[]).as_ref(), Frame { tools, ..Frame::default() }, 20);
    dialogue.begin(&Question::new("0", "q", vec![]));
    let Turn::Use(call) = dialogue.completion(output) else { panic!("{name}: no step") };
    match expected["kind"].as_str().expect("kind") {
        "finish" => assert_eq!((call.tool, &expected["answer"]), (Tool::Finish, &json!(call.input)), "{name}"),
        "act" if expected["args"]["query"].is_string() => {
            assert_eq!((call.reply, &expected["args"]["query"]), (Reply::Tool, &json!(call.input)), "{name}");
        }
        "act" => {}
        _ => assert!(matches!(&call.reply, Reply::Given(text) if text.starts_with("Error: ")), "{name}"),
    }
}
