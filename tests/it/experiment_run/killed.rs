//! An experiment that is killed in the middle, twice, and gone on with: nothing is lost, nothing is paid twice, and
//! whoever compares its variants cannot tell.

use super::counts;
use crate::common::server::{self, Server};
use crate::common::{WorkDir, killed};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const TWO_BY_TWO: &str = r#"
name = "killed"
dataset = "datasets/sample.jsonl"
baseline = "no/react"
[settings]
protocol = "react-paper"
base_url = "URL/v1"
[matrix]
model = [{ name = "yes", model = "openai:yes" }, { name = "no", model = "openai:no" }]
method = ["react", "cot"]
"#;
const EPISODES: usize = 4 * 60;

/// A server that leaves every request after so many without an answer: a run that has to ask more does not end before
/// it is killed, however slow this machine is.
fn limited() -> (Server, Arc<AtomicUsize>) {
    let allowed = Arc::new(AtomicUsize::new(usize::MAX));
    let limit = Arc::clone(&allowed);
    let mut held = Vec::new();
    let server = Server::start(move |number, request, stream| {
        if number < limit.load(SeqCst) {
            answer(request, stream);
        } else {
            held.push(stream.try_clone());
        }
    });
    (server, allowed)
}

/// Name of the model, and the end of the prompt from its question on.
fn model_and_question(request: &str) -> (String, String) {
    let body = request.split_once("\r\n\r\n").expect("a head ends").1;
    let asked: Value = serde_json::from_str(body).expect("JSON");
    let prompt = asked["messages"][0]["content"].as_str().expect("one message");
    let (_, question) = prompt.rsplit_once("\nQuestion: ").expect("a question");
    (asked["model"].as_str().expect("a name").to_owned(), question.to_owned())
}

/// Variant and question of the episode that a request is of.
fn episode(request: &str) -> (String, String) {
    let (model, question) = model_and_question(request);
    let (question, rest) = question.split_once('\n').expect("more lines");
    let method = if rest.starts_with("Thought 1:") { "react" } else { "cot" };
    (format!("{model}/{method}"), question.to_owned())
}

/// Looks once where it may, and then answers what it is called.
fn answer(request: &str, stream: &mut TcpStream) {
    let (model, prompt) = model_and_question(request);
    let text = match prompt.lines().next_back() {
        Some("Thought 1:") => " I look.\nAction 1: Search[Hafnium]".to_owned(),
        Some("Thought 2:") => format!(" I know.\nAction 2: Finish[{model}]"),
        _ => format!(" I know.\nAnswer: {model}"),
    };
    let usage = json!({"prompt_tokens": prompt.len(), "completion_tokens": text.len()});
    let choice = json!({"message": {"content": text}, "finish_reason": "stop"});
    server::json(stream, &json!({"choices": [choice], "usage": usage}));
}

/// What is said of two columns and more, without times.
fn compared(bench: &WorkDir, format: &str) -> String {
    let metrics = "em,f1,steps,calls,searches,prompt_tokens";
    let flags = ["--metric", metrics, "--by", "type,level", "--flips", "--mde", "--format", format];
    let ran = bench.wikitrail(&[&["compare", "o"], &flags[..]].concat()).ok();
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn an_experiment_that_was_killed_twice_compares_like_one_that_was_not() {
    let (server, allowed) = limited();
    let [bench, undisturbed] = [WorkDir::new(), WorkDir::new()];
    for bench in [&bench, &undisturbed] {
        bench.write("killed.toml", TWO_BY_TWO.replace("URL", &server.url));
    }
    let (file, said) = (bench.path("o/trajectories.jsonl"), bench.path("said"));
    let plan = |kept: usize| format!("plan: keep {kept}, redo 0, new {};", EPISODES - kept);
    let (mut kept, mut kills) = (0, Vec::new());
    for flags in [&[][..], &["--resume"]] {
        allowed.store(server.requests().len() + 100, SeqCst);
        let mut command = bench.command(&[&["run", "killed.toml", "--out", "o", "--concurrency", "4"], flags].concat());
        let stderr = std::fs::File::create(&said).expect("a file");
        let now = killed(command.stderr(stderr), &bench.path("o"), kept + 20);
        let said = bench.read("said");
        assert!(said.contains(&plan(kept)), "{said}");
        kept = now;
        assert!(kept < EPISODES, "the server was silent");
        kills.push((server.requests().len(), kept));
    }
    // A machine that goes down leaves half a line; a program that is killed writes lines whole.
    let before = std::fs::read(&file).expect("trajectories");
    std::fs::write(&file, [&before[..], b"{\"v\":1,\"id\":\"sam"].concat()).expect("written");
    allowed.store(usize::MAX, SeqCst);
    let output = bench.run(&["killed.toml", "--out", "o", "--resume", "--quiet"]).ok();
    assert!(output.stderr.contains(&plan(kept)), "{}", output.stderr);
    assert!(std::fs::read(&file).expect("trajectories").starts_with(&before), "what was there was touched");

    let records = bench.records("o");
    assert!(counts(&records).values().all(|count| *count == 60) && records.len() == EPISODES);
    let text = |record: &Value, field: &str| record[field].as_str().expect("text").to_owned();
    let episodes = |records: &[Value]| -> HashSet<(String, String)> {
        records.iter().map(|record| (text(record, "variant"), text(record, "question"))).collect()
    };
    assert_eq!(episodes(&records).len(), EPISODES, "an episode was run twice");
    for (requests, kept) in kills {
        let (finished, later) = (episodes(&records[..kept]), &server.requests()[requests..]);
        assert!(!later.iter().any(|request| finished.contains(&episode(request))), "what was there was paid again");
        assert!(later.iter().any(|request| !finished.contains(&episode(request))));
    }

    undisturbed.run_json(&["killed.toml", "--out", "o"]);
    for format in ["json", "table", "csv"] {
        assert_eq!(compared(&bench, format), compared(&undisturbed, format));
    }
}
