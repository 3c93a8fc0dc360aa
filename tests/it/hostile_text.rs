//! Text of pages, models, files and servers never reaches a terminal as it is: every command over texts, names and
//! replies that try to name the window, move the cursor, write to the clipboard and turn the direction of writing.

use crate::common::server::{Server, json};
use crate::common::{Ran, WorkDir, listed_commands, notebook};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;

/// ESC, OSC with BEL and ST, C1, directions, DEL, a return that hides what stands before it.
const HOSTILE: &str =
    "Z\u{1b}]0;owned\u{7}\u{1b}]52;c;cm0=\u{1b}\\\u{1b}[2J\u{9b}31m\u{90}\u{202e}\u{2066}\u{200f}\u{7f}\u{8}\rY";

/// What the run's folder is called.
const RUN: &str = "r\u{1b}[2J\u{9b}n\u{202e}";
const DATA: &str = "d\u{1b}]0;x\u{7}\u{9b}.jsonl";

fn completion(stream: &mut std::net::TcpStream, text: &str) {
    let choice = json!({"message": {"content": text}, "finish_reason": HOSTILE});
    json(stream, &json!({"model": HOSTILE, "choices": [choice]}));
}

/// A model that says hostile things, and under `/broken` an error page.
fn server() -> Server {
    Server::start(|number, request, stream| {
        if request.contains("/broken") {
            let body = json!({"error": {"message": HOSTILE}}).to_string();
            let head = format!("HTTP/1.1 400 Bad\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
            let _ = write!(stream, "{head}{body}");
        } else if number % 2 == 0 {
            completion(stream, &format!("Thought 1: {HOSTILE}\nAction 1: Search[{HOSTILE}]"));
        } else {
            completion(stream, &format!("Thought: {HOSTILE}\nAction 1: Finish[{HOSTILE}]"));
        }
    })
}

/// A folder full of hostile files, and a run over them.
fn bench(server: &Server) -> WorkDir {
    let bench = WorkDir::new();
    let line = |value: &Value| format!("{value}\n");
    let question = |id: &str| line(&json!({"id": id, "question": HOSTILE, "answer": HOSTILE, "type": HOSTILE}));
    bench.write(DATA, question(HOSTILE) + &question("b"));
    let blocks = json!([format!("{HOSTILE} is a page."), format!("About {HOSTILE}.")]);
    bench.write("wiki/articles.jsonl", line(&json!({"title": HOSTILE, "blocks": blocks})));
    bench.write("n.jsonl", line(&json!({"title": HOSTILE, "text": format!("{HOSTILE} is another page.")})));
    bench.write("prices.toml", format!("[[model]]\nname = {HOSTILE}\n"));
    bench.write("e.toml", format!("name = \"{HOSTILE}\"\n{HOSTILE}\n"));
    bench.write("p.toml", format!("{HOSTILE} = {HOSTILE}\n"));
    bench.write("k.json", json!({HOSTILE: HOSTILE}).to_string());
    let kilt = line(&json!({"id": HOSTILE, "input": HOSTILE, "output": [{"answer": HOSTILE}]}));
    bench.write("kilt.jsonl", &kilt);
    bench.write("twice.jsonl", kilt.repeat(2));
    bench.write("nq.jsonl", line(&json!({"question": HOSTILE, "answer": [HOSTILE]})).repeat(2));
    bench.write("fever.jsonl", line(&json!({"id": HOSTILE, "label": "REFUTES", "evidence": []})));
    bench
        .write("none.jsonl", line(&json!({"id": "z", "predicted_label": "x", "predicted_evidence": [], "output": []})));
    bench.write("out.jsonl", line(&json!({"name": HOSTILE, "output": format!("Action 1: {HOSTILE}[{HOSTILE}]")})));
    bench.write("bad.jsonl", format!("{{\"name\": {HOSTILE}\n"));
    bench.write("s.csv", format!("id,em,{HOSTILE}\n{HOSTILE},1,{HOSTILE}\nb,0,x\n"));
    bench.write("prompts/\u{1b}[2J.toml", "");
    let said = format!("id,class,note,{HOSTILE}\nb,search,{HOSTILE},\n\"{HOSTILE}\",{HOSTILE},,\n{HOSTILE},loop,,\n");
    bench.write("said.csv", said.replace('\r', ""));
    let log = json!({"version": 2, "eval": {"model": HOSTILE, "task": HOSTILE, "dataset": {"name": HOSTILE}}, "samples": [
        {"id": HOSTILE, "epoch": 1, "input": HOSTILE, "target": HOSTILE, "output": {"completion": HOSTILE}, "error": {"message": HOSTILE},
            "scores": {HOSTILE: {"value": "C", "answer": HOSTILE}}}, {"id": HOSTILE, "epoch": HOSTILE}]});
    bench.write("log.json", log.to_string());
    bench.write("episodes.jsonl", notebook::episode(1, HOSTILE, 0).replace("made-up-1", "\u{9b}\u{202e}"));
    let base = format!("{}/v1", server.url);
    let model =
        ["--model", "openai:m\u{9b}", "--base-url", &base, "--wiki", "corpus:wiki", "--protocol", "robust,react-paper"];
    let ran = bench.run(&[&[DATA, "--out", RUN][..], &model].concat());
    clean(&["run"], &ran);
    // What a manifest says is hostile too.
    let mut manifest = bench.manifest(RUN);
    for key in ["name", "path", "format"] {
        manifest["dataset"][key] = HOSTILE.into();
    }
    manifest["variants"][0]["model"] = HOSTILE.into();
    manifest["command_line"] = json!(["wikitrail", "run", HOSTILE, "--base-url", HOSTILE]);
    manifest["git_revision"] = HOSTILE.into();
    bench.write(&format!("{RUN}/manifest.json"), manifest.to_string());
    // Another one that contradicts it, and one of other settings.
    let records = bench.records(RUN).into_iter().map(|mut record| {
        record["wall_ms"] = 1.into();
        record["outcome"] = "finished".into();
        line(&record)
    });
    bench.write("other/trajectories.jsonl", records.collect::<String>());
    bench.write("other/manifest.json", manifest.to_string());
    bench.write(&format!("other/journal.{HOSTILE}.jsonl"), HOSTILE);
    manifest["stop_when"] = format!("decided(em, \u{1b}[2J\u{202e}\u{9b}, {RULED})").into();
    bench.write("ruled/manifest.json", manifest.to_string());
    for file in ["trajectories.jsonl", "questions.jsonl"] {
        bench.write(&format!("ruled/{file}"), bench.read(&format!("{RUN}/{file}")));
    }
    manifest["variants"][0]["question_label"] = HOSTILE.into();
    bench.write("third/manifest.json", manifest.to_string());
    bench
}

/// One of the two variants of the run.
const RULED: &str = "robust";

/// Nothing but line ends and tabs may be left of control characters.
#[track_caller]
fn clean(args: &[&str], ran: &Ran) {
    let directs =
        |c| matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    for said in [&ran.stdout, &ran.stderr] {
        let said = said.replace("\r\n", "\n");
        let raw = said.char_indices().find(|(_, c)| directs(*c) || (c.is_control() && !"\n\t".contains(*c)));
        assert!(raw.is_none(), "{args:?}: {raw:?} in {said:?}");
        assert!(!said.contains("panicked"), "{args:?}: {said}");
    }
}

/// Files of predictions.
fn predictions() -> Vec<Vec<&'static str>> {
    vec![
        vec!["score", "--metric", "hotpot", "--gold", "k.json", "--predictions", "k.json"],
        vec!["score", "--metric", "kilt", "--gold", "kilt.jsonl", "--predictions", "kilt.jsonl", "--per-item"],
        vec!["score", "--metric", "kilt", "--gold", "kilt.jsonl", "--predictions", "twice.jsonl"],
        vec!["score", "--metric", "kilt", "--gold", "kilt.jsonl", "--predictions", "none.jsonl"],
        vec!["score", "--metric", "nq-open", "--gold", "nq.jsonl", "--predictions", "k.json"],
        vec!["score", "--metric", "fever", "--gold", "fever.jsonl", "--predictions", "none.jsonl"],
    ]
}

