//! How answers end: a server's failure is no answer, a model's failure is no missing value, and what is odd is told.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, repository, unwrapped};
use serde_json::{Value, json};
use wikitrail::run::FinishReason;

fn folder(questions: usize) -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..questions).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

/// A server of chat completions that answers each request by its number.
fn chat(body: impl Fn(usize) -> Value + Send + 'static) -> Server {
    Server::start(move |n, _, stream| server::json(stream, &body(n)))
}

fn chat_answer(text: &str, reason: &str) -> Value {
    json!({"choices": [{"message": {"content": text}, "finish_reason": reason}], "usage": {"prompt_tokens": 9, "completion_tokens": 5}})
}

fn run(dir: &WorkDir, base: &str, flags: &[&str]) -> Ran {
    let base = format!("{base}/v1");
    let known = ["--model", "openai:m", "--base-url", &base, "--out", "r", "--concurrency", "1", "d.csv"];
    dir.run(&[&known, flags].concat())
}

fn outcomes(dir: &WorkDir) -> Vec<String> {
    let text = |record: Value| record["outcome"].as_str().expect("text").to_owned();
    dir.records("r").into_iter().map(text).collect()
}

const ANSWER: &str = "Thought 1: x\nAction 1: Finish[yes]";

#[test]
fn the_documented_table_is_that_of_the_code() {
    let page = repository("docs/models.md");
    let table = FinishReason::table();
    assert!(page.contains(&table), "docs/models.md lacks this table:\n{table}");
}

#[test]
fn a_failure_of_the_server_is_no_answer() {
    let choice_error = json!({"choices": [{"finish_reason": "error", "message": {"content": ""},
        "error": {"code": 502, "message": "Provider disconnected"}}]});
    let cases = [
        (choice_error, "Provider disconnected"),
        (chat_answer("", "insufficient_system_resource"), "`insufficient_system_resource`"),
        (chat_answer("Thought 1: I", "abort"), "`abort`"),
        (chat_answer("", "network_error"), "`network_error`"),
        (chat_answer(ANSWER, "error"), "`error`"),
    ];
    for (body, told) in cases {
        let server = chat(move |_| body.clone());
        let dir = folder(1);
        let ran = run(&dir, &server.url, &["--model-attempts", "2"]);
        assert_eq!((ran.code, outcomes(&dir), server.requests().len()), (Some(4), vec!["not_measured".to_owned()], 2));
        assert!(ran.stdout.contains(told), "{}", ran.stdout);
        assert_eq!(dir.records("r")[0]["failure"]["cause"], "server_error");
    }
    // Every second request: nothing is lost, and nothing is wrong.
    let server = chat(|n| if n.is_multiple_of(2) { chat_answer("", "error") } else { chat_answer(ANSWER, "stop") });
    let dir = folder(3);
    run(&dir, &server.url, &[]).ok();
    assert_eq!(outcomes(&dir), ["finished"; 3]);
}

#[test]
fn an_empty_answer_for_an_unknown_reason_is_no_answer_and_a_text_is_one() {
    let server = chat(|n| if n < 2 { chat_answer("", "x\u{1b}yz") } else { chat_answer(ANSWER, "x\u{1b}yz") });
    let dir = folder(3);
    let ran = run(&dir, &server.url, &[]);
    assert_eq!(ran.code, Some(4), "{}", ran.stdout);
    assert_eq!(
        (outcomes(&dir), server.requests().len()),
        (["not_measured", "finished", "finished"].map(str::to_owned).to_vec(), 4)
    );
    assert!(ran.stdout.contains("3 calls ended with `x\\u{1b}yz`, which is not known: "), "{}", ran.stdout);
    let first = &dir.records("r")[0];
    assert_eq!(first["failure"]["cause"], "unknown_reason");
    let call = &first["steps"][0]["calls"][0];
    assert_eq!((&call["cause"], &call["attempts"]), (&json!("unknown_reason"), &json!(2)), "{call}");
    let summary = dir.wikitrail(&["score", "r", "--json"]).json();
    let short = &summary["variants"][0]["shortfalls"];
    assert_eq!((&short["calls"], &short["unknown_reasons"]), (&json!(2), &json!({"x\\u{1b}yz": 3})));
    dir.wikitrail(&["replay", "r"]).ok();
    let server = chat(|_| chat_answer(ANSWER, "stop"));
    run(&dir, &server.url, &["--resume", "--confirm"]).ok();
    assert_eq!(server.requests().len(), 1, "only what was not measured");
    let unread = folder(1);
    let server = chat(|_| chat_answer("", "xyz"));
    let base = format!("{}/v1", server.url);
    let check = unread.wikitrail(&["models", "check", "--model", "openai:m", "--base-url", &base]);
    check.refused(4, &["ended with `xyz`, which is not known"]);
}

