//! `dataset info`, `convert`, `split` and `fetch`: what they print, write and refuse.

use crate::common::server::Server;
use crate::common::{self, Ran, wikitrail};
use serde_json::json;
use std::io::Write as _;
use std::path::Path;
use wikitrail::score::{ReadOptions, load_file};

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn convert_writes_what_the_readers_read() {
    let shared = common::shared();
    let dir = tempfile::tempdir().expect("a folder");
    for file in [
        "hotpot_dev_distractor_v1.partial.json",
        "fever_paper_dev.jsonl",
        "2wiki_dev.migres200.json",
        "musique_full.cas20.json",
        "hotpot_test_v1_simplified.json",
        "strategyqa_dev.json",
        "bamboogle.json",
        "nq_open_dev.jsonl",
        "triviaqa_sample.clivia.json",
        "popqa_test.corver.json",
        "webquestions_test.json",
        "simpleqa.corver.json",
        "frames.json",
    ] {
        let path = shared.join("data/datasets").join(file);
        let out = dir.path().join("out.jsonl");
        let path_text = path.to_str().expect("UTF-8");
        let output = wikitrail(dir.path(), &["dataset", "convert", path_text, "--out", "out.jsonl"]);
        assert_eq!(output.ok().stdout, "", "{file}");
        let load = |path: &Path| load_file(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let (before, after) = (load(&path), load(&out));
        assert_eq!((after.format.name(), after.questions.len()), ("jsonl", before.questions.len()), "{file}");
        for (before, after) in before.questions.iter().zip(&after.questions) {
            assert_eq!(after, before, "{file}");
        }
        assert_eq!(names(dir.path()), ["out.jsonl"]);
    }
}

/// A site with one file, which it serves with this status and type; it cuts its first answers in the middle.
fn site(status: &'static str, kind: &'static str, body: &[u8], cuts: usize) -> Server {
    let body = body.to_vec();
    Server::start(move |number, request, stream| {
        let range =
            request.lines().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok());
        let start: usize = range.unwrap_or(0).min(body.len());
        let status = if range.is_some() && status.starts_with("200") { "206 Partial Content" } else { status };
        let (length, total) = (body.len() - start, body.len());
        let end = if number < cuts { start + length / 2 } else { total };
        // The test is over when the client hangs up; there is nobody to tell.
        let _ = write!(
            stream,
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nETag: \"v1\"\r\n\
             Connection: close\r\nContent-Range: bytes {start}-{}/{total}\r\n\r\n",
            total.saturating_sub(1)
        )
        .and_then(|()| stream.write_all(&body[start..end]));
    })
}

fn file(body: &[u8], cuts: usize) -> Server {
    site("200 OK", "application/octet-stream", body, cuts)
}

fn fetch(folder: &Path, site: &Server, name: &str) -> Ran {
    wikitrail(folder, &["dataset", "fetch", name, "--out", "data", "--base-url", &site.url, "--json"])
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn fetch_goes_on_after_cuts_within_a_command_and_between_two() {
    let body = common::shared::bytes("data/datasets/nq_open_dev.jsonl");
    let dir = tempfile::tempdir().expect("a folder");
    let site = file(&body, 1);
    let fetched = fetch(dir.path(), &site, "nq-open").json();
    let half = body.len() / 2;
    let requests = site.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("GET /NQ-open.dev.jsonl "), "{}", requests[0]);
    assert!(requests[1].contains(&format!("range: bytes={half}-\r\n")), "{}", requests[1]);
    assert!(requests[1].contains("if-range: \"v1\"\r\n"), "{}", requests[1]);
    assert_eq!((&fetched["bytes"], &fetched["checked"]), (&json!(body.len()), &json!(true)));
    assert_eq!(fetched["licence"], "CC BY-SA 3.0");
    assert_eq!(std::fs::read(dir.path().join("data/nq_open_dev.jsonl")).expect("there"), body);
    assert_eq!(names(&dir.path().join("data")), ["nq_open_dev.jsonl"]);
    // What is there and right is not fetched again.
    fetch(dir.path(), &site, "nq-open").json();
    assert_eq!(site.requests().len(), 2);
    // An earlier command left the first part.
    let other = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(other.path().join("data")).expect("a folder");
    std::fs::write(other.path().join("data/nq_open_dev.jsonl.part"), &body[..1000]).expect("written");
    let fetched = fetch(other.path(), &site, "nq-open").json();
    assert_eq!(fetched["resumed_from"], 1000);
    assert!(site.requests()[2].contains("range: bytes=1000-\r\n"));
    assert_eq!(names(&other.path().join("data")), ["nq_open_dev.jsonl"]);
}
