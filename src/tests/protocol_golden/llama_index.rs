//! `llama-index`: the parser, the agent, the workflow, and what they send.

use super::{assert_parsed, dialogue, each, play, protocol, rows, strings};
use crate::base::{Message, Outcome, Prompt, Question, Reply, Request, Tool};
use crate::prompting::protocol::llama_index::fallback;
use crate::prompting::protocol::tools::describe;
use crate::prompting::protocol::{Frame, Stop, ToolSpec, Turn};
use crate::tests::golden;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

const ID: &str = "llama-index";
/// The tools of the traces.
const TOOLS: [&str; 3] = ["add", "boom", "direct"];

#[test]
fn replies_are_read_as_by_the_original() {
    each("llama_index.parse", 94, check_parse);
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn formats_and_conversations_equal_the_originals() {
    let traces = rows("llama_index.traces", 13);
    let texts = frame_texts(&traces);
    for trace in &traces {
        check_trace(trace, &texts);
    }
    golden::checked("llama_index.traces", traces.len());
    check_formats(&rows("llama_index.format", 4));
    golden::checked("llama_index.format", 4);
    each("llama_index.action_input_fallback", 9, check_fallback);
}

fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row[field].as_str().unwrap_or_else(|| panic!("{field} of {row}"))
}

/// Parses a reply, and checks how the scratchpad of the next request repeats it.
fn check_parse(row: &Value) {
    let (output, result) = (text(row, "output"), &row["result"]);
    let expected = if let Some(error) = result.get("error") {
        json!({ "kind": "invalid", "error": error })
    } else if result["is_done"] == true {
        json!({ "kind": "finish", "thought": result["thought"], "answer": result["response"] })
    } else {
        json!({
            "kind": "act", "thought": result["thought"], "tool": result["action"],
            "input": row["extract_tool_use"][2], "args": result["action_input"],
        })
    };
    assert_parsed(&row["name"], &protocol(ID, &[]).parse(output, 1), &expected);
    let Some(content) = result["content"].as_str() else { return };
    let mut dialogue = dialogue(protocol(ID, &[]).as_ref(), Frame::default(), 9);
    dialogue.begin(&Question::new("0", "q", vec![]));
    assert!(matches!(dialogue.completion(output), Turn::Use(_)), "{}", row["name"]);
    let shown = match dialogue.observation("o") {
        Turn::Ask(request) => messages(&request)[1].clone(),
        _ => dialogue.memory()[1].clone(),
    };
    assert_eq!(shown, Message::assistant(content), "{}", row["name"]);
}

fn check_fallback(row: &Value) {
    let found: Map<String, Value> =
        fallback(text(row, "json_str")).into_iter().map(|(key, value)| (key, value.into())).collect();
    assert_eq!(Value::Object(found), row["result"], "{row}");
}

/// The system message is filled in from slots; the rest of the messages come from a dialogue.
fn check_formats(rows: &[Value]) {
    let named = |name: &str| rows.iter().find(|row| row["name"] == name).expect("a format of that name");
    let template = text(&named("empty")["result"][0], "content")
        .replacen("following tools:\n\n", "following tools:\n{tool_desc}\n{context_prompt}", 1)
        .replacen("(one of )", "(one of {tool_names})", 1);
    let with_tools = text(&named("tools_hist")["result"][0], "content");
    let with_context = text(&named("context")["result"][0], "content");
    let (start, _) = with_tools.split_once("\n\n\n## Output").expect("the end of the tools");
    let context = with_context.strip_prefix(start).expect("the same tools");
    let (context, _) = context.split_once("\n\n## Output").expect("the end of the context");
    let context = context.strip_prefix('\n').expect("a line's end");
    for row in rows {
        let tools = row["tools"].as_array().expect("tools");
        let described: Vec<String> = tools
            .iter()
            .map(|tool| describe(text(tool, "name"), text(tool, "description"), text(tool, "fn_schema_str")))
            .collect();
        let listed: Vec<&str> = tools.iter().map(|tool| text(tool, "name")).collect();
        let system = template
            .replace("{tool_desc}", &described.join("\n"))
            .replace("{tool_names}", &listed.join(", "))
            .replace("{context_prompt}", if row["name"] == "context" { context } else { "" });
        let mut expected = golden_messages(&row["result"]);
        assert_eq!(expected[0], Message::system(system.as_str()), "{}", row["name"]);
        check_format_messages(&system, &mut expected);
    }
    assert!(context.ends_with("\nCTX {x}\n"));
    check_slots(&named("tools_hist")["tools"][1]);
}

