//! `export --format otlp`: episodes as traces of OpenTelemetry.

use crate::common::WorkDir;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The spans of each line.
fn traces(text: &str) -> Vec<Vec<Value>> {
    let line = |line: &str| {
        let request: Value = serde_json::from_str(line).expect("JSON");
        request["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("spans").clone()
    };
    text.lines().map(line).collect()
}

/// Attributes by name, each with the value that its type says.
fn attributes(of: &Value) -> BTreeMap<String, Value> {
    let one = |attribute: &Value| {
        let value = attribute["value"].as_object().expect("a value");
        assert_eq!(value.len(), 1, "{attribute}");
        (attribute["key"].as_str().expect("a key").to_owned(), value.values().next().expect("one").clone())
    };
    of["attributes"].as_array().expect("attributes").iter().map(one).collect()
}

fn time(span: &Value, end: &str) -> u64 {
    span[format!("{end}TimeUnixNano")].as_str().expect("64 bits as a text").parse().expect("a number")
}

fn is_hex(id: &Value, digits: usize) -> bool {
    id.as_str().is_some_and(|id| id.len() == digits && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')))
}

#[test]
fn an_episode_is_a_trace_of_calls_and_tools_with_their_times() {
    let dir = WorkDir::new();
    let flags = [
        "run",
        "--quiet",
        "--method",
        "react,cot-sc",
        "--samples",
        "3",
        "--limit",
        "3",
        "--repeats",
        "2",
        "--out",
        "r",
    ];
    dir.wikitrail(&flags).ok();
    let export = || dir.wikitrail(&["export", "r", "--format", "otlp"]).ok().stdout;
    let text = export();
    assert_eq!(text, export(), "a second export is the same trace");
    let (traces, records) = (traces(&text), dir.records("r"));
    assert_eq!(traces.len(), records.len());
    let ids: BTreeSet<String> =
        traces.iter().flatten().map(|span| format!("{}{}", span["traceId"], span["spanId"])).collect();
    assert_eq!(ids.len(), traces.iter().map(Vec::len).sum::<usize>());
    for (spans, line) in traces.iter().zip(text.lines()) {
        let root = &spans[0];
        let said = attributes(root);
        let record = records
            .iter()
            .find(|record| said["gen_ai.conversation.id"] == record["key"])
            .expect("the episode of the trace");
        assert!(is_hex(&root["traceId"], 32) && root.get("parentSpanId").is_none(), "{root}");
        assert_eq!((&root["kind"], &root["status"]), (&json!(1), &json!({})));
        assert_eq!(root["name"], format!("invoke_agent {}", record["variant"].as_str().expect("a variant")));
        assert_eq!(
            (&said["input.value"], &said["wikitrail.repeat"]),
            (&record["question"], &json!(record["repeat"].to_string()))
        );
        assert!(!said.contains_key("wikitrail.times_estimated"), "{root}");
        let names: Vec<Value> = root["events"]
            .as_array()
            .expect("events")
            .iter()
            .map(|event| attributes(event)["gen_ai.evaluation.name"].clone())
            .collect();
        assert_eq!(names, ["em", "f1"]);
        let steps = record["steps"].as_array().expect("steps");
        let calls = steps.iter().flat_map(|step| step["calls"].as_array().expect("calls")).count();
        let tools = steps.iter().filter(|step| step["tool"].is_string() && step["observation"].is_string()).count();
        let of =
            |name: &str| spans[1..].iter().filter(|span| attributes(span)["gen_ai.operation.name"] == name).count();
        assert_eq!((of("chat"), of("execute_tool"), spans.len()), (calls, tools, 1 + calls + tools));
        for span in &spans[1..] {
            assert!(
                is_hex(&span["spanId"], 16)
                    && span["parentSpanId"] == root["spanId"]
                    && span["traceId"] == root["traceId"]
            );
            let is_call = span["name"] == "chat baseline";
            assert_eq!(span["kind"], if is_call { 3 } else { 1 }, "{span}");
            // Milliseconds of a record are rounded down.
            assert!(
                time(root, "start") <= time(span, "start") && time(span, "end") <= time(root, "end") + 1_000_000,
                "{span}"
            );
            assert!(time(span, "start") <= time(span, "end"));
        }
        let head = r#"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"wikitrail"}}"#;
        assert!(line.starts_with(head), "{line}");
    }
    let search = traces.iter().flatten().find(|span| span["name"] == "execute_tool search").expect("a search");
    let said = attributes(search);
    let arguments: Value =
        serde_json::from_str(said["gen_ai.tool.call.arguments"].as_str().expect("JSON")).expect("JSON");
    assert!(arguments["input"].is_string() && said["gen_ai.tool.call.result"].is_string(), "{search}");
    dir.wikitrail(&["export", "r", "--format", "otlp", "--rows", "steps"])
        .refused(2, &["--rows does not apply to traces"]);
}