/// Pages, notes and lists of runs, and what is joined to them.
fn pages() -> Vec<Vec<&'static str>> {
    vec![
        vec!["report", RUN, "--out", "-"],
        vec!["report", RUN, "--out", "r\u{1b}[2J.html", "--figures", "f\u{1b}[2J"],
        vec!["note", RUN, HOSTILE],
        vec!["note", RUN, "--tag", HOSTILE],
        vec!["note", RUN, "--json"],
        vec!["list", RUN],
        vec!["list", RUN, "--json"],
        vec!["view", "\u{1b}[2J"],
        vec!["show", RUN, "--grep", HOSTILE],
        vec!["show", RUN, "--sort", "f1"],
        vec!["score", "ruled"],
        vec!["list", "ruled"],
        vec!["compare", "ruled"],
        vec!["compare", "ruled", "--format", "markdown"],
        vec!["run", "--method", "act,react", "--stop-when", "decided(em, \u{1b}[2J\u{9b}, react)"],
        vec!["run", "--method", "act,react", "--stop-when", "\u{1b}[2J\u{9b}"],
        vec!["score", RUN, "--metric-file", "bad.jsonl"],
        vec!["compare", RUN, "--metric-file", "x\u{1b}[2J=bad.jsonl"],
    ]
}

/// Judgements and recorded episodes of somebody else.
fn imports() -> [Vec<&'static str>; 9] {
    [
        vec!["annotate", RUN, "--by", "anna"],
        vec!["annotate", RUN, "--import", "said.csv", "--by", "anna"],
        vec!["annotate", RUN, "--import", "bad.jsonl"],
        vec!["score", RUN],
        vec!["import", "react-notebook", "bad.jsonl", "--out", "i"],
        vec!["import", "react-notebook", "episodes.jsonl", "bad.jsonl", "--out", "i"],
        vec!["show", "i"],
        vec!["import", "inspect", "bad.jsonl", "--out", "l"],
        vec!["import", "inspect", "log.json", "--out", "l", "--scorer", HOSTILE],
    ]
}

