//! A server that repeats the key wherever a server can say something: no file and no output of the program has it,
//! whether the key came from the environment or from the server's address, as password or in the query. The same for
//! a site that is read.

use crate::common::server::Server;
use serde_json::{Value, json};
use std::io::Write as _;
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

/// Letters of both cases: what comes through a host's name or another lower-casing is found too.
const KEY: &str = "sk-Leak-0123456789AbCdEfGhIjKl";
/// The same as it is sent where it is the password of `me`.
const BASIC: &str = "bWU6c2stTGVhay0wMTIzNDU2Nzg5QWJDZEVmR2hJakts";
/// Provider, where the key is, flags.
const PROVIDERS: [(&str, Place, &[&str]); 7] = [
    ("openai", Place::Variable("OPENAI_API_KEY"), &[]),
    ("openai", Place::Variable("OPENAI_API_KEY"), &["--completions"]),
    ("anthropic", Place::Variable("ANTHROPIC_API_KEY"), &[]),
    ("gemini", Place::Variable("GEMINI_API_KEY"), &[]),
    ("openai", Place::Query, &[]),
    ("gemini", Place::Query, &[]),
    ("openai", Place::Password, &[]),
];
/// Where the key is.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    Variable(&'static str),
    Query,
    Password,
}

/// How the server answers; the first part of the path of its address says so.
const MODES: [&str; 8] = ["whole", "refused", "broken", "error", "page", "typed", "cut", "moved"];

/// Every field of every provider's answer, the key in each that can hold it.
fn completion(text: &str) -> Value {
    json!({
        "id": KEY, "object": KEY, "model": KEY, "modelVersion": KEY, "system_fingerprint": KEY, "role": KEY,
        "type": "message", "stop_reason": KEY, "stop_sequence": KEY,
        "choices": [{
            "index": 0, "text": text, "finish_reason": KEY, "logprobs": KEY,
            "message": {"role": KEY, "content": text, "reasoning": KEY, "reasoning_content": KEY, "refusal": KEY},
        }],
        "content": [{"type": "thinking", "thinking": KEY, "signature": KEY}, {"type": "text", "text": text}],
        "candidates": [{
            "content": {"role": KEY, "parts": [{"text": KEY, "thought": true}, {"text": text}]},
            "finishReason": KEY, "finishMessage": KEY,
        }],
        "usage": {"prompt_tokens": KEY, "completion_tokens": 3, "input_tokens": 5, "output_tokens": 3, KEY: KEY},
        "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": KEY, KEY: KEY},
    })
}

/// The same as a stream: the text comes in pieces that cut the key.
fn events(request: &str, text: &str) -> String {
    let (first, second) = text.split_at(text.find(KEY).map_or(3, |at| at + 9));
    let event = |value: &Value| format!("event: {KEY}\nid: {KEY}\ndata: {value}\n\n: {KEY}\n\n");
    let whole = completion("");
    if request.contains("/messages") {
        let start = json!({"type": "message_start", "message": whole});
        let piece = |text: &str| json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}});
        let end = json!({"type": "message_delta", "delta": {"stop_reason": KEY}, "usage": whole["usage"]});
        return [start, piece(first), piece(second), end, json!({"type": "message_stop"})].iter().map(event).collect();
    }
    if request.contains("GenerateContent") {
        let begun = json!({"modelVersion": KEY, "candidates": [{"content": {"parts": [{"text": first}]}}]});
        return event(&begun) + &event(&completion(second));
    }
    let piece = |text: &str| json!({"model": KEY, "choices": [{"delta": {"content": text}, "text": text}]});
    let end = json!({"model": KEY, "choices": [{"delta": {"reasoning": KEY}, "finish_reason": KEY}], "usage": whole["usage"]});
    [piece(first), piece(second), end].iter().map(event).collect::<String>() + "data: [DONE]\n\n"
}

