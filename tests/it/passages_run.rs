//! Runs of agents that are offered passages in place of search and lookup.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, without_times};
use serde_json::{Value, json};

/// The steps of all records, in the order of the questions.
fn steps(dir: &WorkDir, run: &str) -> Vec<Value> {
    let mut records = dir.records(run);
    records.sort_by_key(|record| record["index"].as_u64());
    records.into_iter().map(|record| without_times(record)["steps"].take()).collect()
}

#[test]
fn a_run_with_passages_is_scored_compared_and_replayed() {
    let dir = WorkDir::new();
    let sample = |args: &[&str]| dir.run(&[&["datasets/sample.jsonl", "--limit", "12", "--quiet"], args].concat());
    sample(&["--tools", "passages", "--passages", "2", "--record", "tape", "--out", "p"]).ok();
    sample(&["--out", "s"]).ok();
    let variant = &dir.manifest("p")["variants"][0];
    assert_eq!((&variant["protocol"], &variant["options"]), (&json!("robust"), &json!({"tools": "passages"})));
    assert_eq!(variant["settings"]["passages"], 2);

    let first = steps(&dir, "p");
    let step = &first[0][0];
    assert_eq!(step["tool"], "passages");
    let hits = step["provenance"]["hits"].as_array().expect("hits");
    assert_eq!(hits.len(), 2);
    assert!(hits.iter().all(|hit| hit["shown"].as_u64() > Some(0) && hit["score"].as_f64() > Some(0.0)), "{hits:?}");
    let shown = step["observation"].as_str().expect("text");
    assert!(shown.starts_with(&format!("[1] {} (id ", hits[0]["title"].as_str().expect("a title"))), "{shown}");

    sample(&["--tools", "passages", "--passages", "2", "--replay", "tape", "--out", "r"]).ok();
    assert!(steps(&dir, "r") == first, "the replay differs");
    let missed = sample(&["--tools", "passages", "--passages", "3", "--replay", "tape", "--out", "m"]);
    assert_eq!(missed.code, Some(4), "another number of passages is another request: {}", missed.stderr);

    // A passage that was shown opens its page, for both kinds of tool alike.
    let scores = dir.wikitrail(&["score", "p", "--json"]).ok().json();
    let trajectory = &scores["variants"][0]["trajectory"];
    assert!(
        trajectory["gold_pages"]["share"].as_f64() > Some(0.5) && trajectory["sentences"]["share"].as_f64() > Some(0.5),
        "{trajectory}"
    );
    let compared = dir.wikitrail(&["compare", "s", "p"]).ok();
    assert!(compared.stdout.contains("search,lookup") && compared.stdout.contains("passages"), "{}", compared.stdout);
    let shown = dir.wikitrail(&["show", "p", "sample-001"]).ok().stdout;
    assert!(shown.contains("2 passages, corpus:datasets/sample-wiki\n"), "{shown}");
    dir.wikitrail(&["export", "p", "--format", "csv", "--rows", "steps", "--out", "p.csv"]).ok();
    assert!(dir.read("p.csv").contains("\"\"rank\"\":1"), "the hits are a column");
}

#[test]
fn tools_that_a_protocol_a_prompt_or_a_source_lacks_are_refused_before_the_run() {
    let dir = WorkDir::new();
    let refused = |args: &[&str], said: &[&str]| {
        dir.run(&[&["datasets/sample.jsonl", "--out", "x", "--tools"], args].concat()).refused(2, said);
    };
    refused(&["passages", "--protocol", "react-paper"], &["search and lookup only", "robust, tools, lagent"]);
    refused(
        &["passages", "--wiki", "api", "--contact", "a@b.org"],
        &["--tools passages needs another source", "corpus:DIR"],
    );
    refused(&["passages,document", "--wiki", "retriever:http://127.0.0.1:9"], &["--tools passages,document needs"]);
    dir.run(&["datasets/sample.jsonl", "--out", "x", "--tools", "passages", "--prompt", "prompts/hotpotqa.toml"])
        .refused(3, &["use the tool `search`", "--shots 0"]);
    refused(&["search,lookup", "--passages", "5"], &["--passages", "--tools passages"]);
    dir.run(&[
        "datasets/sample.jsonl",
        "--dry-run",
        "--prompt",
        "prompts/hotpotqa-passages.toml",
        "--protocol",
        "robust",
        "--shots",
        "0",
    ])
    .refused(3, &["does not describe the tool `search`"]);
    // Protocols with named tools say it in a note.
    let args = ["datasets/sample.jsonl", "--dry-run", "--tools", "passages", "--prompt", "prompts/hotpotqa.toml"];
    let planned = dir.run(&[&args[..], &["--protocol", "lagent"]].concat()).ok();
    assert!(planned.stderr.contains("show the tool `search`"), "{}", planned.stderr);
}

#[test]
fn native_calls_get_passages_of_a_retriever_and_an_unknown_tool_an_error() {
    let dir = WorkDir::new();
    let retriever = Server::start(|_, _, stream| {
        let hit =
            json!({"document": {"id": "wiki-7", "contents": "\"Ada Byron\"\nAda Byron wrote programs."}, "score": 2.5});
        server::json(stream, &json!({"result": [[hit]]}));
    });
    let model = Server::start(|_, request, stream| {
        let asked: Value =
            serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap_or_default()).unwrap_or_default();
        let said = asked["messages"].as_array().map_or(0, Vec::len);
        let call = |name: &str, arguments: &str| json!({"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}});
        let call = match said {
            0..=2 => call("search", r#"{"query": "Ada"}"#),
            3..=4 => call("passages", r#"{"query": "Ada"}"#),
            _ => call("finish", r#"{"answer": "Ada Byron"}"#),
        };
        let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
        server::json(stream, &json!({"choices": [{"message": message, "finish_reason": "tool_calls"}]}));
    });
    dir.write("q.jsonl", "{\"question\": \"Who wrote?\", \"answer\": \"Ada Byron\"}\n");
    let (wiki, base) = (format!("retriever:{}", retriever.url), format!("{}/v1", model.url));
    let args = ["q.jsonl", "--quiet", "--tools", "passages", "--protocol", "tools", "--shots", "0", "--out", "n"];
    dir.run(&[&args[..], &["--wiki", &wiki, "--model", "openai:m", "--base-url", &base]].concat()).ok();
    let record = dir.records("n").remove(0);
    assert_eq!(record["outcome"], "finished", "{record}");
    let tools: Vec<&Value> = record["steps"].as_array().expect("steps").iter().map(|step| &step["tool"]).collect();
    assert_eq!(tools, [&json!("invalid"), &json!("passages"), &json!("finish")], "{record}");
    let step = &record["steps"][1];
    assert_eq!(step["observation"], "[1] Ada Byron (id wiki-7)\nAda Byron wrote programs.");
    assert_eq!(
        step["provenance"]["hits"][0],
        json!({"id": "wiki-7", "title": "Ada Byron", "rank": 1, "score": 2.5, "shown": 25})
    );
}
