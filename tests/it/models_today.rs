//! How long the models of today take; `transcripts/servers.txt` has what they answer.

use crate::common::WorkDir;
use crate::common::server::{self, Server};
use serde_json::{Value, json};
use std::net::TcpStream;

fn folder(questions: usize) -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..questions).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

fn say(stream: &mut TcpStream, message: &Value, reason: &str) {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5});
    server::json(stream, &json!({"choices": [{"message": message, "finish_reason": reason}], "usage": usage}));
}

fn flags<'a>(base: &'a str, out: &'a str) -> Vec<&'a str> {
    vec!["--model", "openai:m", "--base-url", base, "--out", out, "--concurrency", "1", "d.csv"]
}

#[test]
fn a_method_without_a_protocol_names_none_and_slow_variants_have_their_own_times() {
    let server = Server::start(|_, request, stream| {
        if request.contains("Action") {
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        say(stream, &json!({"content": "Thought: x\nAction: Finish[yes]\nAnswer: yes"}), "stop");
    });
    let (dir, base) = (folder(2), format!("{}/v1", server.url));
    let ran = dir.run(&[&flags(&base, "s")[..], &["--method", "standard"]].concat()).ok();
    assert!(ran.stderr.contains("of d.csv, standard with openai:m"), "{}", ran.stderr);
    dir.run(&[&flags(&base, "b")[..], &["--method", "standard,react"]].concat()).ok();
    let ran = dir.wikitrail(&["score", "b"]).ok();
    let rows: Vec<&str> = ran.stdout.lines().skip_while(|line| !line.contains("tokens out")).collect();
    let time = |name: &str| {
        let row = rows.iter().find(|row| row.trim().starts_with(name)).expect("a row");
        row.split("  ").last().map(str::trim).map(str::to_owned)
    };
    assert_ne!(time("standard"), time("react"), "{}", ran.stdout);
    assert!(ran.stdout.contains("time: mean per episode; the run took "), "{}", ran.stdout);
    let compared = dir.wikitrail(&["compare", "b"]).ok().stdout;
    let differing = compared.split("EM of").next().expect("a head");
    assert!(differing.contains("method") && !differing.contains("protocol"), "{compared}");
}
