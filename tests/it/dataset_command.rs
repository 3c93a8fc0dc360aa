//! `dataset info`, `convert` and `fetch`: what they print, write and refuse.

use crate::common;
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};
use wikitrail::dataset::{self, ReadOptions};

fn wikitrail(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wikitrail")).args(args).current_dir(folder).output().expect("wikitrail runs")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn json_of(output: &Output) -> Value {
    assert!(output.status.success(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[track_caller]
fn assert_refused(output: &Output, code: i32, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    for word in [words, &["hint: "]].concat() {
        assert!(text.contains(word), "`{word}` is missing in:\n{text}");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().expect("a name")).collect();
    names.sort();
    names
}

const HOTPOT: &str = r#"[
 {"_id": "a", "question": "Who wrote Solaris?", "answer": "Lem", "type": "bridge", "level": "hard",
  "supporting_facts": [["Solaris", 0], ["Solaris", 2], ["Lem", 0]], "context": [["Solaris", ["One.", " Two."]]]},
 {"_id": "b", "question": "who wrote SOLARIS", "answer": "yes", "type": "bridge", "level": "easy",
  "supporting_facts": [], "context": []},
 {"_id": "c", "question": "What is hidden?", "type": "comparison", "supporting_facts": [["X", 0]], "context": []}]"#;

#[test]
fn info_counts_what_a_file_holds() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("h.json"), HOTPOT).expect("written");
    let info = json_of(&wikitrail(dir.path(), &["dataset", "info", "h.json", "--json"]));
    for (name, expected) in [
        ("format", json!("hotpotqa")),
        ("questions", json!(3)),
        ("types", json!({"bridge": 2, "comparison": 1})),
        ("levels", json!({"(none)": 1, "easy": 1, "hard": 1})),
        ("answer_kinds", json!({"span": 2, "yesno": 1})),
        ("hidden_answers", json!(1)),
        (
            "supporting_facts",
            json!({"questions": 2, "total": 4, "resolved": 1, "title_missing": 1, "sentence_missing": 1, "no_context": 1}),
        ),
        ("duplicates", json!({"questions": 1, "twins": 0, "groups": [["a", "b"]]})),
    ] {
        assert_eq!(info[name], expected, "{name}");
    }
    let prompts: Vec<&str> = info["leakage"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|leak| leak["prompt"].as_str().expect("a name"))
        .collect();
    assert_eq!(prompts, ["prompts/hotpotqa.toml", "prompts/fever.toml", "prompts/hotpotqa-zh.toml"]);
    let text = String::from_utf8(wikitrail(dir.path(), &["dataset", "info", "h.json"]).stdout).expect("text");
    for line in [
        "h.json: 3 questions of hotpotqa (hotpotqa)",
        "  types              bridge 2, comparison 1",
        "  duplicates         1\n    a = b",
        "4 in 2 questions; 1 resolved, 1 with a title that is not in the context, 1 past the paragraph's end, 1 without a context",
    ] {
        assert!(text.contains(line), "`{line}` is missing in:\n{text}");
    }
}

#[test]
fn a_public_file_that_is_not_there_is_said_to_be_fetched() {
    let dir = tempfile::tempdir().expect("a folder");
    for command in [&["dataset", "info"][..], &["dataset", "convert"], &["run"]] {
        let output = wikitrail(dir.path(), &[command, &["hotpot_dev_distractor_v1.json"]].concat());
        assert_refused(&output, 3, &["no such file", "fetch it: wikitrail dataset fetch hotpotqa-distractor --out ."]);
    }
}