/// Judges that say hostile things, or nothing, of hostile answers.
fn judged<'a>(broken: &'a str, site: &'a str) -> [Vec<&'a str>; 7] {
    let classify = |base: &'a str| {
        let model = ["score", RUN, "--classify", "openai:c\u{9b}", "--judge-base-url", base];
        [&model[..], &["--judge-model-attempts", "1"]].concat()
    };
    let judge = |model: &'a str, base: &'a str, more: &[&'a str]| {
        [&["score", RUN, "--judge", model, "--judge-base-url", base, "--judge-model-attempts", "1"], more].concat()
    };
    [
        judge("openai:j\u{9b}", site, &["--judge-all"]),
        judge("openai:j", broken, &[]),
        judge("openai:j", site, &["--judge-prompt", "p.toml"]),
        classify(site),
        classify(broken),
        vec!["score", RUN],
        vec!["compare", RUN, "--metric", "judge"],
    ]
}

/// One step edited, in a run and into a folder with names of somebody else's.
fn branches() -> [Vec<&'static str>; 3] {
    let of = |target, out| vec!["branch", target, "--at", "1", "--with", "empty", "--out", out];
    let json = [&of(RUN, "b")[..], &["--json"]].concat();
    let confirmed = [&of(RUN, "b\u{1b}[2J")[..], &["--confirm"]].concat();
    [confirmed, json, of("\u{1b}[2J:x", "b")]
}

fn about_the_program() -> Vec<Vec<&'static str>> {
    vec![
        vec!["completions", "bash"],
        vec!["config"],
        vec!["docs", "\u{1b}[2J"],
        vec!["demo", "--out", "d\u{1b}[2J"],
        vec!["man", "\u{1b}[2J"],
    ]
}

