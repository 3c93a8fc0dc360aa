//! `export --format otlp`: episodes as traces of OpenTelemetry.

use crate::common::{WorkDir, without_times};
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

/// Prompts are there where they are asked for, calls of functions as parts of messages.
#[test]
fn messages_have_the_form_of_the_conventions() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--protocol", "tools", "--limit", "1", "--out", "r"]).ok();
    let parsed = |span: &Value, name: &str| -> Option<Value> {
        Some(serde_json::from_str(attributes(span).get(name)?.as_str()?).expect("JSON"))
    };
    let plain = &traces(&dir.wikitrail(&["export", "r", "--format", "otlp"]).ok().stdout)[0];
    assert!(plain.iter().all(|span| parsed(span, "gen_ai.input.messages").is_none()));
    let asked = &traces(&dir.wikitrail(&["export", "r", "--format", "otlp", "--with-prompts"]).ok().stdout)[0];
    let calls: Vec<&Value> = asked.iter().filter(|span| span["kind"] == 3).collect();
    let output = parsed(calls[0], "gen_ai.output.messages").expect("a reply");
    let parts = output[0]["parts"].as_array().expect("parts");
    assert!(
        output[0]["role"] == "assistant"
            && parts.iter().any(|part| part["type"] == "tool_call" && part["arguments"].is_object()),
        "{output}"
    );
    let input = parsed(calls[1], "gen_ai.input.messages").expect("a prompt");
    let last = input.as_array().expect("messages").last().expect("one");
    assert_eq!((&last["role"], &last["parts"][0]["type"]), (&json!("tool"), &json!("tool_call_response")), "{input}");
}

/// What a record of an earlier version does not say is laid end to end, and marked; an unmeasured episode is an error.
#[test]
fn times_that_were_not_recorded_are_marked_and_failures_are_errors() {
    let dir = WorkDir::new();
    dir.wikitrail(&["run", "--quiet", "--limit", "2", "--out", "r"]).ok();
    let mut records: Vec<Value> = dir.records("r").into_iter().map(without_times).collect();
    for record in &mut records {
        (record["started_at"], record["wall_ms"]) = (json!("2026-01-01T00:00:00Z"), json!(0));
        for step in record["steps"].as_array_mut().expect("steps") {
            step["calls"].as_array_mut().expect("calls").iter_mut().for_each(|call| call["latency_ms"] = json!(250));
        }
    }
    (records[1]["outcome"], records[1]["detail"]) = (json!("not_measured"), json!("model: no\u{1b}[2J answer"));
    dir.write("r/trajectories.jsonl", records.iter().map(|record| format!("{record}\n")).collect::<Vec<_>>().concat());
    let found = traces(&dir.wikitrail(&["export", "r", "--format", "otlp"]).ok().stdout);
    let of = |record: &Value| {
        let is = |spans: &&Vec<Value>| attributes(&spans[0])["gen_ai.conversation.id"] == record["key"];
        found.iter().find(is).expect("the trace of the episode")
    };
    let spans = of(&records[0]);
    let root = &spans[0];
    let begin = 1_767_225_600_000_000_000;
    assert_eq!((time(root, "start"), &attributes(root)["wikitrail.times_estimated"]), (begin, &json!(true)));
    let calls: Vec<&Value> = spans.iter().filter(|span| span["kind"] == 3).collect();
    assert_eq!((time(calls[0], "start"), time(calls[1], "start")), (begin, begin + 250_000_000));
    assert_eq!(time(root, "end"), begin + 250_000_000 * calls.len() as u64);
    let failed = &of(&records[1])[0];
    assert_eq!(failed["status"], json!({"code": 2, "message": "model: no\u{1b}[2J answer"}));
    assert_eq!(failed["events"], json!([]));
}

/// Steps of another program have the times of its log.
#[test]
fn an_imported_log_keeps_its_times_and_a_branch_only_its_own_steps() {
    let dir = WorkDir::new();
    let events = json!([
        {"event": "model", "timestamp": "2026-01-02T03:04:05+00:00", "output": {"time": 0.5, "usage": {"input_tokens": 3, "output_tokens": 4},
            "choices": [{"stop_reason": "stop", "message": {"content": "hm"}}]}},
        {"event": "tool", "timestamp": "2026-01-02T03:04:06+00:00", "working_time": 0.25, "function": "browse", "arguments": {"url": "x"}, "result": "r"}]);
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t", "model": "openai/m"}, "samples": [
        {"id": 1, "epoch": 1, "input": "Q?", "target": "A", "output": {"completion": "A"}, "events": events, "scores": {"match": {"value": "C"}},
            "started_at": "2026-01-02T03:04:05+00:00", "total_time": 2}]});
    dir.write("log.json", log.to_string());
    dir.wikitrail(&["import", "inspect", "log.json", "--out", "theirs"]).ok();
    let spans = &traces(&dir.wikitrail(&["export", "theirs", "--format", "otlp"]).ok().stdout)[0];
    let begin = 1_767_323_045_000_000_000;
    let places: Vec<(u64, u64)> =
        spans.iter().map(|span| (time(span, "start") - begin, time(span, "end") - begin)).collect();
    let ms = |ms: u64| ms * 1_000_000;
    assert_eq!(places, [(0, ms(2000)), (0, ms(500)), (ms(1000), ms(1250))]);
    assert_eq!((&spans[1]["name"], &spans[2]["name"]), (&json!("chat openai/m"), &json!("execute_tool browse")));
    assert_eq!(attributes(&spans[1])["gen_ai.usage.input_tokens"], "3");
    let scores: Vec<Value> = spans[0]["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| attributes(event)["gen_ai.evaluation.name"].clone())
        .collect();
    assert_eq!(scores, ["em", "f1", "match"]);
    dir.wikitrail(&["run", "--quiet", "--limit", "1", "--out", "r"]).ok();
    let id = dir.records("r")[0]["id"].as_str().expect("an id").to_owned();
    dir.wikitrail(&["branch", &format!("r:{id}"), "--at", "2", "--with", "empty", "--out", "b"]).ok();
    for spans in traces(&dir.wikitrail(&["export", "b", "--format", "otlp"]).ok().stdout) {
        assert!(attributes(&spans[0]).contains_key("wikitrail.branch.key"));
        assert!(spans[1..].iter().all(|span| attributes(span)["wikitrail.step"] != "1"), "{spans:?}");
    }
}