fn answer(request: &str, stream: &mut TcpStream) {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let mode = path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let sent = if request.contains(BASIC) { BASIC } else { "it" };
    let text = format!(" I was given {KEY}, and say so: {sent}.\nAction 1: Finish[it is {KEY}]\n");
    let refusal = json!({
        "type": "error", "message": KEY, "detail": KEY,
        "error": {"message": format!("bad key {KEY}, or {}…", &KEY[..14]), "param": KEY, "code": KEY, "type": KEY},
    });
    let (status, kind, body) = match mode {
        "whole" if request.contains("\"stream\":true") || path.contains("alt=sse") => {
            ("200 OK", "text/event-stream", events(request, &text))
        }
        "whole" => ("200 OK", "application/json", completion(&text).to_string()),
        "refused" => ("401 Unauthorized", "application/json", refusal.to_string()),
        "broken" => ("500 Broken", "application/json", refusal.to_string()),
        "error" => ("200 OK", "application/json", refusal.to_string()),
        "page" => ("200 OK", "text/html", format!("<html><title>{KEY}</title>{KEY}")),
        "typed" => {
            ("200 OK", "application/json", json!({"choices": KEY, "content": KEY, "candidates": KEY}).to_string())
        }
        "cut" => ("200 OK", "application/json", format!("{{\"model\": \"{KEY}\", {KEY}")),
        _ => ("307 Moved", "text/plain", KEY.to_owned()),
    };
    let location = format!("ftp://{KEY}.example/{KEY}?{KEY}");
    // A program that has heard enough hangs up.
    let _ = write!(
        stream,
        "HTTP/1.1 {status} {KEY}\r\ncontent-type: {kind}; x={KEY}\r\nlocation: {location}\r\nretry-after: {KEY}\r\n\
         x-request-id: {KEY}\r\nset-cookie: k={KEY}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
}

/// A page of a site, asked for as a browser does (with a redirect on the way) or through its API.
fn site(request: &str, stream: &mut TcpStream) {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let text = format!("It is {KEY}, and was asked with {BASIC}.");
    let (status, kind, body) = if path.starts_with("/w/api.php") {
        let hit = json!({"ns": 0, "title": KEY, "pageid": 1});
        let page = json!({"title": KEY, "pageid": 1, "revid": 2, "text": format!("<p>{text}</p>"), "properties": {}});
        let query = json!({"search": [hit], "pages": [hit]});
        ("200 OK", "application/json", json!({"query": query, "parse": page}).to_string())
    } else if path == "/retrieve" {
        let hit = json!({"document": {"contents": format!("\"{KEY}\"\n{text}")}});
        ("200 OK", "application/json", json!({"result": [[hit]]}).to_string())
    } else if path.starts_with("/w/index.php") {
        ("302 Found", "text/html", String::new())
    } else {
        let html =
            format!("<title>{KEY}</title><div id=mw-content-text><p>{text} It says no more than that.</p></div>");
        ("200 OK", "text/html", format!("<html>{html}</html>"))
    };
    let _ = write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: {kind}; x={KEY}\r\nlocation: /wiki/{KEY}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
}

fn with_password(url: &str) -> String {
    url.replace("http://", &format!("http://me:{KEY}@"))
}

/// All files below `folder`, with their bytes.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).expect("a file")));
        }
    }
}

fn holds(bytes: &[u8], words: &str) -> bool {
    let words = words.to_ascii_lowercase();
    bytes.to_ascii_lowercase().windows(words.len()).any(|window| window == words.as_bytes())
}

/// Runs the program; what it prints is added to what was found.
fn wikitrail(dir: &Path, args: &[&str], variable: Option<&str>, found: &mut Vec<(String, Vec<u8>)>) -> Option<i32> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wikitrail"));
    command.args(args).current_dir(dir).envs(variable.map(|name| (name, KEY)));
    let output = command.output().expect("wikitrail runs");
    found.push((format!("stdout of {args:?}").replace(KEY, ""), output.stdout));
    found.push((format!("stderr of {args:?}").replace(KEY, ""), output.stderr));
    output.status.code()
}