#[test]
fn info_finds_exemplars_of_a_prompt_in_the_dataset() {
    let dir = tempfile::tempdir().expect("a folder");
    let questions = [
        ("x", "Which river flows through the city that Dr Who was born in?"),
        ("y", "who wrote solaris"),
        ("z", "In which country is the mountain that the poet climbed?"),
    ];
    let lines: Vec<String> =
        questions.iter().map(|(id, text)| json!({"id": id, "question": text}).to_string()).collect();
    std::fs::write(dir.path().join("q.jsonl"), lines.join("\n")).expect("written");
    let prompt = "Question: Who wrote Solaris?\nThought 1: hm\n\nQuestion: In which country is the mountain that the painter \
                  climbed?\nThought 1: hm\nQuestion: Quite another?\n";
    std::fs::write(dir.path().join("p.json"), json!({"k": prompt}).to_string()).expect("written");
    let info = json_of(&wikitrail(dir.path(), &["dataset", "info", "q.jsonl", "--prompt", "p.json#k", "--json"]));
    let leak = &info["leakage"][0];
    assert_eq!((&leak["prompt"], &leak["exemplars"]), (&json!("p.json#k"), &json!(3)));
    assert_eq!(leak["equal"], json!([{"exemplar": 1, "id": "y", "question": "who wrote solaris", "similarity": 1.0}]));
    assert_eq!((&leak["near"][0]["exemplar"], &leak["near"][0]["id"]), (&json!(2), &json!("z")));
    assert_eq!(leak["near"].as_array().map(Vec::len), Some(1));
    assert_refused(&wikitrail(dir.path(), &["dataset", "info", "q.jsonl", "--prompt", "none.toml"]), 3, &["none.toml"]);
    assert_refused(&wikitrail(dir.path(), &["dataset", "info", "none.json"]), 3, &["none.json"]);
    for (name, table, hint) in [
        ("german.csv", "question;answer\nWho?;Lem\n", "hint: the cells are separated by `;`"),
        ("tabs.csv", "question\tanswer\nWho?\tLem\n", "hint: the cells are separated by tabs"),
        ("commas.tsv", "question,answer\nWho?,Lem\n", "hint: the cells are separated by commas"),
        ("other.csv", "frage\nWho?\n", "hint: name the column with --question-column"),
    ] {
        std::fs::write(dir.path().join(name), table).expect("written");
        assert_refused(&wikitrail(dir.path(), &["dataset", "info", name]), 3, &[name, hint]);
    }
    assert_refused(
        &wikitrail(dir.path(), &["dataset", "info", "q.jsonl", "--format", "xml"]),
        2,
        &["`xml`", "hotpotqa"],
    );
}

#[test]
fn convert_writes_what_the_readers_read() {
    let Some(shared) = common::shared() else { return };
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
        assert!(output.status.success() && output.stdout.is_empty(), "{file}: {}", stderr(&output));
        let load = |path: &Path| dataset::load_file(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let (before, after) = (load(&path), load(&out));
        assert_eq!((after.format.name(), after.questions.len()), ("jsonl", before.questions.len()), "{file}");
        for (before, after) in before.questions.iter().zip(&after.questions) {
            assert_eq!(after, before, "{file}");
        }
        assert_eq!(names(dir.path()), ["out.jsonl"]);
    }
}

#[test]
fn convert_refuses_its_input_and_keeps_an_older_file_when_it_fails() {
    let dir = tempfile::tempdir().expect("a folder");
    std::fs::write(dir.path().join("q.csv"), "question,answer\nWho?,me\n").expect("written");
    for out in ["q.csv", "./q.csv"] {
        assert_refused(&wikitrail(dir.path(), &["dataset", "convert", "q.csv", "--out", out]), 2, &["q.csv"]);
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("q.csv", dir.path().join("link")).expect("a link");
        assert_refused(&wikitrail(dir.path(), &["dataset", "convert", "q.csv", "--out", "link"]), 2, &["link"]);
        std::fs::remove_file(dir.path().join("link")).expect("removed");
    }
    assert_eq!(std::fs::read(dir.path().join("q.csv")).expect("there"), b"question,answer\nWho?,me\n");
    let output = wikitrail(dir.path(), &["dataset", "convert", "q.csv"]);
    let line = r#"{"id":"q-0","dataset":"q","index":0,"question":"Who?","answers":["me"],"answer_kind":"span","answerable":true}"#;
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{line}\n"));
    std::fs::write(dir.path().join("old.jsonl"), "old").expect("written");
    std::fs::write(dir.path().join("bad.jsonl"), "{\"question\": 1}\n").expect("written");
    let output = wikitrail(dir.path(), &["dataset", "convert", "bad.jsonl", "--out", "old.jsonl"]);
    assert_refused(&output, 3, &["bad.jsonl", "line 1", "`question`"]);
    assert_eq!(std::fs::read(dir.path().join("old.jsonl")).expect("there"), b"old");
    assert_refused(&wikitrail(dir.path(), &["dataset", "convert", "q.csv", "--out", "no/x.jsonl"]), 1, &["no/x.jsonl"]);
    assert_eq!(names(dir.path()), ["bad.jsonl", "old.jsonl", "q.csv"]);
}

