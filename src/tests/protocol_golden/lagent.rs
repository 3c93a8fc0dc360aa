//! `lagent`: the parsers of both forms, what an action gives, the call protocol, and whole conversations.

use super::{assert_parsed, dialogue, each, play, protocol, setup, strings};
use crate::base::{Message, Outcome, Prompt, Question, Reply, Request, Tool};
use crate::prompting::protocol::{Frame, Protocol, ToolSpec, Turn};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The labels of v0.2, with arguments taken as upstream takes them.
const STRICT: &[(&str, &str)] = &[("arguments", "strict")];
const RAISES: &str = "raises upstream; here a format failure with that exception";

#[test]
fn replies_are_read_as_by_the_original() {
    checked("lagent.v02_parse", 84, 1, check_v02);
    checked("lagent.v010_parse", 75, 0, check_v010);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn replies_in_json_and_conversations_equal_the_originals() {
    checked("lagent.head_json", 34, 24, check_json);
    checked("lagent.format", 1, 0, check_format);
    checked("lagent.traces", 8, 2, check_trace);
}

/// How many vectors a file has, and how many of them have a behaviour that cannot be kept, for a reason that the check
/// returns.
#[track_caller]
fn checked(file: &str, count: usize, otherwise: usize, check: fn(&Value) -> Option<&'static str>) {
    let mut found = 0;
    each(file, count, |row| found += usize::from(check(row).is_some()));
    assert_eq!(found, otherwise, "{file}");
}

fn name(row: &Value) -> &str {
    row["name"].as_str().unwrap_or("format")
}

/// The tool of the vectors.
fn wiki_search() -> ToolSpec {
    ToolSpec { name: "WikiSearch".to_owned(), ..ToolSpec::new(Tool::Search, "Search an entity.", "entity") }
}

/// What the tool of the vectors answers.
fn answered(query: &str) -> String {
    if query == "boom" { "kaput".to_owned() } else { format!("RESULT<{query}>") }
}

fn frame(force_stop: &str) -> Frame {
    Frame {
        system: Some("<PROTOCOL>".into()),
        tools: vec![wiki_search()],
        texts: BTreeMap::from([("force_stop".to_owned(), Arc::from(force_stop))]),
        ..Frame::default()
    }
}

fn messages(request: &Request) -> Value {
    assert!(request.stop.is_empty());
    let Prompt::Messages(messages) = &request.prompt else { panic!("not a conversation") };
    serde_json::to_value(messages).expect("messages serialise")
}

fn messages_of_turn(turn: &Turn) -> Value {
    let Turn::Ask(request) = turn else { panic!("expected a request, got {turn:?}") };
    messages(request)
}

/// The mapping of `expected_parse.py` for replies by labels.
fn expected(result: &Value) -> Value {
    let (thought, input) = (&result["thought"], &result["action_input"]);
    match result["action"].as_str().expect("action") {
        "FinishAction" => json!({ "kind": "finish", "thought": thought, "answer": input }),
        "NoAction" => json!({ "kind": "invalid", "thought": thought, "error": "Please follow the format" }),
        action => json!({ "kind": "act", "thought": thought, "tool": action, "input": input }),
    }
}

fn check_v010(row: &Value) -> Option<&'static str> {
    let parsed = protocol("lagent", &[("labels", "v0.1")]).parse(row["output"].as_str().expect("output"), 1);
    assert_parsed(&row["name"], &parsed, &expected(&row["result"]));
    None
}

