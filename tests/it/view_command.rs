//! `view`: runs in a browser, for this machine alone.

use crate::common::WorkDir;
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;

/// A server of the runs in `results`, and the path that its addresses begin with.
fn view(dir: &WorkDir, flags: &[&str]) -> (Served, String) {
    let served = Served::of(dir.root(), &[&["view", "results"], flags].concat());
    let path = served.url.splitn(4, '/').nth(3).expect("a path").to_owned();
    (served, format!("/{path}"))
}

#[test]
fn runs_are_listed_and_shown() {
    let dir = WorkDir::new();
    dir.run(&["--method", "react,cot", "--limit", "4", "--out", "results/a run"]);
    let (served, path) = view(&dir, &[]);
    let list = served.get(&path);
    assert_eq!(list.status, 200, "{}", list.body);
    let link = list.body.split("href=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a link");
    let page = served.get(&format!("{path}{link}"));
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("results/a run") && page.body.contains("connect-src &#39;self&#39;"));
    assert!(page.body.contains("\"token\":\"\""), "nothing is written without --annotate");
    assert!(page.head.contains("no-store") && page.head.contains("frame-ancestors 'none'"), "{}", page.head);
    // A run that begins later is there too.
    dir.run(&["--limit", "2", "--out", "results/later"]);
    assert!(served.get(&path).body.contains("results/later"));
    for absent in ["run/nothing", "run/results%2F..%2F..", "run/%2Fetc", "other"] {
        assert_eq!(served.get(&format!("{path}{absent}")).status, 404, "{absent}");
    }
}

#[test]
fn only_whoever_knows_the_address_is_answered() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "2", "--out", "results/a"]);
    let (served, path) = view(&dir, &["--annotate"]);
    assert_eq!(served.get("/").status, 404);
    assert_eq!(served.get("/run/results%2Fa").status, 404);
    assert_eq!(served.get(&format!("/{}/", "0".repeat(32))).status, 404);
    let rebound = format!("GET {path} HTTP/1.1\r\nHost: evil.example.org\r\nConnection: close\r\n\r\n");
    assert_eq!(served.raw(rebound.as_bytes()).status, 403);
    let foreign = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nOrigin: https://evil.example.org\r\nConnection: close\r\n\r\n",
        served.host()
    );
    assert_eq!(served.raw(foreign.as_bytes()).status, 403);
}

/// A judgement of the first episode, as the page sends it.
fn judgement(dir: &WorkDir) -> Value {
    let record = &dir.records("results/a")[0];
    json!({"v": 1, "key": record["key"], "id": record["id"], "variant": "main", "repeat": 0, "by": "ada",
        "at": "2026-11-22T20:00:00Z", "correct": true, "class": null, "step": null, "note": null, "blind": false,
        "page_sha256": null})
}

#[test]
fn judgements_are_written_only_where_that_was_asked_for() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "2", "--out", "results/a"]);
    let body = judgement(&dir).to_string();
    let send = |served: &Served, path: &str, token: &str, body: &str| {
        served.raw(
            format!(
                "POST {path}run/results%2Fa/annotations HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\nX-Wikitrail-Token: {token}\r\nContent-Length: {}\r\n\r\n{body}",
                served.host(),
                body.len()
            )
            .as_bytes(),
        )
    };
    let file = dir.path("results/a/annotations.jsonl");
    {
        let (served, path) = view(&dir, &[]);
        assert_eq!(send(&served, &path, path.trim_matches('/'), &body).status, 403);
    }
    let (served, path) = view(&dir, &["--annotate"]);
    let token = path.trim_matches('/').to_owned();
    assert_eq!(send(&served, &path, "wrong", &body).status, 403);
    let mut foreign = judgement(&dir);
    foreign["key"] = json!("0".repeat(64));
    assert_eq!(send(&served, &path, &token, &foreign.to_string()).status, 400);
    assert_eq!(send(&served, &path, &token, "{}").status, 400);
    assert!(!file.exists());
    assert_eq!(send(&served, &path, &token, &body).status, 200);
    let written: Value = serde_json::from_str(dir.read("results/a/annotations.jsonl").trim()).expect("a line");
    assert_eq!(written["by"], "ada");
}

#[test]
fn a_run_that_is_going_is_followed() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "3", "--out", "results/a"]);
    let records = dir.path("results/a/trajectories.jsonl");
    let text = std::fs::read_to_string(&records).expect("records");
    let (first, rest) = text.split_at(text.find('\n').expect("a line") + 1);
    std::fs::write(&records, first).expect("written");
    let (served, path) = view(&dir, &[]);
    let mut stream = TcpStream::connect(served.host()).expect("it listens");
    let request = format!("GET {path}run/results%2Fa/events HTTP/1.1\r\nHost: {}\r\n\r\n", served.host());
    stream.write_all(request.as_bytes()).expect("sent");
    let mut lines = BufReader::new(stream).lines();
    let mut next = || loop {
        let line = lines.next().expect("more").expect("readable");
        if let Some(message) = line.strip_prefix("data: ") {
            return serde_json::from_str::<Value>(message).expect("JSON");
        }
    };
    let one = next();
    assert_eq!((&one["done"], &one["total"], &one["changed"]), (&json!(1), &json!(3), &json!(false)));
    let mut file = std::fs::File::options().append(true).open(&records).expect("there");
    file.write_all(rest.as_bytes()).expect("appended");
    let all = next();
    assert_eq!((&all["done"], &all["changed"]), (&json!(3), &json!(true)));
    assert_eq!(all["newest"].as_array().expect("episodes").len(), 3);
}