/// A site with one file that cuts its first `cuts` answers in the middle.
struct Site {
    url: String,
    requests: Arc<Mutex<Vec<String>>>,
}

#[derive(Clone)]
struct Behaviour {
    status: &'static str,
    kind: &'static str,
    body: Vec<u8>,
    cuts: usize,
}

impl Site {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let Some(head) = head(&stream) else { continue };
                let number = {
                    let mut seen = seen.lock().expect("no test panics here");
                    seen.push(head.clone());
                    seen.len()
                };
                answer(stream, &head, &behaviour, number <= behaviour.cuts);
            }
        });
        Self { url, requests }
    }

    fn file(body: &[u8], cuts: usize) -> Self {
        Self::start(Behaviour { status: "200 OK", kind: "application/octet-stream", body: body.to_vec(), cuts })
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no test panics here").clone()
    }
}

fn head(stream: &TcpStream) -> Option<String> {
    let mut head = String::new();
    let mut reader = BufReader::new(stream);
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    Some(head.to_ascii_lowercase())
}

fn answer(mut stream: TcpStream, head: &str, behaviour: &Behaviour, cut: bool) {
    let Behaviour { status, kind, body, .. } = behaviour;
    let range = head.lines().find_map(|line| line.strip_prefix("range: bytes=")?.strip_suffix('-')?.parse().ok());
    let start: usize = range.unwrap_or(0).min(body.len());
    let status = if range.is_some() && status.starts_with("200") { "206 Partial Content" } else { status };
    let (length, total) = (body.len() - start, body.len());
    let end = if cut { start + length / 2 } else { total };
    // The test is over when the client hangs up; there is nobody to tell.
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nETag: \"v1\"\r\nConnection: close\r\n\
         Content-Range: bytes {start}-{}/{total}\r\n\r\n",
        total.saturating_sub(1)
    )
    .and_then(|()| stream.write_all(&body[start..end]));
}

fn fetch(folder: &Path, site: &Site, name: &str) -> Output {
    wikitrail(folder, &["dataset", "fetch", name, "--out", "data", "--base-url", &site.url, "--json"])
}

#[test]
fn fetch_goes_on_after_cuts_within_a_command_and_between_two() {
    let Some(body) = common::shared::bytes("data/datasets/nq_open_dev.jsonl") else { return };
    let dir = tempfile::tempdir().expect("a folder");
    let site = Site::file(&body, 1);
    let fetched = json_of(&fetch(dir.path(), &site, "nq-open"));
    let half = body.len() / 2;
    let requests = site.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("get /nq-open.dev.jsonl "), "{}", requests[0]);
    assert!(requests[1].contains(&format!("range: bytes={half}-\r\n")), "{}", requests[1]);
    assert!(requests[1].contains("if-range: \"v1\"\r\n"), "{}", requests[1]);
    assert_eq!((&fetched["bytes"], &fetched["checked"]), (&json!(body.len()), &json!(true)));
    assert_eq!(fetched["licence"], "CC BY-SA 3.0");
    assert_eq!(std::fs::read(dir.path().join("data/nq_open_dev.jsonl")).expect("there"), body);
    assert_eq!(names(&dir.path().join("data")), ["nq_open_dev.jsonl"]);
    // What is there and right is not fetched again.
    json_of(&fetch(dir.path(), &site, "nq-open"));
    assert_eq!(site.requests().len(), 2);
    // An earlier command left the first part.
    let other = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(other.path().join("data")).expect("a folder");
    std::fs::write(other.path().join("data/nq_open_dev.jsonl.part"), &body[..1000]).expect("written");
    let fetched = json_of(&fetch(other.path(), &site, "nq-open"));
    assert_eq!(fetched["resumed_from"], 1000);
    assert!(site.requests()[2].contains("range: bytes=1000-\r\n"));
    assert_eq!(names(&other.path().join("data")), ["nq_open_dev.jsonl"]);
}

