//! Runs of agents that are offered passages in place of search and lookup.

use crate::common::WorkDir;
use crate::common::server::{self, Server};
use serde_json::{Value, json};

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