/// Neither what was printed nor a file below `dir` has the key.
#[track_caller]
fn nowhere(dir: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    files(dir, found);
    for (name, bytes) in found {
        assert!(!holds(bytes, KEY) && !holds(bytes, BASIC), "{name}:\n{}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn a_server_that_repeats_the_key_brings_it_nowhere() {
    let server = Server::start(|_, request, stream| answer(request, stream));
    for (provider, place, flags) in PROVIDERS {
        for mode in MODES {
            let dir = tempfile::tempdir().expect("a folder");
            let (variable, base) = match place {
                Place::Variable(name) => (Some(name), format!("{}/{mode}", server.url)),
                Place::Query => (None, format!("{}/{mode}?v=1&key={KEY}", server.url)),
                Place::Password => (None, format!("{}/{mode}", with_password(&server.url))),
            };
            let model = format!("{provider}:m");
            let common = [&["--model", &model, "--base-url", &base, "--model-attempts", "1"], flags].concat();
            let agent = ["--protocol", "react-paper", "--record", "tape.jsonl", "--cache", "cache"];
            let run = [&["run", "--limit", "1", "--max-steps", "2", "--out", "out"][..], &agent].concat();
            let run_json = ["run", "--limit", "1", "--max-steps", "2", "--out", "out2", "--json"];
            let ask = [&["ask", "Who is it?", "--max-steps", "2", "--save", "saved.jsonl"][..], &agent].concat();
            let mut found = Vec::new();
            for line in [&run[..], &run_json, &ask, &["models", "check"], &["models", "check", "--json"]] {
                let code = wikitrail(dir.path(), &[line, &common].concat(), variable, &mut found);
                assert_eq!(code == Some(0), mode == "whole", "{provider} {line:?}: {found:?}");
            }
            nowhere(dir.path(), &mut found);
            // What the server said did come so far, and only the key is missing in it.
            for part in ["trajectories.jsonl", "saved.jsonl"] {
                let masked = found.iter().any(|(name, bytes)| name.ends_with(part) && holds(bytes, "***"));
                // Of what is no JSON only the place of the fault is said.
                assert!(masked || mode == "cut", "{provider} {mode}: nothing was masked in {part}");
            }
            if mode == "whole" {
                for part in ["tape.jsonl", "cache", "stdout of [\"models\", \"check\"", "stdout of [\"ask\""] {
                    let said = |(name, bytes): &(String, Vec<u8>)| name.contains(part) && holds(bytes, "***");
                    assert!(found.iter().any(said), "{provider}: nothing was masked in {part}");
                }
            }
        }
    }
    let requests = server.requests();
    let sent = |request: &String| request.contains(KEY) || request.contains(BASIC);
    assert!(requests.iter().all(sent), "the key was sent with every request");
}

/// A site whose pages, titles and addresses repeat the password.
#[test]
fn a_site_that_repeats_the_password_brings_it_nowhere() {
    let server = Server::start(|_, request, stream| site(request, stream));
    let base = with_password(&server.url);
    let retriever = format!("retriever:{base}");
    for common in [
        &["--wiki", "html", "--wiki-url", &base][..],
        &["--wiki", "html", "--compat", "paper", "--wiki-url", &base],
        &["--wiki", "api", "--wiki-url", &base],
        &["--wiki", &retriever],
    ] {
        let dir = tempfile::tempdir().expect("a folder");
        let agent = ["--limit", "2", "--out", "out", "--record", "tape.jsonl", "--cache", "cache"];
        let mut found = Vec::new();
        for line in
            [&[&["run"][..], &agent].concat()[..], &["wiki", "search", "One"], &["wiki", "search", "One", "--json"]]
        {
            wikitrail(dir.path(), &[line, common].concat(), None, &mut found);
        }
        nowhere(dir.path(), &mut found);
        for part in ["trajectories.jsonl", "tape.jsonl", "stdout of [\"wiki\""] {
            let said = |(name, bytes): &(String, Vec<u8>)| name.contains(part) && holds(bytes, "***");
            assert!(found.iter().any(said), "{common:?}: nothing was masked in {part}");
        }
    }
    assert!(
        server.requests().iter().all(|request| request.contains(BASIC)),
        "the password was sent with every request"
    );
}

/// What the program says of its own command line, and what it keeps of it, has no key either.
#[test]
fn a_key_in_an_address_is_not_repeated_by_the_program() {
    let server = Server::start(|_, request, stream| answer(request, stream));
    let base = format!("{}/whole?key={KEY}", server.url);
    let dir = tempfile::tempdir().expect("a folder");
    let experiment = "name = \"x\"\ndataset = \"datasets/sample.jsonl\"\n[settings]\nmodel = \"openai:m\"\n";
    std::fs::write(dir.path().join("x.toml"), experiment).expect("a file");
    let nobody = format!("http://me:{KEY}@127.0.0.1:9/v1?key={KEY}");
    let joined = format!("--base-url={base}");
    let run = ["run", "--model", "openai:m", "--protocol", "react-paper"];
    let mut found = Vec::new();
    for (args, code) in [
        (&[&run[..], &[&joined, "--limit", "3", "--max-calls", "1", "--out", "o"]].concat()[..], 4),
        (&["run", "--resume", "--out", "o", "--base-url", &base, "--max-calls", "9"], 0),
        (&["run", "--resume", "--out", "o", &joined, "--dry-run"], 0),
        // Without its scheme it is not an address.
        (&[&run[..], &["--limit", "1", "--out", "p", "--base-url", &base[7..]]].concat(), 2),
        // Nobody listens there.
        (&[&run[..], &["--limit", "1", "--out", "q", "--model-attempts", "1", "--base-url", &nobody]].concat(), 4),
        (&["run", "x.toml", "--base-url", &base, "--limit", "2", "--max-calls", "1", "--out", "x"], 4),
        (&["run", "--resume", "--out", "x", "--base-url", &base, "--max-calls", "9"], 0),
        (&["run", "--resume", "--out", "x", "--base-url", &base, "--dry-run", "--json"], 0),
        // Its query is kept nowhere.
        (&["run", "--resume", "--out", "x", "--dry-run", "--json", "--confirm"], 2),
        (&["models", "check", "--model", "openai:m", "--base-url", &base, "--model-timeout", "0"], 2),
        (&["show", "x", "sample-001"], 0),
        (&["export", "x", "--format", "jsonl"], 0),
        (&["export", "x", "--format", "otlp", "--with-prompts"], 0),
        (&["run", "--model", "baseline", "--base-url", &base], 2),
        (&["run", "--model", "openai:m", "--base-url", &base, "--base", &joined], 2),
    ] {
        let ended = wikitrail(dir.path(), args, None, &mut found);
        assert_eq!(ended, Some(code), "{args:?}: {}", String::from_utf8_lossy(&found[found.len() - 1].1));
    }
    nowhere(dir.path(), &mut found);
}
