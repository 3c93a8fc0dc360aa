//! Runs over a retriever that somebody else runs.

use crate::common::server::{self, Server};
use crate::common::{WorkDir, without_times};
use serde_json::{Value, json};

/// A retriever with two passages about anything.
fn retriever() -> Server {
    Server::start(|_, _, stream| {
        let hit =
            |text: &str| json!({"document": {"id": "1", "contents": format!("\"Ada Byron\"\n{text}")}, "score": 1.0});
        server::json(stream, &json!({"result": [[hit("Ada Byron wrote programs."), hit("She lived in London.")]]}));
    })
}

/// The steps of all records, without when they were made.
fn steps(dir: &WorkDir, run: &str) -> Vec<Value> {
    dir.records(run).into_iter().map(|record| without_times(record)["steps"].take()).collect()
}

#[test]
fn a_run_over_a_retriever_is_planned_recorded_replayed_and_resumed() {
    let dir = WorkDir::new();
    let server = retriever();
    dir.write("q.jsonl", "{\"question\": \"Who was Ada Byron?\"}\n{\"question\": \"Where did Ada Byron live?\"}\n");
    let (label, wiki) =
        (format!("retriever:{}/retrieve?topk=5", server.url), format!("retriever:{}?topk=5", server.url));
    let run = |args: &[&str]| dir.run(&[&["q.jsonl", "--quiet", "--wiki"], args].concat());
    let planned = dir.run(&["q.jsonl", "--wiki", &wiki, "--dry-run"]).ok();
    assert!(planned.stderr.contains(&label), "{}", planned.stderr);
    assert!(server.requests().is_empty(), "nothing was asked yet");
    run(&[&wiki, "--limit", "1", "--record", "tape", "--out", "r"]).ok();
    let variant = &dir.manifest("r")["variants"][0];
    assert_eq!(
        (&variant["wiki"], &variant["wiki_origin"]),
        (&json!(label), &json!(format!("{}/retrieve", server.url)))
    );
    let first = steps(&dir, "r");
    assert_eq!(first[0][0]["observation"], "Ada Byron wrote programs. She lived in London.");
    assert_eq!(
        (&first[0][0]["provenance"]["source"], &first[0][0]["provenance"]["title"]),
        (&json!("retriever"), &json!("Ada Byron"))
    );
    assert!(server.requests().iter().all(|request| request.contains("\"topk\":5")));

    let asked = server.requests().len();
    run(&[&wiki, "--limit", "1", "--replay", "tape", "--out", "s"]).ok();
    assert_eq!((steps(&dir, "s"), server.requests().len()), (first, asked));
    // Another number of passages is another search.
    let missed = run(&[&format!("retriever:{}?topk=6", server.url), "--limit", "1", "--replay", "tape", "--out", "t"]);
    assert_eq!((missed.code, server.requests().len()), (Some(4), asked), "{}", missed.stderr);
    assert_eq!(dir.records("t")[0]["failure"]["cause"], "recording");

    // The recorded command line still names the number.
    dir.run(&["--resume", "--out", "r", "--limit", "2", "--quiet", "--confirm"]).ok();
    assert_eq!(dir.records("r").len(), 2);
    run(&[&format!("retriever:{}", server.url), "--limit", "2", "--out", "r", "--resume"]).refused(3, &["wiki"]);
    run(&["retriever:http://me:word@h/x?key=1", "--out", "u"])
        .refused(2, &["`http://h/x` is not the address of a retriever", "topk=N"]);
    run(&[&wiki, "--wiki-url", "http://h", "--out", "u"]).refused(2, &["--wiki-url is about a site"]);
}

#[test]
fn an_experiment_names_no_password_of_a_retriever() {
    let dir = WorkDir::new();
    let file =
        |wiki: &str| format!("name = \"x\"\ndataset = \"datasets/sample.jsonl\"\n[settings]\nwiki = \"{wiki}\"\n");
    dir.write("x.toml", file("retriever:http://me:word@127.0.0.1:9"));
    dir.run(&["x.toml", "--dry-run"]).refused(3, &["x.toml:4: `settings.wiki` has a user name or a query"]);
    dir.write("x.toml", file("retriever:http://127.0.0.1:9/retrieve?topk=9"));
    let planned = dir.run(&["x.toml", "--dry-run"]).ok();
    assert!(planned.stderr.contains("retriever:http://127.0.0.1:9/retrieve?topk=9"), "{}", planned.stderr);
}
