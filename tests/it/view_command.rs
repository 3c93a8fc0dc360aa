//! `view`: runs in a browser, for this machine alone.

use crate::common::{WorkDir, sha256_hex};
use crate::serve_support::Served;
use serde_json::{Value, json};
use std::fs::File;
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
    let begun = dir.manifest("results/later")["started_at"].as_str().expect("a time")[..16].replace('T', " ");
    assert!(served.get(&path).body.contains(&format!(">{begun}</td>")), "the time of day");
    dir.run(&["datasets/sample-claims.jsonl", "--limit", "2", "--out", "results/claims"]);
    let list = served.get(&path).body;
    let groups: Vec<&str> = list.split("<tr class=\"group\">").skip(1).collect();
    assert_eq!(groups.len(), 2);
    for group in groups {
        let label = if group.starts_with("<th scope=\"rowgroup\">sample-claims<") { ">accuracy<" } else { ">EM<" };
        assert!(group.contains(label), "{group}");
    }
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
    let page = served.get(&format!("{path}run/results%2Fa"));
    let resume = "at 1 of 3 episodes; resume with: <code id=\"resume\">wikitrail run --out results/a --resume</code>";
    assert!(page.body.contains(resume), "{}", page.body);
    assert!(served.get(&path).body.contains("1 of 3, stopped"));
    let lock = File::options().write(true).open(dir.path("results/a/.lock")).expect("opened");
    lock.lock().expect("free");
    for page in [served.get(&format!("{path}run/results%2Fa")), served.get(&path)] {
        assert!(!page.body.contains("--resume"), "a run that is going is not resumed: {}", page.body);
    }
    assert!(served.get(&path).body.contains("1 of 3, running"));

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
    assert_eq!((&one["done"], &one["total"], &one["going"]), (&json!(1), &json!(3), &json!(true)));
    assert!(one["age"].is_u64() && one["failed"] == 0, "{one}");
    let mut file = File::options().append(true).open(&records).expect("there");
    file.write_all(rest.as_bytes()).expect("appended");
    let all = next();
    assert_eq!((&all["done"], all["newest"].as_array().map(Vec::len)), (&json!(3), Some(3)));
    assert_ne!(one["version"], all["version"]);
    lock.unlock().expect("held");
    assert_eq!(next()["going"], false);
}

#[test]
fn an_address_stays_valid_for_its_owner() {
    let dir = WorkDir::new();
    dir.run(&["--limit", "2", "--out", "results/a"]);
    let (served, path) = view(&dir, &[]);
    let port = served.host().rsplit(':').next().expect("a port").to_owned();
    drop(served);
    let serve =
        || Served::with(dir.command(&["view", "results", "--port", &port]).env("XDG_STATE_HOME", dir.path("state")));
    let url = serve().url.clone();
    assert!(!url.ends_with(&path), "the word of a port that was not chosen is not kept");
    let served = serve();
    assert_eq!(served.url, url);
    let file = dir.path(&format!("state/wikitrail/view/{port}"));
    let word = std::fs::read_to_string(&file).expect("kept");
    assert!(url.ends_with(&format!("/{}/", word.trim())));
    // Who knows the word gets a proof that its own server does.
    let proof = sha256_hex(format!("{}nonce", word.trim()).as_bytes());
    assert_eq!(served.get("/proof/nonce").body.trim(), proof);
    let unknown = served.get("/0123/run/results%2Fa");
    assert_eq!(unknown.status, 404);
    assert!(
        unknown.body.contains("This address is not valid") && !unknown.body.contains("results/a"),
        "{}",
        unknown.body
    );
    drop(served);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(file.metadata().expect("there").permissions().mode() & 0o777, 0o600);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("changed");
        assert_ne!(serve().url, url, "others may have read it");
    }
}

#[test]
fn two_variants_are_compared_on_one_page_and_nothing_else_is_read() {
    let dir = WorkDir::new();
    dir.run(&["--method", "react,cot,act", "--limit", "4", "--out", "results/a"]);
    dir.run(&["--limit", "4", "--out", "elsewhere/b"]);
    let (served, path) = view(&dir, &[]);
    let compare = |names: &str| served.get(&format!("{path}compare/{names}"));
    let page = compare("results%2Fa%40react%0Aresults%2Fa%40act");
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("2 variants, 4 questions"), "{}", page.body);
    for absent in ["results%2Fa%40none", "elsewhere%2Fb", "results%2Fa%0A..%2Felsewhere%2Fb", ""] {
        assert_eq!(compare(absent).status, 404, "{absent}");
    }
    assert_eq!(compare(&["results%2Fa"; 31].join("%0A")).status, 400);
}