fn check_v02(row: &Value) -> Option<&'static str> {
    let (name, output, result) = (name(row), row["output"].as_str().expect("output"), &row["result"]);
    let protocol = protocol("lagent", STRICT);
    assert_parsed(&row["name"], &protocol.parse(output, 1), &expected(result));
    let mut dialogue = dialogue(protocol.as_ref(), frame(""), 4);
    dialogue.begin(&Question::new("0", "Q", vec![]));
    let call = match dialogue.completion(output) {
        Turn::Use(call) => call,
        Turn::Stop(stop) => {
            let exception = result["exec_error"].as_str().expect("only an exception ends it here");
            assert_eq!(stop.outcome, Outcome::FormatFailure, "{name}");
            assert!(stop.detail.expect("a reason").contains(exception), "{name}");
            return Some(RAISES);
        }
        other @ Turn::Ask(_) => panic!("{name}: {other:?}"),
    };
    let exec = &result["exec"];
    assert_eq!(result["thought"], *call.thought.as_ref().expect("a thought"), "{name}");
    let text = match call.reply {
        Reply::None => {
            assert_eq!(exec["type"], "FinishAction", "{name}");
            let answer = exec["result"][0]["content"].as_str().expect("answer");
            let Turn::Stop(stop) = dialogue.observation("") else { panic!("{name}: no stop") };
            assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some(answer.trim())), "{name}");
            return None;
        }
        Reply::Given(text) => {
            assert_eq!(exec["errmsg"], text, "{name}");
            text
        }
        Reply::Tool => {
            assert_eq!((call.tool, &exec["type"]), (Tool::Search, &json!("WikiSearch")), "{name}");
            answered(&call.input)
        }
    };
    let asked = messages_of_turn(&dialogue.observation(&text));
    assert_eq!(asked.as_array().and_then(|messages| messages.last()), Some(&result["response_message"]), "{name}");
    None
}

/// The mapping of `expected_parse.py` for replies in JSON.
fn expected_json(result: &Value) -> Value {
    let parsed = &result["parsed"];
    if parsed.is_null() {
        json!({ "kind": "invalid", "error": result["error"] })
    } else if result["finish_condition"] == true {
        json!({ "kind": "finish", "answer": parsed["conclusion"], "thought": parsed["thought_process"] })
    } else {
        let action = &parsed["action"];
        json!({ "kind": "act", "tool": action["name"], "args": action["parameters"], "thought": parsed["thought_process"] })
    }
}

fn check_json(row: &Value) -> Option<&'static str> {
    let (name, output, result) = (name(row), row["output"].as_str().expect("output"), &row["result"]);
    let protocol = protocol("lagent", &[("variant", "json"), ("arguments", "strict")]);
    assert_parsed(&row["name"], &protocol.parse(output, 1), &expected_json(result));
    let mut dialogue = dialogue(protocol.as_ref(), frame(""), 5);
    dialogue.begin(&Question::new("0", "Q", vec![]));
    match dialogue.completion(output) {
        Turn::Stop(stop) => {
            let exception = result["error"].as_str().expect("only an exception ends it here");
            assert_eq!(stop.outcome, Outcome::FormatFailure, "{name}");
            assert_eq!(stop.detail, Some(format!("the original raises `{exception}`")), "{name}");
            return Some(RAISES);
        }
        Turn::Use(call) if result["finish_condition"] == true => {
            assert_eq!(call.reply, Reply::None, "{name}");
            let Turn::Stop(stop) = dialogue.observation("") else { panic!("{name}: no stop") };
            let answer = result["parsed"]["conclusion"].as_str().unwrap_or_default();
            assert_eq!((stop.outcome, stop.answer.as_deref()), (Outcome::Finished, Some(answer)), "{name}");
        }
        Turn::Use(call) => match call.reply {
            Reply::Tool => assert_eq!(result["parsed"]["action"]["parameters"]["query"], call.input, "{name}"),
            Reply::Given(text) => assert_eq!(text, "The action is invalid, please check the action name.", "{name}"),
            Reply::None => panic!("{name}: not the end"),
        },
        other @ Turn::Ask(_) => panic!("{name}: {other:?}"),
    }
    None
}

