//! Servers that fail for a reason that lasts: a run notices at once, says what to do, and can be gone on with.

use crate::common::server::{self, Server};
use crate::common::{Ran, WorkDir, unwrapped};
use serde_json::json;
use std::net::TcpStream;

/// Rejects the key.
fn refuse(stream: &mut TcpStream) {
    server::answer(stream, "401 X", &json!({"error": {"message": "no"}}));
}

fn completion(stream: &mut TcpStream, text: &str) {
    server::json(stream, &json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}));
}

/// 2,000 questions, and a run over them that leaves nothing to chance in how fast it is.
fn bench() -> WorkDir {
    let dir = WorkDir::new();
    let rows = (0..2_000).map(|n| format!("Is it {n}?,yes\n")).collect::<Vec<_>>().concat();
    dir.write("d.csv", format!("question,answer\n{rows}"));
    dir
}

#[track_caller]
fn assert_given_up(ran: &Ran, words: &[&str]) {
    ran.refused(4, &[words, &["stopped: "]].concat());
    // `next:` names it where a summary is printed.
    assert!(ran.stderr.contains("resume: wikitrail run") || ran.stdout.contains(" --resume"), "{}", ran.stdout);
    assert_eq!(ran.stderr.matches("hint: ").count() + ran.stdout.matches("hint: ").count(), 1, "{}", ran.stderr);
}

/// A server of plain HTTP gets one request for each thing that is asked, and the hint is the address that works.
#[test]
fn https_to_a_plain_server_is_tried_once() {
    let server = Server::start(|_, _, stream| completion(stream, "yes"));
    let dir = WorkDir::new();
    let base = format!("{}/v1", server.url.replace("http://", "https://"));
    let checked = dir.wikitrail(&["models", "check", "--base-url", &base, "--model", "openai:m"]);
    checked.refused(4, &["write http:// in the URL if the server speaks plain HTTP"]);
    assert!(!checked.stderr.contains("attempts"), "{}", checked.stderr);
    dir.write("d.csv", "question,answer\nIs it?,yes\n");
    let ran = dir.run(&["d.csv", "--base-url", &base, "--model", "openai:m"]);
    let hint = format!("write --base-url {}/v1 if the server speaks plain HTTP", server.url);
    assert!(unwrapped(&ran.stdout).contains(&hint) || ran.stderr.contains(&hint), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn several_dead_models_count_together() {
    let server = Server::start(|_, _, stream| refuse(stream));
    let dir = bench();
    dir.write(
        "e.toml",
        format!(
            "name = \"e\"\ndataset = \"d.csv\"\n[settings]\nbase_url = \"{}/v1\"\n[matrix]\nmodel = {:?}\n",
            server.url,
            (0..6).map(|n| format!("openai:m{n}")).collect::<Vec<_>>()
        ),
    );
    let ran = dir.run(&["e.toml", "--out", "e", "--quiet", "--concurrency", "100"]);
    assert_given_up(&ran, &["requests failed, and none was answered", "experiment file"]);
    assert!(server.requests().len() <= 20 + 6, "{}", server.requests().len());
}

/// All that is in flight stops, too.
#[test]
fn a_key_that_dies_later_stops_the_run() {
    let server = Server::start(move |number, _, stream| {
        if number >= 40 {
            return refuse(stream);
        }
        completion(stream, "Thought: x\nAction: Finish[yes]");
    });
    let base = format!("{}/v1", server.url);
    let flags =
        ["--model", "openai:m", "--base-url", &base, "--quiet", "--limit", "200", "--concurrency", "4", "d.csv"];
    let ran = bench().run(&flags);
    assert_given_up(&ran, &["in a row failed for the same reason"]);
    assert!((50..70).contains(&server.requests().len()), "{}", server.requests().len());
}
