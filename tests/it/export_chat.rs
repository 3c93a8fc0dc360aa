//! `export --format chat`: every line has the shape that fine-tuning takes, and says what the model wrote.

use crate::common::{lines, wikitrail};
use serde_json::Value;
use std::path::Path;
use wikitrail::run::Method;
use wikitrail::run::PROTOCOLS;

fn runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (run, flags) in
        [("protocols", ["--protocol", &PROTOCOLS.join(",")]), ("methods", ["--method", &Method::NAMES.join(",")])]
    {
        let more = ["--limit", "45", "--max-steps", "8", "--quiet", "--out", run];
        let samples = if run == "methods" { &["--samples", "3"][..] } else { &[] };
        wikitrail(folder.path(), &[&["run"], &flags[..], &more[..], samples].concat()).ok();
    }
    folder
}

fn chat(folder: &Path, args: &[&str]) -> Vec<Value> {
    let ran = wikitrail(folder, &[&["export", "--format", "chat"], args].concat()).ok();
    assert!(!ran.stderr.contains("left out"), "{args:?}: {}", ran.stderr);
    lines(&ran.stdout)
}

/// The shape, strictly: nothing but `messages`; roles in turn; contents that say something; the assistant ends, and has
/// something to teach.
#[track_caller]
fn assert_shape(line: &Value) {
    let fields = line.as_object().expect("an object");
    if fields.contains_key("tools") {
        return assert_shape_of_calls(line);
    }
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["messages"], "{line}");
    let messages = fields["messages"].as_array().expect("a list");
    let system = usize::from(messages[0]["role"] == "system");
    assert!(messages.len() >= system + 2, "{line:#}");
    for (at, message) in messages.iter().enumerate() {
        let fields = message.as_object().expect("an object");
        let content = fields["content"].as_str().expect("a text");
        assert!(!content.trim().is_empty(), "{line:#}");
        let role = match at.checked_sub(system) {
            None => "system",
            Some(turn) if turn % 2 == 0 => "user",
            Some(_) => "assistant",
        };
        assert_eq!(fields["role"], role, "message {at} of {line:#}");
        match fields.get("weight") {
            None => assert_eq!(fields.len(), 2, "{line:#}"),
            Some(weight) => {
                assert_eq!((fields.len(), role, weight.as_u64()), (3, "assistant", Some(0)), "{line:#}");
            }
        }
    }
    let last = messages.last().expect("a message");
    assert!(last["role"] == "assistant" && last.get("weight").is_none(), "{line:#}");
}

/// The shape of a conversation with native calls: each is answered, and the last one gives the answer.
#[track_caller]
fn assert_shape_of_calls(line: &Value) {
    let fields = line.as_object().expect("an object");
    assert_eq!(fields.keys().collect::<Vec<_>>(), ["messages", "tools", "parallel_tool_calls"], "{line}");
    let names: Vec<_> =
        line["tools"].as_array().expect("a list").iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["search", "lookup", "finish"], "{line}");
    let messages = line["messages"].as_array().expect("a list");
    let mut open: Vec<&Value> = Vec::new();
    for message in &messages[1..] {
        match message["role"].as_str() {
            Some("user") => assert!(open.is_empty(), "{line:#}"),
            Some("tool") => assert_eq!(Some(&message["tool_call_id"]), open.pop(), "{line:#}"),
            Some("assistant") => {
                assert!(open.is_empty(), "{line:#}");
                open.extend(message["tool_calls"].as_array().expect("calls").iter().map(|call| &call["id"]));
            }
            role => panic!("{role:?} in {line:#}"),
        }
    }
    let last = messages.last().expect("a message");
    assert_eq!(last["tool_calls"][0]["function"]["name"], "finish", "{line:#}");
    assert!(last.get("weight").is_none(), "{line:#}");
}

fn contents<'a>(line: &'a Value, role: &str) -> Vec<&'a str> {
    let messages = line["messages"].as_array().expect("a list").iter().filter(|message| message["role"] == role);
    messages.map(|message| message["content"].as_str().expect("a text")).collect()
}

/// The trajectories that the same flags choose, in the same order.
fn records(folder: &Path, args: &[&str]) -> Vec<Value> {
    wikitrail(folder, &[&["export", "--format", "jsonl"], args].concat()).lines()
}