/// Every command, with what it can say of somebody else's text.
fn lines(broken: &str) -> Vec<Vec<&str>> {
    let corpus = ["--wiki", "corpus:wiki"];
    let lookup = [&["wiki", "lookup", HOSTILE, "page"], &corpus[..]].concat();
    let search = [&["wiki", "search", HOSTILE], &corpus[..]].concat();
    let session = [&["wiki", "session"], &corpus[..]].concat();
    let model = ["--model", "openai:m", "--base-url", broken, "--model-attempts", "1"];
    let site = broken.trim_end_matches("/broken");
    let mut lines = judged(broken, site).to_vec();
    lines.extend([
        [&["ask", HOSTILE][..], &model].concat(),
        [&["ask", HOSTILE, "--json"][..], &model].concat(),
        vec!["score", RUN],
        vec!["score", RUN, "--json", "--per-item"],
        vec!["score", RUN, "--per-item"],
        vec!["compare", RUN],
        vec!["compare", RUN, "--flips", "--json"],
        vec!["compare", RUN, "--stale-gold"],
        vec!["compare", RUN, "other", "--stale-gold", "--json"],
        vec!["compare", RUN, "--format", "markdown"],
        vec!["compare", RUN, "--format", "latex"],
        vec!["compare", "--from-csv", "s.csv", "s.csv"],
        vec!["show", RUN],
        vec!["show", RUN, HOSTILE],
        vec!["show", RUN, "b", "--json"],
        vec!["show", RUN, "no\u{9b}ne"],
        vec!["replay", RUN],
        vec!["replay", RUN, "--json"],
        vec!["replay", "--import", "react-notebook", "bad.jsonl", "--prompt", "k.json#x"],
        vec!["reproduce", RUN],
        vec!["reproduce", "--experiment", "e.toml", "--model", "baseline"],
        vec!["run", "e.toml"],
        vec!["run", "--resume", "--out", RUN],
        vec!["run", "--prices", "prices.toml"],
        vec!["run", "--prompt", "p.toml"],
        vec!["run", DATA, "--dry-run"],
        vec!["run", "--\u{1b}[2J", "\u{9b}"],
        [&["run", DATA, "--out", "bad"][..], &model].concat(),
        vec!["dataset", "info", DATA],
        vec!["dataset", "info", DATA, "--json"],
        vec!["dataset", "info", "bad.jsonl"],
        vec!["dataset", "convert", DATA],
        vec!["dataset", "split", DATA, "--holdout", "1", "--seed", "1", "--out", "l\u{1b}[2J"],
        vec!["dataset", "fetch", "\u{1b}[2J"],
        vec!["parse", "--protocol", "robust", "out.jsonl"],
        vec!["parse", "--protocol", "robust", "bad.jsonl"],
        vec!["prompt", "list"],
        vec!["prompt", "show", "k.json#x"],
        vec!["prompt", "check", "p.toml", "k.json#x", "\u{1b}[2J.toml"],
        [&["models", "check"][..], &model].concat(),
        vec!["models", "check", "--model", "openai:m", "--base-url", site],
        vec!["merge", RUN, "--out", "m\u{1b}[2J"],
        vec!["merge", RUN, "--out", "m", "--json"],
        vec!["merge", RUN, "other", "--out", "n"],
        vec!["merge", RUN, "third", "--out", "n"],
        vec!["run", DATA, "--out", RUN, "--shard", "1/2"],
        vec!["run", DATA, "--out", "s", "--shard", HOSTILE],
        vec!["corpus", "build", "c\u{1b}[2J", "--from", "bad.jsonl"],
        vec!["corpus", "build", "c", "--from", "wiki/articles.jsonl", "--name", HOSTILE],
        vec!["corpus", "info", "c"],
        vec!["corpus", "info", "c", "--json"],
        vec!["corpus", "verify", "\u{1b}[2J"],
        vec![
            "corpus",
            "build",
            "u",
            "--from",
            "wiki/articles.jsonl",
            "--license",
            "none",
            "--attribution",
            HOSTILE,
            "--changes",
            HOSTILE,
        ],
        vec!["corpus", "add", "c", "--from", "wiki/articles.jsonl", "--from", "redirects:bad.jsonl", "--out", "a"],
        vec!["corpus", "add", "c", "--from", "bad.jsonl", "--out", "x\u{1b}[2J"],
        vec!["corpus", "pack", "u", "--out", "p\u{1b}[2J.jsonl"],
        vec!["corpus", "pack", "c", "--out", "p.jsonl.zst"],
        vec!["corpus", "diff", "c", "bad.jsonl"],
        vec!["corpus", "diff", "c", "a"],
        vec!["corpus", "diff", "p.jsonl.zst", "n.jsonl", "--json"],
        vec!["corpus", "diff", "p.jsonl.zst", "n.jsonl"],
        vec!["serve", HOSTILE],
        vec!["serve", "corpus:\u{1b}[2J"],
        // Other machines could reach it, so it ends at once.
        vec!["serve", "corpus:c", "--bind", "0.0.0.0:0"],
        vec!["mcp", "corpus:\u{1b}[2J"],
        vec!["mcp", "corpus:c"],
    ]);
    lines.extend([&imports()[..], &pages(), &predictions(), &branches(), &about_the_program()].concat());
    for format in ["csv", "jsonl", "chat", "inspect", "atif", "hf", "otlp"] {
        // CSV goes to other programs as it is.
        lines.extend((format != "csv").then(|| vec!["export", RUN, "--format", format]));
        lines.push(vec!["export", RUN, "--format", format, "--out", "e\u{1b}[2J"]);
    }
    for line in [lookup, search, session] {
        lines.push([&line[..], &["--json"]].concat());
        lines.push(line);
    }
    lines
}