#[test]
fn a_call_that_the_provider_cannot_read_is_measured_and_recorded() {
    let wrote = r#"<function=search{"query": "Paris"}</function>"#;
    let finish = json!({"choices": [{"finish_reason": "tool_calls", "message": {"content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "finish", "arguments": "{\"answer\": \"yes\"}"}}]}}]});
    let failed = json!({"error": {"message": "Failed to call a function.", "type": "invalid_request_error",
        "code": "tool_use_failed", "failed_generation": wrote}});
    for flags in [&["--protocol", "tools"][..], &["--protocol", "tools", "--option", "answer=text"]] {
        let (failed, finish, answer) = (failed.clone(), finish.clone(), chat_answer("yes", "stop"));
        let server = Server::start(move |n, request, stream| {
            if n == 0 {
                return server::refuse(stream, &failed);
            }
            assert!(request.contains("<function=search"), "the model sees what it wrote: {request}");
            let calls = request.contains("\"name\":\"finish\"");
            server::json(stream, if calls { &finish } else { &answer });
        });
        let dir = folder(1);
        let ran = run(&dir, &server.url, &[flags, &["--shots", "0"]].concat()).ok();
        let record = &dir.records("r")[0];
        assert_eq!((&record["outcome"], &record["answer"]), (&json!("finished"), &json!("yes")), "{record}");
        let call = &record["steps"][0]["calls"][0];
        assert_eq!((&call["completion"], &call["cause"]), (&json!(wrote), &json!("malformed_call")));
        assert_eq!(record["repairs"], json!([{"step": 1, "kind": "malformed_arguments"}]));
        assert!(
            ran.stdout.contains("1 of 2 calls held a function call that the provider could not read"),
            "{}",
            ran.stdout
        );
        dir.wikitrail(&["replay", "r"]).ok();
    }
    // Always: wrong, and no reason to give up.
    let server = Server::start(move |_, _, stream| server::refuse(stream, &failed));
    let dir = folder(12);
    let ran = run(&dir, &server.url, &["--protocol", "tools", "--shots", "0"]).ok();
    assert_eq!(outcomes(&dir), vec!["step_limit"; 12], "{}", ran.stdout);
    let gemini = json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(default_api.search(query='x'))"}]});
    let server = Server::start(move |_, _, stream| server::json(stream, &gemini));
    let dir = folder(2);
    let model = ["--model", "gemini:g", "--base-url", &server.url, "--out", "r", "--protocol", "tools", "d.csv"];
    dir.run(&model).ok();
    let records = dir.records("r");
    assert!(records.iter().all(|record| record["outcome"] == "step_limit"), "{records:?}");
    assert_eq!(records[0]["steps"][0]["calls"][0]["completion"], "print(default_api.search(query='x'))");
}

#[test]
fn odd_answers_of_the_model_are_measured_and_told() {
    let mut thought = chat_answer("", "stop");
    thought["choices"][0]["message"]["reasoning_content"] = json!("hm");
    let mut full = chat_answer("Thought 1: I", "stop");
    full["usage"]["completion_tokens"] = json!(512);
    for (body, told, class) in [
        (chat_answer("", "stop"), "answered with an empty text: ", "format"),
        (thought, "answered with reasoning alone: ", "format"),
        (chat_answer("Thought 1: ", "pause_turn"), "paused by the provider before the answer ended: ", "format"),
        (full, "possibly cut: as many tokens as the limit, but no reason `length`: raise --max-tokens", "format"),
        (chat_answer("Thought 1: I", "model_length"), "did not fit into the model's context: ", "cut"),
    ] {
        let server = chat(move |_| body.clone());
        let dir = folder(1);
        let ran = run(&dir, &server.url, &["--max-tokens", "512"]).ok();
        let line = format!("{0} of {0} calls {told}", server.requests().len());
        assert!(unwrapped(&ran.stdout).contains(&line), "{line}: {}", ran.stdout);
        assert!(ran.stdout.contains(&format!("{class}, 1 of 1")), "{class}: {}", ran.stdout);
    }
}

#[test]
fn failures_in_records_of_earlier_versions_are_replayed_as_they_are_and_told() {
    let server = chat(|_| chat_answer("I do not know.", "stop"));
    let dir = folder(1);
    run(&dir, &server.url, &[]).ok();
    let records = dir.read("r/trajectories.jsonl").replace("\"finish_reason\":\"stop\"", "\"finish_reason\":\"abort\"");
    assert!(records.contains("abort"));
    dir.write("r/trajectories.jsonl", &records);
    let replayed = dir.wikitrail(&["replay", "r"]).ok();
    assert!(replayed.stdout.contains("1 of 1"), "{}", replayed.stdout);
    let scored = dir.wikitrail(&["score", "r"]).ok();
    assert!(scored.stdout.contains("ended by a failure of the server, and recorded as answers: "), "{}", scored.stdout);
    assert!(scored.stdout.contains("1 format"), "{}", scored.stdout);
}