fn completions(record: &Value) -> Vec<String> {
    let steps = record["steps"].as_array().expect("steps").iter();
    let calls = steps.flat_map(|step| step["calls"].as_array().expect("calls").clone());
    calls.map(|call| call["completion"].as_str().expect("a text").to_owned()).collect()
}

/// White space aside, which transcripts have in other places than replies.
fn bare(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_conversation_of_every_protocol_and_method_has_the_shape_and_the_models_words() {
    let folder = runs();
    for run in ["protocols", "methods"] {
        let (lines, records) = (chat(folder.path(), &[run]), records(folder.path(), &[run, "--correct"]));
        assert!(lines.len() > 70, "{run}: {}", lines.len());
        assert_eq!(lines.len(), records.len(), "{run}: each right answer is one conversation");
        for (line, record) in lines.iter().zip(&records) {
            assert_shape(line);
            assert!(line["messages"].to_string().contains(record["answer"].as_str().expect("an answer")), "{line:#}");
            assert!(contents(line, "user")[0].contains(record["question"].as_str().expect("a question")), "{line:#}");
            let written: Vec<String> = completions(record).iter().map(|text| bare(text)).collect();
            let replies = contents(line, "assistant");
            for reply in &replies {
                assert!(!reply.contains("Observation") && !reply.contains("Response:"), "{reply}");
                let reply = bare(reply);
                let said = written.iter().any(|text| reply.ends_with(text.as_str()) || text.starts_with(&reply));
                assert!(said, "`{reply}` is not what the model wrote: {written:#?}");
            }
            let agent: Vec<&Value> =
                record["steps"].as_array().expect("steps").iter().filter(|step| step["sample"].is_null()).collect();
            if record["votes"].is_null() && !agent.is_empty() {
                assert_eq!(replies.len(), agent.len(), "{line:#}");
                let (heard, results) = (contents(line, "user"), contents(line, "tool"));
                for (step, heard) in agent.iter().zip(heard[1..].iter().chain(&results)) {
                    let observation = bare(step["observation"].as_str().expect("an observation"));
                    assert!(bare(heard).contains(&observation), "{heard} without {observation}");
                }
            }
        }
    }
}

#[test]
fn exemplars_come_on_request_and_are_not_to_be_learned() {
    let folder = runs();
    for run in ["protocols", "methods"] {
        let (short, long) = (chat(folder.path(), &[run]), chat(folder.path(), &[run, "--with-exemplars"]));
        assert_eq!(short.len(), long.len());
        for (short, long) in short.iter().zip(&long) {
            assert_shape(long);
            assert!(long.to_string().len() > short.to_string().len(), "{long:#}");
            let learned = |line: &Value| {
                let messages = line["messages"].as_array().expect("a list").iter();
                let own = messages.filter(|message| message["role"] == "assistant" && message.get("weight").is_none());
                own.cloned().collect::<Vec<_>>()
            };
            assert_eq!(learned(short), learned(long));
        }
    }
}

#[test]
fn scores_steps_variants_and_cleanness_choose_the_conversations() {
    let folder = runs();
    let count = |args: &[&str]| chat(folder.path(), &[&["protocols"], args].concat()).len();
    let right = count(&[]);
    assert_eq!(count(&["--correct"]), right);
    assert!(count(&["--min-f1", "0"]) > right && count(&["--wrong"]) > 0);
    assert_eq!(count(&["--min-f1", "0"]), right + count(&["--wrong"]));
    assert!((1..right).contains(&count(&["--max-steps", "3"])));
    assert!((1..right).contains(&count(&["--variant", "robust"])));
    assert_eq!(count(&["--clean"]), records(folder.path(), &["protocols", "--correct", "--clean"]).len());
    let refused = wikitrail(folder.path(), &["export", "protocols", "--with-exemplars"]);
    refused.refused(2, &["hint: use it with --format chat"]);
    // A record that does not replay is no conversation.
    let path = folder.path().join("methods/trajectories.jsonl");
    let text = std::fs::read_to_string(&path).expect("records");
    std::fs::write(&path, text.replace("\"prompt_chars\":", "\"prompt_chars\":1")).expect("it can be written");
    let ran = wikitrail(folder.path(), &["export", "methods", "--format", "chat"]).ok();
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.contains("left out: the record does not replay"), "{}", ran.stderr);
}