/// The template is got back from the filled call protocol; no slot may be left over, and none may be missing.
fn check_format(row: &Value) -> Option<&'static str> {
    let result = row["result"].as_array().expect("messages");
    let filled = result[0]["content"].as_str().expect("call protocol");
    let protocol = protocol("lagent", &[]);
    let slots = protocol.slots(&[wiki_search()]);
    let names: BTreeSet<&str> = slots.iter().map(|(name, _)| *name).collect();
    let all = ["tool_description", "action_names", "thought", "action", "action_input", "response", "finish"];
    assert_eq!(names, BTreeSet::from(all));
    assert_eq!(slots[0], ("tool_description", row["actions_info"].as_str().expect("actions").to_owned()));
    let mut template = filled
        .replacen(row["actions_info"].as_str().expect("actions"), "{tool_description}", 1)
        .replacen("['WikiSearch']", "{action_names}", 1);
    for (label, slot) in [
        ("Thought:", "thought"),
        ("Action:", "action"),
        ("Action Input:", "action_input"),
        ("Response:", "response"),
        ("Final Answer:", "finish"),
    ] {
        let line = format!("\n{label}");
        assert!(template.contains(&line), "{label}");
        template = template.replace(&line, &format!("\n{{{slot}}}"));
    }
    assert_eq!(template.matches('{').count(), 8, "one slot each, and the thought's twice");
    let mut again = template;
    for (name, value) in &slots {
        again = again.replace(&format!("{{{name}}}"), value);
    }
    assert_eq!(again, filled);
    let mut setup = Arc::unwrap_or_clone(setup(Frame { system: Some(again.into()), ..frame("") }, 4));
    setup.history = vec![Message::user("old")];
    let turn = protocol.dialogue(&Arc::new(setup)).begin(&Question::new("0", "Q", vec![]));
    assert_eq!(messages_of_turn(&turn), row["result"]);
    None
}

/// A conversation: every request, every step, the end.
fn check_trace(row: &Value) -> Option<&'static str> {
    let name = name(row);
    let Some(question) = row["message"].as_str().or_else(|| row["message"]["content"].as_str()) else {
        assert_eq!(row["exception"], "TypeError: unsupported type: <class 'int'>");
        assert_eq!(row["n_llm_calls"], 0);
        return Some("upstream raises a TypeError for a question that is not text, and `Question` holds only text");
    };
    let expected = row["llm_inputs"].as_array().expect("requests");
    let max_steps = if name == "max_turn_1" { 1 } else { 4 };
    let force_stop = "You should directly give results\n based on history information.";
    let protocol = protocol("lagent", STRICT);
    let (mut thoughts, mut inner) = (Vec::new(), Vec::new());
    let mut dialogue = dialogue(protocol.as_ref(), frame(force_stop), max_steps);
    let question = Question::new("0", question, vec![]);
    let (asked, stop) = play(dialogue.as_mut(), &question, &strings(&row["script"]), |call, reply| {
        thoughts.push(json!(call.thought));
        inner.push(json!({ "role": "assistant", "content": reply }));
        let text = match call.reply {
            Reply::None => return String::new(),
            Reply::Tool => answered(&call.input),
            Reply::Given(text) => text,
        };
        let content = Protocol::observation(protocol.as_ref(), call.step, &text);
        inner.push(json!({ "role": protocol.observation_role(), "content": content }));
        text
    });
    assert_eq!(asked.iter().map(messages).collect::<Vec<_>>(), *expected, "{name}");
    let response = row["response"].as_str().expect("response");
    if stop.outcome == Outcome::Finished {
        assert_eq!(stop.answer.as_deref(), Some(response.trim()), "{name}");
    } else {
        assert_eq!(
            (stop.outcome, stop.answer, stop.detail.as_deref()),
            (Outcome::StepLimit, None, Some(response)),
            "{name}"
        );
    }
    let expected: Vec<_> = row["actions"].as_array().expect("actions").iter().map(|action| action[1].clone()).collect();
    assert_eq!(thoughts, expected, "{name}");
    assert_eq!(inner, row["inner_steps"].as_array().expect("inner steps").as_slice(), "{name}");
    row["message"].is_object().then_some("a question given as a message is the same as its text, and was compared so")
}
