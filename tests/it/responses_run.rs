//! Runs over the Responses API: the reasoning before a call comes back as it was, and recordings and caches have it.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, calls};
use serde_json::{Value, json};
use std::collections::HashSet;

fn response(output: &Value) -> Value {
    json!({"object": "response", "status": "completed", "error": null, "model": "m-1", "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}}})
}

fn call(id: &str, name: &str, arguments: &Value) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name, "arguments": arguments.to_string()})
}

fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "I look it up."}], "encrypted_content": "gAAAA-secret"})
}

/// Searches with two calls of which one is malformed, and finishes when it sees their results. A reasoning item that it
/// has not encrypted, or that was changed, is not found.
fn server() -> Server {
    Server::start(|_, request, stream| {
        let body: Value = serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON");
        let input = body["input"].as_array().expect("items");
        let output = if let Some(at) = input.iter().position(|item| item["type"] == "reasoning") {
            assert_eq!(input[at], reasoning("rs_1"), "it comes back as it was");
            let ids = |kind: &str| -> HashSet<String> {
                input.iter().filter(|item| item["type"] == kind).map(|item| item["call_id"].to_string()).collect()
            };
            assert_eq!(ids("function_call"), ids("function_call_output"));
            json!([call("c", "finish", &json!({"answer": "yes"}))])
        } else {
            json!([
                reasoning("rs_1"),
                call("a", "search", &json!({"query": "Vienna Waltz"})),
                call("b", "search", &json!("no object"))
            ])
        };
        server::json(stream, &response(&output));
    })
}

#[test]
fn the_reasoning_before_calls_comes_back_and_tapes_and_caches_have_it() {
    let (server, dir) = (server(), WorkDir::new());
    dir.write("d.csv", "question,answer\nIs it?,yes\n");
    let base = format!("{}/v1", server.url);
    let run = |out: &str, flags: &[&str]| {
        let usual = ["--model", "openai:m", "--base-url", &base, "--responses", "--protocol", "tools"];
        let rest = ["--option", "tools.parallel=on", "--concurrency", "1", "--out", out, "d.csv"];
        dir.run(&[&usual[..], &rest[..], flags].concat()).ok()
    };
    run("r", &["--record", "run.tape"]);
    let sent = server.requests();
    assert_eq!(sent.len(), 2);
    for request in &sent {
        assert!(request.starts_with("POST /v1/responses "), "{request}");
        for part in [r#""store":false"#, r#""include":["reasoning.encrypted_content"]"#, r#""strict":false"#] {
            assert!(request.contains(part), "{part}: {request}");
        }
    }
    let record = &dir.records("r")[0];
    assert_eq!((&record["outcome"], &record["answer"]), (&json!("finished"), &json!("yes")));
    assert_eq!(record["usage"], json!({"prompt_tokens": 20, "completion_tokens": 10, "reasoning_tokens": 6}));
    let first = &record["steps"][0]["calls"][0];
    assert_eq!((&first["reasoning"], &first["verbatim"]["endpoint"]), (&json!("I look it up."), &json!("responses")));
    assert_eq!(record["steps"].as_array().map(Vec::len), Some(3), "two calls of one reply are two steps: {record}");
    assert_eq!(dir.manifest("r")["variants"][0]["endpoint"], "responses");

    // The dialogue again, from the record alone.
    let replayed = dir.wikitrail(&["replay", "r"]).ok();
    assert!(replayed.stdout.contains("1 of 1"), "{}", replayed.stdout);
    // From the recording, and from a cache the second time.
    run("again", &["--replay", "run.tape"]);
    assert_eq!(server.requests().len(), 2);
    for (out, requests) in [("cached", 4), ("cached-2", 4)] {
        run(out, &["--cache", "cache"]);
        assert_eq!(server.requests().len(), requests);
    }
    for out in ["again", "cached-2"] {
        let records = dir.records(out);
        assert_eq!((&records[0]["answer"], calls(&records)), (&json!("yes"), 2), "{out}");
        assert_eq!(records[0]["steps"][0]["calls"][0]["verbatim"], first["verbatim"]);
    }
    let id = record["id"].as_str().expect("an id");
    let shown = dir.wikitrail(&["show", "r", id]).ok();
    assert!(
        shown.stdout.contains("tokens (6 of reasoning)") && !shown.stdout.contains("gAAAA-secret"),
        "{}",
        shown.stdout
    );
}

#[test]
fn a_model_that_encrypts_nothing_and_has_no_seed_works_and_a_note_says_so() {
    let server = Server::start(|_, request, stream| {
        if request.contains("\"include\"") {
            let error = json!({"error": {"message": "Encrypted content is not supported with this model.", "param": "include"}});
            return server::refuse(stream, &error);
        }
        server::json(stream, &response(&json!([call("c", "finish", &json!({"answer": "yes"}))])));
    });
    let dir = WorkDir::new();
    dir.write("d.csv", "question,answer\nIs it?,yes\nWas it?,yes\n");
    let base = format!("{}/v1", server.url);
    let usual = ["--model", "openai:m", "--base-url", &base, "--responses", "--protocol", "tools", "--seed", "7"];
    let ran = dir.run(&[&usual[..], &["--concurrency", "1", "--out", "r", "d.csv"]].concat()).ok();
    assert_eq!(server.requests().len(), 3, "the refusal is learned once");
    assert_eq!(ran.stderr.matches("does not take seed: requests are sent without it").count(), 1, "{}", ran.stderr);
    assert_eq!(dir.manifest("r")["variants"][0]["not_sent"], json!(["seed"]));
    assert!(!ran.stderr.contains("stop"), "{}", ran.stderr);
}