fn check_format_messages(system: &str, expected: &mut Vec<Message>) {
    let frame = Frame { system: Some(system.into()), ..Frame::default() };
    let mut dialogue = dialogue(protocol(ID, &[]).as_ref(), frame, 9);
    let Some(question) = expected.get(1) else { return };
    let Turn::Ask(request) = dialogue.begin(&Question::new("0", &*question.content, vec![])) else { panic!() };
    assert_eq!(messages(&request), &expected[..2]);
    if expected.len() == 2 {
        return;
    }
    // Half of an answer that is still streamed, where ours reads whole replies.
    let streamed = expected.pop().expect("a message");
    assert_eq!(streamed, Message::assistant("Thought: done\nAnswer (Starts With): 2 ..."));
    dialogue.completion(
        "Thought: use it\nAction: add\nAction Input: {\"a\": 1, \"b\": \"it's\", \"c\": null, \"d\": true, \"e\": [1.0, \"中\"]}",
    );
    let Turn::Ask(request) = dialogue.observation("2") else { panic!("the agent goes on") };
    assert_eq!(messages(&request), &expected[..4]);
    dialogue.completion("Thought: done\nAnswer: 2");
    dialogue.observation("");
    let joined: Vec<&str> = expected[2..].iter().map(|message| &*message.content).collect();
    assert_eq!(dialogue.memory(), [expected[1].clone(), Message::assistant(joined.join("\n"))]);
}

/// What the prompt's slots hold for a tool of ours: what the library makes of a function.
fn check_slots(tool: &Value) {
    let (name, description) = (text(tool, "name"), text(tool, "description"));
    let (_, docstring) = description.split_once('\n').expect("a signature");
    let spec = ToolSpec { name: name.to_owned(), ..ToolSpec::new(Tool::Search, docstring, "") };
    let described = describe(name, description, text(tool, "fn_schema_str"));
    let slots = protocol(ID, &[]).slots(&[spec.clone(), spec]);
    assert_eq!(
        slots,
        [("tool_desc", format!("{described}\n{described}")), ("tool_names", "search, search".to_owned())]
    );
}

/// The texts of a frame, from what the original sends: concrete values become slots again.
fn frame_texts(traces: &[Value]) -> BTreeMap<String, Arc<str>> {
    let last = |name: &str, call: usize, message: usize| {
        let trace = traces.iter().find(|trace| trace["name"] == name).expect("a trace of that name");
        text(&trace["llm_inputs"][call][message], "content").to_owned()
    };
    let feedback = last("parse_error_after_action", 2, 4).replace("Could not parse output: Thought: hmm", "{error}");
    let force_stop = last("early_stop_generate", 2, 1).replace("(2)", "({max_steps})");
    assert!(feedback.contains("{error}") && force_stop.contains("{max_steps}"));
    [("feedback", feedback), ("force_stop", force_stop)].map(|(k, v)| (k.to_owned(), v.into())).into()
}