#[test]
fn no_command_passes_on_what_a_terminal_obeys() {
    let server = server();
    let bench = bench(&server);
    let broken = format!("{}/broken", server.url);
    let lines = lines(&broken);
    for args in &lines {
        let mut command = bench.command(args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
        let typed = format!("search[{HOSTILE}]\nlookup[page]\n{HOSTILE}\nstate\nfinish[{HOSTILE}]\n");
        // Most commands do not read it.
        let _ = child.stdin.take().expect("piped").write_all(typed.as_bytes());
        let ran = Ran::from(&child.wait_with_output().expect("ends"));
        clean(args, &ran);
        if args.contains(&"--json") && ran.code == Some(0) {
            ran.stdout.lines().for_each(|line| drop(serde_json::from_str::<Value>(line).expect("JSON")));
        }
    }
    // A command that is added is held to the same.
    let help = bench.wikitrail(&["--help"]).ok().stdout;
    let commands: BTreeSet<&str> = listed_commands(&help).into_iter().collect();
    let tried: BTreeSet<&str> = lines.iter().map(|line| line[0]).chain(["help"]).collect();
    let missing: Vec<_> = commands.iter().filter(|name| !tried.contains(*name)).collect();
    assert!(missing.is_empty() && commands.len() > 10, "not tried: {missing:?} of {commands:?}");
}

/// What is shown of a page is escaped, and JSON has the same value as before.
#[test]
fn a_page_is_shown_escaped_and_json_keeps_its_text() {
    let server = server();
    let bench = bench(&server);
    let search = ["wiki", "search", HOSTILE, "--wiki", "corpus:wiki"];
    let said = bench.wikitrail(&search).ok().stdout;
    assert!(said.contains("Z\\u001b]0;owned\\u0007") && said.contains("\\u202e"), "{said}");
    let json = bench.wikitrail(&[&search[..], &["--json"]].concat()).json();
    assert!(json.to_string().contains('\u{9b}') && json.to_string().contains('\u{202e}'), "{json}");
}

#[test]
fn a_csv_has_the_same_cells_in_a_pipe_and_in_a_file() {
    let server = server();
    let bench = bench(&server);
    let export = ["export", RUN, "--rows", "steps", "--raw"];
    let piped = bench.command(&export).output().expect("runs").stdout;
    bench.wikitrail(&[&export[..], &["--out", "steps.csv"]].concat()).ok();
    let piped = String::from_utf8(piped).expect("UTF-8");
    assert!(piped.contains("\u{1b}]0;owned\u{7}") && piped == bench.read("steps.csv"), "{piped}");
}