#[test]
fn fetch_keeps_nothing_whose_checksum_is_wrong() {
    let dir = tempfile::tempdir().expect("a folder");
    let site = Site::file(b"{\"question\": \"?\", \"answer\": [\"!\"]}\n", 0);
    assert_refused(&fetch(dir.path(), &site, "nq-open"), 3, &["damaged or has changed", "f15567f38099f361"]);
    assert_eq!(names(&dir.path().join("data")), Vec::<String>::new());
    // A file of the name that is not the one wanted is not touched.
    std::fs::write(dir.path().join("data/nq_open_dev.jsonl"), "mine").expect("written");
    assert_refused(&fetch(dir.path(), &site, "nq-open"), 3, &["already exists", "nq_open_dev.jsonl"]);
    assert_eq!(std::fs::read(dir.path().join("data/nq_open_dev.jsonl")).expect("there"), b"mine");
    // Without a known checksum it is taken, and said.
    let output = wikitrail(dir.path(), &["dataset", "fetch", "squad11", "--out", "data", "--base-url", &site.url]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "data/dev-v1.1.json\n");
    assert!(stderr(&output).contains("no checksum is known") && stderr(&output).contains("CC BY-SA 4.0"));
}

#[test]
fn fetch_says_what_came_instead_of_the_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let with = |status, kind, body: &[u8]| Site::start(Behaviour { status, kind, body: body.to_vec(), cuts: 0 });
    let gone = with("404 Not Found", "text/plain", b"no such file");
    assert_refused(&fetch(dir.path(), &gone, "fever"), 1, &["/paper_dev.jsonl` answered with status 404"]);
    let page = b"\n <!DOCTYPE html><html>log in</html>";
    for kind in ["text/html; charset=utf-8", "application/octet-stream"] {
        assert_refused(&fetch(dir.path(), &with("200 OK", kind, page), "squad20"), 3, &["page"]);
    }
    assert_refused(&fetch(dir.path(), &with("200 OK", "text/plain", b""), "squad20"), 3, &["empty"]);
    assert_eq!(names(&dir.path().join("data")), Vec::<String>::new());
    assert_refused(&fetch(dir.path(), &gone, "squadron"), 2, &["`squadron`", "hotpotqa, "]);
    let output = wikitrail(dir.path(), &["dataset", "fetch", "fever", "--base-url", "ftp://x"]);
    assert_refused(&output, 2, &["ftp"]);
}

#[test]
fn fetch_without_a_name_lists_the_sources_with_their_licences() {
    let dir = tempfile::tempdir().expect("a folder");
    let text = String::from_utf8(wikitrail(dir.path(), &["dataset", "fetch"]).stdout).expect("text");
    assert_eq!(text.lines().count(), dataset::PUBLIC_SOURCES.len());
    assert!(text.lines().any(|line| line.starts_with("fever ") && line.contains("CC BY-SA 3.0")), "{text}");
    let output = wikitrail(dir.path(), &["dataset", "fetch", "--json"]);
    let first: Value =
        serde_json::from_slice(output.stdout.split(|b| *b == b'\n').next().expect("a line")).expect("JSON");
    assert_eq!((&first["name"], &first["licence"]), (&json!("hotpotqa"), &json!("CC BY-SA 4.0")));
}