/// The whole loop: every request, the answer or the error, and what is remembered.
fn check_trace(trace: &Value, texts: &BTreeMap<String, Arc<str>>) {
    if trace["impl"].as_str().expect("impl").starts_with("seed workflow") {
        for (run, script) in
            trace["runs"].as_array().expect("runs").iter().zip(trace["scripts"].as_array().expect("scripts"))
        {
            let played = Played::of(&[("variant", "workflow")], 9, run, &strings(script), texts);
            assert_eq!(played.stop.outcome, Outcome::Finished);
            assert_eq!(played.stop.answer.as_deref(), run["response"].as_str());
            let question = text(&run["llm_inputs"][0][1], "content");
            assert_eq!(played.memory, [Message::user(question), Message::assistant(text(run, "response"))]);
        }
        return;
    }
    let name = text(trace, "name");
    let calls = usize::try_from(trace["n_llm_calls"].as_u64().expect("calls")).expect("a number");
    let (options, limit): (&[_], _) = match name {
        "early_stop_generate" => (&[("early_stopping", "generate")], 2),
        "max_iter_3" | "max_iter_1_answer" => (&[], calls),
        "return_direct" => (&[], 2),
        _ => (&[], 20),
    };
    let played = Played::of(options, limit, trace, &strings(&trace["script"]), texts);
    if let Some(called) = trace.get("tool_calls") {
        assert_eq!(played.tools, strings(called), "{name}");
    }
    // No tool of ours gives the answer by itself; the episode goes on to its limit.
    if name == "return_direct" {
        assert_eq!((played.stop.outcome, played.stop.answer), (Outcome::StepLimit, None));
        return;
    }
    assert_eq!(played.memory, golden_messages(&trace["memory"]), "{name}");
    match trace["exception"].as_str() {
        None => assert_eq!(played.stop.answer.as_deref(), trace["response"].as_str(), "{name}"),
        Some(exception) => {
            assert_eq!(played.stop.outcome, Outcome::StepLimit, "{name}");
            assert_eq!(
                Some(format!("WorkflowRuntimeError: {}", played.stop.detail.expect("a reason"))),
                Some(exception.to_owned()),
                "{name}"
            );
        }
    }
}

/// A dialogue, played to its end.
struct Played {
    stop: Stop,
    memory: Vec<Message>,
    /// The tools that were asked for.
    tools: Vec<String>,
}

impl Played {
    /// Plays a script against the requests of a run; a script that is shorter than the run repeats its last reply.
    fn of(
        options: &[(&str, &str)],
        limit: usize,
        run: &Value,
        script: &[String],
        texts: &BTreeMap<String, Arc<str>>,
    ) -> Self {
        let requests: Vec<Vec<Message>> =
            run["llm_inputs"].as_array().expect("requests").iter().map(golden_messages).collect();
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            parameter: "a".to_owned(),
            ..ToolSpec::new(Tool::Search, "", "")
        };
        let frame = Frame {
            system: Some("<SYSTEM>".into()),
            tools: TOOLS.map(tool).into(),
            texts: texts.clone(),
            ..Frame::default()
        };
        let mut dialogue = dialogue(protocol(ID, options).as_ref(), frame, limit);
        let question = Question::new("0", &*requests[0][1].content, vec![]);
        let mut tools = Vec::new();
        let (calls, stop) = play(dialogue.as_mut(), &question, script, |call, _| {
            if call.tool == Tool::Finish {
                assert_eq!(call.reply, Reply::None);
                return String::new();
            }
            let name = call.action_text.split(' ').next().expect("a name").to_owned();
            let answer = match (name.as_str(), call.reply) {
                ("add", Reply::Tool) => "2".to_owned(),
                ("boom", Reply::Tool) => "kaput".to_owned(),
                ("direct", Reply::Tool) => "DIRECT 1".to_owned(),
                (_, Reply::Given(answer)) => answer,
                (name, reply) => panic!("{name}: {reply:?}"),
            };
            tools.push(name);
            answer
        });
        assert!(calls.iter().all(|request| request.stop.is_empty()));
        let mut calls: Vec<_> = calls.iter().map(messages).collect();
        // Where the original ends with the tool's answer, ours asks once more.
        calls.truncate(if run["name"] == "return_direct" { 1 } else { calls.len() });
        assert_eq!(calls, requests);
        Self { stop, memory: dialogue.memory(), tools }
    }
}

fn messages(request: &Request) -> &[Message] {
    let Prompt::Messages(messages) = &request.prompt else { panic!("messages") };
    messages
}

/// Messages of a golden file.
fn golden_messages(value: &Value) -> Vec<Message> {
    serde_json::from_value(value.clone()).expect("messages")
}
